/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "compile-tools.h"

#include "ns3/proteus-kernel-times.h"
#include "ns3/proteus-strategy-tree.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <stdexcept>
#include <string>

using namespace ns3::proteus;
using ns3::proteus::compiletest::Compile;

namespace
{

constexpr int64_t H = 64;  // width of the model
constexpr int64_t F = 128; // width between its products
constexpr int64_t L = 2;   // blocks
constexpr int64_t V = 256; // vocabulary
constexpr double MATRICES = L * (4.0 * H * H + 3.0 * H * F);
constexpr double OTHERS = 2.0 * V * H + (2 * L + 1) * H; // embeddings and norms

/// @param strategy text of a file @return the graph of a small Llama
ExecutionGraph
CompileSmall(const std::string& strategy)
{
    return Compile("llama",
                   strategy,
                   {{"layers", L},
                    {"hidden", H},
                    {"heads", 4},
                    {"feedForward", F},
                    {"sequence", 32},
                    {"vocabulary", V},
                    {"padded", V}});
}

/// @param graph a graph @param name of a tensor that stays @return its bytes on a device
uint64_t
GetBytes(const ExecutionGraph& graph, const std::string& name, DeviceId device = 0)
{
    uint64_t bytes = 0;
    for (const Task& task : graph.GetTasks())
    {
        const bool isIt = task.kind == TaskKind::MEMORY && task.place == device;
        bytes += isIt && graph.GetName(task) == name ? task.bytes : 0;
    }
    return bytes;
}

/// @param graph a graph @return operations of Newton-Schulz steps by device
std::map<DeviceId, double>
GetOrthogonalFlops(const ExecutionGraph& graph)
{
    std::map<DeviceId, double> flops;
    for (const Task& task : graph.GetTasks())
    {
        if (task.kind == TaskKind::COMPUTE && graph.GetName(task) == "orthogonal")
        {
            flops[task.place] += task.flops;
        }
    }
    return flops;
}

/// @param m rows @param n columns, not less @return operations of five steps
double
CountSteps(double m, double n)
{
    return 5 * (4 * m * m * n + 2 * m * m * m);
}

/// Those of all matrices of the small Llama: queries, keys and values are one of 3 H rows, gate and
/// up one of 2 F.
const double ALL_STEPS =
    L * (CountSteps(H, 3 * H) + CountSteps(H, H) + CountSteps(H, 2 * F) + CountSteps(H, F));

} // namespace

TEST(Optimizers, StateByShape)
{
    PrecisionSpec bare;
    bare.compute = DataType::BF16;
    bare.hasMaster = false;
    PrecisionSpec mixed = bare;
    mixed.hasMaster = true;
    const auto get = [](OptimizerKind kind, const PrecisionSpec& precision, bool isMatrix = true) {
        return GetOptimizerStateBytes(kind, precision, {1024, 256}, isMatrix);
    };
    EXPECT_EQ(get(OptimizerKind::ADAM, mixed), 12);
    EXPECT_EQ(get(OptimizerKind::ADAM, bare), 4);
    EXPECT_EQ(get(OptimizerKind::ADAM_FUSED, mixed), 12);
    EXPECT_EQ(get(OptimizerKind::ADAM_FOREACH, bare), 4);
    EXPECT_EQ(get(OptimizerKind::ADAM_8BIT, bare), 2 + 8.0 / 256);
    EXPECT_EQ(get(OptimizerKind::ADAM_8BIT, mixed), 6 + 8.0 / 256);
    EXPECT_EQ(GetOptimizerStateBytes(OptimizerKind::ADAM_8BIT, bare, {4095}, false), 8);
    EXPECT_EQ(get(OptimizerKind::ADAFACTOR, bare), 4.0 / 1024 + 4.0 / 256);
    EXPECT_EQ(GetOptimizerStateBytes(OptimizerKind::ADAFACTOR, bare, {1024}, false), 4);
    EXPECT_EQ(get(OptimizerKind::MUON, mixed), 8);
    EXPECT_EQ(get(OptimizerKind::MUON, mixed, false), 12);
}

