/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-program-repeat.h"

#include <cstdint>
#include <gtest/gtest.h>

using namespace ns3::proteus;

namespace
{

/// @return a chain of two ranks with two channels of two chunks
CollectiveProgram
MakeChain()
{
    CollectiveProgram program;
    program.algorithm = "ring";
    program.channels = 2;
    program.bufferBytes = 400;
    program.ranks.resize(2);
    for (uint16_t channel = 0; channel < 2; ++channel)
    {
        ThreadBlock sender;
        sender.channel = channel;
        sender.processor = channel;
        sender.sendPeer = 1;
        ThreadBlock receiver = sender;
        receiver.sendPeer = NO_RANK;
        receiver.receivePeer = 0;
        for (uint64_t chunk = 0; chunk < 2; ++chunk)
        {
            sender.steps.push_back({StepKind::SEND, channel * 200 + chunk * 100, 100});
            receiver.steps.push_back({StepKind::RECV, channel * 200 + chunk * 100, 100});
        }
        program.ranks[0].blocks.push_back(sender);
        program.ranks[1].blocks.push_back(receiver);
    }
    return program;
}

} // namespace

TEST(ProgramRepeat, KernelsFollowEachOther)
{
    const CollectiveProgram program = MakeChain();
    const CollectiveProgram all =
        RepeatProgram(program, 3, [](uint32_t rank, uint32_t block) -> uint64_t {
            return 10 * rank + block + 1;
        });
    EXPECT_EQ(all.slots, program.slots);
    for (uint32_t rank = 0; rank < 2; ++rank)
    {
        for (uint32_t number = 0; number < 2; ++number)
        {
            const auto& kernel = program.ranks[rank].blocks[number].steps;
            const auto& steps = all.ranks[rank].blocks[number].steps;
            ASSERT_EQ(steps.size(), 3 * kernel.size() + 2);
            EXPECT_EQ(steps[0].waitBlock, NO_BLOCK) << "the first kernel is launched by itself";
            for (uint32_t i = 1; i < 3; ++i)
            {
                // Behind the last step of the other block in the kernel before.
                const Step& start = steps[i * (kernel.size() + 1) - 1];
                EXPECT_EQ(start.kind, StepKind::COPY);
                EXPECT_EQ(start.bytes, 10 * rank + number + 1);
                EXPECT_EQ(start.waitBlock, 1 - number);
                EXPECT_EQ(start.waitStep, i * (kernel.size() + 1) - 2);
                EXPECT_EQ(steps[i * (kernel.size() + 1)].kind, kernel[0].kind);
                EXPECT_EQ(steps[i * (kernel.size() + 1)].offset, kernel[0].offset);
            }
        }
    }
}

TEST(ProgramRepeat, StepsWaitInTheirOwnKernel)
{
    CollectiveProgram program = MakeChain();
    Step& second = program.ranks[0].blocks[1].steps[1];
    second.waitBlock = 0;
    second.waitStep = 1;
    const CollectiveProgram all =
        RepeatProgram(program, 2, [](uint32_t, uint32_t) -> uint64_t { return 0; });
    const auto& steps = all.ranks[0].blocks[1].steps;
    EXPECT_EQ(steps[1].waitStep, 1u);
    EXPECT_EQ(steps[4].waitBlock, 0u);
    EXPECT_EQ(steps[4].waitStep, 4u); // two steps and the start before
}

TEST(ProgramRepeat, ABlockAloneWaitsForNone)
{
    CollectiveProgram program = MakeChain();
    for (RankProgram& rank : program.ranks)
    {
        rank.blocks[1].steps.clear();
    }
    const CollectiveProgram all =
        RepeatProgram(program, 2, [](uint32_t, uint32_t) -> uint64_t { return 5; });
    EXPECT_EQ(all.ranks[0].blocks[0].steps[2].waitBlock, NO_BLOCK);
    EXPECT_TRUE(all.ranks[0].blocks[1].steps.empty());
}

TEST(ProgramRepeat, LaunchesCountChannelsOrPeers)
{
    const CollectiveLaunchCost cost{4000, 200, 500, 0};
    CollectiveProgram program = MakeChain();
    EXPECT_EQ(GetLaunchPs(cost, program, 0), 4000 + 2 * 200);
    program.algorithm = "direct";
    EXPECT_EQ(GetLaunchPs(cost, program, 0), 4000 + 500); // one peer, over two channels
}
