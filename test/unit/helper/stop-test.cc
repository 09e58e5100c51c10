/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-command-line-program.h"
#include "ns3/proteus-executor.h"
#include "ns3/proteus-option-list.h"
#include "ns3/proteus-output-plan.h"
#include "ns3/proteus-program-options.h"
#include "ns3/proteus-run-analysis.h"
#include "ns3/proteus-stop-signals.h"
#include "ns3/proteus-summary.h"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// Wants the end after so many reports.
class StopAfter : public RunObserver
{
  public:
    explicit StopAfter(uint64_t reports)
        : m_left(reports)
    {
    }

    bool IsStopWanted() const override
    {
        m_left -= m_left > 0;
        return m_left == 0;
    }

  private:
    mutable uint64_t m_left;
};

/// @return kernels on four GPUs, which an all-reduce follows, several times over
ExecutionGraph
MakeGraph(uint32_t microBatches)
{
    GraphBuilder builder(4);
    const StreamId stream = builder.AddStream("compute");
    const PhaseId phase = builder.AddPhase("forward", microBatches);
    const GroupId group = builder.AddGroup({0, 1, 2, 3});
    std::vector<TaskId> kernels;
    for (DeviceId device = 0; device < 4; ++device)
    {
        kernels.push_back(
            builder.AddCompute(phase, device, stream, "kernel", int64_t{1000000} * (device + 1)));
    }
    builder.AddCommunication(phase,
                             group,
                             stream,
                             "sum",
                             Collective::ALL_REDUCE,
                             1 << 20,
                             Parallelism::DATA,
                             kernels);
    return builder.Build();
}

/// Checks that a part of a run is the beginning of the whole.
void
ExpectBeginning(const ExecutionGraph& graph, const Timeline& part, const Timeline& whole)
{
    EXPECT_LT(part.endPs, whole.endPs);
    for (const Span& span : part.spans)
    {
        EXPECT_LE(span.endPs, part.endPs);
        EXPECT_NE(std::find(whole.spans.begin(), whole.spans.end(), span), whole.spans.end());
    }
    for (const Span& span : part.open)
    {
        EXPECT_LE(span.startPs, span.endPs);
        EXPECT_LE(span.endPs, part.endPs);
    }
    // Every moment of every device is accounted for.
    for (const DeviceBreakdown& device : BreakDown(graph, part))
    {
        EXPECT_EQ(device.totalPs, part.endPs);
        EXPECT_EQ(device.computePs + device.GetExposedPs() + device.GetWaitingPs() +
                      device.bubblePs + device.hostPs + device.idlePs,
                  part.endPs);
    }
}

} // namespace

TEST(Stop, LeavesTheBeginningOfTheWholeRun)
{
    const ExecutionGraph graph = MakeGraph(20);
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    const Executor& flow = FindExecutor("flow");
    const RunRecord whole = flow.Run(graph, cluster);
    EXPECT_FALSE(whole.isPartial);
    EXPECT_TRUE(whole.timeline.open.empty());
    ASSERT_EQ(whole.timeline.spans.size(), 20u * 8);
    for (const uint64_t reports : {1, 2, 5, 42, 150})
    {
        StopAfter observer(reports);
        const RunRecord part = flow.Run(graph, cluster, ExecutorSettings(), &observer);
        ASSERT_TRUE(part.isPartial);
        ASSERT_EQ(part.notes.size(), 1u);
        EXPECT_NE(part.notes[0].find("PARTIAL"), std::string::npos);
        ExpectBeginning(graph, part.timeline, whole.timeline);
        const Summary summary = Analyze(graph, cluster, part, DataType::BF16).summary;
        std::ostringstream text;
        WriteSummaryJson(summary, text, {{"nodes", "1"}});
        const nlohmann::json json = nlohmann::json::parse(text.str());
        EXPECT_EQ(json.at("partial"), true);
        EXPECT_TRUE(json.at("iteration_s").is_null());
        EXPECT_DOUBLE_EQ(json.at("stopped_s").get<double>(),
                         static_cast<double>(part.timeline.endPs) * 1e-12);
        EXPECT_EQ(json.at("configuration").at("nodes"), "1");
        std::ostringstream printed;
        PrintSummary(summary, printed);
        EXPECT_NE(printed.str().find("PARTIAL, up to"), std::string::npos);
    }
}

