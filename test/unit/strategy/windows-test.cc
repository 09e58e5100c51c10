/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "compile-tools.h"

#include "ns3/proteus-achieved-rates.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-kernel-cost.h"
#include "ns3/proteus-kernel-times.h"

#include <gtest/gtest.h>
#include <map>
#include <stdexcept>
#include <string>

using namespace ns3::proteus;

namespace
{

constexpr int64_t S = 64;     // tokens
constexpr int64_t H = 32;     // width of the model
constexpr int64_t LAYERS = 4; // blocks

/// @param more variables @return a small Llama with them
std::map<std::string, int64_t>
Small(std::map<std::string, int64_t> more)
{
    std::map<std::string, int64_t> variables{{"layers", LAYERS},
                                             {"hidden", H},
                                             {"heads", 4},
                                             {"feedForward", 48},
                                             {"sequence", S},
                                             {"vocabulary", 64}};
    for (const auto& [name, value] : more)
    {
        variables[name] = value;
    }
    return variables;
}

/// @param more variables @return operations of an iteration on a sequence
double
CountFlops(const std::map<std::string, int64_t>& more)
{
    return LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/llama.json", Small(more))
        .CountTrainingFlops();
}

} // namespace

// Of the scores of S tokens before a token a window of S / 4 has 1 - (3 / 4)^2.
TEST(Windows, LeaveOutScores)
{
    const double attention = 3 * LAYERS * 4.0 * S * S * H;
    const double all = CountFlops({});
    EXPECT_NEAR(all - CountFlops({{"window", S / 4}}), attention * 9 / 16, 1e-6 * all);
    // Every second layer sees all, or every fourth.
    EXPECT_NEAR(all - CountFlops({{"window", S / 4}, {"globalEvery", 2}}),
                attention * 9 / 16 / 2,
                1e-6 * all);
    EXPECT_NEAR(all - CountFlops({{"window", S / 4}, {"globalEvery", 4}}),
                attention * 9 / 16 * 3 / 4,
                1e-6 * all);
    EXPECT_EQ(CountFlops({{"window", S / 4}, {"globalEvery", 1}}), all);
    EXPECT_EQ(CountFlops({{"window", S}}), all);
    // Attention that is not fused makes all scores.
    EXPECT_EQ(CountFlops({{"window", S / 4}, {"fusedAttention", 0}}), all);
    // A window of half of a document.
    EXPECT_NEAR(CountFlops({{"documents", 2}}) - CountFlops({{"documents", 2}, {"window", S / 4}}),
                attention / 2 / 4,
                1e-6 * all);
}

// Every other layer of gpt-oss sees 128 tokens.
TEST(Windows, OfGptOss)
{
    const auto load = [](std::map<std::string, int64_t> more) {
        more["layers"] = 4;
        more["sequence"] = 1024;
        return LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/gpt-oss-20b.json",
                         more)
            .CountTrainingFlops();
    };
    const double attention = 3 * 4.0 * 1024 * 1024 * 64 * 64; // a layer, 64 heads of 64 numbers
    const double beyond = 7.0 / 8 * 7 / 8;
    EXPECT_NEAR((load({{"window", 0}}) - load({})) / (2 * attention * beyond), 1, 1e-9);
}

TEST(Windows, AreRefusedWhereKeysComeInARing)
{
    const auto compile = [](const std::string& overlap) {
        return compiletest::Compile("llama",
                                    R"({"dp": 1, "cp": 2, "cpOverlap": )" + overlap + "}",
                                    Small({{"window", S / 4}}));
    };
    EXPECT_THROW(compile("true"), std::invalid_argument);
    EXPECT_NO_THROW(compile("false"));
}

TEST(Windows, AKernelSeesFewerKeys)
{
    KernelDescription kernel;
    kernel.name = "layer0.attention";
    kernel.kind = "attention";
    kernel.extents = {1, 16, 4096, 4096};
    kernel.head = {128, 128};
    const double scores = 16.0 * 4096 * 4096;
    const auto describe = [&](uint64_t window, double share) {
        kernel.window = window;
        kernel.flops = 4 * 128 * scores * share;
        return *DescribeKernel(kernel, DataType::BF16, 4);
    };
    const KernelWork whole = describe(0, 1);
    const double seen = 1 - 7.0 / 8 * 7 / 8;
    const KernelWork some = describe(512, seen);
    EXPECT_EQ(some.shape, whole.shape);
    EXPECT_EQ(some.window, 512u);
    EXPECT_NEAR(some.fusedFlops / whole.fusedFlops, seen, 1e-12);
    EXPECT_EQ(describe(4096, 1).window, 0u); // all

    // Its share of the peak is that of the mean number of keys.
    AttentionShape shape;
    shape.keys = 4096;
    shape.head = 128;
    shape.capability = 80;
    const auto share = [&shape](uint64_t keys, uint64_t window) {
        shape.keys = keys;
        shape.window = window;
        return GetAttentionShare(AttentionKernel::FLASH_ATTENTION_2, shape);
    };
    EXPECT_EQ(share(4096, 4096), share(4096, 0));
    EXPECT_NEAR(share(4096, 512), share(2 * (512 - 512 / 16), 0), 1e-12);

    const GpuDatasheet& gpu = FindGpuModel("A100-SXM4-80GB").sheet;
    KernelCostParameters parameters;
    parameters.attention = AttentionKernel::FLASH_ATTENTION_2;
    const KernelCostModel second(gpu, parameters);
    EXPECT_LT(second.GetTime(some).gpuPs, second.GetTime(whole).gpuPs / 2);
    parameters.attention = AttentionKernel::FLASH_ATTENTION_1;
    const KernelCostModel first(gpu, parameters);
    EXPECT_THROW(first.GetTime(some), std::invalid_argument);
    EXPECT_NO_THROW(first.GetTime(whole));
}
