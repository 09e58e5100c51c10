/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "report-fixture.h"

#include "ns3/proteus-breakdown.h"
#include "ns3/proteus-kineto-trace.h"
#include "ns3/proteus-kineto.h"
#include "ns3/proteus-perfetto-trace.h"
#include "ns3/proteus-perfetto.pb.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>
#include <set>
#include <sstream>

namespace ns3
{
namespace proteus
{

namespace
{

using Json = nlohmann::json;

/**
 * A random run: three micro-batches on four GPUs, with computation, three streams of communication
 * and sends whose receives are posted early. Names try to look like something else.
 * @param unitPs all times are multiples of it
 */
struct RandomRun : TestRun
{
    explicit RandomRun(int64_t unitPs, uint32_t seed = 1)
        : TestRun(4, 3)
    {
        std::mt19937 random(seed);
        const auto length = [&] { return unitPs * static_cast<int64_t>(1 + random() % 50); };
        std::vector<std::vector<int64_t>> free(4, std::vector<int64_t>(3)); // by device and stream
        const auto run = [&](TaskId task, const std::vector<DeviceId>& group, int stream) {
            for (uint32_t mb = 0; mb < 3; ++mb)
            {
                int64_t endPs = 0;
                std::vector<int64_t> starts;
                for (DeviceId device : group)
                {
                    starts.push_back(free[device][stream] + (random() % 2) * length());
                    endPs = std::max(endPs, starts.back());
                }
                endPs += length();
                for (std::size_t i = 0; i < group.size(); ++i)
                {
                    AddSpan(group[i], task, starts[i], endPs, mb);
                    free[group[i]][stream] = endPs;
                }
            }
        };
        const std::vector<std::string> names{"gemm",
                                             "Memcpy DtoD",
                                             "nccl helper",
                                             "cudaLaunchKernel",
                                             "Stream Sync",
                                             "softmax \"x\""};
        for (int i = 0; i < 24; ++i)
        {
            const auto device = static_cast<DeviceId>(random() % 4);
            run(AddCompute(device, names[random() % names.size()]), {device}, 0);
            if (i % 2 == 0)
            {
                run(AddCollective({0, 1, 2, 3}, Parallelism::DATA), {0, 1, 2, 3}, 2);
            }
            if (i % 3 == 0)
            {
                run(AddCollective({2, 3}, Parallelism::TENSOR), {2, 3}, 1);
            }
            if (i % 4 == 0)
            {
                // The receive is posted before everything else on its device.
                const TaskId send = AddSend(0, 1);
                for (uint32_t mb = 0; mb < 3; ++mb)
                {
                    const int64_t startPs = free[0][1];
                    const int64_t endPs = startPs + length();
                    AddSpan(0, send, startPs, endPs, mb);
                    AddSpan(1, send, std::min(startPs, unitPs * mb), endPs, mb);
                    free[0][1] = endPs;
                }
            }
        }
        timeline.endPs += 7 * unitPs;
        timeline.memory[2] = {{0, 7}, {unitPs, 1ULL << 40}};
        Finish();
    }

    Cluster cluster{MakeTwoServers()};
};

} // namespace

// ------------------------------------------------------------------------------------- Perfetto

namespace
{

/// A Perfetto trace as trace_processor understands it.
struct PerfettoTrace
{
    struct Slice
    {
        std::string name;
        std::string category;
        uint64_t startNs{0};
        uint64_t endNs{0};
        std::map<std::string, std::string> arguments;
        std::vector<uint64_t> arrows;    //!< that begin here
        std::vector<uint64_t> arrowEnds; //!< that end here
    };

    struct Track
    {
        std::string name;
        uint64_t parent{0};
        bool isProcess{false};
        bool isCounter{false};
        std::vector<Slice> slices;
        std::vector<std::pair<uint64_t, double>> values;
    };

