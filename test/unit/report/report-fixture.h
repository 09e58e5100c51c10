/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_REPORT_FIXTURE_H
#define PROTEUS_REPORT_FIXTURE_H

#include "../error-of.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-run-record.h"
#include "ns3/proteus-timeline.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// What the tests of reports have in common.

namespace ns3
{
namespace proteus
{

/// @param text to look into @param part that must be in it
inline void
ExpectContains(const std::string& text, const std::string& part)
{
    EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in '" << text << "'";
}

/// A graph of communications and computations on some devices, and a timeline of it.
struct TestRun
{
    explicit TestRun(uint32_t nDevices, uint32_t microBatches = 1)
        : nDevices(nDevices),
          builder(nDevices)
    {
        compute = builder.AddStream("compute");
        communication = builder.AddStream("communication");
        gradients = builder.AddStream("gradients");
        phase = builder.AddPhase("iteration", microBatches);
        timeline.memory.resize(nDevices);
        timeline.peakMemoryBytes.resize(nDevices);
    }

    TaskId AddCompute(DeviceId device, const std::string& name = "compute")
    {
        return builder.AddCompute(phase, device, compute, name, 1000);
    }

    TaskId AddCollective(const std::vector<DeviceId>& group, Parallelism parallelism)
    {
        return builder.AddCommunication(phase,
                                        builder.AddGroup(group),
                                        parallelism == Parallelism::DATA ? gradients
                                                                         : communication,
                                        "all-reduce",
                                        Collective::ALL_REDUCE,
                                        4096,
                                        parallelism);
    }

    TaskId AddSend(DeviceId from, DeviceId to, Parallelism parallelism = Parallelism::PIPELINE)
    {
        return builder.AddCommunication(phase,
                                        builder.AddGroup({from, to}),
                                        communication,
                                        "send",
                                        Collective::SEND_RECV,
                                        100,
                                        parallelism);
    }

    void AddSpan(DeviceId device, TaskId task, int64_t startPs, int64_t endPs, uint32_t mb = 0)
    {
        timeline.spans.push_back({device, task, mb, startPs, endPs});
        timeline.endPs = std::max(timeline.endPs, endPs);
    }

    /// Builds the graph; call it once, when all tasks are there.
    const ExecutionGraph& Finish()
    {
        graph = builder.Build();
        return graph;
    }

    uint32_t nDevices;
    GraphBuilder builder;
    StreamId compute;
    StreamId communication;
    StreamId gradients;
    PhaseId phase;
    ExecutionGraph graph;
    Timeline timeline;
};

/// @param timeline of a run @return the run, with nothing else
inline RunRecord
ResultOf(const Timeline& timeline)
{
    RunRecord result;
    result.timeline = timeline;
    return result;
}

/// @param names of GPUs @return a cluster with one NVSwitch per server ("a.g0" is in server "a")
inline Cluster
MakeSmallCluster(const std::vector<std::pair<std::string, int32_t>>& gpus)
{
    Cluster cluster("small");
    std::map<int32_t, VertexId> switches;
    const VertexId spine = cluster.AddVertex({"spine", VertexKind::SWITCH, -1, 0, ""});
    for (const auto& gpu : gpus)
    {
        const VertexId id =
            cluster.AddVertex({gpu.first, VertexKind::GPU, gpu.second, 0, "A100-SXM4-80GB"});
        if (switches.count(gpu.second) == 0)
        {
            const std::string name = "s" + std::to_string(gpu.second);
            const VertexId hub = cluster.AddVertex({name, VertexKind::NVSWITCH, gpu.second, 0, ""});
            switches[gpu.second] = hub;
            cluster.AddLink({hub, spine, LinkTechnology::INFINIBAND, 25e9, 1000, {}, 10});
        }
        cluster.AddLink({id, switches[gpu.second], LinkTechnology::NVLINK, 300e9, 1000, {}, 1});
    }
    return cluster;
}

inline Cluster
MakeTwoServers()
{
    return MakeSmallCluster({{"n0.gpu0", 0}, {"n0.gpu1", 0}, {"n1.gpu0", 1}, {"n1.gpu1", 1}});
}

/// A folder that is deleted with what is in it.
class TemporaryFolder
{
  public:
    TemporaryFolder()
        : m_path(std::filesystem::temp_directory_path() /
                 ("proteus-report-test-" + std::to_string(std::random_device()())))
    {
        std::filesystem::create_directory(m_path);
    }

    ~TemporaryFolder()
    {
        std::filesystem::remove_all(m_path);
    }

    std::string operator/(const std::string& name) const
    {
        return (m_path / name).string();
    }

    std::size_t CountFiles() const
    {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(m_path),
                                                      std::filesystem::directory_iterator()));
    }

  private:
    std::filesystem::path m_path;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_REPORT_FIXTURE_H
