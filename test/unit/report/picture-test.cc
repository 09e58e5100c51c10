/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-bar-svg.h"
#include "ns3/proteus-cluster.h"
#include "ns3/proteus-critical-path.h"
#include "ns3/proteus-device-rows.h"
#include "ns3/proteus-executor.h"
#include "ns3/proteus-front-svg.h"
#include "ns3/proteus-trial-svg.h"

#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

constexpr int64_t US = 1000000; //!< picoseconds

/// @return how often something stands in a text
std::size_t
CountOf(const std::string& text, const std::string& what)
{
    std::size_t n = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    {
        ++n;
    }
    return n;
}

/// @return two kernels and an all-reduce on four GPUs, where the last GPU's kernels take longer
ExecutionGraph
MakeJob(int64_t slowPs)
{
    GraphBuilder builder(4);
    const StreamId stream = builder.AddStream("compute");
    const PhaseId phase = builder.AddPhase("forward", 3);
    std::vector<TaskId> kernels;
    for (DeviceId device = 0; device < 4; ++device)
    {
        const int64_t timePs = 100 * US + (device == 3 ? slowPs : 0);
        const TaskId first = builder.AddCompute(phase, device, stream, "first", timePs);
        kernels.push_back(builder.AddCompute(phase, device, stream, "second", timePs, {first}));
    }
    builder.AddCommunication(phase,
                             builder.AddGroup({0, 1, 2, 3}),
                             stream,
                             "sum",
                             Collective::ALL_REDUCE,
                             1 << 20,
                             Parallelism::DATA,
                             kernels);
    return builder.Build();
}

/// Hands a tensor from stage to stage, and its gradient back.
ExecutionGraph
MakePipeline()
{
    GraphBuilder builder(3);
    const StreamId stream = builder.AddStream("compute");
    const StreamId link = builder.AddStream("communication", StreamOrder::READY);
    const PhaseId forward = builder.AddPhase("forward");
    const PhaseId backward = builder.AddPhase("backward");
    std::vector<TaskId> before;
    for (DeviceId device = 0; device < 3; ++device)
    {
        const TaskId kernel =
            builder.AddCompute(forward, device, stream, "kernel", 10 * US, before);
        if (device < 2)
        {
            before = {builder.AddCommunication(forward,
                                               builder.AddGroup({device, device + 1}),
                                               link,
                                               "activation",
                                               Collective::SEND_RECV,
                                               1 << 16,
                                               Parallelism::PIPELINE,
                                               {kernel})};
        }
        else
        {
            before = {kernel};
        }
    }
    for (DeviceId device = 3; device-- > 1;)
    {
        before = {builder.AddCommunication(backward,
                                           builder.AddGroup({device, device - 1}),
                                           link,
                                           "gradient",
                                           Collective::SEND_RECV,
                                           1 << 16,
                                           Parallelism::PIPELINE,
                                           before)};
    }
    return builder.Build();
}

RunRecord
RunFlows(const ExecutionGraph& graph, const Cluster& cluster, bool recordsSeries = false)
{
    ExecutorSettings settings;
    settings.recordsSeries = recordsSeries;
    return FindExecutor("flow").Run(graph, cluster, settings);
}

} // namespace

TEST(DeviceRows, DevicesThatDidTheSameAreOne)
{
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    const ExecutionGraph even = MakeJob(0);
    const auto one = FindAlikeDevices(even, RunFlows(even, cluster).timeline, 0);
    ASSERT_EQ(one.size(), 1u);
    EXPECT_EQ(one[0].devices, (std::vector<DeviceId>{0, 1, 2, 3}));
    EXPECT_EQ(one[0].differencePs, 0);

    const ExecutionGraph uneven = MakeJob(7 * US);
    const Timeline timeline = RunFlows(uneven, cluster).timeline;
    const auto two = FindAlikeDevices(uneven, timeline, 13 * US);
    ASSERT_EQ(two.size(), 2u);
    EXPECT_EQ(two[1].devices, std::vector<DeviceId>{3});
    // The last GPU is 14 us late at the end of its second kernel; others do what they can before.
    const auto close = FindAlikeDevices(uneven, timeline, 40 * US);
    ASSERT_EQ(close.size(), 1u);
    EXPECT_GE(close[0].differencePs, 14 * US);
    EXPECT_EQ(ChooseRows(two, 1).size(), 1u);
    EXPECT_EQ(ChooseRows(two, 5).size(), 2u);
}

