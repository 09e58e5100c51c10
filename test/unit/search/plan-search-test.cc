/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-flow-run.h"
#include "ns3/proteus-graph-part.h"
#include "ns3/proteus-kernel-times.h"
#include "ns3/proteus-model-json.h"
#include "ns3/proteus-placement.h"
#include "ns3/proteus-plan-communication.h"
#include "ns3/proteus-plan-reduction.h"
#include "ns3/proteus-plan-search.h"
#include "ns3/proteus-plan-shard.h"
#include "ns3/proteus-search-ladder.h"
#include "ns3/proteus-strategy-json.h"

#include <atomic>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace ns3::proteus;

namespace
{

constexpr double PS = 1e-12;

/// GPT of eight small layers.
Model
LoadSmall(const ParallelPlan& plan)
{
    std::map<std::string, int64_t> variables = GetModelVariables(plan);
    variables["layers"] = 8;
    return LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/gpt3-350m.json",
                     variables);
}

/// Sixteen GPUs in two servers, and what a search needs of them.
struct Machine
{
    Cluster cluster{MakeCluster("dgx-a100", 2)};
    Paths paths{cluster};
    KernelCostModel kernels{FindGpuDatasheet("A100-SXM4-80GB")};
    KernelTimer timer{MakeKernelTimer(kernels, DataType::BF16, 4)};
    FlowCommunicationCost communication{cluster, paths, FlowParameters(), ProgramSettings()};

    static PlanSpaceOptions MakeSpace(uint32_t devices, uint64_t globalBatch)
    {
        PlanSpaceOptions space;
        space.devices = {devices};
        space.globalBatch = globalBatch;
        space.base.gradients.isInPlace = true;
        space.base.precision.compute = DataType::BF16;
        return space;
    }

    double RunByFlows(const ParallelPlan& plan) const
    {
        const Model model = LoadSmall(plan);
        CompileOptions options;
        options.kernelTime = timer;
        const ExecutionGraph graph = CompileModel(model, ExpandPlan(model, plan), options);
        return PS * static_cast<double>(RunFlow(graph, cluster).timeline.endPs);
    }
};

} // namespace

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

// Every choice gives plans, each once, and what is left out is counted by its reason.
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

TEST(PlanEstimate, StagesAreThoseOfTheCompiler)
{
    ParallelPlan plan;
    plan.pipelineParallel = 2;
    plan.virtualStages = 2;
    plan.schedule.kind = ScheduleKind::INTERLEAVED;
    plan.globalBatch = 2;
    const Model model = LoadSmall(plan);
    const std::map<std::string, uint32_t> stages = FindStages(model, 4);
    EXPECT_EQ(CountBlocks(model), 8u);
    for (const PlacedOperator& placed : PlaceModel(model, ExpandPlan(model, plan)).operators)
    {
        if (!placed.isTransfer)
        {
            EXPECT_EQ(stages.at(placed.op.name.substr(0, placed.op.name.find('.'))), placed.stage)
                << placed.op.name;
        }
    }
    EXPECT_THROW(FindStages(model, 3), std::invalid_argument);
}

// On one device nothing is left to estimate: kernels run one after the other.
TEST(PlanEstimate, OneDeviceTakesTheSumOfItsKernels)
{
    const Machine machine;
    PlanEstimator estimator(LoadSmall, machine.timer, machine.communication);
    for (const RecomputePlan recompute : {RecomputePlan::NONE, RecomputePlan::FULL})
    {
        ParallelPlan plan = Machine::MakeSpace(1, 1).base;
        plan.recompute = recompute;
        plan.globalBatch = 3;
        const double estimate = estimator.Estimate(plan).seconds;
        EXPECT_NEAR(estimate, machine.RunByFlows(plan), 1e-6 * estimate);
    }
}

