/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../error-of.h"

#include "ns3/proteus-graph-file.h"
#include "ns3/proteus-graph-json.h"
#include "ns3/proteus-graph-protobuf.h"
#include "ns3/proteus-graph.h"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <sys/resource.h>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

const std::string GRAPHS = std::string(PROTEUS_SOURCE_DIR) + "/workloads/graphs/";

std::string
ToJson(const ExecutionGraph& graph)
{
    std::ostringstream out;
    WriteGraphJson(graph, out);
    return out.str();
}

ExecutionGraph
FromJson(const std::string& text)
{
    std::istringstream in(text);
    return ReadGraphJson(in, "FILE");
}

std::string
ToProtobuf(const ExecutionGraph& graph)
{
    std::ostringstream out;
    WriteGraphProtobuf(graph, out);
    return out.str();
}

ExecutionGraph
FromProtobuf(const std::string& text)
{
    std::istringstream in(text);
    return ReadGraphProtobuf(in, "FILE");
}

void
ExpectRoundTrips(const ExecutionGraph& graph)
{
    const std::string json = ToJson(graph);
    const ExecutionGraph fromJson = FromJson(json);
    EXPECT_TRUE(fromJson == graph) << json;
    EXPECT_EQ(ToJson(fromJson), json);
    const std::string protobuf = ToProtobuf(graph);
    const ExecutionGraph fromProtobuf = FromProtobuf(protobuf);
    EXPECT_TRUE(fromProtobuf == graph) << json;
    EXPECT_EQ(ToProtobuf(fromProtobuf), protobuf);
    EXPECT_EQ(ToJson(fromProtobuf), json);
}

