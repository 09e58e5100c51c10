/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-message-plan.h"

#include "ns3/proteus-nccl-tuner.h"
#include "ns3/proteus-whole-number.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr uint32_t PEERS_OF_CHANNEL = 8; // NCCL_MAX_DEV_WORK_P2P_PER_BATCH
constexpr uint64_t LONG_PART = 32;       // chunks; of one server
// In chunks, a quarter of a slot each: parts of 2.7, a multiple of SENDRECV_SLICEFACTOR slots
// (src/group.cc of NCCL), and the least of 2.8 to 2.12, whose most are the former.
constexpr uint64_t CHUNKS_OF_SLICES = 16;
constexpr uint64_t CHUNKS_OF_SLOT = 4;
constexpr uint32_t FIRST_PARALLEL = 208;     // with parts that depend on the number of ranks
constexpr uint32_t FIRST_SHORT_PARTS = 213;  // of less than a slot
constexpr uint32_t FIRST_LL = 214;           // of messages
constexpr uint32_t FIRST_LONGER_PARTS = 220; // of half a chunk between servers
// The first versions whose LL limit counts all channels of a peer, and those that are used. Before,
// it counts a part, of which all but the last are multiples of the least.
constexpr uint32_t FIRST_LIMIT_OF_PEER = 222;
constexpr uint32_t FIRST_LIMIT_OF_USED = 229;
// Channels of network peers depend on the ranks, but not from 2.18.3 to 2.19 ("Avoid overloading
// channels with 8+ operations", src/enqueue.cc, and from 2.20 on src/graph/paths.cc).
constexpr uint32_t FIRST_SAME_AT_SCALE = 218;
constexpr uint32_t FIRST_FEWER_AT_SCALE = 220;

/// @param question what is wanted
/// @return whether its peers have the same channels however many ranks there are
bool
IsSameAtScale(const MessageQuestion& question)
{
    return question.servers > 1 && question.version >= FIRST_SAME_AT_SCALE &&
           question.version < FIRST_FEWER_AT_SCALE;
}

/// @param question what is wanted @param all channels @return most channels of a peer
uint32_t
CountPeerChannels(const MessageQuestion& question, uint32_t all)
{
    uint32_t most = question.localChannels;
    if (question.servers > 1 && question.networkChannels > 0)
    {
        most = std::min(most, question.networkChannels);
    }
    else if (question.servers > 1)
    {
        uint32_t network = GetNcclTuner(question.version).networkChannels;
        if (network == 0)
        {
            const auto busy = static_cast<uint32_t>(
                std::ceil(std::floor(question.networkGBps) / question.networkChannelGBps));
            network = std::max({busy, question.networkCards, 1u});
            while (RoundUpToPowerOfTwo(std::min(most, network)) *
                           DivideUp(question.ranks, PEERS_OF_CHANNEL) >
                       all &&
                   network > 1)
            {
                network = RoundUpToPowerOfTwo(network) / 2;
            }
        }
        else if (!IsSameAtScale(question))
        {
            while (network * question.ranks > 4 * all && network > 1)
            {
                network /= 2;
            }
            if (question.version >= FIRST_FEWER_AT_SCALE)
            {
                network = std::max(network, question.networkCards);
            }
        }
        most = std::min(most, network);
    }
    most = std::min(RoundUpToPowerOfTwo(most), all);
    // Here, too, older versions avoid eight and more operations of a channel.
    while (question.servers == 1 && question.version >= FIRST_PARALLEL &&
           question.version < FIRST_FEWER_AT_SCALE && most * question.ranks > 4 * all && most > 1)
    {
        most /= 2;
    }
    return most;
}

/// What a message is cut into, bytes.
struct PartSizes
{
    uint64_t shortest;
    uint64_t longest;
};

/// @param question what is wanted @param stepBytes of its protocol @return parts of the version
PartSizes
FindPartSizes(const MessageQuestion& question, uint64_t stepBytes)
{
    const uint64_t chunk = question.chunkBytes;
    if (question.version < FIRST_PARALLEL)
    {
        return {CHUNKS_OF_SLICES * chunk, CHUNKS_OF_SLICES * chunk};
    }
    if (question.version < FIRST_SHORT_PARTS)
    {
        return {CHUNKS_OF_SLOT * chunk, CHUNKS_OF_SLICES * chunk};
    }
    const bool isNetwork = question.servers > 1;
    const uint64_t least = isNetwork && question.version >= FIRST_LONGER_PARTS ? 2 : 8;
    return {std::max<uint64_t>(stepBytes / least, 1), chunk * (isNetwork ? 1 : LONG_PART)};
}

} // namespace

MessagePlan
PlanMessage(const MessageQuestion& question)
{
    const bool isNetwork = question.servers > 1; // nNodes of the communicator
    const bool isInside = question.isInside || !isNetwork;
    const uint32_t all = RoundUpToPowerOfTwo(question.channels);
    const uint32_t most = CountPeerChannels(question, all);
    uint32_t least = most;
    while (!IsSameAtScale(question) && least * question.ranks > all && least > 1)
    {
        least /= 2;
    }
    // In between the limit did not depend on the parts, and parts were those of the protocol.
    const bool hasPartsOfLl = question.version >= FIRST_LIMIT_OF_PEER &&
                              question.version < FIRST_LIMIT_OF_USED && isInside &&
                              question.bytes <= most * question.llBytes;
    const uint64_t stepBytes = hasPartsOfLl ? question.llStepBytes : question.chunkBytes;
    const auto [shortest, longest] = FindPartSizes(question, stepBytes);
    const uint64_t bytes = std::max<uint64_t>(question.bytes, 1);
    least = question.version < FIRST_PARALLEL ? most : least;
    MessagePlan plan;
    plan.processors = all;
    plan.channels = static_cast<uint32_t>(std::min<uint64_t>(least, DivideUp(bytes, shortest)));
    while (2 * plan.channels <= most &&
           std::max(shortest, DivideUp(bytes, plan.channels)) > longest)
    {
        plan.channels *= 2;
    }
    uint64_t counted = bytes; // for the limit of LL of a channel
    if (question.version < FIRST_LIMIT_OF_PEER)
    {
        const uint64_t part =
            DivideUp(DivideUp(bytes, plan.channels), shortest) * shortest; // but the last
        plan.channels = static_cast<uint32_t>(DivideUp(bytes, part));
        counted = std::min(bytes, part);
    }
    else
    {
        counted = DivideUp(bytes, question.version >= FIRST_LIMIT_OF_USED ? plan.channels : most);
    }
    if (isInside && question.version >= FIRST_LL && counted <= question.llBytes)
    {
        plan.protocol = Protocol::LL;
    }
    plan.chunkBytes = question.chunkBytes;
    if (!isInside)
    {
        plan.chunkBytes /= bytes < question.chunkBytes       ? 4
                           : bytes < 8 * question.chunkBytes ? 2
                                                             : 1;
    }
    return plan;
}

} // namespace proteus
} // namespace ns3
