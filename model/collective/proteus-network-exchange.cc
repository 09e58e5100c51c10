/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-network-exchange.h"

#include "proteus-algorithm-traits.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// What a core takes for a message that a proxy sends or receives, seconds, where it runs those of
/// all ranks of a server. That of four logs of two servers with two, four and eight H100 each,
/// whose two processes Open MPI may have bound to a core (the thirty-second set of logs,
/// doc/measured-collectives-sets.rst): without it they take 2 to 4 times as long as simulated from
/// 1 MiB on, by it the middle ones are 9.7 to 36.6 % off; by half of it up to 57, by twice up
/// to 52.
constexpr double MESSAGE_SECONDS_OF_CORE = 0.5e-6;

/// Bytes on the wire by channel, sender and receiver.
using MessageBytes = std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint64_t>;

/// @param program any @return the longest message of each connection
MessageBytes
FindLongestMessages(const CollectiveProgram& program)
{
    const ProtocolTraits& traits = GetTraits(program.protocol);
    MessageBytes longest;
    for (uint32_t rank = 0; rank < program.ranks.size(); ++rank)
    {
        for (const ThreadBlock& block : program.ranks[rank].blocks)
        {
            uint64_t bytes = 0;
            for (const Step& step : block.steps)
            {
                if (Sends(step.kind))
                {
                    bytes += traits.WireBytes(step.bytes);
                    uint64_t& most = longest[{block.channel, rank, block.sendPeer}];
                    most = std::max(most, bytes);
                    bytes = step.endsChunk ? 0 : bytes;
                }
            }
        }
    }
    return longest;
}

/**
 * Has the messages of a server wait for each other: while one of a connection is sent its core sees
 * to one of each other one, in both directions.
 * @param program of the connections
 * @param connections all that it has
 * @param limits of them, which get less
 */
void
ShareCores(const CollectiveProgram& program,
           const std::vector<ProgramConnection>& connections,
           std::vector<double>& limits)
{
    std::map<VertexId, double> sends; // by core
    double all = 0;
    for (const ProgramConnection& place : connections)
    {
        if (place.connection->hop == HopKind::NETWORK)
        {
            ++sends[place.connection->lineReader];
            ++all;
        }
    }
    const double others = std::max(static_cast<double>(sends.size()) - 1, 1.0);
    const MessageBytes longest = FindLongestMessages(program);
    for (std::size_t i = 0; i < connections.size(); ++i)
    {
        const ProgramConnection& place = connections[i];
        const auto message = longest.find({place.channel, place.from, place.to});
        if (place.connection->hop != HopKind::NETWORK || message == longest.end())
        {
            continue;
        }
        const double sent = sends[place.connection->lineReader];
        const double received = (all - sent) / others; // what the others send, of two all of it
        const auto bytes = static_cast<double>(message->second);
        const double read = limits[i] > 0 ? bytes / limits[i] : 0; // the same thread does both
        limits[i] = bytes / ((sent + received) * MESSAGE_SECONDS_OF_CORE + read);
    }
}

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

bool
HasNetworkLimits(const TransportRules& rules, Protocol protocol)
{
    return rules.LimitsNetwork(protocol) || rules.sharesCore;
}

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
        back.lineReader = Cluster::NO_VERTEX; // of another server than that of the message
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
    const bool isApart = HasLinesApart(program) && !HasNetworkLimits(rules, Protocol::SIMPLE);
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
    if (rules.sharesCore)
    {
        ShareCores(program, connections, limits);
    }
    return limits;
}

} // namespace proteus
} // namespace ns3
