/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-graph-head.h"

namespace ns3
{
namespace proteus
{

void
CopyFrame(const ExecutionGraph& graph, GraphBuilder& builder)
{
    builder.SetFacts(graph.GetFacts());
    for (StreamId stream = 0; stream < graph.GetStreams().size(); ++stream)
    {
        builder.AddStream(graph.GetStreams()[stream],
                          graph.GetStreamOrder(stream),
                          graph.IsHostStream(stream));
    }
    for (const Phase& phase : graph.GetPhases())
    {
        builder.AddPhase(phase.name, phase.microBatches);
    }
    for (const auto& group : graph.GetGroups())
    {
        builder.AddGroup(group);
    }
}

void
CopySchedules(const ExecutionGraph& graph, GraphBuilder& builder)
{
    for (const auto& devices : graph.FindScheduledDevices())
    {
        builder.SetSchedule(devices, graph.GetSchedule(devices.front()));
    }
    for (const MicroBatchGate& gate : graph.GetGates())
    {
        builder.AddGate(gate);
    }
}

void
CopyHead(const ExecutionGraph& graph, GraphBuilder& builder)
{
    CopyFrame(graph, builder);
    CopySchedules(graph, builder);
}

} // namespace proteus
} // namespace ns3