TEST(Stop, ASignalIsObeyedAndSetsTheExitCode)
{
    const auto inherited = std::signal(SIGHUP, SIG_DFL); // these tests may run by nohup
    std::ostringstream error;
    std::streambuf* const old = std::cerr.rdbuf(error.rdbuf());
    const int code = RunProgram("program", []() {
        EXPECT_FALSE(StopSignals::Obey());
        EXPECT_EQ(DescribeStop(1, 2, "rows"), "");
        std::raise(SIGINT);
        EXPECT_TRUE(StopSignals::Obey());
        EXPECT_EQ(DescribeStop(1, 2, "rows"), "Note: PARTIAL, ended by SIGINT: 1 of 2 rows\n");
        EXPECT_THROW(ThrowIfStopped(), RunStopped);
    });
    const int early = RunProgram("program", []() {
        std::raise(SIGTERM);
        ThrowIfStopped();
    });
    const int late = RunProgram("program", []() { std::raise(SIGTERM); });
    const int gone = RunProgram("program", []() {
        std::raise(SIGHUP);
        EXPECT_TRUE(StopSignals::Obey());
        EXPECT_EQ(StopSignals::GetName(), "SIGHUP");
    });
    std::signal(SIGHUP, SIG_IGN); // as nohup does
    const int ignored = RunProgram("program", []() {
        std::raise(SIGHUP);
        EXPECT_FALSE(StopSignals::Obey());
    });
    EXPECT_EQ(std::signal(SIGHUP, inherited), SIG_IGN);
    std::cerr.rdbuf(old);
    EXPECT_EQ(code, 130);
    EXPECT_EQ(gone, 129);
    EXPECT_EQ(ignored, 0);
    EXPECT_EQ(early, 143);
    EXPECT_EQ(late, 143);
    EXPECT_NE(error.str().find("nothing is written"), std::string::npos);
    EXPECT_NE(error.str().find("the results are whole"), std::string::npos);
    EXPECT_EQ(StopSignals::Get(), 0);
}

TEST(Stop, IsObeyedWithinTheReplayOfACollective)
{
    // The first kernel ends at 1 us, when its device joins the all-reduce: that is timed then.
    const ExecutionGraph graph = MakeGraph(1);
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    for (const char* name : {"flow", "alpha-beta"})
    {
        for (const uint64_t reports : {5, 20, 50})
        {
            StopAfter observer(reports);
            const RunRecord part =
                FindExecutor(name).Run(graph, cluster, ExecutorSettings(), &observer);
            EXPECT_TRUE(part.isPartial) << name << ", " << reports;
            EXPECT_EQ(part.timeline.endPs, 1000000) << name << ", " << reports;
            EXPECT_EQ(part.timeline.spans.size(), 1u) << name << ", " << reports;
        }
    }
}

TEST(Stop, EndsAtOnceWithoutEmptyFolders)
{
    ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
    const std::filesystem::path outer = ::testing::TempDir() + "proteus-stop-folders";
    std::filesystem::remove_all(outer);
    const auto body = [&](bool writes) {
        RunProgram("program", [&]() {
            const OutputPlan plan;
            const EndAtOnce nothingToLose;
            OutputPlan::AddFolder(outer / "inner");
            std::filesystem::create_directories(outer / "inner");
            if (writes)
            {
                std::ofstream(outer / "file") << "x";
            }
            std::raise(SIGTERM);
        });
    };
    EXPECT_EXIT(body(false), ::testing::ExitedWithCode(143), "nothing is written");
    EXPECT_FALSE(std::filesystem::exists(outer));
    EXPECT_EXIT(body(true), ::testing::ExitedWithCode(143), "nothing is written");
    EXPECT_TRUE(std::filesystem::exists(outer / "file"));
    EXPECT_FALSE(std::filesystem::exists(outer / "inner"));
    std::filesystem::remove_all(outer);
}

TEST(Stop, EndsAtOnceWhereNothingIsLost)
{
    ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
    const auto body = [](bool polls) {
        RunProgram("program", [polls]() {
            const EndAtOnce nothingToLose;
            if (polls)
            {
                EXPECT_FALSE(StopSignals::Obey()); // somebody looks after signals from here on
            }
            std::raise(SIGTERM);
            std::_Exit(StopSignals::Obey() ? 7 : 8);
        });
    };
    EXPECT_EXIT(body(false),
                ::testing::ExitedWithCode(143),
                "program: ended by SIGTERM before there was a result: nothing is written");
    EXPECT_EXIT(body(true), ::testing::ExitedWithCode(7), "");
    const int late = RunProgram("program", []() {
        std::raise(SIGINT);
        const EndAtOnce tooLate;
    });
    EXPECT_EQ(late, 130);
}

