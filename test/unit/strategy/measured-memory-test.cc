/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Memory of steps in eager PyTorch on one H100 (workloads/profiles/h100-memory.csv) against what is
// accounted with the frameworks "ddp" and "fsdp2".

#include "../table-rows.h"
#include "compile-tools.h"

#include "ns3/proteus-compile.h"
#include "ns3/proteus-framework-json.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-inventory.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <string>

using namespace ns3::proteus;

namespace
{

/// @param row of the table @return what is accounted at the peak, bytes, but for logits that the
/// measured program lets go before its backward pass. Gradients come one by one on one GPU, not
/// into a buffer that is there before.
double
Account(const TableRow& row)
{
    std::string name = row.Get("model");
    const std::string& precision = row.Get("precision");
    const bool isFull = precision == "fp32";
    const bool isSharded = precision == "fsdp2";
    std::ostringstream plan;
    plan << R"({"dp": 1, "gradientsInPlace": false, "microBatch": )" << row.Get("batch")
         << R"(, "globalBatch": )" << row.Get("batch") << R"(, "dataType": ")"
         << (isFull      ? precision
             : isSharded ? "bf16"
                         : precision.substr(4))
         << '"' << (isSharded ? R"(, "zero": 3, "zero3Shares": "fp32")" : "");
    if (row.Get("recompute") == "full")
    {
        plan << R"(, "recompute": "full")";
    }
    const StrategyFile file = compiletest::ReadStrategy(plan.str() + "}");
    const Framework framework =
        LoadFramework(std::string(PROTEUS_SOURCE_DIR) + "/workloads/frameworks/" +
                      (isSharded ? "fsdp2" : "ddp") + ".json");
    std::map<std::string, int64_t> variables = framework.defaults.variables;
    double logits = 0;
    if (!row.Get("sequence").empty())
    {
        variables["sequence"] = std::stoll(row.Get("sequence"));
        const bool isBert = name.rfind("bert", 0) == 0;
        const bool isLlama = name.rfind("llama", 0) == 0;
        if (isLlama)
        {
            name = "llama3-8b";
            variables["layers"] = 2;
        }
        else
        {
            variables["fusedAttention"] = row.Get("attention") == "fused" ? 1 : 0;
            if (!isBert)
            {
                variables["dropout"] = 0;
            }
        }
        const double vocabulary = isBert ? 30522 : isLlama ? 128256 : 50257;
        logits = row.Get("holds_logits") == "yes"
                     ? 0
                     : row.GetNumber("batch") * row.GetNumber("sequence") * vocabulary *
                           (isFull ? 4 : 2);
    }
    const Model model = compiletest::LoadFor(name, file, variables);
    const MemoryAccount account =
        AccountMemory(
            Compile(model, file.GetTree(model), FindGpuDatasheet("H100-SXM5-80GB"), framework))
            .front();
    return static_cast<double>(account.peakBytes) - logits;
}

} // namespace

TEST(MeasuredMemory, PeaksAreThoseOfPyTorchsAllocator)
{
    std::map<std::string, int> number;
    for (const TableRow& row : ReadProfileRows("h100-memory.csv"))
    {
        const std::string& name = row.Get("model");
        if (row.Get("precision") == "bf16")
        {
            continue; // parameters and states in 16 bits, which no strategy has
        }
        // cuDNN's workspaces, which are not accounted, are large where images are.
        const bool hasWorkspace =
            name.rfind("vgg", 0) == 0 || name == "alexnet" || name == "inception-v3";
        const double share = Account(row) / (1e9 * row.GetNumber("allocated_gb"));
        const bool isSharded = row.Get("precision") == "fsdp2";
        EXPECT_LT(share, 1.02) << name << ", batch " << row.Get("batch");
        EXPECT_GT(share,
                  hasWorkspace ? 0.6
                  : isSharded  ? 0.97
                               : 0.94)
            << name << ", batch " << row.Get("batch");
        ++number[row.Get("sequence").empty() ? "images" : isSharded ? "sharded" : "language"];
    }
    EXPECT_EQ(number,
              (std::map<std::string, int>{{"images", 12}, {"language", 14}, {"sharded", 11}}));
}
