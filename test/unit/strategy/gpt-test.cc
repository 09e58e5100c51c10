/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "gpt-oracle.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <ostream>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// What is expected here is worked out from the papers' formulas and from Megatron-LM's rules, by
// the code of this file alone: it must not call what it checks to learn what to expect.

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

/// A model and a plan in the letters of the papers.
struct Numbers
{
    uint64_t l{0};     //!< layers
    uint64_t h{0};     //!< hidden
    uint64_t a{0};     //!< heads
    uint64_t s{0};     //!< tokens of a sequence
    uint64_t v{0};     //!< padded vocabulary
    uint64_t t{0};     //!< tensor parallel
    uint64_t p{0};     //!< pipeline parallel
    uint64_t d{0};     //!< data parallel
    uint64_t batch{0}; //!< sequences
    uint64_t b{0};     //!< sequences of a micro-batch
    uint64_t m{0};     //!< micro-batches
};

Numbers
GetNumbers(const GptModel& model, const GptPlan& plan)
{
    Numbers n;
    n.l = model.layers;
    n.h = model.hidden;
    n.a = model.heads;
    n.s = model.sequenceLength;
    n.t = plan.tensorParallel;
    n.p = plan.pipelineParallel;
    n.d = plan.dataParallel;
    n.batch = plan.globalBatch;
    n.b = plan.microBatch;
    n.m = n.batch / n.b / n.d;
    n.v = (model.vocabulary / (128 * n.t) + (model.vocabulary % (128 * n.t) ? 1 : 0)) * 128 * n.t;
    return n;
}

/// Weights of a layer on one of t ranks: 12 h^2 / t and biases 7 h / t are split, 6 h are not.
uint64_t
LayerParameters(const Numbers& n)
{
    return (12 * n.h * n.h + 7 * n.h) / n.t + 6 * n.h;
}

uint64_t
StageParameters(const Numbers& n, uint64_t stage)
{
    uint64_t count = n.l / n.p * LayerParameters(n);
    if (stage == 0)
    {
        count += n.v / n.t * n.h + n.s * n.h;
    }
    if (stage == n.p - 1)
    {
        count += 2 * n.h;
    }
    if (stage == n.p - 1 && n.p > 1)
    {
        count += n.v / n.t * n.h;
    }
    return count;
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

GptPlan
MakePlan(uint32_t tp, uint32_t pp, uint32_t dp, uint32_t batch, uint32_t microBatch = 1)
{
    GptPlan plan;
    plan.tensorParallel = tp;
    plan.pipelineParallel = pp;
    plan.dataParallel = dp;
    plan.globalBatch = batch;
    plan.microBatch = microBatch;
    return plan;
}

std::string
GetError(const GptModel& model, const GptPlan& plan)
{
    try
    {
        MakeGptGraph(model, plan);
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
    return "no error";
}

/// The tasks of a device by name. Fails where two share one.
std::map<std::string, TaskId>
GetTasksOfDevice(const ExecutionGraph& graph, DeviceId device)
{
    std::map<std::string, TaskId> tasks;
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        std::vector<DeviceId> devices{task.place};
        if (task.kind == TaskKind::COMMUNICATION)
        {
            devices = graph.GetGroup(task.place);
        }
        if (std::find(devices.begin(), devices.end(), device) != devices.end())
        {
            EXPECT_TRUE(tasks.emplace(graph.GetName(task), id).second) << graph.GetName(task);
        }
    }
    return tasks;
}

/// Everything that a task waits for, directly or not.
std::set<TaskId>
GetAncestors(const ExecutionGraph& graph, TaskId id)
{
    std::set<TaskId> seen;
    std::vector<TaskId> open{id};
    while (!open.empty())
    {
        const TaskId task = open.back();
        open.pop_back();
        for (TaskId before : graph.GetDependencies(task))
        {
            if (seen.insert(before).second)
            {
                open.push_back(before);
            }
        }
    }
    return seen;
}

/// Plans that together turn every option on and off.
std::vector<std::pair<std::string, GptPlan>>
GetPlans()
{
    std::vector<std::pair<std::string, GptPlan>> plans{
        {"6.7B", MakePlan(8, 1, 2, 8)},
        {"125M", MakePlan(1, 1, 1, 2)},
        {"125M", MakePlan(1, 1, 2, 4, 2)},
        {"350M", MakePlan(2, 4, 2, 16)},
        {"1.3B", MakePlan(4, 2, 1, 6, 2)},
        {"2.7B", MakePlan(2, 2, 3, 12, 2)},
        {"125M", MakePlan(1, 4, 48, 96)},
        {"6.7B", MakePlan(2, 1, 2, 4)},
        {"13B", MakePlan(8, 2, 2, 8)},
    };
    plans[3].second.recompute = Recompute::SELECTIVE;
    plans[4].second.recompute = Recompute::FULL;
    plans[5].second.recompute = Recompute::FULL;
    plans[5].second.overlapGradientReduction = true;
    plans[5].second.gradientType = DataType::BF16;
    plans[6].second.overlapGradientReduction = true;
    plans[6].second.schedule = PipelineSchedule::GPIPE;
    plans[7].second.overlapGradientReduction = true;
    plans[7].second.dataType = DataType::FP8;
    plans[8].second.overlapGradientReduction = true;
    return plans;
}

} // namespace

