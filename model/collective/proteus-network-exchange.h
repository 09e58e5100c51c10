/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NETWORK_EXCHANGE_H
#define PROTEUS_NETWORK_EXCHANGE_H

#include "proteus-connection.h"
#include "proteus-program.h"
#include "proteus-transport-rules.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What the connections of a program share of a network.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Notes a connection of a program. A message by itself is taken for part of an exchange, as
 * BlockShares does: as much goes the other way, between the same two.
 * @param program of the connection
 * @param connection which one
 * @param shares of the program
 */
void AddConnection(const CollectiveProgram& program,
                   const Connection& connection,
                   NetworkShares& shares);

/// @ingroup proteus
/// A connection of a program.
struct ProgramConnection
{
    uint32_t channel{0};                   //!< of the program
    uint32_t from{NO_RANK};                //!< rank that sends
    uint32_t to{NO_RANK};                  //!< rank that receives
    const Connection* connection{nullptr}; //!< what it is
};

/// @ingroup proteus
/// @param rules of transports @param protocol of a program @return whether LimitConnections() may
/// find a limit
bool HasNetworkLimits(const TransportRules& rules, Protocol protocol);

/**
 * @ingroup proteus
 * What connections of a program get of the network at most, see NetworkShares. A rank of a tree
 * sends what is summed up, and later what comes down. As long as all of a channel fits into half of
 * the slots of a connection it does not do both at a time, as with Simple (CountChunksApart() in
 * proteus-block-cost.cc): then the thread of its proxy, which reads the lines of LL that are there,
 * and finds out at the first one if they are not (NVIDIA/nccl v2.4.8 to v2.30.7,
 * src/transport/net.cc, sendProxyProgress()), reads for one half at a time. Two servers of eight
 * RTX 6000D whose GPUs are servers of their own take 80 and 101 us for 32 and 64 KiB by four
 * channels; 161 and 335 were simulated when idle connections counted. Where ranks share a core
 * (NetPlugin::sharesCore) it takes time for every message, too.
 * @param rules of transports
 * @param program of the connections
 * @param connections all that the program has
 * @return by connection, bytes per second of payload; 0: no limit
 */
std::vector<double> LimitConnections(const TransportRules& rules,
                                     const CollectiveProgram& program,
                                     const std::vector<ProgramConnection>& connections);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NETWORK_EXCHANGE_H
