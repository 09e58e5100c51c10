/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-protocol.h"

#include "proteus-algorithm-traits.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

// LL: a line of 16 bytes for each thread; LL128: two lines of 128 bytes for every eight threads,
// and four such loads are in flight in each direction.
constexpr uint64_t LINE_BYTES_PER_THREAD = 16;

// NCCL_BUFFSIZE, NCCL_LL_BUFFSIZE, NCCL_LL128_BUFFSIZE; NCCL_*_MAX_NTHREADS;
// NCCL_*_THREAD_THRESHOLD.
const std::array<ProtocolTraits, 3> TRAITS{{
    {1, 1, uint64_t{4} << 20, 512, 64},
    {16, 8, 8 * 512 * 8 * 16, 512, 8},
    {128, 120, 120 * 640 * 8 * 8, 640, 8},
}};

const std::array<const char*, 3> NAMES{"Simple", "LL", "LL128"};

} // namespace

bool
IsPointToPoint(Collective collective)
{
    return collective == Collective::SEND_RECV || collective == Collective::ALL_TO_ALL ||
           collective == Collective::GATHER || collective == Collective::SCATTER;
}

uint64_t
ProtocolTraits::SlotBytes(uint64_t buffer) const
{
    return (buffer > 0 ? buffer : bufferBytes) / CHUNK_SLOTS / lineBytes * dataBytes;
}

const char*
ToString(Protocol protocol)
{
    return NAMES.at(static_cast<std::size_t>(protocol));
}

Protocol
ProtocolFromString(const std::string& text)
{
    for (std::size_t i = 0; i < NAMES.size(); ++i)
    {
        const std::string name = NAMES[i];
        if (std::equal(name.begin(), name.end(), text.begin(), text.end(), [](char a, char b) {
                return std::tolower(static_cast<unsigned char>(a)) ==
                       std::tolower(static_cast<unsigned char>(b));
            }))
        {
            return static_cast<Protocol>(i);
        }
    }
    throw std::invalid_argument("unknown protocol \"" + text + "\"; known are Simple, LL, LL128");
}

const ProtocolTraits&
GetTraits(Protocol protocol)
{
    return TRAITS.at(static_cast<std::size_t>(protocol));
}

uint64_t
ProtocolTraits::RoundBytes() const
{
    return uint64_t{maxThreads} * LINE_BYTES_PER_THREAD / lineBytes * dataBytes;
}

ChunkPlan
PlanChunks(const ChunkQuestion& question)
{
    const uint64_t slot = GetTraits(question.protocol).SlotBytes(question.bufferBytes);
    ChunkPlan plan{slot, CHUNK_SLOTS, 1, 1};
    const AlgorithmTraits& algorithm = GetAlgorithmTraits(question.algorithm);
    if (IsPointToPoint(question.collective))
    {
        const uint64_t usual = question.hasNetworkPeers || !question.hasNvlinkPeers
                                   ? P2P_NETWORK_BYTES
                                   : P2P_NVLINK_BYTES;
        plan.stepBytes =
            std::min(slot, question.messageChunkBytes > 0 ? question.messageChunkBytes : usual);
    }
    else if (algorithm.planChunks)
    {
        algorithm.planChunks(question, plan);
    }
    return plan;
}

uint32_t
PlanChannels(const ChunkQuestion& question, uint32_t threads)
{
    uint32_t channels = std::max(question.channels, 1u);
    const AlgorithmTraits& algorithm = GetAlgorithmTraits(question.algorithm);
    if (algorithm.hasNvlsChannels || IsPointToPoint(question.collective))
    {
        return channels;
    }
    const ProtocolTraits& traits = GetTraits(question.protocol);
    uint64_t threshold = traits.bytesPerThread;
    if (algorithm.dividesThreadsByRanks && question.protocol == Protocol::LL)
    {
        threshold *= question.ranks;
    }
    threads = threads > 0 ? threads : traits.maxThreads;
    while (channels > 1 && question.bytes < channels * threads * threshold)
    {
        --channels;
    }
    // Bytes in and out of a GPU for every byte: ncclFuncTrafficPerByte().
    uint64_t traffic = question.bytes;
    if (question.collective == Collective::ALL_REDUCE)
    {
        traffic *= 2;
    }
    if (question.protocol == Protocol::LL)
    {
        traffic *= 4;
    }
    const uint64_t least = std::max<uint64_t>(question.leastTrafficBytes, 1);
    const uint64_t most = std::max<uint64_t>((traffic + least - 1) / least, 1);
    return static_cast<uint32_t>(std::min<uint64_t>(channels, most));
}

} // namespace proteus
} // namespace ns3
