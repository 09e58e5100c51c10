/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_JOB_TEST_TOOLS_H
#define PROTEUS_JOB_TEST_TOOLS_H

#include "ns3/boolean.h"
#include "ns3/proteus-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * Graphs as tests of whole jobs run them.
 */

namespace ns3
{
namespace proteus
{
namespace jobtest
{

/// What a run left behind.
struct Outcome
{
    Timeline timeline;
    std::vector<LinkStatistics> links;
    std::vector<CommunicationStatistics> communication;
    NetworkStatistics network;
};

/// Runs a graph on a cluster.
inline Outcome
RunGraph(const ProteusHelper& helper, const Cluster& cluster, const ExecutionGraph& graph)
{
    Ptr<TrainingJob> job = helper.Install(cluster, graph);
    job->Run();
    Outcome outcome{job->GetTimeline(),
                    job->GetFabric()->GetLinkStatistics(),
                    job->GetNetwork()->GetCommunicationStatistics(),
                    job->GetNetwork()->GetStatistics()};
    job->Dispose();
    Simulator::Destroy();
    return outcome;
}

/// A helper without launch overhead, with a fixed random stream; nothing but payload is sent.
inline ProteusHelper
MakeHelper()
{
    ProteusHelper helper;
    helper.SetNetworkAttribute("Protocol", StringValue("Simple"));
    helper.SetNetworkAttribute("LaunchOverhead", TimeValue(Seconds(0)));
    helper.SetNetworkAttribute("KernelCosts", BooleanValue(false));
    helper.AssignStreams(1);
    return helper;
}

/// The first n devices.
inline std::vector<DeviceId>
FirstDevices(uint32_t n)
{
    std::vector<DeviceId> devices(n);
    for (DeviceId device = 0; device < n; ++device)
    {
        devices[device] = device;
    }
    return devices;
}

/// One collective over the given devices.
inline ExecutionGraph
MakeCollectiveGraph(const std::vector<DeviceId>& members, Collective collective, uint64_t bytes)
{
    GraphBuilder builder(members.back() + 1);
    const StreamId stream = builder.AddStream("communication");
    const PhaseId phase = builder.AddPhase("iteration");
    builder.AddCommunication(phase,
                             builder.AddGroup(members),
                             stream,
                             ToString(collective),
                             collective,
                             bytes,
                             Parallelism::TENSOR);
    return builder.Build();
}

/// Two GPUs on one NVSwitch by one connection each, 1 GB/s, 1 us, no headers.
inline Cluster
MakePair(double bytesPerSecond = 1e9, int64_t delayPs = 1000000)
{
    Cluster cluster("pair");
    for (uint32_t i = 0; i < 2; ++i)
    {
        Vertex gpu;
        gpu.name = "gpu" + std::to_string(i);
        gpu.server = 0;
        gpu.index = i;
        gpu.model = "A100-SXM4-80GB";
        cluster.AddVertex(gpu);
    }
    Vertex hub;
    hub.name = "switch";
    hub.kind = VertexKind::NVSWITCH;
    hub.server = 0;
    const VertexId center = cluster.AddVertex(hub);
    for (VertexId gpu : cluster.GetGpus())
    {
        Link link;
        link.a = gpu;
        link.b = center;
        link.bytesPerSecond = bytesPerSecond;
        link.delayPs = delayPs;
        link.framing = LinkFraming{1000, 0, 1000, 0, 1};
        cluster.AddLink(link);
    }
    return cluster;
}

} // namespace jobtest
} // namespace proteus
} // namespace ns3

#endif // PROTEUS_JOB_TEST_TOOLS_H
