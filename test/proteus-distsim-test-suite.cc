/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-distsim.h"
#include "ns3/proteus-executors.h"
#include "ns3/proteus-model-json.h"
#include "ns3/proteus-model-options.h"
#include "ns3/proteus-parallel-plan.h"
#include "ns3/simulator.h"
#include "ns3/test.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

ProgramOptions
QuietOptions()
{
    ProgramOptions options;
    options.quiet = true;
    return options;
}

/// A small GPT under xMxPxD, 16 samples.
ExecutionGraph
CompileSmallGpt(const ParallelSizes& sizes, const Cluster& cluster)
{
    ParallelPlan plan;
    plan.tensorParallel = sizes.tensor;
    plan.pipelineParallel = sizes.pipeline;
    plan.dataParallel = sizes.data;
    plan.globalBatch = 16;
    plan.microBatch = sizes.data <= 4 ? 4 : 1;
    plan.precision.compute = DataType::BF16;
    std::map<std::string, int64_t> variables = GetModelVariables(plan);
    variables.insert(
        {{"layers", 16}, {"hidden", 512}, {"heads", 16}, {"sequence", 128}, {"vocabulary", 2048}});
    Model model = LoadModel(PROTEUS_SOURCE_DIR "/workloads/models/gpt.json", variables);
    StrategyTree tree = ExpandPlan(model, plan);
    return CompileForCluster({std::move(model), std::move(tree), {}}, cluster, {}, "");
}

} // namespace

/**
 * @ingroup proteus-tests
 * A single communication at a time has no contention: DistSim and the packet level agree but for
 * how early ranks join.
 */
class DistSimChainTest : public TestCase
{
  public:
    DistSimChainTest()
        : TestCase("A chain of communications without contention takes the same time")
    {
    }

  private:
    void DoRun() override
    {
        // Every rank computes, then all reduce; four times, all ranks alike.
        GraphBuilder builder(8);
        const PhaseId phase = builder.AddPhase("iteration");
        const StreamId compute = builder.AddStream("compute");
        const StreamId communication = builder.AddStream("communication");
        const GroupId group = builder.AddGroup({0, 1, 2, 3, 4, 5, 6, 7});
        std::vector<TaskId> before;
        for (int i = 0; i < 4; ++i)
        {
            std::vector<TaskId> kernels;
            for (DeviceId device = 0; device < 8; ++device)
            {
                kernels.push_back(
                    builder.AddCompute(phase, device, compute, "kernel", 1000000000, before));
            }
            before = {builder.AddCommunication(phase,
                                               group,
                                               communication,
                                               "reduction",
                                               Collective::ALL_REDUCE,
                                               1000000,
                                               Parallelism::DATA,
                                               kernels)};
        }
        const ExecutionGraph graph = builder.Build();
        const Cluster cluster = MakeCluster("dgx-a100", 1);
        std::ostringstream text;
        const RunRecord replay = RunExecutor(QuietOptions(), "distsim", cluster, graph, text);
        const RunRecord whole = RunExecutor(QuietOptions(), "packet", cluster, graph, std::cout);
        NS_TEST_ASSERT_MSG_EQ(text.str(),
                              "DistSim: 64 events, 2 of them unique, 1 communications timed alone "
                              "at packet level\n",
                              "what is said of events");
        NS_TEST_ASSERT_MSG_LT(GetBatchTimeError(replay.timeline.endPs, whole.timeline.endPs),
                              0.001,
                              "ends " << replay.timeline.endPs << " and " << whole.timeline.endPs);
        PrintContention(replay, whole, graph, text);
        NS_TEST_ASSERT_MSG_NE(text.str().find("batch-time error"),
                              std::string::npos,
                              "a comparison is printed");
    }
};

/**
 * @ingroup proteus-tests
 * Two all-reduces that share a link: each takes longer than alone, and DistSim does not see it.
 */
class DistSimContentionTest : public TestCase
{
  public:
    DistSimContentionTest()
        : TestCase("Contention is what DistSim misses")
    {
    }

