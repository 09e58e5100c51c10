/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-clusters.h"

#include "ns3/proteus-program-builder.h"

#include <gtest/gtest.h>
#include <string>

using namespace ns3::proteus;

namespace
{

/// A program of ranks with one block each, for an all-reduce of 8 bytes.
struct Handmade
{
    explicit Handmade(uint32_t ranks)
    {
        request.bytes = 8;
        request.vertices.resize(ranks);
        program.bufferBytes = 8;
        program.ranks.resize(ranks);
    }

    ThreadBlock& Add(uint32_t rank, uint32_t receivePeer, uint32_t sendPeer)
    {
        program.ranks[rank].blocks.emplace_back();
        ThreadBlock& block = program.ranks[rank].blocks.back();
        block.receivePeer = receivePeer;
        block.sendPeer = sendPeer;
        return block;
    }

    std::string Check() const
    {
        return CheckProgram(program, request);
    }

    CollectiveRequest request;
    CollectiveProgram program;
};

bool
Has(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

} // namespace

TEST(CollectiveCheck, NamesStepsThatWaitForEachOther)
{
    Handmade ring(3);
    for (uint32_t rank = 0; rank < 3; ++rank)
    {
        auto& block = ring.Add(rank, (rank + 2) % 3, (rank + 1) % 3);
        block.steps = {{StepKind::RECV_REDUCE_SEND, 0, 8}, {StepKind::SEND, 0, 8}};
    }
    EXPECT_EQ(
        ring.Check(),
        "rank 0, channel 0, step 0: waits for ever for a chunk from rank 2, channel 0, step 0 "
        "waits for a chunk from rank 1, channel 0, step 0 waits for a chunk from rank 0, "
        "channel 0, step 0");

    // Two blocks of one rank that wait for each other.
    Handmade pair(2);
    for (uint32_t rank = 0; rank < 2; ++rank)
    {
        pair.Add(rank, NO_RANK, 1 - rank).steps = {{StepKind::SEND, 0, 8}};
        pair.Add(rank, 1 - rank, NO_RANK).steps = {{StepKind::RECV_REDUCE, 0, 8}};
    }
    EXPECT_TRUE(Has(pair.Check(), "twice") || pair.Check() == ""); // who comes first?
    auto& blocks = pair.program.ranks[0].blocks;
    blocks[0].steps[0].waitBlock = 1;
    blocks[1].steps[0].waitBlock = 0;
    EXPECT_EQ(
        pair.Check(),
        "rank 0, channel 0, step 0: waits for ever for another block of its rank from rank 0, "
        "channel 0, block 1, step 0 waits for another block of its rank from rank 0, channel "
        "0, step 0");
    blocks[0].steps[0].waitStep = 7;
    EXPECT_TRUE(Has(pair.Check(), "a step that there is not"));
}

TEST(CollectiveCheck, FindsResultsThatDependOnWhoComesFirst)
{
    // Each rank adds what it gets and sends what it has, in two blocks that do not wait.
    Handmade pair(2);
    for (uint32_t rank = 0; rank < 2; ++rank)
    {
        pair.Add(rank, NO_RANK, 1 - rank).steps = {{StepKind::SEND, 0, 8}};
        pair.Add(rank, 1 - rank, NO_RANK).steps = {{StepKind::RECV_REDUCE, 0, 8}};
    }
    const std::string error = pair.Check();
    EXPECT_TRUE(Has(error, "twice") || Has(error, "wrong contributions")) << error;
    // When the sum waits until its own part is sent, it is right.
    for (uint32_t rank = 0; rank < 2; ++rank)
    {
        pair.program.ranks[rank].blocks[1].steps[0].waitBlock = 0;
    }
    EXPECT_EQ(pair.Check(), "");
}

TEST(CollectiveCheck, LocalStepsAndOtherSources)
{
    // Rank 1 keeps what it gets behind the buffer, adds it, and sends it back.
    Handmade pair(2);
    pair.program.bufferBytes = 16;
    pair.Add(0, 1, 1).steps = {{StepKind::SEND, 0, 8}, {StepKind::RECV, 0, 8}};
    Step reduce{StepKind::REDUCE, 0, 8};
    reduce.source = 8;
    pair.Add(1, 0, 0).steps = {{StepKind::RECV, 8, 8}, reduce, {StepKind::SEND, 0, 8}};
    EXPECT_EQ(pair.Check(), "");
    pair.program.ranks[1].blocks[0].steps[1].kind = StepKind::COPY;
    EXPECT_TRUE(Has(pair.Check(), "wrong contributions"));
    pair.program.ranks[1].blocks[0].steps[1].source = 9;
    EXPECT_TRUE(Has(pair.Check(), "reaches past the buffer"));
    pair.program.ranks[1].blocks[0].steps[1] = {StepKind::SEND, 4, 4};
    EXPECT_FALSE(pair.Check().empty());
    pair.program.ranks[1].blocks[0].steps[0] = {StepKind::RECV, 8, 4};
    EXPECT_TRUE(Has(pair.Check(), "another size"));
}

TEST(CollectiveCheck, NetworkGroups)
{
    Handmade pair(2);
    pair.program.groups = {{{0, 1}}};
    for (uint32_t rank = 0; rank < 2; ++rank)
    {
        auto& block = pair.Add(rank, NO_RANK, NO_RANK);
        block.group = 0;
        block.steps = {{StepKind::GROUP_ALL_REDUCE, 0, 8}, {StepKind::GROUP_RECV, 0, 8}};
    }
    const Handmade good = pair;
    EXPECT_EQ(good.Check(), "");

    pair.program.ranks[1].blocks[0].steps.erase(pair.program.ranks[1].blocks[0].steps.begin());
    EXPECT_TRUE(
        Has(pair.Check(), "rank 0, channel 0, step 1: waits for ever for its network group"))
        << pair.Check();
    pair = good;
    pair.program.ranks[1].blocks[0].steps.pop_back();
    EXPECT_TRUE(Has(pair.Check(), "results of its network group unread"));
    pair = good;
    pair.program.ranks[1].blocks[0].steps[0].bytes = 4;
    EXPECT_TRUE(Has(pair.Check(), "another reduction than the other members"));
    pair = good;
    pair.program.ranks[1].blocks[0].group = 1;
    EXPECT_TRUE(Has(pair.Check(), "no such network group"));
    pair = good;
    pair.program.groups[0].members = {0};
    EXPECT_TRUE(Has(pair.Check(), "not between members"));
    pair = good;
    pair.program.ranks[0].blocks.push_back(pair.program.ranks[0].blocks[0]);
    EXPECT_TRUE(Has(pair.Check(), "another block"));

    // A sender that does not ask whether there is room.
    Handmade broadcast(2);
    broadcast.request.collective = Collective::BROADCAST;
    broadcast.program.groups = {{{0, 1}}};
    for (uint32_t rank = 0; rank < 2; ++rank)
    {
        auto& taker = broadcast.Add(rank, NO_RANK, NO_RANK);
        taker.group = 0;
        Step take{StepKind::GROUP_RECV, 0, 8};
        take.peer = 0;
        taker.steps.assign(9, take);
    }
    auto& sender = broadcast.Add(0, NO_RANK, NO_RANK);
    sender.group = 0;
    sender.steps.assign(9, {StepKind::GROUP_MULTICAST, 0, 8});
    EXPECT_TRUE(Has(broadcast.Check(), "no room for a multicast")) << broadcast.Check();
    sender.steps.pop_back();
    for (uint32_t rank = 0; rank < 2; ++rank)
    {
        broadcast.program.ranks[rank].blocks[0].steps.pop_back();
    }
    EXPECT_EQ(broadcast.Check(), "");
}

TEST(ProgramBuilder, WaitsForWhatTouchesTheSameBytesAndNothingElse)
{
    CollectiveRequest request;
    request.bytes = 100;
    request.vertices.resize(4);
    ProgramBuilder builder(request, "test", 1);
    // Of rank 0: two receptions into halves, one of the whole, one that only reads.
    const uint32_t first = builder.GetBlock(0, 0, 1, NO_RANK);
    const uint32_t second = builder.GetBlock(0, 0, 2, NO_RANK);
    const uint32_t third = builder.GetBlock(0, 0, NO_RANK, 3);
    const uint32_t fourth = builder.GetBlock(0, 0, 3, NO_RANK);
    builder.Append(0, first, {StepKind::RECV, 0, 50});
    builder.Append(0, second, {StepKind::RECV, 50, 50});
    builder.Append(0, third, {StepKind::SEND, 0, 40});   // waits for the first
    builder.Append(0, third, {StepKind::SEND, 40, 10});  // that is known
    builder.Append(0, third, {StepKind::SEND, 45, 10});  // waits for the second
    builder.Append(0, fourth, {StepKind::RECV, 60, 40}); // overwrites: waits for the second
    builder.Append(0, fourth, {StepKind::RECV, 0, 60});  // for the first and all sends
    const auto program = builder.Finish();
    const auto& blocks = program.ranks[0].blocks;
    const auto waits = [&](uint32_t block, std::size_t step) {
        return blocks[block].steps.at(step).waitBlock;
    };
    EXPECT_EQ(waits(first, 0), NO_BLOCK);
    EXPECT_EQ(waits(second, 0), NO_BLOCK);
    EXPECT_EQ(waits(third, 0), first);
    EXPECT_EQ(waits(third, 1), NO_BLOCK);
    EXPECT_EQ(waits(third, 2), second);
    EXPECT_EQ(waits(fourth, 0), second);
    // The sends have waited for the first, so the last one alone stands for all.
    ASSERT_EQ(blocks[fourth].steps.size(), 2u);
    EXPECT_EQ(waits(fourth, 1), third);
    EXPECT_EQ(blocks[fourth].steps[1].waitStep, 2u);
}
