/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-mistake-test-tools.h"

#include "ns3/command-line.h"
#include "ns3/proteus-cluster-json.h"
#include "ns3/proteus-graph-json.h"
#include "ns3/proteus-helper.h"
#include "ns3/proteus-html-report.h"
#include "ns3/proteus-model-options.h"
#include "ns3/proteus-parallel-plan.h"
#include "ns3/proteus-program-options.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"

#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

/// A plan as proteus-gpt3 makes it.
ParallelPlan
MakePlan(uint32_t tp, uint32_t pp, uint32_t dp, uint32_t batch)
{
    ParallelPlan plan;
    plan.tensorParallel = tp;
    plan.pipelineParallel = pp;
    plan.dataParallel = dp;
    plan.globalBatch = batch;
    plan.gradients.policy = BucketPolicy::WHOLE;
    plan.gradients.isInPlace = true;
    plan.precision.compute = DataType::BF16;
    return plan;
}

/// The graph of a plan, as proteus-gpt3 makes it.
ExecutionGraph
Compile(const std::string& model, const ParallelPlan& plan, const Cluster& cluster)
{
    return CompileForCluster(
        LoadTrainingPlan(PROTEUS_SOURCE_DIR "/workloads/models/gpt3-" + model + ".json", plan),
        cluster,
        {},
        "");
}

} // namespace

/**
 * @ingroup proteus-tests
 * The main job: nothing is lost on the way, and what was sent is what the formulas say.
 */
class ProteusMainJob : public TestCase
{
  public:
    ProteusMainJob()
        : TestCase("GPT-3 6.7B with TP 8 and DP 2 on two DGX A100 conserves every byte")
    {
    }

  private:
    static constexpr uint32_t SEQUENCES = 4; //!< two micro-batches of each replica

    void DoRun() override
    {
        const Cluster cluster = MakeCluster("dgx-a100", 2);
        const ExecutionGraph graph = Compile("6.7b", MakePlan(8, 1, 2, SEQUENCES), cluster);
        ProteusHelper helper;
        helper.AssignStreams(1);
        // Nothing but payload, in rings.
        helper.SetNetworkAttribute("Algorithm", StringValue("ring"));
        helper.SetNetworkAttribute("Protocol", StringValue("Simple"));
        Ptr<TrainingJob> job = helper.Install(cluster, graph);
        job->Run(); // throws if anything is left in a queue, in flight, or owed as credit

        NS_TEST_EXPECT_MSG_EQ(job->GetNetwork()->CheckAtRest(), "", "the fabric is at rest");
        uint64_t sent = 0;
        std::map<Parallelism, uint64_t> byParallelism;
        for (const CommunicationStatistics& statistics :
             job->GetNetwork()->GetCommunicationStatistics())
        {
            const Task& task = graph.GetTask(statistics.task);
            const uint64_t ranks = graph.GetGroup(task.place).size();
            NS_TEST_EXPECT_MSG_EQ(statistics.receivedBytes,
                                  statistics.sentBytes,
                                  graph.GetName(task) << " arrives whole");
            NS_TEST_EXPECT_MSG_EQ(statistics.sentBytes,
                                  2 * (ranks - 1) * task.bytes * graph.GetNInstances(task),
                                  graph.GetName(task) << " is a ring all-reduce");
            sent += statistics.sentBytes;
            byParallelism[task.parallelism] += statistics.sentBytes;
        }
        // Per replica and micro-batch: two all-reduces forward and two backward in each layer,
        // one of the embedding, one of the output layer's input gradient, each of the hidden
        // state in 2 bytes, and three of a float per token in the loss.
        const uint64_t layers = 32;
        const uint64_t tokens = 2048;
        const uint64_t state = tokens * 4096 * 2;
        const uint64_t perMicroBatch = (4 * layers + 2) * state + 3 * tokens * 4;
        NS_TEST_EXPECT_MSG_EQ(byParallelism[Parallelism::TENSOR],
                              SEQUENCES * 2 * 7 * perMicroBatch,
                              "2 (8 - 1) times the bytes of every sequence");
        NS_TEST_EXPECT_MSG_EQ(byParallelism.size(), 2, "nothing but tensor and data parallelism");

        uint64_t endpointBytes = 0;
        uint64_t packets = 0;
        for (const LinkStatistics& link : job->GetFabric()->GetLinkStatistics())
        {
            NS_TEST_EXPECT_MSG_EQ(link.receivedPackets, link.packets, "every packet arrives");
            NS_TEST_EXPECT_MSG_EQ(link.receivedPayloadBytes, link.payloadBytes, "every byte too");
            const Link& description = cluster.GetLinks()[link.link];
            const VertexId to = link.forward ? description.b : description.a;
            if (cluster.GetVertices()[to].kind == VertexKind::GPU)
            {
                endpointBytes += link.receivedPayloadBytes;
            }
            packets += link.packets;
        }
        NS_TEST_EXPECT_MSG_EQ(endpointBytes, sent, "what ranks sent has come in at GPUs, once");
        NS_TEST_EXPECT_MSG_EQ(packets,
                              job->GetNetwork()->GetStatistics().packetHops,
                              "packet-hops are counted once");

        // Spans: one for every task, micro-batch and device that takes part.
        std::map<TaskId, uint64_t> spans;
        for (const Span& span : job->GetTimeline().spans)
        {
            ++spans[span.task];
            NS_TEST_EXPECT_MSG_GT_OR_EQ(span.endPs, span.startPs, "time goes forward");
        }
        for (TaskId id = 0; id < graph.GetNTasks(); ++id)
        {
            const Task& task = graph.GetTask(id);
            uint64_t members = task.kind == TaskKind::MEMORY ? 0 : 1;
            if (task.kind == TaskKind::COMMUNICATION)
            {
                members = graph.GetGroup(task.place).size();
            }
            NS_TEST_EXPECT_MSG_EQ(spans[id],
                                  members * graph.GetNInstances(task),
                                  graph.GetName(task) << " ran as often as it should");
        }
        CheckReport(graph, cluster, *job);
        job->Dispose();
        Simulator::Destroy();
    }

