/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-compiler.h"
#include "ns3/proteus-inventory.h"
#include "ns3/proteus-layout-table.h"
#include "ns3/proteus-placement.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

using Lines = std::multiset<std::string>;

/// The communications of a phase whose names contain a text: "kind bytes x devices".
Lines
FindCommunication(const ExecutionGraph& graph, const std::string& phase, const std::string& name)
{
    Lines lines;
    for (const Task& task : graph.GetTasks())
    {
        if (task.kind == TaskKind::COMMUNICATION && graph.GetPhases()[task.phase].name == phase &&
            graph.GetName(task).find(name) != std::string::npos)
        {
            std::string line =
                std::string(ToString(task.collective)) + " " + std::to_string(task.bytes) + " in";
            for (const DeviceId device : graph.GetGroup(task.place))
            {
                line += " " + std::to_string(device);
            }
            lines.insert(line);
        }
    }
    return lines;
}

MeshSpec
Devices(const std::vector<DeviceId>& devices, std::vector<uint32_t> sizes = {})
{
    MeshSpec mesh;
    mesh.devices = devices;
    mesh.sizes =
        sizes.empty() ? std::vector<uint32_t>{static_cast<uint32_t>(devices.size())} : sizes;
    return mesh;
}

ItemSpec
Item(const std::vector<DeviceId>& devices,
     const std::vector<std::pair<std::string, uint64_t>>& parts)
{
    ItemSpec item;
    item.mesh = Devices(devices);
    item.splits.emplace();
    for (const auto& [dimension, number] : parts)
    {
        item.splits->push_back({dimension, number, {}});
    }
    return item;
}

/// How an operator or a tensor of the table lies.
struct Config
{
    std::vector<DeviceId> devices{0, 1};
    std::vector<std::pair<std::string, uint64_t>> parts;
};

/// x(64, 1024) -> fc1 -> y(64, 512) -> fc2 -> (64, 256), no bias.
Model
TwoLayers()
{
    ModelBuilder builder("two layers");
    const TensorId x = builder.AddInput("x", {64, 1024}, {"batch", "feature"});
    OperatorAttributes attributes;
    attributes.numbers = {{"outputs", {512}}, {"bias", {0}}};
    const TensorId y = builder.Add("linear", "fc1", {x}, attributes)[0];
    attributes.numbers["outputs"] = {256};
    builder.Add("linear", "fc2", {y}, attributes);
    return builder.Build();
}

StrategyTree
TwoLayerTree(const Config& first, const Config* tensor, const Config& second)
{
    StrategyTree tree;
    tree.name = "table";
    StrategyNode fc1;
    fc1.name = "fc1";
    fc1.op = Item(first.devices, first.parts);
    if (tensor)
    {
        fc1.items["out"] = Item(tensor->devices, tensor->parts);
    }
    StrategyNode fc2;
    fc2.name = "fc2";
    fc2.op = Item(second.devices, second.parts);
    tree.root.children = {fc1, fc2};
    return tree;
}

} // namespace

