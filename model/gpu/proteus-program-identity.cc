/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-program-identity.h"

#include "ns3/proteus-flow-hash.h"

#include <algorithm>
#include <tuple>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return all that a step says
auto
Tie(const Step& step)
{
    return std::tie(step.kind,
                    step.offset,
                    step.bytes,
                    step.source,
                    step.waitBlock,
                    step.waitStep,
                    step.peer,
                    step.endsChunk);
}

/// @return whether two ranges are equal, element by element
template <typename T, typename EQUAL>
bool
AreEqual(const std::vector<T>& a, const std::vector<T>& b, EQUAL equal)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), equal);
}

/// @return whether two thread blocks do the same
bool
AreEqual(const ThreadBlock& a, const ThreadBlock& b)
{
    return std::tie(a.channel, a.receivePeer, a.sendPeer, a.group, a.processor, a.warps) ==
               std::tie(b.channel, b.receivePeer, b.sendPeer, b.group, b.processor, b.warps) &&
           AreEqual(a.steps, b.steps, [](const Step& x, const Step& y) {
               return Tie(x) == Tie(y);
           });
}

/// @return whether two programs do the same
bool
AreEqual(const CollectiveProgram& a, const CollectiveProgram& b)
{
    return std::tie(a.algorithm,
                    a.channels,
                    a.bufferBytes,
                    a.protocol,
                    a.slots,
                    a.inPlace,
                    a.sharesWarps,
                    a.warpRule,
                    a.outputOffset) == std::tie(b.algorithm,
                                                b.channels,
                                                b.bufferBytes,
                                                b.protocol,
                                                b.slots,
                                                b.inPlace,
                                                b.sharesWarps,
                                                b.warpRule,
                                                b.outputOffset) &&
           AreEqual(a.groups,
                    b.groups,
                    [](const NetworkGroup& x, const NetworkGroup& y) {
                        return x.members == y.members;
                    }) &&
           AreEqual(a.ranks, b.ranks, [](const RankProgram& x, const RankProgram& y) {
               return AreEqual(x.blocks, y.blocks, [](const ThreadBlock& s, const ThreadBlock& t) {
                   return AreEqual(s, t);
               });
           });
}

/// @return a word that is the same for equal programs
uint64_t
Hash(const CollectiveProgram& program)
{
    uint64_t hash = MixHash(program.bufferBytes, program.ranks.size());
    for (const RankProgram& rank : program.ranks)
    {
        for (const ThreadBlock& block : rank.blocks)
        {
            hash = MixHash(hash, uint64_t{block.sendPeer} << 32 | block.receivePeer);
            for (const Step& step : block.steps)
            {
                hash = MixHash(hash, step.bytes << 8 | static_cast<uint8_t>(step.kind));
            }
        }
    }
    return hash;
}

} // namespace

const CollectiveProgram*
ProgramIdentity::Find(const CollectiveProgram& program)
{
    const CollectiveProgram*& first = m_known[&program];
    if (!first)
    {
        first = &program;
        const uint64_t hash = Hash(program);
        const auto [begin, end] = m_first.equal_range(hash);
        const auto equal = std::find_if(begin, end, [&](const auto& entry) {
            return AreEqual(*entry.second, program);
        });
        if (equal != end)
        {
            first = equal->second;
        }
        else
        {
            m_first.emplace(hash, &program);
        }
    }
    return first;
}

} // namespace proteus
} // namespace ns3