    explicit PerfettoTrace(const std::string& bytes)
    {
        perfetto::Trace trace;
        EXPECT_TRUE(trace.ParseFromString(bytes));
        EXPECT_GT(trace.packet_size(), 0);
        bool isFirst = true;
        for (const perfetto::TracePacket& packet : trace.packet())
        {
            EXPECT_EQ(packet.trusted_packet_sequence_id(), 1u);
            EXPECT_EQ(packet.sequence_flags(), isFirst ? 1u : 2u);
            isFirst = false;
            Read(packet);
        }
        EXPECT_TRUE(open.empty()) << "every slice ends";
    }

    template <typename F>
    static void Learn(std::map<uint64_t, std::string>& names, const F& entries)
    {
        for (const auto& entry : entries)
        {
            EXPECT_TRUE(names.emplace(entry.iid(), entry.name()).second);
        }
    }

    void Read(const perfetto::TracePacket& packet)
    {
        if (packet.has_interned_data())
        {
            Learn(names, packet.interned_data().event_names());
            Learn(categories, packet.interned_data().event_categories());
            Learn(argumentNames, packet.interned_data().debug_annotation_names());
            for (const auto& value : packet.interned_data().debug_annotation_string_values())
            {
                values[value.iid()] = value.str();
            }
        }
        if (packet.has_track_descriptor())
        {
            const auto& descriptor = packet.track_descriptor();
            Track track;
            track.name = descriptor.name();
            track.parent = descriptor.parent_uuid();
            track.isProcess = descriptor.has_process();
            track.isCounter = descriptor.has_counter();
            EXPECT_TRUE(track.isProcess || tracks.at(track.parent).isProcess);
            EXPECT_TRUE(tracks.emplace(descriptor.uuid(), track).second);
        }
        if (packet.has_track_event())
        {
            ReadEvent(packet.track_event(), packet.timestamp());
        }
    }

    void ReadEvent(const perfetto::TrackEvent& event, uint64_t timeNs)
    {
        Track& track = tracks.at(event.track_uuid()); // described before
        switch (event.type())
        {
        case perfetto::TrackEvent::TYPE_SLICE_BEGIN: {
            EXPECT_EQ(open.count(event.track_uuid()), 0u) << "no slice within another";
            EXPECT_TRUE(track.slices.empty() || track.slices.back().endNs <= timeNs);
            Slice slice;
            slice.name = names.at(event.name_iid());
            slice.category = categories.at(event.category_iids(0));
            slice.startNs = timeNs;
            for (const auto& annotation : event.debug_annotations())
            {
                std::string& text = slice.arguments[argumentNames.at(annotation.name_iid())];
                text = annotation.has_string_value_iid() ? values.at(annotation.string_value_iid())
                       : annotation.has_int_value()      ? std::to_string(annotation.int_value())
                                                    : std::to_string(annotation.double_value());
            }
            slice.arrows.assign(event.flow_ids().begin(), event.flow_ids().end());
            track.slices.push_back(slice);
            open.insert(event.track_uuid());
            break;
        }
        case perfetto::TrackEvent::TYPE_SLICE_END:
            EXPECT_EQ(open.erase(event.track_uuid()), 1u);
            track.slices.back().endNs = timeNs;
            EXPECT_GE(timeNs, track.slices.back().startNs);
            track.slices.back().arrowEnds.assign(event.terminating_flow_ids().begin(),
                                                 event.terminating_flow_ids().end());
            break;
        case perfetto::TrackEvent::TYPE_COUNTER:
            EXPECT_TRUE(track.isCounter);
            EXPECT_TRUE(track.values.empty() || track.values.back().first <= timeNs);
            track.values.emplace_back(timeNs,
                                      event.has_counter_value()
                                          ? static_cast<double>(event.counter_value())
                                          : event.double_counter_value());
            break;
        default:
            ADD_FAILURE() << "an event of type " << event.type();
        }
    }