std::string
ReadText(const std::string& path)
{
    std::ifstream in(path, std::ios::binary);
    EXPECT_TRUE(in) << path;
    return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

/// Uses every field of the format, with the ends of its range.
ExecutionGraph
MakeFullGraph()
{
    constexpr uint64_t MAX = std::numeric_limits<uint64_t>::max();
    GraphBuilder builder(300);
    builder.SetFacts({"a \"model\", \\ and \xe2\x82\xac", 1.0 / 3, MAX, MAX - 1});
    const StreamId compute = builder.AddStream("compute");
    const StreamId network = builder.AddStream(std::string("a\0b", 3), StreamOrder::READY, true);
    const PhaseId f = builder.AddPhase("forward", 2);
    const PhaseId b = builder.AddPhase("back\nward", 2);
    const PhaseId once = builder.AddPhase("");
    const GroupId pair = builder.AddGroup({299, 0});
    const GroupId all = builder.AddGroup({7, 5, 0, 299, 6});
    const TaskId a = builder.AddCompute(f, 0, compute, "a", 1e308, MAX, DataType::FP8);
    const TaskId c = builder.AddCompute(f, 299, compute, "b", 0);
    const TaskId d = builder.AddCompute(once, 0, network, "b", std::numeric_limits<int64_t>::max());
    const TaskId e = builder.AddCompute(b, 0, compute, "tiny", 5e-324, 0, DataType::BF16, {a});
    builder.AddCommunication(f,
                             pair,
                             network,
                             "send",
                             Collective::SEND_RECV,
                             MAX,
                             Parallelism::PIPELINE,
                             {c, a});
    builder.AddCommunication(once,
                             all,
                             compute,
                             "bc",
                             Collective::BROADCAST,
                             9007199254740993ULL, // no double
                             Parallelism::EXPERT,
                             {e, d},
                             4);
    const TaskId tensor = builder.AddMemory(b, 0, "", MAX, {e});
    builder.AddMemory(once, 5, "weights", 0, {}, true);
    builder.AddCompute(b, 0, compute, "reader", 0.1, 1, DataType::FP32, {tensor});
    builder.AddDependency(d, a); // against the order of the ids
    const std::vector<ScheduleEntry> order{{f, 1}, {b, 1}, {once, 0}, {f, 0}, {b, 0}};
    builder.SetSchedule({0, 299, 17}, order);
    builder.AddGate({0, f, b, 1});
    builder.AddGate({299, f, f, 4000000000U});
    return builder.Build();
}

/// A small graph for tests that try every byte.
ExecutionGraph
MakeSmallGraph()
{
    GraphBuilder builder(2);
    const StreamId s = builder.AddStream("s");
    const PhaseId p = builder.AddPhase("p", 2);
    const PhaseId q = builder.AddPhase("q", 2);
    const GroupId g = builder.AddGroup({0, 1});
    const TaskId a = builder.AddCompute(p, 0, s, "a", 100);
    const TaskId c =
        builder
            .AddCommunication(p, g, s, "c", Collective::ALL_REDUCE, 64, Parallelism::TENSOR, {a});
    const TaskId m = builder.AddMemory(p, 1, "m", 64, {c});
    builder.AddCompute(q, 1, s, "a", 2.5, 7, DataType::FP32, {m, c});
    builder.SetSchedule(1, {{p, 0}, {q, 0}, {p, 1}, {q, 1}});
    builder.AddGate({1, p, q, 1});
    builder.SetFacts({"w", 10, 2, 1});
    return builder.Build();
}

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

/// Takes some bytes and no more, as a full disk does.
class FullBuffer : public std::streambuf
{
  public:
    explicit FullBuffer(std::size_t room)
        : m_room(room)
    {
    }

  protected:
    int_type overflow(int_type c) override
    {
        if (m_room == 0)
        {
            return traits_type::eof();
        }
        m_room--;
        return c;
    }

  private:
    std::size_t m_room;
};

using Write = void (*)(const ExecutionGraph&, std::ostream&);
using Read = ExecutionGraph (*)(const std::string&);

void
ExpectFailureOnFullDisk(Write write, std::size_t size)
{
    const ExecutionGraph graph = MakeSmallGraph();
    for (std::size_t room = 0; room < size; room++)
    {
        FullBuffer buffer(room);
        std::ostream out(&buffer);
        ASSERT_NE(ErrorOf([&] { write(graph, out); }), "") << room;
    }
    FullBuffer buffer(size);
    std::ostream out(&buffer);
    EXPECT_EQ(ErrorOf([&] { write(graph, out); }), "");
}

/// Reads a damaged file: a graph or one line that names the file, and nothing else.
/// @return whether it was refused
bool
TryDamaged(Read read, const std::string& text)
{
    const std::string error = ErrorOf([&] { read(text); });
    if (error.empty())
    {
        return false;
    }
    EXPECT_EQ(error.compare(0, 5, "FILE:"), 0) << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    EXPECT_LT(error.size(), 1000U) << error;
    return true;
}

void
TryCorruptions(Read read, const std::string& text)
{
    std::mt19937 random(1);
    int refused = 0;
    constexpr int N = 10000;
    for (int i = 0; i < N; i++)
    {
        std::string damaged = text;
        char& byte = damaged[random() % damaged.size()];
        byte = static_cast<char>(byte ^ static_cast<char>(1 + random() % 255));
        refused += TryDamaged(read, damaged) ? 1 : 0;
    }
    // Most places matter, and some (a name, a number) may have another value.
    EXPECT_GT(refused, N / 2);
    EXPECT_LT(refused, N);
}

/// The JSON text of a small graph with a part of it replaced.
std::string
Replaced(const std::string& part, const std::string& other)
{
    std::string text = ToJson(MakeSmallGraph());
    const std::size_t at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part << " is not in " << text;
    return text.replace(at, part.size(), other);
}

void
ExpectJsonError(const std::string& text, const std::string& message)
{
    const std::string error = ErrorOf([&] { FromJson(text); });
    EXPECT_EQ(error.substr(0, message.size()), message) << "for " << text;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
}

// Protobuf's encoding, to make files that the writer does not make.

std::string
Varint(uint64_t value)
{
    std::string bytes;
    for (; value >= 0x80; value >>= 7)
    {
        bytes += static_cast<char>(value | 0x80);
    }
    return bytes + static_cast<char>(value);
}

std::string
Number(uint32_t field, uint64_t value)
{
    return Varint(field << 3) + Varint(value);
}

std::string
Bytes(uint32_t field, const std::string& value)
{
    return Varint(field << 3 | 2) + Varint(value.size()) + value;
}

std::string
List(uint32_t field, const std::vector<uint64_t>& values)
{
    std::string bytes;
    for (const uint64_t value : values)
    {
        bytes += Varint(value);
    }
    return Bytes(field, bytes);
}

/// A signed number as sint64 has it.
uint64_t
ZigZag(int64_t value)
{
    return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}

const std::string HEAD = Bytes(1, "proteus-graph") + Number(2, 1) + Number(4, 2) + Bytes(5, "s") +
                         Bytes(6, Bytes(1, "p") + Number(2, 1));

std::string
End(uint64_t tasks)
{
    return Bytes(11, Number(1, tasks));
}

/// Two compute tasks on device 1; the fields of the block can be replaced.
std::string
Block(const std::string& names = Bytes(1, "x"),
      const std::string& kinds = List(2, {0, 0}),
      const std::string& nameSteps = List(3, {0, 0}),
      const std::string& placeSteps = List(5, {ZigZag(1), 0}),
      const std::string& streams = List(6, {0, 0}),
      const std::string& rest = "")
{
    return Bytes(10, names + kinds + nameSteps + placeSteps + streams + rest);
}

void
ExpectProtobufError(const std::string& bytes, const std::string& cause)
{
    const std::string error = ErrorOf([&] { FromProtobuf(bytes); });
    EXPECT_NE(error, "") << cause;
    EXPECT_EQ(error.compare(0, 6, "FILE: "), 0) << error;
    EXPECT_NE(error.find(cause), std::string::npos) << "'" << cause << "' in: " << error;
}

/// An empty folder that is gone afterwards.
class TemporaryFolder
{
  public:
    TemporaryFolder()
        : m_path(::testing::TempDir() + "proteus-graph-" + std::to_string(std::random_device()()))
    {
        std::filesystem::create_directory(m_path);
    }

    ~TemporaryFolder()
    {
        std::filesystem::remove_all(m_path);
    }

    std::string operator/(const std::string& name) const
    {
        return (m_path / name).string();
    }

    std::size_t CountFiles() const
    {
        return std::distance(std::filesystem::directory_iterator(m_path),
                             std::filesystem::directory_iterator());
    }

  private:
    std::filesystem::path m_path;
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

TEST(GraphJson, IsReadable)
{
    EXPECT_EQ(ToJson(MakeSmallGraph()),
              R"({
"format": "proteus-graph",
"version": 1,
"facts": {"name":"w","model_flops_per_iteration":10.0,"tokens_per_iteration":2,"samples_per_iteration":1},
"devices": 2,
"streams": ["s"],
"phases": [
{"name":"p","micro_batches":2},
{"name":"q","micro_batches":2}
],
"groups": [
[0,1]
],
"schedules": [
{"devices":[1],"order":[["p",0],["q",0],["p",1],["q",1]]}
],
"gates": [
{"device":1,"acquire":"p","release":"q","limit":1}
],
"tasks": [
{"id":0,"name":"a","kind":"compute","phase":"p","device":0,"stream":"s","duration_ps":100},
{"id":1,"name":"c","kind":"communication","phase":"p","group":0,"stream":"s","collective":"all-reduce","bytes":64,"parallelism":"tensor","dependencies":[0]},
{"id":2,"name":"m","kind":"memory","phase":"p","device":1,"bytes":64,"dependencies":[1]},
{"id":3,"name":"a","kind":"compute","phase":"q","device":1,"stream":"s","flops":2.5,"bytes":7,"data_type":"fp32","dependencies":[1,2]}
]
}
)");
}

TEST(GraphJson, TakesOtherOrderAndSpacing)
{
    // The order of keys that "jq --sort-keys" makes.
    const ExecutionGraph graph = FromJson(R"(  {
        "devices" : 1, "format" : "proteus-graph", "phases" : [ { "name" : "p" } ],
        "streams" : [ "s" ],
        "tasks" : [
            { "device" : 0, "flops" : 3, "kind" : "compute", "name" : "\u20ac", "phase" : "p",
              "stream" : "s" },
            { "dependencies" : [ 0, 0 ], "device" : 0, "kind" : "compute", "name" : "b",
              "phase" : "p", "stream" : "s" } ],
        "version" : 1 } )");
    ASSERT_EQ(graph.GetNTasks(), 2U);
    EXPECT_EQ(graph.GetName(graph.GetTask(0)), "\xe2\x82\xac");
    EXPECT_EQ(graph.GetTask(0).flops, 3);
    EXPECT_EQ(graph.GetDependencies(1).size(), 1U);
}