    /// The page about it is small enough to be sent around.
    void CheckReport(const ExecutionGraph& graph, const Cluster& cluster, const TrainingJob& job)
    {
        ReportedRun run{graph, cluster, DataType::BF16, {}, {}};
        run.results.emplace_back();
        run.results[0].timeline = job.GetTimeline();
        run.results[0].links = job.GetFabric()->GetLinkStatistics();
        std::ostringstream page;
        WriteHtmlReport(Analyze(run), page);
        NS_TEST_EXPECT_MSG_LT(page.str().size(), 3000000, "bytes of the report");
        // GPUs that did the same share one row.
        NS_TEST_EXPECT_MSG_GT(page.str().size(), 200000, "bytes of the report: spans are in it");
    }
};

/**
 * @ingroup proteus-tests
 * Every plan runs to its end, the same way twice.
 */
class ProteusPlans : public TestCase
{
  public:
    ProteusPlans()
        : TestCase("mixed plans finish, and give identical span tables twice")
    {
    }

  private:
    /// @param preset of the servers @param servers how many @param plan to run @return the spans
    static std::vector<Span> GetSpans(const std::string& preset,
                                      uint32_t servers,
                                      const ParallelPlan& plan,
                                      int64_t stream)
    {
        FabricOptions fabric;
        fabric.kind = "leaf-spine";
        fabric.serversPerLeaf = 1;
        fabric.oversubscription = 2;
        ProteusHelper helper;
        helper.AssignStreams(stream);
        const Cluster cluster = MakeCluster(preset, servers, fabric);
        Ptr<TrainingJob> job = helper.Install(cluster, Compile("125m", plan, cluster));
        job->Run();
        const auto spans = job->GetTimeline().spans;
        job->Dispose();
        Simulator::Destroy();
        return spans;
    }

