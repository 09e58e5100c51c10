/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "chakra-text.h"

#include "ns3/proteus-warning.h"

#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace ns3::proteus;
using namespace ns3::proteus::chakratest;

namespace
{

namespace fs = std::filesystem;

/// Uses what Chakra has no word for.
ExecutionGraph
MakeGraph()
{
    GraphBuilder builder(4);
    builder.SetFacts({"a model", 1e15, 7, 3});
    const StreamId compute = builder.AddStream("compute");
    const StreamId network = builder.AddStream("network", StreamOrder::READY, true);
    const PhaseId forward = builder.AddPhase("forward", 3);
    const PhaseId backward = builder.AddPhase("backward", 3);
    const PhaseId once = builder.AddPhase("once");
    const GroupId all = builder.AddGroup({3, 1, 0, 2});
    const GroupId pair = builder.AddGroup({0, 1});
    builder.AddGroup({2, 3}); // nobody uses it
    for (DeviceId device = 0; device < 4; device++)
    {
        const TaskId weights = builder.AddMemory(once, device, "weights", 1000, {}, true);
        const TaskId f = builder.AddCompute(forward,
                                            device,
                                            compute,
                                            "layer",
                                            1234567 + device,
                                            std::vector<TaskId>{weights});
        const TaskId kept = builder.AddMemory(forward, device, "kept", 500, {f});
        builder.AddCompute(backward, device, compute, "back", 2.5e9, 77, DataType::FP8, {kept});
        builder.AddGate({device, forward, backward, 2});
    }
    builder.AddCommunication(forward,
                             pair,
                             network,
                             "send",
                             Collective::SEND_RECV,
                             100,
                             Parallelism::PIPELINE,
                             {1});
    for (const Collective collective : {Collective::ALL_REDUCE,
                                        Collective::ALL_GATHER,
                                        Collective::REDUCE_SCATTER,
                                        Collective::BROADCAST,
                                        Collective::REDUCE,
                                        Collective::GATHER,
                                        Collective::SCATTER,
                                        Collective::ALL_TO_ALL})
    {
        builder.AddCommunication(once,
                                 all,
                                 network,
                                 ToString(collective),
                                 collective,
                                 1001,
                                 Parallelism::DATA,
                                 {3, 7, 11, 15},
                                 HasRoot(collective) ? 2 : 0);
    }
    builder.SetSchedule(1,
                        {{forward, 0},
                         {forward, 1},
                         {backward, 0},
                         {forward, 2},
                         {backward, 1},
                         {backward, 2},
                         {once, 0}});
    builder.SetSchedule({0, 2, 3},
                        {{forward, 0},
                         {backward, 0},
                         {forward, 1},
                         {backward, 1},
                         {forward, 2},
                         {backward, 2},
                         {once, 0}});
    return builder.Build();
}

std::vector<std::string>
Write(const ExecutionGraph& graph)
{
    std::vector<std::string> files;
    for (DeviceId device = 0; device < graph.GetNDevices(); device++)
    {
        std::ostringstream out;
        WriteChakra(graph, device, out);
        files.push_back(out.str());
    }
    return files;
}

/// @param file that was written @param edit changes a node
/// @return the metadata of the file, and its nodes with the changes
std::pair<std::string, std::string>
Rewrite(const std::string& file, const std::function<void(Node&)>& edit)
{
    std::pair<std::string, std::string> parts;
    for (std::size_t at = 0; at < file.size();)
    {
        const std::size_t begin = at;
        std::size_t size = 0;
        for (int shift = 0;; shift += 7)
        {
            const auto c = static_cast<unsigned char>(file[at++]);
            size |= static_cast<std::size_t>(c & 0x7f) << shift;
            if (c < 0x80)
            {
                break;
            }
        }
        Node node;
        if (begin > 0)
        {
            EXPECT_TRUE(node.ParseFromString(file.substr(at, size)));
            edit(node);
            parts.second += Delimited(node);
        }
        at += size;
        parts.first = begin > 0 ? parts.first : file.substr(0, at);
    }
    return parts;
}

} // namespace