TEST(GraphJson, SyntaxErrorsNameThePlace)
{
    ExpectJsonError("", "FILE:1:1: syntax error");
    ExpectJsonError("{\n  \"format\": \"proteus-graph\",\n  x\n}", "FILE:3:3: syntax error");
    ExpectJsonError("{\"version\": 1,}", "FILE:1:15: syntax error");
    ExpectJsonError("{\"version\": 1\n", "FILE:2:1: syntax error");
    ExpectJsonError("{\"version\": 1", "FILE:1:14: syntax error");
    ExpectJsonError("{\"version\": 1}\n}", "FILE:2:1: syntax error");
    ExpectJsonError("{\"format\": \"a\nb\"}", "FILE:1:14: syntax error");
    ExpectJsonError("{\"format\": \"\x80\"}", "FILE:1:13: syntax error");
    ExpectJsonError("{\n\"version\": 1e999}", "FILE:2:17: number overflow");
    ExpectJsonError(std::string(1000000, '['), "FILE: must hold an object, not a list");
    ExpectJsonError("{\"facts\": " + std::string(1000000, '['),
                    "FILE: /facts/0/0/0/0/0/0/0: is nested too deeply");
    std::string nested;
    for (int i = 0; i < 100000; i++)
    {
        nested += "{\"a/~\":";
    }
    ExpectJsonError("{\"devices\":1,\"tasks\":[1,", "FILE: /tasks/0: must be an object, not 1");
    ExpectJsonError("{\"devices\":1,\"tasks\":[" + nested,
                    "FILE: /tasks/0/a~1~0/a~1~0/a~1~0/a~1~0/a~1~0/a~1~0/a~1~0: is nested too");
}

