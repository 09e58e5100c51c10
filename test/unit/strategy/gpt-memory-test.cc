/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "gpt-numbers.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

using namespace ns3::proteus;

TEST(GptMemory, ActivationsAreThePapers)
{
    for (const char* name : {"125M", "6.7B"})
    {
        const GptModel& model = FindGptModel(name);
        for (uint32_t t : {1u, 2u, 4u})
        {
            for (uint32_t b : {1u, 2u})
            {
                for (Recompute recompute : {Recompute::NONE, Recompute::SELECTIVE, Recompute::FULL})
                {
                    GptPlan plan = MakePlan(t, 2, 1, 4 * b, b);
                    plan.recompute = recompute;
                    const ExecutionGraph graph = MakeGptGraph(model, plan);
                    const uint64_t sbh = uint64_t{2048} * b * model.hidden;
                    const uint64_t scores = uint64_t{5} * model.heads * 2048 * 2048 * b / t;
                    const uint64_t kept =
                        recompute == Recompute::NONE        ? 10 * sbh + 24 * sbh / t + scores
                        : recompute == Recompute::SELECTIVE ? 10 * sbh + 24 * sbh / t
                                                            : 2 * sbh;
                    // What the backward pass makes again and did not keep.
                    const uint64_t again = 10 * sbh + 24 * sbh / t + scores - kept;
                    std::map<std::string, std::map<DeviceId, uint64_t>> bytes; // phase.layer
                    for (const Task& task : graph.GetTasks())
                    {
                        const std::string& taskName = graph.GetName(task);
                        if (task.kind == TaskKind::MEMORY && taskName.rfind("layer", 0) == 0)
                        {
                            EXPECT_FALSE(task.persistent);
                            bytes[graph.GetPhases()[task.phase].name + "." +
                                  taskName.substr(0, taskName.find('.'))][task.place] += task.bytes;
                        }
                    }
                    for (uint32_t layer = 0; layer < model.layers; ++layer)
                    {
                        const std::string key = ".layer" + std::to_string(layer);
                        const DeviceId first = layer < model.layers / 2 ? 0 : t;
                        EXPECT_EQ(bytes["forward" + key].size(), t);
                        EXPECT_EQ(bytes["backward" + key].size(), again > 0 ? t : 0);
                        for (DeviceId device = first; device < first + t; ++device)
                        {
                            EXPECT_EQ(bytes["forward" + key][device], kept);
                            EXPECT_EQ(bytes["backward" + key][device], again);
                        }
                    }
                }
            }
        }
    }
}

// The paper's 175B with t = 8 and b = 1: sbh = 25165824, 5 a s / h = 80, so 23, 13 and 2 sbh.

TEST(GptMemory, ActivationsOf175B)
{
    const std::map<Recompute, uint64_t> expected{{Recompute::NONE, 578813952},
                                                 {Recompute::SELECTIVE, 327155712},
                                                 {Recompute::FULL, 50331648}};
    for (const auto& [recompute, bytes] : expected)
    {
        GptPlan plan = MakePlan(8, 8, 1, 8);
        plan.recompute = recompute;
        const ExecutionGraph graph = MakeGptGraph(FindGptModel("175B"), plan);
        uint64_t sum = 0;
        for (const Task& task : graph.GetTasks())
        {
            if (task.kind == TaskKind::MEMORY && graph.GetPhases()[task.phase].name == "forward" &&
                task.place == 9 && graph.GetName(task).rfind("layer13.", 0) == 0)
            {
                sum += task.bytes;
            }
        }
        EXPECT_EQ(sum, bytes) << ToString(recompute);
    }
}

TEST(GptMemory, PersistentMemory)
{
    for (const auto& [name, plan] : GetPlans())
    {
        SCOPED_TRACE(name);
        const GptModel& model = FindGptModel(name);
        const Numbers n = GetNumbers(model, plan);
        const ExecutionGraph graph = MakeGptGraph(model, plan);
        const uint64_t g = plan.gradientType == DataType::FP32 ? 4 : 2;
        std::vector<std::map<std::string, uint64_t>> bytes(graph.GetNDevices());
        for (const Task& task : graph.GetTasks())
        {
            if (task.kind == TaskKind::MEMORY && task.persistent)
            {
                EXPECT_EQ(graph.GetNInstances(task), 1u);
                bytes[task.place][graph.GetName(task)] += task.bytes;
            }
        }
        for (DeviceId device = 0; device < graph.GetNDevices(); ++device)
        {
            const uint64_t stage = device / (n.t * n.d);
            const uint64_t count = StageParameters(n, stage);
            std::map<std::string, uint64_t> expected{{"parameters", 2 * count},
                                                     {"gradients", g * count},
                                                     {"optimizer-state", 12 * count}};
            if (stage > 0)
            {
                expected["receive-buffer.activation"] = 2 * n.b * n.s * n.h;
            }
            if (stage + 1 < n.p)
            {
                expected["receive-buffer.gradient"] = 2 * n.b * n.s * n.h;
            }
            EXPECT_EQ(bytes[device], expected) << "device " << device;
        }
        if (n.t == 1 && n.p == 1)
        {
            EXPECT_EQ(bytes[0]["parameters"], 2 * CountParameters(model, n.v));
        }
    }
}

// Every kept tensor is used in the backward phase, so that counting references frees it there, and
// what is recomputed is used after it is made.

TEST(GptMemory, TensorsHaveProducersAndConsumers)
{
    for (Recompute recompute : {Recompute::NONE, Recompute::SELECTIVE, Recompute::FULL})
    {
        GptPlan plan = MakePlan(2, 2, 1, 4);
        plan.recompute = recompute;
        const ExecutionGraph graph = MakeGptGraph(FindGptModel("125M"), plan);
        std::vector<std::vector<TaskId>> consumers(graph.GetNTasks());
        for (TaskId id = 0; id < graph.GetNTasks(); ++id)
        {
            for (TaskId before : graph.GetDependencies(id))
            {
                consumers[before].push_back(id);
            }
        }
        for (TaskId id = 0; id < graph.GetNTasks(); ++id)
        {
            const Task& task = graph.GetTask(id);
            if (task.kind != TaskKind::MEMORY || task.persistent)
            {
                continue;
            }
            const std::string& name = graph.GetName(task);
            ASSERT_EQ(graph.GetDependencies(id).size(), 1u) << name;
            const Task& producer = graph.GetTask(*graph.GetDependencies(id).begin());
            EXPECT_EQ(producer.kind, TaskKind::COMPUTE) << name;
            EXPECT_EQ(producer.place, task.place) << name;
            EXPECT_EQ(producer.phase, task.phase) << name;
            ASSERT_FALSE(consumers[id].empty()) << name;
            const bool brief = name == "logits" || name == "stage0.activation";
            for (TaskId consumer : consumers[id])
            {
                EXPECT_EQ(graph.GetPhases()[graph.GetTask(consumer).phase].name,
                          brief ? "forward" : "backward")
                    << name;
            }
        }
    }
}

// Megatron-LM's asynchronous all-reduce: neither waits for the other, and the norm waits for both.
