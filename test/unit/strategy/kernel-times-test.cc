/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "compile-tools.h"

#include "ns3/proteus-compile.h"
#include "ns3/proteus-kernel-times.h"
#include "ns3/proteus-operator-kinds.h"
#include "ns3/proteus-profile-table.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// @return what the compiler says of a kernel
KernelDescription
Describe(const std::string& kind,
         const std::string& part,
         const std::vector<uint64_t>& extents,
         double flops,
         uint64_t bytes,
         DataType type = DataType::BF16)
{
    KernelDescription kernel;
    kernel.name = "op";
    kernel.kind = kind;
    kernel.part = part;
    kernel.extents = extents;
    kernel.flops = flops;
    kernel.bytes = bytes;
    kernel.dataType = type;
    return kernel;
}

/// Checks that two works have the same name in a table and the same time.
void
ExpectSame(const std::optional<KernelWork>& found, const KernelWork& expected)
{
    ASSERT_TRUE(found);
    EXPECT_STREQ(ToString(found->kernelClass), ToString(expected.kernelClass));
    EXPECT_STREQ(ToString(found->pass), ToString(expected.pass));
    EXPECT_EQ(found->type, expected.type);
    EXPECT_EQ(found->shape, expected.shape);
    EXPECT_DOUBLE_EQ(found->GetFlops(), expected.GetFlops());
    EXPECT_EQ(found->GetBytes(), expected.GetBytes());
    EXPECT_EQ(found->GetNKernels(), expected.GetNKernels());
    const KernelCostModel model(FindGpuDatasheet("A100-SXM4-80GB"));
    EXPECT_EQ(model.GetTime(*found).GetPs(), model.GetTime(expected).GetPs());
}

} // namespace

TEST(KernelTimes, EveryKindIsKnown)
{
    for (const OperatorKind& kind : GetOperatorKinds())
    {
        // Enough dimensions for every kind.
        const auto work =
            DescribeKernel(Describe(kind.name, "", {2, 64, 32, 16, 16, 3, 3}, 1e9, 1000000),
                           DataType::BF16,
                           4);
        ASSERT_TRUE(work) << kind.name;
        EXPECT_GT(work->GetNKernels(), 0u) << kind.name;
    }
    EXPECT_FALSE(DescribeKernel(Describe("prayer", "", {1}, 1, 1), DataType::BF16, 4));
}

TEST(KernelTimes, Linear)
{
    // b 2, s 1024; 4096 outputs, of which the iteration space counts 32 groups; 1024 inputs.
    const std::vector<uint64_t> extents{2, 1024, 32, 1024};
    const double flops = 2.0 * 2048 * 4096 * 1024;
    const KernelWork forward = MakeLinearForwardWork(2048, 1024, 4096, DataType::BF16);
    ExpectSame(DescribeKernel(Describe("linear", "", extents, flops, forward.GetBytes()),
                              DataType::BF16,
                              4),
               forward);
    const KernelWork input = MakeLinearInputGradientWork(2048, 1024, 4096, DataType::BF16);
    ExpectSame(
        DescribeKernel(Describe("linear", "input-gradient", extents, flops, input.GetBytes()),
                       DataType::BF16,
                       4),
        input);
    const KernelWork weight = MakeLinearWeightGradientWork(2048, 1024, 4096, DataType::BF16);
    ExpectSame(
        DescribeKernel(Describe("linear", "weight-gradient", extents, flops, weight.GetBytes()),
                       DataType::BF16,
                       4),
        weight);
    // Both in one.
    const auto both = DescribeKernel(
        Describe("linear", "backward", extents, 2 * flops, input.GetBytes() + weight.GetBytes()),
        DataType::BF16,
        4);
    ASSERT_TRUE(both);
    EXPECT_EQ(both->GetNKernels(), 2u);
    EXPECT_DOUBLE_EQ(both->GetFlops(), 2 * flops);
    EXPECT_EQ(both->GetBytes(), input.GetBytes() + weight.GetBytes());
    EXPECT_EQ(both->products[0].n, 1024u);
    EXPECT_EQ(both->products[1].k, 2048u);
    // Whatever the compiler counts, operands in fp8 have one byte.
    ExpectSame(DescribeKernel(Describe("linear", "", extents, flops, 123, DataType::FP8),
                              DataType::BF16,
                              4),
               MakeLinearForwardWork(2048, 1024, 4096, DataType::FP8));

    const auto experts = DescribeKernel(
        Describe("expert-linear", "", {8, 256, 4096, 1024}, 8 * 2.0 * 256 * 4096 * 1024, 5000),
        DataType::BF16,
        4);
    ASSERT_TRUE(experts);
    EXPECT_EQ(experts->shape, (std::vector<uint64_t>{8, 256, 4096, 1024}));
    EXPECT_DOUBLE_EQ(experts->GetFlops(), 8 * 2.0 * 256 * 4096 * 1024);
    EXPECT_EQ(experts->GetBytes(), 5000u);
}

