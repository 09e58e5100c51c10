/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MESSAGE_BLOCKS_H
#define PROTEUS_MESSAGE_BLOCKS_H

#include "proteus-program.h"

#include "ns3/proteus-cluster.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Which thread blocks work for the messages of grouped sends and receives.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Messages of a rank meet in thread blocks as NCCL spreads them over its channels. In one server
 * every distance of peers has channels of its own. Across servers, ranks that follow each other in
 * a server make groups of as many as a kernel works for side by side in a thread block (eight, or
 * the largest number that divides the ranks of all servers), and all messages between two groups
 * have the same channels. What a rank receives from as far away as it sends shares them. A group
 * of channels is one for every channel of a message.
 *
 * A kernel has no more thread blocks than CollectiveRequest::messageProcessors. Groups begin as far
 * apart there as they can, and where they want more channels than there are blocks, they overlap:
 * the messages of a block share its warps, see BlockShares. A part of a message that has a block
 * for itself gets no faster than the others of the message, which ends with its last part.
 *
 * What a rank has for itself is a group, too, which NCCL copies within the rank, see
 * AppendOwnParts().
 *
 * (NVIDIA/nccl v2.30.7, src/include/channel.h, ncclP2pChannelBaseForRound(); src/include/device.h,
 * ncclP2pChannelForPart(); src/init.cc, ncclP2pSchedule(); since v2.12.7, src/include/channel.h,
 * ncclChannelComputeBase(). Distances stand for the rounds of the schedule, which takes them in
 * another order.)
 */
class MessageBlocks
{
  public:
    /// @param cluster where the ranks are @param request with them; see
    /// CollectiveRequest::messagesOfBlock and CollectiveRequest::messageProcessors
    MessageBlocks(const Cluster& cluster, const CollectiveRequest& request);

    /// @param from sender @param to receiver, or the same rank
    /// @return number of the group of channels that both use for the message, from 0 on
    uint32_t Get(uint32_t from, uint32_t to) const;

    /// @param from sender @param to receiver, or the same rank @param channel of the message
    /// @return number of the thread block that works for it, at both ends
    uint32_t GetProcessor(uint32_t from, uint32_t to, uint32_t channel) const;

  private:
    uint32_t m_ranks;               //!< how many there are
    uint32_t m_channels;            //!< most of a message
    uint32_t m_processors;          //!< thread blocks of a kernel; 0: no limit
    uint32_t m_nGroups{0};          //!< of ranks; 0: every distance has channels of its own
    std::vector<uint32_t> m_groups; //!< by rank
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MESSAGE_BLOCKS_H
