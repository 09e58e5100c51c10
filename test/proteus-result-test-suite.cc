/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/command-line.h"
#include "ns3/proteus-graph-file.h"
#include "ns3/proteus-program-options.h"
#include "ns3/test.h"

#include <filesystem>
#include <fstream>
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
        const RunResult plain = RunPacketLevel(options, cluster, graph);
        NS_TEST_EXPECT_MSG_EQ(plain.series.GetNBins(), 0, "nobody asks for links over time");
        NS_TEST_EXPECT_MSG_EQ(plain.channels.size(), 0, "nor for channels");
        options.results.timeline = "x.pftrace"; // not written here
        const RunResult looked = RunPacketLevel(options, cluster, graph);
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

    void CheckSeries(const RunResult& result)
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
    void CheckChannels(const ExecutionGraph& graph, const RunResult& result)
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
                                        "time_accounts",
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
        std::vector<char*> argv;
        for (std::string& argument : all)
        {
            argv.push_back(&argument[0]);
        }
        ProgramOptions options;
        CommandLine command;
        options.AddTo(command);
        options.Parse(command, static_cast<int>(argv.size()), argv.data());
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
    }
};

static ProteusResultTestSuite g_proteusResultTestSuite; //!< registers itself
