/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// What Megatron-Core does around experts, as its framework's file says, against what was measured
// on an H100: reads workloads/profiles/h100-megatron-core.csv and -grouped-products.csv. And what
// PyTorch's kernel for all experts takes on a B200: reads b200-grouped-products.csv.

#include "../strategy/compile-tools.h"
#include "../table-rows.h"

#include "ns3/proteus-compile.h"
#include "ns3/proteus-compiler.h"
#include "ns3/proteus-framework-json.h"
#include "ns3/proteus-framework-kernels.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-kernel-cost.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace ns3::proteus;
using compiletest::LoadFor;
using compiletest::ReadStrategy;

namespace
{

constexpr double PS_PER_US = 1e6;

Framework
LoadMegatron()
{
    return LoadFramework(std::string(PROTEUS_SOURCE_DIR) +
                         "/workloads/frameworks/megatron-core.json");
}

/// @param framework whose kernels they are @return microseconds of the GPU by kind of operator, and
/// whether it is the forward pass, of one layer of Qwen3 30B-A3B among eight H100
std::map<std::pair<std::string, bool>, double>
TimeLayer(const Framework& framework)
{
    const KernelCostModel cost(FindGpuDatasheet("H100-SXM5-80GB"), framework.kernels);
    const auto use = MakeFrameworkUse(cost, framework, DataType::BF16, 4);
    std::map<std::pair<std::string, bool>, double> times;
    CompileOptions options;
    options.kernelTime = [&](const KernelDescription& kernel) -> int64_t {
        double& time = times[{kernel.kind, kernel.part.empty()}];
        time = std::max(time, static_cast<double>(use(kernel).gpuPs) / PS_PER_US);
        return 0;
    };
    const StrategyFile file =
        ReadStrategy(R"({"dp": 8, "ep": 8, "microBatch": 1, "globalBatch": 8})");
    const Model model = LoadFor("qwen3-30b-a3b", file, {{"layers", 1}});
    CompileModel(model, file.GetTree(model), options);
    return times;
}

} // namespace

// A kernel of a stream starts 1 us after the one before (h100-kernels.json), which a sum of their
// times is without. The model counts 4 us for a kernel at least, which is much for small ones.
TEST(MeasuredExperts, KernelsTakeWhatTheyTookOnAnH100)
{
    const auto times = TimeLayer(LoadMegatron());
    std::size_t found = 0;
    for (const TableRow& row : ReadProfileRows("h100-megatron-core.csv"))
    {
        const std::string& part = row.Get("part");
        if (row.Get("model") != "qwen3-30b-a3b" || row.Get("tokens") != "4096" ||
            (part != "router" && part != "dispatch" && part != "combine"))
        {
            continue;
        }
        for (const std::string pass : {"forward", "backward"})
        {
            // Its product is in 32 bits there, and in 16 with Transformer Engine.
            const double product = part != "router" ? 0 : pass == "forward" ? 81 : 140;
            const double measured = row.GetNumber(pass + "_gpu_us") +
                                    row.GetNumber(pass + "_kernels") +
                                    row.GetNumber(pass + "_copies") - product;
            const double time = times.at({part, pass == "forward"});
            EXPECT_NEAR(time / measured, 1, 0.35)
                << part << ", " << pass << ": " << time << " us for " << measured;
            ++found;
        }
    }
    EXPECT_EQ(found, 6U);
}

// Products of experts, one by one on four streams as Transformer Engine issues them.
TEST(MeasuredExperts, GroupedProductsTakeWhatTheyTookOnAnH100)
{
    const KernelCostModel cost(FindGpuDatasheet("H100-SXM5-80GB"), LoadMegatron().kernels);
    double worst = 0;
    for (const TableRow& row : ReadProfileRows("h100-grouped-products.csv"))
    {
        const auto count = [&](const char* column) {
            return static_cast<uint64_t>(row.GetNumber(column));
        };
        const KernelWork work = MakeGemmWork(count("experts"),
                                             count("rows"),
                                             count("out"),
                                             count("in"),
                                             DataType::BF16);
        const double time = static_cast<double>(cost.GetTime(work).gpuPs) / PS_PER_US;
        const double error = time / row.GetNumber("four_streams_us") - 1;
        EXPECT_LT(std::abs(error), row.Get("rows") == "256" ? 0.45 : 0.17)
            << row.Get("experts") << " x " << row.Get("rows") << ": " << time;
        worst = std::max(worst, std::abs(error));
    }
    EXPECT_GT(worst, 0.0); // rows were read
}

