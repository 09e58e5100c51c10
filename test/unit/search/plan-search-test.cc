/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "plan-search-machine.h"

#include "ns3/proteus-search-ladder.h"
#include "ns3/proteus-strategy-json.h"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3::proteus;
using namespace ns3::proteus::plantest;

// DistSim A15: 16 devices, model and pipeline parallelism of 1, 2, 4, 8, 16.
TEST(PlanSpace, SixteenDevicesHaveFifteenCombinations)
{
    PlanModelFacts facts;
    facts.blocks = 48;
    facts.hasTensor = facts.hasSequence = facts.hasAttention = true;
    PlanSpaceOptions space = Machine::MakeSpace(16, 16);
    space.mostTensorParallel = 16;
    space.mostMicroBatch = 1;
    space.mostVirtualStages = 1;
    space.zero = {0};
    space.variesRecomputation = space.variesSequence = false;
    space.variesBuckets = space.variesSchedule = false;
    std::set<std::vector<uint32_t>> seen;
    PrunedPlans pruned;
    EXPECT_TRUE(VisitPlans(
        facts,
        space,
        [&](const ParallelPlan& plan) {
            EXPECT_EQ(plan.GetNDevices(), 16u);
            EXPECT_EQ(plan.GetNMicroBatches() * plan.dataParallel, 16u);
            seen.insert({plan.tensorParallel, plan.pipelineParallel, plan.dataParallel});
            return true;
        },
        pruned));
    EXPECT_EQ(seen.size(), 15u);
}

// States are shared by all replicas, or by those of a server of eight alone.
TEST(PlanSpace, ReplicasOfAServerMayShareStates)
{
    PlanModelFacts facts;
    facts.blocks = facts.experts = 4;
    facts.hasTensor = facts.hasSequence = true;
    PlanSpaceOptions space = Machine::MakeSpace(32, 32);
    space.variesRecomputation = space.variesSequence = space.variesBuckets = false;
    const auto list = [&] {
        std::set<std::vector<uint32_t>> groups; // tp, pp, inside, ep, zero, group
        PrunedPlans pruned;
        VisitPlans(
            facts,
            space,
            [&](const ParallelPlan& plan) {
                groups.insert({plan.tensorParallel,
                               plan.pipelineParallel,
                               plan.isPipelineInside ? 1U : 0U,
                               plan.expertParallel,
                               plan.optimizer.zero,
                               plan.zeroGroup});
                return true;
            },
            pruned);
        return groups;
    };
    for (const std::vector<uint32_t>& plan : list())
    {
        EXPECT_EQ(plan[5], 0u);
    }
    space.serverDevices = 8;
    const auto all = list();
    for (const uint32_t zero : {1, 2, 3})
    {
        EXPECT_EQ(all.count({1, 1, 0, 1, zero, 0}), 1u);
        EXPECT_EQ(all.count({1, 1, 0, 1, zero, 8}), 1u);
        EXPECT_EQ(all.count({2, 1, 0, 1, zero, 4}), 1u);
        EXPECT_EQ(all.count({1, 1, 0, 4, zero, 8}), 1u);
    }
    EXPECT_EQ(all.count({1, 2, 0, 1, 1, 8}), 1u);
    EXPECT_EQ(all.count({1, 2, 1, 1, 1, 4}), 1u); // a server has two stages of four replicas
    for (const std::vector<uint32_t>& plan : all)
    {
        EXPECT_TRUE(plan[5] == 0 || plan[4] > 0); // nothing is shared without ZeRO
        EXPECT_TRUE(plan[5] == 0 || plan[0] < 8); // one replica has nobody to share with
        EXPECT_EQ(plan[5] % plan[3], 0u);
    }
    // What a strategy says stands, where it can.
    space.base.zeroGroup = 4;
    for (const std::vector<uint32_t>& plan : list())
    {
        EXPECT_EQ(plan[5], plan[4] > 0 ? 4u : 0u);
    }
}

TEST(PlanSpace, FrozenParametersAreRefused)
{
    const Model model = LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/llama.json",
                                  {{"layers", 2}, {"adapterRank", 8}});
    EXPECT_THROW(DescribeForPlans(model), std::invalid_argument);
}

