/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-mistake-test-tools.h"

#include "ns3/command-line.h"
#include "ns3/proteus-cluster-json.h"
#include "ns3/proteus-helper.h"
#include "ns3/proteus-model-options.h"
#include "ns3/proteus-profile-json.h"
#include "ns3/proteus-program-options.h"
#include "ns3/simulator.h"
#include "ns3/test.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

/// @return a model of workloads/models/ with a strategy
TrainingPlan
LoadPlan(const std::string& model, const std::string& strategy, const std::string& variables = "")
{
    return ModelOptions{model, strategy, PROTEUS_SOURCE_DIR "/workloads/models", variables}.Load();
}

/// @return seconds of an iteration on a cluster
double
RunPlan(const Cluster& cluster,
        const TrainingPlan& plan,
        int64_t hostPerKernelPs,
        const std::string& profile = "")
{
    KernelCostParameters parameters;
    parameters.hostPerKernelPs = hostPerKernelPs;
    const ExecutionGraph graph = CompileForCluster(plan, cluster, parameters, profile);
    ProteusHelper helper;
    helper.AssignStreams(1);
    Ptr<TrainingJob> job = helper.Install(cluster, graph);
    job->Run(); // throws if anything is left
    int64_t endPs = 0;
    for (const Span& span : job->GetTimeline().spans)
    {
        endPs = std::max(endPs, span.endPs);
    }
    job->Dispose();
    Simulator::Destroy();
    return static_cast<double>(endPs) / 1e12;
}

} // namespace

/**
 * @ingroup proteus-tests
 * From a model and a strategy to a time.
 */
class ProteusRunModel : public TestCase
{
  public:
    ProteusRunModel()
        : TestCase("models with a strategy run, with the times of the kernels' cost model")
    {
    }

  private:
    void DoRun() override
    {
        const Cluster cluster = MakeCluster("dgx-a100", 1);
        const TrainingPlan plan =
            LoadPlan("gpt3-125m", "{\"tp\": 2, \"pp\": 2, \"dp\": 2, \"globalBatch\": 4}");
        const int64_t fastPs = 5000000;
        const double fast = RunPlan(cluster, plan, fastPs);
        const double slow = RunPlan(cluster, plan, 100 * fastPs);
        // Whatever else happens, the host issues the kernels of a device one after the other.
        NS_TEST_EXPECT_MSG_GT(slow, 3 * fast, "the host's pace counts");
        NS_TEST_EXPECT_MSG_LT(RunPlan(MakeCluster("dgx-h100", 1), plan, fastPs),
                              fast,
                              "H100 is faster than A100");
        CheckDurations(cluster, plan);
        CheckProfile(cluster);
    }

    /// Every kernel has a time of the cost model, so that the roofline of the run has no say.
    void CheckDurations(const Cluster& cluster, const TrainingPlan& plan)
    {
        const ExecutionGraph graph = CompileForCluster(plan, cluster, {}, "");
        std::size_t nKernels = 0;
        for (TaskId id = 0; id < graph.GetNTasks(); ++id)
        {
            const Task& task = graph.GetTask(id);
            if (task.kind == TaskKind::COMPUTE)
            {
                ++nKernels;
                NS_TEST_EXPECT_MSG_GT_OR_EQ(task.durationPs,
                                            KernelCostParameters().hostPerKernelPs,
                                            graph.GetName(task) << " has a time");
            }
        }
        NS_TEST_EXPECT_MSG_GT(nKernels, 1000, "there are kernels");
    }

    /// A measured time goes before a computed one.
    void CheckProfile(const Cluster& cluster)
    {
        const TrainingPlan plan = LoadPlan("gpt3-125m", "{}");
        ProfileEntry entry;
        entry.gpu = "A100-SXM4-80GB";
        entry.shape = {1, 2048, 3072, 768}; // the first product of a layer's perceptron
        entry.timePs = 50000000000;
        ProfileTable table;
        table.Add(entry);
        const std::string path = CreateTempDirFilename("profile.json");
        {
            std::ofstream file(path);
            WriteProfileJson(table, file);
        }
        const ExecutionGraph graph = CompileForCluster(plan, cluster, {}, path);
        std::size_t nMeasured = 0;
        for (TaskId id = 0; id < graph.GetNTasks(); ++id)
        {
            nMeasured += graph.GetTask(id).durationPs == entry.timePs;
        }
        NS_TEST_EXPECT_MSG_EQ(nMeasured, 12, "one product in each of 12 layers is measured");
    }
};

/**
 * @ingroup proteus-tests
 * Bad models and strategies end in one line on stderr with the cause, and exit code 1.
 */
class ProteusRunBadInput : public MistakeTestCase
{
  public:
    ProteusRunBadInput()
        : MistakeTestCase("bad models and strategies are one line with the cause, and exit code 1")
    {
    }

