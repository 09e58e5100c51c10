/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-program-facts.h"

#include "ns3/proteus-protocol.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

ProgramFacts
MakeProgramFacts(const CollectiveProgram& program)
{
    ProgramFacts facts{BlockShares(program), 0, {}};
    const ProtocolTraits& traits = GetTraits(program.protocol);
    facts.waiters.resize(program.ranks.size());
    for (std::size_t rank = 0; rank < program.ranks.size(); ++rank)
    {
        const auto& blocks = program.ranks[rank].blocks;
        auto& waiters = facts.waiters[rank];
        waiters.resize(blocks.size());
        for (uint32_t block = 0; block < blocks.size(); ++block)
        {
            for (const Step& step : blocks[block].steps)
            {
                if (Sends(step.kind) || SendsToGroup(step.kind))
                {
                    // A step without bytes is a flag, which has at least one.
                    facts.sentBytes += std::max<uint64_t>(traits.WireBytes(step.bytes), 1);
                }
                if (step.waitBlock != NO_BLOCK && step.waitBlock != block &&
                    (waiters[step.waitBlock].empty() || waiters[step.waitBlock].back() != block))
                {
                    waiters[step.waitBlock].push_back(block);
                }
            }
        }
    }
    return facts;
}

} // namespace proteus
} // namespace ns3
