/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/config.h"
#include "ns3/proteus-breakdown.h"
#include "ns3/proteus-executors.h"
#include "ns3/proteus-fabric-variant.h"
#include "ns3/proteus-flow-calibration.h"
#include "ns3/proteus-model-options.h"
#include "ns3/string.h"
#include "ns3/test.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

/// A job, and where it runs.
struct Job
{
    std::string name;
    Cluster cluster;
    ExecutionGraph graph;
};

Job
MakeJob(const std::string& model,
        const std::string& strategy,
        const std::string& variables,
        const Cluster& cluster)
{
    ModelOptions options;
    options.folder = PROTEUS_SOURCE_DIR "/workloads/models";
    options.model = model;
    options.strategy = strategy;
    options.variables = variables;
    return {model + " " + strategy, cluster, CompileForCluster(options.Load(), cluster, {}, "")};
}

/// Pipelines with tensor parallelism, gradients reduced behind the backward pass, and experts.
std::vector<Job>
MakeJobs()
{
    std::vector<Job> jobs;
    jobs.push_back(MakeJob("gpt3-125m",
                           "tp=2,pp=2,dp=2,globalBatch=8",
                           "layers=4,sequence=128,vocabulary=2048",
                           MakeCluster("dgx1-v100", 1)));
    jobs.push_back(MakeJob("resnet50",
                           PROTEUS_SOURCE_DIR "/workloads/strategies/ddp-8.json",
                           "",
                           MakeCluster("dgx-a100", 1)));
    jobs.push_back(MakeJob("mixtral-8x7b",
                           "dp=16,ep=8,globalBatch=16",
                           "layers=2,hidden=512,feedForward=1024,sequence=128,vocabulary=2048",
                           MakeCluster("dgx-a100", 2)));
    return jobs;
}

const std::vector<std::string> EXECUTORS{"packet",
                                         "flow",
                                         "flow_calibrated",
                                         "alpha-beta",
                                         "classic",
                                         "distsim",
                                         "distsim-flow"};

/// @param calibration file for flow_calibrated
RunRecord
RunJob(const Job& job, const std::string& executor, const std::string& calibration)
{
    ProgramOptions options;
    options.quiet = true;
    options.calibration = calibration;
    std::ostringstream text;
    return RunExecutor(options, executor, job.cluster, job.graph, text);
}

/// @param file to write, with links slower than they are
void
WriteCalibration(const std::string& file)
{
    FlowCalibration calibration;
    calibration.cluster = "any";
    for (FlowLinkParameters& link : calibration.parameters.links)
    {
        link = {0.9, 0.95, 500000};
    }
    std::ofstream out(file);
    WriteFlowCalibration(calibration, out);
}

} // namespace

/**
 * @ingroup proteus-tests
 * Which executors an option names.
 */
class ExecutorNamesTest : public TestCase
{
  public:
    ExecutorNamesTest()
        : TestCase("--executor, --htae and --calibration name executors")
    {
    }

  private:
    void DoRun() override
    {
        using Names = std::vector<std::string>;
        using Options = std::tuple<std::string, std::string, std::string>;
        const std::map<Options, Names> cases{
            {{"packet", "flow", ""}, {"packet"}},
            {{"both", "flow", ""}, {"packet", "flow"}},
            {{"both", "classic", ""}, {"packet", "classic"}},
            {{"packet", "classic", ""}, {"classic"}},
            {{"distsim", "classic", ""}, {"distsim"}},
            {{"flow,alpha-beta,distsim", "flow", ""}, {"flow", "alpha-beta", "distsim"}},
            {{"distsim-flow,classic", "flow", ""}, {"distsim-flow", "classic"}},
            {{"flow", "flow", "file"}, {"flow_calibrated"}},
            {{"both", "flow", "file"}, {"packet", "flow", "flow_calibrated"}},
            {{"flow,alpha-beta", "flow", "file"}, {"flow", "alpha-beta", "flow_calibrated"}},
            {{"flow_calibrated", "flow", "file"}, {"flow_calibrated"}},
            {{"flow_calibrated,packet", "flow", "file"}, {"flow_calibrated", "packet"}},
            {{"flow_calibrated,flow", "flow", "file"}, {"flow_calibrated", "flow"}}};
        for (const auto& [options, names] : cases)
        {
            const auto& [executor, htae, calibration] = options;
            const bool isSame = ParseExecutors(executor, htae, calibration) == names;
            NS_TEST_EXPECT_MSG_EQ(isSame,
                                  true,
                                  "--executor=" << executor << " --htae=" << htae
                                                << " --calibration=" << calibration);
        }
        ExpectRefused("packets", "flow", "", "must be of packet, flow");
        ExpectRefused("", "flow", "", "must be of packet, flow");
        ExpectRefused("packet", "x", "", "--htae=x: there are flow, classic");
        ExpectRefused("flow,alpha-beta,flow", "flow", "", "flow stands there twice");
        ExpectRefused("packet,,flow", "flow", "", "a part is empty");
        ExpectRefused("packet,flow,", "flow", "", "a part is empty");
        ExpectRefused("packet, flow", "flow", "", "must be of packet, flow");
        ExpectRefused("both,classic", "flow", "", "must be of packet, flow");
        ExpectRefused("flow_calibrated", "flow", "", "needs --calibration=FILE");
        ExpectRefused("packet", "flow", "file", "--calibration belongs to the flow network");
        ExpectRefused("alpha-beta", "flow", "file", "--calibration belongs to the flow network");
        ExpectRefused("both", "classic", "file", "--calibration belongs to the flow network");
    }

