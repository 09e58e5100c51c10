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

ProgramFacts::ProgramFacts(const CollectiveProgram& program)
    : shares(program),
      waiters(FindWaiters(program))
{
    const ProtocolTraits& traits = GetTraits(program.protocol);
    for (const RankProgram& rank : program.ranks)
    {
        const uint64_t before = sentBytes;
        for (const ThreadBlock& block : rank.blocks)
        {
            for (const Step& step : block.steps)
            {
                if (Sends(step.kind) || SendsToGroup(step.kind))
                {
                    // A step without bytes is a flag, which has at least one.
                    sentBytes += std::max<uint64_t>(traits.WireBytes(step.bytes), 1);
                }
            }
        }
        mostSentBytes = std::max(mostSentBytes, sentBytes - before);
    }
}

const ProgramFacts&
ProgramFactsTable::Get(const CollectiveProgram& program)
{
    auto& facts = m_facts[&program];
    if (!facts)
    {
        facts = std::make_unique<const ProgramFacts>(program);
    }
    return *facts;
}

} // namespace proteus
} // namespace ns3