TEST(KernelTimes, Matmul)
{
    const std::vector<uint64_t> extents{16, 512, 64, 256}; // batch, m, k, n
    const KernelWork forward = MakeGemmWork(16, 512, 256, 64, DataType::BF16);
    ExpectSame(
        DescribeKernel(Describe("matmul", "", extents, forward.GetFlops(), forward.GetBytes()),
                       DataType::BF16,
                       4),
        forward);
    const auto left =
        DescribeKernel(Describe("matmul", "left-gradient", extents, forward.GetFlops(), 9),
                       DataType::BF16,
                       4);
    EXPECT_EQ(left->shape, (std::vector<uint64_t>{16, 512, 64, 256})); // sum over n
    const auto right =
        DescribeKernel(Describe("matmul", "right-gradient", extents, forward.GetFlops(), 9),
                       DataType::BF16,
                       4);
    EXPECT_EQ(right->shape, (std::vector<uint64_t>{16, 64, 256, 512})); // sum over m
}

TEST(KernelTimes, Attention)
{
    // 2 sequences of 1024, 16 heads of 64. Traffic as the compiler counts it: queries, keys,
    // values and result; unfused, the scores, and with dropout a mask and another matrix.
    const std::vector<uint64_t> extents{2, 16, 1024, 1024};
    const double scores = 32.0 * 1024 * 1024;
    const auto vectors = static_cast<uint64_t>(4 * 2 * 32.0 * 1024 * 64);
    for (const bool hasDropout : {false, true})
    {
        const auto kept = static_cast<uint64_t>((hasDropout ? 5 : 2) * scores);
        const auto forward =
            DescribeKernel(Describe("attention",
                                    "",
                                    extents,
                                    4 * 64 * scores,
                                    vectors + kept + static_cast<uint64_t>(8 * scores)),
                           DataType::BF16,
                           4);
        const KernelWork expected =
            MakeAttentionWork(32, 1024, 1024, 64, KernelPass::FORWARD, DataType::BF16, hasDropout);
        ExpectSame(forward, expected);
        const auto backward = DescribeKernel(
            Describe("attention",
                     "backward",
                     extents,
                     8 * 64 * scores,
                     2 * vectors - vectors / 4 + kept + static_cast<uint64_t>(14 * scores)),
            DataType::BF16,
            4);
        ExpectSame(backward,
                   MakeAttentionWork(32,
                                     1024,
                                     1024,
                                     64,
                                     KernelPass::BACKWARD,
                                     DataType::BF16,
                                     hasDropout));
    }
    const uint64_t statistics = 4 * 32 * 1024;
    const auto fused =
        DescribeKernel(Describe("attention", "", extents, 4 * 64 * scores, vectors + statistics),
                       DataType::BF16,
                       4);
    ASSERT_TRUE(fused);
    EXPECT_EQ(fused->kernelClass, KernelClass::FUSED_ATTENTION);
    EXPECT_EQ(fused->shape, (std::vector<uint64_t>{32, 1024, 1024, 64}));
    EXPECT_EQ(fused->GetNKernels(), 1u);
    const auto backward = DescribeKernel(
        Describe("attention", "backward", extents, 10 * 64 * scores, 2 * vectors + statistics),
        DataType::BF16,
        4);
    ASSERT_TRUE(backward);
    EXPECT_EQ(backward->kernelClass, KernelClass::FUSED_ATTENTION);
    EXPECT_EQ(backward->shape, (std::vector<uint64_t>{32, 1024, 1024, 64}));
    // Four heads of each group share keys and values; the widths of a head tell.
    KernelDescription grouped = Describe("attention", "", extents, 4 * 256 * scores, vectors * 3);
    grouped.head = {64, 64};
    EXPECT_EQ(DescribeKernel(grouped, DataType::BF16, 4)->shape,
              (std::vector<uint64_t>{128, 1024, 1024, 64}));
    // Values of another width: a product with each forward, three and two backward.
    KernelDescription latent = Describe("attention", "", extents, 2 * 320 * scores, vectors * 3);
    latent.head = {192, 128};
    const auto latentForward = DescribeKernel(latent, DataType::BF16, 4);
    EXPECT_EQ(latentForward->shape, (std::vector<uint64_t>{32, 1024, 1024, 192, 128}));
    EXPECT_EQ(latentForward->GetFlops(), 320 * scores); // causal
    latent.part = "backward";
    latent.flops = (6 * 192 + 4 * 128) * scores;
    const auto latentBackward = DescribeKernel(latent, DataType::BF16, 4);
    EXPECT_EQ(latentBackward->shape, (std::vector<uint64_t>{32, 1024, 1024, 192, 128}));
    EXPECT_EQ(latentBackward->GetFlops(), (3 * 192 + 2 * 128) * scores);
}

