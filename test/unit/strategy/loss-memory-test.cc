/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-compile.h"
#include "ns3/proteus-framework-json.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-inventory.h"
#include "ns3/proteus-model-json.h"
#include "ns3/proteus-strategy-json.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <string>

using namespace ns3::proteus;

namespace
{

/// @return memory of the first device
MemoryAccount
Account(const std::string& modelName,
        std::map<std::string, int64_t> variables,
        const std::string& plan,
        const Framework& framework)
{
    const std::string folder = std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/";
    std::istringstream input(plan);
    const StrategyFile file = ReadStrategyJson(input, "s.json");
    for (const auto& all : {file.GetVariables(), framework.defaults.variables})
    {
        variables.insert(all.begin(), all.end());
    }
    const Model model = LoadModel(folder + modelName + ".json", variables);
    return AccountMemory(Compile(model,
                                 file.GetTree(model),
                                 FindGpuDatasheet("H100-SXM5-96GB-500W"),
                                 framework))
        .front();
}

Framework
Load(const std::string& name)
{
    return LoadFramework(std::string(PROTEUS_SOURCE_DIR) + "/workloads/frameworks/" + name +
                         ".json");
}

} // namespace

// log_softmax keeps a logarithm in fp32 per logit of every micro-batch that waits for its backward
// pass; there the gradients of nll_loss and log_softmax are in fp32 before the latter is cast.
TEST(LossMemory, AnEagerLossKeepsAndHoldsFp32)
{
    const Framework eager = Load("fsdp2");
    Framework plain = eager;
    plain.operators["cross-entropy"].forward->kept.clear();
    plain.operators["cross-entropy"].backward->heldFp32Elements = 0;
    plain.operators["cross-entropy"].backward->heldComputeElements = 0;
    for (const uint64_t waiting : {1, 3})
    {
        std::ostringstream plan;
        plan << R"({"schedule": "gpipe", "microBatch": 2, "globalBatch": )" << 2 * waiting << "}";
        const std::map<std::string, int64_t> sizes = {{"layers", 1}, {"sequence", 512}};
        const MemoryAccount more = Account("gpt3-125m", sizes, plan.str(), eager);
        const MemoryAccount less = Account("gpt3-125m", sizes, plan.str(), plain);
        EXPECT_EQ(more.peakTask, "loss.entropy.backward");
        EXPECT_EQ(less.peakTask, "loss.entropy.backward");
        const uint64_t logits = uint64_t{2} * 512 * 50304;
        EXPECT_EQ(more.peakBytes - less.peakBytes, logits * (4 * waiting + 2 * 4 - 2)) << waiting;
    }
}

// Split over the vocabulary, the loss of DTensor has a third one there (see "vocabulary-loss").
TEST(LossMemory, ALossOverTheVocabularyKeepsAndHoldsFp32)
{
    const Framework eager = Load("fsdp2");
    Framework plain = eager;
    plain.operators["vocabulary-loss"].forward->kept.clear();
    plain.operators["vocabulary-loss"].backward->heldFp32Elements = 0;
    plain.operators["vocabulary-loss"].backward->heldComputeElements = 0;
    const std::string plan = R"({"tp": 2, "microBatch": 2, "globalBatch": 2})";
    const std::map<std::string, int64_t> sizes = {{"layers", 1}, {"sequence", 512}};
    const MemoryAccount more = Account("gpt3-125m", sizes, plan, eager);
    const MemoryAccount less = Account("gpt3-125m", sizes, plan, plain);
    EXPECT_EQ(more.peakTask, "loss.entropy.backward");
    const uint64_t logits = uint64_t{2} * 512 * 50432 / 2;
    // but for numbers of a token
    EXPECT_NEAR(more.peakBytes - less.peakBytes, logits * (4 + 3 * 4 - 2), 8 * 2 * 512);
}

// A rule of attention is about scores: fused attention writes none, and so keeps none.
TEST(LossMemory, FusedAttentionKeepsNoScores)
{
    Framework framework;
    KernelRule rule;
    rule.kept = {ElementFormat::FP32};
    framework.operators["attention"].forward = rule;
    const std::map<std::string, int64_t> sizes = {{"layers", 1}, {"sequence", 512}};
    for (const int64_t isFused : {0, 1})
    {
        std::map<std::string, int64_t> variables = sizes;
        variables["fusedAttention"] = isFused;
        const uint64_t more = Account("gpt3-125m", variables, "{}", framework).peakBytes;
        const uint64_t less = Account("gpt3-125m", variables, "{}", Framework()).peakBytes;
        EXPECT_EQ(more > less, isFused == 0) << isFused;
        EXPECT_TRUE(more == less || isFused == 0) << more << " against " << less;
    }
}

// Llama 3.1 8B with selective recomputation of every second product (pytorch/torchtitan,
// benchmarks/llama3_h100_202412_torchtitan.md, tables 1 to 3, and
// llama3_8b_h200_2025-06_torchtitan.md): what PyTorch's allocator has reserved at most. In 2024 the
// loss was not compiled.
TEST(LossMemory, PublishedPeaksAreMet)
{
    struct Row
    {
        const char* framework;
        uint32_t replicas;
        uint32_t microBatch;
        int64_t sequence;
        const char* more;
        double measuredGib;
    };

    const std::string selective = R"("recomputeEvery": 2)";
    const std::string float8 = R"("dataType": "fp8")";
    for (const Row& row : {Row{"fsdp2", 8, 2, 8192, selective.c_str(), 82.4},
                           Row{"fsdp2", 128, 2, 8192, selective.c_str(), 67.0},
                           Row{"fsdp2-compiled", 8, 2, 8192, selective.c_str(), 77.0},
                           Row{"fsdp2-compiled", 128, 2, 8192, selective.c_str(), 62.0},
                           Row{"fsdp2-compiled", 8, 1, 32768, float8.c_str(), 83.9},
                           Row{"torchtitan", 32, 2, 8192, selective.c_str(), 47.96}})
    {
        std::ostringstream plan;
        plan << R"({"zero": 3, "recompute": "full", "dp": )" << row.replicas
             << R"(, "microBatch": )" << row.microBatch << R"(, "globalBatch": )"
             << row.replicas * row.microBatch << ", " << row.more << "}";
        const MemoryAccount account =
            Account("llama3-8b", {{"sequence", row.sequence}}, plan.str(), Load(row.framework));
        const double gib = static_cast<double>(account.peakBytes) / (1 << 30);
        EXPECT_NEAR(gib / row.measuredGib, 1, 0.07) << row.framework << " " << row.replicas;
    }
}
