/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GRAPH_TEXTS_H
#define PROTEUS_GRAPH_TEXTS_H

#include "../error-of.h"

#include "ns3/proteus-graph-json.h"
#include "ns3/proteus-graph-protobuf.h"
#include "ns3/proteus-graph.h"

#include <cstdint>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <limits>
#include <random>
#include <sstream>
#include <streambuf>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * Graphs, and what the tests of both forms of their files do with them.
 */

namespace ns3
{
namespace proteus
{

/// @param graph a graph @return it as JSON
inline std::string
ToJson(const ExecutionGraph& graph)
{
    std::ostringstream out;
    WriteGraphJson(graph, out);
    return out.str();
}

/// @param text JSON of a file that is called FILE @return the graph
inline ExecutionGraph
FromJson(const std::string& text)
{
    std::istringstream in(text);
    return ReadGraphJson(in, "FILE");
}

/// @param graph a graph @return it in the Protobuf form
inline std::string
ToProtobuf(const ExecutionGraph& graph)
{
    std::ostringstream out;
    WriteGraphProtobuf(graph, out);
    return out.str();
}

/// @param text Protobuf form of a file that is called FILE @return the graph
inline ExecutionGraph
FromProtobuf(const std::string& text)
{
    std::istringstream in(text);
    return ReadGraphProtobuf(in, "FILE");
}

/// Both forms give the graph back, and are written alike again. @param graph a graph
inline void
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

/// @param path of a file @return its bytes
inline std::string
ReadText(const std::string& path)
{
    std::ifstream in(path, std::ios::binary);
    EXPECT_TRUE(in) << path;
    return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

/// Uses every field of the format, with the ends of its range.
inline ExecutionGraph
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
inline ExecutionGraph
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

/// Writes a graph in one of the forms.
using Write = void (*)(const ExecutionGraph&, std::ostream&);
/// Reads one of the forms.
using Read = ExecutionGraph (*)(const std::string&);

/// @param write a form @param size of the small graph in it
inline void
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
inline bool
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

/// Changes one byte after another. @param read a form @param text of the small graph in it
inline void
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

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GRAPH_TEXTS_H