TEST(GraphJson, WrongFields)
{
    ExpectJsonError("3", "FILE: must hold an object, not 3");
    ExpectJsonError("{}", "FILE: /format: is missing");
    ExpectJsonError(Replaced("proteus-graph", "proteus-cluster"),
                    "FILE: /format: must be \"proteus-graph\", not \"proteus-cluster\"");
    ExpectJsonError(Replaced("\"version\": 1", "\"version\": 2"), "FILE: /version: must be 1");
    ExpectJsonError(Replaced("\"version\": 1,", ""), "FILE: /version: is missing");
    ExpectJsonError(Replaced("\"version\"", "\"links\""), "FILE: /links: unknown field");
    ExpectJsonError(Replaced("\"version\"", "\"format\""), "FILE: /format: appears twice");
    ExpectJsonError(Replaced("\"devices\": 2,", ""), "FILE: /devices: is missing");
    ExpectJsonError(Replaced("\"devices\": 2", "\"devices\": 0"), "FILE: /devices: a graph has 1");
    ExpectJsonError(Replaced("\"devices\": 2", "\"devices\": 4294967295"),
                    "FILE: /devices: a graph has 1 to");
    ExpectJsonError(Replaced("\"devices\": 2", "\"devices\": 4294967296"),
                    "FILE: /devices: must be an integer from 0 to 4294967295");
    ExpectJsonError(Replaced("\"devices\": 2", "\"devices\": \"2\""),
                    "FILE: /devices: must be an integer from 0 to 4294967295, not \"2\"");
    ExpectJsonError(Replaced("[\"s\"]", "[5]"), "FILE: /streams/0: must be a string, not 5");
    ExpectJsonError(Replaced("[\"s\"]", "{}"), "FILE: /streams: must be a list, not {}");
    ExpectJsonError(Replaced("{\"name\":\"p\",\"micro_batches\":2}", "7"),
                    "FILE: /phases/0: must be an object, not 7");
    ExpectJsonError(
        Replaced("{\"name\":\"p\",\"micro", "{\"mame\":\"p\",\"micro"),
        "FILE: /phases/0/mame: unknown field; did you mean name? a phase has name, micro_batches");
    ExpectJsonError(Replaced("\"micro_batches\":2", "\"micro_batches\":-2"),
                    "FILE: /phases/0/micro_batches: must be an integer from 0 to 4294967295, "
                    "not -2");
    ExpectJsonError(Replaced("\"micro_batches\":2", "\"micro_batches\":0"),
                    "FILE: phase 0 (p) has 0 micro-batches");
    ExpectJsonError(Replaced("[0,1]", "[0,1.5]"), "FILE: /groups/0/1: must be an integer");
    ExpectJsonError(Replaced("[0,1]", "[0,1],[1,0],[0,1]"), "FILE: /groups/2: is the same group");
    ExpectJsonError(Replaced("[0,1]", "[0,2]"), "FILE: group 0 names device 2");
    ExpectJsonError(Replaced("\"order\":[[\"p\",0]", "\"order\":[[\"x\",0]"),
                    "FILE: /schedules/0/order/0/0: the graph has no phase \"x\"");
    ExpectJsonError(Replaced("[\"p\",0]", "[\"p\"]"), "FILE: /schedules/0/order/0: must be a pair");
    ExpectJsonError(Replaced("{\"devices\":[1]", "{\"devices\":[1,1]"),
                    "FILE: /schedules/0/devices/1: device 1 already has");
    ExpectJsonError(Replaced("\"limit\":1", "\"limit\":true"), "FILE: /gates/0/limit: must be an");
    ExpectJsonError(Replaced(",\"limit\":1", ""), "FILE: /gates/0/limit: is missing");
    ExpectJsonError(Replaced("\"facts\": {", "\"facts\": {\"x\":1,"),
                    "FILE: /facts/x: unknown field");
    ExpectJsonError(Replaced("iteration\":10.0", "iteration\":-10.0"),
                    "FILE: /facts/model_flops_per_iteration: must be a number, 0 or more");
    ExpectJsonError("{\"devices\":1,\"tasks\":5}", "FILE: /tasks: must be a list, not 5");
    ExpectJsonError("{\"tasks\":[", "FILE: /devices: is missing; it must come before the tasks");
    ExpectJsonError("{\"devices\":1,\"tasks\":[],\"phases\":[],\"version\":1,"
                    "\"format\":\"proteus-graph\"}",
                    "FILE: /phases: must come before the tasks");
}

