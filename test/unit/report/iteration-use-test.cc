/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "report-fixture.h"

#include "ns3/proteus-chrome-trace.h"
#include "ns3/proteus-graph-iterations.h"
#include "ns3/proteus-html-report.h"
#include "ns3/proteus-iteration-times.h"
#include "ns3/proteus-iteration-use.h"
#include "ns3/proteus-kineto-trace.h"
#include "ns3/proteus-result-tables.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

namespace ns3
{
namespace proteus
{

namespace
{

using Json = nlohmann::json;

/// Four iterations on two GPUs: a kernel of 100, 200, 150 and 180 ps, and an all-reduce of 20 ps
/// behind each, which nothing hides.
struct IteratedRun
{
    IteratedRun()
    {
        GraphBuilder builder(2);
        const StreamId compute = builder.AddStream("compute");
        const StreamId gradients = builder.AddStream("gradients");
        const PhaseId phase = builder.AddPhase("forward");
        WorkloadFacts facts;
        facts.tokensPerIteration = 1000;
        facts.samplesPerIteration = 10;
        facts.modelFlopsPerIteration = 1e6;
        builder.SetFacts(facts);
        const TaskId a = builder.AddCompute(phase, 0, compute, "kernel", int64_t{100});
        const TaskId b = builder.AddCompute(phase, 1, compute, "kernel", int64_t{100});
        builder.AddCommunication(phase,
                                 builder.AddGroup({0, 1}),
                                 gradients,
                                 "sum",
                                 Collective::ALL_REDUCE,
                                 4096,
                                 Parallelism::DATA,
                                 {a, b});
        repeated = RepeatGraph(builder.Build(), {}, 4, CrossIteration::TENSOR);
        int64_t nowPs = 0;
        for (TaskId id = 0; id < repeated.graph.GetNTasks(); ++id)
        {
            const Task& task = repeated.graph.GetTask(id);
            const int64_t lengthPs =
                task.kind == TaskKind::COMMUNICATION
                    ? 20
                    : std::vector<int64_t>{100, 200, 150, 180}[repeated.iterationOf[task.phase]];
            if (task.kind == TaskKind::COMPUTE)
            {
                record.timeline.spans.push_back({task.place, id, 0, nowPs, nowPs + lengthPs});
                nowPs += task.place == 1 ? lengthPs : 0;
                continue;
            }
            for (DeviceId device : {0, 1})
            {
                record.timeline.spans.push_back({device, id, 0, nowPs, nowPs + lengthPs});
            }
            nowPs += lengthPs;
        }
        record.timeline.endPs = nowPs;
        record.timeline.memory.resize(2);
        record.timeline.peakMemoryBytes.resize(2);
    }

    ReportedRun Report() const
    {
        ReportedRun run{repeated.graph, cluster, DataType::BF16, {}, {record}};
        run.iterationOf = repeated.iterationOf;
        return run;
    }