TEST(DeviceRows, StagesAreInTheOrderOfWhatIsHandedOn)
{
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    const ExecutionGraph pipeline = MakePipeline();
    const auto stages = FindRoles(pipeline, RunFlows(pipeline, cluster).timeline);
    ASSERT_EQ(stages.size(), 3u);
    for (uint32_t device = 0; device < 3; ++device)
    {
        EXPECT_EQ(stages[device].stage, device);
    }
    const ExecutionGraph replicas = MakeJob(0);
    const auto roles = FindRoles(replicas, RunFlows(replicas, cluster).timeline);
    for (uint32_t device = 0; device < 4; ++device)
    {
        EXPECT_EQ(roles[device].replica, device);
        EXPECT_EQ(roles[device].stage, 0u);
    }
}

TEST(CriticalPath, IsWithoutGapAndLeadsThroughTheSlowDevice)
{
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    const ExecutionGraph graph = MakeJob(7 * US);
    const Timeline timeline = RunFlows(graph, cluster).timeline;
    const auto path = FindCriticalPath(graph, timeline);
    ASSERT_FALSE(path.empty());
    int64_t atPs = 0;
    int64_t slowPs = 0;
    for (const CriticalStep& step : path)
    {
        EXPECT_EQ(step.startPs, atPs);
        EXPECT_GE(step.endPs, step.startPs);
        atPs = step.endPs;
        if (step.isTask && graph.GetTask(step.task).kind == TaskKind::COMPUTE)
        {
            EXPECT_EQ(step.device, 3u); // the others wait for it
            slowPs += step.endPs - step.startPs;
        }
    }
    EXPECT_EQ(atPs, timeline.endPs);
    EXPECT_EQ(slowPs, 3 * 2 * 107 * US);
    EXPECT_TRUE(FindCriticalPath(graph, Timeline()).empty());
}

TEST(FlowSeries, AddsUpToWhatLinksCarried)
{
    const Cluster cluster = MakeCluster("dgx-a100", 2);
    GraphBuilder builder(16);
    const StreamId stream = builder.AddStream("communication");
    const PhaseId phase = builder.AddPhase("iteration", 4);
    for (DeviceId device = 0; device < 8; ++device)
    {
        builder.AddCommunication(phase,
                                 builder.AddGroup({device, device + 8}),
                                 stream,
                                 "sum",
                                 Collective::ALL_REDUCE,
                                 uint64_t{1} << (18 + device),
                                 Parallelism::DATA);
    }
    const ExecutionGraph graph = builder.Build();
    const RunRecord plain = RunFlows(graph, cluster);
    const RunRecord record = RunFlows(graph, cluster, true);
    EXPECT_EQ(record.timeline.spans, plain.timeline.spans); // looking changes nothing
    EXPECT_EQ(plain.series.GetNBins(), 0u);
    const LinkSeries& series = record.series;
    ASSERT_GT(series.GetNBins(), 8u);
    EXPECT_EQ(series.GetEndPs(series.GetNBins() - 1), record.timeline.endPs);
    std::size_t used = 0;
    for (const LinkStatistics& link : record.links)
    {
        const std::size_t direction = 2 * link.link + (link.forward ? 0 : 1);
        double busyPs = 0;
        for (std::size_t bin = 0; bin < series.GetNBins(); ++bin)
        {
            const float share = series.Get(direction, bin).busyShare;
            EXPECT_LE(share, 1.001F);
            busyPs += static_cast<double>(share) *
                      static_cast<double>(series.GetEndPs(bin) - series.GetStartPs(bin));
        }
        used += link.busyPs > 0;
        EXPECT_NEAR(busyPs,
                    static_cast<double>(link.busyPs),
                    1e-3 * static_cast<double>(record.timeline.endPs));
    }
    EXPECT_GT(used, 32u);
}