// Where every token sees all others no score is left out, and in a ring all keys of all devices are
// used. The time of the causal kernel of a profile is not that of the other one.
TEST(KernelTimes, AttentionOfAllTokens)
{
    const std::vector<uint64_t> extents{2, 16, 1024, 1024};
    const double scores = 32.0 * 1024 * 1024;
    const uint64_t vectors = 2 * 32 * 64; // bytes of a token
    KernelDescription causal =
        Describe("attention", "", extents, 4 * 64 * scores, vectors * 2 * (1024 + 1024));
    causal.head = {64, 64};
    KernelDescription all = causal;
    all.isCausal = false;
    const KernelCostModel cost(FindGpuDatasheet("H100-SXM5-80GB"));
    for (const std::string part : {"", "backward"})
    {
        causal.part = all.part = part;
        causal.flops = all.flops = (part.empty() ? 4 : 10) * 64 * scores;
        const auto half = DescribeKernel(causal, DataType::BF16, 4);
        const auto whole = DescribeKernel(all, DataType::BF16, 4);
        ASSERT_TRUE(half && whole);
        EXPECT_EQ(half->GetFlops(), causal.flops / 2);
        EXPECT_EQ(whole->GetFlops(), all.flops);
        EXPECT_EQ(whole->bytes, half->bytes);
        EXPECT_GT(cost.GetTime(*whole).gpuPs, 1.3 * cost.GetTime(*half).gpuPs);
        ProfileTable table;
        constexpr int64_t MEASURED_PS = 1000000;
        table.Add({"H100-SXM5-80GB",
                   half->kernelClass,
                   half->pass,
                   half->type,
                   half->shape,
                   MEASURED_PS});
        EXPECT_EQ(table.Find("H100-SXM5-80GB", *half), MEASURED_PS);
        EXPECT_FALSE(table.Find("H100-SXM5-80GB", *whole));
        KernelDescription ring = all;
        ring.ring = 4;
        const auto parts = DescribeKernel(ring, DataType::BF16, 4);
        ASSERT_TRUE(parts);
        EXPECT_EQ(parts->GetFlops(), all.flops);
        const uint64_t queries = vectors * 1024;
        const uint64_t keys = 2 * queries / 4; // and values, of one device
        EXPECT_EQ(parts->mergedBytes,
                  part.empty() ? 2 * keys + (2 + 3 * 3) * queries
                               : (2 + 3 * 3) * queries + (2 + 3) * keys + (2 + 3 + 3) * keys);
    }
}

// Keys of four devices come one by one: kernels of a quarter of the keys, and those that join what
// they make. Operations are those of the whole.
TEST(KernelTimes, AttentionInARing)
{
    const std::vector<uint64_t> extents{2, 16, 256, 1024};
    const double scores = 32.0 * 256 * 1024;
    const uint64_t vectors = 2 * 32 * 64; // bytes of a token
    KernelDescription whole =
        Describe("attention", "", extents, 4 * 64 * scores, vectors * 2 * (256 + 1024));
    whole.head = {64, 64};
    KernelDescription ring = whole;
    ring.ring = 4;
    for (const std::string part : {"", "backward"})
    {
        whole.part = ring.part = part;
        whole.flops = ring.flops = (part.empty() ? 4 : 10) * 64 * scores;
        const auto once = DescribeKernel(whole, DataType::BF16, 4);
        const auto parts = DescribeKernel(ring, DataType::BF16, 4);
        ASSERT_TRUE(once && parts);
        EXPECT_EQ(once->shape, (std::vector<uint64_t>{32, 256, 1024, 64}));
        EXPECT_EQ(parts->shape, (std::vector<uint64_t>{32, 256, 256, 64}));
        EXPECT_EQ(parts->GetFlops(), once->GetFlops());
        EXPECT_EQ(parts->bytes, once->bytes);
        const uint64_t queries = vectors * 256;
        const uint64_t keys = 2 * queries; // and values
        // Forward: joined; scaled; scaled and added three times. Backward: copied; half of the
        // gradients of what others have copied once and added twice, its own added.
        EXPECT_EQ(parts->mergedBytes,
                  part.empty()
                      ? 2 * keys + (2 + 3 * 3) * queries
                      : (2 + 3 * 3) * queries + 2 * keys + (2 + 3 + 3) * keys / 2 + 3 * keys);
        EXPECT_EQ(parts->GetNKernels(), 4u + (part.empty() ? 9 : 13));
        const KernelCostModel cost(FindGpuDatasheet("H100-SXM5-80GB"));
        EXPECT_GT(cost.GetTime(*parts).gpuPs, cost.GetTime(*once).gpuPs);
    }
}

