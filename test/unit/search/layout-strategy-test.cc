/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-compiler.h"
#include "ns3/proteus-inventory.h"
#include "ns3/proteus-layout-strategy.h"
#include "ns3/proteus-model-json.h"
#include "ns3/proteus-parallel-plan.h"
#include "ns3/proteus-placement.h"
#include "ns3/proteus-strategy-json.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

const VolumeCost VOLUME;

/// Linear layers and sums of them, gelu at the end.
Model
MakeModel(uint32_t layers, bool branches)
{
    ModelBuilder builder("layers");
    const OperatorAttributes linear{{{"outputs", {256}}, {"bias", {0}}}, {}};
    TensorId x = builder.AddInput("x", {64, 256}, {"batch", "feature"});
    x = builder.Add("gelu", "begin", {builder.Add("linear", "first", {x}, linear)[0]})[0];
    for (uint32_t i = 0; i < layers; ++i)
    {
        const std::string name = "layer" + std::to_string(i);
        const TensorId y = builder.Add("linear", name + ".a", {x}, linear)[0];
        x = branches ? builder.Add("add",
                                   name + ".sum",
                                   {y, builder.Add("linear", name + ".b", {x}, linear)[0]})[0]
                     : y;
    }
    builder.Add("gelu", "end", {x});
    return builder.Build();
}

MeshPtr
MakeNamedMesh(const std::vector<uint32_t>& sizes)
{
    std::vector<DeviceId> devices(
        std::accumulate(sizes.begin(), sizes.end(), 1U, std::multiplies<>()));
    std::iota(devices.begin(), devices.end(), 0);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < sizes.size(); ++i)
    {
        names.push_back("axis" + std::to_string(i));
    }
    return std::make_shared<DeviceMesh>(sizes, devices, names);
}

/// Bytes that a device sends in a compiled graph, all devices alike.
double
CountSent(const ExecutionGraph& graph)
{
    double bytes = 0;
    for (const Task& task : graph.GetTasks())
    {
        if (task.kind == TaskKind::COMMUNICATION)
        {
            const std::vector<DeviceId>& group = graph.GetGroup(task.place);
            const bool isPair = task.collective == Collective::SEND_RECV;
            bytes += VOLUME.GetCost(task.collective, group, static_cast<double>(task.bytes)) *
                     (isPair ? 1 : static_cast<double>(group.size()));
        }
    }
    return bytes / graph.GetNDevices();
}

ExecutionGraph
CompileChoice(const LayoutSpace& space, const LayoutChoice& choice)
{
    StrategyTree base;
    base.batch = 64;
    const StrategyTree tree = MakeLayoutStrategy(space, choice, base);
    // What is run is what the file says.
    std::stringstream file;
    WriteStrategyJson(tree, file);
    const StrategyFile read = ReadStrategyJson(file, "s.json");
    return CompileModel(space.GetModel(), read.GetTree(space.GetModel()));
}

} // namespace

// What the search counts is what the compiled strategy sends, byte by byte; less where two
// operators read a tensor alike, which is then brought to its layout once.
TEST(LayoutStrategy, CompiledBytesAreTheCost)
{
    for (const bool branches : {false, true})
    {
        const Model model = MakeModel(3, branches);
        for (const std::vector<uint32_t>& sizes : {std::vector<uint32_t>{4}, {2, 2}, {2, 4}})
        {
            LayoutSpaceOptions options;
            options.mesh = MakeNamedMesh(sizes);
            options.communication = &VOLUME;
            options.mayReplicate = false;
            options.isReadAgain = true;
            const LayoutSpace space(model, options);
            const LayoutProblem problem = space.MakeProblem();
            std::vector<LayoutChoice> choices{
                space.MakeStart(LayoutStart::ALL_DATA),
                space.MakeStart(LayoutStart::MEGATRON),
                FindLayoutMethod("reduction").solve(problem, {}).choice};
            for (const LayoutChoice& choice : choices)
            {
                const double sent = CountSent(CompileChoice(space, choice));
                const double cost = problem.GetCost(choice);
                EXPECT_LE(sent, cost * (1 + 1e-6) + 1);
                if (!branches)
                {
                    EXPECT_NEAR(sent, cost, 1e-6 * cost + 1) << sizes.size() << " axes";
                }
            }
        }
    }
}

