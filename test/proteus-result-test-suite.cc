/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-collective-program.h"
#include "ns3/proteus-compile-tables.h"
#include "ns3/proteus-executors.h"
#include "ns3/proteus-graph-file.h"
#include "ns3/proteus-model-options.h"
#include "ns3/proteus-nccl-tests.h"
#include "ns3/proteus-program-options.h"
#include "ns3/test.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

/// @return a graph of workloads/graphs/
ExecutionGraph
LoadSample()
{
    return LoadGraph(PROTEUS_SOURCE_DIR "/workloads/graphs/data-parallel-8.json");
}

/// @param path of a file @return its content
std::string
ReadFile(const std::string& path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

} // namespace

/**
 * @ingroup proteus-tests
 * What is recorded over time adds up to what links carried, and does not change it.
 */
class ProteusLinkRecord : public TestCase
{
  public:
    ProteusLinkRecord()
        : TestCase("links over time add up to their statistics, and looking changes nothing")
    {
    }

  private:
    void DoRun() override
    {
        const Cluster cluster = MakeCluster("dgx-a100", 1);
        const ExecutionGraph graph = LoadSample();
        ProgramOptions options;
        options.quiet = true;
        const RunRecord plain = RunExecutor(options, "packet", cluster, graph, std::cout);
        NS_TEST_EXPECT_MSG_EQ(plain.series.GetNBins(), 0, "nobody asks for links over time");
        NS_TEST_EXPECT_MSG_EQ(plain.channels.size(), 0, "nor for channels");
        options.results.timeline = "x.pftrace"; // not written here
        const RunRecord looked = RunExecutor(options, "packet", cluster, graph, std::cout);
        NS_TEST_ASSERT_MSG_EQ(looked.timeline.spans.size(), plain.timeline.spans.size(), "spans");
        for (std::size_t i = 0; i < plain.timeline.spans.size(); ++i)
        {
            NS_TEST_EXPECT_MSG_EQ((looked.timeline.spans[i] == plain.timeline.spans[i]),
                                  true,
                                  "span " << i << " is the same");
        }
        CheckSeries(looked);
        CheckChannels(graph, looked);
    }

    void CheckSeries(const RunRecord& result)
    {
        const LinkSeries& series = result.series;
        NS_TEST_ASSERT_MSG_GT(series.GetNBins(), 100, "some hundred parts");
        NS_TEST_ASSERT_MSG_EQ(series.GetNDirections(), result.links.size(), "all directions");
        for (std::size_t direction = 0; direction < result.links.size(); ++direction)
        {
            double busyPs = 0;
            for (std::size_t bin = 0; bin < series.GetNBins(); ++bin)
            {
                busyPs += static_cast<double>(series.Get(direction, bin).busyShare) *
                          static_cast<double>(series.GetEndPs(bin) - series.GetStartPs(bin));
            }
            const auto expected = static_cast<double>(result.links[direction].busyPs);
            NS_TEST_EXPECT_MSG_EQ_TOL(busyPs,
                                      expected,
                                      1e-3 * expected + 1e6,
                                      "direction " << direction);
        }
    }

    /// Every channel lies within the communication that it is of.
    void CheckChannels(const ExecutionGraph& graph, const RunRecord& result)
    {
        std::set<std::tuple<DeviceId, TaskId, uint32_t>> seen;
        std::size_t outside = 0;
        for (const Span& span : result.timeline.spans)
        {
            if (graph.GetTask(span.task).kind != TaskKind::COMMUNICATION)
            {
                continue;
            }
            for (const ChannelSpan& channel : result.channels)
            {
                if (channel.device == span.device && channel.task == span.task &&
                    channel.microBatch == span.microBatch)
                {
                    seen.emplace(channel.device, channel.task, channel.microBatch);
                    outside += channel.startPs < span.startPs || channel.endPs > span.endPs ||
                               channel.endPs < channel.startPs;
                }
            }
            NS_TEST_EXPECT_MSG_EQ(seen.count({span.device, span.task, span.microBatch}),
                                  1,
                                  "a communication has channels");
        }
        NS_TEST_EXPECT_MSG_EQ(outside, 0, "channels outside their communication");
    }
};

/**
 * @ingroup proteus-tests
 * The options that write results.
 */
class ProteusResultFiles : public TestCase
{
  public:
    ProteusResultFiles()
        : TestCase("every option that writes results writes them")
    {
    }