TEST(KernelTimes, Others)
{
    const KernelWork convolution = [] {
        ConvolutionShape shape;
        shape.batch = 32;
        shape.channels = 3;
        shape.height = shape.width = 224;
        shape.filters = 64;
        shape.kernelHeight = shape.kernelWidth = 11;
        shape.stride = 4;
        shape.paddingHeight = shape.paddingWidth = 2;
        return MakeConvolutionWork(shape, KernelPass::FORWARD, DataType::FP32);
    }();
    ExpectSame(DescribeKernel(Describe("convolution",
                                       "",
                                       {32, 64, 3, 55, 55, 11, 11},
                                       convolution.GetFlops(),
                                       convolution.GetBytes(),
                                       DataType::FP32),
                              DataType::FP32,
                              4),
               convolution);
    ExpectSame(DescribeKernel(Describe("layer-norm", "backward", {2, 1024, 4096}, 1, 6 * 8388608),
                              DataType::BF16,
                              4),
               MakeNormalizationWork(2048, 4096, KernelPass::BACKWARD, DataType::BF16));
    ExpectSame(DescribeKernel(Describe("embedding", "backward", {2, 1024, 50304, 4096}, 1, 77),
                              DataType::BF16,
                              4),
               MakeEmbeddingWork(2048, 4096, 50304, KernelPass::BACKWARD, DataType::BF16, 4));
    ExpectSame(DescribeKernel(Describe("gelu", "", {2, 1024, 4096}, 1, 12345), DataType::BF16, 4),
               MakeElementwiseWork(12345, KernelPass::FORWARD, DataType::BF16));
    ExpectSame(
        DescribeKernel(Describe("adam", "", {1000}, 1, 30000, DataType::FP32), DataType::BF16, 4),
        MakeOptimizerWork(30000));

    const KernelCostModel model(FindGpuDatasheet("A100-SXM4-80GB"));
    const auto timer = MakeKernelTimer(model, DataType::BF16, 4);
    EXPECT_EQ(
        timer(Describe("gelu", "", {2, 1024, 4096}, 1, 12345)),
        model.GetTime(MakeElementwiseWork(12345, KernelPass::FORWARD, DataType::BF16)).GetPs());
    EXPECT_EQ(timer(Describe("prayer", "", {1}, 1, 1)), -1);
}

// How long GPUs multiply decides their clocks under a power limit. Every device updates what it
// has, none waits for the updates of all others: replicas multiply as fast as one.
TEST(KernelTimes, ClocksDoNotKnowTheNumberOfReplicas)
{
    Framework framework;
    framework.kernels.gpuSpread = 0; // the slowest of many GPUs is another matter
    const GpuDatasheet& gpu = FindGpuDatasheet("H100-SXM5-80GB");
    const auto products = [&](const std::string& plan) {
        const StrategyFile file = compiletest::ReadStrategy(plan);
        const Model model = compiletest::LoadFor("gpt3-175b", file, {{"layers", 2}});
        const ListedKernels listed = ListKernelTimes(model, file.GetTree(model), gpu, framework);
        std::map<std::vector<uint64_t>, int64_t> times;
        for (const ProfileEntry& entry : listed.table.GetEntries())
        {
            if (entry.kernelClass == KernelClass::GEMM)
            {
                times[entry.shape] += entry.timePs;
            }
        }
        EXPECT_FALSE(times.empty());
        return times;
    };
    const auto two = products(R"({"dp": 2, "microBatch": 4, "globalBatch": 8})");
    EXPECT_EQ(products(R"({"dp": 32, "microBatch": 4, "globalBatch": 128})"), two);
    EXPECT_EQ(products(R"({"dp": 8, "pp": 2, "microBatch": 4, "globalBatch": 32})"),
              products(R"({"dp": 2, "pp": 2, "microBatch": 4, "globalBatch": 8})"));
    // A share of the update takes less, so that products take more of the time.
    const auto all = [](const auto& times) {
        int64_t sum = 0;
        for (const auto& [shape, ps] : times)
        {
            sum += ps;
        }
        return sum;
    };
    const auto shared = products(R"({"dp": 2, "zero": 1, "microBatch": 4, "globalBatch": 8})");
    EXPECT_GT(all(shared), all(two));
    EXPECT_GT(all(products(R"({"dp": 32, "zero": 1, "microBatch": 4, "globalBatch": 128})")),
              all(shared));
    // One device stands for all.
    EXPECT_EQ(products(R"({"dp": 8, "zero": 3, "microBatch": 4, "globalBatch": 32})"),
              products(R"({"dp": 8, "zero": 3, "microBatch": 4, "globalBatch": 32,
                           "representative": true})"));
}
