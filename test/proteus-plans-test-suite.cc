/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/boolean.h"
#include "ns3/proteus-cluster-json.h"
#include "ns3/proteus-helper.h"
#include "ns3/proteus-model-json.h"
#include "ns3/proteus-model-options.h"
#include "ns3/proteus-strategy-json.h"
#include "ns3/simulator.h"
#include "ns3/test.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

/// A model of workloads/models/ with fewer layers, and a strategy.
struct Case
{
    std::string model;
    std::string strategy;
    std::map<std::string, int64_t> variables;
};

/// A language model of four layers.
Case
MakeCase(const std::string& strategy)
{
    return {"gpt3-125m", strategy, {{"layers", 4}, {"sequence", 256}, {"vocabulary", 1000}}};
}

/// Makes the graph of a case for a cluster, kernels issued every five microseconds.
ExecutionGraph
Compile(const Case& what, const Cluster& cluster)
{
    std::istringstream input(what.strategy);
    const StrategyFile file = ReadStrategyJson(input, "strategy");
    std::map<std::string, int64_t> variables = what.variables;
    for (const auto& [name, value] : file.GetVariables())
    {
        variables[name] = value;
    }
    const Model model =
        LoadModel(PROTEUS_SOURCE_DIR "/workloads/models/" + what.model + ".json", variables);
    const StrategyTree tree = file.GetTree(model);
    KernelCostParameters parameters;
    parameters.hostPerKernelPs = 5000000;
    return CompileForCluster({model, tree, {}}, cluster, parameters, "");
}

} // namespace

/**
 * @ingroup proteus-tests
 * Runs compiled plans to their end.
 */
class ProteusCompiledPlans : public TestCase
{
  public:
    ProteusCompiledPlans()
        : TestCase("every kind of plan runs on the packet network, each task as often as it should")
    {
    }

  private:
    /// @param what to run @param hasKernelCosts whether messages cost more than their bytes
    /// @return milliseconds of an iteration
    double Run(const Case& what, bool hasKernelCosts = true)
    {
        const Cluster cluster = MakeCluster("dgx-a100", 1);
        const ExecutionGraph graph = Compile(what, cluster);
        ProteusHelper helper;
        helper.AssignStreams(1);
        helper.SetNetworkAttribute("KernelCosts", BooleanValue(hasKernelCosts));
        Ptr<TrainingJob> job = helper.Install(cluster, graph);
        job->Run(); // throws if something waits for ever
        NS_TEST_EXPECT_MSG_EQ(job->GetNetwork()->CheckAtRest(), "", what.strategy);
        std::map<TaskId, uint64_t> spans;
        int64_t endPs = 0;
        for (const Span& span : job->GetTimeline().spans)
        {
            ++spans[span.task];
            endPs = std::max(endPs, span.endPs);
        }
        for (TaskId id = 0; id < graph.GetNTasks(); ++id)
        {
            const Task& task = graph.GetTask(id);
            const uint64_t members = task.kind == TaskKind::MEMORY ? 0
                                     : task.kind == TaskKind::COMPUTE
                                         ? 1
                                         : graph.GetGroup(task.place).size();
            NS_TEST_EXPECT_MSG_EQ(spans[id],
                                  members * graph.GetNInstances(task),
                                  what.strategy << ": " << graph.GetName(task));
        }
        job->Dispose();
        Simulator::Destroy();
        return static_cast<double>(endPs) / 1e9;
    }

    void DoRun() override
    {
        for (const std::string strategy : {
                 R"({"dp": 4, "zero": 1, "globalBatch": 8})",
                 R"({"dp": 4, "zero": 2, "buckets": "ddp", "bucketMbytes": 5})",
                 R"({"dp": 8, "zero": 3, "globalBatch": 16, "recompute": "full"})",
                 R"({"tp": 4, "dp": 2, "sequenceParallel": true, "recompute": "selective"})",
                 R"({"cp": 4, "dp": 2, "zero": 3})",
                 R"({"dp": 2, "offloadOptimizer": true, "globalBatch": 4})",
                 R"({"dp": 2, "offloadOptimizer": true, "zero": 2, "fusedOptimizer": false})",
                 R"({"pp": 4, "dp": 2, "schedule": "zero-bubble", "zero": 3, "globalBatch": 8})",
                 R"({"pp": 2, "virtualStages": 2, "tp": 2, "dp": 2, "zero": 1, "globalBatch": 8})",
                 R"({"pp": 2, "tp": 2, "cp": 2, "sequenceParallel": true, "globalBatch": 4})",
             })
        {
            Run(MakeCase(strategy));
        }
        RunOtherModels();
        ComparePipelines();
    }