  private:
    void DoRun() override
    {
        const std::string folder = CreateTempDirFilename("results");
        std::filesystem::create_directories(folder);
        const std::string quiet = "--quiet";
        Run({"--report=" + folder + "/report.html",
             "--json=" + folder + "/all.json",
             "--tables=" + folder + "/tables",
             "--summary=" + folder + "/summary.json",
             "--csv=" + folder + "/spans.csv",
             "--timeline=" + folder + "/timeline.pftrace",
             quiet});
        Run({"--timeline=" + folder + "/timeline.json", quiet});
        Run({"--timeline=" + folder + "/ranks/", quiet});
        const auto expectIn = [&](const std::string& file, const std::string& text) {
            NS_TEST_EXPECT_MSG_NE(ReadFile(folder + "/" + file).find(text),
                                  std::string::npos,
                                  "'" << text << "' is not in " << file);
        };
        expectIn("report.html", "</html>");
        expectIn("report.html", "proteus-run --report=");
        expectIn("all.json", "\"format\": \"proteus-results\"");
        expectIn("summary.json", "\"iteration_s\"");
        expectIn("spans.csv", "device,gpu,stream");
        expectIn("timeline.json", "\"traceEvents\"");
        expectIn("timeline.json", "gpu7 channel 0");
        expectIn("timeline.pftrace", "gpu7 channel 0");
        expectIn("ranks/rank7.json", "\"rank\": 7");
        for (const std::string table : {"run",
                                        "summary",
                                        "breakdown",
                                        "phases",
                                        "collectives",
                                        "links",
                                        "hot_spots",
                                        "memory",
                                        "links_over_time",
                                        "memory_over_time"})
        {
            expectIn("tables/" + table + ".csv", ",");
        }
        ExpectRefused("--timeline=/dev/null/x/");
        ExpectRefused("--report=" + folder + "/no/such/folder.html");
        ExpectRefused("--tables=" + folder + "/spans.csv");
    }

    /// Runs the sample with options of a program, its output set aside.
    void Run(const std::vector<std::string>& arguments)
    {
        std::vector<std::string> all{"proteus-run"};
        all.insert(all.end(), arguments.begin(), arguments.end());
        ProgramOptions options;
        OptionList command("proteus-run");
        options.AddTo(command);
        options.information = DescribeRun(all, options.inputs);
        command.Parse(all, std::cout);
        std::ostringstream captured;
        std::streambuf* const original = std::cout.rdbuf(captured.rdbuf());
        try
        {
            RunAndReport(options, MakeCluster("dgx-a100", 1), LoadSample(), DataType::BF16);
        }
        catch (...)
        {
            std::cout.rdbuf(original);
            throw;
        }
        std::cout.rdbuf(original);
        NS_TEST_EXPECT_MSG_NE(captured.str().find("busbw"), std::string::npos, "collectives");
    }

    /// @param argument that names what cannot be written; nothing is simulated first
    void ExpectRefused(const std::string& argument)
    {
        bool isRefused = false;
        try
        {
            Run({argument, "--quiet"});
        }
        catch (const std::invalid_argument&)
        {
            isRefused = true;
        }
        NS_TEST_EXPECT_MSG_EQ(isRefused, true, argument << " is refused");
    }
};

/**
 * @ingroup proteus-tests
 * A log of nccl-tests comes out as a table, and beside the times that are simulated.
 */
class ProteusMeasuredLog : public TestCase
{
  public:
    ProteusMeasuredLog()
        : TestCase("a log of nccl-tests stands beside simulated times, and becomes a table")
    {
    }