TEST(GptTest, ParametersArePublishedOnes)
{
    // GPT-3, Brown et al. 2020, Table D.1, column "Params (M)"; three digits are given.
    const std::map<std::string, double> millions{{"125M", 125},
                                                 {"350M", 356},
                                                 {"760M", 760},
                                                 {"1.3B", 1320},
                                                 {"2.7B", 2650},
                                                 {"6.7B", 6660},
                                                 {"13B", 12850},
                                                 {"175B", 174600}};
    ASSERT_EQ(GetGptModels().size(), millions.size());
    for (const auto& [name, published] : millions)
    {
        const double count = CountParameters(FindGptModel(name), 50257);
        EXPECT_NEAR(count / 1e6 / published, 1, 0.004) << name;
    }
    // Exact counts: GPT-2 as released (124439808, 354823168, 774030080, 1557611200), and OPT, which
    // has GPT-3's shapes, 50272 words and 2050 positions.
    EXPECT_EQ(CountParameters({"", 12, 768, 12, 1024, 50257}, 50257), 124439808u);
    EXPECT_EQ(CountParameters({"", 24, 1024, 16, 1024, 50257}, 50257), 354823168u);
    EXPECT_EQ(CountParameters({"", 36, 1280, 20, 1024, 50257}, 50257), 774030080u);
    EXPECT_EQ(CountParameters({"", 48, 1600, 25, 1024, 50257}, 50257), 1557611200u);
    const std::map<std::string, uint64_t> opt{{"125M", 125239296},
                                              {"1.3B", 1315758080},
                                              {"2.7B", 2651596800},
                                              {"6.7B", 6658473984},
                                              {"13B", 12853473280}};
    for (const auto& [name, published] : opt)
    {
        GptModel model = FindGptModel(name);
        model.sequenceLength = 2050;
        EXPECT_EQ(CountParameters(model, 50272), published) << name;
    }
}

TEST(GptTest, ModelsAreConsistent)
{
    for (const GptModel& model : GetGptModels())
    {
        EXPECT_EQ(model.hidden % model.heads, 0u) << model.name;
        EXPECT_EQ(model.sequenceLength, 2048u);
        EXPECT_EQ(model.vocabulary, 50257u);
        EXPECT_EQ(&FindGptModel(model.name), &model);
    }
    EXPECT_EQ(FindGptModel("13B").hidden, 5120u);
    EXPECT_EQ(FindGptModel("1.3B").heads, 16u);
    EXPECT_EQ(PadGptVocabulary(50257, 1), 50304u);
    EXPECT_EQ(PadGptVocabulary(50257, 2), 50432u);
    EXPECT_EQ(PadGptVocabulary(50257, 8), 51200u);
    EXPECT_EQ(PadGptVocabulary(51200, 8), 51200u);
    for (Recompute value : {Recompute::NONE, Recompute::SELECTIVE, Recompute::FULL})
    {
        EXPECT_EQ(RecomputeFromString(ToString(value)), value);
    }
}