// Two layers that split their sums meet in an addition: one all-reduce, not two.
TEST(LayoutStrategy, PartialSumsAreReducedOnceWhereTheyMeet)
{
    const char* tree = R"({"format": "proteus-strategy", "version": 1, "batch": 64,
        "mesh": {"axes": ["tp"], "sizes": [4]},
        "tree": {"children": [
            {"name": "first", "split": {}}, {"name": "begin", "split": {}},
            {"name": "layer0", "children": [
                {"name": "a", "split": {"in": "tp"}KEEP},
                {"name": "b", "split": {"in": "tp"}KEEP},
                {"name": "sum", "complete": true}]},
            {"name": "end", "split": {}}]}})";
    const Model model = MakeModel(1, true);
    auto count = [&](const std::string& keep) {
        std::string text = tree;
        for (std::size_t at = text.find("KEEP"); at != std::string::npos; at = text.find("KEEP"))
        {
            text.replace(at, 4, keep);
        }
        std::istringstream input(text);
        const ExecutionGraph graph =
            CompileModel(model, ReadStrategyJson(input, "s.json").GetTree(model));
        uint64_t reductions = 0;
        for (const InventoryRow& row : TakeInventory(graph))
        {
            reductions +=
                row.phase == "forward" && row.collective == Collective::ALL_REDUCE ? row.count : 0;
        }
        return reductions;
    };
    EXPECT_EQ(count(""), 2u);
    EXPECT_EQ(count(R"(, "items": {"out": {"partial": ["tp"]}})"), 1u);
    EXPECT_THROW(count(R"(, "items": {"out": {"partial": ["dp"]}})"), std::invalid_argument);
}

TEST(LayoutStrategy, OnlyPartialSumsCanBeKeptAsSuch)
{
    const Model model = MakeModel(1, false);
    std::istringstream input(R"({"format": "proteus-strategy", "version": 1, "batch": 64,
        "mesh": {"axes": ["tp"], "sizes": [4]},
        "tree": {"children": [{"name": "layer0", "children": [{"name": "a",
            "split": {"out": "tp"}, "items": {"out": {"partial": ["tp"]}}}]}]}})");
    const StrategyFile file = ReadStrategyJson(input, "s.json");
    EXPECT_THROW(CompileModel(model, file.GetTree(model)), std::invalid_argument);
}

TEST(LayoutStrategy, MeshesAreAllFactorisations)
{
    using Meshes = std::set<std::vector<uint32_t>>;
    auto list = [](uint32_t devices, std::size_t axes) {
        const auto meshes = ListMeshes(devices, axes);
        return Meshes(meshes.begin(), meshes.end());
    };
    EXPECT_EQ(list(8, 3), (Meshes{{8}, {2, 4}, {4, 2}, {2, 2, 2}}));
    EXPECT_EQ(list(8, 2), (Meshes{{8}, {2, 4}, {4, 2}}));
    EXPECT_EQ(list(6, 2), (Meshes{{6}, {2, 3}, {3, 2}}));
    EXPECT_EQ(list(1, 2), (Meshes{{1}}));
}

// The best is first, fits, and is no dearer than what experts begin with.
TEST(LayoutStrategy, SearchFindsWhatFits)
{
    const Model model = MakeModel(4, true);
    LayoutSpaceOptions options;
    options.communication = &VOLUME;
    StrategyTree base;
    base.batch = 64;
    const std::vector<LayoutFinding> all = SearchLayouts(model, 8, 2, options, base);
    ASSERT_GE(all.size(), 4u);
    EXPECT_FALSE(all[0].isBaseline);
    for (const LayoutFinding& finding : all)
    {
        EXPECT_GE(finding.seconds, all[0].seconds);
        EXPECT_NO_THROW(CompileModel(model, finding.tree));
    }
    double least = all[0].memoryBytes;
    for (const LayoutFinding& finding : all)
    {
        least = std::min(least, finding.memoryBytes);
    }
    options.memoryBytes = least;
    const std::vector<LayoutFinding> narrow = SearchLayouts(model, 8, 2, options, base);
    ASSERT_FALSE(narrow.empty());
    for (const LayoutFinding& finding : narrow)
    {
        EXPECT_LE(finding.memoryBytes, least);
    }
}

