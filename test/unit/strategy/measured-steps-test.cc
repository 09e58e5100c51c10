/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Steps in JAX on one H200 (workloads/profiles/h200-jax-steps.csv) against the sum of what the
// compiler makes of their kernels, and what it accounts for their memory.

#include "../table-rows.h"
#include "compile-tools.h"

#include "ns3/proteus-compile.h"
#include "ns3/proteus-framework-json.h"
#include "ns3/proteus-framework.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-inventory.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <string>

using namespace ns3::proteus;

namespace
{

/// @param row of the table @return its step on one GPU
ExecutionGraph
CompileStep(const TableRow& row)
{
    const std::string& shown = row.Get("model");
    const bool isImage = shown.rfind("ViT", 0) == 0;
    const bool isGpt = shown.rfind("GPT", 0) == 0;
    const Framework framework =
        LoadFramework(std::string(PROTEUS_SOURCE_DIR) + "/workloads/frameworks/jax.json");
    std::istringstream plan(R"({"dp": 1, "dataType": "bf16", "microBatch": )" + row.Get("batch") +
                            R"(, "globalBatch": )" + row.Get("batch") + R"(, "recompute": ")" +
                            row.Get("recompute") + R"("})");
    const StrategyFile file = ReadStrategyJson(plan, "s.json", framework.defaults.plan);
    std::map<std::string, int64_t> variables = framework.defaults.variables;
    for (const char* name : {"layers", "hidden", "heads"})
    {
        variables[name] = std::stoll(row.Get(name));
    }
    variables["fusedAttention"] = row.Get("attention") == "cudnn" ? 1 : 0;
    if (!isImage)
    {
        variables["sequence"] = std::stoll(row.Get("sequence"));
        variables["vocabulary"] = std::stoll(row.Get("vocabulary"));
    }
    if (isGpt)
    {
        variables["dropout"] = 0;
    }
    else if (!isImage)
    {
        variables["kvHeads"] = std::stoll(row.Get("kv_heads"));
        variables["feedForward"] = std::stoll(row.Get("feed_forward"));
    }
    const Model model = compiletest::LoadFor(isImage ? "vit-base"
                                             : isGpt ? "gpt"
                                                     : "llama",
                                             file,
                                             variables);
    return Compile(model, file.GetTree(model), FindGpuDatasheet("H200"), framework);
}

/// @return what the kernels of one micro-batch take, with what the GPU waits for the host,
/// milliseconds
double
SumKernelsMs(const ExecutionGraph& graph)
{
    int64_t sumPs = 0;
    for (const Task& task : graph.GetTasks())
    {
        sumPs += task.kind == TaskKind::COMPUTE ? task.durationPs : 0;
    }
    return static_cast<double>(sumPs) / 1e9;
}

/// Errors of some steps.
struct Errors
{
    double sizes{0};
    int number{0};

    double GetMean() const
    {
        return sizes / number;
    }
};

} // namespace

TEST(MeasuredSteps, OfJaxOnAnH200)
{
    std::map<std::string, Errors> errors; // by whether a step is held out
    for (const TableRow& row : ReadProfileRows("h200-jax-steps.csv"))
    {
        const double error = SumKernelsMs(CompileStep(row)) / row.GetNumber("step_ms") - 1;
        EXPECT_LT(std::abs(error), 0.12) << row.Get("model") << ", " << row.Get("layers");
        Errors& group = errors[row.Get("held_out")];
        group.sizes += std::abs(error);
        ++group.number;
        std::printf("  %-12s %2s layers, %-6s %-16s %7.1f ms %+5.1f %%\n",
                    row.Get("model").c_str(),
                    row.Get("layers").c_str(),
                    row.Get("attention").c_str(),
                    row.Get("recompute").c_str(),
                    row.GetNumber("step_ms"),
                    100 * error);
    }
    EXPECT_EQ(errors["no"].number, 13);
    EXPECT_EQ(errors["yes"].number, 7);
    EXPECT_LT(errors["no"].GetMean(), 0.04);
    EXPECT_LT(errors["yes"].GetMean(), 0.04);
}

TEST(MeasuredSteps, MemoryOfJaxOnAnH200)
{
    for (const TableRow& row : ReadProfileRows("h200-jax-steps.csv"))
    {
        const double accounted =
            static_cast<double>(AccountMemory(CompileStep(row)).front().peakBytes) / 1e9;
        const double measured = row.GetNumber("arguments_gb") + row.GetNumber("temporary_gb");
        std::printf("  %-12s %2s layers, %-6s %-16s %5.1f GB %+5.1f %%\n",
                    row.Get("model").c_str(),
                    row.Get("layers").c_str(),
                    row.Get("attention").c_str(),
                    row.Get("recompute").c_str(),
                    measured,
                    100 * (accounted / measured - 1));
        EXPECT_NEAR(accounted / measured, 1, 0.16);
    }
}