// GPT-3 6.7B, TP 8, DP 2, 4 micro-batches of one sequence, worked out by hand.
TEST(GptTest, InventoryOfDefaultJob)
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

TEST(GptTest, InventoryFollowsFormula)
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
TEST(GptTest, BucketsCloseAtFortyMillion)
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
TEST(GptTest, FlopsAreTheFormulas)
{
    for (auto [name, plan] : GetPlans())
    {
        SCOPED_TRACE(name);
        const GptModel& model = FindGptModel(name);
        const Numbers n = GetNumbers(model, plan);
        const double tokens = static_cast<double>(n.batch) * n.s;
        const double h = n.h;
        const double l = n.l;
        const double s = n.s;
        const double layers = 24 * tokens * l * h * h * (1 + s / (6 * h)); // one forward pass
        const double output = 2 * tokens * h * n.v;
        const double core = 4 * tokens * s * h * l;
        const double model3 = 96 * tokens * l * h * h * (1 + s / (6 * h) + n.v / (16 * l * h));
        EXPECT_NEAR(model3 / (4 * layers + 3 * output), 1, 1e-12);
        for (Recompute recompute : {Recompute::NONE, Recompute::SELECTIVE, Recompute::FULL})
        {
            plan.recompute = recompute;
            ExecutionGraph graph = MakeGptGraph(model, plan);
            std::map<std::string, double> products; // by phase: tasks of the tensor cores
            double others = 0;
            for (const Task& task : graph.GetTasks())
            {
                if (task.kind != TaskKind::COMPUTE)
                {
                    EXPECT_EQ(task.flops, 0);
                    continue;
                }
                EXPECT_GT(task.bytes, 0u);
                const double flops = task.flops * graph.GetNInstances(task);
                if (task.dataType == DataType::FP32)
                {
                    others += flops;
                }
                else
                {
                    products[graph.GetPhases()[task.phase].name] += flops;
                }
            }
            const double again = recompute == Recompute::FULL        ? layers
                                 : recompute == Recompute::SELECTIVE ? core
                                                                     : 0;
            EXPECT_NEAR(products["forward"] / (layers + output), 1, 1e-12);
            EXPECT_NEAR(products["backward"] / (2 * (layers + output) + again), 1, 1e-12);
            EXPECT_EQ(products.size(), 2u);
            const double sum = products["forward"] + products["backward"];
            if (recompute == Recompute::FULL)
            {
                EXPECT_NEAR(sum / model3, 1, 1e-12);
            }
            // Elementwise work and Adam: a few hundred operations per token, layer and element
            // against 72 h, plus those of Adam once.
            EXPECT_GT(others, 0);
            const double adam = 15.0 * n.d * n.t * (n.l * LayerParameters(n) + 3 * n.v * n.h);
            EXPECT_LT(others - adam, 0.01 * sum);
            EXPECT_NEAR(graph.GetFacts().modelFlopsPerIteration / (3 * (layers + output)),
                        1,
                        1e-12);
        }
    }
}

TEST(GptTest, FactsAreThePlans)
{
    const WorkloadFacts facts = MakeGptGraph(FindGptModel("6.7B"), MakePlan(8, 1, 2, 8)).GetFacts();
    EXPECT_EQ(facts.name, "GPT-3 6.7B");
    EXPECT_EQ(facts.samplesPerIteration, 8u);
    EXPECT_EQ(facts.tokensPerIteration, 16384u);
    // 72 * 16384 * 32 * 4096^2 (1 + 2048 / (6 * 4096) + 51200 / (12 * 32 * 4096)), in integers
    // 16384 (72 * 32 * 4096^2 + 12 * 32 * 2048 * 4096 + 6 * 4096 * 51200)
    EXPECT_EQ(facts.modelFlopsPerIteration, 706711098753024.0);
}

