/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Hosts of frameworks: which are ahead of their GPU, and what they take for units and tensors.

#include "framework-tools.h"

#include "ns3/proteus-compile.h"
#include "ns3/proteus-compiler.h"
#include "ns3/proteus-framework-json.h"
#include "ns3/proteus-framework-kernels.h"
#include "ns3/proteus-framework.h"
#include "ns3/proteus-model-json.h"
#include "ns3/proteus-strategy-json.h"

#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3::proteus;

// A host of 10 us per kernel and kernels of 4 us: the GPU waits for every one. Kernels of 30 us: it
// waits for the first only. Then the lead of 20 us per kernel hides short ones until it is used up.
TEST(HostLead, HidesWhatItHasTimeFor)
{
    constexpr int64_t US = 1000000;
    HostLead slow;
    for (int i = 0; i < 3; ++i)
    {
        EXPECT_EQ(slow.Add(1, 10 * US, 4 * US), i == 0 ? 14 * US : 10 * US);
    }
    HostLead fast;
    EXPECT_EQ(fast.Add(1, 10 * US, 30 * US), 40 * US);
    EXPECT_EQ(fast.Add(1, 10 * US, 30 * US), 30 * US);
    // 20 + 30 us are left; five short kernels take 6 us each off the lead of 50 us.
    int64_t sum = 0;
    for (int i = 0; i < 5; ++i)
    {
        sum += fast.Add(1, 10 * US, 4 * US);
    }
    EXPECT_EQ(sum, 20 * US);
    EXPECT_EQ(fast.Add(2, 10 * US, 30 * US), 40 * US); // another pass begins with an idle GPU
}

// However kernels are cut, a pass takes at least the host's and at least the GPU's time.
TEST(HostLead, IsBoundedByHostAndGpu)
{
    HostLead lead;
    int64_t host = 0;
    int64_t gpu = 0;
    int64_t sum = 0;
    uint32_t state = 1;
    for (int i = 0; i < 1000; ++i)
    {
        state = state * 1664525 + 1013904223;
        const int64_t h = state >> 20;
        state = state * 1664525 + 1013904223;
        const int64_t g = state >> 20;
        sum += lead.Add(7, h, g);
        host += h;
        gpu += g;
        EXPECT_GE(sum, host);
        EXPECT_GE(sum, gpu);
        EXPECT_LE(sum, host + gpu);
    }
}

// Numbered blocks are units of sharding, all else is the root unit; an update costs by its tensors.
TEST(Framework, UnitsAndTensorsTakeTheHostsTime)
{
    const Framework framework =
        ReadFramework(", \"host\": {\"kernelUs\": {\"value\": 0, \"source\": "
                      "\"s\"}, \"blockUs\": {\"value\": 100, "
                      "\"source\": \"s\"}, \"backwardBlockUs\": {\"value\": 300, "
                      "\"source\": \"s\"}, \"tensorUs\": "
                      "{\"value\": 7, \"source\": \"s\"}}");
    KernelCostParameters ideal = framework.kernels;
    ideal.kernelLatencyPs = 0;
    const KernelCostModel model(FindGpuDatasheet("H100-SXM5-80GB"), ideal);
    auto timer = MakeFrameworkTimer(model, framework, DataType::BF16, 2);
    auto time = [&](const std::string& name, const std::string& part, uint64_t pass) {
        KernelDescription kernel = MakeNorm(1, 16, part, pass);
        kernel.name = name;
        return std::llround(static_cast<double>(timer(kernel)) / 1e6);
    };
    EXPECT_EQ(time("embedding.word", "", 0), 100);
    EXPECT_EQ(time("layer0.norm1", "", 0), 100);
    EXPECT_EQ(time("layer0.norm2", "", 0), 0);
    EXPECT_EQ(time("layer1.norm1", "", 0), 100);
    EXPECT_EQ(time("final-norm", "", 0), 0);
    EXPECT_EQ(time("final-norm", "backward", 1), 300);
    EXPECT_EQ(time("layer1.norm1", "backward", 1), 300);
    EXPECT_EQ(time("layer0.norm1", "backward", 1), 300);
    EXPECT_EQ(time("embedding.word", "backward", 1), 0);
    KernelDescription update;
    update.name = update.kind = "adam";
    update.extents = {16};
    update.bytes = 16;
    update.tensors = 12;
    update.pass = 2;
    EXPECT_EQ(std::llround(static_cast<double>(timer(update)) / 1e6), 12 * 7);
}

