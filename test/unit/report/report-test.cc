/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "report-fixture.h"

#include "ns3/proteus-breakdown.h"
#include "ns3/proteus-chrome-trace.h"
#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-output-file.h"
#include "ns3/proteus-run-analysis.h"
#include "ns3/proteus-span-csv.h"
#include "ns3/proteus-summary.h"
#include "ns3/proteus-tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

using Json = nlohmann::json;

void
ExpectContains(const std::string& text, const std::string& part)
{
    EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in '" << text << "'";
}

void
ExpectAddsUp(const DeviceBreakdown& breakdown, int64_t totalPs)
{
    EXPECT_EQ(breakdown.totalPs, totalPs);
    EXPECT_EQ(breakdown.computePs + breakdown.GetExposedPs() + breakdown.GetWaitingPs() +
                  breakdown.bubblePs + breakdown.hostPs + breakdown.idlePs,
              totalPs);
}

std::string
ReadText(const std::string& path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

} // namespace

// ------------------------------------------------------------------------------------ breakdown

TEST(Breakdown, TheHostLeavesTheGpuFree)
{
    GraphBuilder builder(1);
    const StreamId host = builder.AddStream("host", StreamOrder::IN_ORDER, true);
    const StreamId gpu = builder.AddStream("gpu");
    const PhaseId phase = builder.AddPhase("iteration");
    const TaskId call = builder.AddCompute(phase, 0, host, "call", 10);
    const TaskId kernel = builder.AddCompute(phase, 0, gpu, "kernel", 30, {call});
    const ExecutionGraph graph = builder.Build();
    Timeline timeline;
    timeline.spans = {{0, call, 0, 0, 10}, {0, kernel, 0, 10, 40}};
    timeline.endPs = 40;
    const auto breakdown = BreakDown(graph, timeline);
    ASSERT_EQ(breakdown.size(), 1u);
    EXPECT_EQ(breakdown[0].computePs, 30);
    EXPECT_EQ(breakdown[0].hostPs, 10);
    EXPECT_EQ(breakdown[0].idlePs, 0);
    EXPECT_EQ(breakdown[0].activityPs, 30); // a profiler of kernels sees no host
}

TEST(Breakdown, ComputeHidesCommunicationAndEarlyRanksWait)
{
    TestRun run(3);
    const TaskId c0 = run.AddCompute(0);
    const TaskId c1 = run.AddCompute(0);
    const TaskId c2 = run.AddCompute(2);
    const TaskId tensor = run.AddCollective({0, 1}, Parallelism::TENSOR);
    const TaskId data = run.AddCollective({0, 1}, Parallelism::DATA);
    run.AddSpan(0, c0, 0, 12); // hides the first 2 ps of the tensor all-reduce
    run.AddSpan(0, tensor, 10, 30);
    run.AddSpan(1, tensor, 5, 30); // waits for device 0
    run.AddSpan(0, c1, 35, 38);
    run.AddSpan(0, data, 25, 40); // its first 5 ps count for the tensor all-reduce
    run.AddSpan(1, data, 25, 40);
    run.AddSpan(2, c2, 0, 50);
    const auto result = BreakDown(run.Finish(), run.timeline);

    ASSERT_EQ(result.size(), 3U);
    EXPECT_EQ(result[0].computePs, 15);
    EXPECT_EQ(result[0].GetExposedPs(Parallelism::TENSOR), 18);
    EXPECT_EQ(result[0].GetExposedPs(Parallelism::DATA), 7);
    EXPECT_EQ(result[0].GetExposedPs(), 25);
    EXPECT_EQ(result[0].idlePs, 10);
    EXPECT_EQ(result[0].communicationPs, 30);
    EXPECT_EQ(result[1].computePs, 0);
    EXPECT_EQ(result[1].GetWaitingPs(Parallelism::TENSOR), 5);
    EXPECT_EQ(result[1].GetWaitingPs(), 5);
    EXPECT_EQ(result[1].GetExposedPs(Parallelism::TENSOR), 20);
    EXPECT_EQ(result[1].GetExposedPs(Parallelism::DATA), 10);
    EXPECT_EQ(result[1].idlePs, 15);
    EXPECT_EQ(result[1].communicationPs, 30);
    EXPECT_EQ(result[1].activityPs, 35);
    EXPECT_EQ(result[1].GetIdleBetweenPs(), 0);
    EXPECT_EQ(result[2].computePs, 50);
    EXPECT_EQ(result[2].GetExposedPs(), 0);
    for (const auto& breakdown : result)
    {
        ExpectAddsUp(breakdown, 50);
    }

    const MeanBreakdown mean = MeanOf(result);
    EXPECT_DOUBLE_EQ(mean.computeS, 65e-12 / 3);
    EXPECT_DOUBLE_EQ(mean.exposedCommunicationS, 55e-12 / 3);
    EXPECT_DOUBLE_EQ(mean.waitingForPeersS, 5e-12 / 3);
    EXPECT_DOUBLE_EQ(mean.exposedS[static_cast<std::size_t>(Parallelism::TENSOR)], 38e-12 / 3);
    EXPECT_DOUBLE_EQ(mean.exposedS[static_cast<std::size_t>(Parallelism::DATA)], 17e-12 / 3);
    EXPECT_DOUBLE_EQ(mean.idleS, 25e-12 / 3);
    EXPECT_DOUBLE_EQ(mean.totalS, 50e-12);
    EXPECT_DOUBLE_EQ(mean.communicationS, 60e-12 / 3);
    EXPECT_EQ(MeanOf({}).totalS, 0);
}

TEST(Breakdown, WaitingForAStageIsTheBubble)
{
    TestRun run(3, 2);
    const TaskId send = run.AddSend(0, 1);
    const TaskId expert = run.AddSend(2, 0, Parallelism::EXPERT);
    // Micro-batch 0: the receiver is early; 1: the sender is. Both receives of device 1 overlap.
    run.AddSpan(1, send, 0, 30, 0);
    run.AddSpan(0, send, 20, 30, 0);
    run.AddSpan(0, send, 35, 60, 1);
    run.AddSpan(1, send, 50, 60, 1);
    // Handed over while the receiver waited: nothing in flight afterwards.
    run.AddSpan(0, expert, 60, 70, 0);
    run.AddSpan(2, expert, 62, 70, 0);
    run.AddSpan(0, expert, 60, 80, 1); // posted together with the other one
    run.AddSpan(2, expert, 70, 80, 1);
    const auto result = BreakDown(run.Finish(), run.timeline);

    EXPECT_EQ(result[1].GetExposedPs(Parallelism::PIPELINE), 10 + 10);
    EXPECT_EQ(result[1].bubblePs, 60); // it has nothing to do while others have
    EXPECT_EQ(result[0].GetExposedPs(Parallelism::PIPELINE), 10 + 10);
    EXPECT_EQ(result[0].GetExposedPs(Parallelism::EXPERT), 18);
    EXPECT_EQ(result[0].GetWaitingPs(Parallelism::EXPERT), 2);
    EXPECT_EQ(result[0].bubblePs, 20 + 5 + 15);
    EXPECT_EQ(result[2].GetExposedPs(Parallelism::EXPERT), 18);
    EXPECT_EQ(result[2].bubblePs, 62);
    // A profiler sees the sender's kernel, and a receive only once there is something to receive.
    EXPECT_EQ(result[0].activityPs, 80 - 20);
    EXPECT_EQ(result[0].GetIdleBetweenPs(), 5 + 2);
    EXPECT_EQ(result[1].activityPs, 60 - 20);
    EXPECT_EQ(result[1].GetIdleBetweenPs(), 20);
    for (const auto& breakdown : result)
    {
        EXPECT_EQ(breakdown.idlePs, 0);
        ExpectAddsUp(breakdown, 80);
    }
}