TEST(GraphJson, WrongTasks)
{
    ExpectJsonError(Replaced("\"id\":2", "\"id\":3"), "FILE: /tasks/2/id: must be the position");
    ExpectJsonError(Replaced("\"name\":\"a\",", ""), "FILE: /tasks/0/name: is missing");
    ExpectJsonError(Replaced("\"name\":\"a\"", "\"name\":null"), "FILE: /tasks/0/name: must be a");
    ExpectJsonError(Replaced("\"compute\"", "\"kernel\""),
                    "FILE: /tasks/0/kind: unknown kind of task 'kernel'; known are compute");
    ExpectJsonError(Replaced("\"phase\":\"q\"", "\"phase\":\"r\""),
                    "FILE: /tasks/3/phase: the graph has no phase \"r\"");
    ExpectJsonError(Replaced("\"stream\":\"s\"", "\"stream\":\"t\""),
                    "FILE: /tasks/0/stream: the graph has no stream \"t\"");
    ExpectJsonError(Replaced("\"stream\":\"s\",", ""), "FILE: /tasks/0/stream: is missing");
    ExpectJsonError(Replaced("\"device\":0,", ""), "FILE: /tasks/0/device: is missing");
    ExpectJsonError(Replaced("\"device\":0", "\"device\":2"), "FILE: task 0 (a) is on device 2");
    ExpectJsonError(Replaced("_ps\":100", "_ps\":-1"),
                    "FILE: /tasks/0/duration_ps: must be an integer from 0 to "
                    "9223372036854775807, not -1");
    ExpectJsonError(Replaced("_ps\":100", "_ps\":9223372036854775808"),
                    "FILE: /tasks/0/duration_ps: must be an integer");
    ExpectJsonError(Replaced("_ps\":100", "_ps\":100.0"), "FILE: /tasks/0/duration_ps: must be");
    ExpectJsonError(Replaced("\"duration_ps\"", "\"duration_ns\""),
                    "FILE: /tasks/0/duration_ns: unknown field; did you mean duration_ps? a "
                    "compute task has id, name");
    ExpectJsonError(Replaced("\"duration_ps\":100", "\"name\":\"b\""),
                    "FILE: /tasks/0/name: appears twice");
    ExpectJsonError(Replaced("\"device\":1,\"bytes\":64", "\"device\":1,\"bytes\":64,\"flops\":0"),
                    "FILE: /tasks/2/flops: unknown field; a memory task has");
    ExpectJsonError(Replaced("\"bytes\":64", "\"bytes\":18446744073709551616"),
                    "FILE: /tasks/1/bytes: must be an integer from 0 to 18446744073709551615");
    ExpectJsonError(Replaced("\"bytes\":64,", ""), "FILE: /tasks/1/bytes: is missing");
    ExpectJsonError(Replaced("\"bytes\":64", "\"bytes\":0"), "FILE: task 1 (c) communicates 0");
    ExpectJsonError(Replaced("all-reduce", "all-to-none"),
                    "FILE: /tasks/1/collective: unknown collective 'all-to-none'; known are all-");
    ExpectJsonError(Replaced("\"tensor\"", "\"x\""), "FILE: /tasks/1/parallelism: unknown");
    ExpectJsonError(Replaced("\"fp32\"", "\"fp64\""), "FILE: /tasks/3/data_type: unknown data");
    ExpectJsonError(Replaced("\"parallelism\":\"tensor\"", "\"root\":65536"),
                    "FILE: /tasks/1/root: must be an integer from 0 to 65535");
    ExpectJsonError(Replaced("\"parallelism\":\"tensor\"", "\"root\":1"),
                    "FILE: task 1 (c) is a communication task (all-reduce) and can have no root");
    ExpectJsonError(Replaced("\"group\":0", "\"group\":1"), "FILE: task 1 (c) uses group 1");
    ExpectJsonError(Replaced("flops\":2.5", "flops\":-2.5"), "FILE: /tasks/3/flops: must be a");
    ExpectJsonError(Replaced("flops\":2.5", "flops\":\"1\""), "FILE: /tasks/3/flops: must be a");
    ExpectJsonError(Replaced("[1,2]", "[1,\"2\"]"), "FILE: /tasks/3/dependencies/1: must be an");
    ExpectJsonError(Replaced("[1,2]", "2"), "FILE: /tasks/3/dependencies: must be a list");
    ExpectJsonError(Replaced("[1,2]", "[1,4]"), "FILE: task 3 (a) depends on task 4, which does");
    ExpectJsonError(Replaced("\"duration_ps\":100", "\"dependencies\":[1]"),
                    "FILE: the dependencies form a cycle of 2 tasks: task 0 (a) waits for task 1 "
                    "(c) waits for task 0 (a)");
    ExpectJsonError(
        Replaced("\"bytes\":64,\"dependencies\"", "\"bytes\":64,\"persistent\":1,\"dependencies\""),
        "FILE: /tasks/2/persistent: must be true or false, not 1");
}

