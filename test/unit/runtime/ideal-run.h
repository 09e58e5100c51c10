/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_IDEAL_RUN_H
#define PROTEUS_IDEAL_RUN_H

#include "ns3/proteus-device-runtime.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * Runs of graphs without a simulator.
 */

namespace ns3
{
namespace proteus
{

/// A clock that a test runs.
class TestClock : public Clock
{
  public:
    int64_t GetTimePs() const override
    {
        return m_time;
    }

    void Schedule(DeviceId /* device */, int64_t delayPs, std::function<void()> callback) override
    {
        m_events.emplace(std::make_pair(m_time + delayPs, m_next++), std::move(callback));
    }

    void Run()
    {
        while (!m_events.empty())
        {
            const auto event = m_events.begin();
            m_time = event->first.first;
            const auto callback = std::move(event->second);
            m_events.erase(event);
            callback();
        }
    }

  private:
    int64_t m_time{0};
    uint64_t m_next{0};
    std::map<std::pair<int64_t, uint64_t>, std::function<void()>> m_events;
};

/// A network without contention: a communication takes a fixed time once all have joined.
class IdealNetwork : public Network
{
  public:
    IdealNetwork(const ExecutionGraph& graph,
                 TestClock& clock,
                 std::function<int64_t(const Task&)> time)
        : m_graph(graph),
          m_clock(clock),
          m_time(std::move(time))
    {
    }

    void Join(DeviceId device,
              TaskId task,
              uint32_t microBatch,
              std::function<void()> done) override
    {
        auto& members = m_waiting[{task, microBatch}];
        members.push_back({device, std::move(done)});
        const Task& communication = m_graph.GetTask(task);
        if (members.size() == m_graph.GetGroup(communication.place).size())
        {
            for (auto& member : members)
            {
                m_clock.Schedule(member.first, m_time(communication), std::move(member.second));
            }
            m_waiting.erase({task, microBatch});
        }
    }

    std::string DescribeWait(DeviceId device, TaskId task, uint32_t microBatch) const override
    {
        const auto found = m_waiting.find({task, microBatch});
        if (found != m_waiting.end())
        {
            for (const auto& member : found->second)
            {
                if (member.first == device)
                {
                    return "waits for others";
                }
            }
        }
        return "";
    }

  private:
    const ExecutionGraph& m_graph;
    TestClock& m_clock;
    std::function<int64_t(const Task&)> m_time;
    std::map<std::pair<TaskId, uint32_t>, std::vector<std::pair<DeviceId, std::function<void()>>>>
        m_waiting;
};

/// Runs a graph on an IdealNetwork.
struct GraphRun
{
    GraphRun(const ExecutionGraph& graph, std::function<int64_t(const Task&)> communicationTime)
        : network(graph, clock, std::move(communicationTime))
    {
        for (DeviceId device = 0; device < graph.GetNDevices(); ++device)
        {
            devices.push_back(std::make_unique<DeviceRuntime>(graph,
                                                              device,
                                                              FindGpuDatasheet("A100-SXM4-80GB"),
                                                              RuntimeOptions(),
                                                              clock,
                                                              network));
            devices.back()->SetSpanSink([this](const Span& span) { spans.push_back(span); });
        }
        for (const auto& device : devices)
        {
            device->Start();
        }
        clock.Run();
        for (const Span& span : spans)
        {
            endPs = std::max(endPs, span.endPs);
        }
    }

    bool IsDone() const
    {
        return std::all_of(devices.begin(), devices.end(), [](const auto& device) {
            return device->IsDone();
        });
    }

    TestClock clock;
    IdealNetwork network;
    std::vector<std::unique_ptr<DeviceRuntime>> devices;
    std::vector<Span> spans;
    int64_t endPs{0};
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_IDEAL_RUN_H