// What they keep of a model in fp32, in which a moment has 4 bytes.
TEST(Optimizers, StateOfAModel)
{
    const auto state = [](const std::string& optimizer) {
        return static_cast<double>(GetBytes(
            CompileSmall(R"({"dp": 1, "dataType": "fp32", "optimizer": ")" + optimizer + "\"}"),
            "optimizer-state"));
    };
    EXPECT_EQ(state("adam"), 8 * (MATRICES + OTHERS));
    const double norms = (2 * L + 1) * H; // of less than 4,096 numbers
    EXPECT_NEAR(state("adam8bit"), (2 + 8.0 / 256) * (MATRICES + OTHERS - norms) + 8 * norms, 10);
    const double ofBlock = 4 * (3 * H + H) + 4 * (H + H) + 4 * (2 * F + H) + 4 * (H + F);
    EXPECT_NEAR(state("adafactor"), L * ofBlock + 2 * 4 * (V + H) + 4 * norms, 20);
    EXPECT_EQ(state("muon"), 4 * MATRICES + 8 * OTHERS);
    EXPECT_EQ(state("lars"), 4 * (MATRICES + OTHERS));
    EXPECT_THROW(CompileSmall(R"({"dp": 1, "optimizer": "dion"})"), std::invalid_argument);
}

TEST(Optimizers, MuonOnEveryReplica)
{
    const auto flops = GetOrthogonalFlops(CompileSmall(R"({"dp": 2, "optimizer": "muon"})"));
    ASSERT_EQ(flops.size(), 2u);
    EXPECT_DOUBLE_EQ(flops.at(0), ALL_STEPS);
    EXPECT_DOUBLE_EQ(flops.at(1), ALL_STEPS);
    EXPECT_TRUE(GetOrthogonalFlops(CompileSmall(R"({"dp": 2})")).empty());
}

// What tensor-parallel devices have of a matrix is a matrix: half of the rows or the columns.
TEST(Optimizers, MuonOnPartsOfMatrices)
{
    const auto flops = GetOrthogonalFlops(CompileSmall(R"({"tp": 2, "optimizer": "muon"})"));
    ASSERT_EQ(flops.size(), 2u);
    EXPECT_DOUBLE_EQ(flops.at(0),
                     L * (CountSteps(H, 3 * H / 2) + CountSteps(H / 2, H) + CountSteps(H, F) +
                          CountSteps(F / 2, H)));
}

// Replicas that share states have whole matrices in turn, and send nothing more.
TEST(Optimizers, MuonOfSharedStates)
{
    const ExecutionGraph graph = CompileSmall(R"({"dp": 2, "zero": 1, "optimizer": "muon"})");
    const auto flops = GetOrthogonalFlops(graph);
    ASSERT_EQ(flops.size(), 2u);
    EXPECT_NEAR((flops.at(0) + flops.at(1)) / ALL_STEPS, 1, 1e-12);
    EXPECT_NEAR(flops.at(0) / flops.at(1), 1, 1e-12); // two blocks
    EXPECT_EQ(compiletest::Count(graph),
              compiletest::Count(CompileSmall(R"({"dp": 2, "zero": 1})")));
}

// Under ZeRO 3 momenta go to who has the matrix, and updates come back, 2 bytes each.
TEST(Optimizers, MuonOfSharedParameters)
{
    const ExecutionGraph graph = CompileSmall(R"({"dp": 4, "zero": 3, "optimizer": "muon"})");
    const auto flops = GetOrthogonalFlops(graph);
    double sum = 0;
    for (const auto& [device, own] : flops)
    {
        sum += own;
    }
    EXPECT_NEAR(sum / ALL_STEPS, 1, 1e-12);
    const auto counts = compiletest::Count(graph);
    const auto bytes = static_cast<uint64_t>(2 * MATRICES / 4 / 4); // what one gets of another
    EXPECT_EQ(counts.at("optimizer all-to-all 4 " + std::to_string(bytes)), 2u);
}

