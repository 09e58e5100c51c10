/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COLLECTIVE_OUTCOME_H
#define PROTEUS_COLLECTIVE_OUTCOME_H

#include "proteus-test-ranks.h"

#include "ns3/proteus-helper.h"
#include "ns3/proteus-program.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * One collective over packets, and what it left behind.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus-tests
/// @param n how many @return 0 to n - 1
inline std::vector<DeviceId>
FirstDevices(uint32_t n)
{
    std::vector<DeviceId> devices(n);
    std::iota(devices.begin(), devices.end(), 0);
    return devices;
}

/// @ingroup proteus-tests
/// One collective, and what is fixed about it.
struct Setting
{
    Collective collective{Collective::ALL_REDUCE}; //!< what is run
    std::string algorithm;                         //!< of it
    uint64_t bytes{0};                             //!< its size
    uint32_t root{0};                              //!< if it has one
    uint32_t channels{1};                          //!< of it
    std::string protocol{"Simple"};                //!< of it
    std::vector<uint64_t> splits;                  //!< of an all-to-all
};

/// @ingroup proteus-tests
/// What a run left behind.
struct Outcome
{
    std::shared_ptr<const CollectiveProgram> program;
    std::vector<int64_t> ends;  //!< by device, of its last task, picoseconds
    std::vector<uint64_t> sent; //!< by device: payload on its links
    std::vector<LinkStatistics> links;
};

/// @ingroup proteus-tests
/// @param cluster to run on @param devices of the group @param setting of the collective
/// @param late device that joins late, or none @param delayPs by how much @return what happened
inline Outcome
RunLate(const Cluster& cluster,
        const std::vector<DeviceId>& devices,
        const Setting& setting,
        DeviceId late,
        int64_t delayPs)
{
    const TestRanks ranks(cluster);
    const auto nDevices = static_cast<uint32_t>(cluster.GetGpus().size());
    GraphBuilder builder(nDevices);
    const StreamId stream = builder.AddStream("communication");
    const StreamId compute = builder.AddStream("compute");
    const PhaseId phase = builder.AddPhase("iteration");
    std::vector<TaskId> before;
    if (late < nDevices)
    {
        before.push_back(builder.AddCompute(phase, late, compute, "late", delayPs));
    }
    const TaskId task = builder.AddCommunication(phase,
                                                 builder.AddGroup(devices),
                                                 stream,
                                                 "collective",
                                                 setting.collective,
                                                 setting.bytes,
                                                 Parallelism::NONE,
                                                 before,
                                                 static_cast<uint16_t>(setting.root));
    ProteusHelper helper;
    helper.AssignStreams(1);
    helper.SetNetworkAttribute("Algorithm", StringValue(setting.algorithm));
    helper.SetNetworkAttribute("Protocol", StringValue(setting.protocol));
    helper.SetNetworkAttribute("Channels", UintegerValue(setting.channels));
    helper.SetNetworkAttribute("ChunkBytes", UintegerValue(65536));
    if (!setting.splits.empty())
    {
        helper.SetProgramMaker([&](CollectiveRequest request) {
            request.splits = setting.splits;
            return MakeProgram(cluster, Paths(cluster), request);
        });
    }
    const ExecutionGraph graph = builder.Build();
    Ptr<TrainingJob> job = helper.Install(cluster, graph);
    job->Run();
    Outcome outcome;
    outcome.program = job->GetNetwork()->GetProgram(task);
    outcome.ends.resize(nDevices);
    for (const Span& span : job->GetTimeline().spans)
    {
        outcome.ends[span.device] = std::max(outcome.ends[span.device], span.endPs);
    }
    outcome.sent.resize(nDevices);
    outcome.links = job->GetFabric()->GetLinkStatistics();
    for (DeviceId device = 0; device < nDevices; ++device)
    {
        const VertexId gpu = cluster.GetGpus()[device];
        for (const LinkStatistics& link : outcome.links)
        {
            const Link& ends = cluster.GetLinks()[link.link];
            outcome.sent[device] += (link.forward ? ends.a : ends.b) == gpu ? link.payloadBytes : 0;
        }
    }
    job->Dispose();
    Simulator::Destroy();
    return outcome;
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COLLECTIVE_OUTCOME_H