// Every operator of a layer and of the ends of the model on one GPU of 6.7B with TP 8, by hand:
// E = 2048 * 4096 elements, E/8 on a shard, 4 * 2048^2 elements of the s x s matrices, 2048 * 6400
// logits; 2 B per element and 4 B per gradient.
TEST(GptTest, OperatorsOfDefaultJob)
{
    const ExecutionGraph graph = MakeGptGraph(FindGptModel("6.7B"), MakePlan(8, 1, 1, 1));
    const auto tasks = GetTasksOfDevice(graph, 5);
    const uint64_t e = 2048 * 4096;
    const uint64_t w = 4096 * 4096 / 8; // weights of an h x h product
    const uint64_t scores = 4 * 2048 * 2048;
    const uint64_t logits = 2048 * 6400;
    const uint64_t outputWeights = 4096 * 6400;
    const double square = 2.0 * 2048 * 4096 * 512; // FLOPs of an h x h product
    const double core = 2.0 * 2.0 * 2048 * 2048 * 512;
    const double output = 2.0 * 2048 * 4096 * 6400;

    struct Expected
    {
        std::string name;
        DataType type;
        double flops;
        uint64_t bytes;
    };

    const DataType fp32 = DataType::FP32;
    const DataType bf16 = DataType::BF16;
    const std::vector<Expected> operators{
        {"layer7.norm1", fp32, 8.0 * e, 4 * e},
        {"layer7.qkv", bf16, 3 * square, 2 * (e + 3 * e / 8 + 3 * w)},
        {"layer7.attention", bf16, core, 2 * (3 * e / 8 + e / 8) + 13 * scores},
        {"layer7.projection", bf16, square, 2 * (e / 8 + e + w)},
        {"layer7.bias-dropout-add1", fp32, 4.0 * e, 7 * e},
        {"layer7.norm2", fp32, 8.0 * e, 4 * e},
        {"layer7.fc1", bf16, 4 * square, 2 * (e + e / 2 + 4 * w)},
        {"layer7.gelu", fp32, 4.5 * e, 2 * (e / 2 + e / 2)},
        {"layer7.fc2", bf16, 4 * square, 2 * (e / 2 + e + 4 * w)},
        {"layer7.bias-dropout-add2", fp32, 4.0 * e, 7 * e},
        {"layer7.bias-dropout-add2.backward", fp32, 2.0 * e, 5 * e},
        {"layer7.fc2.input-gradient", bf16, 4 * square, 2 * (e / 2 + e + 4 * w)},
        {"layer7.fc2.weight-gradient", bf16, 4 * square, 2 * (e / 2 + e) + 8 * 4 * w},
        {"layer7.gelu.backward", fp32, 8.0 * e, 2 * (e / 2 + e / 2 + e / 2)},
        {"layer7.fc1.input-gradient", bf16, 4 * square, 2 * (e / 2 + e + 4 * w)},
        {"layer7.fc1.weight-gradient", bf16, 4 * square, 2 * (e / 2 + e) + 8 * 4 * w},
        {"layer7.norm2.backward", fp32, 14.0 * e, 8 * e},
        {"layer7.bias-dropout-add1.backward", fp32, 2.0 * e, 5 * e},
        {"layer7.projection.input-gradient", bf16, square, 2 * (e / 8 + e + w)},
        {"layer7.projection.weight-gradient", bf16, square, 2 * (e / 8 + e) + 8 * w},
        {"layer7.attention.backward", bf16, 2 * core, 2 * (8 * e / 8) + 19 * scores},
        {"layer7.qkv.input-gradient", bf16, 3 * square, 2 * (e + 3 * e / 8 + 3 * w)},
        {"layer7.qkv.weight-gradient", bf16, 3 * square, 2 * (e + 3 * e / 8) + 8 * 3 * w},
        {"layer7.norm1.backward", fp32, 14.0 * e, 8 * e},
        {"output", bf16, output, 2 * (e + logits + outputWeights)},
        {"output.input-gradient", bf16, output, 2 * (e + logits + outputWeights)},
        {"output.weight-gradient", bf16, output, 2 * (e + logits) + 8 * outputWeights},
        // Gradient 4 B, three states of 4 B read and written, parameter 2 B.
        {"adam", fp32, 15.0 * 840818688, 30 * uint64_t{840818688}},
    };
    for (const Expected& expected : operators)
    {
        SCOPED_TRACE(expected.name);
        const Task& task = graph.GetTask(tasks.at(expected.name));
        EXPECT_EQ(task.dataType, expected.type);
        EXPECT_EQ(task.flops, expected.flops);
        EXPECT_EQ(task.bytes, expected.bytes);
        EXPECT_EQ(task.durationPs, -1);
        EXPECT_EQ(graph.GetStreams()[task.stream], "compute");
    }
    // Memory beside the layers (Korthikanti et al., section 4.3).
    const std::map<std::string, uint64_t> tensors{{"embedding.mask", e},
                                                  {"final-norm.input", 2 * e},
                                                  {"output.input", 2 * e},
                                                  {"logits", 2 * logits},
                                                  {"loss.softmax", 4 * logits},
                                                  {"logits.gradient", 2 * logits}};
    for (const auto& [name, bytes] : tensors)
    {
        EXPECT_EQ(graph.GetTask(tasks.at(name)).kind, TaskKind::MEMORY) << name;
        EXPECT_EQ(graph.GetTask(tasks.at(name)).bytes, bytes) << name;
    }
}

