/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_LAYER_NET_H
#define PROTEUS_LAYER_NET_H

#include "ideal-link.h"

#include "ns3/proteus-flow-executor.h"
#include "ns3/proteus-graph-iterations.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * The nets of the theory as graphs of two devices, and a network that is one ideal link.
 */

/// Carries one communication after the other, in the order in which all members have joined.
class LinkNetwork : public ns3::proteus::Network
{
  public:
    /**
     * @param graph whose communication it carries
     * @param clock of the run
     * @param psPerByte of the link
     * @param overheadPs of each communication, on the link
     */
    LinkNetwork(const ns3::proteus::ExecutionGraph& graph,
                ns3::proteus::FlowClock& clock,
                int64_t psPerByte,
                int64_t overheadPs = 0)
        : m_graph(graph),
          m_clock(clock),
          m_psPerByte(psPerByte),
          m_overheadPs(overheadPs)
    {
    }

    void Join(ns3::proteus::DeviceId device,
              ns3::proteus::TaskId task,
              uint32_t microBatch,
              std::function<void()> done) override
    {
        auto& members = m_waiting[{task, microBatch}];
        members.emplace_back(device, std::move(done));
        const ns3::proteus::Task& communication = m_graph.GetTask(task);
        if (members.size() < m_graph.GetGroup(communication.place).size())
        {
            return;
        }
        m_mostOpen = std::max(m_mostOpen, ++m_open);
        m_freePs = std::max(m_freePs, m_clock.GetTimePs()) + m_overheadPs +
                   m_psPerByte * static_cast<int64_t>(communication.bytes);
        for (auto& [member, callback] : members)
        {
            const bool isLast = member == members.back().first;
            m_clock.Schedule(member,
                             m_freePs - m_clock.GetTimePs(),
                             [this, isLast, call = std::move(callback)]() {
                                 m_open -= isLast;
                                 call();
                             });
        }
        members.clear();
    }

    std::string DescribeWait(ns3::proteus::DeviceId, ns3::proteus::TaskId, uint32_t) const override
    {
        return "waits for the other one";
    }

    /// @return most communications at once that all members have joined and not all have left
    uint32_t GetMostOpen() const
    {
        return m_mostOpen;
    }

  private:
    const ns3::proteus::ExecutionGraph& m_graph;
    ns3::proteus::FlowClock& m_clock;
    uint32_t m_open{0};
    uint32_t m_mostOpen{0};
    int64_t m_psPerByte;
    int64_t m_overheadPs;
    int64_t m_freePs{0};
    std::map<std::pair<ns3::proteus::TaskId, uint32_t>,
             std::vector<std::pair<ns3::proteus::DeviceId, std::function<void()>>>>
        m_waiting;
};

/// A net of the theory as a graph.
struct LayerNet
{
    ns3::proteus::ExecutionGraph graph;                   //!< one iteration
    std::vector<ns3::proteus::CarriedDependency> carried; //!< forward passes need their updates

    /// @param iterations how many @param cross what they wait for @return all of them
    ns3::proteus::RepeatedGraph Repeat(uint32_t iterations,
                                       ns3::proteus::CrossIteration cross) const
    {
        return ns3::proteus::RepeatGraph(graph, carried, iterations, cross);
    }
};

/// @param layers of the theory
/// @return one iteration of two replicas: backward pass, last layer first, an all-reduce and an
/// update without length for every layer, then the forward pass of the next step
inline LayerNet
MakeLayerNet(const std::vector<ns3::proteus::IdealLayer>& layers)
{
    using namespace ns3::proteus;
    LayerNet net;
    GraphBuilder builder(2);
    const StreamId compute = builder.AddStream("compute");
    const StreamId gradient = builder.AddStream("gradient");
    const StreamId update = builder.AddStream("optimizer", StreamOrder::READY);
    const PhaseId forward = builder.AddPhase("forward");
    const PhaseId backward = builder.AddPhase("backward");
    const PhaseId gradients = builder.AddPhase("gradients");
    const PhaseId optimizer = builder.AddPhase("optimizer");
    const GroupId both = builder.AddGroup({0, 1});
    const std::size_t n = layers.size();
    std::vector<std::vector<TaskId>> forwards(2, std::vector<TaskId>(n));
    std::vector<std::vector<TaskId>> backwards = forwards;
    for (DeviceId device = 0; device < 2; ++device)
    {
        TaskId last = NO_ID;
        for (std::size_t i = 0; i < 2 * n; ++i)
        {
            const bool isForward = i < n;
            const std::size_t layer = isForward ? i : 2 * n - 1 - i;
            last = builder.AddCompute(
                isForward ? forward : backward,
                device,
                compute,
                (isForward ? "forward" : "backward") + std::to_string(layer),
                isForward ? layers[layer].forwardPs : layers[layer].backwardPs,
                last == NO_ID ? std::vector<TaskId>() : std::vector<TaskId>{last});
            (isForward ? forwards : backwards)[device][layer] = last;
        }
    }
    for (std::size_t layer = n; layer-- > 0;)
    {
        const std::string name = "layer" + std::to_string(layer);
        const TaskId reduced = builder.AddCommunication(gradients,
                                                        both,
                                                        gradient,
                                                        name + ".gradient",
                                                        Collective::ALL_REDUCE,
                                                        layers[layer].bytes,
                                                        Parallelism::DATA,
                                                        {backwards[0][layer], backwards[1][layer]});
        for (DeviceId device = 0; device < 2; ++device)
        {
            const TaskId updated = builder.AddCompute(optimizer,
                                                      device,
                                                      update,
                                                      name + ".update",
                                                      int64_t{0},
                                                      {reduced});
            net.carried.push_back({updated, forwards[device][layer]});
        }
    }
    net.graph = builder.Build();
    return net;
}

/// @param timeline of a repeated graph @param repeated it
/// @return time from the end of the last forward pass of an iteration to that of the next, by
/// iteration, on device 0, picoseconds
inline std::vector<int64_t>
GetForwardSteps(const ns3::proteus::Timeline& timeline, const ns3::proteus::RepeatedGraph& repeated)
{
    std::vector<int64_t> ends(repeated.iterations);
    for (const auto& span : timeline.spans)
    {
        const auto& task = repeated.graph.GetTask(span.task);
        if (repeated.graph.GetName(task).rfind("forward", 0) == 0)
        {
            auto& end = ends[repeated.iterationOf[task.phase]];
            end = std::max(end, span.endPs);
        }
    }
    for (std::size_t i = ends.size(); i-- > 1;)
    {
        ends[i] -= ends[i - 1];
    }
    return ends;
}

#endif // PROTEUS_LAYER_NET_H