TEST(Breakdown, BubbleOfAPipelineIsWhatThePapersSay)
{
    // GPipe: all forward passes, then all backward ones; a transfer takes no time.
    constexpr int64_t FORWARD_PS = 100;
    constexpr int64_t BACKWARD_PS = 230;
    for (uint32_t stages : {1U, 2U, 5U})
    {
        for (uint32_t microBatches : {1U, 4U, 9U})
        {
            TestRun run(stages, microBatches);
            const int64_t turnPs = int64_t{stages + microBatches - 1} * FORWARD_PS;
            for (DeviceId stage = 0; stage < stages; ++stage)
            {
                const TaskId forward = run.AddCompute(stage, "forward");
                const TaskId backward = run.AddCompute(stage, "backward");
                const bool isLast = stage + 1 == stages;
                const TaskId down = isLast ? 0 : run.AddSend(stage, stage + 1);
                const TaskId up = isLast ? 0 : run.AddSend(stage + 1, stage);
                for (uint32_t i = 0; i < microBatches; ++i)
                {
                    const int64_t startPs = int64_t{stage + i} * FORWARD_PS;
                    const int64_t endPs = startPs + FORWARD_PS;
                    const int64_t backPs = turnPs + int64_t{stages - 1 - stage + i} * BACKWARD_PS;
                    run.AddSpan(stage, forward, startPs, endPs, i);
                    run.AddSpan(stage, backward, backPs, backPs + BACKWARD_PS, i);
                    if (!isLast)
                    {
                        run.AddSpan(stage, down, endPs, endPs, i);
                        run.AddSpan(stage + 1, down, 0, endPs, i);
                        run.AddSpan(stage + 1, up, backPs, backPs, i);
                        run.AddSpan(stage, up, endPs, backPs, i);
                    }
                }
            }
            for (const auto& breakdown : BreakDown(run.Finish(), run.timeline))
            {
                EXPECT_EQ(breakdown.bubblePs, int64_t{stages - 1} * (FORWARD_PS + BACKWARD_PS));
                EXPECT_EQ(breakdown.GetExposedPs(), 0);
                EXPECT_EQ(breakdown.GetWaitingPs(), 0);
                ExpectAddsUp(breakdown, run.timeline.endPs);
            }
        }
    }
}

TEST(Breakdown, PriorityDecidesAmongParallelisms)
{
    std::set<Parallelism> distinct(EXPOSURE_PRIORITY.begin(), EXPOSURE_PRIORITY.end());
    EXPECT_EQ(distinct.size(), N_PARALLELISMS);
    for (std::size_t i = 0; i < N_PARALLELISMS; ++i)
    {
        EXPECT_STRNE(ToString(static_cast<Parallelism>(i)), nullptr); // all of them are named
    }

    TestRun run(2);
    for (std::size_t i = 0; i < N_PARALLELISMS; ++i)
    {
        const TaskId task = run.AddCollective({0, 1}, EXPOSURE_PRIORITY[i]);
        const auto length = static_cast<int64_t>(10 * (i + 1));
        run.AddSpan(0, task, 0, length); // each outlasts the one before by 10
        run.AddSpan(1, task, 0, length);
    }
    for (const auto& breakdown : BreakDown(run.Finish(), run.timeline))
    {
        for (int64_t exposedPs : breakdown.exposedPs)
        {
            EXPECT_EQ(exposedPs, 10);
        }
        EXPECT_EQ(breakdown.communicationPs, 80);
        ExpectAddsUp(breakdown, 80);
    }
}

/// Adds a picosecond of a device to what it is spent on, by looking at all spans.
static void
CountPicosecond(const ExecutionGraph& graph,
                const Timeline& timeline,
                DeviceId device,
                int64_t time,
                DeviceBreakdown& expected)
{
    bool computes = false;
    bool hasPipeline = false;
    std::set<Parallelism> moving;
    std::set<Parallelism> waiting;
    for (const Span& span : timeline.spans)
    {
        const Task& task = graph.GetTask(span.task);
        const bool isCommunication = task.kind == TaskKind::COMMUNICATION;
        hasPipeline = hasPipeline || (isCommunication && task.parallelism == Parallelism::PIPELINE);
        if (span.device != device || time < span.startPs || time >= span.endPs)
        {
            continue;
        }
        if (!isCommunication)
        {
            computes = true;
            continue;
        }
        const bool isJoined =
            std::all_of(timeline.spans.begin(), timeline.spans.end(), [&](const Span& other) {
                return other.task != span.task || other.startPs <= time;
            });
        (isJoined ? moving : waiting).insert(task.parallelism);
    }
    const auto first = [](const std::set<Parallelism>& set) {
        return static_cast<std::size_t>(
            *std::find_if(EXPOSURE_PRIORITY.begin(),
                          EXPOSURE_PRIORITY.end(),
                          [&](Parallelism parallelism) { return set.count(parallelism) > 0; }));
    };
    expected.communicationPs += !moving.empty();
    const bool isStage = waiting.erase(Parallelism::PIPELINE) > 0;
    int64_t& share = computes                 ? expected.computePs
                     : !moving.empty()        ? expected.exposedPs[first(moving)]
                     : !waiting.empty()       ? expected.waitingPs[first(waiting)]
                     : isStage || hasPipeline ? expected.bubblePs
                                              : expected.idlePs;
    ++share;
}

TEST(Breakdown, AgreesWithCountingEveryPicosecond)
{
    std::mt19937 random(7);
    for (int repetition = 0; repetition < 50; ++repetition)
    {
        constexpr int64_t LENGTH_PS = 60;
        TestRun run(2);
        for (int i = 0; i < 12; ++i)
        {
            const int64_t a = random() % (LENGTH_PS + 1);
            const int64_t b = random() % (LENGTH_PS + 1);
            const auto device = static_cast<DeviceId>(random() % 2);
            const auto parallelism = static_cast<Parallelism>(random() % N_PARALLELISMS);
            if (i % 3 == 0)
            {
                run.AddSpan(device, run.AddCompute(device), std::min(a, b), std::max(a, b));
            }
            else if (i % 3 == 1)
            {
                run.AddSpan(device,
                            run.AddCollective({0, 1}, parallelism),
                            std::min(a, b),
                            std::max(a, b));
            }
            else
            {
                const TaskId send = run.AddSend(device, 1 - device, parallelism);
                const int64_t end = std::max(a, b);
                run.AddSpan(device, send, std::min(a, b), end);
                run.AddSpan(1 - device, send, random() % (end + 1), end);
            }
        }
        run.timeline.endPs = LENGTH_PS;
        const ExecutionGraph& graph = run.Finish();
        const auto result = BreakDown(graph, run.timeline);

        for (DeviceId device = 0; device < 2; ++device)
        {
            DeviceBreakdown expected;
            for (int64_t time = 0; time < LENGTH_PS; ++time)
            {
                CountPicosecond(graph, run.timeline, device, time, expected);
            }
            EXPECT_EQ(result[device].computePs, expected.computePs);
            EXPECT_EQ(result[device].exposedPs, expected.exposedPs);
            EXPECT_EQ(result[device].waitingPs, expected.waitingPs);
            EXPECT_EQ(result[device].bubblePs, expected.bubblePs);
            EXPECT_EQ(result[device].idlePs, expected.idlePs);
            EXPECT_EQ(result[device].communicationPs, expected.communicationPs);
            ExpectAddsUp(result[device], LENGTH_PS);
        }
    }
}

