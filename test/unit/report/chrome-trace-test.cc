/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "report-fixture.h"

#include "ns3/proteus-chrome-trace.h"
#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
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

} // namespace proteus
} // namespace ns3
