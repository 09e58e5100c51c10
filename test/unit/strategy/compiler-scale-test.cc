/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// What large jobs cost the compiler.

#include "ns3/proteus-compiler.h"
#include "ns3/proteus-model-json.h"
#include "ns3/proteus-parallel-plan.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <gtest/gtest.h>
#include <limits>
#include <string>

using namespace ns3::proteus;

namespace
{

struct Cost
{
    uint64_t tasks{0};
    double seconds{0}; //!< of the processor, least of several compilations
};

/// GPT-3 175B, tensor parallel 8, pipeline parallel 8.
Cost
CompileGpt3(uint32_t replicas, uint32_t microBatches, uint32_t zero, uint32_t repeats)
{
    ParallelPlan plan;
    plan.tensorParallel = 8;
    plan.pipelineParallel = 8;
    plan.dataParallel = replicas;
    plan.globalBatch = replicas * microBatches;
    plan.optimizer.zero = zero;
    plan.gradients.policy = BucketPolicy::WHOLE;
    plan.gradients.isInPlace = true;
    plan.precision.compute = DataType::BF16;
    const Model model =
        LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/gpt3-175b.json",
                  GetModelVariables(plan));
    const StrategyTree tree = ExpandPlan(model, plan);
    Cost cost;
    cost.seconds = std::numeric_limits<double>::infinity();
    for (uint32_t i = 0; i < repeats; ++i)
    {
        const std::clock_t start = std::clock();
        const ExecutionGraph graph = CompileModel(model, tree);
        EXPECT_EQ(graph.GetNDevices(), 64 * replicas);
        cost.tasks = graph.GetNTasks();
        cost.seconds =
            std::min(cost.seconds, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return cost;
}

} // namespace

// Tasks grow with the replicas, but for those of all replicas; micro-batches do not count. A
// compilation that takes more than linear time would take 16 times as long for 4 times as many
// devices. The limit of 10 s holds on an ordinary processor.
TEST(CompilerScale, TimeAndTasksGrowWithTheDevices)
{
    for (const uint32_t zero : {1, 3})
    {
        SCOPED_TRACE("ZeRO " + std::to_string(zero));
        const Cost small = CompileGpt3(2, 4, zero, 4);
        const Cost large = CompileGpt3(8, 4, zero, 2);
        const double growth = static_cast<double>(large.tasks) / static_cast<double>(small.tasks);
        EXPECT_LE(growth, 4);
        EXPECT_GT(growth, 3.5);
        EXPECT_LT(large.seconds / small.seconds, 8);
    }
    EXPECT_EQ(CompileGpt3(2, 4, 0, 1).tasks, CompileGpt3(2, 400, 0, 1).tasks);
    const Cost thousand = CompileGpt3(16, 96, 0, 1);
    std::printf("  GPT-3 175B for 1024 GPUs: %llu tasks in %.2f s\n",
                static_cast<unsigned long long>(thousand.tasks),
                thousand.seconds);
    EXPECT_LT(thousand.seconds, 10);
}
