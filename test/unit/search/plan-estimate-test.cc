/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "plan-search-machine.h"

#include "ns3/proteus-graph-part.h"
#include "ns3/proteus-plan-reduction.h"
#include "ns3/proteus-plan-shard.h"
#include "ns3/proteus-strategy-json.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace ns3::proteus;
using namespace ns3::proteus::plantest;

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

// What is measured at a size is what a run of that size takes, and more bytes take longer.
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
