/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../error-of.h"
#include "compile-tools.h"

#include <cstdint>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3::proteus;
using namespace ns3::proteus::compiletest;

namespace
{

std::string
GetError(const std::string& model, const std::string& strategy)
{
    return ns3::proteus::ErrorOf([&] { Compile(model, strategy); });
}

} // namespace

TEST(StrategyJson, ExpandedPlanReadsBack)
{
    for (const std::string& plan :
         {std::string(R"({"dp": 2, "tp": 8, "pp": 4, "zero": 1, "sequenceParallel": true,
                          "globalBatch": 8, "recompute": "full"})"),
          std::string(R"({"dp": 4, "zero": 2, "zero2Gradients": "all-reduce"})"),
          std::string(R"({"tp": 2, "dp": 4, "cp": 2, "recompute": "selective"})")})
    {
        const StrategyFile file = ReadStrategy(plan);
        const Model model = LoadFor("gpt3-6.7b", file);
        std::ostringstream text;
        WriteStrategyJson(file.GetTree(model), text);
        const StrategyFile again = ReadStrategy(text.str());
        EXPECT_FALSE(again.plan.has_value());
        EXPECT_EQ(again.GetVariables(), file.GetVariables());
        std::ostringstream second;
        WriteStrategyJson(again.tree, second);
        EXPECT_EQ(text.str(), second.str());
        EXPECT_EQ(CompileModel(model, again.GetTree(model)),
                  CompileModel(model, file.GetTree(model)));
    }
}

// A plan whose experts have a grid of their own: axes "edp-tp" and "ep-tp", and expertZeroAxes.
TEST(StrategyJson, ExpandedExpertsReadBack)
{
    const StrategyFile file = ReadStrategy(
        R"({"tp": 4, "dp": 2, "ep": 2, "etp": 1, "zero": 1, "sequenceParallel": true})");
    const Model model = LoadFor("mixtral-8x7b", file, {{"layers", 2}});
    std::ostringstream text;
    WriteStrategyJson(file.GetTree(model), text);
    const StrategyFile again = ReadStrategy(text.str());
    EXPECT_EQ(again.GetVariables(), file.GetVariables()); // tensorParallel is 2 x 2
    EXPECT_EQ(again.tree.optimizer.expertZeroAxes, (std::vector<std::string>{"edp", "edp-tp"}));
    EXPECT_EQ(CompileModel(model, again.GetTree(model)), CompileModel(model, file.GetTree(model)));
    std::string other = text.str();
    const std::string axes = "\"expertZeroAxes\"";
    other.replace(other.find("edp-tp", other.find(axes)), 6, "dp-tp");
    EXPECT_THROW(CompileModel(model, ReadStrategy(other).GetTree(model)), std::invalid_argument);
}

TEST(StrategyJson, TreeByHand)
{
    const ExecutionGraph graph = Compile("gpt3-125m", R"({
        "format": "proteus-strategy", "version": 1, "batch": 4,
        "mesh": {"axes": ["dp", "tp"], "sizes": [2, 2]},
        "tree": {"split": {"batch": "dp"},
                 "children": [{"name": "layer{0..5}", "children": [
                     {"name": "qkv", "split": {"out": "tp"}},
                     {"name": "projection", "split": {"in": "tp"}}]},
                   {"name": "layer3", "children": [{"name": "qkv", "split": {}},
                                                   {"name": "projection", "split": {}}]},
                   {"name": "layer*", "children": [
                     {"name": "fc1", "mesh": [[0, 1], [2, 3]], "split": {"0": 2, "out": 2}},
                     {"name": "fc2", "split": {"in": "tp"}}]}]}})");
    // 5 of the first 6 layers share the attention, all share the MLP; 2 groups each.
    const std::map<std::string, uint64_t> counts = CountKinds(graph);
    EXPECT_EQ(counts.at("forward all-reduce 2"), 2u * (5 + 12));
    EXPECT_EQ(counts.at("backward all-reduce 2"), 2u * (5 + 12));
}