    /// Plans that a language model does not have.
    void RunOtherModels()
    {
        const std::map<std::string, int64_t> small{{"layers", 2},
                                                   {"sequence", 128},
                                                   {"hidden", 512},
                                                   {"heads", 8},
                                                   {"kvHeads", 8},
                                                   {"feedForward", 1024},
                                                   {"vocabulary", 1000}};
        for (const std::string strategy :
             {R"({"dp": 4, "ep": 4, "tp": 2, "sequenceParallel": true, "globalBatch": 8})",
              R"({"dp": 4, "ep": 2, "pp": 2, "globalBatch": 8})",
              R"({"dp": 8, "ep": 8, "expertDispatch": "deepep", "expertDomain": 4})"})
        {
            Run({"mixtral-8x7b", strategy, small});
        }
        // Passes of two micro-batches that take turns, also in a pipeline.
        std::map<std::string, int64_t> four = small;
        four["layers"] = 4;
        for (const std::string& strategy :
             {std::string(R"({"dp": 8, "ep": 8, "globalBatch": 24)"),
              std::string(R"({"dp": 2, "tp": 2, "ep": 4, "etp": 1, "sequenceParallel": true,
                              "pp": 2, "virtualStages": 2, "zero": 1, "globalBatch": 12)")})
        {
            Run({"mixtral-8x7b",
                 strategy + R"(, "overlapExpertCommunication": true,
                               "delayWeightGradients": true})",
                 four});
        }
        // Skips from the encoder to every stage of the decoder.
        for (const std::string strategy :
             {R"({"pp": 4, "globalBatch": 8})", R"({"pp": 2, "tp": 2, "dp": 2, "globalBatch": 8})"})
        {
            Run({"t5-small",
                 strategy,
                 {{"layers", 4},
                  {"sequence", 128},
                  {"targetSequence", 128},
                  {"vocabulary", 1000}}});
        }
        Run({"resnet50", R"({"pp": 4, "globalBatch": 8, "buckets": "ddp", "dp": 2})", {}});
        Run({"dlrm", MakeTables(), {{"rows", 1000}}});
    }

    /// Embedding tables on one device each, over two micro-batches.
    static std::string MakeTables()
    {
        std::string nodes;
        for (int device = 0; device < 8; ++device)
        {
            const std::string number = std::to_string(device);
            nodes += std::string(nodes.empty() ? "" : ", ") + R"({"name": "table)" + number +
                     R"(", "mesh": [)" + number + R"(], "split": {}, "items": {"out": {"mesh": {},
                     "split": {"batch": "dp"}}, "out_grad": {"mesh": [)" +
                     number + "]}}}";
        }
        return R"({"format": "proteus-strategy", "version": 1, "batch": 64,
                   "mesh": {"axes": ["dp"], "sizes": [8]}, "schedule": {"microBatches": 2},
                   "tree": {"split": {"batch": "dp"}, "children": [)" +
               nodes + "]}}";
    }

    /// What their papers say of the schedules holds on the packet network.
    void ComparePipelines()
    {
        // Messages cost next to nothing there; where they do, 1F1B waits for each of them, and
        // GPipe for those of the first micro-batch.
        auto run = [&](const std::string& schedule) {
            return Run(
                MakeCase(R"({"pp": 4, "globalBatch": 8, "microBatch": 1, )" + schedule + "}"),
                false);
        };
        const double gpipe = run(R"("schedule": "gpipe")");
        const double oneByOne = run(R"("schedule": "limits", "maxInFlight": [1, 1, 1, 1])");
        const double limits = run(R"("schedule": "limits", "maxInFlight": [4, 3, 2, 1])");
        const double oneForwardOneBackward = run(R"("schedule": "1f1b")");
        const double zeroBubble = run(R"("schedule": "zero-bubble")");
        NS_TEST_EXPECT_MSG_EQ_TOL(oneForwardOneBackward, gpipe, 0.05 * gpipe, "the same bubble");
        NS_TEST_EXPECT_MSG_EQ_TOL(limits, oneForwardOneBackward, 1e-9, "these limits are 1F1B");
        NS_TEST_EXPECT_MSG_LT(zeroBubble, 0.95 * oneForwardOneBackward, "weight gradients fill it");
        NS_TEST_EXPECT_MSG_GT(oneByOne, 2 * oneForwardOneBackward, "one micro-batch at a time");
    }
};

/**
 * @ingroup proteus-tests
 * The suite.
 */
class ProteusPlansTestSuite : public TestSuite
{
  public:
    ProteusPlansTestSuite()
        : TestSuite("proteus-plans")
    {
        AddTestCase(new ProteusCompiledPlans);
    }
};

static ProteusPlansTestSuite g_proteusPlansTestSuite; //!< registers itself