    std::map<uint64_t, Track> tracks;
    std::set<uint64_t> open;
    std::map<uint64_t, std::string> names;
    std::map<uint64_t, std::string> categories;
    std::map<uint64_t, std::string> argumentNames;
    std::map<uint64_t, std::string> values;
};

} // namespace

TEST(PerfettoTrace, HasAllSpansArrowsAndCounters)
{
    const RandomRun run(12345);
    RunRecord result = ResultOf(run.timeline);
    LinkSeries series(2 * run.cluster.GetLinks().size(), 1000000, 8);
    std::vector<LinkBin> bins(series.GetNDirections());
    bins[0] = {0.25, 0, 0.5, 4096}; // s0 -> spine, the network's
    bins[1] = {0, 0, 0, 1};         // spine -> s0
    series.Append(1000000, bins);
    result.series = series;
    for (DeviceId device : {0, 1})
    {
        // Two blocks of a channel are one slice; another channel has a track of its own.
        result.channels.push_back({device, 3, 0, 0, 0, 1000, 5000});
        result.channels.push_back({device, 3, 0, 0, 1, 1000, 9000});
        result.channels.push_back({device, 3, 0, 7, 2, 1000, 4000});
    }
    std::ostringstream out;
    WritePerfettoTrace(run.graph, run.cluster, result, out);
    const PerfettoTrace trace(out.str());

    std::multiset<std::tuple<std::string, int64_t, int64_t, std::string>> expected;
    std::multiset<std::tuple<std::string, int64_t, int64_t, std::string>> found;
    for (const Span& span : run.timeline.spans)
    {
        expected.emplace(run.graph.GetName(run.graph.GetTask(span.task)),
                         span.startPs / 1000,
                         span.endPs / 1000,
                         std::to_string(span.endPs));
    }
    std::map<uint64_t, uint64_t> arrowStarts;
    std::map<uint64_t, uint64_t> arrowEnds;
    std::map<std::string, std::size_t> slicesOfTrack;
    std::map<std::string, std::vector<std::pair<uint64_t, double>>> counters;
    for (const auto& entry : trace.tracks)
    {
        const auto& track = entry.second;
        const std::string name =
            track.isProcess ? track.name : trace.tracks.at(track.parent).name + "/" + track.name;
        slicesOfTrack[name] = track.slices.size();
        if (track.isCounter)
        {
            counters[name] = track.values;
        }
        for (const auto& slice : track.slices)
        {
            if (slice.category == "channel")
            {
                continue;
            }
            found.emplace(slice.name, slice.startNs, slice.endNs, slice.arguments.at("end_ps"));
            for (uint64_t arrow : slice.arrows)
            {
                EXPECT_TRUE(arrowStarts.emplace(arrow, slice.startNs).second);
            }
            for (uint64_t arrow : slice.arrowEnds)
            {
                EXPECT_TRUE(arrowEnds.emplace(arrow, slice.endNs).second);
            }
        }
    }
    EXPECT_EQ(found, expected);
    EXPECT_EQ(arrowStarts.size(), 18u);
    ASSERT_EQ(arrowEnds.size(), 18u);
    for (const auto& start : arrowStarts)
    {
        EXPECT_LT(start.second, arrowEnds.at(start.first));
    }
    EXPECT_EQ(slicesOfTrack.at("n0/gpu0 channel 0"), 1u);
    EXPECT_EQ(slicesOfTrack.at("n0/gpu1 channel 7"), 1u);
    EXPECT_EQ(slicesOfTrack.count("n1/gpu0 channel 0"), 0u);
    EXPECT_EQ(slicesOfTrack.count("spine"), 1u) << "a process for a network switch";
    EXPECT_EQ(counters.at("n1/gpu0 memory").back().second, std::pow(2, 40));
    const std::string up = "n0/s0 -> spine";
    EXPECT_EQ(counters.at(up + " busy").at(0), (std::pair<uint64_t, double>(0, 25)));
    EXPECT_EQ(counters.at(up + " held up").at(0).second, 50);
    EXPECT_EQ(counters.at(up + " queue").at(0).second, 4096);
    EXPECT_EQ(counters.at(up + " queue").back().second, 0);
    EXPECT_EQ(counters.at("spine/spine -> s0 queue").at(0).second, 1);
    EXPECT_EQ(counters.count("spine/spine -> s0 busy"), 0u) << "always 0";
}

TEST(PerfettoTrace, FieldNumbersArePerfettos)
{
    // What Perfetto's published schema calls for, so that the schema here cannot drift.
    const auto number = [](const google::protobuf::Descriptor* message, const char* field) {
        const auto* found = message->FindFieldByName(field);
        return found ? found->number() : -1;
    };
    EXPECT_EQ(number(perfetto::TracePacket::descriptor(), "timestamp"), 8);
    EXPECT_EQ(number(perfetto::TracePacket::descriptor(), "trusted_packet_sequence_id"), 10);
    EXPECT_EQ(number(perfetto::TracePacket::descriptor(), "track_event"), 11);
    EXPECT_EQ(number(perfetto::TracePacket::descriptor(), "interned_data"), 12);
    EXPECT_EQ(number(perfetto::TracePacket::descriptor(), "sequence_flags"), 13);
    EXPECT_EQ(number(perfetto::TracePacket::descriptor(), "track_descriptor"), 60);
    EXPECT_EQ(number(perfetto::TrackEvent::descriptor(), "type"), 9);
    EXPECT_EQ(number(perfetto::TrackEvent::descriptor(), "name_iid"), 10);
    EXPECT_EQ(number(perfetto::TrackEvent::descriptor(), "track_uuid"), 11);
    EXPECT_EQ(number(perfetto::TrackEvent::descriptor(), "flow_ids"), 47);
    EXPECT_EQ(number(perfetto::TrackEvent::descriptor(), "terminating_flow_ids"), 48);
    EXPECT_EQ(number(perfetto::TrackDescriptor::descriptor(), "parent_uuid"), 5);
    EXPECT_EQ(number(perfetto::TrackDescriptor::descriptor(), "counter"), 8);
}

// ------------------------------------------------------------------------------------------ HTA

namespace
{

/// @return by rank, what WriteKinetoTraces() writes
std::vector<std::string>
WriteKineto(const RandomRun& run)
{
    std::vector<std::string> traces;
    WriteKinetoTraces(run.graph,
                      run.cluster,
                      run.timeline,
                      [&](DeviceId rank, const std::function<void(std::ostream&)>& write) {
                          EXPECT_EQ(rank, traces.size());
                          std::ostringstream out;
                          write(out);
                          traces.push_back(out.str());
                      });
    return traces;
}

/// Intervals of time in microseconds.
using Intervals = std::vector<std::pair<int64_t, int64_t>>;

/// @return the intervals with those joined that touch or overlap
Intervals
Merge(Intervals intervals)
{
    std::sort(intervals.begin(), intervals.end());
    Intervals merged;
    for (const auto& interval : intervals)
    {
        if (merged.empty() || interval.first > merged.back().second)
        {
            merged.push_back(interval);
        }
        merged.back().second = std::max(merged.back().second, interval.second);
    }
    return merged;
}

int64_t
LengthOf(const Intervals& merged)
{
    int64_t length = 0;
    for (const auto& interval : merged)
    {
        length += interval.second - interval.first;
    }
    return length;
}

/// What Holistic Trace Analysis makes of the trace of a rank: the rules of hta/common/trace.py,
/// hta/common/types.py and hta/analyzers/breakdown_analysis.py.
struct Hta
{
    explicit Hta(const std::string& text)
    {
        std::smatch match;
        const std::string head = text.substr(0, 1000);
        EXPECT_TRUE(std::regex_search(head, match, std::regex("\"rank\":\\s+(\\d+)")));
        rank = std::stoi(match[1]);
        const Json json = Json::parse(text);
        Json rows = Json::array();
        int64_t lastStep = -1;
        for (const Json& row : json["traceEvents"])
        {
            if (row.contains("dur") && row.contains("cat") && row["cat"] != "Trace")
            {
                rows.push_back(row);
                const std::string name = row["name"];
                if (name.rfind("ProfilerStep#", 0) == 0)
                {
                    lastStep = std::max<int64_t>(lastStep, std::stoi(name.substr(13)));
                }
            }
        }
        EXPECT_EQ(lastStep, 1) << "the last step is left out, so there must be another";
        // A launch is in the step that it begins in; a kernel in the step of its launch.
        const Json* step = nullptr;
        std::map<int64_t, const Json*> launches;
        for (const Json& row : rows)
        {
            if (row["name"] == "ProfilerStep#0")
            {
                step = &row;
            }
            else if (row["cat"] == "cuda_runtime")
            {
                EXPECT_TRUE(launches.emplace(row["args"]["correlation"], &row).second);
            }
        }
        for (const Json& row : rows)
        {
            const int64_t stream = row["args"].value("stream", int64_t{-1});
            if (stream == -1)
            {
                continue;
            }
            EXPECT_GT(stream, 0) << "stream 0 is left out in places";
            const auto launch = launches.find(row["args"].value("correlation", int64_t{-1}));
            if (launch == launches.end())
            {
                ADD_FAILURE() << "a kernel without a launch is left out: " << row;
                continue;
            }
            const int64_t launched = (*launch->second)["ts"];
            EXPECT_GE(launched, (*step)["ts"]);
            EXPECT_LT(launched, (*step)["ts"].get<int64_t>() + (*step)["dur"].get<int64_t>());
            EXPECT_TRUE(row["ts"].is_number_integer() && row["dur"].is_number_integer());
            Add(row, stream);
        }
    }