// ZeRO 1 and 2 of a single parameter, by the layouts of its items.
TEST(StrategyJson, ItemsOfAParameter)
{
    const std::string head = R"({"format": "proteus-strategy", "version": 1, "batch": 4,
        "mesh": {"axes": ["dp"], "sizes": [2]}, "gradients": {"buckets": "whole"},
        "tree": {"split": {"batch": "dp"}, "children": [{"name": "classifier", "children": [
        {"name": "fc1", "items": {"weight_state": {"split": {"0": "dp"}})";
    const uint64_t weight = uint64_t{4096} * 9216 * 4;
    const std::map<std::string, uint64_t> one = Count(Compile("alexnet", head + "}}]}]}}"));
    EXPECT_EQ(one.at("optimizer all-gather 2 " + std::to_string(weight)), 1u);
    EXPECT_EQ(one.at("gradients all-reduce 2 244403360"), 1u);
    const std::map<std::string, uint64_t> two =
        Count(Compile("alexnet", head + R"(, "weight_grad": {"split": {"0": "dp"}}}}]}]}})"));
    EXPECT_EQ(two.at("optimizer all-gather 2 " + std::to_string(weight)), 1u);
    EXPECT_EQ(two.at("gradients reduce-scatter 2 " + std::to_string(weight)), 1u);
    EXPECT_EQ(two.at("gradients all-reduce 2 " + std::to_string(244403360 - weight)), 1u);
}

// Where only the first stages are named, what follows them follows them.
TEST(StrategyJson, OperatorsFollowTheStageOfTheirInputs)
{
    const std::string head = R"({"format": "proteus-strategy", "version": 1, "batch": 4,
        "mesh": {"axes": ["pp", "dp"], "sizes": [2, 2]}, "tree": {"split": {"batch": "dp"},
        "children": [{"name": "features", "mesh": {"pp": 0}, "stage": 0},
                     {"name": "classifier", "mesh": {"pp": 1}, "stage": 1})";
    const std::string loss = R"(, {"name": "loss", "mesh": {"pp": 1}, "stage": 1})";
    EXPECT_EQ(Compile("alexnet", head + "]}}"), Compile("alexnet", head + loss + "]}}"));
}

TEST(StrategyJson, MistakesNameNodeOperatorAndDimension)
{
    EXPECT_EQ(GetError("gpt3-125m", R"({"tp": 5})"),
              "strategy \"plan\", node layer*/qkv, operator \"layer0.qkv\": dimension out of 12 "
              "cannot be split into 5 equal parts (tp = 5)");
    EXPECT_EQ(
        GetError("gpt3-125m", R"({"pp": 5})"),
        "s.json: plan: model GPT-3 125M has 12 numbered blocks, which 5 pipeline stages (pp x "
        "virtualStages) cannot share evenly; embeddingAsBlock and headAsBlock count what is "
        "around the blocks as one, firstStageBlocks and lastStageBlocks say what the ends "
        "have");
    EXPECT_EQ(GetError("gpt3-125m", R"({"dp": 4, "globalBatch": 6})"),
              "s.json: plan: globalBatch = 6 is not a multiple of 4 = microBatch x dp");
    EXPECT_EQ(GetError("gpt3-125m", R"({"pp": 2, "schedule": "limits", "maxInFlight": [1, 0]})"),
              "strategy \"plan\", schedule limits: stage 1: an in-flight limit of 0 micro-batches "
              "deadlocks, it must be at least 1");
    EXPECT_EQ(GetError("gpt3-125m", R"({"pp": 2, "maxInFlight": [1, 1]})"),
              "strategy \"plan\", schedule 1f1b: maxInFlight and interleave belong to schedule "
              "limits");
    EXPECT_EQ(GetError("gpt3-125m", R"({"pp": 2, "schedule": "limits", "maxInFlight": [1]})"),
              "strategy \"plan\", schedule limits: maxInFlight has 1 limits for 2 stages");
    EXPECT_EQ(GetError("gpt3-125m", R"({"format": "proteus-strategy", "version": 1, "batch": 4,
                                        "trees": {"split": {"batch": 2}}})"),
              "s.json: /trees: unknown field; did you mean tree?");
    const std::string head = R"({"format": "proteus-strategy", "version": 1, "name": "mine", )"
                             R"("mesh": {"axes": ["pp", "dp"], "sizes": [2, 2]}, "tree": )";
    EXPECT_EQ(GetError("alexnet", head + R"({"children": [{"name": "fc{5..1}"}]}})"),
              "s.json: /tree/children/0/name: node name \"fc{5..1}\": the range goes down");
    // AlexNet has fc1 to fc3, and conv1 to conv5 elsewhere.
    const std::string ofSamples = R"({"split": {"batch": "dp"}, "children": [)"
                                  R"({"name": "classifier", "children": [{"name": ")";
    for (const auto& [range, end] :
         std::vector<std::pair<std::string, std::string>>{{"fc{1..5}", "5"},
                                                          {"fc{0..3}", "0"},
                                                          {"fc{1..99}", "99"}})
    {
        EXPECT_EQ(GetError("alexnet",
                           R"({"batch": 4, )" + head.substr(1) + ofSamples + range + R"("}]}]}})"),
                  "s.json: /tree/children/0/children/0: strategy \"mine\", node classifier/" +
                      range + ": model AlexNet has no operator of number " + end +
                      "; * stands for all that there are");
    }
    EXPECT_EQ(GetError("alexnet", head + R"({"children": [{"name": "classifier", "children": [
                           {"name": "fc1", "mesh": [0, 1], "split": {"out": 4}}]}]}})"),
              "s.json: /tree/children/0/children/0: strategy \"mine\", node classifier/fc1, "
              "operator \"classifier.fc1\": dimension out: "
              "all splits together make 4 parts, which its mesh of 2 devices cannot share evenly");
    EXPECT_EQ(
        GetError("alexnet", head + R"({"children": [{"name": "features", "mesh": {"pp": 2}}]}})"),
        "s.json: /tree/children/0: strategy \"mine\", node features, operator \"features.conv1\": "
        "there are no "
        "devices at pp = 2: the mesh has 2 along pp");
    EXPECT_EQ(GetError("alexnet", head + R"({"children": [{"name": "classifier", "children": [
                           {"name": "fc", "mesh": [0, 1, 2], "split": {"out": 3}}]}]}})"),
              "s.json: /tree/children/0/children/0: strategy \"mine\", node classifier/fc, "
              "operator \"classifier.fc\": dimension out of "
              "1000 cannot be split into 3 equal parts");
    EXPECT_EQ(GetError("alexnet", head + R"({"children": [{"name": "classifier", "children": [
                           {"name": "fc", "split": {"outputs": "dp"}}]}]}})"),
              "s.json: /tree/children/0/children/0: strategy \"mine\", node classifier/fc, "
              "operator \"classifier.fc\": has no dimension "
              "outputs, but batch, out, in");
    EXPECT_EQ(GetError("alexnet", head + R"({"children": [{"name": "classifier", "children": [
                           {"name": "fc", "split": {"outputs": 1}}]}]}})"),
              "s.json: /tree/children/0/children/0: strategy \"mine\", node classifier/fc, "
              "operator \"classifier.fc\": has no dimension "
              "outputs, but batch, out, in");
    EXPECT_EQ(GetError("alexnet", head + R"({}, "optimizer": {"zero": 1, "zeroAxes": ["tp"]}})"),
              "s.json: strategy \"mine\", optimizer, zero 1: mesh axis \"tp\" of zeroAxes does not "
              "exist; "
              "there are dp, pp");
    EXPECT_EQ(GetError("alexnet", head + R"({}, "optimizer": {"zero": 2}})"),
              "s.json: strategy \"mine\", optimizer, zero 2: zeroAxes does not say which mesh axes "
              "share; "
              "there are dp, pp");
    EXPECT_EQ(GetError("alexnet", head + R"({"split": {"batch": "tp"}}})"),
              "s.json: /tree: strategy \"mine\", node root: dimension batch is to be split over "
              "the mesh axis "
              "\"tp\", which the meshes of its operators do not have");
    EXPECT_EQ(GetError("alexnet", head + R"({"children": [
                           {"name": "features", "split": {"heads": "dp"}}]}})"),
              "s.json: /tree/children/0: strategy \"mine\", node features: none of its operators "
              "has a dimension heads");
    EXPECT_EQ(GetError("alexnet", head + R"({"children": [
                           {"name": "features", "split": {"kernel-height": "dp"}}]}})"),
              "s.json: /tree/children/0: strategy \"mine\", node features: dimension kernel-height "
              "cannot be split: all of "
              "its operators need it whole");
    EXPECT_EQ(GetError("alexnet", head + R"({"children": [{"name": "classifier", "children": [
                           {"name": "fc", "split": {"out": "tp"}}]}]}})"),
              "s.json: /tree/children/0/children/0: strategy \"mine\", node classifier/fc, "
              "operator \"classifier.fc\": dimension out is "
              "to be split over the mesh axis \"tp\", which does not exist; the axes are pp, dp");
    EXPECT_EQ(
        GetError("alexnet", head + R"({"children": [{"name": "features", "stage": 0},
                                               {"name": "classifier", "stage": 2}]}})"),
        "s.json: strategy \"mine\": stage 1 has no operator, so that its devices are unknown; 3 "
        "stages are named");
    EXPECT_EQ(GetError("alexnet", head + R"({"children": [{"name": "features", "stage": 1},
                                               {"name": "classifier", "stage": 0}]}})"),
              "s.json: /tree/children/1: strategy \"mine\", node classifier, operator "
              "\"classifier.flatten\": is on stage 0 "
              "and reads \"features.pool5\" of stage 1; stages have to follow the order of the "
              "model");
    auto item = [&](const std::string& text) {
        return GetError("alexnet",
                        head + R"({"children": [{"name": "classifier", "children": [
                                       {"name": "fc", "items": {)" +
                            text + "}}]}]}}");
    };
    EXPECT_EQ(item(R"("wieght": {"split": {"0": 2}})"),
              "s.json: /tree/children/0/children/0: strategy \"mine\", node classifier/fc: none of "
              "its operators has an item \"wieght\"; "
              "there are out, out_grad, in:0 and, of parameters, e.g. weight, weight_grad, "
              "weight_state");
    EXPECT_EQ(item(R"("weight": {"mesh": [2, 3]})"),
              "s.json: /tree/children/0/children/0: strategy \"mine\", node classifier/fc, "
              "operator \"classifier.fc\": weight: a "
              "parameter lies on the devices of its operator, not on others");
    EXPECT_EQ(item(R"("weight_grad": {"split": {"0": "dp"}})")
                  .rfind("s.json: /tree/children/0/children/0: strategy \"mine\", node "
                         "classifier/fc, operator \"classifier.fc\": weight: its "
                         "optimizer state lies as ",
                         0),
              0u);
    EXPECT_EQ(GetError("alexnet", head + R"({"children": [{"name": "clasifier", "split": {}}]}})"),
              "s.json: /tree/children/0: strategy \"mine\", node clasifier: model AlexNet has no "
              "operator of that name");
    EXPECT_EQ(GetError("alexnet", head + R"({"children": [{"name": "a\nb"}]}})"),
              "s.json: /tree/children/0/name: must be a name without control characters, not "
              "\"a\\nb\"");
    EXPECT_EQ(GetError("alexnet", head + R"({"split": {"a\nb": 2}}})"),
              "s.json: /tree/split: must not have keys with control characters");
    EXPECT_EQ(GetError("alexnet", R"({"cp": 2})"),
              "s.json: plan: cp = 2, but no operator of model AlexNet has a sequence to split");
    EXPECT_EQ(GetError("alexnet", R"({"recompute": "selective"})"),
              "s.json: plan: recompute = selective, but model AlexNet has no attention");
    EXPECT_EQ(GetError("alexnet", R"({"recompute": "full"})"),
              "s.json: plan: recompute = full, but model AlexNet has no numbered blocks; write a "
              "tree that "
              "says what to compute again");
    EXPECT_EQ(GetError("alexnet", R"({"dp": 2, "ep": 2})"),
              "s.json: plan: ep = 2, but model AlexNet has no experts");
    EXPECT_EQ(GetError("alexnet",
                       head + R"({"children": [{"name": "features", "mesh": [[0, 1], [2]]}]}})"),
              "s.json: /tree/children/0/mesh/1: a mesh must have rows of equal length");
    EXPECT_EQ(GetError("alexnet", head + R"({"children": [{"name": "features", "mesh": 0}]}})"),
              "s.json: /tree/children/0/mesh: must be a list of devices, e.g. [0, 1], or "
              "positions by axis, e.g. {\"dp\": 0}, not 0");
    EXPECT_EQ(GetError("alexnet", head + R"({"split": {"batch": ["dp", "dp"]}}})"),
              "s.json: /tree/split/batch/1: 'dp' stands in the list twice");
    // Axes of listed meshes have no name, which no split can mean.
    EXPECT_EQ(
        GetError(
            "alexnet",
            head + R"({"split": {"batch": ""}, "children": [{"name": "features", "mesh": [0]}]}})"),
        "s.json: /tree/split/batch: must be the name of an axis, not empty");
    EXPECT_EQ(GetError("alexnet", head + R"({"axes": ["x"]}})"),
              "s.json: /tree/axes: names the axes of 'mesh', a list of devices, which is missing "
              "here");
    EXPECT_EQ(GetError("alexnet", head + R"({"axes": ["x"], "mesh": {}}})"),
              "s.json: /tree/axes: belongs to a list of devices: positions have the names of "
              "their axes");
}

