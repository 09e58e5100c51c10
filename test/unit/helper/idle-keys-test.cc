/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-idle-keys.h"
#include "ns3/proteus-strategy-json.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

using Keys = std::vector<std::string>;

/// @return keys of a strategy of GPT-3 125M, or of another model, that do nothing
Keys
Find(const std::string& json, const std::string& model = "gpt3-125m")
{
    StrategyText text;
    text.json = json;
    text.model = std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/" + model + ".json";
    text.framework.workloads = std::string(PROTEUS_SOURCE_DIR) + "/workloads";
    return FindIdleKeys(text);
}

} // namespace

// Nothing of such a model is split, whatever the plan.
TEST(IdleKeys, ModelsWithoutTheParallelism)
{
    EXPECT_EQ(Find(R"({"dp": 2, "sequenceParallel": true})", "vgg16"),
              Keys{"sequenceParallel=true"});
    EXPECT_EQ(Find(R"({"dp": 2, "mapping": "tp-pp-dp"})", "vgg16"), Keys{"mapping=tp-pp-dp"});
    EXPECT_EQ(Find(R"({"dp": 2, "sequenceParallel": false, "mapping": "tp-dp-pp"})", "vgg16"),
              Keys());
}

TEST(IdleKeys, WithoutParallelismThereIsNothingToShareOrOrder)
{
    EXPECT_EQ(Find(R"({"dp": 1, "zero": 1})"), Keys{"zero=1"});
    EXPECT_EQ(Find(R"({"dp": 1, "zero": 2, "buckets": "whole"})"),
              (Keys{"buckets=whole", "zero=2"}));
    EXPECT_EQ(Find(R"({"tp": 1, "sequenceParallel": true})"), Keys{"sequenceParallel=true"});
    EXPECT_EQ(Find(R"({"tp": 2, "mapping": "tp-pp-dp"})"), Keys{"mapping=tp-pp-dp"});
    EXPECT_EQ(Find(R"({"dp": 2, "zero1Gradients": "all-reduce"})"),
              Keys{"zero1Gradients=all-reduce"});
    EXPECT_EQ(Find(R"({"dp": 2, "zero": 1, "zero2Gradients": "all-reduce"})"),
              Keys{"zero2Gradients=all-reduce"});
    EXPECT_EQ(Find(R"({"dp": 2, "cpOverlap": true})"), Keys{"cpOverlap=true"});
    EXPECT_EQ(Find(R"({"dp": 2, "schedule": "gpipe"})"), Keys{"schedule=gpipe"});
    EXPECT_EQ(Find(R"({"dp": 2, "schedule": "interleaved"})"), Keys{"schedule=interleaved"});
    EXPECT_EQ(Find(R"({"dp": 2, "globalBatch": 8, "schedule": "interleaved"})"),
              Keys{"schedule=interleaved"});
}

TEST(IdleKeys, VariablesThatChangeNothing)
{
    const auto find = [](const std::map<std::string, int64_t>& variables, const char* model) {
        StrategyText text;
        text.json = R"({"dp": 2})";
        text.model = std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/" + model + ".json";
        text.framework.workloads = std::string(PROTEUS_SOURCE_DIR) + "/workloads";
        text.variables = variables;
        return FindIdleVariables(text);
    };
    EXPECT_EQ(find({{"adaptsQueries", 0}, {"layers", 2}}, "llama3-8b"), Keys{"adaptsQueries=0"});
    EXPECT_EQ(find({{"adaptsQueries", 0}, {"adapterRank", 8}}, "llama3-8b"), Keys());
    EXPECT_EQ(find({{"fusedAttention", 1}, {"fusesAttention", 0}}, "gpt3-125m"),
              Keys{"fusesAttention=0"});
    // Other windows count, but not one of all tokens; nor where only such layers have it.
    EXPECT_EQ(find({{"layers", 2}, {"window", 4096}}, "mixtral-8x7b"), Keys{"window=4096"});
    EXPECT_EQ(find({{"layers", 2}, {"window", 128}}, "mixtral-8x7b"), Keys());
    EXPECT_EQ(find({{"globalEvery", 9}, {"layers", 2}, {"window", 128}}, "mixtral-8x7b"),
              Keys{"globalEvery=9"});
    EXPECT_EQ(find({{"globalEvery", 2}, {"layers", 2}, {"window", 128}}, "mixtral-8x7b"), Keys());
    // What holds anyway is no mistake.
    EXPECT_EQ(find({{"heads", 32}, {"headWidth", 128}, {"vocabulary", 32000}}, "mixtral-8x7b"),
              Keys());
    EXPECT_EQ(find({{"dropout", 1}, {"sequence", 2048}}, "gpt3-125m"), Keys());
    EXPECT_EQ(find({{"dropout", 0}}, "gpt3-125m"), Keys());
}

