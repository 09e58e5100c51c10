/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graph-texts.h"

#include "ns3/proteus-graph-file.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

const std::string GRAPHS = std::string(PROTEUS_SOURCE_DIR) + "/workloads/graphs/";

/// A valid graph of random content.
class RandomGraph
{
  public:
    explicit RandomGraph(uint32_t seed)
        : m_random(seed)
    {
    }

    ExecutionGraph Make()
    {
        const uint32_t nDevices = Draw(1, 12);
        GraphBuilder builder(nDevices);
        const uint32_t nStreams = Draw(1, 4);
        for (uint32_t i = 0; i < nStreams; i++)
        {
            builder.AddStream("stream " + std::to_string(i),
                              Draw(0, 1) ? StreamOrder::READY : StreamOrder::IN_ORDER,
                              Draw(0, 1) == 1);
        }
        const uint32_t microBatches = Draw(2, 9);
        const uint32_t nPhases = Draw(1, 5);
        std::vector<uint32_t> counts;
        for (uint32_t i = 0; i < nPhases; i++)
        {
            counts.push_back(Draw(0, 1) ? microBatches : 1);
            builder.AddPhase("phase " + std::to_string(i), counts.back());
        }
        std::vector<std::vector<DeviceId>> groups;
        for (uint32_t i = Draw(0, 6); i > 0; i--)
        {
            std::vector<DeviceId> devices(nDevices);
            std::iota(devices.begin(), devices.end(), 0U);
            std::shuffle(devices.begin(), devices.end(), m_random);
            devices.resize(Draw(1, nDevices));
            if (builder.AddGroup(devices) == groups.size())
            {
                groups.push_back(devices);
            }
        }
        AddTasks(builder, nDevices, nStreams, groups, nPhases);
        for (DeviceId device = 0; device < nDevices; device++)
        {
            if (Draw(0, 2) == 0)
            {
                SetRandomSchedule(builder, device, counts);
            }
            if (Draw(0, 2) == 0)
            {
                const auto phase = static_cast<PhaseId>(Draw(0, nPhases - 1));
                const auto other = static_cast<PhaseId>(Draw(0, nPhases - 1));
                if (counts[phase] == counts[other])
                {
                    builder.AddGate({device, phase, other, microBatches}); // never too small
                }
            }
        }
        if (Draw(0, 1) == 0)
        {
            builder.SetFacts({"facts", DrawReal(), Draw64(), Draw64()});
        }
        return builder.Build();
    }

  private:
    uint32_t Draw(uint32_t low, uint32_t high)
    {
        return std::uniform_int_distribution<uint32_t>(low, high)(m_random);
    }

    uint64_t Draw64()
    {
        return m_random() >> Draw(0, 63);
    }

    double DrawReal()
    {
        return static_cast<double>(m_random()) / static_cast<double>(Draw(1, 1000000));
    }

    void AddTasks(GraphBuilder& builder,
                  uint32_t nDevices,
                  uint32_t nStreams,
                  const std::vector<std::vector<DeviceId>>& groups,
                  uint32_t nPhases)
    {
        const uint32_t nTasks = Draw(0, 60);
        std::vector<std::vector<DeviceId>> places;
        for (uint32_t i = 0; i < nTasks; i++)
        {
            Task task;
            task.kind = static_cast<TaskKind>(Draw(0, groups.empty() ? 0 : 1));
            task.kind = Draw(0, 3) == 0 ? TaskKind::MEMORY : task.kind;
            task.phase = static_cast<PhaseId>(Draw(0, nPhases - 1));
            task.place = Draw(0, nDevices - 1);
            task.bytes = Draw64();
            if (task.kind == TaskKind::COMPUTE)
            {
                task.durationPs = Draw(0, 1) ? static_cast<int64_t>(Draw64() / 2) : -1;
                task.flops = Draw(0, 1) ? DrawReal() : 0;
                task.dataType = static_cast<DataType>(Draw(0, 4));
            }
            else if (task.kind == TaskKind::COMMUNICATION)
            {
                task.place = Draw(0, static_cast<uint32_t>(groups.size()) - 1);
                const auto size = static_cast<uint32_t>(groups[task.place].size());
                task.collective = static_cast<Collective>(Draw(0, size == 2 ? 4 : 3));
                task.parallelism = static_cast<Parallelism>(Draw(0, 7));
                task.bytes = std::max<uint64_t>(task.bytes, 1);
                task.root = static_cast<uint16_t>(
                    task.collective == Collective::BROADCAST ? Draw(0, size - 1) : 0);
            }
            else
            {
                task.persistent = Draw(0, 1) == 1;
            }
            task.stream = task.kind == TaskKind::MEMORY
                              ? NO_STREAM
                              : static_cast<StreamId>(Draw(0, nStreams - 1));
            builder.AddTask(task, "task " + std::to_string(Draw(0, 20)));
            places.push_back(task.kind == TaskKind::COMMUNICATION
                                 ? groups[task.place]
                                 : std::vector<DeviceId>{task.place});
        }
        // Dependencies along a random order of the tasks make no cycle.
        std::vector<TaskId> order(nTasks);
        std::iota(order.begin(), order.end(), 0U);
        std::shuffle(order.begin(), order.end(), m_random);
        for (uint32_t i = 1; i < nTasks; i++)
        {
            for (uint32_t tries = Draw(0, 4); tries > 0; tries--)
            {
                const TaskId before = order[Draw(0, i - 1)];
                const auto& a = places[before];
                const auto& b = places[order[i]];
                if (std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end())
                {
                    builder.AddDependency(before, order[i]);
                }
            }
        }
    }

