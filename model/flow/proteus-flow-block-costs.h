/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_BLOCK_COSTS_H
#define PROTEUS_FLOW_BLOCK_COSTS_H

#include "proteus-program-replay.h"

#include "ns3/proteus-block-cost.h"
#include "ns3/proteus-connection.h"

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What the thread blocks of a program take of a replay.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What is crossed, by sender and receiver: by the block that sends, by that which receives.
using BlockHops = std::unordered_map<uint64_t, std::pair<BlockHop, BlockHop>>;

/// @ingroup proteus
/// @param from sender @param to receiver @return their place in BlockHops
uint64_t NameHop(uint32_t from, uint32_t to);

/**
 * @ingroup proteus
 * @param kernel of the GPUs
 * @param program of the collective
 * @param shares of its blocks
 * @param hops that its messages cross
 * @param pluginPs that a chunk from the network takes longer
 * @param memoryBytesPerSecond of the memory of the GPUs; 0: not known
 * @return what the steps of its blocks cost, by rank and block
 */
std::vector<std::vector<BlockCost>> ListBlockCosts(const CollectiveKernelCost& kernel,
                                                   const CollectiveProgram& program,
                                                   const BlockShares& shares,
                                                   const BlockHops& hops,
                                                   int64_t pluginPs,
                                                   double memoryBytesPerSecond);

/**
 * @ingroup proteus
 * Sets by flow what its sender allows: the first block that sends it, unless it is a NIC.
 * @param kernel of the GPUs
 * @param program of the collective
 * @param shares of its blocks
 * @param flows of it
 * @param costs with ReplayCosts::sendsWhole, which get the limits
 */
void LimitSenders(const CollectiveKernelCost& kernel,
                  const CollectiveProgram& program,
                  const BlockShares& shares,
                  const std::vector<ProgramFlow>& flows,
                  ReplayCosts& costs);

/**
 * @ingroup proteus
 * Sets by flow between servers what the network allows.
 * @param rules of transports
 * @param program of the collective
 * @param flows of it
 * @param find how the bytes of one get there
 * @param costs with ReplayCosts::sendsWhole, which get the limits
 */
void LimitNetwork(const TransportRules& rules,
                  const CollectiveProgram& program,
                  const std::vector<ProgramFlow>& flows,
                  const std::function<const Connection&(const ProgramFlow&)>& find,
                  ReplayCosts& costs);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_BLOCK_COSTS_H