TEST(Breakdown, RejectsWhatIsNoTimelineOfTheGraph)
{
    TestRun run(3);
    const TaskId compute = run.AddCompute(0);
    const TaskId send = run.AddSend(0, 1);
    const TaskId memory = run.builder.AddMemory(run.phase, 0, "weights", 8, {}, true);
    const ExecutionGraph& graph = run.Finish();
    const auto errorOf = [&](const std::vector<Span>& spans) {
        Timeline timeline;
        timeline.spans = spans;
        timeline.endPs = 100;
        return ErrorOf([&] { BreakDown(graph, timeline); });
    };
    EXPECT_EQ(errorOf({{0, compute, 0, 0, 100}}), "no error");
    ExpectContains(errorOf({{3, compute, 0, 0, 1}}), "device 3: the graph has no such device");
    ExpectContains(errorOf({{0, 9, 0, 0, 1}}), "task 9, ");
    ExpectContains(errorOf({{0, compute, 1, 0, 1}}), "no such micro-batch");
    ExpectContains(errorOf({{1, compute, 0, 0, 1}}), "the task is not on this device");
    ExpectContains(errorOf({{2, send, 0, 0, 1}}), "the task is not on this device");
    ExpectContains(errorOf({{0, memory, 0, 0, 1}}), "a memory task has no span");
    ExpectContains(errorOf({{0, compute, 0, -1, 1}}), "does not lie within 0 to 100 ps");
    ExpectContains(errorOf({{0, compute, 0, 2, 1}}), "does not lie within");
    ExpectContains(errorOf({{0, compute, 0, 0, 101}}), "does not lie within");
    ExpectContains(errorOf({{0, send, 0, 0, 1}}), "sent but never received");
    ExpectContains(errorOf({{1, send, 0, 0, 1}}), "received but never sent");
    ExpectContains(errorOf({{0, send, 0, 0, 1}, {0, send, 0, 0, 1}}), "sent twice");
    ExpectContains(errorOf({{0, send, 0, 0, 1}, {1, send, 0, 0, 1}, {1, send, 0, 0, 1}}),
                   "received twice");
}

// ---------------------------------------------------------------------------------------- trace

namespace
{

/// What a trace is made of; checks the rules on the way.
struct Trace
{
    explicit Trace(const std::string& text)
    {
        // One event per line, so that line tools work on it.
        std::istringstream lines(text);
        std::string line;
        std::getline(lines, line);
        EXPECT_EQ(line, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
        std::size_t nEvents = 0;
        while (std::getline(lines, line) && line != "]}")
        {
            ++nEvents;
            const std::string event = line.back() == ',' ? line.substr(0, line.size() - 1) : line;
            EXPECT_TRUE(Json::accept(event)) << event;
        }
        EXPECT_EQ(line, "]}");
        const Json json = Json::parse(text);
        EXPECT_EQ(json["traceEvents"].size(), nEvents);
        for (const Json& event : json["traceEvents"])
        {
            const std::string ph = event["ph"];
            if (ph == "M" && event["name"] == "process_name")
            {
                processes[event["pid"]] = event["args"]["name"];
            }
            else if (ph == "M" && event["name"] == "thread_name")
            {
                EXPECT_TRUE(
                    threads.emplace(event["tid"], event["args"]["name"].get<std::string>()).second)
                    << "tids must be unique across processes";
                EXPECT_GT(event["tid"], 0);
                EXPECT_EQ(processes.count(event["tid"]), 0U);
            }
            else if (ph == "X")
            {
                slices.push_back(event);
            }
            else if (ph == "C")
            {
                counters.push_back(event);
            }
            else if (ph == "s")
            {
                EXPECT_TRUE(starts.emplace(event["id"].get<uint64_t>(), event).second);
            }
            else if (ph == "f")
            {
                EXPECT_TRUE(ends.emplace(event["id"].get<uint64_t>(), event).second);
            }
            else
            {
                EXPECT_EQ(ph, "M");
            }
        }
        CheckSlices();
        CheckArrows();
    }

    /// As Perfetto reads times: a float, rounded to nanoseconds, begin and length one by one.
    static int64_t Nanoseconds(const Json& microseconds)
    {
        return std::llround(microseconds.get<double>() * 1000.0);
    }

    void CheckSlices() const
    {
        std::map<std::pair<int, int>, std::vector<std::pair<int64_t, int64_t>>> byThread;
        for (const Json& slice : slices)
        {
            const int64_t start = Nanoseconds(slice["ts"]);
            byThread[{slice["pid"], slice["tid"]}].emplace_back(start,
                                                                start + Nanoseconds(slice["dur"]));
            EXPECT_EQ(threads.count(slice["tid"]), 1U);
            EXPECT_EQ(processes.count(slice["pid"]), 1U);
        }
        for (const auto& thread : byThread)
        {
            for (std::size_t i = 1; i < thread.second.size(); ++i)
            {
                // Also in order, so that an arrow belongs to the slice before it.
                EXPECT_LE(thread.second[i - 1].second, thread.second[i].first);
            }
        }
    }

    void CheckArrows() const
    {
        EXPECT_EQ(starts.size(), ends.size());
        for (const auto& start : starts)
        {
            ASSERT_EQ(ends.count(start.first), 1U);
            const Json& end = ends.at(start.first);
            EXPECT_EQ(start.second["name"], end["name"]);
            EXPECT_EQ(start.second["cat"], end["cat"]);
            EXPECT_EQ(end["bp"], "e");
            EXPECT_LT(Nanoseconds(start.second["ts"]), Nanoseconds(end["ts"]));
            for (const Json& event : {start.second, end})
            {
                // The slice it is bound to: the same task on both sides.
                const bool isBound =
                    std::any_of(slices.begin(), slices.end(), [&](const Json& slice) {
                        const int64_t begin = Nanoseconds(slice["ts"]);
                        const int64_t time = Nanoseconds(event["ts"]);
                        return slice["pid"] == event["pid"] && slice["tid"] == event["tid"] &&
                               slice["args"]["collective"] == "send-recv" && begin <= time &&
                               time < begin + Nanoseconds(slice["dur"]);
                    });
                EXPECT_TRUE(isBound) << event;
            }
        }
    }

    /// @return thread names in order of their ids, as "process/thread"
    std::set<std::string> GetThreadsInUse() const
    {
        std::set<std::string> names;
        for (const Json& slice : slices)
        {
            names.insert(processes.at(slice["pid"]) + "/" + threads.at(slice["tid"]));
        }
        return names;
    }

    std::map<int, std::string> processes; //!< by pid
    std::map<int, std::string> threads;   //!< by tid
    std::vector<Json> slices;
    std::vector<Json> counters;
    std::map<uint64_t, Json> starts; //!< arrows by id
    std::map<uint64_t, Json> ends;
};

Trace
TraceOf(const ExecutionGraph& graph, const Cluster& cluster, const Timeline& timeline)
{
    std::ostringstream out;
    WriteChromeTrace(graph, cluster, ResultOf(timeline), out);
    return Trace(out.str());
}

} // namespace

TEST(ChromeTrace, TracksArrowsAndArguments)
{
    TestRun run(4, 3);
    const TaskId compute =
        run.builder
            .AddCompute(run.phase, 0, run.compute, "matmul \"qkv\"\n", 2.5e12, 77, DataType::FP16);
    const TaskId tensor = run.AddCollective({0, 1}, Parallelism::TENSOR);
    const TaskId send = run.AddSend(1, 2);
    const TaskId wide = run.AddCollective({0, 1, 2, 3}, Parallelism::DATA);
    constexpr int64_t LATE_PS = 123456789012345; // 123 s: more digits than a float has
    run.AddSpan(0, compute, 0, 1000001);
    run.AddSpan(0, tensor, 1000001, 2000000);
    run.AddSpan(1, tensor, 3, 2000000);
    // All three receives are posted early; two are outstanding when the third is posted.
    for (uint32_t mb = 0; mb < 3; ++mb)
    {
        const int64_t endPs = 3000123 + 5000 * mb;
        run.AddSpan(2, send, 100 * mb, endPs, mb);
        run.AddSpan(1, send, endPs - 4500, endPs, mb);
    }
    for (DeviceId device = 0; device < 4; ++device)
    {
        run.AddSpan(device, wide, LATE_PS - device, LATE_PS);
    }
    run.timeline.memory[3] = {{0, 0}, {17, 1ULL << 40}, {LATE_PS, 5}};
    const Trace trace = TraceOf(run.Finish(), MakeTwoServers(), run.timeline);

    EXPECT_EQ(trace.processes, (std::map<int, std::string>{{1, "n0"}, {2, "n1"}}));
    EXPECT_EQ(trace.GetThreadsInUse(),
              (std::set<std::string>{"n0/gpu0 communication",
                                     "n0/gpu0 compute",
                                     "n0/gpu0 gradients",
                                     "n0/gpu1 communication",
                                     "n0/gpu1 gradients",
                                     "n1/gpu0 gradients",
                                     "n1/gpu0 receive",
                                     "n1/gpu0 receive 2",
                                     "n1/gpu0 receive 3",
                                     "n1/gpu1 gradients"}));
    EXPECT_EQ(trace.starts.size(), 3U);

    // Every span is there, exactly.
    std::multiset<std::tuple<uint32_t, uint32_t, int64_t, int64_t>> expected;
    std::multiset<std::tuple<uint32_t, uint32_t, int64_t, int64_t>> found;
    for (const Span& span : run.timeline.spans)
    {
        expected.emplace(span.task, span.microBatch, span.startPs, span.endPs);
    }
    for (const Json& slice : trace.slices)
    {
        found.emplace(slice["args"]["task"],
                      slice["args"]["micro_batch"],
                      slice["args"]["start_ps"],
                      slice["args"]["end_ps"]);
        EXPECT_EQ(Trace::Nanoseconds(slice["ts"]), slice["args"]["start_ps"].get<int64_t>() / 1000);
        EXPECT_EQ(Trace::Nanoseconds(slice["ts"]) + Trace::Nanoseconds(slice["dur"]),
                  slice["args"]["end_ps"].get<int64_t>() / 1000);
        if (slice["args"]["task"] == compute)
        {
            EXPECT_EQ(slice["name"], "matmul \"qkv\"\n");
            EXPECT_EQ(slice["cat"], "compute");
            EXPECT_EQ(slice["args"]["flops"], 2.5e12);
            EXPECT_EQ(slice["args"]["bytes"], 77);
            EXPECT_EQ(slice["args"]["data_type"], "fp16");
        }
        else if (slice["args"]["task"] == wide)
        {
            EXPECT_EQ(slice["cat"], "data");
            EXPECT_EQ(slice["args"]["collective"], "all-reduce");
            EXPECT_EQ(slice["args"]["group"], "0-3");
            EXPECT_EQ(slice["args"]["bytes"], 4096);
        }
        else if (slice["args"]["task"] == send)
        {
            EXPECT_EQ(slice["args"]["group"], "1,2");
        }
    }
    EXPECT_EQ(found, expected);

    ASSERT_EQ(trace.counters.size(), 3U);
    EXPECT_EQ(trace.counters[1]["name"], "gpu1 memory");
    EXPECT_EQ(trace.counters[1]["pid"], 2);
    EXPECT_EQ(trace.counters[1]["args"]["bytes"], 1ULL << 40);
    EXPECT_EQ(Trace::Nanoseconds(trace.counters[2]["ts"]), LATE_PS / 1000);
}

TEST(ChromeTrace, IsExactText)
{
    TestRun run(1);
    run.AddSpan(0, run.AddCompute(0, "c"), 1, 1000002);
    run.timeline.memory[0] = {{0, 12}};
    std::ostringstream out;
    WriteChromeTrace(run.Finish(), MakeSmallCluster({{"lonely", 0}}), ResultOf(run.timeline), out);
    EXPECT_EQ(out.str(),
              R"({"displayTimeUnit":"ns","traceEvents":[
{"ph":"M","pid":1,"name":"process_name","args":{"name":"server 0"}},
{"ph":"M","pid":1,"name":"process_sort_index","args":{"sort_index":0}},
{"ph":"M","pid":1,"tid":1048576,"name":"thread_name","args":{"name":"lonely compute"}},
{"ph":"M","pid":1,"tid":1048576,"name":"thread_sort_index","args":{"sort_index":1048576}},
{"ph":"X","pid":1,"tid":1048576,"ts":0.000,"dur":1.000,"name":"c","cat":"compute",)"
              R"("args":{"task":0,"micro_batch":0,"start_ps":1,"end_ps":1000002}},
{"ph":"C","pid":1,"ts":0.000,"name":"lonely memory","args":{"bytes":12}}
]}
)");
}