// What is computed again belongs to the backward pass, and so does its unit.
TEST(Framework, AUnitThatBeginsWithRecomputationIsOneOfTheBackwardPass)
{
    const Framework framework =
        ReadFramework(", \"host\": {\"kernelUs\": {\"value\": 0, \"source\": \"s\"}, \"blockUs\": "
                      "{\"value\": 100, \"source\": \"s\"}, \"backwardBlockUs\": {\"value\": 300, "
                      "\"source\": \"s\"}}");
    KernelCostParameters ideal = framework.kernels;
    ideal.kernelLatencyPs = 0;
    const KernelCostModel model(FindGpuDatasheet("H100-SXM5-80GB"), ideal);
    auto timer = MakeFrameworkTimer(model, framework, DataType::BF16, 2);
    KernelDescription again = MakeNorm(1, 16, "", 1);
    EXPECT_EQ(std::llround(static_cast<double>(timer(again)) / 1e6), 100);
    again.isRecomputation = true;
    again.pass = 2;
    EXPECT_EQ(std::llround(static_cast<double>(timer(again)) / 1e6), 300);
    EXPECT_EQ(std::llround(static_cast<double>(timer(MakeNorm(1, 16, "backward", 2))) / 1e6), 0);
}

// The kernels of a backward pass and of gradients that wait for a pass of their own are described
// in turn. The host issues them pass by pass: its lead and its units are as if it were told so.
TEST(Framework, PassesThatAreDescribedInTurnAreIssuedOneAfterTheOther)
{
    const Framework framework =
        ReadFramework(", \"host\": {\"kernelUs\": {\"value\": 9, \"source\": \"s\"}, \"blockUs\": "
                      "{\"value\": 100, \"source\": \"s\"}, \"isAhead\": {\"value\": true, "
                      "\"source\": \"s\"}}");
    const KernelCostModel model(FindGpuDatasheet("A100-SXM4-80GB"), framework.kernels);
    auto describe = [](uint32_t i, bool isDeferred) {
        KernelDescription kernel =
            MakeNorm(i % 3 == 0 ? 1 << 18 : 1, 1024, "backward", isDeferred ? 2 : 1);
        kernel.name = "layer" + std::to_string(i / 4) + ".norm" + std::to_string(i);
        kernel.isDeferred = isDeferred;
        return kernel;
    };
    constexpr uint32_t KERNELS = 12;
    auto inTurn = MakeFrameworkTimer(model, framework, DataType::BF16, 2);
    auto inOrder = MakeFrameworkTimer(model, framework, DataType::BF16, 2);
    std::array<std::vector<int64_t>, 2> times;
    for (uint32_t i = 0; i < KERNELS; ++i)
    {
        for (const bool isDeferred : {false, true})
        {
            times[isDeferred].push_back(inTurn(describe(i, isDeferred)));
        }
    }
    for (const bool isDeferred : {false, true})
    {
        for (uint32_t i = 0; i < KERNELS; ++i)
        {
            EXPECT_EQ(inOrder(describe(i, isDeferred)), times[isDeferred][i]) << isDeferred << i;
        }
    }
    EXPECT_EQ(times[0][0], times[1][0] + 100 * 1000000); // units are at work in the first pass only
}