// Every choice gives plans, each once, and what is left out is counted by its reason.
TEST(PlanSpace, EveryPlanIsThereOnceAndWhatIsLeftOutIsCounted)
{
    PlanModelFacts facts;
    facts.blocks = 12;
    facts.parameters = 1000000000;
    facts.experts = 4;
    facts.hasTensor = facts.hasSequence = facts.hasAttention = true;
    PlanSpaceOptions space = Machine::MakeSpace(16, 32);
    space.mostContextParallel = 2;
    std::set<std::string> seen;
    uint64_t visited = 0;
    PrunedPlans pruned;
    const auto visit = [&](const ParallelPlan& plan) {
        ++visited;
        seen.insert(FormatPlan(plan));
        EXPECT_EQ(plan.GetNDevices(), 16u);
        EXPECT_EQ(12 % (plan.pipelineParallel * plan.virtualStages), 0u);
        EXPECT_LE(plan.tensorParallel, 8u);
        EXPECT_LE(plan.contextParallel, 2u);
        EXPECT_EQ(4 % plan.expertParallel, 0u);
        EXPECT_EQ(plan.virtualStages > 1, plan.schedule.kind == ScheduleKind::INTERLEAVED);
        EXPECT_NO_THROW(plan.GetNMicroBatches());
        return true;
    };
    EXPECT_TRUE(VisitPlans(facts, space, visit, pruned));
    EXPECT_EQ(seen.size(), visited);
    EXPECT_GT(visited, 1000u);
    for (const char* field : {"cp=2",
                              "ep=4",
                              "virtualStages=2",
                              "zero=3",
                              "zero-bubble",
                              "full",
                              "selective",
                              "sequenceParallel=true",
                              "buckets=whole",
                              "mapping=tp-pp-dp",
                              "microBatch=2"})
    {
        EXPECT_TRUE(std::any_of(seen.begin(), seen.end(), [&](const std::string& plan) {
            return plan.find(field) != std::string::npos;
        })) << field;
    }
    EXPECT_EQ(pruned.at("tensor parallelism of more than 8"), 1u);
    PlanSpaceOptions folded = space;
    folded.base.expertTensorParallel = 1;
    EXPECT_THROW(VisitPlans(facts, folded, visit, pruned), std::invalid_argument);
    // 18 bytes per parameter shared by 16 devices are 1.1 GB: nothing fits into less.
    space.memoryBytes = 1e9;
    visited = 0;
    pruned.clear();
    EXPECT_TRUE(VisitPlans(facts, space, visit, pruned));
    EXPECT_EQ(visited, 0u);
    EXPECT_GT(pruned.at("memory: parameters, gradients and optimizer state alone do not fit"), 0u);
    // The visitor decides how far it goes.
    space.memoryBytes = 0;
    EXPECT_FALSE(VisitPlans(
        facts,
        space,
        [](const ParallelPlan&) { return false; },
        pruned));
}

TEST(PlanSpace, PlansReadBackFromTheirShortForm)
{
    PlanModelFacts facts;
    facts.blocks = 4;
    facts.hasTensor = facts.hasSequence = facts.hasAttention = true;
    PlanSpaceOptions space = Machine::MakeSpace(8, 16);
    PrunedPlans pruned;
    VisitPlans(
        facts,
        space,
        [&](const ParallelPlan& plan) {
            std::stringstream file;
            WritePlanJson(plan, "p", file);
            const StrategyFile read = ReadStrategyJson(file, "p.json");
            EXPECT_TRUE(read.plan.has_value());
            EXPECT_EQ(FormatPlan(*read.plan), FormatPlan(plan));
            EXPECT_EQ(read.plan->schedule.kind, plan.schedule.kind);
            EXPECT_EQ(read.plan->gradients.policy, plan.gradients.policy);
            EXPECT_EQ(read.plan->recompute, plan.recompute);
            EXPECT_EQ(read.plan->optimizer.zero, plan.optimizer.zero);
            EXPECT_EQ(read.plan->isSequenceParallel, plan.isSequenceParallel);
            return true;
        },
        pruned);
}