TEST(ChromeTrace, LanesAreReused)
{
    // Receives that follow one another without overlap share a lane, however many there are.
    TestRun run(2, 100);
    const TaskId send = run.AddSend(0, 1);
    for (uint32_t mb = 0; mb < 100; ++mb)
    {
        // Back to back, and not in whole nanoseconds.
        const int64_t beginPs = 10123 * static_cast<int64_t>(mb);
        run.AddSpan(0, send, beginPs + 5000, beginPs + 10123, mb);
        run.AddSpan(1, send, beginPs, beginPs + 10123, mb);
    }
    const Trace trace = TraceOf(run.Finish(), MakeTwoServers(), run.timeline);
    EXPECT_EQ(trace.GetThreadsInUse(),
              (std::set<std::string>{"n0/gpu0 communication", "n0/gpu1 receive"}));
    EXPECT_EQ(trace.starts.size(), 100U);
}

TEST(ChromeTrace, ArrowsToLowerRanksComeLaterToo)
{
    // The receiver is written first; its end of the arrow must still be after the start.
    TestRun run(3);
    const TaskId early = run.AddSend(2, 0);
    const TaskId late = run.AddSend(2, 1);
    run.AddSpan(0, early, 0, 20000);
    run.AddSpan(2, early, 10000, 20000);
    run.AddSpan(1, late, 25000, 30000); // posted after the sender joined
    run.AddSpan(2, late, 20000, 30000);
    const Trace trace = TraceOf(run.Finish(), MakeTwoServers(), run.timeline);
    ASSERT_EQ(trace.starts.size(), 2U);
    EXPECT_EQ(Trace::Nanoseconds(trace.starts.at(1)["ts"]), 10);
    EXPECT_EQ(Trace::Nanoseconds(trace.ends.at(1)["ts"]), 19);
    EXPECT_EQ(Trace::Nanoseconds(trace.starts.at(2)["ts"]), 20);
    EXPECT_EQ(Trace::Nanoseconds(trace.ends.at(2)["ts"]), 29);
}