// CUDA_LAUNCH_BLOCKING: the times of host and GPU add up; else the longer one counts.
TEST(Framework, AHostThatWaitsForKernelsAddsItsTime)
{
    const std::string kernel = ", \"host\": {\"kernelUs\": {\"value\": 50, \"source\": \"s\"}";
    const Framework usual = ReadFramework(kernel + "}");
    const Framework waiting =
        ReadFramework(kernel + ", \"waitsForKernels\": {\"value\": true, \"source\": \"s\"}}");
    const auto time = [](const Framework& framework, uint64_t rows) {
        const KernelCostModel model(FindGpuDatasheet("A100-SXM4-80GB"), framework.kernels);
        return MakeFrameworkTimer(model, framework, DataType::BF16, 2)(MakeNorm(rows, 1024, "", 0));
    };
    const int64_t host = time(usual, 1); // of one kernel, whose GPU needs less
    EXPECT_EQ(host, 50000000);
    const int64_t gpu = time(usual, 1 << 20);
    EXPECT_GT(gpu, 2 * host);
    EXPECT_EQ(time(waiting, 1 << 20), gpu + host);
}

// What was measured for an operator is in the place of the time of its kernels and modules.
TEST(Framework, HostsOfOperatorsHaveATime)
{
    const auto time = [](const std::string& kind, const std::string& fields) {
        const Framework framework = ReadFramework(
            ", \"host\": {\"kernelUs\": {\"value\": 50, \"source\": \"s\"}, \"operatorUs\": "
            "{\"value\": 20, \"source\": \"s\"}}, \"operators\": {\"" +
            kind + "\": {\"forward\": {\"kernels\": 3, " + fields + "\"source\": \"s\"}}}");
        const KernelCostModel model(FindGpuDatasheet("H100-SXM5-80GB"), framework.kernels);
        KernelDescription kernel = MakeNorm(1, 64, "", 0);
        if (kind == "dispatch")
        {
            kernel.kind = kind;
            kernel.extents = {1, 1, 16, 64}; // 16 experts
            kernel.bytes = 2 * (2 * 64 + 16);
        }
        return MakeFrameworkTimer(model, framework, DataType::BF16, 2)(kernel);
    };
    const std::string norm = MakeNorm(1, 64, "", 0).kind;
    EXPECT_EQ(time(norm, ""), 170000000);
    EXPECT_EQ(time(norm, R"("hostUs": 400, )"), 400000000);
    EXPECT_EQ(time("dispatch", R"("expertUs": 2, )"), 202000000);
    EXPECT_EQ(time("dispatch", R"("hostUs": 400, "expertUs": 2, )"), 432000000);
}

// Modules of an expert have hooks where those of blocks have, which is under ZeRO 3; half of them
// for each of its two products forward, a quarter for each of four gradients.
TEST(Framework, ExpertsHaveHooksAsBlocksHave)
{
    constexpr int64_t US = 1000000;
    constexpr uint64_t EXPERTS = 16;
    const auto time = [](bool isOfZero3, const std::string& part) {
        const std::string units =
            isOfZero3 ? R"(, "blocksOfZero3": {"value": true, "source": "s"})" : "";
        const Framework framework = ReadFramework(
            R"(, "host": {"kernelUs": {"value": 0, "source": "s"},
                "blockUs": {"value": 800, "source": "s"},
                "backwardBlockUs": {"value": 4000, "source": "s"},
                "issuesEveryExpert": {"value": true, "source": "s"},
                "expertKernelUs": {"value": 100, "source": "s"},
                "backwardExpertKernelUs": {"value": 200, "source": "s"})" +
            units + "}");
        const KernelCostModel model(FindGpuDatasheet("H100-SXM5-80GB"), framework.kernels);
        KernelDescription kernel;
        kernel.name = "experts";
        kernel.kind = "expert-linear";
        kernel.part = part;
        kernel.extents = {EXPERTS, 64, 64, 64};
        kernel.flops = EXPERTS * 2.0 * 64 * 64 * 64;
        kernel.bytes = EXPERTS * 3 * 64 * 64 * 2;
        return MakeFrameworkTimer(model, framework, DataType::BF16, 2)(kernel);
    };
    // What is no numbered block is a unit as well.
    const int64_t forward = time(false, "");
    EXPECT_EQ(forward, (800 + 15 * 100) * US);
    EXPECT_EQ(time(true, "") - forward, int64_t{EXPERTS} * 800 / 2 * US);
    const int64_t gradient = time(false, "weight-gradient");
    EXPECT_EQ(gradient, (4000 + 15 * 200) * US);
    EXPECT_EQ(time(true, "weight-gradient") - gradient, int64_t{EXPERTS} * 4000 / 4 * US);
}