// Korthikanti et al. 2022, Table 2: bytes of activations per layer are sbh (10 + 24/t + 5as/(ht)),
// sbh (10 + 24/t) with selective and 2 sbh with full recomputation.
TEST(GptTest, ActivationsAreThePapers)
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
TEST(GptTest, ActivationsOf175B)
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

TEST(GptTest, PersistentMemory)
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
TEST(GptTest, TensorsHaveProducersAndConsumers)
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
TEST(GptTest, InputGradientOverlapsWeightGradient)
{
    const ExecutionGraph graph = MakeGptGraph(FindGptModel("125M"), MakePlan(2, 1, 1, 2));
    const auto tasks = GetTasksOfDevice(graph, 1);
    const std::vector<std::pair<std::string, std::string>> pairs{
        {"layer3.fc1", "layer3.norm2.backward"},
        {"layer3.qkv", "layer3.norm1.backward"},
        {"output", "final-norm.backward"}};
    for (const auto& [linear, norm] : pairs)
    {
        const TaskId input = tasks.at(linear + ".input-gradient");
        const TaskId reduce = tasks.at(linear + ".input-gradient.all-reduce");
        const TaskId weight = tasks.at(linear + ".weight-gradient");
        EXPECT_FALSE(GetAncestors(graph, reduce).count(weight));
        EXPECT_FALSE(GetAncestors(graph, weight).count(reduce));
        EXPECT_TRUE(GetAncestors(graph, reduce).count(input));
        EXPECT_TRUE(GetAncestors(graph, weight).count(input));
        const auto before = GetAncestors(graph, tasks.at(norm));
        EXPECT_TRUE(before.count(reduce) && before.count(weight)) << norm;
    }
    // A row-parallel output is reduced before it is used.
    const auto before = GetAncestors(graph, tasks.at("layer3.bias-dropout-add1"));
    EXPECT_TRUE(before.count(tasks.at("layer3.projection.all-reduce")));
}

TEST(GptTest, StagesWaitForEachOther)
{
    for (Recompute recompute : {Recompute::NONE, Recompute::FULL})
    {
        GptPlan plan = MakePlan(1, 3, 1, 6);
        plan.recompute = recompute;
        const ExecutionGraph graph = MakeGptGraph(FindGptModel("125M"), plan);
        const auto first = GetTasksOfDevice(graph, 0);
        const auto middle = GetTasksOfDevice(graph, 1);
        const auto last = GetTasksOfDevice(graph, 2);
        const TaskId send = middle.at("stage0.activation.send");
        EXPECT_TRUE(GetAncestors(graph, send).count(first.at("layer3.bias-dropout-add2")));
        EXPECT_TRUE(GetAncestors(graph, middle.at("layer4.norm1")).count(send));
        const TaskId back = middle.at("stage2.gradient.send");
        EXPECT_TRUE(GetAncestors(graph, back).count(last.at("layer8.norm1.backward")));
        EXPECT_TRUE(
            GetAncestors(graph, middle.at("layer7.bias-dropout-add2.backward")).count(back));
        // Nothing at the receiver delays a transfer.
        for (TaskId id : {send, back})
        {
            for (TaskId before : graph.GetDependencies(id))
            {
                EXPECT_EQ(graph.GetTask(before).place, id == send ? 0u : 2u);
            }
        }
        if (recompute == Recompute::FULL)
        {
            // Recomputation begins when the gradient is there, not before.
            EXPECT_TRUE(GetAncestors(graph, middle.at("layer7.norm1.recompute")).count(back));
        }
        // The optimizer comes last, after the tied embedding.
        const auto before = GetAncestors(graph, first.at("adam"));
        EXPECT_TRUE(before.count(first.at("embedding.backward")));
        EXPECT_TRUE(before.count(first.at("embedding.word.gradient.all-reduce")));
        EXPECT_TRUE(
            GetAncestors(graph, middle.at("adam")).count(middle.at("layer4.norm1.backward")));
    }
}