    void SetRandomSchedule(GraphBuilder& builder,
                           DeviceId device,
                           const std::vector<uint32_t>& counts)
    {
        std::vector<ScheduleEntry> schedule;
        for (std::size_t phase = 0; phase < counts.size(); phase++)
        {
            for (uint32_t k = 0; k < counts[phase]; k++)
            {
                schedule.push_back({static_cast<PhaseId>(phase), k});
            }
        }
        if (Draw(0, 1) == 0)
        {
            std::shuffle(schedule.begin(), schedule.end(), m_random);
        }
        builder.SetSchedule(device, std::move(schedule));
    }

    std::mt19937_64 m_random;
};

} // namespace

TEST(GraphFormats, FullGraphRoundTrips)
{
    ExpectRoundTrips(MakeFullGraph());
}

TEST(GraphFormats, EmptyGraphRoundTrips)
{
    ExpectRoundTrips(GraphBuilder(1).Build());
    EXPECT_EQ(ToJson(GraphBuilder(1).Build()),
              "{\n\"format\": \"proteus-graph\",\n\"version\": 1,\n\"devices\": 1\n}\n");
}

TEST(GraphFormats, RandomGraphsRoundTrip)
{
    uint64_t tasks = 0;
    uint64_t dependencies = 0;
    std::size_t scheduled = 0;
    for (uint32_t seed = 0; seed < 200; seed++)
    {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const ExecutionGraph graph = RandomGraph(seed).Make();
        ExpectRoundTrips(graph);
        tasks += graph.GetNTasks();
        scheduled += graph.FindScheduledDevices().size();
        for (TaskId id = 0; id < graph.GetNTasks(); id++)
        {
            dependencies += graph.GetDependencies(id).size();
        }
    }
    EXPECT_GT(tasks, 5000U);
    EXPECT_GT(dependencies, 1000U);
    EXPECT_GT(scheduled, 100U);
}

TEST(GraphFormats, ManyTasksRoundTrip)
{
    // More than one block of the Protobuf form, names in later blocks, and one long name.
    GraphBuilder builder(3);
    builder.AddStream("s");
    builder.AddPhase("p");
    for (TaskId i = 0; i < 20000; i++)
    {
        builder.AddCompute(0,
                           0,
                           0,
                           i == 100 ? std::string(3 << 20, 'n') : "k" + std::to_string(i / 3),
                           i,
                           i > 7 ? std::vector<TaskId>{i - 1, i - 7} : std::vector<TaskId>{});
    }
    ExpectRoundTrips(builder.Build());
}

TEST(GraphFormats, ProtobufIsCompact)
{
    GraphBuilder builder(1);
    builder.AddStream("s");
    builder.AddPhase("p");
    for (TaskId i = 0; i < 10000; i++)
    {
        builder.AddCompute(0,
                           0,
                           0,
                           "kernel",
                           1000,
                           i > 0 ? std::vector<TaskId>{i - 1} : std::vector<TaskId>{});
    }
    const ExecutionGraph graph = builder.Build();
    EXPECT_LT(ToProtobuf(graph).size(), 10U * 10000);
    EXPECT_GT(ToJson(graph).size(), 50U * 10000);
}

TEST(GraphFormats, ExamplesAreAsTheWriterMakesThem)
{
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(GRAPHS))
    {
        const std::string path = entry.path().string();
        SCOPED_TRACE(path);
        const ExecutionGraph graph = LoadGraph(path);
        EXPECT_EQ(ToJson(graph), ReadText(path));
        ExpectRoundTrips(graph);
        count++;
    }
    EXPECT_GE(count, 3U);
}

TEST(GraphFormats, PipelineExampleIs1F1B)
{
    const ExecutionGraph graph = LoadGraph(GRAPHS + "pipeline-1f1b-4.json");
    ASSERT_EQ(graph.GetNDevices(), 4U);
    ASSERT_EQ(graph.GetGates().size(), 4U);
    for (DeviceId stage = 0; stage < 4; stage++)
    {
        EXPECT_EQ(
            graph.GetSchedule(stage),
            MakePipelineSchedule(PipelineSchedule::ONE_FORWARD_ONE_BACKWARD, 4, stage, 8, 0, 1));
        EXPECT_EQ(graph.GetGates()[stage].device, stage);
        EXPECT_EQ(graph.GetGates()[stage].limit, 4 - stage);
    }
}

} // namespace proteus
} // namespace ns3
