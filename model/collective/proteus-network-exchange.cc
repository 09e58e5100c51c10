/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-network-exchange.h"

#include "proteus-algorithm-traits.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param program of a tree @param connection of it
/// @return whether the receiver sums up what it gets, or else has the sum of all
bool
GoesUp(const CollectiveProgram& program, const ProgramConnection& connection)
{
    const auto& blocks = program.ranks[connection.to].blocks;
    return std::any_of(blocks.begin(), blocks.end(), [&](const ThreadBlock& block) {
        return block.channel == connection.channel && block.receivePeer == connection.from &&
               std::any_of(block.steps.begin(), block.steps.end(), [](const Step& step) {
                   return Receives(step.kind) && Reduces(step.kind);
               });
    });
}

/// @param program any @return whether it is of trees of LL, of which what goes up and what comes
/// down do not meet
bool
HasLinesApart(const CollectiveProgram& program)
{
    const auto countSends = [](const ThreadBlock& block) {
        return static_cast<uint32_t>(
            std::count_if(block.steps.begin(), block.steps.end(), [](const Step& step) {
                return Sends(step.kind);
            }));
    };
    return program.protocol == Protocol::LL &&
           GetAlgorithmTraits(program.algorithm).tunable == NcclAlgorithm::TREE &&
           std::all_of(program.ranks.begin(), program.ranks.end(), [&](const RankProgram& rank) {
               return std::all_of(rank.blocks.begin(), rank.blocks.end(), [&](const auto& block) {
                   return countSends(block) <= program.slots / 2;
               });
           });
}

} // namespace

void
AddConnection(const CollectiveProgram& program, const Connection& connection, NetworkShares& shares)
{
    shares.Add(connection);
    const bool isMessage = GetAlgorithmTraits(program.algorithm).isLaunchedByPeer &&
                           !program.sharesWarps && program.ranks.size() == 2;
    if (isMessage)
    {
        Connection back = connection;
        std::swap(back.source, back.destination);
        back.writingNic = connection.readingNic;
        back.readingNic = connection.writingNic;
        shares.Add(back);
    }
}

std::vector<double>
LimitConnections(const TransportRules& rules,
                 const CollectiveProgram& program,
                 const std::vector<ProgramConnection>& connections)
{
    const bool isApart = HasLinesApart(program) && !rules.LimitsNetwork(Protocol::SIMPLE);
    std::array<NetworkShares, 2> halves{NetworkShares(rules, program.protocol),
                                        NetworkShares(rules, program.protocol)};
    std::vector<NetworkShares*> shares;
    for (const ProgramConnection& connection : connections)
    {
        shares.push_back(&halves[isApart && GoesUp(program, connection) ? 1 : 0]);
        AddConnection(program, *connection.connection, *shares.back());
    }
    std::vector<double> limits;
    for (std::size_t i = 0; i < connections.size(); ++i)
    {
        limits.push_back(shares[i]->GetLimit(*connections[i].connection));
    }
    return limits;
}

} // namespace proteus
} // namespace ns3