  private:
    void DoRun() override
    {
        const std::string folder = CreateTempDirFilename("measured");
        std::filesystem::create_directories(folder);
        CollectiveProgramOptions options;
        options.measured = folder + "/a log.txt";
        std::ofstream(options.measured)
            << "# nThread 1 nGpus 8 minBytes 65536 maxBytes 1048576 step: 16(factor)\n"
               "#  Rank  0 Group  0 Pid  1 on  host device  0 [0x07] NVIDIA A100-SXM4-80GB\n"
               "#       size         count      type   redop    root     time   algbw   busbw "
               "#wrong     time   algbw   busbw #wrong\n"
               "       65536         16384     float     sum      -1    38.21    1.72    3.00      "
               "0    37.80    1.73    3.03      0\n"
               "     1048576        262144     float     sum      -1    50.00   20.97   36.70      "
               "0    49.01   21.40   37.44      0\n";
        options.measuredCsv = folder + "/table.csv";
        options.tables.folder = folder + "/tables";
        options.quiet = true;
        std::ostringstream printed;
        Capture(printed, [&options]() { RunCollectiveProgram(options); });
        NS_TEST_EXPECT_MSG_NE(printed.str().find("measured (us)"), std::string::npos, "columns");

        const NcclTestsTable table = LoadNcclTests(options.measuredCsv);
        NS_TEST_ASSERT_MSG_EQ(table.rows.size(), 2, "sizes");
        NS_TEST_EXPECT_MSG_EQ(table.rows[1].bytes, 1048576, "size");
        NS_TEST_EXPECT_MSG_EQ(table.rows[1].outOfPlace->timeUs, 50, "time");
        NS_TEST_EXPECT_MSG_EQ_TOL(*table.rows[1].outOfPlace->busbwGBps, 36.70, 0.005, "bus");
        const std::string rows = ReadFile(folder + "/tables/collectives.csv");
        NS_TEST_EXPECT_MSG_NE(rows.find("channels,measured_s,error_share"),
                              std::string::npos,
                              rows);

        options.collective = "barrier";
        NS_TEST_EXPECT_MSG_EQ(IsRefused(options), true, "a barrier has no sizes");
        options.collective = "all-reduce";
        options.min = "2M";
        NS_TEST_EXPECT_MSG_EQ(IsRefused(options), true, "the log has no such sizes");
    }

    /// @param out gets what @param run prints
    void Capture(std::ostringstream& out, const std::function<void()>& run)
    {
        std::streambuf* const original = std::cout.rdbuf(out.rdbuf());
        try
        {
            run();
        }
        catch (...)
        {
            std::cout.rdbuf(original);
            throw;
        }
        std::cout.rdbuf(original);
    }

    bool IsRefused(const CollectiveProgramOptions& options)
    {
        try
        {
            std::ostringstream printed;
            Capture(printed, [&options]() { RunCollectiveProgram(options); });
        }
        catch (const std::invalid_argument&)
        {
            return true;
        }
        return false;
    }
};

/**
 * @ingroup proteus-tests
 * The tables of proteus-compile say what the graph says.
 */
class ProteusCompileTables : public TestCase
{
  public:
    ProteusCompileTables()
        : TestCase("tables of a compiled model have its inventory and memory")
    {
    }

  private:
    void DoRun() override
    {
        ModelOptions options;
        options.folder = PROTEUS_SOURCE_DIR "/workloads/models";
        options.model = "gpt3-125m";
        options.strategy = "tp=2,dp=2";
        const TrainingPlan plan = options.Load();
        NS_TEST_EXPECT_MSG_EQ(plan.files.size(), 2, "the model and its base");
        const GpuDatasheet& gpu = FindGpuDatasheet("A100-SXM4-80GB");
        const ExecutionGraph graph = CompileForGpu(plan, gpu, KernelCostParameters(), "");
        const auto inventory = TakeInventory(graph);
        const auto memory = AccountMemory(graph);
        const auto tables = MakeCompileTables({plan.model, graph, gpu, inventory, memory});
        NS_TEST_ASSERT_MSG_EQ(tables.size(), 3, "summary, inventory, memory");
        uint64_t count = 0;
        uint64_t expected = 0;
        for (const auto& row : tables[1].rows)
        {
            count += std::get<uint64_t>(row[4]);
        }
        for (const InventoryRow& row : inventory)
        {
            expected += row.count;
        }
        NS_TEST_EXPECT_MSG_EQ(count, expected, "communications");
        for (const auto& row : tables[2].rows)
        {
            uint64_t sum = 0;
            for (std::size_t use = 0; use < N_MEMORY_USES; ++use)
            {
                sum += std::get<uint64_t>(row[3 + use]);
            }
            NS_TEST_EXPECT_MSG_EQ(sum, std::get<uint64_t>(row[1]), "uses add up to the peak");
        }
    }
};

/**
 * @ingroup proteus-tests
 * The suite.
 */
class ProteusResultTestSuite : public TestSuite
{
  public:
    ProteusResultTestSuite()
        : TestSuite("proteus-result")
    {
        AddTestCase(new ProteusLinkRecord);
        AddTestCase(new ProteusResultFiles);
        AddTestCase(new ProteusMeasuredLog);
        AddTestCase(new ProteusCompileTables);
    }
};

static ProteusResultTestSuite g_proteusResultTestSuite; //!< registers itself
