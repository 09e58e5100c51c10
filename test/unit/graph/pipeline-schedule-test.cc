/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graph-error.h"

#include "ns3/proteus-graph.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return micro-batches alive at most, between their forward and their backward
uint32_t
CountAlive(const std::vector<ScheduleEntry>& schedule, PhaseId forward)
{
    uint32_t alive = 0;
    uint32_t peak = 0;
    for (const auto& entry : schedule)
    {
        alive += entry.phase == forward ? 1 : -1;
        peak = std::max(peak, alive);
    }
    return peak;
}

/// A stage task of a pipeline on its time axis.
struct Span
{
    ScheduleEntry entry;
    double start;
    double end;
};

/**
 * Runs the schedules of a pipeline: each stage its entries in order, each entry as soon as the
 * stage next to it is done with the micro-batch and the transfer has taken `latency`.
 */
std::vector<std::vector<Span>>
RunPipeline(PipelineSchedule kind,
            const std::vector<double>& forward,
            const std::vector<double>& backward,
            uint32_t microBatches,
            double latency)
{
    const auto stages = static_cast<uint32_t>(forward.size());
    std::vector<std::vector<ScheduleEntry>> schedules;
    for (uint32_t s = 0; s < stages; s++)
    {
        schedules.push_back(MakePipelineSchedule(kind, stages, s, microBatches, 0, 1));
    }
    constexpr double NEVER = std::numeric_limits<double>::infinity();
    // By stage, phase and micro-batch, when it ends.
    std::vector<std::vector<std::vector<double>>> done(
        stages,
        std::vector<std::vector<double>>(2, std::vector<double>(microBatches, NEVER)));
    std::vector<std::vector<Span>> spans(stages);
    for (bool isMoving = true; isMoving;)
    {
        isMoving = false;
        for (uint32_t s = 0; s < stages; s++)
        {
            if (spans[s].size() == schedules[s].size())
            {
                continue;
            }
            const ScheduleEntry entry = schedules[s][spans[s].size()];
            double ready = 0;
            if (entry.phase == 0)
            {
                ready = s == 0 ? 0 : done[s - 1][0][entry.microBatch] + latency;
            }
            else
            {
                ready = s + 1 == stages ? done[s][0][entry.microBatch]
                                        : done[s + 1][1][entry.microBatch] + latency;
            }
            if (ready == NEVER)
            {
                continue;
            }
            const double start = std::max(ready, spans[s].empty() ? 0 : spans[s].back().end);
            const double end = start + (entry.phase == 0 ? forward[s] : backward[s]);
            done[s][entry.phase][entry.microBatch] = end;
            spans[s].push_back({entry, start, end});
            isMoving = true;
        }
    }
    for (uint32_t s = 0; s < stages; s++)
    {
        EXPECT_EQ(spans[s].size(), schedules[s].size()) << "stage " << s << " waits forever";
    }
    return spans;
}

std::vector<double>
EndTimes(const std::vector<std::vector<Span>>& spans)
{
    std::vector<double> ends;
    for (const auto& stage : spans)
    {
        ends.push_back(stage.back().end);
    }
    return ends;
}

} // namespace

TEST(PipelineSchedules, Orders)
{
    const auto text = [](PipelineSchedule kind, uint32_t p, uint32_t s, uint32_t m) {
        std::string order;
        for (const auto& entry : MakePipelineSchedule(kind, p, s, m, 5, 7))
        {
            EXPECT_TRUE(entry.phase == 5 || entry.phase == 7);
            order += (entry.phase == 5 ? "F" : "B") + std::to_string(entry.microBatch) + " ";
        }
        return order;
    };
    constexpr auto GPIPE = PipelineSchedule::GPIPE;
    constexpr auto F1B1 = PipelineSchedule::ONE_FORWARD_ONE_BACKWARD;
    EXPECT_EQ(text(GPIPE, 4, 1, 3), "F0 F1 F2 B0 B1 B2 ");
    EXPECT_EQ(text(F1B1, 4, 1, 4), "F0 F1 F2 B0 F3 B1 B2 B3 "); // DistSim A11
    EXPECT_EQ(text(F1B1, 4, 3, 3), "F0 B0 F1 B1 F2 B2 ");
    EXPECT_EQ(text(F1B1, 4, 0, 2), "F0 F1 B0 B1 ");
    EXPECT_EQ(text(F1B1, 1, 0, 2), "F0 B0 F1 B1 ");
}