/// A program that is ended while it looks for options that do nothing.
class SlowToNote : public CommandLineProgram
{
  public:
    SlowToNote()
        : CommandLineProgram("")
    {
    }

  private:
    std::string GetName() const override
    {
        return "slow-to-note";
    }

    void AddTo(OptionList& command) override
    {
        command.AddValue("size", "of nothing", m_size);
        command.AddIdle("size", []() {
            std::raise(SIGTERM);
            return "";
        });
    }

    bool SendsPackets() const override
    {
        return false;
    }

    void Run() override
    {
        std::_Exit(9);
    }

    int64_t m_size{0};
};

TEST(Stop, EndsAtOnceWhileNotesAreMade)
{
    ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
    std::string name = "slow-to-note";
    std::string size = "--size=1";
    char* arguments[] = {name.data(), size.data(), nullptr};
    EXPECT_EXIT(std::_Exit(SlowToNote().Main(2, arguments)),
                ::testing::ExitedWithCode(143),
                "slow-to-note: ended by SIGTERM before there was a result: nothing is written");
}

TEST(Configuration, IsReadFromOptionsSummariesTablesAndPages)
{
    const std::string path = ::testing::TempDir() + "proteus-configuration.json";
    const auto read = [&](const std::string& content) {
        std::ofstream(path) << content;
        OptionList command("proteus-test");
        int64_t nodes = 1;
        CommandLineText cluster;
        CommandLineText csv;
        bool quiet = false;
        command.AddValue("nodes", "n", nodes);
        command.AddValue("cluster", "c", cluster);
        command.AddOutput("csv", "f", csv);
        command.AddValue("quiet", "q", quiet);
        std::ostringstream out;
        EXPECT_TRUE(command.Parse({"proteus-test", "--config=" + path, "--csv=a", "--quiet"}, out));
        EXPECT_EQ(nodes, 4);
        EXPECT_EQ(cluster, "a b");
        // What is written, and how chatty the program is, is no part of what is repeated.
        return command.GetConfiguration();
    };
    const Configuration expected{{"cluster", "a b"}, {"nodes", "4"}};
    const std::string options = R"({"cluster": "a b", "nodes": "4"})";
    EXPECT_EQ(read(options), expected);
    EXPECT_EQ(read(R"({"iteration_s": 1, "configuration": )" + options + "}"), expected);
    EXPECT_EQ(read(R"({"packet": {"configuration": )" + options + R"(}, "flow": {}})"), expected);
    EXPECT_EQ(read("<!DOCTYPE html><p>{</p><script type=\"application/json\" "
                   "id=\"configuration\">" +
                   options + "</script></html>"),
              expected);
    std::remove(path.c_str());
}

TEST(Manual, HasEveryOptionAndNoRequestByAccident)
{
    OptionList command("proteus-test");
    command.Usage("Does a thing.\n.so it does.");
    int64_t nodes = 1;
    command.AddValue("nodes", "'servers' \\ of a preset", nodes);
    command.AddChoices("nodes", {"1", "2"});
    std::ostringstream page;
    EXPECT_FALSE(command.Parse({"proteus-test", "--man"}, page));
    EXPECT_EQ(page.str().find(".TH PROTEUS-TEST 1"), 0u);
    EXPECT_NE(page.str().find("\n\\&.so it does."), std::string::npos);
    EXPECT_NE(page.str().find(".B \\-\\-nodes=N\n\\&'servers' \\e of a preset [1]"),
              std::string::npos)
        << page.str();
    for (const char* shell : {"bash", "zsh"})
    {
        std::ostringstream script;
        EXPECT_FALSE(command.Parse({"proteus-test", std::string("--completion=") + shell}, script));
        EXPECT_NE(script.str().find("--nodes= "), std::string::npos);
        EXPECT_NE(script.str().find("_proteus_values[proteus-test--nodes]=\"1 2\""),
                  std::string::npos);
    }
}
