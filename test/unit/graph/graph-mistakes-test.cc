/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graph-sample.h"

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

class GraphMistakes : public ::testing::Test, public Sample
{
};

} // namespace

TEST(GraphBuilderLimits, Devices)
{
    ExpectError([] { GraphBuilder builder(0); }, {"devices", "not 0"});
    ExpectError([] { GraphBuilder builder(MAX_DEVICES + 1); }, {"devices", "1048577"});
    EXPECT_EQ(GraphBuilder(MAX_DEVICES).Build().GetNDevices(), MAX_DEVICES);
}

TEST_F(GraphMistakes, NegativeDuration)
{
    ExpectError([this] { builder.AddCompute(once, 0, compute, "k", -5); }, {"task 0 (k)", "-5 ps"});
    Task task;
    task.stream = compute;
    task.durationPs = -5; // a task as it stands: any negative value asks the cost model
    builder.AddTask(task, "k");
    EXPECT_EQ(builder.Build().GetTask(0).durationPs, -1);
}

TEST_F(GraphMistakes, StreamsAndPhasesAreDistinct)
{
    builder.AddStream("network");
    ExpectBuildError({"streams 1 and 2", "'network'"});
    builder.AddPhase("p");
    builder.AddPhase("p");
    ExpectBuildError({"phases 0 and 1", "'p'"});
}

TEST_F(GraphMistakes, MicroBatches)
{
    builder.AddPhase("none", 0);
    ExpectBuildError({"phase 4 (none)", "0 micro-batches"});
    builder.AddPhase("many", MAX_MICRO_BATCHES + 1);
    ExpectBuildError({"phase 0 (many)", "1048577 micro-batches"});
}

TEST_F(GraphMistakes, NamesAreUtf8)
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

TEST_F(GraphMistakes, MessagesStayOnOneLine)
{
    AddKernel("first\nsecond" + std::string(1000, 'x'), 9);
    const std::string message = ErrorOf([this] { builder.Build(); });
    EXPECT_EQ(message.find('\n'), std::string::npos);
    EXPECT_NE(message.find("first?second"), std::string::npos);
    EXPECT_LT(message.size(), 300U);
}

TEST_F(GraphMistakes, Facts)
{
    builder.SetFacts({"w", std::nan(""), 0, 0});
    ExpectBuildError({"workload 'w'", "finite"});
    builder.SetFacts({"w", -1, 0, 0});
    ExpectBuildError({"workload 'w'"});
}

TEST_F(GraphMistakes, Groups)
{
    builder.AddGroup({2, 0, 2});
    ExpectBuildError({"group 2", "repeats device 2"});
    builder.AddGroup({2, 4});
    ExpectBuildError({"group 0", "device 4", "4 devices"});
    builder.AddGroup({});
    ExpectBuildError({"group 0", "no device"});
}

/// Each case changes one field of a valid task.
TEST_F(GraphMistakes, Tasks)
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

TEST_F(GraphMistakes, DependenciesOnMissingTasks)
{
    AddKernel("a");
    AddKernel("b", 0, {7});
    ExpectBuildError({"task 1 (b)", "task 7", "2 tasks"});
    builder.AddDependency(1, 9);
    ExpectBuildError({"task 9", "does not exist", "task 1"});
}

TEST_F(GraphMistakes, DependenciesNeedACommonDevice)
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

TEST_F(GraphMistakes, DependenciesNeedEqualMicroBatches)
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

TEST_F(GraphMistakes, CyclesAreListed)
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

TEST_F(GraphMistakes, LongCyclesAreCut)
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

TEST_F(GraphMistakes, LongChainsAgainstTheIdsAreNoCycle)
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

TEST_F(GraphMistakes, Schedules)
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

TEST_F(GraphMistakes, Gates)
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