TEST(ChromeTrace, NamesOfServersAndGroups)
{
    // Names that share no prefix per server; a name that is no UTF-8; a group of many runs.
    std::vector<std::pair<std::string, int32_t>> gpus;
    std::vector<DeviceId> even;
    for (DeviceId device = 0; device < 40; ++device)
    {
        gpus.emplace_back((device < 20 ? "a.b\xff." : "x") + std::to_string(device),
                          device < 20 ? 0 : 1);
        if (device % 2 == 0)
        {
            even.push_back(device);
        }
    }
    TestRun run(40);
    const TaskId wide = run.AddCollective(even, Parallelism::DATA);
    const TaskId pairs = run.AddCollective({5, 6, 9, 10, 11, 3}, Parallelism::NONE);
    run.AddSpan(0, wide, 0, 5);
    run.AddSpan(20, wide, 0, 5);
    run.AddSpan(5, pairs, 0, 5);
    const Trace trace = TraceOf(run.Finish(), MakeSmallCluster(gpus), run.timeline);
    EXPECT_EQ(trace.processes,
              (std::map<int, std::string>{{1, "a.b\xef\xbf\xbd"}, {2, "server 1"}}));
    EXPECT_EQ(trace.GetThreadsInUse(),
              (std::set<std::string>{"a.b\xef\xbf\xbd/0 gradients",
                                     "a.b\xef\xbf\xbd/5 communication",
                                     "server 1/x20 gradients"}));
    for (const Json& slice : trace.slices)
    {
        EXPECT_EQ(slice["args"]["group"],
                  slice["args"]["task"] == wide
                      ? "0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,... (20 devices)"
                      : "5,6,9-11,3");
    }
}

TEST(ChromeTrace, RejectsWhatDoesNotFit)
{
    TestRun run(5);
    run.AddSpan(0, run.AddCompute(0), 0, 1);
    const ExecutionGraph& graph = run.Finish();
    std::ostringstream out;
    ExpectContains(
        ErrorOf([&] { WriteChromeTrace(graph, MakeTwoServers(), ResultOf(run.timeline), out); }),
        "the graph has 5 devices, the cluster 'small' only 4 GPUs");
    run.timeline.memory.pop_back();
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    ExpectContains(ErrorOf([&] { WriteChromeTrace(graph, cluster, ResultOf(run.timeline), out); }),
                   "memory of 4 devices, the graph has 5");
    EXPECT_EQ(out.str(), "");
}

// --------------------------------------------------------------------------------------- tables