// A grid of their own for experts is the same grid where only replicas share them.
TEST(IdleKeys, GridsOfExperts)
{
    EXPECT_EQ(Find(R"({"dp": 4, "ep": 4, "etp": 1})", "mixtral-8x7b"), Keys{"etp=1"});
    EXPECT_EQ(Find(R"({"tp": 2, "dp": 4, "ep": 2, "etp": 2})", "mixtral-8x7b"), Keys{"etp=2"});
    EXPECT_EQ(Find(R"({"cp": 2, "dp": 4, "ep": 4, "etp": 1})", "mixtral-8x7b"), Keys());
    EXPECT_EQ(
        Find(R"({"tp": 2, "dp": 4, "ep": 4, "etp": 1, "sequenceParallel": true})", "mixtral-8x7b"),
        Keys());
}

TEST(IdleKeys, DispatchOfExpertsNeedsDevicesThatShareThem)
{
    EXPECT_EQ(Find(R"({"dp": 4, "ep": 4, "expertDispatch": "deepep"})", "mixtral-8x7b"), Keys());
    EXPECT_EQ(Find(R"({"dp": 4, "expertDispatch": "deepep"})", "mixtral-8x7b"),
              Keys{"expertDispatch=deepep"});
    EXPECT_EQ(Find(R"({"dp": 4, "ep": 4, "expertDomain": 4})", "mixtral-8x7b"),
              Keys{"expertDomain=4"});
}

// Each is an error without the other, and both together do nothing.
TEST(IdleKeys, PairsThatNeedEachOther)
{
    EXPECT_EQ(Find(R"({"recompute": "full", "recomputeEvery": 13})"),
              Keys{"recompute=full,recomputeEvery=13"});
    EXPECT_EQ(Find(R"({"recompute": "full", "recomputeEvery": 12})"), Keys());
    EXPECT_EQ(Find(R"({"dp": 4, "zero": 1, "zeroGroup": 1})"), Keys{"zero=1,zeroGroup=1"});
    EXPECT_EQ(Find(R"({"dp": 4, "zero": 1, "zeroGroup": 2})"), Keys());
    EXPECT_EQ(Find(R"({"pp": 2, "embeddingAsBlock": true, "headAsBlock": true})"),
              Keys{"embeddingAsBlock=true,headAsBlock=true"});
    EXPECT_EQ(Find(R"({"pp": 2, "globalBatch": 2, "schedule": "limits", "maxInFlight": [1, 1]})"),
              Keys());
}

TEST(IdleKeys, WhatCountsIsNotNamed)
{
    EXPECT_EQ(Find(R"({"dp": 2, "zero": 1, "buckets": "whole"})"), Keys());
    EXPECT_EQ(Find(R"({"dp": 64, "globalBatch": 512, "zero": 2, "bucketMbytes": 7})"), Keys());
    EXPECT_EQ(Find(R"({"tp": 2, "sequenceParallel": true, "recompute": "full"})"), Keys());
    EXPECT_EQ(Find(R"({"pp": 2, "dp": 2, "mapping": "tp-pp-dp", "globalBatch": 8,
                       "schedule": "gpipe"})"),
              Keys());
    EXPECT_EQ(Find(R"({"dp": 2, "zero": 1, "zero1Gradients": "all-reduce",
                       "gradientType": "bf16", "optimizer": "sgd"})"),
              Keys());
}

// DeepSpeed's ZeRO 2 reduces gradients to all replicas.
TEST(IdleKeys, WholeGradientsUnderZero2)
{
    EXPECT_EQ(Find(R"({"dp": 4, "zero": 2, "zero2Gradients": "all-reduce"})"), Keys());
    EXPECT_EQ(Find(R"({"dp": 4, "zero": 2, "zero1Gradients": "all-reduce"})"),
              Keys{"zero1Gradients=all-reduce"});
}