// All work of a device hangs together: only the last tasks of an iteration lead to nothing.
TEST(GptTest, NothingIsLeftOver)
{
    for (const auto& [name, plan] : GetPlans())
    {
        const ExecutionGraph graph = MakeGptGraph(FindGptModel(name), plan);
        std::vector<bool> used(graph.GetNTasks(), false);
        for (TaskId id = 0; id < graph.GetNTasks(); ++id)
        {
            for (TaskId before : graph.GetDependencies(id))
            {
                used[before] = true;
            }
        }
        for (TaskId id = 0; id < graph.GetNTasks(); ++id)
        {
            const Task& task = graph.GetTask(id);
            EXPECT_TRUE(used[id] || task.persistent || graph.GetName(task) == "adam")
                << graph.GetName(task);
        }
    }
}

TEST(GptTest, SchedulesAndGates)
{
    for (PipelineSchedule schedule :
         {PipelineSchedule::GPIPE, PipelineSchedule::ONE_FORWARD_ONE_BACKWARD})
    {
        GptPlan plan = MakePlan(2, 4, 2, 6);
        plan.schedule = schedule;
        const ExecutionGraph graph = MakeGptGraph(FindGptModel("125M"), plan);
        ASSERT_EQ(graph.GetGates().size(), 16u);
        ASSERT_EQ(graph.GetPhases().size(), 4u);
        for (const MicroBatchGate& gate : graph.GetGates())
        {
            EXPECT_EQ(graph.GetPhases()[gate.acquire].name, "forward");
            EXPECT_EQ(graph.GetPhases()[gate.release].name, "backward");
            // Three micro-batches on four stages: DistSim's min(m, p - s).
            const std::vector<uint32_t> limits{3, 3, 2, 1};
            const bool gpipe = schedule == PipelineSchedule::GPIPE;
            EXPECT_EQ(gate.limit, gpipe ? 3 : limits[gate.device / 4]);
            std::string order;
            for (const ScheduleEntry& entry : graph.GetSchedule(gate.device))
            {
                order += graph.GetPhases()[entry.phase].name[0] + std::to_string(entry.microBatch);
            }
            const std::vector<std::string> orders{"f0f1f2b0b1b2g0o0",
                                                  "f0f1f2b0b1b2g0o0",
                                                  "f0f1b0f2b1b2g0o0",
                                                  "f0b0f1b1f2b2g0o0"};
            EXPECT_EQ(order, gpipe ? orders[0] : orders[gate.device / 4]);
        }
    }
}

// A GPT-3 175B job on 1024 GPUs.
TEST(GptTest, LargeJob)
{
    GptPlan plan = MakePlan(8, 8, 16, 1536);
    plan.overlapGradientReduction = true;
    const GptModel& model = FindGptModel("175B");
    const ExecutionGraph graph = MakeGptGraph(model, plan);
    EXPECT_EQ(graph.GetNDevices(), 1024u);
    EXPECT_EQ(TakeInventory(graph), ExpectInventory(model, plan));
    EXPECT_LT(graph.GetNTasks(), 1024u * 12 * 64);
}

