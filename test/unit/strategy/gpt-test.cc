/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../error-of.h"
#include "gpt-numbers.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace ns3::proteus;

namespace
{

std::string
GetError(const GptModel& model, const GptPlan& plan)
{
    return ns3::proteus::ErrorOf([&] { MakeGptGraph(model, plan); });
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