// A host that is ahead is known from the order of kernels: each compilation has a timer of its own.
TEST(PlanEstimate, KernelsAreTimedInTheirOrder)
{
    const Machine machine;
    const auto estimate = [&machine](int64_t firstPs, uint32_t& nTimers) {
        const KernelTimer update = [](const KernelDescription&) { return 0; };
        const auto makeTimer = [&nTimers, firstPs](bool) -> KernelTimer {
            ++nTimers;
            return [isFirst = true, firstPs](const KernelDescription&) mutable -> int64_t {
                return std::exchange(isFirst, false) ? firstPs : 1;
            };
        };
        PlanEstimator estimator(LoadSmall, update, machine.communication, 0, makeTimer);
        ParallelPlan plan = Machine::MakeSpace(1, 1).base;
        const double once = estimator.Estimate(plan).seconds;
        EXPECT_EQ(estimator.Estimate(plan).seconds, once);
        return once;
    };
    uint32_t nTimers = 0;
    const double all = estimate(1, nTimers);
    EXPECT_EQ(nTimers, 1u);
    EXPECT_NEAR(estimate(1000001, nTimers) - all, 1e-6, 1e-12);
    EXPECT_EQ(nTimers, 2u);
}

// Plans of all kinds on two servers: the formula ranks as flows do.
TEST(PlanEstimate, RanksAsFlowsDo)
{
    const Machine machine;
    PlanEstimator estimator(LoadSmall, machine.timer, machine.communication);
    std::vector<double> formula;
    std::vector<double> flows;
    for (const char* text : {R"({"dp": 16, "globalBatch": 16, "buckets": "whole"})",
                             R"({"dp": 16, "globalBatch": 16, "buckets": "ddp"})",
                             R"({"dp": 16, "globalBatch": 16, "zero": 1})",
                             R"({"dp": 16, "globalBatch": 16, "zero": 2})",
                             R"({"dp": 16, "globalBatch": 16, "zero": 2,
                                 "zero2Gradients": "all-reduce"})",
                             R"({"dp": 16, "globalBatch": 16, "zero": 3})",
                             R"({"dp": 16, "globalBatch": 16, "zero": 1, "zeroGroup": 8})",
                             R"({"dp": 16, "globalBatch": 16, "zero": 2, "zeroGroup": 8})",
                             R"({"dp": 16, "globalBatch": 16, "zero": 3, "zeroGroup": 8})",
                             R"({"dp": 8, "tp": 2, "globalBatch": 16})",
                             R"({"dp": 2, "tp": 8, "globalBatch": 16})",
                             R"({"dp": 2, "tp": 8, "globalBatch": 16, "sequenceParallel": true})",
                             R"({"dp": 4, "pp": 4, "globalBatch": 16})",
                             R"({"dp": 2, "pp": 8, "globalBatch": 16})",
                             R"({"dp": 2, "pp": 4, "tp": 2, "globalBatch": 16})",
                             R"({"dp": 4, "pp": 4, "globalBatch": 16, "mapping": "tp-pp-dp"})",
                             R"({"dp": 4, "pp": 4, "virtualStages": 2, "globalBatch": 16})",
                             R"({"dp": 4, "pp": 4, "schedule": "zero-bubble", "globalBatch": 16})",
                             R"({"dp": 16, "globalBatch": 16, "recompute": "full"})"})
    {
        std::istringstream input(text);
        const ParallelPlan plan = *ReadStrategyJson(input, "p.json").plan;
        formula.push_back(estimator.Estimate(plan).seconds);
        flows.push_back(machine.RunByFlows(plan));
        EXPECT_NEAR(formula.back() / flows.back(), 1, 0.3) << text; // ZeRO 3, others 0.15
    }
    EXPECT_GT(GetRankCorrelation(formula, flows), 0.8);
}

// Of devices that do the same, one stands for all: nothing changes but the number of tasks.
TEST(PlanReduction, OneOfThoseThatDoTheSameStandsForAll)
{
    const Machine machine;
    for (const char* text : {R"({"tp": 8, "pp": 2, "globalBatch": 4})",
                             R"({"tp": 4, "pp": 2, "dp": 2, "globalBatch": 8})",
                             R"({"tp": 8, "dp": 2, "globalBatch": 4, "sequenceParallel": true})"})
    {
        std::istringstream input(text);
        const ParallelPlan plan = *ReadStrategyJson(input, "p.json").plan;
        const Model model = LoadSmall(plan);
        CompileOptions options;
        options.kernelTime = machine.timer;
        const ExecutionGraph whole = CompileModel(model, ExpandPlan(model, plan), options);
        const std::vector<bool> isKept = FindRepresentatives(plan);
        EXPECT_EQ(static_cast<uint32_t>(std::count(isKept.begin(), isKept.end(), true)),
                  plan.pipelineParallel);
        const ExecutionGraph part = KeepDevices(whole, isKept);
        EXPECT_LT(part.GetNTasks(), whole.GetNTasks() / 2);
        const double wholePs = static_cast<double>(RunFlow(whole, machine.cluster).timeline.endPs);
        const double partPs = static_cast<double>(RunFlow(part, machine.cluster).timeline.endPs);
        EXPECT_NEAR(partPs / wholePs, 1, 1e-3) << text; // ranks are a little late
    }
    EXPECT_THROW(KeepDevices(ExecutionGraph(), {true}), std::invalid_argument);
}