namespace
{

/// @param text of a CSV file by RFC 4180 @return its fields by line
std::vector<std::vector<std::string>>
ParseCsv(const std::string& text)
{
    std::vector<std::vector<std::string>> rows(1, {""});
    bool isQuoted = false;
    for (std::size_t i = 0; i < text.size(); ++i)
    {
        const char c = text[i];
        if (isQuoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"')
        {
            rows.back().back() += '"';
            ++i;
        }
        else if (c == '"')
        {
            isQuoted = !isQuoted;
        }
        else if (c == ',' && !isQuoted)
        {
            rows.back().emplace_back();
        }
        else if (c == '\n' && !isQuoted)
        {
            rows.emplace_back(1);
        }
        else
        {
            rows.back().back() += c;
        }
    }
    EXPECT_FALSE(isQuoted);
    EXPECT_EQ(rows.back(), std::vector<std::string>(1)); // the last line ends too
    rows.pop_back();
    return rows;
}

/// @param seconds with twelve decimals @return picoseconds
int64_t
ParseSeconds(const std::string& seconds)
{
    const auto point = seconds.find('.');
    EXPECT_EQ(seconds.size() - point, 13U);
    return std::stoll(seconds.substr(0, point)) * 1000000000000 +
           std::stoll(seconds.substr(point + 1));
}

} // namespace

TEST(Tables, SpanCsvReadsBack)
{
    const std::string name = "a, \"quoted\"\r\nname";
    TestRun run(4, 2);
    const TaskId compute = run.AddCompute(0, name);
    const TaskId send = run.AddSend(1, 3);
    const TaskId tensor = run.AddCollective({0, 1}, Parallelism::TENSOR);
    run.AddSpan(0, compute, 0, 1);
    run.AddSpan(1, send, 999999999999, 1000000000000, 1);
    run.AddSpan(3, send, 17, 1000000000000, 1);
    run.AddSpan(0, tensor, 7, 9000000000000000001);
    const ExecutionGraph& graph = run.Finish();
    std::ostringstream out;
    WriteSpanCsv(graph,
                 MakeSmallCluster({{"n0.gpu0", 0}, {"x,y", 0}, {"z", 1}, {"\"", 1}}),
                 run.timeline,
                 out);
    const auto rows = ParseCsv(out.str());
    ASSERT_EQ(rows.size(), 5U);
    EXPECT_EQ(out.str().substr(0, out.str().find('\n')),
              "device,gpu,stream,task,name,kind,collective,parallelism,micro_batch,bytes,start_s,"
              "end_s");
    std::vector<Span> spans;
    for (std::size_t i = 1; i < rows.size(); ++i)
    {
        ASSERT_EQ(rows[i].size(), rows[0].size());
        spans.push_back({static_cast<DeviceId>(std::stoul(rows[i][0])),
                         static_cast<TaskId>(std::stoul(rows[i][3])),
                         static_cast<uint32_t>(std::stoul(rows[i][8])),
                         ParseSeconds(rows[i][10]),
                         ParseSeconds(rows[i][11])});
    }
    EXPECT_EQ(spans, run.timeline.spans);
    using Row = std::vector<std::string>;
    EXPECT_EQ(rows[1],
              (Row{"0",
                   "n0.gpu0",
                   "compute",
                   "0",
                   name,
                   "compute",
                   "",
                   "",
                   "0",
                   "0",
                   "0.000000000000",
                   "0.000000000001"}));
    EXPECT_EQ(rows[2],
              (Row{"1",
                   "x,y",
                   "communication",
                   "1",
                   "send",
                   "communication",
                   "send-recv",
                   "pipeline",
                   "1",
                   "100",
                   "0.999999999999",
                   "1.000000000000"}));
    EXPECT_EQ(rows[3][1], "\"");
    EXPECT_EQ(rows[3][2], ""); // a receive is on no stream
    EXPECT_EQ(rows[4][11], "9000000.000000000001");
}

TEST(Tables, SpanCsvOfManySpans)
{
    // More than one block of output.
    TestRun run(1, 5000);
    const TaskId compute = run.AddCompute(0);
    for (uint32_t mb = 0; mb < 5000; ++mb)
    {
        run.AddSpan(0, compute, mb, mb + 1, mb);
    }
    std::ostringstream out;
    WriteSpanCsv(run.Finish(), MakeTwoServers(), run.timeline, out);
    const auto rows = ParseCsv(out.str());
    ASSERT_EQ(rows.size(), 5001U);
    for (uint32_t mb = 0; mb < 5000; ++mb)
    {
        EXPECT_EQ(rows[mb + 1][8], std::to_string(mb));
    }
}

TEST(Tables, BusiestLinksInOrder)
{
    const Cluster cluster = MakeTwoServers(); // links: s0 - spine, two GPUs, s1 - spine, two GPUs
    const auto use = [](LinkId link, bool forward, int64_t busyPs) {
        LinkStatistics statistics;
        statistics.link = link;
        statistics.forward = forward;
        statistics.packets = 1;
        statistics.busyPs = busyPs;
        return statistics;
    };
    std::vector<LinkStatistics> links{use(0, true, 5),
                                      use(0, false, 50),
                                      use(1, true, 20),
                                      use(4, true, 20),
                                      use(4, false, 20),
                                      use(2, true, 0)};
    links[1].payloadBytes = 400;
    links[1].creditStallPs = 25;
    links[1].maxQueueBytes = 4096;
    LinkStatistics unused;
    unused.link = 5;
    links.push_back(unused);

    const auto all = BusiestLinks(cluster, links, 100, 100);
    std::vector<std::string> names;
    for (const LinkUse& link : all)
    {
        names.push_back(link.name);
    }
    EXPECT_EQ(names,
              (std::vector<std::string>{"spine -> s0",
                                        "n0.gpu0 -> s0",
                                        "n1.gpu0 -> s1",
                                        "s1 -> n1.gpu0",
                                        "s0 -> spine",
                                        "n0.gpu1 -> s0"}));
    EXPECT_EQ(all[0].link, 0U);
    EXPECT_FALSE(all[0].forward);
    EXPECT_EQ(all[0].technology, LinkTechnology::INFINIBAND);
    EXPECT_DOUBLE_EQ(all[0].utilisation, 0.5);
    EXPECT_DOUBLE_EQ(all[0].payloadBytesPerSecond, 4e12);
    EXPECT_DOUBLE_EQ(all[0].rateBytesPerSecond, 25e9);
    EXPECT_DOUBLE_EQ(all[0].creditStallShare, 0.25);
    EXPECT_EQ(all[0].maxQueueBytes, 4096U);
    EXPECT_DOUBLE_EQ(all[1].utilisation, 0.2);

    const auto two = BusiestLinks(cluster, links, 100, 2);
    ASSERT_EQ(two.size(), 2U);
    EXPECT_EQ(two[1].name, "n0.gpu0 -> s0");
    EXPECT_TRUE(BusiestLinks(cluster, links, 100, 0).empty());
    EXPECT_TRUE(BusiestLinks(cluster, {unused}, 0, 10).empty());
    ExpectContains(ErrorOf([&] { BusiestLinks(cluster, links, 0, 10); }),
                   "s0 -> spine carried something in a time of 0 ps");
    links[0].link = 6;
    ExpectContains(ErrorOf([&] { BusiestLinks(cluster, links, 1, 10); }), "has no link 6");
}

TEST(Tables, TableIsAligned)
{
    EXPECT_EQ(FormatTable({{"name", "n", "unit"}, {"a", "100", "s"}, {"b\xc3\xa9", "7"}, {}}, "lr"),
              "  name    n  unit\n"
              "  a     100     s\n"
              "  b\xc3\xa9      7\n"
              "\n");
    EXPECT_EQ(FormatTable({{"a", "", "b"}, {"aa", "", ""}}, "l", ""), "a     b\naa\n");
    EXPECT_EQ(FormatTable({}, "l"), "");
    ExpectContains(ErrorOf([] { FormatTable({}, "lx"); }), "alignment 'lx'");
    ExpectContains(ErrorOf([] { FormatTable({}, ""); }), "at least one");
}

TEST(Tables, Numbers)
{
    EXPECT_EQ(FormatTime(1.2345), "1.234 s");
    EXPECT_EQ(FormatTime(0.0567894), "56.789 ms");
    EXPECT_EQ(FormatTime(0.9999999), "1.000 s");
    EXPECT_EQ(FormatTime(12.3e-6), "12.300 us");
    EXPECT_EQ(FormatTime(1e-9), "1.000 ns");
    EXPECT_EQ(FormatTime(5e-12), "5 ps");
    EXPECT_EQ(FormatTime(0), "0 ps");
    EXPECT_EQ(FormatTime(123456), "123456.000 s");
    EXPECT_EQ(FormatBytes(80e9), "80.00 GB");
    EXPECT_EQ(FormatBytes(4096), "4.10 kB");
    EXPECT_EQ(FormatBytes(17), "17 B");
    EXPECT_EQ(FormatBytes(999999), "1.00 MB");
    EXPECT_EQ(FormatCount(0), "0");
    EXPECT_EQ(FormatCount(999), "999");
    EXPECT_EQ(FormatCount(1000), "1,000");
    EXPECT_EQ(FormatCount(12345678), "12,345,678");
    EXPECT_EQ(FormatCount(UINT64_MAX), "18,446,744,073,709,551,615");
    EXPECT_EQ(FormatNumber(-0.005, 2), "-0.01");
    EXPECT_EQ(FormatNumber(1e20, 1), "100000000000000000000.0");
    EXPECT_EQ(FormatPicoseconds(0, 12), "0.000000000000");
    EXPECT_EQ(FormatPicoseconds(1234567, 6), "1.234567");
    EXPECT_EQ(FormatPicoseconds(-5, 6), "-0.000005");
    EXPECT_EQ(FormatPicoseconds(42, 0), "42");
    EXPECT_EQ(FormatPicoseconds(INT64_MIN, 6), "-9223372036854.775808");
}

// -------------------------------------------------------------------------------------- summary

namespace
{

/// Two A100: one computes 600 ms and waits, one computes 200 ms; the iteration takes one second.
struct SummaryRun : TestRun
{
    SummaryRun()
        : TestRun(2)
    {
        WorkloadFacts facts;
        facts.name = "tiny \"model\"";
        facts.modelFlopsPerIteration = 156e12; // a quarter of what two A100 do in a second
        facts.tokensPerIteration = 4096;
        facts.samplesPerIteration = 2;
        builder.SetFacts(facts);
        const TaskId c0 = AddCompute(0);
        const TaskId c1 = AddCompute(1);
        const TaskId tensor = AddCollective({0, 1}, Parallelism::TENSOR);
        const TaskId data = AddCollective({0, 1}, Parallelism::DATA);
        AddSpan(0, c0, 0, 600 * MS);
        AddSpan(1, c1, 0, 200 * MS);
        AddSpan(0, tensor, 600 * MS, 700 * MS);
        AddSpan(1, tensor, 300 * MS, 700 * MS);
        AddSpan(0, data, 700 * MS, 1000 * MS);
        AddSpan(1, data, 600 * MS, 1000 * MS);
        timeline.peakMemoryBytes = {20000000000, 60000000000};
        network.packets = 1000000;
        network.packetHops = 3000000;
        network.events = 4000000;
        network.messages = 5;
        network.controlPackets = 6;
        network.queuePairs = 7;
        network.repeated = 9;
        LinkStatistics up;
        up.link = 1; // n0.gpu0
        up.packets = 1000000;
        up.busyPs = 250 * MS;
        up.payloadBytes = 60000000000;
        links = {up};
        Finish();
    }

    RunRecord Result() const
    {
        RunRecord result = ResultOf(timeline);
        result.links = links;
        result.network = network;
        result.wallS = 1.5;
        return result;
    }

    Summary Sum() const
    {
        return Analyze(graph, MakeTwoServers(), Result(), DataType::BF16).summary;
    }

