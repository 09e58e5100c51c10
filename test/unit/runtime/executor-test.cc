/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-executor.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// @param field to give another value than its default @param settings that have it
void
Change(const CollectiveField& field, CollectiveSettings& settings)
{
    std::visit(
        [&settings](auto member) {
            using Value = std::decay_t<decltype(settings.*member)>;
            if constexpr (std::is_same_v<Value, std::string>)
            {
                settings.*member = "other";
            }
            else if constexpr (std::is_same_v<Value, bool>)
            {
                settings.*member = !(settings.*member);
            }
            else
            {
                settings.*member += 7;
            }
        },
        field.member);
}

/// @return a graph of one all-reduce among so many devices
ExecutionGraph
MakeAllReduce(uint32_t devices, uint64_t bytes)
{
    GraphBuilder builder(devices);
    std::vector<DeviceId> group(devices);
    for (DeviceId device = 0; device < devices; ++device)
    {
        group[device] = device;
    }
    builder.AddCommunication(builder.AddPhase("iteration"),
                             builder.AddGroup(group),
                             builder.AddStream("communication"),
                             "reduction",
                             Collective::ALL_REDUCE,
                             bytes,
                             Parallelism::NONE);
    return builder.Build();
}

} // namespace

TEST(Executors, RegisterThemselvesTheFinestFirst)
{
    std::set<std::string> names;
    uint32_t last = 0;
    for (const Executor* executor : GetExecutors())
    {
        const ExecutorTraits& traits = executor->GetTraits();
        EXPECT_TRUE(names.insert(traits.name).second) << traits.name;
        EXPECT_FALSE(traits.description.empty()) << traits.name;
        EXPECT_GT(traits.position, last) << traits.name;
        last = traits.position;
        EXPECT_EQ(&FindExecutor(traits.name), executor);
    }
    ASSERT_GE(names.size(), 7u);
    EXPECT_TRUE(GetExecutors().front()->GetTraits().isExact);
    for (const Executor* executor : GetExecutors())
    {
        for (const std::string& other :
             {executor->GetTraits().refines, executor->GetTraits().repeats})
        {
            EXPECT_TRUE(other.empty() || names.count(other) == 1) << other;
        }
    }
}

TEST(Executors, AnUnknownNameIsAnsweredWithAllNames)
{
    try
    {
        FindExecutor("packets");
        FAIL() << "there is one";
    }
    catch (const std::invalid_argument& error)
    {
        const std::string text = error.what();
        for (const Executor* executor : GetExecutors())
        {
            EXPECT_NE(text.find(executor->GetTraits().name), std::string::npos) << text;
        }
        EXPECT_NE(text.find("'packets'"), std::string::npos) << text;
    }
}

TEST(Executors, OneWithoutACalibrationThatItNeedsSaysSo)
{
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    const ExecutionGraph graph = MakeAllReduce(2, 1024);
    for (const Executor* executor : GetExecutors())
    {
        if (executor->GetTraits().needsCalibration)
        {
            EXPECT_THROW(executor->Run(graph, cluster), std::invalid_argument);
        }
    }
}

TEST(Executors, EveryChangedSettingIsHonouredOrNamed)
{
    for (const Executor* executor : GetExecutors())
    {
        const ExecutorTraits& traits = executor->GetTraits();
        EXPECT_TRUE(ListIgnoredSettings(traits, ExecutorSettings()).empty()) << traits.name;
        for (const CollectiveField& field : GetCollectiveFields())
        {
            ExecutorSettings settings;
            Change(field, settings.collectives);
            const auto notes = ListIgnoredSettings(traits, settings);
            const bool isHonoured =
                traits.hasPackets || traits.collectiveFields.count(field.name) == 1;
            ASSERT_EQ(notes.size(), isHonoured ? 0u : 1u) << traits.name << ' ' << field.name;
            if (!isHonoured)
            {
                EXPECT_EQ(notes[0],
                          traits.name + ": ns3::proteus::PacketNetwork::" + field.name + "=" +
                              ToText(settings.collectives, field) + " is not modelled");
            }
        }
        ExecutorSettings settings;
        settings.engine = {{"ns3::proteus::Fabric::Routing", "Adaptive", "ECMP"}};
        const std::vector<std::string> expected{
            traits.name + ": ns3::proteus::Fabric::Routing=Adaptive is taken as ECMP"};
        EXPECT_EQ(ListIgnoredSettings(traits, settings),
                  traits.hasPackets ? std::vector<std::string>() : expected);
        settings = ExecutorSettings();
        settings.flow.computeSlowdown = 0.25;
        // Who honours it says that it takes the place of sharing.
        const auto notes = ListIgnoredSettings(traits, settings);
        ASSERT_EQ(notes.size(), 1u) << traits.name;
        EXPECT_EQ(notes[0].find("take the place of gpuSharing") != std::string::npos,
                  traits.hasSlowdowns);
        settings.runtime.sharesGpu = false;
        EXPECT_EQ(ListIgnoredSettings(traits, settings).empty(), traits.hasSlowdowns);
    }
}