// Devices that others stand for have no kernels to wait for, but are no earlier than the others in
// an all-reduce: nothing of it is over before these join.
TEST(PlanReduction, DevicesLeftOutAreNotEarly)
{
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    GraphBuilder builder(8);
    const PhaseId phase = builder.AddPhase("iteration");
    const StreamId compute = builder.AddStream("compute");
    const StreamId communication = builder.AddStream("communication");
    std::vector<TaskId> kernels;
    std::vector<DeviceId> group;
    for (DeviceId device = 0; device < 8; ++device)
    {
        group.push_back(device);
        kernels.push_back(builder.AddCompute(phase, device, compute, "kernel", 1000000000));
    }
    builder.AddCommunication(phase,
                             builder.AddGroup(group),
                             communication,
                             "sum",
                             Collective::ALL_REDUCE,
                             1 << 20,
                             Parallelism::DATA,
                             kernels);
    const ExecutionGraph whole = builder.Build();
    std::vector<bool> isKept(8, false);
    isKept[0] = true;
    const ExecutionGraph part = KeepDevices(whole, isKept);
    EXPECT_EQ(part.GetNTasks(), 2u);
    EXPECT_EQ(RunFlow(part, cluster).timeline.endPs, RunFlow(whole, cluster).timeline.endPs);
}

TEST(PlanReduction, SmallPlansStandForLargeOnes)
{
    const Machine machine;
    PlanEstimator estimator(LoadSmall, machine.timer, machine.communication);
    for (const char* text : {R"({"dp": 16, "globalBatch": 128, "zero": 1})",
                             R"({"dp": 16, "globalBatch": 64, "zero": 3})",
                             R"({"dp": 8, "tp": 2, "globalBatch": 64})",
                             R"({"dp": 4, "pp": 4, "globalBatch": 128, "mapping": "tp-pp-dp"})",
                             R"({"dp": 2, "pp": 4, "tp": 2, "globalBatch": 64})"})
    {
        std::istringstream input(text);
        const ParallelPlan plan = *ReadStrategyJson(input, "p.json").plan;
        const ParallelPlan small = ReducePlan(plan);
        EXPECT_EQ(small.tensorParallel, plan.tensorParallel);
        EXPECT_EQ(small.pipelineParallel, plan.pipelineParallel);
        EXPECT_LT(small.globalBatch, plan.globalBatch) << text;
        EXPECT_EQ(plan.dataParallel % small.dataParallel, 0u);
        EXPECT_LE(small.GetNMicroBatches(), 2 * plan.pipelineParallel);
        const double scale = estimator.Estimate(plan).seconds / estimator.Estimate(small).seconds;
        EXPECT_NEAR(machine.RunByFlows(small) * scale / machine.RunByFlows(plan), 1, 0.1) << text;
        EXPECT_EQ(FormatPlan(ReducePlan(small)), FormatPlan(small));
    }
}

TEST(PlanEstimate, SharingNeverNeedsMoreMemory)
{
    const Machine machine;
    PlanEstimator estimator(LoadSmall, machine.timer, machine.communication);
    ParallelPlan plan = Machine::MakeSpace(16, 16).base;
    plan.dataParallel = 16;
    plan.globalBatch = 16;
    double before = INFINITY;
    for (const uint32_t zero : {0, 1, 2, 3})
    {
        plan.optimizer.zero = zero;
        const double bytes = estimator.Estimate(plan).memoryBytes;
        EXPECT_LT(bytes, before);
        before = bytes;
    }
    plan.recompute = RecomputePlan::FULL;
    EXPECT_LT(estimator.Estimate(plan).memoryBytes, before);
}

