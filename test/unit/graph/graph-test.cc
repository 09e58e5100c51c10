/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graph-error.h"

#include "ns3/proteus-graph.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// A graph of four devices in which a test can go wrong.
struct Sample
{
    GraphBuilder builder{4};
    StreamId compute{builder.AddStream("compute")};
    StreamId network{builder.AddStream("network")};
    PhaseId once{builder.AddPhase("once")};
    PhaseId forward{builder.AddPhase("forward", 3)};
    PhaseId backward{builder.AddPhase("backward", 3)};
    PhaseId five{builder.AddPhase("five", 5)};
    GroupId pair{builder.AddGroup({0, 1})};
    GroupId all{builder.AddGroup({3, 2, 1, 0})};

    TaskId AddKernel(const std::string& name,
                     DeviceId device = 0,
                     const std::vector<TaskId>& dependencies = {})
    {
        return builder.AddCompute(once, device, compute, name, 1, dependencies);
    }

    void ExpectBuildError(const std::vector<std::string>& parts)
    {
        ExpectError([this] { builder.Build(); }, parts);
    }
};

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
    for (int i = 0; i < 5; i++)
    {
        const auto collective = static_cast<Collective>(i);
        EXPECT_EQ(CollectiveFromString(ToString(collective)), collective);
        const auto type = static_cast<DataType>(i);
        EXPECT_EQ(DataTypeFromString(ToString(type)), type);
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

TEST(GraphBuilderLimits, Devices)
{
    ExpectError([] { GraphBuilder builder(0); }, {"devices", "not 0"});
    ExpectError([] { GraphBuilder builder(MAX_DEVICES + 1); }, {"devices", "1048577"});
    EXPECT_EQ(GraphBuilder(MAX_DEVICES).Build().GetNDevices(), MAX_DEVICES);
}

TEST_F(GraphTest, NegativeDuration)
{
    ExpectError([this] { builder.AddCompute(once, 0, compute, "k", -5); }, {"task 0 (k)", "-5 ps"});
    Task task;
    task.stream = compute;
    task.durationPs = -5; // a task as it stands: any negative value asks the cost model
    builder.AddTask(task, "k");
    EXPECT_EQ(builder.Build().GetTask(0).durationPs, -1);
}

TEST_F(GraphTest, StreamsAndPhasesAreDistinct)
{
    builder.AddStream("network");
    ExpectBuildError({"streams 1 and 2", "'network'"});
    builder.AddPhase("p");
    builder.AddPhase("p");
    ExpectBuildError({"phases 0 and 1", "'p'"});
}

TEST_F(GraphTest, MicroBatches)
{
    builder.AddPhase("none", 0);
    ExpectBuildError({"phase 4 (none)", "0 micro-batches"});
    builder.AddPhase("many", MAX_MICRO_BATCHES + 1);
    ExpectBuildError({"phase 0 (many)", "1048577 micro-batches"});
}

TEST_F(GraphTest, NamesAreUtf8)
{
    AddKernel("Gr\xc3\xb6\xc3\x9f"
              "e \xe2\x82\xac \xf0\x9f\x98\x80");
    EXPECT_EQ(ErrorOf([this] { builder.Build(); }), "");
    const std::vector<std::string> bad{"\x80",
                                       "a\xff",
                                       "\xc3",
                                       "\xc0\xaf",
                                       "\xe0\x80\x80",
                                       "\xed\xa0\x80",
                                       "\xf0\x80\x80\x80",
                                       "\xf4\x90\x80\x80",
                                       "\xf5\x80\x80\x80",
                                       "\xe2\x82",
                                       "\xe2\x82z"};
    for (const auto& name : bad)
    {
        builder.AddStream("s");
        builder.AddPhase("p");
        builder.AddCompute(0, 0, 0, "good", 1);
        builder.AddCompute(0, 0, 0, name, 1);
        ExpectBuildError({"name of task 1", "UTF-8"});
        builder.AddStream(name);
        ExpectBuildError({"name of stream 0", "UTF-8"});
        builder.AddPhase(name);
        ExpectBuildError({"name of phase 0", "UTF-8"});
        builder.SetFacts({name, 0, 0, 0});
        ExpectBuildError({"workload", "UTF-8"});
    }
}

TEST_F(GraphTest, MessagesStayOnOneLine)
{
    AddKernel("first\nsecond" + std::string(1000, 'x'), 9);
    const std::string message = ErrorOf([this] { builder.Build(); });
    EXPECT_EQ(message.find('\n'), std::string::npos);
    EXPECT_NE(message.find("first?second"), std::string::npos);
    EXPECT_LT(message.size(), 300U);
}

TEST_F(GraphTest, Facts)
{
    builder.SetFacts({"w", std::nan(""), 0, 0});
    ExpectBuildError({"workload 'w'", "finite"});
    builder.SetFacts({"w", -1, 0, 0});
    ExpectBuildError({"workload 'w'"});
}

TEST_F(GraphTest, Groups)
{
    builder.AddGroup({2, 0, 2});
    ExpectBuildError({"group 2", "repeats device 2"});
    builder.AddGroup({2, 4});
    ExpectBuildError({"group 0", "device 4", "4 devices"});
    builder.AddGroup({});
    ExpectBuildError({"group 0", "no device"});
}

/// Each case changes one field of a valid task.
TEST_F(GraphTest, Tasks)
{
    struct Case
    {
        TaskKind kind;
        std::function<void(Task&)> change;
        std::vector<std::string> parts;
    };

    constexpr auto COMPUTE = TaskKind::COMPUTE;
    constexpr auto COMMUNICATION = TaskKind::COMMUNICATION;
    constexpr auto MEMORY = TaskKind::MEMORY;
    const double infinity = std::numeric_limits<double>::infinity();
    const std::vector<Case> cases{
        {COMPUTE, [](Task& t) { t.kind = static_cast<TaskKind>(3); }, {"unknown kind"}},
        {COMMUNICATION, [](Task& t) { t.collective = static_cast<Collective>(9); }, {"unknown"}},
        {COMMUNICATION, [](Task& t) { t.parallelism = static_cast<Parallelism>(9); }, {"unknown"}},
        {COMPUTE, [](Task& t) { t.dataType = static_cast<DataType>(9); }, {"unknown"}},
        {COMPUTE, [](Task& t) { t.phase = 4; }, {"phase 4", "4 phases"}},
        {COMPUTE, [](Task& t) { t.place = 4; }, {"device 4", "4 devices"}},
        {MEMORY, [](Task& t) { t.place = NO_ID; }, {"device 4294967295"}},
        {COMMUNICATION, [](Task& t) { t.place = 2; }, {"group 2", "2 groups"}},
        {COMPUTE, [](Task& t) { t.stream = 2; }, {"stream 2", "2 streams"}},
        {COMPUTE, [](Task& t) { t.stream = NO_STREAM; }, {"no stream", "compute"}},
        {COMMUNICATION, [](Task& t) { t.stream = NO_STREAM; }, {"no stream", "communication"}},
        {COMMUNICATION, [](Task& t) { t.stream = 7; }, {"stream 7"}},
        {MEMORY, [](Task& t) { t.stream = 0; }, {"memory", "stream 0"}},
        {COMMUNICATION,
         [](Task& t) {
             t.collective = Collective::SEND_RECV;
             t.place = 1;
         },
         {"send-recv", "group 1", "4 devices", "exactly two"}},
        {COMMUNICATION,
         [](Task& t) {
             t.collective = Collective::BROADCAST;
             t.root = 2;
         },
         {"root 2", "group 0", "2 devices"}},
        {COMMUNICATION, [](Task& t) { t.root = 1; }, {"no root", "all-reduce"}},
        {COMMUNICATION, [](Task& t) { t.bytes = 0; }, {"0 bytes"}},
        {COMMUNICATION, [](Task& t) { t.durationPs = 0; }, {"no duration"}},
        {COMMUNICATION, [](Task& t) { t.flops = 1; }, {"no FLOPs"}},
        {COMMUNICATION, [](Task& t) { t.dataType = DataType::FP8; }, {"no data type"}},
        {COMMUNICATION, [](Task& t) { t.persistent = true; }, {"no persistence"}},
        {MEMORY, [](Task& t) { t.durationPs = 5; }, {"no duration"}},
        {MEMORY, [](Task& t) { t.flops = 5; }, {"no FLOPs"}},
        {MEMORY, [](Task& t) { t.parallelism = Parallelism::DATA; }, {"no parallelism"}},
        {COMPUTE, [](Task& t) { t.collective = Collective::BROADCAST; }, {"no collective"}},
        {COMPUTE, [](Task& t) { t.persistent = true; }, {"no persistence"}},
        {COMPUTE, [](Task& t) { t.flops = -1; }, {"FLOPs", "negative"}},
        {COMPUTE, [](Task& t) { t.flops = std::nan(""); }, {"FLOPs", "not finite"}},
        {COMPUTE, [infinity](Task& t) { t.flops = infinity; }, {"FLOPs", "not finite"}},
    };
    for (std::size_t i = 0; i < cases.size(); i++)
    {
        SCOPED_TRACE("case " + std::to_string(i));
        Sample other;
        other.AddKernel("fine");
        Task task;
        task.kind = cases[i].kind;
        task.stream = task.kind == MEMORY ? NO_STREAM : other.compute;
        task.bytes = 1;
        GraphBuilder good = other.builder;
        good.AddTask(task, "mine");
        EXPECT_EQ(ErrorOf([&] { good.Build(); }), "");

        cases[i].change(task);
        other.builder.AddTask(task, "mine");
        std::vector<std::string> parts = cases[i].parts;
        parts.emplace_back("task 1 (mine)");
        other.ExpectBuildError(parts);
    }
}

TEST_F(GraphTest, DependenciesOnMissingTasks)
{
    AddKernel("a");
    AddKernel("b", 0, {7});
    ExpectBuildError({"task 1 (b)", "task 7", "2 tasks"});
    builder.AddDependency(1, 9);
    ExpectBuildError({"task 9", "does not exist", "task 1"});
}

TEST_F(GraphTest, DependenciesNeedACommonDevice)
{
    const auto add = [this](GroupId group, const std::string& name, TaskId before) {
        return builder.AddCommunication(once,
                                        group,
                                        network,
                                        name,
                                        Collective::ALL_REDUCE,
                                        1,
                                        Parallelism::NONE,
                                        {before});
    };
    const auto fill = [this] {
        builder.AddStream("compute");
        builder.AddStream("network");
        builder.AddPhase("once");
        pair = builder.AddGroup({0, 1});
        all = builder.AddGroup({3, 2, 1, 0});
    };
    const TaskId zero = AddKernel("zero", 0);
    const TaskId exchange = add(pair, "exchange", zero);
    add(all, "everyone", exchange);
    AddKernel("one", 1, {exchange});
    add(builder.AddGroup({2, 1}), "one two", exchange);
    EXPECT_EQ(ErrorOf([this] { builder.Build(); }), "");

    fill();
    AddKernel("zero", 0);
    AddKernel("one", 1, {0});
    ExpectBuildError({"task 1 (one)", "task 0 (zero)", "device 1", "device 0", "common"});
    fill();
    AddKernel("zero", 0);
    add(pair, "exchange", 0);
    AddKernel("two", 2, {1});
    ExpectBuildError({"task 2 (two)", "task 1 (exchange)", "group 0", "device 2"});
    fill();
    AddKernel("three", 3);
    add(pair, "exchange", 0);
    ExpectBuildError({"task 1 (exchange)", "task 0 (three)"});
    fill();
    AddKernel("zero", 0);
    add(pair, "exchange", 0);
    add(builder.AddGroup({2, 3}), "others", 1);
    ExpectBuildError({"task 2 (others) in group 2", "task 1 (exchange) in group 0"});
}

TEST_F(GraphTest, DependenciesNeedEqualMicroBatches)
{
    const TaskId f = builder.AddCompute(forward, 0, compute, "f", 1);
    const TaskId b = builder.AddCompute(backward, 0, compute, "b", 1, {f});
    const TaskId o = AddKernel("o", 0, {b});
    builder.AddCompute(five, 0, compute, "v", 1, {o});
    EXPECT_EQ(ErrorOf([this] { builder.Build(); }), "");

    builder.AddStream("s");
    builder.AddPhase("three", 3);
    builder.AddPhase("five", 5);
    builder.AddCompute(0, 0, 0, "f", 1);
    builder.AddCompute(1, 0, 0, "v", 1, {0});
    ExpectBuildError({"task 1 (v)", "phase 1 (five) of 5", "task 0 (f)", "phase 0 (three) of 3"});
}

TEST_F(GraphTest, CyclesAreListed)
{
    AddKernel("self", 0, {0});
    ExpectBuildError({"cycle of 1 task", "task 0 (self) waits for task 0 (self)"});

    builder.AddStream("s");
    builder.AddPhase("p");
    for (const char* name : {"a", "b", "c", "d", "e"})
    {
        builder.AddCompute(0, 0, 0, name, 1);
    }
    builder.AddDependency(0, 1); // not on the cycle
    builder.AddDependency(4, 1);
    builder.AddDependency(1, 3);
    builder.AddDependency(3, 4);
    builder.AddDependency(4, 2); // not on the cycle
    ExpectBuildError({"cycle of 3 tasks",
                      "task 1 (b) waits for task 4 (e) waits for task 3 (d) waits for task 1 (b)"});
    EXPECT_EQ(ErrorOf([this] { builder.Build(); }), "");
}

TEST_F(GraphTest, LongCyclesAreCut)
{
    constexpr TaskId N = 100000; // deep enough to overflow the stack of a recursive search
    for (TaskId i = 0; i < N; i++)
    {
        AddKernel("k", 0, {(i + 1) % N});
    }
    const std::string message = ErrorOf([this] { builder.Build(); });
    EXPECT_NE(message.find("cycle of 100000 tasks: task 0 (k) waits for task 1 (k)"),
              std::string::npos)
        << message;
    EXPECT_NE(message.find("task 9 (k) waits for ..."), std::string::npos) << message;
    EXPECT_EQ(message.find("task 10 "), std::string::npos) << message;
}

TEST_F(GraphTest, LongChainsAgainstTheIdsAreNoCycle)
{
    constexpr TaskId N = 100000;
    for (TaskId i = 0; i < N; i++)
    {
        AddKernel("k");
        if (i > 0)
        {
            builder.AddDependency(i, i - 1);
        }
    }
    EXPECT_EQ(builder.Build().GetNTasks(), N);
}

TEST_F(GraphTest, Schedules)
{
    const auto fill = [this] {
        builder.AddStream("s");
        builder.AddPhase("f", 2);
        builder.AddPhase("b", 2);
        builder.AddGroup({1, 0});
        builder.AddCompute(0, 1, 0, "f", 1);
        builder.AddCommunication(1, 0, 0, "b", Collective::SEND_RECV, 1, Parallelism::NONE);
    };
    builder.Build();
    fill();
    builder.SetSchedule(1, {{0, 0}, {1, 0}, {1, 1}});
    ExpectBuildError({"device 1", "misses micro-batch 1 of phase 0 (f)"});
    fill();
    builder.SetSchedule(1, {{0, 0}, {0, 1}});
    ExpectBuildError({"device 1", "misses micro-batch 0 of phase 1 (b)"});
    fill();
    builder.SetSchedule(1, {{0, 0}, {0, 1}, {1, 1}, {1, 0}, {1, 1}});
    ExpectBuildError({"device 1", "repeats micro-batch 1 of phase 1 (b)"});
    fill();
    builder.SetSchedule(1, {{0, 0}, {0, 1}, {0, 2}});
    ExpectBuildError({"device 1", "micro-batch 2 of phase 0 (f)", "entry 2", "2 micro-batches"});
    fill();
    builder.SetSchedule(1, {{0, 0}, {2, 0}});
    ExpectBuildError({"device 1", "phase 2", "entry 1", "2 phases"});
    fill();
    builder.SetSchedule(4, {});
    ExpectBuildError({"schedule", "device 4", "4 devices"});
    fill();
    builder.SetSchedule(0, {}); // the receiver needs no phase
    builder.SetSchedule(1, {{1, 1}, {0, 1}, {0, 0}, {1, 0}});
    EXPECT_EQ(ErrorOf([this] { builder.Build(); }), "");
}

TEST(GraphBuilderLimits, StreamsAndPhases)
{
    GraphBuilder builder(1);
    for (uint32_t i = 0; i < 65535; i++)
    {
        ASSERT_EQ(builder.AddStream("s" + std::to_string(i)), i);
        ASSERT_EQ(builder.AddPhase("p" + std::to_string(i)), i);
    }
    ExpectError([&] { builder.AddStream("last"); }, {"'last'", "65535 streams"});
    EXPECT_EQ(builder.AddPhase("p65535"), 65535);
    ExpectError([&] { builder.AddPhase("last"); }, {"'last'", "65536 phases"});
    builder.AddCompute(65535, 0, 65534, "k", 1);
    EXPECT_EQ(builder.Build().GetSchedule(0), (std::vector<ScheduleEntry>{{65535, 0}}));
}

TEST(GraphBuilderLimits, DefaultSchedules)
{
    GraphBuilder builder(1);
    builder.AddStream("s");
    for (int i = 0; i < 65; i++)
    {
        builder.AddCompute(builder.AddPhase("p" + std::to_string(i), MAX_MICRO_BATCHES),
                           0,
                           0,
                           "k",
                           1);
    }
    ExpectError([&] { builder.Build(); }, {"device 0", "65 phases", "micro-batches"});
}

TEST_F(GraphTest, Gates)
{
    const auto fill = [this] {
        builder.AddStream("s");
        builder.AddPhase("f", 4);
        builder.AddPhase("b", 4);
        builder.AddPhase("o");
        builder.AddCompute(0, 1, 0, "f", 1);
        builder.AddCompute(1, 1, 0, "b", 1);
    };
    builder.Build();
    fill();
    builder.AddGate({4, 0, 1, 1});
    ExpectBuildError({"gate 0", "device 4", "4 devices"});
    fill();
    builder.AddGate({1, 3, 1, 1});
    ExpectBuildError({"gate 0", "device 1", "phase 3", "3 phases"});
    fill();
    builder.AddGate({1, 0, 9, 1});
    ExpectBuildError({"gate 0", "device 1", "phase 9"});
    fill();
    builder.AddGate({1, 0, 1, 4});
    builder.AddGate({1, 0, 1, 0});
    ExpectBuildError({"gate 1", "device 1", "limit 0"});
    fill();
    builder.AddGate({1, 0, 2, 1});
    ExpectBuildError({"gate 0", "phase 0 (f) of 4", "phase 2 (o) of 1"});
    // The default schedule runs all of f before b.
    fill();
    builder.AddGate({1, 0, 1, 3});
    ExpectBuildError({"gate 0",
                      "device 1",
                      "entry 3",
                      "micro-batch 3 of phase 0 (f)",
                      "phase 1 (b)",
                      "limit to 4"});
    fill();
    builder.AddGate({1, 0, 1, 4});
    EXPECT_EQ(ErrorOf([this] { builder.Build(); }), "");
}

TEST(GraphGates, FollowTheSchedule)
{
    const auto make = [](uint32_t limit, std::vector<ScheduleEntry> schedule) {
        GraphBuilder builder(1);
        builder.AddStream("s");
        builder.AddPhase("f", 2);
        builder.AddPhase("b", 2);
        builder.AddCompute(0, 0, 0, "f", 1);
        builder.AddCompute(1, 0, 0, "b", 1);
        builder.SetSchedule(0, std::move(schedule));
        builder.AddGate({0, 0, 1, limit});
        builder.Build();
    };
    EXPECT_EQ(ErrorOf([&] { make(1, {{0, 0}, {1, 0}, {0, 1}, {1, 1}}); }), "");
    ExpectError([&] { make(1, {{0, 0}, {0, 1}, {1, 0}, {1, 1}}); }, {"entry 1", "limit to 2"});
    // The release of another micro-batch frees nothing ...
    ExpectError([&] { make(1, {{0, 0}, {1, 1}, {0, 1}, {1, 0}}); }, {"entry 2"});
    // ... and one that was released before does not count.
    EXPECT_EQ(ErrorOf([&] { make(1, {{1, 0}, {0, 0}, {0, 1}, {1, 1}}); }), "");
    // A phase can be gated by itself: one micro-batch at a time.
    GraphBuilder builder(1);
    builder.AddStream("s");
    builder.AddPhase("f", 3);
    builder.AddCompute(0, 0, 0, "f", 1);
    builder.AddGate({0, 0, 0, 1});
    EXPECT_EQ(ErrorOf([&] { builder.Build(); }), "");
}

} // namespace proteus
} // namespace ns3