TEST(ChakraWriter, WhatWasChangedSinceIsNamed)
{
    const auto graph = MakeGraph();
    const auto notes = [&](const std::function<void(Node&)>& edit, const std::string& more = "") {
        std::string text;
        const WarningListener listener([&text](const std::string& warning) {
            text += warning;
            return false;
        });
        auto files = Write(graph);
        const auto parts = Rewrite(files[1], edit);
        files[1] = parts.first + parts.second + more;
        EXPECT_TRUE(Read(files) == graph);
        return text;
    };
    EXPECT_EQ(notes([](Node&) {}), "");
    const std::string counts = ": what was written counts (attribute proteus_graph); to run what "
                               "was changed, take that out of f0";
    EXPECT_EQ(notes([](Node& node) {
                  for (auto& attribute : *node.mutable_attr())
                  {
                      if (attribute.name() == "comm_size" && node.name() == "broadcast")
                      {
                          attribute.set_int64_val(5);
                      }
                  }
              }),
              "trace: 1 node not as the graph is written, the first in f1: node 12, its comm_size" +
                  counts);
    EXPECT_NE(notes([](Node& node) {
                  if (node.name() == "layer")
                  {
                      node.set_duration_micros(99);
                  }
              }).find("3 nodes not as the graph is written, the first in f1: node 0, its duration"),
              std::string::npos);
    Node more;
    more.set_id(999);
    more.set_type(pb::CHAKRA_COMP);
    EXPECT_NE(notes([](Node&) {}, Delimited(more)).find("node 999, which was not there"),
              std::string::npos);
}

TEST(ChakraWriter, ReadsBackTheSameGraph)
{
    const auto graph = MakeGraph();
    const auto files = Write(graph);
    EXPECT_TRUE(Read(files) == graph);
    EXPECT_TRUE(Write(Read(files)) == files);
    EXPECT_EQ(ErrorOf({files[0], files[1]}),
              "trace: the graph has 4 devices, but there are files of 2");
    EXPECT_NE(ErrorOf({files[0], files[1], files[2], files[2]}), "");

    const fs::path folder =
        fs::temp_directory_path() / ("proteus-chakra-" + std::to_string(getpid()));
    fs::create_directories(folder);
    SaveChakra(graph, (folder / "graph").string());
    EXPECT_TRUE(fs::exists(folder / "graph.3.et"));
    EXPECT_TRUE(LoadTrace(folder.string()) == graph);
    fs::remove_all(folder);
}

TEST(ChakraWriter, ExamplesReadBackTheSame)
{
    for (const auto& entry :
         fs::directory_iterator(fs::path(PROTEUS_SOURCE_DIR) / "workloads/graphs"))
    {
        const auto graph = LoadTrace(entry.path().string()); // takes native graphs, too
        EXPECT_TRUE(Read(Write(graph)) == graph) << entry.path();
    }
}

TEST(ChakraWriter, OtherProgramsUnderstandTheNodes)
{
    // Without our own attributes the files are a trace like any other, with all micro-batches.
    const auto graph = MakeGraph();
    std::vector<std::string> files;
    for (const std::string& file : Write(graph))
    {
        std::istringstream in(file);
        ChakraReader reader(in, "file");
        EXPECT_EQ(reader.GetVersion(), "0.0.4");
        std::string text = TraceText().Get();
        text += Rewrite(file, [](Node& node) {
                    for (int i = node.attr_size(); i-- > 0;)
                    {
                        if (node.attr(i).name() == "proteus_task")
                        {
                            node.mutable_attr()->DeleteSubrange(i, 1);
                        }
                    }
                }).second;
        files.push_back(text);
    }
    const auto other = Read(files);
    EXPECT_EQ(other.GetNDevices(), 4u);
    std::map<std::string, uint32_t> counts;
    for (const Task& task : other.GetTasks())
    {
        counts[other.GetName(task)]++;
    }
    EXPECT_EQ(counts["layer"], 4u * 3u);
    EXPECT_EQ(counts["back"], 4u * 3u);
    EXPECT_EQ(counts["send"], 3u);
    EXPECT_EQ(counts["weights"], 0u);
    for (const char* name : {"all-reduce", "all-gather", "gather", "all-to-all", "broadcast"})
    {
        EXPECT_EQ(counts[name], 1u) << name;
        const Task& task = other.GetTask(FindTask(other, name));
        EXPECT_EQ(ToString(task.collective), std::string(name));
        // Of a gather, the file has one rank's part of 1001 bytes, rounded up.
        EXPECT_EQ(task.bytes,
                  std::string(name).find("gather") == std::string::npos ? 1001u : 1004u);
        EXPECT_EQ(other.GetGroup(task.place), (std::vector<DeviceId>{3, 1, 0, 2}));
        EXPECT_EQ(task.root, HasRoot(task.collective) ? 2u : 0u);
    }
    // Micro-batch 2 of device 0 is held back by the gate, by its place in the stream, or both.
    uint32_t nBackBeforeLayer = 0;
    for (TaskId id = 0; id < other.GetNTasks(); id++)
    {
        if (other.GetName(other.GetTask(id)) == "layer")
        {
            for (const std::string& name : NamesOf(other, other.GetDependencies(id)))
            {
                nBackBeforeLayer += name == "back";
            }
        }
    }
    EXPECT_GE(nBackBeforeLayer, 4u + 3u);
}