TEST(GraphJson, TruncationsAreRefused)
{
    const std::string text = ToJson(MakeSmallGraph());
    for (std::size_t size = 0; size + 1 < text.size(); size++)
    {
        EXPECT_TRUE(TryDamaged(FromJson, text.substr(0, size))) << size;
    }
    // The last byte is a line end that JSON does not need.
    EXPECT_TRUE(FromJson(text.substr(0, text.size() - 1)) == MakeSmallGraph());
}

TEST(GraphJson, CorruptionsAreHarmless)
{
    TryCorruptions(FromJson, ToJson(MakeSmallGraph()));
}

TEST(GraphJson, FullDisk)
{
    ExpectFailureOnFullDisk(WriteGraphJson, ToJson(MakeSmallGraph()).size());
}

TEST(GraphProtobuf, TruncationsAreRefused)
{
    const std::string text = ToProtobuf(MakeSmallGraph());
    for (std::size_t size = 0; size < text.size(); size++)
    {
        EXPECT_TRUE(TryDamaged(FromProtobuf, text.substr(0, size))) << size;
    }
}

TEST(GraphProtobuf, CorruptionsAreHarmless)
{
    TryCorruptions(FromProtobuf, ToProtobuf(MakeSmallGraph()));
}

TEST(GraphProtobuf, FullDisk)
{
    ExpectFailureOnFullDisk(WriteGraphProtobuf, ToProtobuf(MakeSmallGraph()).size());
}

TEST(GraphProtobuf, TakesOtherEncodings)
{
    const ExecutionGraph graph = FromProtobuf(HEAD + Block() + Block("") + End(4));
    ASSERT_EQ(graph.GetNTasks(), 4U);
    EXPECT_EQ(graph.GetName(graph.GetTask(3)), "x");
    EXPECT_EQ(graph.GetTask(3).place, 1U);
    EXPECT_EQ(graph.GetTask(3).dataType, DataType::BF16);
    EXPECT_EQ(graph.GetTask(3).durationPs, -1);
    // A negative zero is zero FLOPs.
    const std::string minusZero = std::string(15, '\0') + "\x80";
    const ExecutionGraph other = FromProtobuf(HEAD +
                                              Block(Bytes(1, "x"),
                                                    List(2, {0, 0}),
                                                    List(3, {0, 0}),
                                                    List(5, {0, 0}),
                                                    List(6, {0, 0}),
                                                    Bytes(9, minusZero)) +
                                              End(2));
    ExpectRoundTrips(other);
}

