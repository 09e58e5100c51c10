/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "gpt-numbers.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <tuple>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// A kind of communication.
struct Item
{
    std::string phase;
    Collective collective{Collective::ALL_REDUCE};
    Parallelism parallelism{Parallelism::NONE};
    std::vector<DeviceId> group;
    uint64_t bytes{0};

    bool operator<(const Item& o) const
    {
        return std::tie(phase, collective, parallelism, group, bytes) <
               std::tie(o.phase, o.collective, o.parallelism, o.group, o.bytes);
    }

    bool operator==(const Item& o) const
    {
        return !(*this < o) && !(o < *this);
    }
};

std::ostream&
operator<<(std::ostream& stream, const Item& item)
{
    stream << item.phase << " " << ToString(item.collective) << " " << ToString(item.parallelism)
           << " " << item.bytes << " B in {";
    for (DeviceId device : item.group)
    {
        stream << " " << device;
    }
    return stream << " }";
}

/// How often each communication is executed in an iteration.
using Inventory = std::map<Item, uint64_t>;

Inventory
TakeInventory(const ExecutionGraph& graph)
{
    Inventory inventory;
    for (const Task& task : graph.GetTasks())
    {
        if (task.kind == TaskKind::COMMUNICATION)
        {
            inventory[{graph.GetPhases()[task.phase].name,
                       task.collective,
                       task.parallelism,
                       graph.GetGroup(task.place),
                       task.bytes}] += graph.GetNInstances(task);
        }
    }
    return inventory;
}

/// Sizes in elements of the buckets of a stage under overlap, from Megatron-LM's rule.
std::vector<uint64_t>
FirstStageBuckets(const Numbers& n)
{
    const uint64_t h = n.h;
    const uint64_t t = n.t;
    std::vector<uint64_t> sizes;
    if (n.p == 1)
    {
        sizes = {h, h}; // final norm
    }
    for (uint64_t i = 0; i < n.l / n.p; ++i)
    {
        for (uint64_t size : {h,
                              4 * h * h / t,
                              4 * h / t,
                              4 * h * h / t,
                              h,
                              h,
                              h,
                              h * h / t,
                              3 * h / t,
                              3 * h * h / t,
                              h,
                              h})
        {
            sizes.push_back(size);
        }
    }
    sizes.push_back(n.s * h);
    sizes.push_back(n.v / t * h);
    const uint64_t limit = n.d > 40 ? n.d * 1000000 : 40000000;
    std::vector<uint64_t> buckets{0};
    for (uint64_t size : sizes)
    {
        if (buckets.back() >= limit)
        {
            buckets.push_back(0);
        }
        buckets.back() += size;
    }
    return buckets;
}

Inventory
ExpectInventory(const GptModel& model, const GptPlan& plan)
{
    const Numbers n = GetNumbers(model, plan);
    const uint64_t activation = 2 * n.b * n.s * n.h;
    const uint64_t g = plan.gradientType == DataType::FP32 ? 4 : 2;
    auto rank = [&](uint64_t tp, uint64_t dp, uint64_t stage) {
        return static_cast<DeviceId>(stage * n.t * n.d + dp * n.t + tp);
    };
    const Collective sum = Collective::ALL_REDUCE;
    const Collective send = Collective::SEND_RECV;
    Inventory inventory;
    for (uint64_t stage = 0; stage < n.p; ++stage)
    {
        for (uint64_t dp = 0; dp < n.d && n.t > 1; ++dp)
        {
            std::vector<DeviceId> group;
            for (uint64_t tp = 0; tp < n.t; ++tp)
            {
                group.push_back(rank(tp, dp, stage));
            }
            const uint64_t layers = n.l / n.p;
            const uint64_t again = plan.recompute == Recompute::FULL ? 2 * layers : 0;
            const uint64_t first = stage == 0 ? 1 : 0;
            const uint64_t last = stage == n.p - 1 ? 1 : 0;
            inventory[{"forward", sum, Parallelism::TENSOR, group, activation}] +=
                (2 * layers + first) * n.m;
            inventory[{"backward", sum, Parallelism::TENSOR, group, activation}] +=
                (2 * layers + again + last) * n.m;
            if (last)
            {
                inventory[{"forward", sum, Parallelism::TENSOR, group, 4 * n.b * n.s}] += 3 * n.m;
            }
        }
        for (uint64_t tp = 0; tp < n.t; ++tp)
        {
            std::vector<DeviceId> group;
            for (uint64_t dp = 0; dp < n.d; ++dp)
            {
                group.push_back(rank(tp, dp, stage));
                if (stage + 1 < n.p)
                {
                    const DeviceId here = group.back();
                    const DeviceId next = rank(tp, dp, stage + 1);
                    inventory[{"forward", send, Parallelism::PIPELINE, {here, next}, activation}] +=
                        n.m;
                    inventory
                        [{"backward", send, Parallelism::PIPELINE, {next, here}, activation}] +=
                        n.m;
                }
                if (stage == 0 && n.p > 1)
                {
                    inventory[{"gradients",
                               sum,
                               Parallelism::EMBEDDING,
                               {group.back(), rank(tp, dp, n.p - 1)},
                               g * n.v / n.t * n.h}] += 1;
                }
            }
            if (n.d > 1)
            {
                std::vector<uint64_t> buckets{StageParameters(n, stage)};
                if (plan.overlapGradientReduction && stage == 0)
                {
                    buckets = FirstStageBuckets(n);
                }
                for (uint64_t bucket : buckets)
                {
                    inventory[{"gradients", sum, Parallelism::DATA, group, g * bucket}] += 1;
                }
            }
        }
    }
    return inventory;
}

} // namespace

