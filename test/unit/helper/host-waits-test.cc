/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "start-program.h"

#include "ns3/proteus-host-waits.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// @param percent of a kernel of 300 ns that the host takes @return it, three times, one of 100 ns
/// without a host, and one on the host
ExecutionGraph
MakeGraph(uint8_t percent)
{
    GraphBuilder builder(1);
    const StreamId compute = builder.AddStream("compute");
    const StreamId host = builder.AddStream("host", StreamOrder::IN_ORDER, true);
    const PhaseId forward = builder.AddPhase("forward", 3);
    const PhaseId update = builder.AddPhase("update");
    Task hosted;
    hosted.kind = TaskKind::COMPUTE;
    hosted.phase = forward;
    hosted.stream = compute;
    hosted.durationPs = 300000;
    hosted.hostPercent = percent;
    builder.AddTask(hosted, "hosted", {});
    builder.AddCompute(update, 0, compute, "alone", 100000);
    builder.AddCompute(update, 0, host, "of the host", 7000000);
    return builder.Build();
}

} // namespace

TEST(HostWaits, AreThoseOfAllKernelsInAllMicroBatches)
{
    EXPECT_DOUBLE_EQ(GetHostShare(MakeGraph(50)), 0.45);
    EXPECT_DOUBLE_EQ(GetHostShare(MakeGraph(0)), 0);
    EXPECT_DOUBLE_EQ(GetHostShare(GraphBuilder(1).Build()), 0);
}

TEST(HostWaits, AreNotedFromAFifthOn)
{
    const auto note = [](uint8_t percent, const std::string& framework) {
        std::vector<std::string> notes;
        NoteHostWaits(MakeGraph(percent), framework, notes);
        return notes.empty() ? "" : notes[0];
    };
    EXPECT_EQ(note(20, "ddp"), "");
    EXPECT_NE(note(23, "ddp").find("for more than 20 % of the time of kernels"), std::string::npos);
    EXPECT_NE(note(100, "ddp").find("for more than 90 %"), std::string::npos);
    EXPECT_NE(note(50, "megatron-core").find("--framework=megatron-core-graphs"),
              std::string::npos);
}

TEST(HostWaits, StandBelowResults)
{
    const auto run = [](const std::string& framework) {
        return Start("run",
                     {MODEL,
                      "--variables=layers=2",
                      "--strategy=dp=2",
                      "--cluster=dgx-h100",
                      "--executor=flow",
                      "--quiet",
                      "--framework=" + framework})
            .out;
    };
    const std::string waits = "GPU waits for the host of megatron-core, which issues them";
    EXPECT_NE(run("megatron-core").find(waits), std::string::npos);
    EXPECT_EQ(run("megatron-core-graphs").find("waits for the host"), std::string::npos);
}