    static constexpr int64_t MS = 1000000000;
    std::vector<LinkStatistics> links;
    NetworkStatistics network;
};

std::string
Print(const Summary& summary)
{
    std::ostringstream out;
    PrintSummary(summary, out);
    return out.str();
}

} // namespace

TEST(Summary, ClosedForm)
{
    const SummaryRun run;
    const Summary summary = run.Sum();
    EXPECT_EQ(summary.graph, "tiny \"model\"");
    EXPECT_EQ(summary.cluster, "small");
    EXPECT_EQ(summary.gpu, "A100-SXM4-80GB");
    EXPECT_EQ(summary.devices, 2U);
    EXPECT_DOUBLE_EQ(summary.iterationS, 1);
    EXPECT_DOUBLE_EQ(summary.tokensPerS, 4096);
    EXPECT_DOUBLE_EQ(summary.samplesPerS, 2);
    EXPECT_DOUBLE_EQ(summary.peakFlops, 2 * 312e12);
    EXPECT_DOUBLE_EQ(summary.modelFlopUtilisation, 0.25);
    EXPECT_DOUBLE_EQ(summary.mean.computeS, 0.4);
    EXPECT_DOUBLE_EQ(summary.mean.exposedCommunicationS, 0.4);
    EXPECT_DOUBLE_EQ(summary.mean.waitingForPeersS, (0.0 + 0.3) / 2);
    EXPECT_DOUBLE_EQ(summary.mean.idleS, (0.0 + 0.1) / 2);
    EXPECT_EQ(summary.worst.compute.device, 0U);
    EXPECT_DOUBLE_EQ(summary.worst.compute.seconds, 0.6);
    EXPECT_EQ(summary.worst.exposedCommunication.device, 0U);
    EXPECT_DOUBLE_EQ(summary.worst.exposedCommunication.seconds, 0.4);
    const auto& tensor = summary.worst.waiting[static_cast<std::size_t>(Parallelism::TENSOR)];
    EXPECT_EQ(tensor.device, 1U);
    EXPECT_DOUBLE_EQ(tensor.seconds, 0.3);
    const auto& data = summary.worst.exposed[static_cast<std::size_t>(Parallelism::DATA)];
    EXPECT_EQ(data.device, 0U); // equal: the first
    EXPECT_DOUBLE_EQ(data.seconds, 0.3);
    EXPECT_EQ(summary.worst.idle.device, 1U);
    EXPECT_EQ(summary.peakMemoryBytes, 60000000000U);
    EXPECT_EQ(summary.peakMemoryDevice, 1U);
    EXPECT_EQ(summary.memoryCapacityBytes, 80000000000U);
    EXPECT_FALSE(summary.outOfMemory);
    ASSERT_EQ(summary.busiestLinks.size(), 1U);
    EXPECT_DOUBLE_EQ(summary.busiestLinks[0].utilisation, 0.25);
    EXPECT_DOUBLE_EQ(summary.busiestLinks[0].payloadBytesPerSecond, 60e9);

    const Summary fp32 = Analyze(run.graph, MakeTwoServers(), run.Result(), DataType::FP32).summary;
    EXPECT_DOUBLE_EQ(fp32.modelFlopUtilisation, 156e12 / (2 * 19.5e12));
}

TEST(Summary, Json)
{
    SummaryRun run;
    run.timeline.peakMemoryBytes[0] = 80000000001;
    std::ostringstream out;
    WriteSummaryJson(run.Sum(), out);
    const Json json = Json::parse(out.str());
    EXPECT_EQ(json["graph"], "tiny \"model\"");
    EXPECT_EQ(json["iteration_s"], 1.0);
    EXPECT_EQ(json["tokens_per_s"], 4096.0);
    EXPECT_EQ(json["model_flop_utilisation"], 0.25);
    EXPECT_DOUBLE_EQ(json["exposed_communication_s"].get<double>(), 0.4);
    EXPECT_DOUBLE_EQ(json["exposed_s"]["tensor"].get<double>(), 0.1);
    EXPECT_DOUBLE_EQ(json["waiting_for_peers_s"].get<double>(), 0.15);
    EXPECT_DOUBLE_EQ(json["waiting_s"]["tensor"].get<double>(), 0.15);
    EXPECT_EQ(json["bubble_s"], 0.0);
    EXPECT_EQ(json["host_s"], 0.0);
    EXPECT_DOUBLE_EQ(json["exposed_s"]["data"].get<double>(), 0.3);
    EXPECT_EQ(json["exposed_s"].size(), N_PARALLELISMS);
    EXPECT_EQ(json["worst"]["waiting"]["tensor"]["gpu"], "n0.gpu1");
    EXPECT_EQ(json["worst"]["compute"]["s"], 0.6);
    EXPECT_EQ(json["peak_memory_bytes"], 80000000001U);
    EXPECT_EQ(json["peak_memory_gpu"], "n0.gpu0");
    EXPECT_EQ(json["memory_capacity_bytes"], 80000000000U);
    EXPECT_EQ(json["out_of_memory"], true);
    EXPECT_EQ(json["out_of_memory_gpus"], Json({"n0.gpu0"}));
    EXPECT_EQ(json["packets"], 1000000);
    EXPECT_EQ(json["control_packets"], 6);
    EXPECT_EQ(json["packet_hops"], 3000000);
    EXPECT_EQ(json["events"], 4000000);
    EXPECT_EQ(json["messages"], 5);
    EXPECT_EQ(json["queue_pairs"], 7);
    EXPECT_EQ(json["losses"]["repeated_packets"], 9);
    EXPECT_EQ(json["losses"]["dropped_packets"], 0);
    EXPECT_EQ(json["wall_s"], 1.5);
    EXPECT_EQ(json["busiest_links"][0]["name"], "n0.gpu0 -> s0");
    EXPECT_EQ(json["busiest_links"][0]["technology"], "nvlink");
}

TEST(Summary, PrintedReport)
{
    EXPECT_EQ(Print(SummaryRun().Sum()),
              R"(tiny "model" on small, 2 GPUs (A100-SXM4-80GB)

  iteration time  1.000 s
  throughput      4096 tokens/s
  MFU             25.0 %: model FLOPs over the dense bf16 peak of 2 GPUs, 624.00 TFLOP/s
  communication   400.000 ms in flight per GPU, 0.0 % of it hidden behind compute
  peak memory     fits: n0.gpu1, the fullest, needs 60.00 GB of 80.00 GB (75.0 %)

  time per GPU                 mean               worst
  compute                400.000 ms  40.0 %  600.000 ms  60.0 %  n0.gpu0
  exposed communication  400.000 ms  40.0 %  400.000 ms  40.0 %  n0.gpu0
    tensor               100.000 ms  10.0 %  100.000 ms  10.0 %  n0.gpu0
    data                 300.000 ms  30.0 %  300.000 ms  30.0 %  n0.gpu0
  waiting for peers      150.000 ms  15.0 %  300.000 ms  30.0 %  n0.gpu1
    tensor               150.000 ms  15.0 %  300.000 ms  30.0 %  n0.gpu1
  idle                    50.000 ms   5.0 %  100.000 ms  10.0 %  n0.gpu1

  collectives  for        size  ranks  count        mean  busbw GB/s  of ideal
  all-reduce   data    4.10 kB  2          1  300.000 ms        0.00     0.0 %
  all-reduce   tensor  4.10 kB  2          1  100.000 ms        0.00     0.0 %
  ranks: "in" how many servers; mean: from the last rank's joining; ideal: what the links of
  one group allow, headers not deducted

  busiest links  technology    busy  payload GB/s  of GB/s  stalled  queue
  n0.gpu0 -> s0  nvlink      25.0 %         60.00   300.00    0.0 %    0 B
  busy, payload: over the iteration; stalled: a packet ready, the receiver's buffer full;
  queue: most bytes that waited at once; GB = 1e9 bytes

  No link loses packets or holds others up: none is paused or short of credits for 1.0 % of the
  time, and no queue in a switch takes 10.000 us to drain.

  simulated  1,000,000 packets, 3,000,000 packet-hops, 4,000,000 events
  network    0 packets dropped, 0 lost on the wire, 9 repeated, 0 timeouts, 0 pauses, 0 marked
  wall time  1.500 s, 2.00 million packet-hops/s
)");
}

TEST(Summary, OutOfMemoryIsClear)
{
    SummaryRun run;
    run.timeline.peakMemoryBytes = {80000000000, 80000000000}; // just full is not too full
    EXPECT_FALSE(run.Sum().outOfMemory);
    run.timeline.peakMemoryBytes = {80000000001, 100000000000};
    const Summary summary = run.Sum();
    EXPECT_TRUE(summary.outOfMemory);
    EXPECT_EQ(summary.outOfMemoryDevices, (std::vector<DeviceId>{0, 1}));
    ExpectContains(Print(summary),
                   "OUT OF MEMORY on 2 of 2 GPUs: n0.gpu1 needs 100.00 GB of 80.00 GB (125.0 %)");
}

TEST(Summary, FullestGpuIsJudgedByItsOwnCapacity)
{
    Cluster cluster("mixed");
    const VertexId hub = cluster.AddVertex({"hub", VertexKind::NVSWITCH, 0, 0, ""});
    for (const char* model : {"A100-SXM4-80GB", "V100-SXM2-32GB", "A100-SXM4-80GB"})
    {
        const VertexId gpu = cluster.AddVertex({"n0." + std::string(model) + std::to_string(hub) +
                                                    std::to_string(cluster.GetGpus().size()),
                                                VertexKind::GPU,
                                                0,
                                                0,
                                                model});
        cluster.AddLink({gpu, hub, LinkTechnology::NVLINK, 1e9, 0, {}, 1});
    }
    TestRun run(3);
    run.AddSpan(0, run.AddCompute(0), 0, 10);
    run.timeline.peakMemoryBytes = {40000000000, 33000000000, 60000000000};
    const Summary summary =
        Analyze(run.Finish(), cluster, ResultOf(run.timeline), DataType::FP16).summary;
    EXPECT_EQ(summary.gpu, "A100-SXM4-80GB + V100-SXM2-32GB");
    EXPECT_DOUBLE_EQ(summary.peakFlops, 2 * 312e12 + 125e12);
    EXPECT_EQ(summary.peakMemoryDevice, 1U);
    EXPECT_EQ(summary.memoryCapacityBytes, 32000000000U);
    EXPECT_EQ(summary.outOfMemoryDevices, std::vector<DeviceId>{1});
}

TEST(Summary, MemoryThatNobodyKnowsDoesNotFit)
{
    Summary summary;
    summary.devices = 1;
    summary.gpuNames = {"gpu0"};
    summary.memoryCapacityBytes = 80000000000;
    std::ostringstream out;
    PrintSummary(summary, out);
    EXPECT_NE(out.str().find("peak memory     not known"), std::string::npos) << out.str();
    EXPECT_EQ(out.str().find("fits"), std::string::npos) << out.str();
}

TEST(Summary, WhatIsUnknownIsLeftOut)
{
    TestRun run(1);
    run.AddCompute(0);
    const Summary summary =
        Analyze(run.Finish(), MakeTwoServers(), ResultOf(run.timeline), DataType::BF16).summary;
    EXPECT_EQ(summary.iterationS, 0); // nothing ran
    std::ostringstream out;
    WriteSummaryJson(summary, out);
    const Json json = Json::parse(out.str());
    EXPECT_TRUE(json["tokens_per_s"].is_null());
    EXPECT_TRUE(json["model_flop_utilisation"].is_null());
    EXPECT_TRUE(json["busiest_links"].empty());
    const std::string text = Print(summary);
    for (const char* word : {"nan", "inf", "tokens", "MFU", "links", "wall", "tensor"})
    {
        EXPECT_EQ(text.find(word), std::string::npos) << word << " in " << text;
    }

    run.timeline.peakMemoryBytes.clear();
    ExpectContains(ErrorOf([&] {
                       Analyze(run.graph, MakeTwoServers(), ResultOf(run.timeline), DataType::BF16);
                   }),
                   "peak memory of 0 devices, the graph has 1");
}

// ---------------------------------------------------------------------------------------- files

TEST(OutputFile, IsWholeOrNotThere)
{
    const TemporaryFolder folder;
    const std::string path = folder / "a.txt";
    const auto write = [](const std::string& text) {
        return [text](std::ostream& out) { out << text; };
    };
    WriteFile(path, write("one\r\n"));
    EXPECT_EQ(ReadText(path), "one\r\n");
    WriteFile(path, write("two"));
    EXPECT_EQ(ReadText(path), "two");

    // An error leaves what was there, and nothing else.
    const std::string error = ErrorOf([&] {
        WriteFile(path, [](std::ostream& out) {
            out << std::string(100000, 'x');
            throw std::runtime_error("the cat is on the table");
        });
    });
    EXPECT_EQ(error, path + ": cannot be written: the cat is on the table");
    EXPECT_EQ(ReadText(path), "two");
    // While it is written the old content is still there.
    WriteFile(path, [&](std::ostream& out) {
        out << std::string(100000, 'x');
        EXPECT_EQ(ReadText(path), "two");
        EXPECT_EQ(folder.CountFiles(), 2U);
    });
    EXPECT_EQ(ReadText(path).size(), 100000U);
    EXPECT_EQ(folder.CountFiles(), 1U);
    // A stream that its writer found bad, without a cause of the system.
    ExpectContains(ErrorOf([&] {
                       WriteFile(path, [](std::ostream& out) { out.setstate(std::ios::failbit); });
                   }),
                   path + ": cannot be written: ");
    EXPECT_EQ(folder.CountFiles(), 1U);

    const std::string nowhere = folder / "no/such/b.txt";
    EXPECT_EQ(ErrorOf([&] { WriteFile(nowhere, write("x")); }),
              nowhere + ": cannot be written: No such file or directory");
    const std::string directory = folder / "directory";
    std::filesystem::create_directory(directory);
    EXPECT_EQ(ErrorOf([&] { WriteFile(directory, write("x")); }),
              directory + ": cannot be written: it is a directory");
    ExpectContains(ErrorOf([&] { WriteFile("", write("x")); }), ": cannot be written: ");
    EXPECT_EQ(folder.CountFiles(), 2U);
}

TEST(OutputFile, IsCheckedBeforehand)
{
    const TemporaryFolder folder;
    const std::string path = folder / "a.txt";
    CheckWritable(path);
    EXPECT_EQ(folder.CountFiles(), 0U) << "nothing is left behind";
    std::ofstream(path) << "kept";
    CheckWritable(path);
    EXPECT_EQ(ReadText(path), "kept");
    CheckWritable("/dev/null");
    const std::string nowhere = folder / "no/such/b.txt";
    EXPECT_EQ(ErrorOf([&] { CheckWritable(nowhere); }),
              nowhere + ": cannot be written: No such file or directory");
    EXPECT_EQ(ErrorOf([&] { CheckWritable(folder / "."); }),
              std::string(folder / ".") + ": cannot be written: it is a directory");
    ExpectContains(ErrorOf([] { CheckWritable(""); }), "the name is empty");
}

TEST(OutputFile, LinksAndDevices)
{
    const TemporaryFolder folder;
    const auto write = [](std::ostream& out) { out << "text"; };
    std::ofstream(folder / "real.txt") << "old";
    std::filesystem::create_symlink(folder / "real.txt", folder / "link.txt");
    WriteFile(folder / "link.txt", write);
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.txt"));
    EXPECT_EQ(ReadText(folder / "real.txt"), "text");
    EXPECT_EQ(folder.CountFiles(), 2U);

    // A device stays a device, and a full one is an error with the system's cause.
    WriteFile("/dev/null", write);
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
    if (std::filesystem::is_character_file("/dev/full"))
    {
        EXPECT_EQ(ErrorOf([&] { WriteFile("/dev/full", write); }),
                  "/dev/full: cannot be written: No space left on device");
        EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
        // Many blocks, so that it shows before the end.
        ExpectContains(ErrorOf([&] {
                           WriteFile("/dev/full",
                                     [](std::ostream& out) { out << std::string(1 << 20, 'x'); });
                       }),
                       "No space left on device");
    }
}

} // namespace proteus
} // namespace ns3