// A stage whose GPU needs more than its host never waits once it has a lead; of another one what is
// left at the end of both passes does not depend on how they begin, and both take the host's time.
TEST(StageHosts, KeepWhatIsLeftOfALead)
{
    constexpr int64_t US = 1000000;
    const Framework framework = ReadFramework(
        ", \"host\": {\"kernelUs\": {\"value\": 0, \"source\": \"s\"}, \"operatorUs\": {\"value\": "
        "100, \"source\": \"s\"}, \"isAhead\": {\"value\": true, \"source\": \"s\"}}");
    const KernelCostModel model(FindGpuDatasheet("H100-SXM5-80GB"), framework.kernels);
    // Forward small kernels, which wait for the host, then large ones backward.
    const auto run = [&](uint64_t rows, StageHosts* hosts) {
        const auto timer = MakeFrameworkTimer(model, framework, DataType::BF16, 2, hosts);
        int64_t sum = 0;
        for (uint32_t i = 0; i < 8; ++i)
        {
            const bool isForward = i < 4;
            KernelDescription kernel = MakeNorm(isForward ? 1 : rows,
                                                1024,
                                                isForward ? "" : "backward",
                                                isForward ? 1 : 2);
            kernel.name = "layer" + std::to_string(i) + ".norm";
            sum += timer(kernel);
        }
        return sum;
    };
    const auto settle = [&](uint64_t rows) {
        StageHosts hosts;
        run(rows, &hosts);
        hosts.Finish();
        return run(rows, &hosts);
    };
    const auto gpu = [&](uint64_t rows) {
        Framework free = framework;
        free.host.operatorPs = 0;
        const KernelCostModel same(FindGpuDatasheet("H100-SXM5-80GB"), framework.kernels);
        const auto timer = MakeFrameworkTimer(same, free, DataType::BF16, 2);
        return 4 * (timer(MakeNorm(1, 1024, "", 1)) + timer(MakeNorm(rows, 1024, "backward", 2)));
    };
    constexpr uint64_t FEW = 1 << 10;
    constexpr uint64_t MANY = 1 << 20;
    EXPECT_EQ(settle(MANY), gpu(MANY)); // hides 8 x 100 us
    EXPECT_GT(run(MANY, nullptr), gpu(MANY) + 400 * US);
    EXPECT_NEAR(static_cast<double>(settle(FEW)), 800.0 * US, 100);
    EXPECT_GT(run(FEW, nullptr), 800 * US); // the last kernels of each pass are waited for
}

// One call issues all pieces of a product beside a collective: each takes its share of the
// operator, and its kernels.
TEST(Framework, PiecesOfAProductAreOneOperator)
{
    const Framework framework =
        ReadFramework(", \"host\": {\"kernelUs\": {\"value\": 3, \"source\": \"s\"}, "
                      "\"operatorUs\": {\"value\": 200, \"source\": \"s\"}}");
    const KernelCostModel model(FindGpuDatasheet("H100-SXM5-80GB"), framework.kernels);
    const auto time = [&](uint32_t pieces) {
        KernelDescription kernel;
        kernel.name = "layer0.up";
        kernel.kind = "linear";
        kernel.extents = {1, 64 / pieces, 128, 64};
        kernel.flops = 2.0 * 64 / pieces * 128 * 64;
        kernel.dataType = DataType::BF16;
        kernel.pieces = pieces;
        return MakeFrameworkTimer(model, framework, DataType::BF16, 2)(kernel);
    };
    EXPECT_EQ(time(1), 203000000);
    EXPECT_EQ(time(4), 53000000);
}