TEST(GptInventory, InventoryOfDefaultJob)
{
    Inventory inventory = TakeInventory(MakeGptGraph(FindGptModel("6.7B"), MakePlan(8, 1, 2, 8)));
    const Collective sum = Collective::ALL_REDUCE;
    // 2 per layer of 32 and the embedding, or the output layer, times 4; 2048 x 4096 x 2 B.
    Inventory expected;
    for (const std::vector<DeviceId>& group : {std::vector<DeviceId>{0, 1, 2, 3, 4, 5, 6, 7},
                                               std::vector<DeviceId>{8, 9, 10, 11, 12, 13, 14, 15}})
    {
        expected[{"forward", sum, Parallelism::TENSOR, group, 16777216}] = 260;
        expected[{"backward", sum, Parallelism::TENSOR, group, 16777216}] = 260;
        expected[{"forward", sum, Parallelism::TENSOR, group, 8192}] = 12;
    }
    // 32 (12 h^2 / 8 + 7 h / 8 + 6 h) + 6400 h + 2048 h + 2 h = 840818688 gradients of 4 B.
    for (DeviceId tp = 0; tp < 8; ++tp)
    {
        expected[{"gradients", sum, Parallelism::DATA, {tp, tp + 8}, 3363274752}] = 1;
    }
    EXPECT_EQ(inventory, expected);
}

TEST(GptInventory, InventoryFollowsFormula)
{
    for (const auto& [name, plan] : GetPlans())
    {
        SCOPED_TRACE(name + " TP " + std::to_string(plan.tensorParallel) + " PP " +
                     std::to_string(plan.pipelineParallel));
        const GptModel& model = FindGptModel(name);
        ExecutionGraph graph = MakeGptGraph(model, plan);
        EXPECT_EQ(TakeInventory(graph), ExpectInventory(model, plan));
        EXPECT_EQ(graph.GetNDevices(),
                  plan.tensorParallel * plan.pipelineParallel * plan.dataParallel);
        for (const std::vector<DeviceId>& group : graph.GetGroups())
        {
            EXPECT_GT(group.size(), 1u);
        }
    }
}

// 125M on one GPU per replica: 7087872 parameters a layer, 768 to 2359296 a tensor. The first
// bucket is the final norm, five layers, and of the sixth FC2 and FC1; and so on.

TEST(GptInventory, BucketsCloseAtFortyMillion)
{
    GptPlan plan = MakePlan(1, 1, 2, 2);
    plan.overlapGradientReduction = true;
    ExecutionGraph graph = MakeGptGraph(FindGptModel("125M"), plan);
    auto tasks = GetTasksOfDevice(graph, 0);
    const std::vector<uint64_t> sizes{40163328, 40164864, 44934144};
    // The last gradient of each bucket, and the next one, which it must not wait for.
    const std::vector<std::string> lasts{"layer6.fc1.weight-gradient",
                                         "layer0.fc2.weight-gradient",
                                         "embedding.backward"};
    const std::vector<std::string> nexts{"layer6.norm2.backward", "layer0.gelu.backward", ""};
    for (std::size_t i = 0; i < sizes.size(); ++i)
    {
        const TaskId id = tasks.at("gradients.bucket" + std::to_string(i) + ".all-reduce");
        EXPECT_EQ(graph.GetTask(id).bytes, 4 * sizes[i]);
        const std::set<TaskId> ancestors = GetAncestors(graph, id);
        EXPECT_TRUE(ancestors.count(tasks.at(lasts[i]))) << lasts[i];
        EXPECT_FALSE(!nexts[i].empty() && ancestors.count(tasks.at(nexts[i]))) << nexts[i];
        // Both replicas are waited for.
        const std::map<std::string, TaskId> others = GetTasksOfDevice(graph, 1);
        EXPECT_TRUE(ancestors.count(others.at(lasts[i]))) << lasts[i];
    }
    EXPECT_FALSE(tasks.count("gradients.bucket3.all-reduce"));
    EXPECT_EQ(sizes[0] + sizes[1] + sizes[2], 125262336u);

    plan.overlapGradientReduction = false;
    graph = MakeGptGraph(FindGptModel("125M"), plan);
    tasks = GetTasksOfDevice(graph, 0);
    const TaskId whole = tasks.at("gradients.bucket0.all-reduce");
    EXPECT_EQ(graph.GetTask(whole).bytes, 4 * 125262336u);
    EXPECT_TRUE(GetAncestors(graph, whole).count(tasks.at("embedding.backward")));
}

// Narayanan et al. 2021, equation (3): 96 B s l h^2 (1 + s / (6 h) + V / (16 l h)) with full
// recomputation; the part of the second forward pass is 24 B s l h^2 (1 + s / (6 h)).

TEST(GptInventory, LargeJob)
{
    GptPlan plan = MakePlan(8, 8, 16, 1536);
    plan.overlapGradientReduction = true;
    const GptModel& model = FindGptModel("175B");
    const ExecutionGraph graph = MakeGptGraph(model, plan);
    EXPECT_EQ(graph.GetNDevices(), 1024u);
    EXPECT_EQ(TakeInventory(graph), ExpectInventory(model, plan));
    EXPECT_LT(graph.GetNTasks(), 1024u * 12 * 64);
}