TEST(IdleKeys, DefaultsAreNotNamedAndMistakesAreLeftToTheRun)
{
    EXPECT_EQ(Find(R"({"dp": 1, "zero": 0, "virtualStages": 1, "name": "x"})"), Keys());
    EXPECT_EQ(Find(R"({"sequenceParallel": false, "buckets": "ddp"})"), Keys());
    EXPECT_EQ(Find(R"({"dp": 2, "scatterGather": true})"), Keys()); // megatron-2022 has it
    EXPECT_EQ(Find(R"({"dp": 2, "zero": 3})"), Keys());             // it is why fsdp1 is chosen
    EXPECT_EQ(Find(R"({"dp": 0})"), Keys());
    EXPECT_EQ(Find("{"), Keys());
    // Which virtual stages and updates at once imply.
    EXPECT_EQ(Find(R"({"pp": 2, "virtualStages": 2, "schedule": "interleaved", "globalBatch": 4})"),
              Keys());
    EXPECT_EQ(Find(R"({"dp": 2, "immediateUpdates": true, "fusedOptimizer": false})"), Keys());
    EXPECT_EQ(Find(R"({"zero": 1})", "no-such-model"), Keys());
}

TEST(IdleKeys, PartsOfTrees)
{
    const std::string folder = std::string(PROTEUS_SOURCE_DIR) + "/workloads/strategies/";
    std::ifstream file(folder + "ddp-8.json");
    std::stringstream text;
    text << file.rdbuf();
    ASSERT_FALSE(text.str().empty());
    EXPECT_EQ(Find(text.str(), "resnet50"), Keys());
    const std::string tree =
        R"({"format": "proteus-strategy", "version": 1, "name": "x", "batch": 4,
        "mesh": {"axes": ["dp"], "sizes": [1]}, "optimizer": {"zero": 1, "zeroAxes": ["dp"]},
        "tree": {"split": {"batch": ["dp"]}}})";
    EXPECT_EQ(Find(tree), (Keys{"optimizer.zero=1", R"(tree.split={"batch":["dp"]})"}));
}

TEST(IdleKeys, NodesOfTreesMaySayWhatIsInferredButNotWhatIsIgnored)
{
    const auto find = [](const std::string& first, const std::string& second) {
        return Find(R"({"format": "proteus-strategy", "version": 1, "name": "x", "batch": 8,
            "mesh": {"axes": ["pp", "dp"], "sizes": [2, 2]}, "schedule": {"microBatches": 2},
            "tree": {"split": {"batch": "dp"}, "children": [
              {"name": "features", "mesh": {"pp": 0}, "stage": 0)" +
                        first + R"(},
              {"name": "classifier", "mesh": {"pp": 1}, "stage": 1)" +
                        second + "}]}}",
                    "alexnet");
    };
    EXPECT_EQ(find("", ""), Keys()); // stage 0 is the default
    EXPECT_EQ(find(R"(, "recompute": true)", R"(, "split": {"batch": "dp"})"), Keys());
    EXPECT_EQ(find(R"(, "children": [{"name": "relu1", "complete": true}])", ""), Keys());
    // What the last stage computes again it has just computed; see what is said of it.
    EXPECT_EQ(find("", R"(, "recompute": false)"), Keys());
}

// On one device there is nothing to split, and a node without children has no list of them.
TEST(IdleKeys, WhatHasNoOtherValue)
{
    const auto find = [](const std::string& table) {
        return Find(R"({"format": "proteus-strategy", "version": 1, "name": "x", "batch": 1024,
            "mesh": {"axes": ["dp"], "sizes": [2]}, "optimizer": {"kind": "sgd"},
            "tree": {"split": {"batch": "dp"}, "children": [{"name": "table0", "mesh": [0])" +
                        table +
                        R"(, "items": {"out": {"mesh": {}, "split": {"batch": "dp"}},
                           "out_grad": {"mesh": [0]}}}]}})",
                    "dlrm");
    };
    EXPECT_EQ(find(""), Keys());
    EXPECT_EQ(find(R"(, "split": {})"), Keys{"tree.children.0.split={}"});
    EXPECT_EQ(find(R"(, "children": [])"), Keys{"tree.children.0.children=[]"});
}