// Three pieces run at once: where one leaves most of the GPU idle each takes a third of the time of
// three; where one fills it, as long as alone.
TEST(Framework, PiecesOfAProductFillTheGpuTogether)
{
    const Framework framework = ReadFramework("");
    const KernelCostModel model(FindGpuDatasheet("H100-SXM5-80GB"), framework.kernels);
    const auto time = [&](uint64_t rows, uint32_t pieces) {
        KernelDescription kernel;
        kernel.name = "layer0.up";
        kernel.kind = "linear";
        kernel.extents = {1, rows, 1024, 8192};
        kernel.flops = 2.0 * static_cast<double>(rows) * 1024 * 8192;
        kernel.bytes = 2 * (rows * (1024 + 8192) + 1024 * 8192);
        kernel.dataType = DataType::BF16;
        kernel.pieces = pieces;
        return MakeFrameworkUse(model, framework, DataType::BF16, 2)(kernel).gpuPs;
    };
    KernelWork three = MakeGemmWork(3, 256, 1024, 8192, DataType::BF16);
    EXPECT_NEAR(static_cast<double>(time(256, 8)),
                static_cast<double>(model.GetTime(three).gpuPs) / 3,
                0.01 * static_cast<double>(time(256, 8)));
    EXPECT_LT(static_cast<double>(time(256, 8)), 0.8 * static_cast<double>(time(256, 1)));
    const auto alone = static_cast<double>(time(1 << 16, 1));
    EXPECT_NEAR(static_cast<double>(time(1 << 16, 8)), alone, 0.05 * alone);
}

// A host has other paces beside other GPUs.
TEST(Framework, HostsHaveAPaceByGpu)
{
    const Framework framework = ReadFramework(
        ", \"host\": {\"kernelUs\": {\"value\": 50, \"source\": \"s\"}, \"operatorUs\": "
        "{\"value\": "
        "20, \"source\": \"s\"}, \"paces\": {\"A100\": {\"value\": 1.5, \"source\": \"s\"}}}");
    const auto time = [&](const std::string& gpu) {
        const KernelCostModel model(FindGpuDatasheet(gpu), framework.kernels);
        return MakeFrameworkTimer(model, framework, DataType::BF16, 2)(MakeNorm(1, 64, "", 0));
    };
    EXPECT_EQ(time("H100-SXM5-80GB") % 10000000, 0); // kernels of a norm and 20 us
    EXPECT_EQ(time("A100-SXM4-80GB") * 2, time("H100-SXM5-80GB") * 3);
}

// A host that counts tokens has no lead any more when it sends them to their experts, whose kernels
// it may issue one by one.
TEST(Framework, HostsWaitForTheTokensOfExperts)
{
    const std::string host = ", \"host\": {\"kernelUs\": {\"value\": 50, \"source\": \"s\"}, "
                             "\"isAhead\": {\"value\": true, \"source\": \"s\"}";
    const std::string yes = "{\"value\": true, \"source\": \"s\"}";
    const auto time =
        [](const Framework& framework, const std::string& kind, bool isExchanged = false) {
            const KernelCostModel model(FindGpuDatasheet("H100-SXM5-80GB"), framework.kernels);
            const auto timer = MakeFrameworkTimer(model, framework, DataType::BF16, 2);
            timer(MakeNorm(1 << 20, 1024, "", 0)); // some milliseconds, which the host is ahead
            KernelDescription kernel;
            kernel.isExchanged = isExchanged;
            kernel.name = "layer0." + kind;
            kernel.kind = kind;
            kernel.extents = {8, 64, 128, 64};
            kernel.bytes = 64 * 64 * 2;
            kernel.flops = 2.0 * 8 * 64 * 128 * 64;
            kernel.dataType = DataType::BF16;
            return timer(kernel);
        };
    const Framework usual = ReadFramework(host + "}");
    const Framework waiting = ReadFramework(host + ", \"waitsAtDispatch\": " + yes + "}");
    EXPECT_EQ(time(waiting, "dispatch") - time(usual, "dispatch"), 50000000);
    EXPECT_EQ(time(waiting, "combine"), time(usual, "combine"));
    const Framework exchanging = ReadFramework(host + ", \"waitsAtExchange\": " + yes + "}");
    EXPECT_EQ(time(exchanging, "dispatch"), time(usual, "dispatch"));
    EXPECT_EQ(time(exchanging, "dispatch", true), time(waiting, "dispatch"));
    // Eight experts take the host eight kernels, the GPU as long as before.
    const auto alone = [](const Framework& framework, const std::string& part = "") {
        const KernelCostModel model(FindGpuDatasheet("H100-SXM5-80GB"), framework.kernels);
        KernelDescription kernel;
        kernel.name = "layer0.up";
        kernel.part = part;
        kernel.kind = "expert-linear";
        kernel.extents = {8, 64, 128, 64};
        kernel.flops = 2.0 * 8 * 64 * 128 * 64;
        kernel.dataType = DataType::BF16;
        return MakeFrameworkTimer(model, framework, DataType::BF16, 2)(kernel);
    };
    EXPECT_EQ(alone(ReadFramework(host + ", \"issuesEveryExpert\": " + yes + "}")) - alone(usual),
              7 * 50000000);
    // Each but the first may take a time of its own, another one in the backward pass.
    const Framework own =
        ReadFramework(host + ", \"issuesEveryExpert\": " + yes +
                      ", \"expertKernelUs\": {\"value\": 10, \"source\": \"s\"}, "
                      "\"backwardExpertKernelUs\": {\"value\": 30, \"source\": \"s\"}}");
    EXPECT_EQ(alone(own) - alone(usual), 7 * 10000000);
    EXPECT_EQ(alone(own, "weight-gradient") - alone(usual, "weight-gradient"), 7 * 30000000);
}