    RepeatedGraph repeated;
    RunRecord record;
    Cluster cluster{MakeTwoServers()};
};

} // namespace

TEST(IterationUse, TheMedianOfThoseAfterTheFirstStandsForAll)
{
    const IteratedRun run;
    EXPECT_EQ(FindIterationEnds(run.repeated.graph, run.repeated.iterationOf, run.record.timeline),
              (std::vector<int64_t>{100, 320, 490, 690}));
    EXPECT_EQ(FindSteadyIteration({7}), 0u);
    EXPECT_EQ(FindSteadyIteration({100, 110, 200}), 1u);      // the shorter of two
    EXPECT_EQ(FindSteadyIteration({100, 320, 490, 690}), 3u); // of 220, 170 and 200
    const IterationAccount account =
        AccountIterations(run.repeated.graph, run.repeated.iterationOf, run.record.timeline);
    ASSERT_EQ(account.uses.size(), 4u);
    EXPECT_TRUE(account.uses[3].isSteady);
    EXPECT_EQ(account.uses[1].startPs, 100);
    EXPECT_EQ(account.uses[1].endPs, 320);
    EXPECT_DOUBLE_EQ(account.uses[1].mean.computeS, 200e-12);
    EXPECT_DOUBLE_EQ(account.uses[1].mean.exposedCommunicationS, 20e-12);
    EXPECT_EQ(account.breakdowns.at(1).computePs, 180);
    EXPECT_EQ(account.breakdowns.at(1).totalPs, 200);
}

TEST(IterationUse, WithoutKernelsTasksEndAnIteration)
{
    TestRun run(2);
    const TaskId sum = run.AddCollective({0, 1}, Parallelism::DATA);
    run.AddSpan(0, sum, 0, 50);
    run.AddSpan(1, sum, 0, 60);
    EXPECT_EQ(FindIterationEnds(run.Finish(), {0}, run.timeline), (std::vector<int64_t>{60}));
}

TEST(IterationUse, PiecesOfTheTimelineAddUp)
{
    const IteratedRun run;
    const auto whole = BreakDown(run.repeated.graph, run.record.timeline);
    const auto pieces = BreakDown(run.repeated.graph, run.record.timeline, {0, 130, 130, 500, 710});
    ASSERT_EQ(pieces.size(), 5u);
    for (DeviceId device : {0, 1})
    {
        DeviceBreakdown sum;
        for (const auto& piece : pieces)
        {
            sum.computePs += piece[device].computePs;
            sum.exposedPs[static_cast<std::size_t>(Parallelism::DATA)] +=
                piece[device].GetExposedPs();
            sum.totalPs += piece[device].totalPs;
            EXPECT_EQ(piece[device].computePs + piece[device].GetExposedPs(),
                      piece[device].totalPs);
        }
        EXPECT_EQ(sum.totalPs, 710);
        EXPECT_EQ(sum.computePs, whole[device].computePs);
        EXPECT_EQ(sum.GetExposedPs(), whole[device].GetExposedPs());
    }
}

TEST(IterationUse, ReportsAreOfTheSteadyIteration)
{
    const IteratedRun run;
    const ReportedRun report = run.Report();
    const AnalyzedRun analyzed = Analyze(report);
    const Summary& summary = analyzed.analyses[0].summary;
    EXPECT_DOUBLE_EQ(summary.iterationS, 200e-12);
    EXPECT_DOUBLE_EQ(summary.runS, 710e-12);
    EXPECT_DOUBLE_EQ(summary.tokensPerS, 1000 / 200e-12);
    EXPECT_DOUBLE_EQ(summary.mean.computeS, 180e-12);
    ASSERT_EQ(summary.collectives.size(), 1u);
    EXPECT_EQ(summary.collectives[0].count, 1u);
    const auto tables = MakeResultTables(analyzed);
    const Table& iterations = tables.back();
    ASSERT_EQ(iterations.name, "iterations");
    ASSERT_EQ(iterations.rows.size(), 4u);
    EXPECT_EQ(iterations.columns[5].name, "iteration_s");
    EXPECT_DOUBLE_EQ(std::get<double>(iterations.rows[2][5]), 170e-12);
    std::ostringstream text;
    PrintSummary(summary, text);
    EXPECT_NE(text.str().find("iteration 4 of 4, the median of those after the first"),
              std::string::npos)
        << text.str();
    std::ostringstream json;
    WriteSummaryJson(summary, json);
    const Json written = Json::parse(json.str());
    EXPECT_EQ(written["iterations"].size(), 4u);
    EXPECT_TRUE(written["iterations"][3]["is_steady"]);
    EXPECT_DOUBLE_EQ(written["run_s"], 710e-12);
    std::ostringstream page;
    WriteHtmlReport(analyzed, page);
    EXPECT_NE(page.str().find("That is iteration 4 of 4"), std::string::npos);
    EXPECT_NE(page.str().find("\"iterations\":[[0,0,false]"), std::string::npos);
}

TEST(IterationUse, AStoppedRunHasNone)
{
    IteratedRun run;
    run.record.isPartial = true;
    const ReportedRun report = run.Report();
    const AnalyzedRun analyzed = Analyze(report);
    EXPECT_TRUE(analyzed.analyses[0].iterations.uses.empty());
    EXPECT_DOUBLE_EQ(analyzed.analyses[0].summary.iterationS, 710e-12);
}

TEST(IterationUse, TimelinesShowThem)
{
    const IteratedRun run;
    const ReportedRun report = run.Report();
    const AnalyzedRun analyzed = Analyze(report);
    const auto& uses = analyzed.analyses[0].iterations.uses;
    std::ostringstream chrome;
    WriteChromeTrace(run.repeated.graph, run.cluster, run.record, chrome, uses);
    const Json trace = Json::parse(chrome.str());
    std::size_t slices = 0;
    for (const Json& event : trace["traceEvents"])
    {
        slices += event.value("cat", "") == "iteration";
    }
    EXPECT_EQ(slices, 4u);
    EXPECT_NE(chrome.str().find("iteration 4 (steady)"), std::string::npos);
    WriteKinetoTraces(
        run.repeated.graph,
        run.cluster,
        run.record.timeline,
        [](DeviceId /* rank */, const std::function<void(std::ostream&)>& write) {
            std::ostringstream rank;
            write(rank);
            EXPECT_NE(rank.str().find("ProfilerStep#4"), std::string::npos);
            EXPECT_EQ(rank.str().find("ProfilerStep#5"), std::string::npos);
        },
        uses);
}

} // namespace proteus
} // namespace ns3
