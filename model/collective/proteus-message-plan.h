/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MESSAGE_PLAN_H
#define PROTEUS_MESSAGE_PLAN_H

#include "proteus-protocol.h"

#include <cstdint>

/**
 * @file
 * @ingroup proteus
 * How NCCL cuts point-to-point messages, which make send, receive, all-to-all, gather and scatter.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What decides how a message is cut.
struct MessageQuestion
{
    uint64_t bytes{0};                      //!< of a pair of ranks
    uint32_t ranks{2};                      //!< of the communicator
    uint32_t servers{1};                    //!< that the ranks of the communicator are in
    bool isInside{false};                   //!< the pair is in one server, whatever others are
    uint32_t channels{1};                   //!< of the communicator
    uint32_t localChannels{2};              //!< that the ways inside a server have room for
    uint32_t networkChannels{0};            //!< of a peer in another server; 0: as the version does
    double networkGBps{0};                  //!< of the NICs of a GPU, 1e9 bytes per second
    uint32_t networkCards{1};               //!< NICs of a GPU
    uint64_t chunkBytes{P2P_NETWORK_BYTES}; //!< most bytes of one chunk
    uint32_t version{230};                  //!< of NCCL, see GetNcclTuner()
    uint64_t llBytes{16384};                //!< most of a channel of LL (NCCL_P2P_LL_THRESHOLD)
    double networkChannelGBps{14};          //!< that a channel of a peer in another server is to
                                            //!< carry (NCCL_P2P_PER_CHANNEL_NET_BW), as of 2.29
    uint64_t llStepBytes{65536};            //!< of a slot of LL, with flags: half of it is payload
};

/// @ingroup proteus
/// How a message is cut.
struct MessagePlan
{
    uint32_t channels{1};                //!< that share it
    uint32_t processors{1};              //!< thread blocks of a kernel for all messages
    Protocol protocol{Protocol::SIMPLE}; //!< LL or Simple
    uint64_t chunkBytes{0};              //!< most bytes of one chunk
};

/**
 * @ingroup proteus
 * Cuts a message as NCCL does.
 *
 * - Channels of a peer: two for every NVLink (two over PCIe); across servers no more than keep the
 *   NICs busy, or what older versions fix, and up to 2.19 no more than four for every channel that
 *   there is and rank. Their number is a power of two. A message begins with
 *   fewer if all peers together would have more channels than there are.
 * - Thread blocks: one for each channel of the communicator, rounded up to a power of two. Where
 *   all messages together have more channels than that, several share a block: MessageBlocks.
 * - Parts: a message is cut into parts, one for a channel, of no less than an eighth of a chunk
 *   (from 2.20 on half of one across servers), with LL from 2.22 to 2.28 of 8 KiB. Parts longer
 *   than 32 chunks (one across servers) get more channels of the peer. Up to 2.21 parts are
 *   multiples of the least one. From 2.8 to 2.12 that is a slot, four chunks, and the longest are
 *   four slots; 2.7 has multiples of four slots, and all channels of a peer.
 * - A communicator of several servers cuts all its messages into parts as those across servers,
 *   also those that stay inside one.
 * - Protocol: from 2.14 on, inside a server, messages of up to 16 KiB per channel take LL; which
 *   channels count depends on the version. Messages to other servers take Simple.
 * - Chunks: across servers, those of messages below one chunk and below eight chunks are a quarter
 *   and a half as long.
 *
 * (NVIDIA/nccl v2.30.7, src/graph/paths.cc, ncclTopoComputeP2pChannelsPerPeer() and
 * ncclTopoComputeP2pChannels(); src/enqueue.cc, scheduleP2pTasksToPlan() and addP2pToPlan().)
 * @param question what is wanted
 * @return the plan
 */
MessagePlan PlanMessage(const MessageQuestion& question);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MESSAGE_PLAN_H