// Biases of experts lie in one tensor here, but are vectors: Muon leaves them to Adam.
TEST(Optimizers, MuonOfExperts)
{
    const auto sum = [](int64_t expertBias) {
        const ExecutionGraph graph = Compile("mixtral-8x7b",
                                             R"({"dp": 1, "optimizer": "muon"})",
                                             {{"layers", 1},
                                              {"hidden", H},
                                              {"heads", 4},
                                              {"kvHeads", 4},
                                              {"feedForward", F},
                                              {"sequence", 32},
                                              {"vocabulary", V},
                                              {"padded", V},
                                              {"expertBias", expertBias}});
        return std::pair{GetOrthogonalFlops(graph).at(0), GetBytes(graph, "parameters")};
    };
    const auto [without, fewer] = sum(0);
    const auto [with, more] = sum(1);
    EXPECT_GT(without, 0);
    EXPECT_EQ(with, without);
    constexpr uint64_t EXPERTS = 8;
    EXPECT_EQ(more - fewer, 2 * EXPERTS * (2 * F + H)); // in 16 bits
}

TEST(Optimizers, MuonIsOfWholeUpdates)
{
    EXPECT_THROW(CompileSmall(R"({"dp": 1, "optimizer": "muon", "offloadOptimizer": true})"),
                 std::invalid_argument);
    EXPECT_THROW(CompileSmall(R"({"dp": 1, "optimizer": "muon", "immediateUpdates": true})"),
                 std::invalid_argument);
}

// LARS reads parameters and gradients once more than momentum does, for their norms.
TEST(Optimizers, LarsReadsNorms)
{
    const auto bytes = [](const std::string& optimizer) {
        const ExecutionGraph graph =
            CompileSmall(R"({"dp": 1, "dataType": "fp32", "optimizer": ")" + optimizer + "\"}");
        for (const Task& task : graph.GetTasks())
        {
            if (task.kind == TaskKind::COMPUTE && graph.GetName(task) == optimizer)
            {
                return static_cast<double>(task.bytes);
            }
        }
        return 0.0;
    };
    EXPECT_EQ(bytes("momentum"), (4 + 2 * 4 + 4) * (MATRICES + OTHERS));
    EXPECT_EQ(bytes("lars") - bytes("momentum"), 2 * 4 * (MATRICES + OTHERS));
}

// Adam pass by pass over lists: 20 numbers of what moments have in the place of 7, and no more
// state.
TEST(Optimizers, AdamOverLists)
{
    const auto update = [](const std::string& optimizer, const std::string& more) {
        const std::string text = R"({"dp": 1, "optimizer": ")" + optimizer + R"(")" + more + "}";
        const ExecutionGraph graph = CompileSmall(text);
        double bytes = 0;
        for (const Task& task : graph.GetTasks())
        {
            const bool isIt = task.kind == TaskKind::COMPUTE && graph.GetName(task) == optimizer;
            bytes += isIt ? static_cast<double>(task.bytes) : 0;
        }
        return bytes;
    };
    const double all = MATRICES + OTHERS;
    for (const auto& [more, moment] :
         std::vector<std::pair<std::string, double>>{{"", 4}, {R"(, "masterWeights": false)", 2}})
    {
        EXPECT_EQ(update("adam-fused", more), update("adam", more)) << more;
        EXPECT_EQ(update("adam-foreach", more) - update("adam-fused", more), 13 * moment * all);
    }
}

// A loop over parameters issues kernels for each.
TEST(Optimizers, Kernels)
{
    const auto count = [](const std::string& kind) {
        KernelDescription kernel;
        kernel.kind = kind;
        kernel.extents = {1000};
        kernel.bytes = 4000;
        kernel.tensors = 7;
        return DescribeKernel(kernel, DataType::BF16, 4)->GetNKernels();
    };
    EXPECT_EQ(count("adam"), 1u);
    EXPECT_EQ(count("adam8bit"), 7u);
    EXPECT_EQ(count("adafactor"), 7 * 25u);
    EXPECT_EQ(count("adam-fused"), 1u);
    EXPECT_EQ(count("adam-foreach"), 8u);
    KernelDescription steps;
    steps.kind = "newton-schulz";
    steps.orthogonal = {{1, 256, 64}, {2, 32, 128}};
    const auto work = DescribeKernel(steps, DataType::BF16, 4);
    EXPECT_DOUBLE_EQ(work->GetFlops(), CountSteps(64, 256) + 2 * CountSteps(32, 128));
    EXPECT_EQ(work->products.size(), 2 * 15u);
}
