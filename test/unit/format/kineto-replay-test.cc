/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "kineto-text.h"

#include "ns3/proteus-kineto.h"
#include "ns3/proteus-recording.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

constexpr double PS_PER_US = 1e6;

/// When the tasks of a graph of one rank without communication end, in order of their ids: each
/// begins when its stream and what it depends on are done.
std::vector<int64_t>
RunBack(const ExecutionGraph& graph)
{
    std::vector<int64_t> ends(graph.GetNTasks(), -1);
    const auto end = [&](auto&& self, TaskId id, const auto& before) -> int64_t {
        if (ends[id] < 0)
        {
            int64_t begin = before[id] == graph.GetNTasks() ? 0 : self(self, before[id], before);
            for (const TaskId dependency : graph.GetDependencies(id))
            {
                begin = std::max(begin, self(self, dependency, before));
            }
            ends[id] = begin + graph.GetTask(id).durationPs;
        }
        return ends[id];
    };
    std::vector<TaskId> before; // on its stream
    std::map<StreamId, TaskId> last;
    for (TaskId id = 0; id < graph.GetNTasks(); id++)
    {
        const auto [place, isFirst] = last.emplace(graph.GetTask(id).stream, id);
        before.push_back(isFirst ? graph.GetNTasks() : place->second);
        place->second = id;
    }
    for (TaskId id = 0; id < graph.GetNTasks(); id++)
    {
        end(end, id, before);
    }
    return ends;
}

/// A recording as a GPU makes one: kernels begin some time after their launches and what is before
/// them on their streams, calls return some time after what they wait for.
class RandomRecording
{
  public:
    explicit RandomRecording(uint32_t seed)
        : m_random(seed)
    {
        Launch();                   // the first event, at 0
        const int64_t n = Pick(60); // of few, none communicates
        for (int64_t i = 0; i < n; i++)
        {
            Pick(5) == 0 ? Synchronize() : Launch();
        }
    }

    const TraceText& GetText() const
    {
        return m_text;
    }

    /// @return by name, when it ends, picoseconds from the first event
    const std::map<std::string, int64_t>& GetEnds() const
    {
        return m_ends;
    }

    bool HasCommunication() const
    {
        return std::any_of(m_ends.begin(), m_ends.end(), [](const auto& end) {
            return end.first.rfind("nccl", 0) == 0;
        });
    }

  private:
    /// @return from 0 to @p most
    int64_t Pick(int64_t most)
    {
        return std::uniform_int_distribution<int64_t>(0, most)(m_random);
    }

    /// @return some microseconds: mostly few, seldom many
    int64_t PickLate()
    {
        return Pick(6) == 0 ? Pick(400) : Pick(9);
    }

    void Launch()
    {
        const int stream = 7 + static_cast<int>(Pick(2));
        const int64_t begin = m_hostUs + (m_ends.empty() ? 0 : Pick(30));
        const int64_t length = Pick(4);
        m_hostUs = begin + length;
        m_text.Call("cudaLaunchKernel",
                    static_cast<double>(begin),
                    static_cast<double>(length),
                    ++m_correlation);
        const int64_t start = std::max(m_hostUs, m_streamUs[stream]) + PickLate();
        m_streamUs[stream] = start + Pick(100);
        const std::string name = Pick(3) == 0
                                     ? "ncclKernel_AllReduce " + std::to_string(m_correlation)
                                     : "kernel " + std::to_string(m_correlation);
        m_text.Kernel(name,
                      stream,
                      static_cast<double>(start),
                      static_cast<double>(m_streamUs[stream] - start),
                      m_correlation);
        m_ends[name] = m_streamUs[stream] * static_cast<int64_t>(PS_PER_US);
    }

    void Synchronize()
    {
        const int64_t begin = m_hostUs + Pick(30);
        int64_t end = begin;
        for (const auto& [stream, us] : m_streamUs)
        {
            end = std::max(end, us);
        }
        m_hostUs = end + PickLate();
        m_text.Call("cudaDeviceSynchronize",
                    static_cast<double>(begin),
                    static_cast<double>(m_hostUs - begin),
                    ++m_correlation);
    }

    std::mt19937 m_random;
    TraceText m_text;
    int m_correlation{0};
    int64_t m_hostUs{0};
    std::map<int, int64_t> m_streamUs;
    std::map<std::string, int64_t> m_ends;
};

} // namespace