// Passes that take turns are not estimated.
TEST(PlanSpace, PlansWhosePassesTakeTurnsAreRefused)
{
    PlanSpaceOptions space = Machine::MakeSpace(8, 16);
    space.base.schedule.overlapsExperts = true;
    PrunedPlans pruned;
    EXPECT_THROW(VisitPlans(
                     DescribeForPlans(LoadSmall(ParallelPlan())),
                     space,
                     [](const ParallelPlan&) { return true; },
                     pruned),
                 std::invalid_argument);
}

TEST(RankCorrelation, IsSpearmans)
{
    EXPECT_DOUBLE_EQ(GetRankCorrelation({1, 2, 3}, {10, 20, 300}), 1);
    EXPECT_DOUBLE_EQ(GetRankCorrelation({1, 2, 3}, {3, 2, 1}), -1);
    // 1 - 6 sum d^2 / (n (n^2 - 1)) without ties
    EXPECT_DOUBLE_EQ(GetRankCorrelation({1, 2, 3, 4}, {1, 3, 2, 4}), 1 - 6.0 * 2 / (4 * 15));
    EXPECT_DOUBLE_EQ(GetRankCorrelation({1, 1, 2}, {5, 5, 9}), 1);
    EXPECT_DOUBLE_EQ(GetRankCorrelation({1, 1}, {5, 6}), 0);
    EXPECT_THROW(GetRankCorrelation({1}, {1, 2}), std::invalid_argument);
}

TEST(SearchLadder, TheBestGoOnWhateverTheThreads)
{
    auto climb = [](uint32_t threads) {
        std::vector<LadderEntry> entries;
        for (int i = 0; i < 40; ++i)
        {
            entries.push_back({i == 39, {static_cast<double>((i * 7) % 40)}});
        }
        LadderRung flow{"flow", 5, 40, threads, [](std::size_t i) {
                            // Some cannot be evaluated.
                            return i % 3 == 0 ? std::nullopt
                                              : std::optional<double>(100.0 - double(i));
                        }};
        LadderRung packet{"packet", 2, 0, 1, [](std::size_t i) {
                              return std::optional<double>(double(i));
                          }};
        ClimbLadder(entries, {flow, packet});
        return entries;
    };
    const std::vector<LadderEntry> one = climb(1);
    const std::vector<LadderEntry> four = climb(4);
    std::size_t flows = 0;
    std::size_t packets = 0;
    for (std::size_t i = 0; i < one.size(); ++i)
    {
        EXPECT_EQ(one[i].values, four[i].values);
        flows += one[i].values[1].has_value() && !one[i].isPinned;
        packets += one[i].values[2].has_value();
    }
    EXPECT_EQ(flows, 5u);
    EXPECT_EQ(packets, 2u);
    const std::vector<std::size_t> order = RankEntries(one);
    EXPECT_EQ(order.size(), 5u); // the pinned one cannot be evaluated
    // By the value of the highest rung that each knows.
    for (std::size_t i = 1; i < order.size(); ++i)
    {
        const auto get = [&](std::size_t entry) {
            return one[entry].values[2] ? *one[entry].values[2] : *one[entry].values[1];
        };
        EXPECT_LE(get(order[i - 1]), get(order[i]));
    }
}

