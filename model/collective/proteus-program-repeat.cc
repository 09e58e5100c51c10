/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-program-repeat.h"

#include "proteus-algorithm-traits.h"

#include <set>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param blocks of a rank @return those with steps
std::vector<uint32_t>
ListWorking(const std::vector<ThreadBlock>& blocks)
{
    std::vector<uint32_t> working;
    for (uint32_t block = 0; block < blocks.size(); ++block)
    {
        if (!blocks[block].steps.empty())
        {
            working.push_back(block);
        }
    }
    return working;
}

/// Appends a kernel to those of a rank. @param kernel blocks of it, by number
/// @param startBytes of its blocks @param blocks of the rank so far, which get its steps
void
AppendKernel(const std::vector<ThreadBlock>& kernel,
             const std::vector<uint64_t>& startBytes,
             std::vector<ThreadBlock>& blocks)
{
    const std::vector<uint32_t> working = ListWorking(kernel);
    std::vector<uint32_t> done;
    for (const ThreadBlock& block : blocks)
    {
        done.push_back(static_cast<uint32_t>(block.steps.size()));
    }
    for (std::size_t i = 0; i < working.size(); ++i)
    {
        ThreadBlock& block = blocks[working[i]];
        const uint32_t other = working[(i + 1) % working.size()];
        Step start{StepKind::COPY, 0, startBytes[working[i]]};
        if (other != working[i])
        {
            start.waitBlock = other;
            start.waitStep = done[other] - 1;
        }
        block.steps.push_back(start);
        for (Step step : kernel[working[i]].steps)
        {
            // Behind the start of the kernel.
            step.waitStep += step.waitBlock == NO_BLOCK ? 0 : done[step.waitBlock] + 1;
            block.steps.push_back(step);
        }
    }
}

} // namespace

int64_t
GetLaunchPs(const CollectiveLaunchCost& cost, const CollectiveProgram& program, uint32_t rank)
{
    if (!GetAlgorithmTraits(program.algorithm).isLaunchedByPeer)
    {
        return cost.kernelPs + program.channels * cost.channelPs;
    }
    std::set<std::pair<uint32_t, uint32_t>> peers;
    for (const ThreadBlock& block : program.ranks[rank].blocks)
    {
        if (block.receivePeer != NO_RANK || block.sendPeer != NO_RANK)
        {
            peers.emplace(block.receivePeer, block.sendPeer);
        }
    }
    return cost.kernelPs + static_cast<int64_t>(peers.size()) * cost.peerPs;
}

CollectiveProgram
RepeatProgram(const CollectiveProgram& program,
              uint32_t times,
              const std::function<uint64_t(uint32_t rank, uint32_t block)>& getStartBytes)
{
    CollectiveProgram all = program;
    for (uint32_t rank = 0; rank < program.ranks.size(); ++rank)
    {
        const auto& kernel = program.ranks[rank].blocks;
        std::vector<uint64_t> startBytes;
        for (uint32_t block = 0; block < kernel.size(); ++block)
        {
            startBytes.push_back(getStartBytes(rank, block));
        }
        for (uint32_t i = 1; i < times; ++i)
        {
            AppendKernel(kernel, startBytes, all.ranks[rank].blocks);
        }
    }
    return all;
}

} // namespace proteus
} // namespace ns3