// Layouts inside the stages of a plan: every operator stays on its stage, whose devices are those
// of the plan's mapping, also when the strategy is read back from its file.
TEST(LayoutStrategy, StagesKeepTheirPlaces)
{
    const Model model = MakeModel(4, true);
    for (const bool isInside : {false, true})
    {
        ParallelPlan plan;
        plan.pipelineParallel = 2;
        plan.dataParallel = 4;
        plan.microBatch = 16;
        plan.globalBatch = 128;
        plan.isPipelineInside = isInside;
        plan.recompute = RecomputePlan::FULL;
        LayoutSpaceOptions options;
        options.communication = &VOLUME;
        const std::vector<LayoutFinding> found =
            SearchLayouts(model, 8, 2, options, ExpandPlan(model, plan));
        ASSERT_EQ(found.size(), 2u); // meshes of 4 and 2 x 2; no experts
        for (const LayoutFinding& finding : found)
        {
            const bool hasTwoAxes = finding.name.find("2 x 2") != std::string::npos;
            EXPECT_NE(finding.name.find("in 2 stages"), std::string::npos) << finding.name;
            std::stringstream file;
            WriteStrategyJson(finding.tree, file);
            const StrategyTree tree = ReadStrategyJson(file, "s.json").GetTree(model);
            EXPECT_EQ(tree.schedule.microBatches, 2u);
            for (const PlacedOperator& placed : PlaceModel(model, tree).operators)
            {
                if (placed.isTransfer)
                {
                    continue;
                }
                const bool isLate = placed.op.name == "end" || placed.op.name[5] > '1';
                const uint32_t stage =
                    placed.op.name[0] == 'l' || placed.op.name == "end" ? isLate : 0;
                EXPECT_EQ(placed.stage, stage) << placed.op.name;
                std::vector<DeviceId> devices = placed.mesh->GetDevices();
                std::sort(devices.begin(), devices.end());
                const std::vector<DeviceId> first = isInside && hasTwoAxes
                                                        ? std::vector<DeviceId>{0, 1, 4, 5}
                                                        : std::vector<DeviceId>{0, 1, 2, 3};
                for (std::size_t i = 0; i < devices.size(); ++i)
                {
                    EXPECT_EQ(devices[i], first[i] + stage * (isInside && hasTwoAxes ? 2 : 4));
                }
            }
            EXPECT_TRUE(*tree.root.children.at(2).recompute); // layer0
            EXPECT_NO_THROW(CompileModel(model, tree));
        }
    }
}

TEST(LayoutStrategy, WhatIsComputedAgainStaysSo)
{
    const Model model = MakeModel(4, true);
    for (const RecomputePlan recompute :
         {RecomputePlan::NONE, RecomputePlan::BETWEEN_PRODUCTS, RecomputePlan::FULL})
    {
        ParallelPlan plan;
        plan.dataParallel = 8;
        plan.microBatch = 16;
        plan.globalBatch = 128;
        plan.recompute = recompute;
        const StrategyTree base = ExpandPlan(model, plan);
        LayoutSpaceOptions options;
        options.communication = &VOLUME;
        std::set<std::string> blocks;
        for (const LayoutFinding& finding : SearchLayouts(model, 8, 2, options, base))
        {
            for (const ModelOperator& op : model.GetOperators())
            {
                const std::string block = FindNodeSpec(base, op.name).recompute;
                EXPECT_EQ(FindNodeSpec(finding.tree, op.name).recompute, block) << op.name;
                EXPECT_EQ(FindNodeSpec(finding.tree, op.name).keeps,
                          FindNodeSpec(base, op.name).keeps)
                    << op.name;
                blocks.insert(block);
            }
        }
        EXPECT_EQ(blocks.size() > 1, recompute != RecomputePlan::NONE);
    }
}

