/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graph-sample.h"

#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

class GraphTest : public ::testing::Test, public Sample
{
};

std::vector<TaskId>
ToVector(IdRange range)
{
    return std::vector<TaskId>(range.begin(), range.end());
}

} // namespace

TEST(GraphNames, AreInverse)
{
    for (int i = 0; i < 3; i++)
    {
        const auto kind = static_cast<TaskKind>(i);
        EXPECT_EQ(TaskKindFromString(ToString(kind)), kind);
    }
    for (int i = 0; i < 9; i++)
    {
        const auto collective = static_cast<Collective>(i);
        EXPECT_EQ(CollectiveFromString(ToString(collective)), collective);
    }
    for (const std::string& name : GetDataTypeNames())
    {
        EXPECT_EQ(ToString(DataTypeFromString(name)), name);
    }
    for (int i = 0; i < 8; i++)
    {
        const auto parallelism = static_cast<Parallelism>(i);
        EXPECT_EQ(ParallelismFromString(ToString(parallelism)), parallelism);
    }
    EXPECT_STREQ(ToString(Collective::ALL_REDUCE), "all-reduce");
    EXPECT_STREQ(ToString(DataType::BF16), "bf16");
}

TEST(GraphNames, UnknownOnesListTheKnown)
{
    ExpectError([] { TaskKindFromString("kernel"); }, {"'kernel'", "compute", "memory"});
    ExpectError([] { CollectiveFromString("allreduce"); }, {"'allreduce'", "all-reduce"});
    ExpectError([] { ParallelismFromString("x"); }, {"'x'", "tensor", "expert"});
    ExpectError([] { DataTypeFromString(""); }, {"''", "fp32", "fp8"});
}

TEST_F(GraphTest, HoldsWhatWasAdded)
{
    const TaskId a = builder.AddCompute(forward, 2, compute, "a", 2e9, 4096, DataType::FP16);
    const TaskId b = builder.AddCommunication(once,
                                              all,
                                              network,
                                              "b",
                                              Collective::BROADCAST,
                                              1000,
                                              Parallelism::DATA,
                                              {a},
                                              3);
    const TaskId c = builder.AddMemory(once, 0, "c", 77, {b}, true);
    const TaskId d = builder.AddCompute(once, 1, compute, "a", 500);
    builder.SetFacts({"model", 1e15, 2048, 16});
    builder.AddGate({2, forward, backward, 4});
    const ExecutionGraph graph = builder.Build();

    EXPECT_EQ(graph.GetNDevices(), 4U);
    ASSERT_EQ(graph.GetNTasks(), 4U);
    EXPECT_EQ(graph.GetTask(a).kind, TaskKind::COMPUTE);
    EXPECT_EQ(graph.GetTask(a).flops, 2e9);
    EXPECT_EQ(graph.GetTask(a).bytes, 4096U);
    EXPECT_EQ(graph.GetTask(a).dataType, DataType::FP16);
    EXPECT_EQ(graph.GetTask(a).durationPs, -1);
    EXPECT_EQ(graph.GetTask(a).place, 2U);
    EXPECT_EQ(graph.GetNInstances(graph.GetTask(a)), 3U);
    EXPECT_EQ(graph.GetTask(b).kind, TaskKind::COMMUNICATION);
    EXPECT_EQ(graph.GetTask(b).collective, Collective::BROADCAST);
    EXPECT_EQ(graph.GetTask(b).parallelism, Parallelism::DATA);
    EXPECT_EQ(graph.GetTask(b).root, 3U);
    EXPECT_EQ(graph.GetTask(b).stream, network);
    EXPECT_EQ(graph.GetTask(c).kind, TaskKind::MEMORY);
    EXPECT_EQ(graph.GetTask(c).stream, NO_STREAM);
    EXPECT_TRUE(graph.GetTask(c).persistent);
    EXPECT_EQ(graph.GetTask(d).durationPs, 500);
    EXPECT_EQ(graph.GetName(graph.GetTask(d)), "a");
    EXPECT_EQ(graph.GetTask(a).name, graph.GetTask(d).name);
    EXPECT_EQ(graph.GetGroup(all), (std::vector<DeviceId>{3, 2, 1, 0}));
    EXPECT_EQ(graph.GetFacts().tokensPerIteration, 2048U);
    EXPECT_EQ(graph.GetGates().size(), 1U);
    EXPECT_EQ(ToVector(graph.GetDependencies(a)), std::vector<TaskId>{});
    EXPECT_EQ(ToVector(graph.GetDependencies(b)), std::vector<TaskId>{a});
    EXPECT_EQ(ToVector(graph.GetDependencies(c)), std::vector<TaskId>{b});
}

TEST_F(GraphTest, EqualGroupsAreShared)
{
    EXPECT_EQ(builder.AddGroup({0, 1}), pair);
    EXPECT_NE(builder.AddGroup({1, 0}), pair);
    EXPECT_EQ(builder.Build().GetGroups().size(), 3U);
}

TEST_F(GraphTest, DependenciesAscendWithoutRepetition)
{
    std::vector<TaskId> ids;
    for (int i = 0; i < 6; i++)
    {
        ids.push_back(AddKernel("k"));
    }
    builder.AddDependency(ids[4], ids[2]);
    builder.AddDependency(ids[0], ids[2]);
    builder.AddDependency(ids[4], ids[2]);
    builder.AddDependency(ids[3], ids[2]);
    builder.AddDependency(ids[2], ids[5]);
    builder.AddDependency(ids[2], ids[5]);
    const ExecutionGraph graph = builder.Build();
    EXPECT_EQ(ToVector(graph.GetDependencies(2)), (std::vector<TaskId>{0, 3, 4}));
    EXPECT_EQ(ToVector(graph.GetDependencies(5)), std::vector<TaskId>{2});
    for (const TaskId id : {0, 1, 3, 4})
    {
        EXPECT_EQ(graph.GetDependencies(id).size(), 0U) << id;
    }
}