TEST(GraphProtobuf, WrongHeads)
{
    ExpectProtobufError("", "byte 0: the file ends too early");
    ExpectProtobufError("{\n\"format\"", "byte 0: this is no field of a graph");
    ExpectProtobufError(Bytes(1, "proteus-cluster") + Number(2, 1) + End(0), "format");
    ExpectProtobufError(Bytes(1, "proteus-graph") + Number(2, 2) + End(0), "version");
    ExpectProtobufError(Bytes(1, "proteus-graph") + Number(2, 1) + End(0), "devices");
    ExpectProtobufError(HEAD + HEAD + End(0), "field format is repeated or in the wrong place");
    ExpectProtobufError(HEAD + End(0) + End(0), "field end is repeated");
    ExpectProtobufError(HEAD + End(1), "should have 1 tasks, but has 0");
    ExpectProtobufError(HEAD + Block(), "ends too early");
    ExpectProtobufError(HEAD + Block() + End(3), "should have 3 tasks, but has 2");
    ExpectProtobufError(HEAD + Bytes(99, "new") + End(0), "byte 29: this is no field");
    ExpectProtobufError(HEAD + Bytes(6, Bytes(7, "new")) + End(0), "field phases is damaged");
    ExpectProtobufError(HEAD + std::string(1, '\0'), "this is no field");
    // A length that the file does not have must not be allocated.
    ExpectProtobufError(HEAD + Varint(10 << 3 | 2) + Varint(0x7fffffff) + "x",
                        "the file ends in field tasks");
    ExpectProtobufError(HEAD + Varint(10 << 3 | 2) + Varint(0xffffffff) + "x",
                        "the file ends in field tasks");
    const std::string group = Bytes(7, List(1, {0, ZigZag(1)}));
    ExpectProtobufError(HEAD + group + group + End(0), "group 1 is the same as group 0");
    ExpectProtobufError(HEAD + Bytes(7, List(1, {ZigZag(-1)})) + End(0), "device does not exist");
    ExpectProtobufError(HEAD + Bytes(7, List(1, {0, ZigZag(INT64_MAX), ZigZag(INT64_MIN)})) +
                            End(0),
                        "device does not exist");
    ExpectProtobufError(HEAD + Bytes(8, List(1, {0, 0})) + End(0), "device 0 has two schedules");
    ExpectProtobufError(HEAD + Bytes(8, List(2, {0, 0}) + List(3, {0})) + End(0),
                        "lists of unequal length");
    ExpectProtobufError(HEAD + Bytes(8, List(2, {65536}) + List(3, {0})) + End(0),
                        "phase 65536 is out of range");
    ExpectProtobufError(HEAD + Bytes(9, Number(2, 65536) + Number(4, 1)) + End(0),
                        "phase 65536 is out of range");
    ExpectProtobufError(HEAD + Bytes(9, Number(2, 3) + Number(4, 1)) + End(0),
                        "FILE: gate 0 on device 0 names phase 3");
}

TEST(GraphProtobuf, WrongBlocks)
{
    const auto expect = [](const std::string& block, const std::string& cause) {
        ExpectProtobufError(HEAD + block + End(2), cause);
    };
    const std::string names = Bytes(1, "x");
    const std::string kinds = List(2, {0, 0});
    const std::string nameSteps = List(3, {0, 0});
    const std::string placeSteps = List(5, {0, 0});
    const std::string streams = List(6, {0, 0});
    expect(Bytes(10, "\x0a"), "a block of tasks is damaged");
    expect(Bytes(10, Bytes(77, "x")), "a block of tasks is damaged");
    expect(Block(names, List(2, {0, 3})), "unknown kind");
    expect(Block(""), "name that does not exist");
    expect(Block(names, kinds, List(3, {0, ZigZag(-1)})), "name that does not exist");
    expect(Block(names, kinds, List(3, {0})), "list name_steps");
    expect(Block(names, kinds, nameSteps, List(5, {0})), "list place_steps");
    expect(Block(names, kinds, nameSteps, List(5, {ZigZag(-1), 0})), "device or group");
    expect(Block(names, kinds, nameSteps, List(5, {ZigZag(5), 0})), "task 0 (x) is on device 5");
    expect(Block(names, kinds, nameSteps, placeSteps, List(6, {0, 0, 0})), "list streams");
    expect(Block(names, kinds, nameSteps, placeSteps, List(6, {0, 70000})), "stream 70000");
    expect(Block(names, kinds, nameSteps, placeSteps, List(6, {0, 4})), "task 1 (x) is on stream");
    const auto rest = [&](const std::string& fields, const std::string& cause) {
        expect(Block(names, kinds, nameSteps, placeSteps, streams, fields), cause);
    };
    rest(List(4, {0}), "list phases");
    rest(List(4, {0, 65536}), "phase 65536");
    rest(List(4, {0, 1}), "task 1 (x) is in phase 1");
    rest(List(7, {1, 2, 3}), "list bytes");
    rest(List(8, {0}), "list durations_ps");
    rest(List(8, {0, ZigZag(-2)}), "negative duration");
    rest(Bytes(9, std::string(8, '\0')), "list flops");
    rest(Bytes(9, std::string(14, '\0') + "\xf0\x7f"), "task 1 (x) has FLOPs");
    rest(List(10, {0, 5}), "unknown data type");
    rest(List(11, {0}), "list collectives");
    rest(List(14, {0}), "list persistent");
    rest(List(15, {0, 1}), "list dependency_steps");
    rest(List(15, {0, 1}) + List(16, {ZigZag(-2)}), "dependencies of a task");
    rest(List(15, {2, 0}) + List(16, {ZigZag(1), 0}), "dependencies of a task");
    rest(List(15, {1, 1}) + List(16, {ZigZag(1), ZigZag(-1)}), "cycle of 2 tasks");
    rest(List(15, {1, 0}) + List(16, {ZigZag(9)}), "task 0 (x) depends on task 9");
    const auto communication = [&](const std::string& fields, const std::string& cause) {
        ExpectProtobufError(
            HEAD + Bytes(7, List(1, {0, ZigZag(1)})) +
                Block(names, List(2, {1, 1}), nameSteps, placeSteps, streams, fields) + End(2),
            cause);
    };
    const std::string bytes = List(7, {1, 1});
    communication(bytes + List(11, {0, 9}), "unknown collective");
    communication(bytes + List(11, {0, 0}) + List(12, {8, 0}), "unknown parallelism");
    communication(bytes + List(11, {3, 3}) + List(13, {0, 65536}), "root 65536");
    communication(bytes + List(11, {3, 3}) + List(13, {0, 2}), "task 1 (x) has root 2");
    communication(List(11, {3, 3}), "task 0 (x) communicates 0 bytes");
}