    void Add(const Json& row, int64_t stream)
    {
        static const std::regex communicationName("^nccl.*|^hip|^hccl|.*ncclKernel.*");
        static const std::regex memoryName("^(hip)?Memcpy|^(hip)?Memset|^dma");
        static const std::regex noComputeName(
            "^nccl|.*Memcpy|.*Memset|.*dma|^.*Sync|^Stream Wait Event|cuda.*LaunchKernel|"
            "^runFunction|^hip|^job_exe|^packet|^pe_exe|^cpum_exe_subgraph|^hccl");
        const std::string name = row["name"];
        const int64_t start = row["ts"];
        const std::pair<int64_t, int64_t> interval{start, start + row["dur"].get<int64_t>()};
        EXPECT_GE(interval.second, interval.first);
        all.push_back(interval);
        byStream[stream].push_back(interval);
        const auto begins = [&](const std::regex& pattern) {
            return std::regex_search(name, pattern, std::regex_constants::match_continuous);
        };
        if (begins(communicationName))
        {
            communication.push_back(interval);
        }
        else
        {
            EXPECT_FALSE(begins(memoryName)) << name;
            EXPECT_FALSE(begins(noComputeName)) << name;
            compute.push_back(interval);
        }
    }

    int64_t GetCompute() const
    {
        return LengthOf(Merge(compute));
    }