  private:
    void DoRun() override
    {
        // Rails of two servers: pairs of the same NIC, with two GPUs of one PCIe switch each.
        const Cluster cluster = MakeCluster("dgx1-v100", 2);
        const RunRecord one = Run(cluster, {{0, 8}});
        const RunRecord two = Run(cluster, {{0, 8}, {4, 12}, {1, 9}, {5, 13}});
        std::ostringstream text;
        const RunRecord replay = RunExecutor(QuietOptions(),
                                             "distsim",
                                             cluster,
                                             MakeGraph({{0, 8}, {4, 12}, {1, 9}, {5, 13}}),
                                             text);
        NS_TEST_ASSERT_MSG_LT(GetBatchTimeError(replay.timeline.endPs, one.timeline.endPs),
                              0.02,
                              "one pair alone is what DistSim says");
        NS_TEST_ASSERT_MSG_GT(two.timeline.endPs,
                              one.timeline.endPs * 1.5,
                              "pairs on one NIC share it");
        NS_TEST_ASSERT_MSG_GT(GetBatchTimeError(replay.timeline.endPs, two.timeline.endPs),
                              0.3,
                              "and DistSim misses that");
    }

    static ExecutionGraph MakeGraph(const std::vector<std::vector<DeviceId>>& pairs)
    {
        GraphBuilder builder(16);
        const PhaseId phase = builder.AddPhase("iteration");
        const StreamId communication = builder.AddStream("communication");
        for (const auto& pair : pairs)
        {
            builder.AddCommunication(phase,
                                     builder.AddGroup(pair),
                                     communication,
                                     "reduction",
                                     Collective::ALL_REDUCE,
                                     16000000,
                                     Parallelism::DATA);
        }
        return builder.Build();
    }

    static RunRecord Run(const Cluster& cluster, const std::vector<std::vector<DeviceId>>& pairs)
    {
        return RunExecutor(QuietOptions(), "packet", cluster, MakeGraph(pairs), std::cout);
    }
};

/**
 * @ingroup proteus-tests
 * A16: the best and the worst of the fifteen strategies are those of runs of everything together.
 */
class DistSimOrderTest : public TestCase
{
  public:
    DistSimOrderTest()
        : TestCase("Best and worst of 15 strategies are those of the packet level")
    {
    }

  private:
    void DoRun() override
    {
        const Cluster cluster = MakeCluster("dgx-a100", 2);
        std::vector<int64_t> replayed;
        std::vector<int64_t> whole;
        for (const ParallelSizes& sizes : ListParallelSizes(16))
        {
            const ExecutionGraph graph = CompileSmallGpt(sizes, cluster);
            std::ostringstream text;
            replayed.push_back(
                RunExecutor(QuietOptions(), "distsim", cluster, graph, text).timeline.endPs);
            whole.push_back(
                RunExecutor(QuietOptions(), "packet", cluster, graph, std::cout).timeline.endPs);
            NS_TEST_ASSERT_MSG_LT(GetBatchTimeError(replayed.back(), whole.back()),
                                  0.03,
                                  sizes.tensor << "M" << sizes.pipeline << "P" << sizes.data
                                               << "D: " << replayed.back() << " ps, packet level "
                                               << whole.back() << " ps");
        }
        const auto best = [](const std::vector<int64_t>& times) {
            return std::min_element(times.begin(), times.end()) - times.begin();
        };
        const auto worst = [](const std::vector<int64_t>& times) {
            return std::max_element(times.begin(), times.end()) - times.begin();
        };
        NS_TEST_ASSERT_MSG_EQ(whole.size(), 15, "A15");
        NS_TEST_ASSERT_MSG_EQ(best(replayed), best(whole), "the best strategy");
        NS_TEST_ASSERT_MSG_EQ(worst(replayed), worst(whole), "the worst strategy");
        const auto ratio = [&](const std::vector<int64_t>& times) {
            return static_cast<double>(times[worst(times)]) /
                   static_cast<double>(times[best(times)]);
        };
        NS_TEST_ASSERT_MSG_EQ_TOL(ratio(replayed) / ratio(whole), 1, 0.03, "worst over best");
    }
};

/**
 * @ingroup proteus-tests
 * DistSim: unique events at packet level, replayed.
 */
class ProteusDistSimTestSuite : public TestSuite
{
  public:
    ProteusDistSimTestSuite()
        : TestSuite("proteus-distsim")
    {
        AddTestCase(new DistSimChainTest);
        AddTestCase(new DistSimContentionTest);
        AddTestCase(new DistSimOrderTest);
    }
};

static ProteusDistSimTestSuite g_proteusDistSimTestSuite; //!< registers the suite