TEST(GraphFile, SavesAndLoads)
{
    const TemporaryFolder folder;
    const ExecutionGraph graph = MakeFullGraph();
    for (const char* name : {"g.json", "g.pb", ".json.pb"})
    {
        SaveGraph(MakeSmallGraph(), folder / name);
        SaveGraph(graph, folder / name); // replaces
        EXPECT_TRUE(LoadGraph(folder / name) == graph) << name;
    }
    EXPECT_EQ(folder.CountFiles(), 3U);
    EXPECT_EQ(ReadText(folder / "g.json"), ToJson(graph));
    EXPECT_EQ(ReadText(folder / "g.pb"), ToProtobuf(graph));
}

TEST(GraphFile, FullDiskLeavesTheOldFile)
{
    const TemporaryFolder folder;
    GraphBuilder builder(1);
    builder.AddStream("s");
    builder.AddPhase("p");
    for (int i = 0; i < 20000; i++)
    {
        builder.AddCompute(0, 0, 0, "k" + std::to_string(i), 1);
    }
    const ExecutionGraph big = builder.Build();
    struct rlimit before;
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    for (const char* name : {"g.json", "g.pb"})
    {
        const std::string path = folder / name;
        SaveGraph(MakeSmallGraph(), path);
        auto* handler = std::signal(SIGXFSZ, SIG_IGN); // or the limit ends the process
        const struct rlimit limit = {10000, before.rlim_max};
        ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
        const std::string error = ErrorOf([&] { SaveGraph(big, path); });
        setrlimit(RLIMIT_FSIZE, &before);
        std::signal(SIGXFSZ, handler);
        EXPECT_EQ(error, path + ": cannot be written: File too large");
        EXPECT_TRUE(LoadGraph(path) == MakeSmallGraph());
    }
    EXPECT_EQ(folder.CountFiles(), 2U);
}

TEST(GraphFile, Errors)
{
    const TemporaryFolder folder;
    const ExecutionGraph graph = MakeSmallGraph();
    const auto expect =
        [](const std::string& error, const std::string& path, const std::string& cause) {
            EXPECT_EQ(error.compare(0, path.size(), path), 0) << error;
            EXPECT_NE(error.find(cause), std::string::npos) << error;
        };
    for (const char* name : {"graph.txt", "json", ".pb", "graph.pb.gz"})
    {
        const std::string path = folder / name;
        const std::string bare = name; // a name of an ending alone is none
        expect(ErrorOf([&] { SaveGraph(graph, bare); }), bare, "end in .json or .pb");
        expect(ErrorOf([&] { LoadGraph(bare); }), bare, "end in .json or .pb");
    }
    for (const char* name : {"nowhere/graph.json", "nowhere/graph.pb"})
    {
        const std::string path = folder / name;
        expect(ErrorOf([&] { SaveGraph(graph, path); }), path, "cannot be written: No such file");
        expect(ErrorOf([&] { LoadGraph(path); }), path, "cannot be read: No such file");
    }
    const std::string directory = folder / "folder.json";
    std::filesystem::create_directory(directory);
    expect(ErrorOf([&] { SaveGraph(graph, directory); }), directory, "it is a directory");
    expect(ErrorOf([&] { LoadGraph(directory); }), directory, "it is a directory");
    const std::string broken = folder / "broken.json";
    std::ofstream(broken) << "{\n\"devices\": ?";
    expect(ErrorOf([&] { LoadGraph(broken); }), broken, ":2:12: syntax error");
    EXPECT_EQ(folder.CountFiles(), 2U); // nothing half written is left
}

} // namespace proteus
} // namespace ns3
