/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-flow-run.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <string>
#include <vector>

// Computation and communication that overlap slow each other for as long as they overlap.

using namespace ns3::proteus;

namespace
{

constexpr int64_t MS = 1000000000; // ps

/// Two hosts and a link of 10 GB/s that takes no time otherwise.
Cluster
MakePair()
{
    LinkFraming framing;
    framing.controlBytes = 1;
    return MakeHostCluster(2, FabricOptions(), LinkTechnology::INFINIBAND, 10e9, 1000, framing);
}

FlowParameters
Slowdowns(double compute, double communication)
{
    FlowParameters parameters;
    parameters.kernelCosts = false;
    parameters.launchPs = 0;
    parameters.computeSlowdown = compute;
    parameters.communicationSlowdown = communication;
    return parameters;
}

/// Kernels of a stream on device 0, in order, beside a message of 50 MB, 5 ms alone.
struct Overlap
{
    std::vector<int64_t> kernelsPs; //!< one after the other
    int64_t beforePs{0};            //!< kernel of device 1 that the message waits for
};

/// @return ends of the kernels of device 0, then of the message, ms
std::vector<double>
RunOverlap(const Overlap& overlap, const FlowParameters& parameters)
{
    GraphBuilder builder(2);
    const PhaseId phase = builder.AddPhase("all");
    const StreamId compute = builder.AddStream("compute");
    std::vector<TaskId> tasks;
    for (const int64_t timePs : overlap.kernelsPs)
    {
        tasks.push_back(builder.AddCompute(phase, 0, compute, "kernel", timePs));
    }
    std::vector<TaskId> before;
    if (overlap.beforePs > 0)
    {
        before.push_back(builder.AddCompute(phase, 1, compute, "before", overlap.beforePs));
    }
    tasks.push_back(builder.AddCommunication(phase,
                                             builder.AddGroup({0, 1}),
                                             builder.AddStream("communication"),
                                             "message",
                                             Collective::SEND_RECV,
                                             50000000,
                                             Parallelism::NONE,
                                             before));
    const ExecutionGraph graph = builder.Build();
    const FlowRun run = RunFlow(graph, MakePair(), RuntimeOptions(), parameters);
    std::vector<double> ends;
    for (const TaskId task : tasks)
    {
        double end = 0;
        for (const Span& span : run.timeline.spans)
        {
            end = span.task == task ? std::max(end, static_cast<double>(span.endPs) / MS) : end;
        }
        ends.push_back(end);
    }
    return ends;
}

/// The latencies of the message are less than this, ms.
constexpr double LATENCY = 1e-4;

void
ExpectEnds(const std::vector<double>& ends, const std::vector<double>& expected)
{
    ASSERT_EQ(ends.size(), expected.size());
    for (std::size_t i = 0; i < ends.size(); ++i)
    {
        EXPECT_NEAR(ends[i], expected[i], LATENCY) << i;
    }
}

} // namespace

TEST(OverlapClock, NothingIsSlowedByDefault)
{
    ExpectEnds(RunOverlap({{10 * MS}}, Slowdowns(0, 0)), {10, 5});
}

TEST(OverlapClock, ComputationIsSlowedWhileTheDeviceCommunicates)
{
    // 5 ms of the message: 4 ms of the kernel are done in them.
    ExpectEnds(RunOverlap({{10 * MS}}, Slowdowns(0.25, 0)), {11, 5});
    // It begins after 3 ms, in the second kernel.
    ExpectEnds(RunOverlap({{2 * MS, 8 * MS}, 3 * MS}, Slowdowns(0.25, 0)), {2, 11, 8});
    // A kernel within the message is slowed as a whole.
    ExpectEnds(RunOverlap({{2 * MS, 1 * MS}}, Slowdowns(0.25, 0)), {2.5, 3.75, 5});
}

TEST(OverlapClock, CommunicationIsSlowedWhileAMemberComputes)
{
    ExpectEnds(RunOverlap({{10 * MS}}, Slowdowns(0, 0.5)), {10, 7.5});
    // 3 ms in which 2 are done; then alone.
    ExpectEnds(RunOverlap({{1 * MS, 2 * MS}}, Slowdowns(0, 0.5)), {1, 3, 6});
}

TEST(OverlapClock, BothAreSlowedForAsLongAsTheyOverlap)
{
    // The message takes 7.5 ms beside the kernel, of which 6 ms are done by then.
    ExpectEnds(RunOverlap({{10 * MS}}, Slowdowns(0.25, 0.5)), {11.5, 7.5});
    // The kernel takes 3.75 ms beside the message, of which 2.5 ms are done by then.
    ExpectEnds(RunOverlap({{3 * MS}}, Slowdowns(0.25, 0.5)), {3.75, 6.25});
}