// Every file in workloads/strategies with a model that it fits.
TEST(StrategyJson, FilesCompile)
{
    const std::map<std::string, std::string> models{
        {"alexnet-classifier-4", "alexnet"},
        {"alexnet-pipeline-2", "alexnet"},
        {"context-4-tp8", "llama3-8b"},
        {"ddp-8", "resnet50"},
        {"dlrm-tables-16", "dlrm-16-tables"},
        {"dlrm-tables-32", "dlrm-32-tables"},
        {"dlrm-tables-8", "dlrm"},
        {"experts-8", "mixtral-8x7b"},
        {"fsdp-16", "gpt3-1.3b"},
        {"inception-v3-last-layer-16", "inception-v3"},
        {"inception-v3-last-layer-32", "inception-v3"},
        {"inception-v3-last-layer-8", "inception-v3"},
        {"interleaved-pp4-v2", "gpt3-350m"},
        {"resnet50-last-layer-16", "resnet50"},
        {"resnet50-last-layer-32", "resnet50"},
        {"resnet50-last-layer-8", "resnet50"},
        {"tp8-dp2", "gpt3-6.7b"},
        {"tp8-pp4-dp2-sequence-zero1", "gpt3-13b"},
        {"vgg19-classifier-16", "vgg19"},
        {"vgg19-classifier-32", "vgg19"},
        {"vgg19-classifier-8", "vgg19"},
    };
    const std::string folder = std::string(PROTEUS_SOURCE_DIR) + "/workloads/strategies";
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
    {
        files.insert(entry.path().stem().string());
    }
    EXPECT_EQ(files.size(), models.size());
    for (const auto& [name, model] : models)
    {
        SCOPED_TRACE(name);
        const StrategyFile file = LoadStrategy(folder + "/" + name + ".json");
        const Model loaded = LoadFor(model, file);
        EXPECT_GT(CompileModel(loaded, file.GetTree(loaded)).GetNTasks(), 0u);
    }
}