TEST(PipelineSchedules, Errors)
{
    constexpr auto GPIPE = PipelineSchedule::GPIPE;
    ExpectError([] { MakePipelineSchedule(GPIPE, 4, 4, 1, 0, 1); }, {"stage 4", "4 stages"});
    ExpectError([] { MakePipelineSchedule(GPIPE, 0, 0, 1, 0, 1); }, {"stage 0", "0 stages"});
    ExpectError([] { MakePipelineSchedule(GPIPE, 1, 0, 0, 0, 1); }, {"micro-batches", "not 0"});
}

/// DistSim A3.
TEST(PipelineSchedules, LiveMicroBatches)
{
    for (uint32_t p = 1; p <= 6; p++)
    {
        for (uint32_t m = 1; m <= 9; m++)
        {
            for (uint32_t s = 0; s < p; s++)
            {
                const auto gpipe = MakePipelineSchedule(PipelineSchedule::GPIPE, p, s, m, 0, 1);
                const auto dapple =
                    MakePipelineSchedule(PipelineSchedule::ONE_FORWARD_ONE_BACKWARD, p, s, m, 0, 1);
                EXPECT_EQ(gpipe.size(), 2 * m);
                EXPECT_EQ(dapple.size(), 2 * m);
                EXPECT_EQ(CountAlive(gpipe, 0), m);
                EXPECT_EQ(CountAlive(dapple, 0), std::min(m, p - s)) << p << " " << s << " " << m;
            }
        }
    }
}

/// DistSim A1, A4 to A8: times follow from the orders.
TEST(PipelineSchedules, Times)
{
    constexpr auto GPIPE = PipelineSchedule::GPIPE;
    constexpr auto F1B1 = PipelineSchedule::ONE_FORWARD_ONE_BACKWARD;
    const auto ends = [](PipelineSchedule kind, std::size_t p, uint32_t m, double c) {
        return EndTimes(
            RunPipeline(kind, std::vector<double>(p, 1), std::vector<double>(p, 2), m, c));
    };
    const std::vector<std::vector<uint32_t>> a1{{4, 4, 21},
                                                {4, 8, 33},
                                                {8, 8, 45},
                                                {8, 32, 117},
                                                {4, 1, 12},
                                                {1, 4, 12}};
    for (const auto& row : a1)
    {
        EXPECT_EQ(ends(GPIPE, row[0], row[1], 0)[0], row[2]);
        EXPECT_EQ(ends(F1B1, row[0], row[1], 0)[0], row[2]);
    }
    for (const auto kind : {GPIPE, F1B1})
    {
        EXPECT_EQ(ends(kind, 4, 8, 0), (std::vector<double>{33, 31, 29, 27}));
        EXPECT_EQ(ends(kind, 4, 4, 0), (std::vector<double>{21, 19, 17, 15}));
        EXPECT_EQ(EndTimes(RunPipeline(kind, {1, 3}, {2, 6}, 4, 0))[0], 39); // A8
    }
    EXPECT_EQ(ends(GPIPE, 4, 8, 0.5)[0], 36); // A5
    EXPECT_EQ(ends(GPIPE, 2, 4, 0.5)[0], 16);
    EXPECT_EQ(ends(F1B1, 4, 8, 0.5)[0], 41); // A6
    EXPECT_EQ(ends(F1B1, 2, 4, 0.5)[0], 17);
    EXPECT_EQ(ends(F1B1, 4, 4, 0.5)[0], 26);
    EXPECT_NEAR(ends(F1B1, 8, 32, 0.1)[0], 123.8, 1e-9);
    EXPECT_EQ(EndTimes(RunPipeline(GPIPE, {1, 2, 1}, {2, 4, 2}, 4, 0)), // A7
              (std::vector<double>{30, 28, 18}));
    EXPECT_EQ(EndTimes(RunPipeline(F1B1, {1, 2, 1}, {2, 4, 2}, 4, 0)),
              (std::vector<double>{28, 26, 21}));
}

/// DistSim A11.
TEST(PipelineSchedules, StageOneOfFour)
{
    const auto spans = RunPipeline(PipelineSchedule::ONE_FORWARD_ONE_BACKWARD,
                                   {1, 1, 1, 1},
                                   {2, 2, 2, 2},
                                   4,
                                   0)[1];
    const std::vector<std::pair<double, double>>
        expected{{1, 2}, {2, 3}, {3, 4}, {8, 10}, {10, 11}, {11, 13}, {14, 16}, {17, 19}};
    ASSERT_EQ(spans.size(), expected.size());
    for (std::size_t i = 0; i < spans.size(); i++)
    {
        EXPECT_EQ(spans[i].start, expected[i].first) << i;
        EXPECT_EQ(spans[i].end, expected[i].second) << i;
    }
}

} // namespace proteus
} // namespace ns3
