/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SWITCH_SUM_H
#define PROTEUS_SWITCH_SUM_H

#include "proteus-program-builder.h"
#include "proteus-program.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Sums that the switches of a network make.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Appends that the switches sum up chunks of some ranks, each of which gets the sum.
 * @param builder to append to
 * @param members ranks, two or more
 * @param channel whose thread blocks work for it
 * @param chunks of the buffers of all members
 * @param slots chunks that a member has under way at most
 */
void AppendSwitchSum(ProgramBuilder& builder,
                     const std::vector<uint32_t>& members,
                     uint32_t channel,
                     const std::vector<Extent>& chunks,
                     uint32_t slots);

/**
 * @ingroup proteus
 * @param cluster where the ranks are
 * @param request whose
 * @param algorithm for the message
 * @param groups of ranks whose NICs have to be joined, one rank of every server each
 * @throw std::invalid_argument unless there are two servers, and switches that can sum up what the
 * ranks of each group have
 */
void CheckSwitchSums(const Cluster& cluster,
                     const CollectiveRequest& request,
                     const std::string& algorithm,
                     const std::vector<std::vector<uint32_t>>& groups);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SWITCH_SUM_H