TEST(BarSvg, HasABarForEveryRowAndWrapsLongNames)
{
    BarChart chart;
    chart.title = "a < b";
    chart.subtitle = "times";
    chart.parts = {"computation", "exposed"};
    chart.bars = {
        {"short", {1, 0.5}, "1.5 s"},
        {"a name that is much longer than what fits into one line, with a comma", {1, 0}, "1 s"}};
    chart.mark = 0.9;
    chart.markText = "bound";
    std::ostringstream out;
    WriteBarSvg(chart, out);
    const std::string svg = out.str();
    const auto countOf = [&svg](const std::string& what) { return CountOf(svg, what); };
    EXPECT_NE(svg.find("a &lt; b"), std::string::npos);
    EXPECT_EQ(countOf("class=\"p0\""), 1u + 2u); // legend and bars
    EXPECT_EQ(countOf("class=\"p1\""), 1u + 2u);
    EXPECT_EQ(countOf("<line"), 1u);
    EXPECT_EQ(countOf("text-anchor=\"end\""), 3u); // the second name has two lines
    EXPECT_EQ(countOf("<text"), countOf("</text>"));
    EXPECT_EQ(svg.find("var(--"), std::string::npos); // converters to bitmaps know no variables
}

TEST(Pictures, TheFrontIsJoinedAndNamed)
{
    FrontChart chart{"t", "s", {}};
    chart.dots = {{"slow and small", 1e9, 0.2, true},
                  {"fast & large", 4e9, 0.1, true},
                  {"beaten", 4e9, 0.3, false}};
    std::ostringstream out;
    WriteFrontSvg(chart, out);
    const std::string text = out.str();
    const auto count = [&text](const std::string& word) {
        std::size_t n = 0;
        for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
        {
            ++n;
        }
        return n;
    };
    EXPECT_EQ(count("<circle"), 3u);
    EXPECT_NE(text.find("2: 100.000 ms, 4.00 GB: fast &amp; large"), std::string::npos) << text;
    EXPECT_EQ(text.find("beaten"), std::string::npos);
    FrontChart lone{"t", "s", {{"one", 1e9, 0.2, true}}};
    std::ostringstream one;
    WriteFrontSvg(lone, one);
    EXPECT_EQ(one.str().find("nan"), std::string::npos);
}

TEST(Pictures, TrialsStandWhereTheirSizesAreAndTheBestHasARing)
{
    TrialChart chart{"<a>", "b", "partition", "credit", {}};
    for (const double size : {1048576.0, 4194304.0, 16777216.0})
    {
        chart.trials.push_back({size, 67108864 / size * 1048576, 1e-3 * size / 1048576});
    }
    std::ostringstream out;
    WriteTrialSvg(chart, out);
    const std::string text = out.str();
    EXPECT_NE(text.find("&lt;a&gt;"), std::string::npos);
    EXPECT_EQ(CountOf(text, "<circle class=\"c"), 3u);
    EXPECT_EQ(CountOf(text, "<circle class=\"best\""), 1u);
    // Left, middle and right of a logarithmic axis; the first is the fastest and the highest.
    const std::size_t left = text.find("cx=\"110.0\" cy=\"84.0\"");
    const std::size_t middle = text.find("cx=\"455.0\" cy=\"287.0\"");
    const std::size_t right = text.find("cx=\"800.0\" cy=\"490.0\"");
    EXPECT_LT(left, middle);
    EXPECT_LT(middle, right);
    EXPECT_NE(right, std::string::npos);
    EXPECT_LT(text.find("class=\"best\""), middle);
}
