/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_BENCH_ALL_REDUCE_H
#define PROTEUS_BENCH_ALL_REDUCE_H

#include "proteus-bench-cases.h"
#include "proteus-bench-process.h"

#include "ns3/proteus-flow-run.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <chrono>
#include <numeric>

/**
 * @file
 * @ingroup proteus
 * All-reduces of proteus-bench, as NCCL does them on DGX A100, and what it takes to set them up.
 */

namespace ns3
{
namespace proteus
{

/// @param gpus how many @param bytes of the all-reduce @return the job
inline ExecutionGraph
MakeAllReduceGraph(uint32_t gpus, uint64_t bytes)
{
    GraphBuilder builder(gpus);
    std::vector<DeviceId> all(gpus);
    std::iota(all.begin(), all.end(), 0);
    builder.AddCommunication(builder.AddPhase("iteration"),
                             builder.AddGroup(all),
                             builder.AddStream("communication"),
                             "sum",
                             Collective::ALL_REDUCE,
                             bytes,
                             Parallelism::DATA);
    return builder.Build();
}

/// @param cluster where @param graph the all-reduce @param onlySetUp do not let it begin
/// @param result gets what packets cost
inline void
RunPackets(const Cluster& cluster, const ExecutionGraph& graph, bool onlySetUp, Result& result)
{
    const double beginS = GetCpuS();
    const uint64_t before = GetMemory("VmRSS");
    ProteusHelper helper;
    helper.AssignStreams(0);
    helper.SetNetworkAttribute("Repetition", StringValue("off")); // every packet counts
    const Ptr<TrainingJob> job = helper.Install(cluster, graph);
    const double setUpS = GetCpuS();
    result.setUpS += setUpS - beginS;
    result.restBytes = GetMemory("VmRSS") - before;
    const auto wall = std::chrono::steady_clock::now();
    if (!onlySetUp)
    {
        job->Run();
    }
    result.cpuS = GetCpuS() - setUpS;
    result.wallS = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count();
    const NetworkStatistics work = job->GetNetwork()->GetStatistics();
    result.packets = work.packets;
    result.controlPackets = work.controlPackets;
    result.hops = work.packetHops;
    result.events = work.events;
    result.simulatorEvents = Simulator::GetEventCount();
    result.bytes = job->GetNetwork()->GetSentBytes();
    result.endPs = job->GetTimeline().endPs;
    job->Dispose();
    Simulator::Destroy();
}

/// @param c an all-reduce @return what came out
inline Result
RunAllReduce(const Case& c)
{
    Result result;
    const uint64_t before = GetMemory("VmRSS");
    const double beginS = GetCpuS();
    const Cluster cluster = c.makeCluster();
    result.hosts = static_cast<uint32_t>(cluster.GetGpus().size());
    const ExecutionGraph graph = MakeAllReduceGraph(result.hosts, c.allReduceBytes);
    result.setUpS = GetCpuS() - beginS;
    if (c.throughFlows)
    {
        const auto wall = std::chrono::steady_clock::now();
        result.endPs = RunFlow(graph, cluster).timeline.endPs;
        result.cpuS = GetCpuS() - beginS - result.setUpS;
        result.wallS =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count();
    }
    else
    {
        RunPackets(cluster, graph, c.onlySetUp, result);
    }
    result.peakBytes = GetMemory("VmHWM") - before;
    return result;
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_BENCH_ALL_REDUCE_H
