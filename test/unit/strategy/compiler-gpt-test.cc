/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "gpt-numbers.h"

#include "ns3/proteus-compiler.h"
#include "ns3/proteus-model-json.h"
#include "ns3/proteus-parallel-plan.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// The hand-made GPT-3 graph of MakeGptGraph() is the oracle of the compiler: the same counts,
// groups and bytes of communication, and the same products.

using namespace ns3::proteus;

namespace
{

using Key = std::tuple<std::string, Collective, Parallelism, std::vector<DeviceId>, uint64_t>;
using Counts = std::map<Key, uint64_t>;

Counts
CountCommunication(const ExecutionGraph& graph)
{
    Counts counts;
    for (const Task& task : graph.GetTasks())
    {
        if (task.kind == TaskKind::COMMUNICATION)
        {
            counts[{graph.GetPhases()[task.phase].name,
                    task.collective,
                    task.parallelism,
                    graph.GetGroup(task.place),
                    task.bytes}] += graph.GetNInstances(task);
        }
    }
    return counts;
}

/// FLOPs of the tensor cores by phase and device.
std::map<std::pair<std::string, DeviceId>, double>
CountProducts(const ExecutionGraph& graph)
{
    std::map<std::pair<std::string, DeviceId>, double> flops;
    for (const Task& task : graph.GetTasks())
    {
        if (task.kind == TaskKind::COMPUTE && task.dataType != DataType::FP32)
        {
            flops[{graph.GetPhases()[task.phase].name, task.place}] +=
                task.flops * graph.GetNInstances(task);
        }
    }
    return flops;
}

/// Bytes that kernels move, by phase and device.
std::map<std::pair<std::string, DeviceId>, double>
CountTraffic(const ExecutionGraph& graph)
{
    std::map<std::pair<std::string, DeviceId>, double> bytes;
    for (const Task& task : graph.GetTasks())
    {
        if (task.kind == TaskKind::COMPUTE)
        {
            bytes[{graph.GetPhases()[task.phase].name, task.place}] +=
                static_cast<double>(task.bytes);
        }
    }
    return bytes;
}

/// Bytes that are kept from the forward pass for the backward pass, by device.
std::vector<uint64_t>
CountKept(const ExecutionGraph& graph)
{
    auto phase = [&](TaskId id) { return graph.GetPhases()[graph.GetTask(id).phase].name; };
    std::vector<bool> isKept(graph.GetNTasks());
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        for (const TaskId before : graph.GetDependencies(id))
        {
            if (phase(id) == "backward" && phase(before) == "forward")
            {
                isKept[before] = true;
            }
        }
    }
    std::vector<uint64_t> bytes(graph.GetNDevices());
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        if (task.kind == TaskKind::MEMORY && isKept[id])
        {
            bytes[task.place] += task.bytes;
        }
    }
    return bytes;
}

/// Persistent bytes by device and name.
std::map<std::pair<DeviceId, std::string>, uint64_t>
CountPersistent(const ExecutionGraph& graph)
{
    std::map<std::pair<DeviceId, std::string>, uint64_t> bytes;
    for (const Task& task : graph.GetTasks())
    {
        if (task.kind == TaskKind::MEMORY && task.persistent)
        {
            bytes[{task.place, graph.GetName(task)}] += task.bytes;
        }
    }
    return bytes;
}

std::string
Show(const Counts& all, const Counts& without)
{
    std::string text;
    for (const auto& [key, count] : all)
    {
        const auto found = without.find(key);
        if (found == without.end() || found->second != count)
        {
            text += std::get<0>(key) + " " + ToString(std::get<1>(key)) + " " +
                    ToString(std::get<2>(key)) + " " + std::to_string(std::get<4>(key)) + " x" +
                    std::to_string(count) + " in";
            for (const DeviceId device : std::get<3>(key))
            {
                text += " " + std::to_string(device);
            }
            text += "\n";
        }
    }
    return text;
}

ParallelPlan
ToPlan(const GptPlan& gpt)
{
    ParallelPlan plan;
    plan.tensorParallel = gpt.tensorParallel;
    plan.pipelineParallel = gpt.pipelineParallel;
    plan.dataParallel = gpt.dataParallel;
    plan.globalBatch = gpt.globalBatch;
    plan.microBatch = gpt.microBatch;
    plan.recompute = gpt.recompute == Recompute::NONE        ? RecomputePlan::NONE
                     : gpt.recompute == Recompute::SELECTIVE ? RecomputePlan::SELECTIVE
                                                             : RecomputePlan::FULL;
    plan.schedule.kind = gpt.schedule == PipelineSchedule::GPIPE
                             ? ScheduleKind::GPIPE
                             : ScheduleKind::ONE_FORWARD_ONE_BACKWARD;
    plan.gradients.policy =
        gpt.overlapGradientReduction ? BucketPolicy::MEGATRON : BucketPolicy::WHOLE;
    plan.gradients.isInPlace = true;
    plan.precision.compute = gpt.dataType;
    plan.precision.gradient = gpt.gradientType;
    return plan;
}