// The verified table of proteus.md, section 2.3, row by row. The original gives gather and scatter
// the bytes of one share, an ExecutionGraph those of the whole buffer.
TEST(Compiler, NineLayoutCases)
{
    struct Row
    {
        const char* what;
        Config first;
        std::vector<Config> tensor; // none: inferred
        Config second;
        Lines forward;  // y
        Lines backward; // dy
    };

    const Config batch{{0, 1}, {{"0", 2}}};
    const Config out{{0, 1}, {{"1", 2}}};
    const Config in{{0, 1}, {{"2", 2}}};
    const Config replicated{{0, 1}, {}};
    const Config feature{{0, 1}, {{"1", 2}}};
    const Config dev0{{0}, {}};
    const Config dev1{{1}, {}};
    const std::vector<Row> rows{
        {"batch2 / replicated / out2",
         batch,
         {replicated},
         out,
         {"all-gather 131072 in 0 1"},
         {"all-reduce 131072 in 0 1"}},
        // Gathered when fc2 reads y, and again when fc2's backward pass does.
        {"batch2 / inferred / out2",
         batch,
         {},
         out,
         {"all-gather 131072 in 0 1"},
         {"reduce-scatter 131072 in 0 1", "all-gather 131072 in 0 1"}},
        {"in2 / batch2 / batch2",
         in,
         {batch},
         batch,
         {"reduce-scatter 131072 in 0 1"},
         {"all-gather 131072 in 0 1"}},
        {"in2 / feature2 / in2",
         in,
         {feature},
         in,
         {"reduce-scatter 131072 in 0 1"},
         {"all-gather 131072 in 0 1"}},
        {"batch2 / feature2 / in2",
         batch,
         {feature},
         in,
         {"send-recv 32768 in 0 1", "send-recv 32768 in 1 0"},
         {"send-recv 32768 in 0 1", "send-recv 32768 in 1 0"}},
        {"out2 / feature2 / in2", out, {feature}, in, {}, {}},
        {"dev0 / batch2 / batch2",
         dev0,
         {batch},
         batch,
         {"scatter 131072 in 0 1"},
         {"send-recv 65536 in 1 0"}},
        {"batch2 / dev0 / dev0",
         batch,
         {dev0},
         dev0,
         {"gather 131072 in 0 1"},
         {"send-recv 65536 in 0 1"}},
        {"dev0 / dev1 / dev1",
         dev0,
         {dev1},
         dev1,
         {"send-recv 131072 in 0 1"},
         {"send-recv 131072 in 1 0"}},
    };
    for (const Row& row : rows)
    {
        SCOPED_TRACE(row.what);
        const ExecutionGraph graph = CompileModel(
            TwoLayers(),
            TwoLayerTree(row.first, row.tensor.empty() ? nullptr : &row.tensor[0], row.second));
        EXPECT_EQ(FindCommunication(graph, "forward", "fc1"), row.forward);
        EXPECT_EQ(FindCommunication(graph, "backward", "fc1"), row.backward);
        // y2 of Megatron's pair of layers.
        const bool isMegatron = std::string(row.what) == "out2 / feature2 / in2";
        EXPECT_EQ(FindCommunication(graph, "forward", "fc2"),
                  isMegatron || std::string(row.what) == "in2 / feature2 / in2" ||
                          std::string(row.what) == "batch2 / feature2 / in2"
                      ? Lines{"all-reduce 65536 in 0 1"}
                      : Lines{});
    }
}

// B2: x(64, 1024), w(4096, 1024), on the mesh [[g0, g1], [g2, g3]].
TEST(Compiler, MeshToTensorLayouts)
{
    ModelBuilder builder("linear");
    const TensorId x = builder.AddInput("x", {64, 1024}, {"batch", "feature"});
    OperatorAttributes attributes;
    attributes.numbers = {{"outputs", {4096}}};
    builder.Add("linear", "fc", {x}, attributes);
    const Model model = builder.Build();
    auto holders = [&](const std::vector<std::pair<std::string, uint64_t>>& parts) {
        StrategyTree tree;
        StrategyNode node;
        node.name = "fc";
        node.op = Item({0, 1, 2, 3}, parts);
        node.op.mesh = Devices({0, 1, 2, 3}, {2, 2});
        tree.root.children = {node};
        const Placement placement = PlaceModel(model, tree);
        std::map<std::string, std::string> all;
        for (const PlacedTensor& tensor : placement.tensors)
        {
            // By block, row-major: who has it.
            std::map<std::vector<std::pair<uint64_t, uint64_t>>, std::string> blocks;
            for (uint32_t i = 0; i < 4; ++i)
            {
                std::vector<std::pair<uint64_t, uint64_t>> block;
                for (const Interval& interval : tensor.home.GetBox(tensor.tensor.shape, i))
                {
                    block.emplace_back(interval.begin, interval.end);
                }
                blocks[block] += "g" + std::to_string(tensor.home.mesh->GetDevices()[i]);
            }
            std::string& text = all[tensor.tensor.name];
            for (const auto& [block, devices] : blocks)
            {
                text += (text.empty() ? "" : " ") + devices;
            }
        }
        const PlacedOperator& op = placement.operators[0];
        all["partial"] =
            GetResultLayout(op, op.op.writes[0], {&op.op.reads[0], &op.op.reads[1]}).partial.empty()
                ? "no"
                : "yes";
        return all;
    };
    using Expected = std::map<std::string, std::string>;
    EXPECT_EQ(holders({{"0", 2}, {"1", 2}}),
              (Expected{{"x", "g0g1 g2g3"},
                        {"fc.weight", "g0g2 g1g3"},
                        {"fc.bias", "g0g2 g1g3"},
                        {"fc", "g0 g1 g2 g3"},
                        {"partial", "no"}}));
    EXPECT_EQ(holders({{"0", 2}, {"2", 2}}),
              (Expected{{"x", "g0 g1 g2 g3"},
                        {"fc.weight", "g0g2 g1g3"},
                        {"fc.bias", "g0g1g2g3"},
                        {"fc", "g0g1 g2g3"},
                        {"partial", "yes"}}));
}