    void DoRun() override
    {
        for (const std::string preset : {"dgx1-v100", "dgx-a100", "dgx-h100"})
        {
            for (uint32_t tp : {1, 2, 4})
            {
                ParallelPlan plan = MakePlan(tp, 4, 16 / (4 * tp), 8);
                plan.recompute = tp == 1   ? RecomputePlan::FULL
                                 : tp == 2 ? RecomputePlan::SELECTIVE
                                           : RecomputePlan::NONE;
                plan.gradients.policy = tp == 2 ? BucketPolicy::MEGATRON : BucketPolicy::WHOLE;
                plan.schedule.kind =
                    tp == 4 ? ScheduleKind::GPIPE : ScheduleKind::ONE_FORWARD_ONE_BACKWARD;
                const auto spans = GetSpans(preset, 2, plan, 7);
                NS_TEST_EXPECT_MSG_EQ((spans == GetSpans(preset, 2, plan, 7)),
                                      true,
                                      preset << ", TP " << tp << ": equal spans");
                if (preset == "dgx-a100" && tp == 1)
                {
                    NS_TEST_EXPECT_MSG_EQ((spans == GetSpans(preset, 2, plan, 8)),
                                          false,
                                          "another stream, other paths over the spines");
                }
            }
        }
    }
};

/**
 * @ingroup proteus-tests
 * Bad input ends in one line on stderr with the cause, and exit code 1.
 */
class ProteusBadInput : public MistakeTestCase
{
  public:
    ProteusBadInput()
        : MistakeTestCase("bad input is one line with the cause, and exit code 1")
    {
    }

  private:
    void DoRun() override
    {
        const auto readGraph = [](const std::string& text) {
            return [text]() {
                std::istringstream input(text);
                ReadGraphJson(input, "graph.json");
            };
        };
        const auto readCluster = [](const std::string& text) {
            return [text]() {
                std::istringstream input(text);
                ReadClusterJson(input, "cluster.json");
            };
        };
        ExpectFailure(readGraph("{\n  \"format\": \"proteus-graph\",\n  \"version\" 1\n}"),
                      "graph.json:3:");
        ExpectFailure(readCluster("{\"format\": \"proteus-cluster\", \"version\": 1,"),
                      "cluster.json:1:");
        ExpectFailure([]() { MakeCluster("dgx-9000", 1); }, "dgx-a100");
        ExpectFailure(
            []() {
                GraphBuilder builder(1);
                const StreamId stream = builder.AddStream("compute");
                const PhaseId phase = builder.AddPhase("iteration");
                const TaskId a = builder.AddCompute(phase, 0, stream, "a", 1);
                const TaskId b = builder.AddCompute(phase, 0, stream, "b", 1, {a});
                builder.AddDependency(b, a);
                builder.Build();
            },
            "cycle");
        ExpectFailure(
            []() {
                GraphBuilder builder(2);
                builder.AddGroup({0, 7});
                builder.Build();
            },
            "7");
        ExpectFailure([]() { Compile("6.7b", MakePlan(3, 1, 1, 1), MakeCluster("dgx-a100", 1)); },
                      "operator \"layer0.qkv\": dimension out of 32");
        ExpectFailure([]() { Compile("6.7b", MakePlan(8, 1, 2, 7), MakeCluster("dgx-a100", 2)); },
                      "globalBatch = 7");
        ExpectFailure([]() { Compile("125m", MakePlan(1, 1, 16, 16), MakeCluster("dgx-a100", 1)); },
                      "needs 16 GPUs");
        ExpectFailure(
            []() {
                ProteusHelper().Install(
                    MakeCluster("dgx-a100", 1),
                    Compile("125m", MakePlan(1, 1, 16, 16), MakeCluster("dgx-a100", 2)));
            },
            "16 GPUs");
        Simulator::Destroy();
        ExpectFailure(
            []() {
                ProgramOptions options;
                options.nodes = -1;
                options.BuildCluster();
            },
            "--nodes=-1: must be a number from 0");
        ExpectFailure(
            []() {
                ProgramOptions options;
                OptionList command("program");
                options.AddTo(command);
                command.Parse({"program", "--fabric=ring"}, std::cout);
                options.BuildCluster();
            },
            "leaf-spine");
    }
};

/**
 * @ingroup proteus-tests
 * The suite.
 */
class ProteusGpt3TestSuite : public TestSuite
{
  public:
    ProteusGpt3TestSuite()
        : TestSuite("proteus-gpt3")
    {
        AddTestCase(new ProteusMainJob);
        AddTestCase(new ProteusPlans);
        AddTestCase(new ProteusBadInput);
    }
};

static ProteusGpt3TestSuite g_proteusGpt3TestSuite; //!< registers itself
