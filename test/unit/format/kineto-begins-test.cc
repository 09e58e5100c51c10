/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "kineto-text.h"

#include "ns3/proteus-kineto.h"
#include "ns3/proteus-recording.h"
#include "ns3/proteus-warning.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// Part of a rank in a collective of two.
struct Part
{
    std::string ranks; //!< of the group
    double startUs;    //!< by the clock of nobody
    double endUs;
};

/// @param rank whose file it is @param clockUs how much its clock is ahead @param beginUs of its
/// first event @param parts collectives @return the file, of three ranks
std::string
WriteRank(int rank, double clockUs, double beginUs, const std::vector<Part>& parts)
{
    TraceText text;
    text.Call("cudaLaunchKernel", clockUs + beginUs, 5, 1);
    text.Kernel("gemm", 7, clockUs + beginUs + 6, 20, 1);
    int correlation = 1;
    for (const Part& part : parts)
    {
        correlation++;
        text.Call("cudaLaunchKernel", clockUs + part.startUs - 10, 5, correlation);
        text.Kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                    20,
                    clockUs + part.startUs,
                    part.endUs - part.startUs,
                    correlation,
                    R"("Collective name": "allreduce", "In msg nelems": 8, "Out msg nelems": 8, )"
                    R"("Group size": 2, "dtype": "Float", "Process Group Name": "0", )"
                    R"("Process Group Ranks": )" +
                        part.ranks);
    }
    return text.Get(rank, 3);
}

/// A graph, what it says of the recording, and what was warned of.
struct Result
{
    ExecutionGraph graph;
    Recording recording;
    std::vector<std::string> warnings;

    /// @return by rank, picoseconds of its begin
    std::map<DeviceId, int64_t> GetBegins() const
    {
        std::map<DeviceId, int64_t> begins;
        for (const Task& task : graph.GetTasks())
        {
            if (graph.GetName(task) == "begin of the recording")
            {
                begins[task.place] = task.durationPs;
            }
        }
        return begins;
    }
};

Result
Read(const std::vector<std::string>& texts)
{
    Result result;
    const WarningListener listener([&result](const std::string& text) {
        result.warnings.push_back(text);
        return false;
    });
    result.graph = ReadKineto(MakeTraceFiles(texts), "trace", {}, &result.recording);
    return result;
}

TEST(KinetoBegins, FollowFromTheEndsOfCollectivesWhateverTheClocks)
{
    const std::string low = "[0, 1]";
    const std::string high = "[1, 2]";
    const Result result = Read({WriteRank(0, 0, 0, {{low, 100, 4000}}),
                                WriteRank(1, 7e6, 3000, {{low, 3100, 4000}, {high, 4100, 5000}}),
                                WriteRank(2, 300, 1000, {{high, 1200, 5000}})});
    EXPECT_EQ(result.GetBegins(), (std::map<DeviceId, int64_t>{{1, 3000000000}, {2, 1000000000}}));
    EXPECT_DOUBLE_EQ(result.recording.lengthS, 5000e-6);
    ASSERT_EQ(result.warnings.size(), 1u);
    EXPECT_EQ(result.warnings[0],
              "trace: its ranks began up to 3.000 ms after each other, as the ends of their first "
              "collectives tell: kept as recorded, as time of the host");
    // Nothing of a rank comes before its begin.
    uint32_t nFirst = 0;
    for (TaskId id = 0; id < result.graph.GetNTasks(); id++)
    {
        const auto& before = result.graph.GetDependencies(id);
        if (before.begin() == before.end() &&
            result.graph.GetName(result.graph.GetTask(id)) != "begin of the recording")
        {
            EXPECT_EQ(result.graph.GetTask(id).place, 0u)
                << result.graph.GetName(result.graph.GetTask(id));
            nFirst++;
        }
    }
    EXPECT_EQ(nFirst, 1u); // the first call of rank 0
}

TEST(KinetoBegins, AreTheSameWhereEndsDifferByWhatRanksSeeThemLate)
{
    const std::string all = "[0, 1]";
    const Result result = Read({WriteRank(0, 0, 0, {{all, 100, 400}}),
                                WriteRank(1, 0, 0, {{all, 100, 419}, {"[1, 2]", 500, 600}}),
                                WriteRank(2, 0, 0, {{"[1, 2]", 450, 600}})});
    EXPECT_TRUE(result.GetBegins().empty());
    EXPECT_TRUE(result.warnings.empty()) << result.warnings.front();
}

TEST(KinetoBegins, OfRanksThatNothingConnectsAreTheSame)
{
    const std::string two = "[0, 1]";
    const Result result = Read({WriteRank(0, 0, 0, {{two, 100, 4000}}),
                                WriteRank(1, 0, 3000, {{two, 3100, 4000}}),
                                WriteRank(2, 0, 2000, {})});
    EXPECT_EQ(result.GetBegins(), (std::map<DeviceId, int64_t>{{1, 3000000000}}));
    EXPECT_EQ(result.warnings.size(), 1u); // of the two, and not that rank 2 is alone
}

TEST(KinetoBegins, MessagesDoNotTell)
{
    const auto rank = [](int own) {
        TraceText text;
        text.Call("cudaLaunchKernel", own * 1000.0, 5, 1);
        text.Kernel("ncclDevKernel_SendRecv",
                    20,
                    own * 1000.0 + 10,
                    2000,
                    1,
                    std::string(R"("Collective name": ")") + (own == 0 ? "send" : "recv") +
                        R"(", "In msg nelems": 8, "Out msg nelems": 8, "Group size": 2, )"
                        R"("dtype": "Float", "Process Group Name": "0", )"
                        R"("Process Group Ranks": "[0, 1]", "Src Rank": 0, "Dst Rank": 1)");
        return text.Get(own, 2);
    };
    const Result result = Read({rank(0), rank(1)});
    EXPECT_TRUE(result.GetBegins().empty());
    ASSERT_EQ(result.warnings.size(), 1u);
    EXPECT_EQ(result.warnings[0],
              "trace: only messages connect 2 parts of the job, which do not tell when the ranks "
              "began: these parts begin at once");
}

} // namespace