ExecutionGraph
Compile(const std::string& name, const GptPlan& gpt)
{
    std::string file = name;
    std::transform(file.begin(), file.end(), file.begin(), [](unsigned char c) {
        return static_cast<char>(std::tolower(c));
    });
    const ParallelPlan plan = ToPlan(gpt);
    const Model model =
        LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/gpt3-" + file + ".json",
                  GetModelVariables(plan));
    return CompileModel(model, ExpandPlan(model, plan));
}

/// What is kept from the forward pass, and what is always there. The oracle has a buffer for what
/// is received beside the tensor that keeps it, and knows no data.
void
CompareMemory(const ExecutionGraph& graph, const ExecutionGraph& oracle)
{
    EXPECT_EQ(CountKept(graph), CountKept(oracle));
    const auto persistent = CountPersistent(graph);
    for (const auto& [key, bytes] : CountPersistent(oracle))
    {
        if (key.second.rfind("receive-buffer", 0) != 0)
        {
            EXPECT_EQ(persistent.at(key), bytes) << key.first << " " << key.second;
        }
    }
}

/// Traffic of the device memory by phase. The two count the embedding's gradients and the final
/// norm, which has no residual, in different ways: that shows where a stage has little else.
void
CompareTraffic(const ExecutionGraph& graph, const ExecutionGraph& oracle)
{
    const auto traffic = CountTraffic(graph);
    for (const auto& [key, bytes] : CountTraffic(oracle))
    {
        EXPECT_NEAR(traffic.at(key) / bytes, 1, 0.05) << key.first << " " << key.second;
    }
}

void
Compare(const std::string& name, const GptPlan& plan)
{
    SCOPED_TRACE(name + " TP " + std::to_string(plan.tensorParallel) + " PP " +
                 std::to_string(plan.pipelineParallel) + " DP " +
                 std::to_string(plan.dataParallel) + " " + ToString(plan.recompute));
    const ExecutionGraph oracle = MakeGptGraph(FindGptModel(name), plan);
    const ExecutionGraph graph = Compile(name, plan);
    const Counts expected = CountCommunication(oracle);
    const Counts counts = CountCommunication(graph);
    EXPECT_EQ(expected.empty(), oracle.GetNDevices() == 1);
    EXPECT_EQ(Show(expected, counts), "") << "missing";
    EXPECT_EQ(Show(counts, expected), "") << "too many";
    EXPECT_EQ(graph.GetNDevices(), oracle.GetNDevices());

    const auto products = CountProducts(oracle);
    const auto compiled = CountProducts(graph);
    ASSERT_EQ(products.size(), compiled.size());
    for (const auto& [key, flops] : products)
    {
        EXPECT_NEAR(compiled.at(key) / flops, 1, 1e-12) << key.first << " " << key.second;
    }
    EXPECT_NEAR(graph.GetFacts().modelFlopsPerIteration / oracle.GetFacts().modelFlopsPerIteration,
                1,
                1e-12);
    EXPECT_EQ(graph.GetFacts().tokensPerIteration, oracle.GetFacts().tokensPerIteration);
    EXPECT_EQ(graph.GetFacts().samplesPerIteration, oracle.GetFacts().samplesPerIteration);
    for (DeviceId device = 0; device < graph.GetNDevices(); ++device)
    {
        EXPECT_EQ(graph.GetSchedule(device), oracle.GetSchedule(device));
    }
    EXPECT_EQ(graph.GetGates().size(), oracle.GetGates().size());
    CompareMemory(graph, oracle);
    CompareTraffic(graph, oracle);
}

} // namespace

TEST(CompiledGpt, AgreesWithTheHandMadeGraph)
{
    std::vector<std::pair<std::string, GptPlan>> plans = GetPlans();
    plans.emplace_back("760M", MakePlan(16, 3, 1, 5));
    plans.emplace_back("175B", MakePlan(8, 8, 2, 16));
    plans.emplace_back("175B", MakePlan(8, 8, 16, 128)); // 1,024 GPUs
    plans[10].second.recompute = Recompute::FULL;
    for (const auto& [name, plan] : plans)
    {
        Compare(name, plan);
    }
}

// All ways to share 12 heads and 12 layers, the other choices in turn.
TEST(CompiledGpt, AgreesForEveryWayToShareAModel)
{
    uint32_t n = 0;
    for (const uint32_t tp : {1u, 2u, 3u, 4u, 6u, 12u})
    {
        for (const uint32_t pp : {1u, 2u, 3u, 4u, 6u, 12u})
        {
            for (const uint32_t dp : {1u, 3u})
            {
                const uint32_t microBatch = 1 + n % 2;
                GptPlan plan = MakePlan(tp, pp, dp, dp * microBatch * (1 + n % 5), microBatch);
                plan.recompute = static_cast<Recompute>(n % 3);
                plan.schedule = n / 2 % 2 == 0 ? PipelineSchedule::GPIPE
                                               : PipelineSchedule::ONE_FORWARD_ONE_BACKWARD;
                plan.overlapGradientReduction = n / 3 % 2 == 0;
                plan.dataType = n % 4 == 0 ? DataType::FP8 : DataType::FP16;
                plan.gradientType = n % 7 == 0 ? DataType::FP16 : DataType::FP32;
                Compare("125M", plan);
                ++n;
            }
        }
    }
}
