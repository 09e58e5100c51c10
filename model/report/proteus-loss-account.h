/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_LOSS_ACCOUNT_H
#define PROTEUS_LOSS_ACCOUNT_H

#include "proteus-link-use.h"

#include "ns3/proteus-link-statistics.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What a network lost, sent again, paused and marked.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Losses of a run, and what is done against them; all zero of an executor without packets.
struct LossAccount
{
    uint64_t lostPackets{0};     //!< on the wires: bit errors, failures of links
    uint64_t droppedPackets{0};  //!< for want of room or of a way
    uint64_t repeatedPackets{0}; //!< sent again by endpoints
    uint64_t timeouts{0};        //!< of senders that heard no acknowledgement
    uint64_t pauses{0};          //!< PFC pauses received
    uint64_t markedPackets{0};   //!< by ECN
};

/**
 * @ingroup proteus
 * @param uses all directions that carried something
 * @param network what the endpoints counted
 * @return both added up
 */
LossAccount SumLosses(const std::vector<LinkUse>& uses, const NetworkStatistics& network);

/// @ingroup proteus
/// @param links what all of them carried @param network what the endpoints counted
/// @return both added up
LossAccount SumLosses(const std::vector<LinkStatistics>& links, const NetworkStatistics& network);

/// @ingroup proteus
/// @param losses of a run @return whether nothing was lost, dropped or sent again
bool IsLossless(const LossAccount& losses);

/// @ingroup proteus
/// @param sum of runs @param more of another one, which is added
void AddTo(LossAccount& sum, const LossAccount& more);

/// @ingroup proteus
/// @param losses of a run @return them in a line, e.g. "3 packets dropped, 0 lost on the wire, ..."
std::string DescribeLosses(const LossAccount& losses);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_LOSS_ACCOUNT_H
