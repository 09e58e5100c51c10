/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-compile.h"
#include "ns3/proteus-framework-json.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-model-json.h"
#include "ns3/proteus-strategy-json.h"

#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <string>

// What DTensor gathers or scatters along a sequence is copied.

using namespace ns3::proteus;

namespace
{

/// Copies of an iteration of two layers of Llama on two devices.
struct Copies
{
    std::map<std::string, uint32_t> behind; //!< by the collective before, how many
    std::map<std::string, uint32_t> before; //!< by the collective behind, how many
    int64_t picoseconds{0};                 //!< of one of them
};

Copies
FindCopies(const std::string& framework, const std::string& more)
{
    const std::string workloads = std::string(PROTEUS_SOURCE_DIR) + "/workloads/";
    std::istringstream input(R"({"tp": 2, "sequenceParallel": true, "microBatch": 2)" + more + "}");
    const StrategyFile file = ReadStrategyJson(input, "s.json");
    std::map<std::string, int64_t> variables{{"layers", 2}, {"hidden", 2048}, {"sequence", 2048}};
    const auto ofFile = file.GetVariables();
    variables.insert(ofFile.begin(), ofFile.end());
    const Model model = LoadModel(workloads + "models/llama.json", variables);
    const ExecutionGraph graph = Compile(model,
                                         file.GetTree(model),
                                         FindGpuDatasheet("H100-SXM5-80GB"),
                                         LoadFramework(workloads + "frameworks/" + framework),
                                         nullptr,
                                         nullptr);
    Copies copies;
    const auto isCopy = [&graph](TaskId id) {
        const std::string name = graph.GetName(graph.GetTask(id));
        return name.size() > 5 && name.compare(name.size() - 5, 5, ".copy") == 0;
    };
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        copies.picoseconds = isCopy(id) ? task.durationPs : copies.picoseconds;
        for (const TaskId before : graph.GetDependencies(id))
        {
            const Task& first = graph.GetTask(before);
            if (isCopy(id) && first.kind == TaskKind::COMMUNICATION)
            {
                ++copies.behind[ToString(first.collective)];
            }
            if (isCopy(before) && task.kind == TaskKind::COMMUNICATION)
            {
                ++copies.before[ToString(task.collective)];
            }
        }
    }
    return copies;
}

} // namespace

TEST(SequenceCopy, StandsBehindGathersAndBeforeScatters)
{
    const Copies copies = FindCopies("torchtitan.json", "");
    // Two layers with two gathers and two scatters forward, and as many backward; what is gathered
    // forward is gathered anew for the gradients of weights. On two devices.
    ASSERT_EQ(copies.behind.size(), 1);
    ASSERT_EQ(copies.before.size(), 1);
    EXPECT_GE(copies.behind.at("all-gather"), 2 * 2 * (2 + 2));
    EXPECT_GE(copies.before.at("reduce-scatter"), 2 * 2 * (2 + 2));
    // 2 sequences of 2048 tokens with 2048 numbers in 16 bits are read and written, at 0.88 of
    // 3.35 TB/s, and some microseconds.
    const double us = 1e-6 * static_cast<double>(copies.picoseconds);
    EXPECT_NEAR(us, 2 * 2 * 2048 * 2048 * 2 / (0.88 * 3.35e6) + 5, 2);
}

TEST(SequenceCopy, IsOfPyTorchAlone)
{
    EXPECT_TRUE(FindCopies("torchtitan.json", R"(, "tpOverlap": true)").behind.empty());
    EXPECT_TRUE(FindCopies("megatron-core.json", "").behind.empty());
    EXPECT_TRUE(FindCopies("nanotron.json", "").before.empty());
}
