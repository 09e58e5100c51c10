/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "layout-bound.h"

#include "ns3/proteus-layout-method.h"
#include "ns3/proteus-layout-space.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

MeshPtr
MakeMesh(const std::vector<uint32_t>& sizes)
{
    std::vector<DeviceId> devices(
        std::accumulate(sizes.begin(), sizes.end(), 1U, std::multiplies<>()));
    std::iota(devices.begin(), devices.end(), 0);
    return std::make_shared<DeviceMesh>(sizes, devices);
}

/// Linear layers without bias, one behind the other; with `before`, a relu in front of them.
Model
MakeLayers(uint64_t batch, uint64_t width, uint32_t layers, bool before = false)
{
    ModelBuilder builder("layers");
    TensorId x = builder.AddInput("x", {batch, width}, {"batch", "feature"});
    if (before)
    {
        x = builder.Add("linear",
                        "before",
                        {x},
                        {{{"outputs", {int64_t(width)}}, {"bias", {0}}}, {}})[0];
        x = builder.Add("relu", "relu", {x})[0];
    }
    for (uint32_t i = 0; i < layers; ++i)
    {
        OperatorAttributes linear;
        linear.numbers = {{"outputs", {static_cast<int64_t>(width)}}, {"bias", {0}}};
        x = builder.Add("linear", "fc" + std::to_string(i), {x}, linear)[0];
    }
    return builder.Build();
}

/// The candidate of an operator whose axes split these dimensions; "" replicates.
uint32_t
Find(const LayoutSpace& space, OperatorId id, const std::vector<std::string>& dimensions)
{
    const ModelOperator& op = space.GetModel().GetOperator(id);
    const auto& candidates = space.GetCandidates(id);
    for (uint32_t i = 0; i < candidates.size(); ++i)
    {
        bool isSame = true;
        for (std::size_t axis = 0; axis < dimensions.size(); ++axis)
        {
            const AxisRule rule = GetAxisRules(op)[candidates[i].rules[axis]];
            isSame = isSame && (dimensions[axis].empty()
                                    ? candidates[i].rules[axis] + 1 == GetAxisRules(op).size()
                                    : rule.dimension == op.FindDimension(dimensions[axis]));
        }
        if (isSame)
        {
            return i;
        }
    }
    throw std::invalid_argument("no such candidate");
}

const VolumeCost VOLUME;

/// Four layers on four devices, as AutoDDL's B6 has them.
struct Mlp
{
    explicit Mlp(uint64_t batch)
        : model(MakeLayers(batch, 1024, 4)),
          space(model, MakeOptions())
    {
    }

    static LayoutSpaceOptions MakeOptions()
    {
        LayoutSpaceOptions options;
        options.mesh = MakeMesh({4});
        options.communication = &VOLUME;
        options.mayReplicate = false;
        options.mayKeepPartialSums = false;
        options.resultDimension = 0;
        return options;
    }

    /// KiB per device
    double GetCost(const std::vector<std::string>& dimensions) const
    {
        LayoutChoice choice;
        for (OperatorId op = 0; op < 4; ++op)
        {
            choice.push_back(Find(space, op, {dimensions[op]}));
        }
        return space.MakeProblem().GetCost(choice) / 1024;
    }

    Model model;
    LayoutSpace space;
};

/// A chain, or a tree, of nodes with random costs.
LayoutProblem
MakeRandomProblem(std::mt19937_64& random, bool isTree)
{
    auto number = [&](uint64_t least, uint64_t most) {
        return least + random() % (most - least + 1);
    };
    LayoutProblem problem;
    const auto nodes = static_cast<uint32_t>(number(2, 7));
    for (uint32_t node = 0; node < nodes; ++node)
    {
        std::vector<double> costs(number(1, 4));
        for (double& cost : costs)
        {
            cost = static_cast<double>(number(0, 1000));
        }
        problem.AddNode(costs);
        if (node == 0)
        {
            continue;
        }
        const uint32_t other = isTree ? static_cast<uint32_t>(number(0, node - 1)) : node - 1;
        auto matrix = std::make_shared<CostMatrix>(problem.GetNode(other).size(), costs.size());
        for (std::size_t i = 0; i < matrix->GetNRows(); ++i)
        {
            for (std::size_t k = 0; k < matrix->GetNColumns(); ++k)
            {
                // As boxing: equal layouts cost nothing.
                matrix->At(i, k) = i == k ? 0 : static_cast<double>(number(0, 1000));
            }
        }
        problem.AddEdge({other, node, matrix});
    }
    return problem;
}