TEST_F(GraphTest, IsEmptyAfterBuilding)
{
    AddKernel("a");
    builder.Build();
    const ExecutionGraph second = builder.Build();
    EXPECT_EQ(second.GetNTasks(), 0U);
    EXPECT_EQ(second.GetNDevices(), 4U);
    EXPECT_TRUE(second.GetStreams().empty());
    EXPECT_TRUE(second.GetSchedule(3).empty());

    builder.AddStream("compute");
    builder.AddCompute(7, 0, 0, "bad", 1);
    ExpectBuildError({"task 0 (bad)", "phase 7"});
    EXPECT_EQ(builder.Build().GetNTasks(), 0U);
}

TEST_F(GraphTest, EqualityComparesEverything)
{
    const auto make = [](const std::function<void(GraphBuilder&)>& change) {
        GraphBuilder builder(2);
        builder.AddStream("s");
        builder.AddPhase("p", 2);
        builder.AddPhase("q", 2);
        builder.AddGroup({0, 1});
        builder.AddCompute(0, 0, 0, "a", 5);
        builder.AddCompute(1, 0, 0, "b", 5);
        change(builder);
        return builder.Build();
    };
    const ExecutionGraph base = make([](GraphBuilder&) {});
    EXPECT_TRUE(base == make([](GraphBuilder&) {}));
    // The default schedule, set by hand, is the default schedule.
    EXPECT_TRUE(base == make([](GraphBuilder& builder) {
                    builder.SetSchedule(0, {{0, 0}, {0, 1}, {1, 0}, {1, 1}});
                }));
    const std::vector<std::function<void(GraphBuilder&)>> changes{
        [](GraphBuilder& builder) { builder.AddStream("t"); },
        [](GraphBuilder& builder) { builder.AddPhase("r"); },
        [](GraphBuilder& builder) { builder.AddGroup({0}); },
        [](GraphBuilder& builder) { builder.AddCompute(0, 0, 0, "a", 5); },
        [](GraphBuilder& builder) { builder.AddDependency(0, 1); },
        [](GraphBuilder& builder) {
            builder.SetSchedule(0, {{0, 0}, {1, 0}, {0, 1}, {1, 1}});
        },
        [](GraphBuilder& builder) {
            builder.AddGate({0, 0, 1, 2});
        },
        [](GraphBuilder& builder) {
            builder.SetFacts({"x", 0, 0, 0});
        },
    };
    for (std::size_t i = 0; i < changes.size(); i++)
    {
        EXPECT_FALSE(base == make(changes[i])) << "change " << i;
    }
}

TEST_F(GraphTest, DefaultScheduleHasThePhasesOfTheDevice)
{
    builder.AddCompute(backward, 0, compute, "b", 1);
    builder.AddCompute(once, 0, compute, "o", 1);
    builder.AddMemory(forward, 0, "no stream, no phase", 1);
    builder.AddCommunication(forward,
                             pair,
                             network,
                             "send",
                             Collective::SEND_RECV,
                             1,
                             Parallelism::PIPELINE);
    builder
        .AddCommunication(five, all, network, "ar", Collective::ALL_REDUCE, 1, Parallelism::DATA);
    const ExecutionGraph graph = builder.Build();

    std::vector<ScheduleEntry> expected{{once, 0}};
    for (const PhaseId phase : {forward, backward, five})
    {
        for (uint32_t k = 0; k < graph.GetPhases()[phase].microBatches; k++)
        {
            expected.push_back({phase, k});
        }
    }
    EXPECT_EQ(graph.GetSchedule(0), expected);
    // The receiver of a send-receive admits nothing.
    const std::vector<ScheduleEntry> other{{five, 0}, {five, 1}, {five, 2}, {five, 3}, {five, 4}};
    EXPECT_EQ(graph.GetSchedule(1), other);
    EXPECT_EQ(graph.GetSchedule(2), other);
    EXPECT_TRUE(graph.FindScheduledDevices().empty());
    const std::vector<std::vector<PhaseId>> phases{{once, forward, backward, five},
                                                   {five},
                                                   {five},
                                                   {five}};
    EXPECT_EQ(graph.FindPhasesByDevice(), phases);
}

TEST_F(GraphTest, SchedulesThatAreSet)
{
    for (DeviceId device = 0; device < 4; device++)
    {
        builder.AddCompute(forward, device, compute, "f", 1);
    }
    // Entries of phases without tasks on the device are allowed.
    const std::vector<ScheduleEntry> order{{forward, 2}, {five, 4}, {forward, 0}, {forward, 1}};
    builder.SetSchedule({1, 3}, order);
    const ExecutionGraph graph = builder.Build();
    EXPECT_EQ(graph.GetSchedule(1), order);
    EXPECT_EQ(graph.GetSchedule(3), order);
    EXPECT_EQ(graph.GetSchedule(2).size(), 3U);
    EXPECT_EQ(graph.FindScheduledDevices(), (std::vector<std::vector<DeviceId>>{{1, 3}}));
}

} // namespace proteus
} // namespace ns3