    /// @param words that the error has
    void ExpectRefused(const std::string& executor,
                       const std::string& htae,
                       const std::string& calibration,
                       const std::string& words)
    {
        std::string error = "nothing";
        try
        {
            ParseExecutors(executor, htae, calibration);
        }
        catch (const std::invalid_argument& refusal)
        {
            error = refusal.what();
        }
        NS_TEST_EXPECT_MSG_NE(error.find(words),
                              std::string::npos,
                              "--executor=" << executor << " --htae=" << htae << ": " << error);
    }
};

/**
 * @ingroup proteus-tests
 * Where the time of every GPU goes, by every executor, against spans that are merged here.
 */
class ExecutorBreakdownTest : public TestCase
{
  public:
    ExecutorBreakdownTest()
        : TestCase("Busy, waiting for data, for peers, and idle are the iteration on every GPU")
    {
    }

  private:
    void DoRun() override
    {
        const std::string calibration = CreateTempDirFilename("calibration.json");
        WriteCalibration(calibration);
        bool isAnySlower = false;
        for (const Job& job : MakeJobs())
        {
            std::map<std::string, int64_t> ends;
            for (const std::string& executor : EXECUTORS)
            {
                const RunRecord result = RunJob(job, executor, calibration);
                NS_TEST_EXPECT_MSG_EQ(result.executor, executor, "its name");
                Check(job.graph, result.timeline, job.name + ", " + executor);
                ends[executor] = result.timeline.endPs;
            }
            // Not where thread blocks are slower still.
            NS_TEST_EXPECT_MSG_GT_OR_EQ(ends["flow_calibrated"],
                                        ends["flow"],
                                        job.name << ": the calibration's links are slower");
            isAnySlower = isAnySlower || ends["flow_calibrated"] > ends["flow"];
        }
        NS_TEST_EXPECT_MSG_EQ(isAnySlower, true, "links that are slower make a difference");
    }

    /// Length of what spans cover together, from the start of the run.
    static int64_t Cover(std::vector<std::pair<int64_t, int64_t>> spans)
    {
        std::sort(spans.begin(), spans.end());
        int64_t covered = 0;
        int64_t reached = 0;
        for (const auto& [start, end] : spans)
        {
            covered += std::max<int64_t>(0, end - std::max(start, reached));
            reached = std::max(reached, end);
        }
        return covered;
    }