// One kernel of PyTorch for all experts on a B200, forward and backward, of which the share in the
// frameworks' files is: the half of them that are slower, and the other.
TEST(MeasuredExperts, OneKernelForAllTakesWhatItTookOnAB200)
{
    const std::string folder = std::string(PROTEUS_SOURCE_DIR) + "/workloads/frameworks/";
    KernelCostParameters parameters = LoadFramework(folder + "torchtitan.json").kernels;
    parameters.duty = {1, 1}; // there is nothing else
    const KernelCostModel cost(FindGpuDatasheet("B200"), parameters);
    std::vector<double> ratios;
    for (const TableRow& row : ReadProfileRows("b200-grouped-products.csv"))
    {
        const auto count = [&](const char* column) {
            return static_cast<uint64_t>(row.GetNumber(column));
        };
        const uint64_t experts = count("experts");
        const uint64_t rows = count("rows") / experts;
        const uint64_t in = count("in");
        const uint64_t out = count("out");
        double time = 0;
        for (KernelWork work : {MakeGemmWork(experts, rows, out, in, DataType::BF16),
                                MakeGemmWork(experts, rows, in, out, DataType::BF16),
                                MakeGemmWork(experts, out, in, rows, DataType::BF16)})
        {
            work.isGrouped = true;
            time += static_cast<double>(cost.GetTime(work).gpuPs) / PS_PER_US;
        }
        ratios.push_back(time / row.GetNumber("forward_backward_us"));
    }
    ASSERT_EQ(ratios.size(), 27U);
    std::sort(ratios.begin(), ratios.end());
    EXPECT_NEAR(ratios[ratios.size() / 2], 1, 0.02);
    EXPECT_GT(ratios.front(), 0.6); // with 4 experts 63.5 ms in one table, 38.9 in another
    EXPECT_LT(ratios.back(), 1.3);  // those of 16,384 rows
}

// It is the rate of products in 16 bits, of experts alone, and on the GPUs that are named.
TEST(MeasuredExperts, ShareOfGroupedProductsIsOfTheirRate)
{
    KernelCostParameters parameters;
    KernelWork work = MakeGemmWork(4, 16384, 4096, 4096, DataType::BF16);
    KernelWork narrow = MakeGemmWork(4, 16384, 4096, 4096, DataType::FP8);
    KernelWork writing = MakeGemmWork(4, 16384, 4096, 64, DataType::BF16);
    work.isGrouped = narrow.isGrouped = writing.isGrouped = true;
    const auto time = [&](const char* gpu, const KernelWork& what) {
        const KernelCostModel cost(FindGpuDatasheet(gpu), parameters);
        return static_cast<double>(cost.GetTime(what).gpuPs - parameters.kernelLatencyPs);
    };
    std::map<std::string, double> alone;
    for (const char* gpu : {"B200", "GB200", "H100-SXM5-80GB"})
    {
        alone[gpu] = time(gpu, work);
    }
    const double fp8 = time("B200", narrow);
    const double memory = time("B200", writing);
    parameters.groupedShares = {{"B", 0.5}, {"GB200", 0.25}, {"GB2000", 0.1}};
    EXPECT_NEAR(time("B200", work), 2 * alone["B200"], 2);
    EXPECT_NEAR(time("GB200", work), 4 * alone["GB200"], 4);
    EXPECT_EQ(time("H100-SXM5-80GB", work), alone["H100-SXM5-80GB"]);
    EXPECT_EQ(time("B200", narrow), fp8);
    work.isGrouped = false;
    EXPECT_EQ(time("B200", work), alone["B200"]);
    parameters.groupedShares = {{"B200", 0.8}};
    EXPECT_EQ(time("B200", writing), memory); // which writes results longer than it multiplies
    for (double share : {0.0, -0.5, 1.5})
    {
        parameters.groupedShares = {{"B200", share}};
        EXPECT_THROW(KernelCostModel(FindGpuDatasheet("B200"), parameters), std::invalid_argument);
    }
}

// Rows are listed expert by expert: the host takes its time for each, and waits for the GPU before.
TEST(MeasuredExperts, HostListsTokensExpertByExpert)
{
    Framework framework = LoadMegatron();
    const auto total = [&](int64_t experts) {
        const StrategyFile file =
            ReadStrategy(R"({"dp": 8, "ep": 8, "microBatch": 1, "globalBatch": 8})");
        const Model model = LoadFor("qwen3-30b-a3b",
                                    file,
                                    {{"layers", 1}, {"sequence", 128}, {"experts", experts}});
        const ExecutionGraph graph =
            Compile(model, file.GetTree(model), FindGpuDatasheet("H100-SXM5-80GB"), framework);
        int64_t sum = 0;
        for (const Task& task : graph.GetTasks())
        {
            sum += graph.GetName(task) == "layer0.dispatch" ? task.durationPs : 0;
        }
        return sum / 8;
    };
    const int64_t with = total(128);
    framework.operators["dispatch"].forward->hostPerExpertPs = 0;
    const int64_t without = total(128);
    EXPECT_NEAR(with - without, 128 * 4100000, 100); // 4.1 us, shared out between kernels
}