TEST(GptTest, BadPlansSayWhatIsWrong)
{
    const GptModel& model = FindGptModel("6.7B");
    auto expect = [&](const GptPlan& plan, const std::string& text) {
        EXPECT_EQ(GetError(model, plan), "GPT-3 6.7B: " + text);
    };
    expect(MakePlan(3, 1, 1, 1),
           "tensor-parallel size 3 does not divide the 32 attention heads, choose a divisor of 32");
    expect(
        MakePlan(64, 1, 1, 1),
        "tensor-parallel size 64 does not divide the 32 attention heads, choose a divisor of 32");
    expect(MakePlan(1, 5, 1, 1),
           "pipeline-parallel size 5 does not divide the 32 layers, choose a divisor of 32");
    expect(MakePlan(1, 1, 4, 10),
           "global batch 10 is not a multiple of 4 = micro-batch 1 x data-parallel size 4");
    expect(MakePlan(1, 1, 1, 3, 2),
           "global batch 3 is not a multiple of 2 = micro-batch 2 x data-parallel size 1");
    expect(MakePlan(1, 1, 4, 2, 4294967295),
           "global batch 2 is not a multiple of 17179869180 = micro-batch 4294967295 x "
           "data-parallel size 4");
    expect(MakePlan(0, 1, 1, 1), "the tensor-parallel size is 0, must be at least 1");
    expect(MakePlan(1, 0, 1, 1), "the pipeline-parallel size is 0, must be at least 1");
    expect(MakePlan(1, 1, 0, 1), "the data-parallel size is 0, must be at least 1");
    expect(MakePlan(1, 1, 1, 0), "the global batch is 0, must be at least 1");
    expect(MakePlan(1, 1, 1, 1, 0), "the micro-batch is 0, must be at least 1");
    expect(MakePlan(32, 32, 1073741824, 1073741824),
           "tensor-parallel size 32 x pipeline-parallel size 32 x data-parallel size 1073741824 "
           "needs more than the 1048576 devices that a graph can have, choose smaller sizes");
    expect(MakePlan(1, 1, 1, 1048577),
           "1048577 micro-batches are more than the 1048576 that a graph can have, choose a larger "
           "micro-batch");
    EXPECT_EQ(GetError(FindGptModel("175B"), MakePlan(8, 1, 131072, 131072)),
              "GPT-3 175B: tensor-parallel size 8 x pipeline-parallel size 1 x data-parallel size "
              "131072 needs up to 11086594048 tasks, more than the 4294967295 that a graph can "
              "have, choose smaller sizes");

    GptPlan plan = MakePlan(1, 1, 1, 1);
    plan.dataType = DataType::TF32;
    expect(plan, "data type tf32 is none of mixed precision, choose bf16, fp16 or fp8");
    plan.dataType = DataType::BF16;
    plan.gradientType = DataType::FP8;
    expect(plan, "gradients cannot be accumulated in fp8, choose fp32, bf16 or fp16");

    GptModel odd = model;
    odd.name = "odd";
    odd.hidden = 4100;
    EXPECT_EQ(GetError(odd, MakePlan(1, 1, 1, 1)),
              "GPT-3 odd: 32 heads do not divide the hidden size 4100");
    odd.hidden = 0;
    EXPECT_EQ(GetError(odd, MakePlan(1, 1, 1, 1)),
              "GPT-3 odd: the hidden size of the model is 0, must be at least 1");
    odd = model;
    odd.sequenceLength = 4294967295;
    EXPECT_EQ(GetError(odd, MakePlan(1, 1, 1, 1)),
              "GPT-3 6.7B: micro-batch 1 on this model needs more bytes than 63 bits can count, "
              "choose a smaller one");

    try
    {
        FindGptModel("7B");
        FAIL() << "7B is no GPT-3";
    }
    catch (const std::invalid_argument& error)
    {
        EXPECT_STREQ(error.what(),
                     "unknown GPT-3 model \"7B\": choose one of 125M, 350M, 760M, 1.3B, 2.7B, "
                     "6.7B, 13B, 175B");
    }
    EXPECT_THROW(RecomputeFromString("some"), std::invalid_argument);
}