    void Check(const ExecutionGraph& graph, const Timeline& timeline, const std::string& what)
    {
        std::vector<std::vector<std::pair<int64_t, int64_t>>> kernels(graph.GetNDevices());
        std::vector<std::vector<std::pair<int64_t, int64_t>>> all(graph.GetNDevices());
        int64_t endPs = 0;
        for (const Span& span : timeline.spans)
        {
            all[span.device].emplace_back(span.startPs, span.endPs);
            if (graph.GetTask(span.task).kind == TaskKind::COMPUTE)
            {
                kernels[span.device].push_back(all[span.device].back());
            }
            endPs = std::max(endPs, span.endPs);
        }
        NS_TEST_EXPECT_MSG_EQ(timeline.endPs, endPs, what << ": the end is that of a span");
        const std::vector<DeviceBreakdown> accounts = BreakDown(graph, timeline);
        NS_TEST_ASSERT_MSG_EQ(accounts.size(), graph.GetNDevices(), what);
        int64_t dataPs = 0;
        for (DeviceId device = 0; device < accounts.size(); ++device)
        {
            const DeviceBreakdown& account = accounts[device];
            const std::string where = what + ", GPU " + std::to_string(device);
            const int64_t emptyPs = account.bubblePs + account.hostPs + account.idlePs;
            NS_TEST_EXPECT_MSG_EQ(account.computePs + account.GetExposedPs() +
                                      account.GetWaitingPs() + emptyPs,
                                  timeline.endPs,
                                  where << ": the parts are the iteration");
            NS_TEST_EXPECT_MSG_EQ(account.computePs, Cover(kernels[device]), where << ": busy");
            NS_TEST_EXPECT_MSG_EQ((emptyPs >= timeline.endPs - Cover(all[device])),
                                  true,
                                  where << ": where there is nothing, it is idle or in the bubble");
            NS_TEST_EXPECT_MSG_EQ(
                (account.GetExposedPs() >= 0 && account.GetWaitingPs() >= 0 && emptyPs >= 0),
                true,
                where);
            dataPs += account.GetExposedPs();
        }
        NS_TEST_EXPECT_MSG_GT(dataPs, 0, what << ": somebody waits for data");
    }
};

/**
 * @ingroup proteus-tests
 * What sharing is good for: all-reduces of pairs of GPUs that meet on the NICs of their servers.
 */
class ExecutorAblationTest : public TestCase
{
  public:
    ExecutorAblationTest()
        : TestCase("Where groups share links, flows are near packets, alpha-beta and DistSim not")
    {
    }

  private:
    void DoRun() override
    {
        const Job job = MakeJob("gpt3-125m",
                                "tp=2,dp=4,globalBatch=8",
                                "layers=2,sequence=256,vocabulary=8192",
                                MakeCluster("pcie-v100x4", 2));
        std::map<std::string, double> ends;
        for (const std::string executor : {"packet", "flow", "alpha-beta", "distsim-flow"})
        {
            ends[executor] = static_cast<double>(RunJob(job, executor, "").timeline.endPs);
        }
        NS_TEST_EXPECT_MSG_EQ_TOL(ends["flow"] / ends["packet"], 1, 0.02, "shares of links");
        NS_TEST_EXPECT_MSG_LT(ends["alpha-beta"] / ends["packet"], 0.9, "no sharing");
        NS_TEST_EXPECT_MSG_LT(ends["distsim-flow"] / ends["packet"], 0.9, "each alone");
    }
};

/**
 * @ingroup proteus-tests
 * What DCQCN costs where several queue pairs share ports of switches.
 */
class ExecutorCongestionTest : public TestCase
{
  public:
    ExecutorCongestionTest()
        : TestCase("Where DCQCN makes packets slow, flows are")
    {
    }

  private:
    /// Four all-reduces of 4 MiB at a time, each of every fourth GPU of two servers at 4:1.
    static Job MakeReductions()
    {
        constexpr uint32_t DEVICES = 16;
        constexpr uint32_t GROUPS = 4;
        GraphBuilder builder(DEVICES);
        const PhaseId phase = builder.AddPhase("all");
        const StreamId stream = builder.AddStream("communication");
        for (DeviceId first = 0; first < GROUPS; ++first)
        {
            std::vector<DeviceId> devices;
            for (DeviceId device = first; device < DEVICES; device += GROUPS)
            {
                devices.push_back(device);
            }
            builder.AddCommunication(phase,
                                     builder.AddGroup(devices),
                                     stream,
                                     "sum" + std::to_string(first),
                                     Collective::ALL_REDUCE,
                                     1 << 22,
                                     Parallelism::NONE);
        }
        return {"reductions",
                MakeVariantCluster(
                    "pcie-v100x8",
                    2,
                    ParseFabricVariant("leaf-spine:4+roce", FitFabricOptions(FabricOptions(), 2))),
                builder.Build()};
    }