TEST(SearchLadder, StopsWhenTheTimeIsUp)
{
    std::vector<LadderEntry> entries(10, LadderEntry{false, {1.0}});
    std::atomic<int> runs{0};
    LadderRung rung{"flow", 10, 0, 2, [&](std::size_t) {
                        ++runs;
                        return std::optional<double>(1);
                    }};
    ClimbLadder(entries, {rung}, [&]() { return runs >= 3; });
    EXPECT_LE(runs, 5); // two threads may have begun one each
    EXPECT_GE(runs, 3);
    // What is pinned is run without a value of the first rung, too.
    entries = {{true, {std::nullopt}}, {false, {std::nullopt}}, {false, {2.0}}};
    rung = {"flow", 10, 10, 1, [](std::size_t i) { return std::optional<double>(double(i)); }};
    ClimbLadder(entries, {rung});
    EXPECT_TRUE(entries[0].values[1].has_value());
    EXPECT_FALSE(entries[1].values[1].has_value());
    EXPECT_EQ(RankEntries(entries), (std::vector<std::size_t>{0, 2}));
    EXPECT_EQ(CompareRungs(entries, 0, 1).entries, 1u);
    // A rung that is to rank nothing is passed over.
    const LadderRung nothing{"reduced", 0, 0, 1, nullptr};
    entries = {{true, {std::nullopt}}, {false, {std::nullopt}}, {false, {2.0}}};
    ClimbLadder(entries, {nothing, rung});
    EXPECT_FALSE(entries[0].values[1].has_value());
    EXPECT_TRUE(entries[0].values[2].has_value());
    EXPECT_TRUE(entries[2].values[2].has_value());
    rung.evaluate = [](std::size_t) -> std::optional<double> { throw std::runtime_error("no"); };
    EXPECT_THROW(ClimbLadder(entries, {rung}), std::runtime_error);
}

// A limit that is no power of two leaves experts what the one below it leaves them, not less.
TEST(PlanSearch, ExpertsHaveWhatLimitsLeaveThem)
{
    const Machine machine;
    PlanEstimator estimator(LoadSmall, machine.timer, machine.communication);
    const auto list = [&](uint32_t mostMicroBatch, uint32_t mostTensor) {
        PlanSpaceOptions space = Machine::MakeSpace(16, 128);
        space.mostMicroBatch = mostMicroBatch;
        space.mostTensorParallel = mostTensor;
        std::vector<std::string> plans;
        for (const BaselinePlan& baseline :
             MakeBaselines(DescribeForPlans(LoadSmall(space.base)), space, estimator))
        {
            plans.push_back(baseline.name + " " + std::to_string(baseline.plan.microBatch) + " " +
                            std::to_string(baseline.plan.tensorParallel));
        }
        return plans;
    };
    const auto usual = list(4, 8);
    EXPECT_EQ(std::count(usual.begin(), usual.end(), "S1: data parallel 4 1"), 1);
    EXPECT_EQ(list(6, 8), usual);
    EXPECT_EQ(list(7, 15), usual);
    EXPECT_NE(list(2, 8), usual);
    EXPECT_EQ(list(1000000, 8), list(128, 8));
}

// The best plan of a search is among those that flows find best, and experts' plans are no better.
TEST(PlanSearch, FindsWhatExpertsFindOrBetter)
{
    const Machine machine;
    PlanEstimator estimator(LoadSmall, machine.timer, machine.communication);
    const PlanSpaceOptions space = Machine::MakeSpace(16, 16);
    const PlanModelFacts facts = DescribeForPlans(LoadSmall(space.base));
    PlanSearchOptions options;
    const PlanSearchResult result = SearchPlans(facts, space, estimator, options);
    ASSERT_GT(result.plans.size(), 100u);
    EXPECT_TRUE(result.isComplete);
    for (std::size_t i = 1; i < result.plans.size(); ++i)
    {
        EXPECT_LE(result.plans[i - 1].value, result.plans[i].value);
    }
    const std::vector<BaselinePlan> baselines = MakeBaselines(facts, space, estimator);
    ASSERT_GE(baselines.size(), 3u);
    for (const BaselinePlan& baseline : baselines)
    {
        EXPECT_GE(estimator.Estimate(baseline.plan).seconds, result.plans[0].estimate.seconds)
            << baseline.name;
    }
    EXPECT_EQ(SearchObjectiveFromString("cost"), SearchObjective::COST);
    EXPECT_THROW(SearchObjectiveFromString("joy"), std::invalid_argument);
    Objective objective{SearchObjective::THROUGHPUT_PER_GPU, 16, 8, 2};
    EXPECT_DOUBLE_EQ(objective.GetValue(3, 8), 1.5);
    objective.kind = SearchObjective::COST; // 12 GPUs are two servers: 16 x 2 an hour
    EXPECT_DOUBLE_EQ(objective.GetValue(3600, 12), 2);
    objective.kind = SearchObjective::TIME;
    EXPECT_DOUBLE_EQ(objective.GetValue(3, 8), 3);
}