double
Solve(const LayoutProblem& problem, const std::string& method)
{
    const LayoutSolution solution = FindLayoutMethod(method).solve(problem, {});
    EXPECT_DOUBLE_EQ(solution.cost, problem.GetCost(solution.choice));
    return solution.cost;
}

} // namespace

// AutoDDL B4: one linear layer with its input replicated where it does not split samples; MB per
// device.
TEST(LayoutCosts, LinearLayerOnTwoAxes)
{
    struct Row
    {
        uint32_t n0, n1;
        double megabytes;
    };

    for (const Row& row : {Row{1, 8, 117.44},
                           Row{2, 4, 83.89},
                           Row{4, 2, 117.44},
                           Row{8, 1, 234.88},
                           Row{64, 1, 264.24},
                           Row{1, 64, 132.12},
                           Row{4, 16, 44.04},
                           Row{8, 8, 44.04}})
    {
        const Model model = MakeLayers(4096, 8192, 1, true);
        LayoutSpaceOptions options;
        options.mesh = MakeMesh({row.n0, row.n1});
        options.communication = &VOLUME;
        options.precision = {DataType::BF16, DataType::BF16};
        const LayoutSpace space(model, options);
        const LayoutProblem problem = space.MakeProblem();
        LayoutChoice choice{Find(space, 0, {"batch", ""}),
                            Find(space, 1, {"batch", ""}),
                            Find(space, 2, {"batch", "out"})};
        // The layer before is not what is asked for: its gradient is taken off.
        const double columns = problem.GetCost(choice) - problem.GetNode(0)[choice[0]];
        EXPECT_NEAR(columns / 1e6, row.megabytes, 0.005) << row.n0 << " x " << row.n1;
        const double k = 8192;
        const double b = 4096;
        const double formula =
            2 * 2 *
            ((row.n0 - 1.0) / row.n0 * k * k / row.n1 + (row.n1 - 1.0) / row.n1 * b * k / row.n0);
        EXPECT_DOUBLE_EQ(columns, formula);
    }
    // 4 e k sqrt(b n / p), what the best mesh approaches.
    EXPECT_NEAR(4 * 2 * 8192 * std::sqrt(4096.0 * 8192 / 64) / 1e6, 47.45, 0.005);
}

// AutoDDL B5: words per processor.
TEST(LayoutBound, ProductsReachTheBoundWhereAGridIsEven)
{
    struct Row
    {
        uint64_t m, n, k, p;
        double words;
        std::array<uint64_t, 3> grid;
    };

    for (const Row& row : {Row{4096, 4096, 4096, 64, 2359296, {4, 4, 4}},
                           Row{4096, 4096, 4096, 8, 6291456, {2, 2, 2}},
                           Row{65536, 1024, 1024, 16, 983040, {16, 1, 1}},
                           Row{8192, 8192, 1024, 16, 3145728, {4, 4, 1}}})
    {
        EXPECT_NEAR(GetProductBound(row.m, row.n, row.k, row.p), row.words, 1e-6 * row.words);
        const ProductGrid grid = FindBestProductGrid(row.m, row.n, row.k, row.p);
        EXPECT_DOUBLE_EQ(grid.words, row.words);
        EXPECT_EQ(grid.sizes, row.grid);
    }
    EXPECT_NEAR(GetProductBound(4096, 4096, 4096, 16), 4781009.8, 0.1);
    EXPECT_DOUBLE_EQ(FindBestProductGrid(4096, 4096, 4096, 16).words, 5242880);
    EXPECT_THROW(GetProductBound(1, 1, 1, 0), std::invalid_argument);
}

// No layout of a product is below the bound: forward passes of all candidates on 64 devices.
TEST(LayoutBound, HoldsForEveryGrid)
{
    for (const uint64_t p : {2, 6, 12, 16, 64, 100})
    {
        for (const auto& [m, n, k] : {std::array<uint64_t, 3>{4096, 4096, 4096},
                                      std::array<uint64_t, 3>{100000, 300, 20},
                                      std::array<uint64_t, 3>{64, 8192, 8192}})
        {
            EXPECT_GE(FindBestProductGrid(m, n, k, p).words,
                      GetProductBound(m, n, k, p) * (1 - 1e-12));
        }
    }
}