TEST(Executors, FlowsTakeTheSettingsOfCollectives)
{
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    const ExecutionGraph graph = MakeAllReduce(8, 64 << 20);
    const Executor& flow = FindExecutor("flow");
    ExecutorSettings settings;
    const RunRecord plain = flow.Run(graph, cluster, settings);
    EXPECT_EQ(plain.executor, "flow");
    EXPECT_GT(plain.timeline.endPs, 0);
    EXPECT_GT(plain.wallS, 0);
    EXPECT_TRUE(plain.notes.empty());
    settings.collectives.channels = 1; // one of many channels is slower
    const RunRecord narrow = flow.Run(graph, cluster, settings);
    EXPECT_GT(narrow.timeline.endPs, plain.timeline.endPs);
    EXPECT_TRUE(narrow.notes.empty());
    settings.collectives.channels = 0;
    settings.collectives.launchPs = 123456789; // is added before the first step
    const RunRecord late = flow.Run(graph, cluster, settings);
    settings.collectives.launchPs = 0;
    const RunRecord early = flow.Run(graph, cluster, settings);
    EXPECT_EQ(late.timeline.endPs - early.timeline.endPs, 123456789);
    settings.collectives.launchMode = "one-process";
    EXPECT_THROW(flow.Run(graph, cluster, settings), std::invalid_argument);
}

TEST(Executors, WhoSharesGpusSaysSo)
{
    // A kernel that memory decides, beside an all-reduce.
    GraphBuilder builder(8);
    const PhaseId phase = builder.AddPhase("iteration");
    const StreamId stream = builder.AddStream("compute");
    builder.AddCompute(phase, 0, stream, "kernel", 1e6, 2'000'000'000, DataType::BF16);
    builder.AddCommunication(phase,
                             builder.AddGroup({0, 1, 2, 3, 4, 5, 6, 7}),
                             builder.AddStream("communication"),
                             "reduction",
                             Collective::ALL_REDUCE,
                             16 << 20,
                             Parallelism::NONE);
    const ExecutionGraph graph = builder.Build();
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    for (const Executor* executor : GetExecutors())
    {
        const ExecutorTraits& traits = executor->GetTraits();
        ExecutorSettings settings;
        if (traits.needsCalibration)
        {
            settings.calibration = settings.flow;
        }
        const int64_t shared = executor->Run(graph, cluster, settings).timeline.endPs;
        settings.flow.computeSlowdown = 0.1;
        const int64_t slowed = executor->Run(graph, cluster, settings).timeline.endPs;
        EXPECT_EQ(slowed != shared, traits.hasSlowdowns) << traits.name;
        settings.flow.computeSlowdown = 0;
        settings.runtime.sharesGpu = false;
        const int64_t apart = executor->Run(graph, cluster, settings).timeline.endPs;
        EXPECT_EQ(apart != shared, traits.sharesGpus) << traits.name;
    }
}

TEST(Executors, ObserversHearOfEverySpan)
{
    class Counter : public RunObserver
    {
      public:
        void OnProgress(const RunProgress& progress) override
        {
            EXPECT_GE(progress.tasks, last.tasks);
            heard.insert(progress.tasks);
            last = progress;
        }

        std::set<uint64_t> heard; // more often than that, so that a long step can be stopped
        RunProgress last;
    } counter;

    const Cluster cluster = MakeCluster("dgx-a100", 1);
    const RunRecord run =
        FindExecutor("flow").Run(MakeAllReduce(8, 1 << 20), cluster, ExecutorSettings(), &counter);
    for (uint64_t tasks = 1; tasks <= 8; ++tasks)
    {
        EXPECT_EQ(counter.heard.count(tasks), 1u) << tasks;
    }
    EXPECT_EQ(counter.last.tasks, 8u);
    EXPECT_EQ(counter.last.totalTasks, 8u);
    EXPECT_EQ(counter.last.timePs, run.timeline.endPs);
}
