/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graph-error.h"

#include "ns3/proteus-graph-computation.h"

#include <gtest/gtest.h>
#include <stdexcept>

using namespace ns3::proteus;

namespace
{

/// Two devices: three micro-batches of 100 and 50 ns on the first, an update of 300 ns beside them,
/// one kernel of 200 ns on the second, one of the host, and a transfer.
ExecutionGraph
MakeGraph()
{
    GraphBuilder builder(2);
    const StreamId compute = builder.AddStream("compute");
    const StreamId updates = builder.AddStream("updates", StreamOrder::READY);
    const StreamId host = builder.AddStream("host", StreamOrder::IN_ORDER, true);
    const StreamId communication = builder.AddStream("communication");
    const PhaseId forward = builder.AddPhase("forward", 3);
    const PhaseId update = builder.AddPhase("update");
    const TaskId a = builder.AddCompute(forward, 0, compute, "a", 100000);
    builder.AddCompute(forward, 0, compute, "b", 50000);
    builder.AddCompute(update, 1, compute, "c", 200000);
    builder.AddCompute(update, 0, updates, "d", 300000);
    builder.AddCompute(update, 0, host, "of the host", 7000000);
    builder.AddCommunication(forward,
                             builder.AddGroup({0, 1}),
                             communication,
                             "sum",
                             Collective::ALL_REDUCE,
                             4096,
                             Parallelism::DATA,
                             {a});
    return builder.Build();
}

} // namespace

TEST(GraphComputation, BusiestStreamCountsEveryMicroBatchAndNoHost)
{
    EXPECT_EQ(GetBusiestComputationPs(MakeGraph()), 450000);
}

TEST(GraphComputation, AllKernelsAreScaledAlikeAndNothingElse)
{
    const ExecutionGraph graph = MakeGraph();
    const ExecutionGraph stretched = StretchComputation(graph, 900000);
    EXPECT_EQ(GetBusiestComputationPs(stretched), 900000);
    EXPECT_EQ(stretched.GetTask(2).durationPs, 400000);
    EXPECT_EQ(stretched.GetTask(3).durationPs, 600000);
    EXPECT_EQ(stretched.GetTask(4).durationPs, 7000000);
    EXPECT_FALSE(stretched == graph);
    EXPECT_EQ(StretchComputation(stretched, 450000), graph);
    EXPECT_EQ(StretchComputation(graph, 450000), graph);
}

TEST(GraphComputation, WhatHasNoTimeCannotBeScaled)
{
    GraphBuilder idle(1);
    ExpectError([graph = idle.Build()] { StretchComputation(graph, 1000); }, {"no device"});

    GraphBuilder late(1);
    const StreamId stream = late.AddStream("compute");
    late.AddCompute(late.AddPhase("step"), 0, stream, "product", 1e9, 1000, DataType::BF16);
    ExpectError([graph = late.Build()] { StretchComputation(graph, 1000); },
                {"'product' has no time"});

    GraphBuilder builder(1);
    const StreamId compute = builder.AddStream("compute");
    builder.AddCompute(builder.AddPhase("step"), 0, compute, "one", 1);
    ExpectError([graph = builder.Build()] { StretchComputation(graph, int64_t{1} << 62); },
                {"'one' would last too long"});
}