// AutoDDL B6: KiB per device.
TEST(LayoutSearch, FourLayersOnFourDevices)
{
    const std::vector<std::string> data(4, "batch");
    const std::vector<std::string> megatron{"out", "in", "out", "in"};
    const std::map<uint64_t, double> optima{{64, 1152},
                                            {256, 4608},
                                            {512, 9216},
                                            {1024, 18432},
                                            {2048, 21504},
                                            {4096, 24576},
                                            {16384, 24576}};
    for (const auto& [batch, kib] : optima)
    {
        const Mlp mlp(batch);
        const LayoutProblem problem = mlp.space.MakeProblem();
        EXPECT_DOUBLE_EQ(Solve(problem, "exhaustive") / 1024, kib) << batch;
        EXPECT_DOUBLE_EQ(Solve(problem, "reduction") / 1024, kib) << batch;
        EXPECT_DOUBLE_EQ(Solve(problem, "descent") / 1024, kib) << batch;
        EXPECT_DOUBLE_EQ(mlp.GetCost(data), 24576);
    }
    EXPECT_DOUBLE_EQ(Mlp(64).GetCost(megatron), 1152);
    EXPECT_DOUBLE_EQ(Mlp(2048).GetCost(megatron), 36864);
    EXPECT_DOUBLE_EQ(Mlp(2048).GetCost({"out", "batch", "batch", "batch"}), 21504);
    EXPECT_DOUBLE_EQ(Mlp(16384).GetCost(megatron), 294912);
}

// AutoDDL B7.
TEST(LayoutSearch, DescentFromAllDataNeedsTwoSweeps)
{
    for (const uint64_t batch : {64, 256, 512, 1024, 2048, 4096, 16384})
    {
        const Mlp mlp(batch);
        const LayoutProblem problem = mlp.space.MakeProblem();
        LayoutSearchOptions options;
        options.starts = {mlp.space.MakeStart(LayoutStart::ALL_DATA)};
        options.randomStarts = 0;
        EXPECT_DOUBLE_EQ(problem.GetCost(options.starts[0]) / 1024, 24576);
        const LayoutSolution found = FindLayoutMethod("descent").solve(problem, options);
        EXPECT_DOUBLE_EQ(found.cost, Solve(problem, "exhaustive")) << batch;
        EXPECT_LE(found.sweeps, 2u);
        EXPECT_LE(found.evaluations, 17u);
        EXPECT_EQ(FindLayoutMethod("exhaustive").solve(problem, {}).evaluations, 81u);
    }
}

TEST(LayoutSearch, StartsAreWhatExpertsChoose)
{
    const Mlp mlp(64);
    const LayoutProblem problem = mlp.space.MakeProblem();
    const LayoutChoice start = mlp.space.MakeStart(LayoutStart::MEGATRON);
    EXPECT_DOUBLE_EQ(problem.GetCost(start) / 1024, 1152);
    for (OperatorId op = 0; op < 4; ++op)
    {
        EXPECT_EQ(start[op], Find(mlp.space, op, {op % 2 == 0 ? "out" : "in"}));
        EXPECT_EQ(mlp.space.MakeStart(LayoutStart::ALL_TENSOR)[op], Find(mlp.space, op, {"out"}));
    }
}

TEST(LayoutSearch, ReductionIsExactAndDescentNearOnRandomChainsAndTrees)
{
    std::mt19937_64 random(17);
    std::vector<double> excess;
    for (int i = 0; i < 200; ++i)
    {
        const LayoutProblem problem = MakeRandomProblem(random, i % 2 == 1);
        const double best = Solve(problem, "exhaustive");
        EXPECT_DOUBLE_EQ(Solve(problem, "reduction"), best) << "problem " << i;
        excess.push_back(best > 0 ? Solve(problem, "descent") / best - 1 : 0);
        EXPECT_GE(excess.back(), -1e-12);
    }
    std::nth_element(excess.begin(), excess.begin() + 100, excess.end());
    EXPECT_LE(excess[100], 0.02);
}

// Complete graphs of five nodes, which leaves and nodes between two others do not take apart.
TEST(LayoutSearch, ReductionMergesNodesWhereItIsStuck)
{
    std::mt19937_64 random(5);
    for (int round = 0; round < 20; ++round)
    {
        LayoutProblem problem;
        for (uint32_t node = 0; node < 5; ++node)
        {
            problem.AddNode(
                {double(random() % 100), double(random() % 100), double(random() % 100)});
            for (uint32_t other = 0; other < node; ++other)
            {
                auto matrix = std::make_shared<CostMatrix>(3, 3);
                for (std::size_t i = 0; i < 9; ++i)
                {
                    matrix->At(i / 3, i % 3) = static_cast<double>(random() % 100);
                }
                problem.AddEdge({other, node, matrix});
            }
        }
        EXPECT_DOUBLE_EQ(Solve(problem, "reduction"), Solve(problem, "exhaustive"));
        LayoutSearchOptions narrow;
        narrow.mostCandidates = 8;
        EXPECT_THROW(FindLayoutMethod("reduction").solve(problem, narrow), std::invalid_argument);
    }
}