namespace
{

/// LN -> fc1(1024 -> 4096, out split) -> ReLU -> fc2(4096 -> 1024, in split), batch 64.
ExecutionGraph
CompileMegatronMlp()
{
    ModelBuilder builder("mlp");
    const TensorId x = builder.AddInput("x", {64, 1024}, {"batch", "feature"});
    const TensorId n = builder.Add("layer-norm", "norm", {x})[0];
    OperatorAttributes attributes;
    attributes.numbers = {{"outputs", {4096}}};
    const TensorId a = builder.Add("linear", "fc1", {n}, attributes)[0];
    const TensorId b = builder.Add("relu", "relu", {a})[0];
    attributes.numbers = {{"outputs", {1024}}};
    builder.Add("linear", "fc2", {b}, attributes);
    StrategyTree tree;
    tree.root.op.mesh = Devices({0, 1});
    StrategyNode fc1;
    fc1.name = "fc1";
    fc1.op.splits = {{"out", 2, {}}};
    StrategyNode fc2;
    fc2.name = "fc2";
    fc2.op.splits = {{"in", 2, {}}};
    tree.root.children = {fc1, fc2};
    return CompileModel(builder.Build(), tree);
}

} // namespace

// B4. The original also all-reduces the bias gradient of fc2 (4096 bytes), which every device has
// complete (proteus.md 9.2-4); here nobody does.
TEST(Compiler, MegatronMlpHasOneAllReduceEachWay)
{
    const ExecutionGraph graph = CompileMegatronMlp();
    EXPECT_EQ(FindCommunication(graph, "forward", ""), Lines{"all-reduce 262144 in 0 1"});
    EXPECT_EQ(FindCommunication(graph, "forward", "fc2"), Lines{"all-reduce 262144 in 0 1"});
    EXPECT_EQ(FindCommunication(graph, "backward", ""), Lines{"all-reduce 262144 in 0 1"});
    EXPECT_EQ(FindCommunication(graph, "backward", "norm"), Lines{"all-reduce 262144 in 0 1"});
    EXPECT_EQ(FindCommunication(graph, "gradients", ""), Lines{});
}

// Row-parallel fc1 whose partial sums are scattered over the batch, and replicated fc2.
TEST(LayoutTable, SaysHowEveryTensorLies)
{
    const Config in{{0, 1}, {{"2", 2}}};
    const Config batch{{0, 1}, {{"0", 2}}};
    const Config dev2{{2}, {}};
    std::ostringstream text;
    WriteLayoutCsv(text, PlaceModel(TwoLayers(), TwoLayerTree(in, &batch, dev2)));
    EXPECT_EQ(text.str(),
              "operator,stage,mesh,item,tensor,shape,computed,kept,gradient,state\n"
              "fc1,0,2: 0-1,in:0,x,64 x 1024,S1,S1,,\n"
              "fc1,0,2: 0-1,weight,fc1.weight,512 x 1024,S1,S1,S1,S1\n"
              "fc1,0,2: 0-1,out,fc1,64 x 512,P,S0,S0,\n"
              "fc2,0,2,in:0,fc1,64 x 512,R,S0 on 2: 0-1,S0 on 2: 0-1,\n"
              "fc2,0,2,weight,fc2.weight,256 x 512,R,R,R,R\n"
              "fc2,0,2,out,fc2,64 x 256,R,R,R,\n");
    EXPECT_EQ(DescribeMesh(DeviceMesh({2, 2}, {0, 1, 4, 6}, {"dp", "tp"})), "dp=2 tp=2: 0-1 4 6");
}