    int64_t GetCommunication() const
    {
        return LengthOf(Merge(communication));
    }

    int64_t GetKernelTime() const
    {
        const Intervals merged = Merge(all);
        return merged.back().second - merged.front().first;
    }

    int64_t GetIdle() const
    {
        return GetKernelTime() - LengthOf(Merge(all));
    }

    /// Time in which communication and computation both run.
    int64_t GetOverlap() const
    {
        return GetCompute() + GetCommunication() - LengthOf(Merge(all));
    }

    int rank{-1};
    Intervals all;
    Intervals compute;
    Intervals communication;
    std::map<int64_t, Intervals> byStream;
};

} // namespace

TEST(KinetoTrace, HtaFindsWhatTheProgramPrints)
{
    constexpr int64_t US = 1000000;
    for (uint32_t seed = 1; seed <= 5; ++seed)
    {
        // All times whole microseconds: equal. Otherwise: half of one per boundary at most.
        for (int64_t unitPs : {US, US / 1000 * 1237})
        {
            const RandomRun run(unitPs, seed);
            const auto breakdowns = BreakDown(run.graph, run.timeline);
            const auto traces = WriteKineto(run);
            ASSERT_EQ(traces.size(), 4u);
            for (DeviceId rank = 0; rank < 4; ++rank)
            {
                const Hta hta(traces[rank]);
                const DeviceBreakdown& b = breakdowns[rank];
                EXPECT_EQ(hta.rank, static_cast<int>(rank));
                const double slack =
                    unitPs == US ? 0 : 2.0 * static_cast<double>(Merge(hta.all).size());
                const auto expectNear = [&](int64_t us, int64_t ps, const char* what) {
                    EXPECT_NEAR(static_cast<double>(us), static_cast<double>(ps) / US, slack + 1e-9)
                        << what << " of rank " << rank;
                };
                const double compared =
                    unitPs == US ? 0 : 2.0 * static_cast<double>(hta.all.size());
                EXPECT_NEAR(static_cast<double>(hta.GetCompute()),
                            static_cast<double>(b.computePs) / US,
                            compared + 1e-9);
                EXPECT_NEAR(static_cast<double>(hta.GetCommunication()),
                            static_cast<double>(b.communicationKernelPs) / US,
                            compared + 1e-9);
                EXPECT_NEAR(static_cast<double>(hta.GetOverlap()),
                            static_cast<double>(b.overlapPs) / US,
                            compared + 1e-9);
                expectNear(hta.GetIdle(), b.GetIdleBetweenPs(), "idle time");
                expectNear(hta.GetKernelTime(), b.activityPs, "time of kernels");
                // Slices of one stream do not overlap.
                for (const auto& stream : hta.byStream)
                {
                    Intervals sorted = stream.second;
                    std::sort(sorted.begin(), sorted.end());
                    for (std::size_t i = 1; i < sorted.size(); ++i)
                    {
                        EXPECT_LE(sorted[i - 1].second, sorted[i].first);
                    }
                }
            }
        }
    }
}

TEST(KinetoTrace, IsReadBack)
{
    const RandomRun run(1000000);
    std::vector<TraceFile> files;
    for (const std::string& text : WriteKineto(run))
    {
        files.push_back({"rank " + std::to_string(files.size()),
                         [text] { return std::make_unique<std::istringstream>(text); }});
    }
    const ExecutionGraph graph = ReadKineto(files, "here");
    EXPECT_EQ(graph.GetNDevices(), 4u);
    std::map<std::pair<Collective, uint64_t>, std::size_t> expected;
    std::map<std::pair<Collective, uint64_t>, std::size_t> found;
    int64_t computePs = 0;
    int64_t foundPs = 0;
    for (const Task& task : run.graph.GetTasks())
    {
        if (task.kind == TaskKind::COMMUNICATION)
        {
            expected[{task.collective, task.bytes}] += 3; // micro-batches
        }
    }
    for (const Span& span : run.timeline.spans)
    {
        computePs +=
            run.graph.GetTask(span.task).kind == TaskKind::COMPUTE ? span.endPs - span.startPs : 0;
    }
    for (const Task& task : graph.GetTasks())
    {
        if (task.kind == TaskKind::COMMUNICATION)
        {
            ++found[{task.collective, task.bytes}];
        }
        else if (task.kind == TaskKind::COMPUTE && !graph.IsHostStream(task.stream))
        {
            foundPs += task.durationPs;
        }
    }
    EXPECT_EQ(found, expected);
    EXPECT_EQ(foundPs, computePs);
}

} // namespace proteus
} // namespace ns3