// What is measured at a size is what a run of that size takes, and more bytes take longer.
// Tokens go over the network (3 s) and inside servers (2 s) at the same time, there and back.
TEST(PlanEstimate, StagesOfADispatchRunTogether)
{
    class Cost : public CommunicationCost
    {
      public:
        double GetCost(Collective collective,
                       const std::vector<DeviceId>& group,
                       double /* bytes */) const override
        {
            return collective != Collective::ALL_TO_ALL ? 0 : group.size() == 2 ? 3 : 2;
        }
    };

    ParallelPlan plan;
    plan.dataParallel = plan.expertParallel = 8;
    plan.precision.compute = DataType::BF16;
    plan.schedule.expertDispatch = ExpertDispatch::DEEPEP;
    plan.schedule.expertDomain = 4;
    std::map<std::string, int64_t> variables = GetModelVariables(plan);
    variables["layers"] = 1;
    const Model model =
        LoadModel(std::string(PROTEUS_SOURCE_DIR) + "/workloads/models/mixtral-8x7b.json",
                  variables);
    const auto timer = [](const KernelDescription&) -> int64_t { return 0; };
    constexpr auto EXPERT = static_cast<std::size_t>(Parallelism::EXPERT);
    for (const bool isInside : {false, true})
    {
        plan.schedule.expertDomain = isInside ? 8 : 4;
        const PlanShard shard = MakePlanShard(model, GetShardPlan(plan), timer, Cost());
        const double one = isInside ? 2 : 3;
        for (const PlanPart& part : shard)
        {
            const double expected = part.name == "layer0" ? 2 * one : 0;
            EXPECT_EQ(part.forwardCommunicationS[EXPERT], expected) << part.name;
            EXPECT_EQ(part.backwardCommunicationS[EXPERT], expected) << part.name;
        }
    }
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

TEST(PlanCommunication, FollowsFlows)
{
    const Machine machine;
    const std::vector<DeviceId> group{0, 1, 2, 3, 4, 5, 6, 7};
    GraphBuilder builder(8);
    builder.AddCommunication(builder.AddPhase("iteration"),
                             builder.AddGroup(group),
                             builder.AddStream("communication"),
                             "all-reduce",
                             Collective::ALL_REDUCE,
                             1 << 20,
                             Parallelism::NONE);
    const FlowRun run = RunFlow(builder.Build(), machine.cluster);
    const auto cost = [&](const std::vector<DeviceId>& devices, double bytes) {
        return machine.communication.GetCost(Collective::ALL_REDUCE, devices, bytes);
    };
    EXPECT_DOUBLE_EQ(cost(group, 1 << 20), PS * static_cast<double>(run.timeline.endPs));
    EXPECT_LT(cost(group, 3e6), cost(group, 4e6));
    EXPECT_EQ(cost({5}, 1e6), 0);
    // Eight pairs across servers at once take longer than the wire of one needs.
    EXPECT_GT(cost({0, 8}, 1e9), 1e9 / 25e9);
    // Groups of more than 32 are extrapolated: the same as a ring among as many.
    const Cluster large = MakeCluster("dgx-a100", 48);
    const Paths paths(large);
    const FlowCommunicationCost wide(large, paths, FlowParameters(), ProgramSettings());
    GraphBuilder gather(48 * 8);
    const PhaseId phase = gather.AddPhase("iteration");
    const StreamId stream = gather.AddStream("communication");
    std::vector<DeviceId> rail(48);
    for (DeviceId first = 8; first-- > 0;)
    {
        for (DeviceId i = 0; i < 48; ++i)
        {
            rail[i] = 8 * i + first;
        }
        gather.AddCommunication(phase,
                                gather.AddGroup(rail),
                                stream,
                                "all-gather",
                                Collective::ALL_GATHER,
                                1 << 26,
                                Parallelism::NONE);
    }
    const double whole = PS * static_cast<double>(RunFlow(gather.Build(), large).timeline.endPs);
    EXPECT_NEAR(wide.GetCost(Collective::ALL_GATHER, rail, 1 << 26) / whole, 1, 0.1);
    // The second server is like the first.
    EXPECT_DOUBLE_EQ(cost({8, 9, 10, 11}, 1e7), cost({0, 1, 2, 3}, 1e7));
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