// An operator with a copy to the GPU in it begins when the GPU is idle.
TEST(Framework, HostsWaitInOperators)
{
    const auto time = [](const std::string& waits) {
        const Framework framework = ReadFramework(
            ", \"host\": {\"kernelUs\": {\"value\": 50, \"source\": \"s\"}, \"isAhead\": "
            "{\"value\": "
            "true, \"source\": \"s\"}}, \"operators\": {\"clamped-swiglu\": {\"forward\": "
            "{\"kernels\": 1, " +
            waits + "\"compute\": 3, \"source\": \"s\"}}}");
        const KernelCostModel model(FindGpuDatasheet("H100-SXM5-80GB"), framework.kernels);
        const auto timer = MakeFrameworkTimer(model, framework, DataType::BF16, 2);
        timer(MakeNorm(1 << 20, 1024, "", 0)); // some milliseconds, which the host is ahead
        KernelDescription kernel;
        kernel.name = "layer0.swiglu";
        kernel.kind = "clamped-swiglu";
        kernel.extents = {8, 64, 128};
        return timer(kernel);
    };
    EXPECT_EQ(time(R"("waits": true, )") - time(""), 50000000);
    EXPECT_EQ(time(R"("waits": false, )"), time(""));
}

// One call makes both gradients of a convolution; that of the first one's weights is alone.
TEST(Framework, BothGradientsOfAConvolutionAreOneOperator)
{
    const Framework framework =
        ReadFramework(", \"host\": {\"kernelUs\": {\"value\": 0, \"source\": \"s\"}, "
                      "\"operatorUs\": {\"value\": 5000, \"source\": \"s\"}}");
    std::istringstream input("{\"globalBatch\": 1, \"dataType\": \"fp32\"}");
    const StrategyFile file = ReadStrategyJson(input, "s.json");
    const Model model =
        LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/resnet50.json",
                  file.GetVariables());
    const ExecutionGraph graph =
        Compile(model, file.GetTree(model), FindGpuDatasheet("H100-SXM5-80GB"), framework);
    constexpr int64_t OPERATOR_PS = 5000000000;
    uint32_t more = 0;
    uint32_t less = 0;
    for (const Task& task : graph.GetTasks())
    {
        const std::string name = graph.GetName(task);
        if (task.kind != TaskKind::COMPUTE || name.find("conv") == std::string::npos)
        {
            continue;
        }
        const bool isSecond = name.find("input-gradient") != std::string::npos;
        EXPECT_EQ(task.durationPs >= OPERATOR_PS, !isSecond) << name;
        ++(isSecond ? less : more);
    }
    EXPECT_GT(less, 30u);
    EXPECT_GT(more, 2 * less);
}