    void DoRun() override
    {
        const Job job = MakeReductions();
        const auto run = [&](const std::string& executor) {
            return static_cast<double>(RunJob(job, executor, "").timeline.endPs);
        };
        const double packet = run("packet");
        NS_TEST_EXPECT_MSG_EQ_TOL(run("flow") / packet, 1, 0.1, "with DCQCN");
        Config::SetDefault("ns3::proteus::Transport::CongestionControl", StringValue("none"));
        const double fair = run("flow");
        NS_TEST_EXPECT_MSG_EQ_TOL(fair / run("packet"), 1, 0.02, "without");
        NS_TEST_EXPECT_MSG_LT(fair / packet, 0.5, "what it costs");
        Config::SetDefault("ns3::proteus::Transport::CongestionControl", StringValue("auto"));
    }
};

/**
 * @ingroup proteus-tests
 * A ring alone whose queue pairs fill ports of switches: what they send next depends on what has
 * come round.
 */
class ExecutorRingCongestionTest : public TestCase
{
  public:
    ExecutorRingCongestionTest()
        : TestCase("A ring that congests itself takes as long by flows as by packets")
    {
    }

  private:
    /// A ring alone.
    struct Ring
    {
        std::string preset;
        uint32_t servers;
        std::string oversubscription;
        double nicGigabits; //!< 0: that of the preset
        uint32_t rails;     //!< 0: all
        std::string channels;
        Collective collective;
        uint64_t bytes;
        double tolerance; //!< of the mean of several streams
    };

    /// @return the mean time of some streams, seconds
    static double FindMean(const Ring& ring, const std::string& executor)
    {
        FabricOptions options;
        options.serversPerLeaf = 1;
        FabricVariant variant = ParseFabricVariant("leaf-spine:" + ring.oversubscription + "+roce",
                                                   FitFabricOptions(options, ring.servers));
        variant.nicBytesPerSecond = ring.nicGigabits * 1e9 / 8;
        variant.rails = ring.rails;
        const Cluster cluster =
            MakeVariantCluster(ring.preset, ring.servers, FitSpines(variant, ring.preset));
        const auto nDevices = static_cast<uint32_t>(cluster.GetGpus().size());
        GraphBuilder builder(nDevices);
        std::vector<DeviceId> devices(nDevices);
        std::iota(devices.begin(), devices.end(), 0);
        builder.AddCommunication(builder.AddPhase("all"),
                                 builder.AddGroup(devices),
                                 builder.AddStream("communication"),
                                 "ring",
                                 ring.collective,
                                 ring.bytes,
                                 Parallelism::NONE);
        const ExecutionGraph graph = builder.Build();
        constexpr uint32_t STREAMS = 8; // one in four may take another course
        double sum = 0;
        for (uint32_t stream = 1; stream <= STREAMS; ++stream)
        {
            ProgramOptions program;
            program.quiet = true;
            program.stream = stream;
            std::ostringstream text;
            sum += static_cast<double>(
                RunExecutor(program, executor, cluster, graph, text).timeline.endPs);
        }
        return sum / STREAMS * 1e-12;
    }

    void DoRun() override
    {
        constexpr uint64_t MIB = 1 << 20;
        Config::SetDefault("ns3::proteus::PacketNetwork::Algorithm", StringValue("ring"));
        for (const Ring& ring :
             {Ring{"pcie-v100x8", 2, "4", 0, 0, "1", Collective::ALL_REDUCE, 16 * MIB, 0.06},
              Ring{"pcie-v100x8", 2, "4", 0, 0, "1", Collective::ALL_GATHER, 64 * MIB, 0.08},
              Ring{"pcie-v100x8", 4, "2", 0, 0, "1", Collective::ALL_GATHER, MIB, 0.05},
              Ring{"dgx-h100", 4, "4", 400, 1, "1", Collective::ALL_GATHER, 16 * MIB, 0.05}})
        {
            Config::SetDefault("ns3::proteus::PacketNetwork::Channels", StringValue(ring.channels));
            const double ratio = FindMean(ring, "flow") / FindMean(ring, "packet");
            NS_TEST_EXPECT_MSG_EQ_TOL(ratio,
                                      1,
                                      ring.tolerance,
                                      ring.preset << ", " << ring.bytes << " bytes");
        }
        Config::SetDefault("ns3::proteus::PacketNetwork::Channels", StringValue("0"));
        Config::SetDefault("ns3::proteus::PacketNetwork::Algorithm", StringValue(""));
    }
};