// What the root computes again is a block called "model", which is the path of nothing.
TEST(LayoutStrategy, WhatTheRootComputesAgainStaysSo)
{
    const Model model = MakeModel(4, true);
    ParallelPlan plan;
    plan.dataParallel = 8;
    plan.microBatch = 16;
    plan.globalBatch = 128;
    StrategyTree base = ExpandPlan(model, plan);
    base.root.recompute = true;
    const std::string& spared = model.GetOperator(2).name;
    StrategyNode* node = &base.root;
    for (std::size_t begin = 0; begin < spared.size();)
    {
        const std::size_t end = std::min(spared.find('.', begin), spared.size());
        node = &node->GetChild(spared.substr(begin, end - begin));
        begin = end + 1;
    }
    node->recompute = false;
    LayoutSpaceOptions options;
    options.communication = &VOLUME;
    for (const LayoutFinding& finding : SearchLayouts(model, 8, 2, options, base))
    {
        for (const ModelOperator& op : model.GetOperators())
        {
            EXPECT_EQ(FindNodeSpec(finding.tree, op.name).recompute,
                      op.name == spared ? "" : "model")
                << op.name;
        }
        EXPECT_NO_THROW(CompileModel(model, finding.tree));
    }
}

// Transfers between stages are counted: with nothing else to do, the cost is theirs.
TEST(LayoutStrategy, WhatStagesSendIsTheCost)
{
    ModelBuilder builder("two");
    TensorId x = builder.AddInput("x", {64, 256}, {"batch", "feature"});
    const OperatorAttributes linear{{{"outputs", {256}}, {"bias", {0}}}, {}};
    x = builder.Add("linear", "layer0.a", {x}, linear)[0];
    builder.Add("linear", "layer1.a", {x}, linear);
    const Model model = builder.Build();
    LayoutSpaceOptions options;
    options.mesh = MakeNamedMesh({4});
    options.communication = &VOLUME;
    options.pipeline.stages = {0, 1};
    options.pipeline.ranks = 2;
    options.pipeline.stride = 4;
    const LayoutSpace space(model, options);
    const LayoutChoice data = space.MakeStart(LayoutStart::ALL_DATA);
    const LayoutProblem problem = space.MakeProblem();
    const double part = 64 * 256 * 4 / 4; // of the result, and of its gradient
    ASSERT_EQ(problem.GetEdges().size(), 1u);
    EXPECT_DOUBLE_EQ(problem.GetEdges()[0].cost->At(data[0], data[1]), 2 * part);
}

// Krizhevsky's layouts: the large layers of the classifier have no gradients to reduce.
TEST(LayoutStrategy, ClassifierSplitsFeatures)
{
    const Model model = LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/vgg16.json",
                                  {{"batch", 16}});
    EXPECT_TRUE(HasClassifier(model));
    EXPECT_FALSE(HasClassifier(MakeModel(2, false)));
    LayoutSpaceOptions options;
    options.mesh = MakeNamedMesh({8});
    options.communication = &VOLUME;
    const LayoutSpace space(model, options);
    const LayoutChoice choice = space.MakeStart(LayoutStart::CLASSIFIER);
    EXPECT_LT(space.MakeProblem().GetCost(choice),
              0.5 * space.MakeProblem().GetCost(space.MakeStart(LayoutStart::ALL_DATA)));
    for (OperatorId id = 0; id < choice.size(); ++id)
    {
        const ModelOperator& op = model.GetOperator(id);
        const LayoutCandidate& candidate = space.GetCandidates(id)[choice[id]];
        std::string split = "none";
        for (std::size_t i = 0; i < op.dimensions.size(); ++i)
        {
            split = candidate.splits[i].empty() ? split : op.dimensions[i].name;
        }
        const std::string expected = op.name == "classifier.fc1"   ? "out"
                                     : op.name == "classifier.fc2" ? "in"
                                                                   : "batch";
        if (op.kind == "linear" || op.kind == "convolution")
        {
            EXPECT_EQ(split, expected) << op.name;
        }
    }
}