// Two layers split their sums and meet in an addition: if that may pass partial sums on, one
// all-reduce does for both.
TEST(LayoutSearch, PartialSumsMeetBeforeTheyAreReduced)
{
    ModelBuilder builder("two branches");
    const int64_t width = 1024;
    const TensorId x = builder.AddInput("x", {64, 1024}, {"batch", "feature"});
    const OperatorAttributes linear{{{"outputs", {width}}, {"bias", {0}}}, {}};
    const TensorId a = builder.Add("linear", "a", {x}, linear)[0];
    const TensorId b = builder.Add("linear", "b", {x}, linear)[0];
    const TensorId sum = builder.Add("add", "sum", {a, b})[0];
    builder.Add("gelu", "gelu", {sum});
    const Model model = builder.Build();
    LayoutSpaceOptions options;
    options.mesh = MakeMesh({4});
    options.communication = &VOLUME;
    const LayoutSpace space(model, options);
    const LayoutProblem problem = space.MakeProblem();
    const auto& sums = space.GetCandidates(2);
    const auto partial =
        std::find_if(sums.begin(), sums.end(), [](const LayoutCandidate& candidate) {
            return candidate.writes[0].ToString() == "(P)";
        });
    ASSERT_NE(partial, sums.end());
    LayoutChoice choice{Find(space, 0, {"in"}),
                        Find(space, 1, {"in"}),
                        static_cast<uint32_t>(partial - sums.begin()),
                        Find(space, 3, {""})};
    const double once = problem.GetCost(choice);
    choice[2] = Find(space, 2, {""});
    EXPECT_DOUBLE_EQ(once, 2 * 64 * 1024 * 4 * 3 / 4.0); // one all-reduce of the sum
    EXPECT_DOUBLE_EQ(problem.GetCost(choice), 2 * once);
}

// Where tensor parallelism has nothing to split, an operator is replicated: all starts can run.
TEST(LayoutSearch, StartsCostSomethingFinite)
{
    const Model model = MakeLayers(64, 1024, 3, true);
    for (const std::vector<uint32_t>& sizes : {std::vector<uint32_t>{4}, {2, 4}})
    {
        LayoutSpaceOptions options;
        options.mesh = MakeMesh(sizes);
        options.communication = &VOLUME;
        const LayoutSpace space(model, options);
        const LayoutProblem problem = space.MakeProblem();
        const double best = Solve(problem, "reduction");
        for (const LayoutStart start :
             {LayoutStart::ALL_DATA, LayoutStart::ALL_TENSOR, LayoutStart::MEGATRON})
        {
            const double cost = problem.GetCost(space.MakeStart(start));
            EXPECT_TRUE(std::isfinite(cost));
            EXPECT_GE(cost, best);
        }
    }
}

TEST(LayoutSearch, WhatDoesNotDivideOrFitIsNoCandidate)
{
    const Model model = MakeLayers(6, 1024, 1);
    LayoutSpaceOptions options;
    options.mesh = MakeMesh({4});
    options.communication = &VOLUME;
    const LayoutSpace space(model, options);
    EXPECT_THROW(Find(space, 0, {"batch"}), std::invalid_argument); // 6 samples, 4 devices
    const LayoutCandidate& columns = space.GetCandidates(0)[Find(space, 0, {"out"})];
    // A quarter of the parameters with gradient and state, and of the result.
    EXPECT_DOUBLE_EQ(columns.memoryBytes, 1024 * 1024 / 4 * 20.0);
    EXPECT_DOUBLE_EQ(columns.savedBytes, 6 * 1024 / 4 * 4);
    options.memoryBytes = columns.memoryBytes + columns.savedBytes;
    const LayoutSpace narrow(model, options);
    EXPECT_EQ(narrow.GetCandidates(0).size(), 1u);
    options.memoryBytes = 1000;
    EXPECT_THROW(LayoutSpace(model, options), std::invalid_argument);
}

TEST(LayoutSearch, LatencyCountsSteps)
{
    const AlphaBetaCost cost(4, {1e-6, 1e9}, {1e-5, 1e8});
    EXPECT_DOUBLE_EQ(cost.GetCost(Collective::ALL_REDUCE, {0, 1, 2, 3}, 4e6), 6e-6 + 6e-3);
    EXPECT_DOUBLE_EQ(cost.GetCost(Collective::ALL_GATHER, {0, 4, 8, 12}, 4e6), 3e-5 + 3e-2);
    EXPECT_DOUBLE_EQ(cost.GetCost(Collective::SEND_RECV, {3, 4}, 1e6), 1e-5 + 1e-2);
    EXPECT_THROW(FindLayoutMethod("luck"), std::invalid_argument);
}