TEST(KinetoReplay, ATraceWithRecordedCommunicationTakesTheTimeThatItTook)
{
    TraceOptions options;
    options.isCommunicationRecorded = true;
    for (uint32_t seed = 0; seed < 200; seed++)
    {
        const RandomRecording recorded(seed);
        bool isIdle = false;
        const WarningListener listener([&isIdle](const std::string& text) {
            isIdle |= text.find("has no effect: there is none") != std::string::npos;
            return false;
        });
        Recording recording;
        const ExecutionGraph graph =
            ReadKineto(MakeTraceFiles({recorded.GetText().Get()}), "trace", options, &recording);
        EXPECT_TRUE(recording.collectives.empty());
        EXPECT_EQ(isIdle, !recorded.HasCommunication());
        const std::vector<int64_t> ends = RunBack(graph);
        std::size_t nKernels = 0;
        for (TaskId id = 0; id < graph.GetNTasks(); id++)
        {
            const auto found = recorded.GetEnds().find(graph.GetName(graph.GetTask(id)));
            if (found != recorded.GetEnds().end())
            {
                ++nKernels;
                EXPECT_EQ(ends[id], found->second) << "seed " << seed << ", " << found->first;
            }
        }
        EXPECT_EQ(nKernels, recorded.GetEnds().size());
        EXPECT_NEAR(recording.lengthS,
                    static_cast<double>(*std::max_element(ends.begin(), ends.end())) * 1e-12,
                    1e-12)
            << seed;
    }
}

TEST(KinetoReplay, LongPausesAreNamedAndAreTheHosts)
{
    TraceText text;
    text.Kernel("a", 7, 10, 50, 1).Call("cudaLaunchKernel", 0, 5, 1);
    text.Kernel("b", 7, 63, 5, 2).Call("cudaLaunchKernel", 6, 5, 2);
    text.Kernel("c", 7, 168, 5, 3).Call("cudaLaunchKernel", 12, 5, 3); // 100 us for no known cause
    std::vector<std::string> warnings;
    const WarningListener listener([&warnings](const std::string& warning) {
        warnings.push_back(warning);
        return false;
    });
    const ExecutionGraph graph = ReadKineto(MakeTraceFiles({text.Get()}), "trace");
    ASSERT_EQ(graph.GetStreams(),
              (std::vector<std::string>{"host", "stream 7", "pauses of stream 7"}));
    EXPECT_TRUE(graph.IsHostStream(2));
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(
        warnings[0].find("1 pause before kernels and copies, 100.000 us of a rank, that nothing"),
        std::string::npos)
        << warnings[0];
    EXPECT_EQ(RunBack(graph).back(), 168000000); // the pause
    // What a GPU needs to begin is no pause.
    TraceText quick;
    quick.Kernel("a", 7, 25, 50, 1).Call("cudaLaunchKernel", 0, 5, 1);
    ReadKineto(MakeTraceFiles({quick.Get()}), "trace");
    EXPECT_EQ(warnings.size(), 1u);
}

TEST(KinetoReplay, RecordedTimesOfCollectivesAreThoseOfTheLastToJoin)
{
    const auto rank = [](int own, double sum, double gather) {
        const std::string of =
            R"("Collective name": "allreduce", "In msg nelems": 256, "Out msg nelems": 256, )"
            R"("Group size": 2, "dtype": "Float", "Process Group Name": "tp")";
        std::string gathered = of;
        gathered.replace(gathered.find("allreduce"), 9, "allgather");
        gathered.replace(gathered.find(R"("Out msg nelems": 256)"), 21, R"("Out msg nelems": 512)");
        TraceText text;
        text.Kernel("ncclKernel_AllReduce", 20, 100, sum, 1, of);
        text.Kernel("ncclKernel_AllReduce", 20, 200, 2 * sum, 2, of);
        text.Kernel("ncclKernel_AllGather", 20, 400, gather, 3, gathered);
        return text.Get(own, 2);
    };
    Recording recording;
    ReadKineto(MakeTraceFiles({rank(0, 30, 8), rank(1, 20, 9)}), "trace", {}, &recording);
    EXPECT_FALSE(recording.isOneForAll);
    ASSERT_EQ(recording.collectives.size(), 2u);
    const RecordedCollective& sum = recording.collectives[0];
    EXPECT_EQ(sum.collective, Collective::ALL_REDUCE);
    EXPECT_EQ(sum.bytes, 1024u);
    EXPECT_EQ(sum.ranks, 2u);
    EXPECT_EQ(sum.count, 2u);
    EXPECT_DOUBLE_EQ(sum.meanS, 30e-6); // of 20 and 40
    EXPECT_DOUBLE_EQ(sum.leastS, 20e-6);
    EXPECT_DOUBLE_EQ(recording.collectives[1].meanS, 8e-6);
    EXPECT_DOUBLE_EQ(recording.lengthS, 309e-6);
    ReadKineto(MakeTraceFiles({rank(0, 30, 8)}), "trace", {}, &recording);
    EXPECT_TRUE(recording.isOneForAll);
}