  private:
    using MistakeTestCase::ExpectFailure;

    void ExpectFailure(const std::string& model,
                       const std::string& strategy,
                       const std::string& profile,
                       const std::string& cause)
    {
        ExpectFailure(
            [&]() {
                CompileForCluster(LoadPlan(model, strategy),
                                  MakeCluster("dgx-a100", 1),
                                  {},
                                  profile);
            },
            cause);
    }

    void DoRun() override
    {
        ExpectFailure("", "{}", "", "--model=NAME and --strategy=FILE are needed");
        ExpectFailure("gpt3-125m", "", "", "--model=NAME and --strategy=FILE are needed");
        ExpectFailure("gpt5", "{}", "", "--model=gpt5: did you mean gpt?");
        ExpectFailure("gpt3-125m",
                      "nowhere.json",
                      "",
                      "nowhere.json: cannot be read: No such file");
        ExpectFailure("gpt3-125m", "{\"tp\": 2", "", "--strategy:1:");
        ExpectFailure("gpt3-125m", "{\"tq\": 2}", "", "tq");
        ExpectFailure("gpt3-125m", "{\"tp\": 5}", "", "5");
        ExpectFailure("gpt3-125m", "{\"dp\": 2, \"globalBatch\": 3}", "", "3");
        ExpectFailure("gpt3-125m",
                      "{\"tp\": 4, \"dp\": 4}",
                      "",
                      "the strategy needs 16 GPUs, and cluster '1 x dgx-a100' has 8");
        NS_TEST_EXPECT_MSG_EQ(
            LoadPlan("gpt3-125m", "{}", "layers=2,sequence=64").model.GetOperators().size(),
            LoadPlan("gpt3-125m", "{}").model.GetOperators().size() - 100,
            "10 layers of 10 operators less");
        for (const std::string variables : {"layers", "=4", "layers=four", "layers=4;heads=2"})
        {
            ExpectFailure([&]() { LoadPlan("gpt3-125m", "{}", variables); },
                          "--variables=" + variables + ": \"" + variables + "\" is not NAME=");
        }
        ExpectFailure([]() { LoadPlan("gpt3-125m", "{}", "layer=4"); },
                      "--variables=layer=4: " PROTEUS_SOURCE_DIR "/workloads/models/gpt.json"
                      ": has no variable layer; did you mean layers?");
        ExpectFailure("gpt3-125m", "{}", "nowhere.json", "nowhere.json: cannot be read");
        Cluster mixed("mixed");
        for (const std::string gpu : {"A100-SXM4-80GB", "H100-SXM5-80GB"})
        {
            Vertex vertex;
            vertex.name = gpu;
            vertex.model = gpu;
            vertex.server = 0;
            mixed.AddVertex(vertex);
        }
        ExpectFailure(
            [&]() { CompileForCluster(LoadPlan("gpt3-125m", "{\"dp\": 2}"), mixed, {}, ""); },
            "GPU 1 is H100-SXM5-80GB");
    }
};

/**
 * @ingroup proteus-tests
 * The option --launchInterval.
 */
class ProteusLaunchIntervalOption : public TestCase
{
  public:
    ProteusLaunchIntervalOption()
        : TestCase("--launchInterval knows whether it was given")
    {
    }

  private:
    void DoRun() override
    {
        ProgramOptions options;
        OptionList command("program");
        options.AddTo(command);
        command.Parse({"program", "--quiet"}, std::cout);
        NS_TEST_EXPECT_MSG_EQ(options.launchInterval.isGiven, false, "it is not there");
        NS_TEST_EXPECT_MSG_EQ(options.launchInterval.value,
                              PicoSeconds(RooflineModel().launchIntervalPs),
                              "the default");
        command.Parse({"program", "--launchInterval=113us"}, std::cout);
        NS_TEST_EXPECT_MSG_EQ(options.launchInterval.isGiven, true, "it is there");
        NS_TEST_EXPECT_MSG_EQ(options.launchInterval.value, MicroSeconds(113), "its value");
        bool isCaught = false;
        try
        {
            command.Parse({"program", "--launchInterval=-1us"}, std::cout);
        }
        catch (const std::invalid_argument& error)
        {
            isCaught = std::string(error.what()).find("--launchInterval") == 0;
        }
        NS_TEST_EXPECT_MSG_EQ(isCaught, true, "a negative one is refused");
    }
};

/**
 * @ingroup proteus-tests
 * The suite.
 */
class ProteusRunTestSuite : public TestSuite
{
  public:
    ProteusRunTestSuite()
        : TestSuite("proteus-run")
    {
        AddTestCase(new ProteusRunModel);
        AddTestCase(new ProteusRunBadInput);
        AddTestCase(new ProteusLaunchIntervalOption);
    }
};

static ProteusRunTestSuite g_proteusRunTestSuite; //!< registers itself