/**
 * @ingroup proteus-tests
 * Every file of results has the same bytes whenever the same job runs, whatever ran before.
 */
class ExecutorDeterminismTest : public TestCase
{
  public:
    ExecutorDeterminismTest()
        : TestCase("Equal inputs give equal bytes, whatever ran before in the same process")
    {
    }

  private:
    void DoRun() override
    {
        m_calibration = CreateTempDirFilename("calibration.json");
        WriteCalibration(m_calibration);
        const std::vector<Job> jobs = MakeJobs();
        const Job& first = jobs[0];
        const Job& second = jobs[2];
        // Queues over RoCE are marked at random.
        const Job third{
            "RoCE",
            MakeVariantCluster(
                "dgx-a100",
                2,
                ParseFabricVariant("leaf-spine:4+roce", FitFabricOptions(FabricOptions(), 2))),
            second.graph};
        const auto marked = Run(third, "packet");
        std::map<std::string, std::map<std::string, std::string>> firstFiles;
        std::map<std::string, std::map<std::string, std::string>> secondFiles;
        for (const std::string& executor : EXECUTORS)
        {
            firstFiles[executor] = Run(first, executor);
            secondFiles[executor] = Run(second, executor);
        }
        // Now in the other order, after all others.
        for (auto executor = EXECUTORS.rbegin(); executor != EXECUTORS.rend(); ++executor)
        {
            Compare(secondFiles[*executor], Run(second, *executor), "second job, " + *executor);
            Compare(firstFiles[*executor], Run(first, *executor), "first job, " + *executor);
        }
        Compare(marked, Run(third, "packet"), "RoCE");
        NS_TEST_EXPECT_MSG_NE(firstFiles["packet"]["spans.csv"],
                              firstFiles["flow"]["spans.csv"],
                              "but executors differ");
    }

    /// @return the content of the files of results by their names
    std::map<std::string, std::string> Run(const Job& job, const std::string& executor)
    {
        ReportedRun run{job.graph, job.cluster, DataType::BF16, RunInformation(), {}};
        run.results.push_back(RunJob(job, executor, m_calibration));
        run.results[0].wallS = 0; // the only thing that differs
        const std::string folder = CreateTempDirFilename("results");
        std::filesystem::remove_all(folder);
        std::filesystem::create_directories(folder);
        ResultOptions options;
        options.tables.json = folder + "/all.json";
        options.csv = folder + "/spans.csv";
        options.summary = folder + "/summary.json";
        options.timeline = folder + "/timeline.json";
        std::ostringstream text;
        std::streambuf* const original = std::cout.rdbuf(text.rdbuf());
        try
        {
            options.Write(run);
        }
        catch (...)
        {
            std::cout.rdbuf(original);
            throw;
        }
        std::cout.rdbuf(original);
        std::map<std::string, std::string> files{{"stdout", text.str()}};
        for (const auto& entry : std::filesystem::directory_iterator(folder))
        {
            std::ifstream in(entry.path(), std::ios::binary);
            files[entry.path().filename().string()] = {std::istreambuf_iterator<char>(in),
                                                       std::istreambuf_iterator<char>()};
        }
        NS_TEST_EXPECT_MSG_EQ(files.size(), 5, "stdout and four files");
        return files;
    }

    void Compare(const std::map<std::string, std::string>& before,
                 const std::map<std::string, std::string>& now,
                 const std::string& what)
    {
        for (const auto& [name, content] : before)
        {
            NS_TEST_EXPECT_MSG_GT(content.size(), 100, what << ": " << name);
            NS_TEST_EXPECT_MSG_EQ((now.at(name) == content), true, what << ": " << name);
        }
    }

    std::string m_calibration; //!< a file
};

/**
 * @ingroup proteus-tests
 * What holds for all executors.
 */
class ProteusExecutorsTestSuite : public TestSuite
{
  public:
    ProteusExecutorsTestSuite()
        : TestSuite("proteus-executors")
    {
        AddTestCase(new ExecutorNamesTest);
        AddTestCase(new ExecutorBreakdownTest);
        AddTestCase(new ExecutorAblationTest);
        AddTestCase(new ExecutorCongestionTest);
        AddTestCase(new ExecutorRingCongestionTest);
        AddTestCase(new ExecutorDeterminismTest);
    }
};

static ProteusExecutorsTestSuite g_proteusExecutorsTestSuite; //!< registers itself
