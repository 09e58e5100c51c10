/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "chakra-text.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

using namespace ns3::proteus;
using namespace ns3::proteus::chakratest;

namespace
{

namespace fs = std::filesystem;

const fs::path SAMPLES = fs::path(PROTEUS_SOURCE_DIR) / "../shared/data/chakra";

/// Counts of nodes in a file, by type and where they run.
struct Inventory
{
    explicit Inventory(const fs::path& path)
    {
        std::ifstream in(path, std::ios::binary);
        ChakraReader reader(in, path.filename());
        version = reader.GetVersion();
        input = reader.GetAttribute("input_file");
        ChakraNode node;
        while (reader.Read(node))
        {
            nNodes++;
            counts[{node.type, node.isCpu}]++;
            micros[{node.type, node.isCpu}] += node.durationMicros;
            if (node.type == ChakraNodeType::COMM_SEND)
            {
                sentBytes += node.bytes;
            }
            if (node.type == ChakraNodeType::COMM_COLL && !node.isCpu)
            {
                collectives.push_back(node);
            }
        }
    }

    std::string version;
    std::string input;
    uint64_t nNodes{0};
    uint64_t sentBytes{0};
    std::map<std::pair<ChakraNodeType, bool>, uint64_t> counts;
    std::map<std::pair<ChakraNodeType, bool>, uint64_t> micros;
    std::vector<ChakraNode> collectives;
};

#define SKIP_WITHOUT_SAMPLES()                                                                     \
    if (!fs::exists(SAMPLES))                                                                      \
    {                                                                                              \
        GTEST_SKIP() << "the sample traces are not there: " << SAMPLES;                            \
    }

} // namespace

// The three files whose content reference/formats.md gives (D1 to D3).

TEST(ChakraSamples, AllReduce)
{
    SKIP_WITHOUT_SAMPLES();
    const Inventory file(SAMPLES / "all_reduce_4/all_reduce.0.et");
    EXPECT_EQ(file.version, "0.0.4");
    ASSERT_EQ(file.nNodes, 1u);
    ASSERT_EQ(file.collectives.size(), 1u);
    EXPECT_EQ(file.collectives[0].name, "all_reduce_4npus_1MB");
    EXPECT_EQ(file.collectives[0].collective, ChakraCollective::ALL_REDUCE);
    EXPECT_EQ(file.collectives[0].bytes, 1048576u);
    const auto graph = LoadTrace((SAMPLES / "all_reduce_4").string());
    EXPECT_EQ(graph.GetNDevices(), 4u);
    ASSERT_EQ(graph.GetNTasks(), 1u);
    EXPECT_EQ(graph.GetTask(0).collective, Collective::ALL_REDUCE);
    EXPECT_EQ(graph.GetTask(0).bytes, 1048576u);
    EXPECT_EQ(graph.GetGroup(graph.GetTask(0).place), (std::vector<DeviceId>{0, 1, 2, 3}));
}

TEST(ChakraSamples, AllToAll)
{
    SKIP_WITHOUT_SAMPLES();
    const auto graph = LoadTrace((SAMPLES / "all_to_all_4").string());
    EXPECT_EQ(graph.GetNDevices(), 4u);
    ASSERT_EQ(graph.GetNTasks(), 1u);
    EXPECT_EQ(graph.GetTask(0).collective, Collective::ALL_TO_ALL);
    EXPECT_EQ(graph.GetTask(0).bytes, 1048576u);
}

TEST(ChakraSamples, CustomRing)
{
    SKIP_WITHOUT_SAMPLES();
    const Inventory file(SAMPLES / "custom_ring_8/custom_allreduce.0.et");
    EXPECT_EQ(file.nNodes, 35u);
    EXPECT_EQ(file.counts.at({ChakraNodeType::COMM_SEND, false}), 14u);
    EXPECT_EQ(file.counts.at({ChakraNodeType::COMM_RECV, false}), 14u);
    EXPECT_EQ(file.counts.at({ChakraNodeType::COMP, false}), 7u);
    EXPECT_EQ(file.micros.at({ChakraNodeType::COMP, false}), 7u * 7u);
    EXPECT_EQ(file.sentBytes, 1835008u);
    EXPECT_EQ(file.input.substr(0, 6), "<algo ");

    const auto graph = LoadTrace((SAMPLES / "custom_ring_8").string());
    EXPECT_EQ(graph.GetNDevices(), 8u);
    std::map<DeviceId, uint64_t> sent;
    uint64_t nMessages = 0;
    uint64_t nComputed = 0;
    for (const Task& task : graph.GetTasks())
    {
        if (task.kind == TaskKind::COMMUNICATION)
        {
            EXPECT_EQ(task.collective, Collective::SEND_RECV);
            EXPECT_EQ(task.bytes, 131072u);
            const auto& pair = graph.GetGroup(task.place);
            EXPECT_EQ(pair[1], (pair[0] + 1) % 8);
            sent[pair[0]] += task.bytes;
            nMessages++;
        }
        else if (task.durationPs > 0)
        {
            EXPECT_EQ(task.durationPs, 7000000);
            nComputed++;
        }
    }
    EXPECT_EQ(nMessages, 8u * 14u);
    EXPECT_EQ(nComputed, 8u * 7u);
    for (DeviceId device = 0; device < 8; device++)
    {
        EXPECT_EQ(sent[device], 1835008u);
    }
}

TEST(ChakraSamples, PyTorchDdp)
{
    SKIP_WITHOUT_SAMPLES();
    const fs::path path = SAMPLES / "pytorch_resnet50_ddp.0.et.gz";
    const Inventory file(path);
    EXPECT_EQ(file.nNodes, 3664u);
    EXPECT_EQ(file.counts.at({ChakraNodeType::COMP, true}), 2434u);
    EXPECT_EQ(file.counts.at({ChakraNodeType::COMP, false}), 1209u);
    EXPECT_EQ(file.counts.at({ChakraNodeType::COMM_COLL, true}), 14u);
    EXPECT_EQ(file.micros.at({ChakraNodeType::COMP, false}), 292828u);
    std::vector<std::pair<uint64_t, uint64_t>> reduced;
    std::vector<uint64_t> broadcast;
    uint64_t reducedBytes = 0;
    for (const ChakraNode& node : file.collectives)
    {
        if (node.collective == ChakraCollective::ALL_REDUCE)
        {
            reduced.emplace_back(node.bytes, node.durationMicros);
            reducedBytes += node.bytes;
        }
        else
        {
            EXPECT_EQ(node.collective, ChakraCollective::BROADCAST);
            broadcast.push_back(node.bytes);
        }
    }
    EXPECT_EQ(reduced,
              (std::vector<std::pair<uint64_t, uint64_t>>{{8196000, 5572},
                                                          {31502336, 9093},
                                                          {26255360, 8512},
                                                          {26550272, 8178},
                                                          {9724160, 5327}}));
    EXPECT_EQ(reducedBytes, 25557032u * 4u); // the parameters of ResNet-50
    EXPECT_EQ(broadcast, (std::vector<uint64_t>{212480, 424}));

    // One rank's file stands for all of them.
    TraceOptions options;
    options.ranks = 4;
    const auto graph = LoadTrace(path.string(), options);
    EXPECT_EQ(graph.GetNDevices(), 4u);
    std::map<TaskKind, uint64_t> counts;
    for (const Task& task : graph.GetTasks())
    {
        counts[task.kind]++;
    }
    EXPECT_EQ(counts[TaskKind::COMMUNICATION], 7u);
    EXPECT_EQ(counts[TaskKind::COMPUTE], 4u * (2434 + 1209 + 14));
}
