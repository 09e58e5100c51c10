/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-protocol.h"

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

constexpr uint32_t STEPS = 8;                          // NCCL_STEPS
constexpr uint64_t LEAST_TRAFFIC = uint64_t{32} << 10; // MinTrafficPerChannel, src/enqueue.cc
constexpr uint64_t NVLS_CHUNK_BYTES = 131072;          // NCCL_NVLS_CHUNKSIZE
constexpr uint64_t P2P_NETWORK_BYTES = 131072;         // NCCL_P2P_NET_CHUNKSIZE, _PCI_
constexpr uint64_t P2P_NVLINK_BYTES = 524288;          // NCCL_P2P_NVL_CHUNKSIZE

// LL: a line of 16 bytes for each thread; LL128: two lines of 128 bytes for every eight threads,
// and four such loads are in flight in each direction.
constexpr uint64_t LINE_BYTES_PER_THREAD = 16;

// Parts of a chunk of LL or LL128 that follow each other through a ring.
constexpr uint32_t LINE_PARTS = 4;

// NCCL_BUFFSIZE, NCCL_LL_BUFFSIZE, NCCL_LL128_BUFFSIZE; NCCL_*_MAX_NTHREADS;
// NCCL_*_THREAD_THRESHOLD.
const std::array<ProtocolTraits, 3> TRAITS{{
    {1, 1, uint64_t{4} << 20, 512, 64},
    {16, 8, 8 * 512 * 8 * 16, 512, 8},
    {128, 120, 120 * 640 * 8 * 8, 640, 8},
}};

const std::array<const char*, 3> NAMES{"Simple", "LL", "LL128"};

uint32_t
FloorLog2(uint32_t value)
{
    uint32_t log = 0;
    while (value >>= 1)
    {
        ++log;
    }
    return log;
}

bool
IsPointToPoint(const ChunkQuestion& question)
{
    return question.collective == Collective::SEND_RECV ||
           question.collective == Collective::ALL_TO_ALL ||
           question.collective == Collective::GATHER || question.collective == Collective::SCATTER;
}

} // namespace

uint64_t
ProtocolTraits::SlotBytes() const
{
    return bufferBytes / STEPS / lineBytes * dataBytes;
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

ChunkPlan
PlanChunks(const ChunkQuestion& question)
{
    const uint64_t slot = GetTraits(question.protocol).SlotBytes();
    const uint64_t bytes = question.bytes;
    const uint64_t channels = std::max(question.channels, 1u);
    ChunkPlan plan{slot, STEPS, 1, 1};
    if (IsPointToPoint(question))
    {
        plan.stepBytes =
            std::min(slot,
                     question.hasNetworkPeers || !question.hasNvlinkPeers ? P2P_NETWORK_BYTES
                                                                          : P2P_NVLINK_BYTES);
        return plan;
    }
    if (question.algorithm == "ring" && question.protocol == Protocol::SIMPLE &&
        question.collective != Collective::BROADCAST && question.collective != Collective::REDUCE)
    {
        // CHUNKSTEPS 4, SLICESTEPS 2; no slice below a 32nd of a slot.
        plan.stepBytes = 2 * slot;
        plan.slots = STEPS / 2;
        plan.stepsPerChunk = 2;
        plan.leastStepBytes = slot / 32;
    }
    else if (question.algorithm == "nvls" || question.algorithm == "nvls-tree")
    {
        const uint64_t heads = std::max(question.ranks / std::max(question.servers, 1u), 1u);
        const uint64_t operations = channels * heads;
        uint64_t chunk = std::min(slot, NVLS_CHUNK_BYTES);
        const bool tree = question.algorithm == "nvls-tree";
        // Halved until there are so many loops over all channels and heads.
        const std::array<uint64_t, 3> loops =
            tree ? std::array<uint64_t, 3>{16, 4, 1} : std::array<uint64_t, 3>{64, 8, 2};
        const std::array<uint64_t, 3> sizes = tree ? std::array<uint64_t, 3>{131072, 65536, 32768}
                                                   : std::array<uint64_t, 3>{65536, 32768, 16384};
        for (std::size_t i = 0; i < loops.size(); ++i)
        {
            if (bytes < loops[i] * operations * chunk && chunk > sizes[i])
            {
                chunk = sizes[i];
            }
        }
        plan.stepBytes = chunk;
    }
    else if (question.algorithm == "tree" && question.protocol == Protocol::LL128)
    {
        const double perServer = double(question.ranks) / std::max(question.servers, 1u);
        const double depth = 1 + FloorLog2(std::max(question.servers, 1u)) + 0.1 * perServer;
        for (const auto& [factor, least] :
             {std::make_pair(64.0, uint64_t{131072}), std::make_pair(16.0, uint64_t{32768})})
        {
            while (double(bytes / (channels * plan.stepBytes)) < depth * factor / perServer &&
                   plan.stepBytes > least)
            {
                plan.stepBytes /= 2;
            }
        }
    }
    else if (question.algorithm == "pat")
    {
        const uint64_t loops = question.collective == Collective::ALL_GATHER ? 32 : 16;
        while (plan.stepBytes * channels * loops > bytes && plan.stepBytes > 65536)
        {
            plan.stepBytes /= 2;
        }
    }
    // With LL and LL128 every line has its own flag, so that a chunk passes through a GPU line by
    // line: what all threads of a block move at once is as good as a line.
    const ProtocolTraits& traits = GetTraits(question.protocol);
    const uint64_t round =
        uint64_t{traits.maxThreads} * LINE_BYTES_PER_THREAD / traits.lineBytes * traits.dataBytes;
    if (question.algorithm == "ring" && question.protocol != Protocol::SIMPLE)
    {
        // A few parts are enough: a rank is busy with the others of one chunk while the first of
        // the next is on its way.
        plan.stepsPerChunk = LINE_PARTS;
        plan.slots *= LINE_PARTS;
        plan.stepBytes /= LINE_PARTS;
        plan.leastStepBytes = round;
    }
    else if (question.algorithm == "tree" && question.protocol != Protocol::SIMPLE)
    {
        plan.slots *= static_cast<uint32_t>(std::max<uint64_t>(plan.stepBytes / round, 1));
        plan.stepBytes = std::min(plan.stepBytes, round);
    }
    return plan;
}

uint32_t
PlanChannels(const ChunkQuestion& question, uint32_t threads)
{
    uint32_t channels = std::max(question.channels, 1u);
    if (question.algorithm == "nvls" || question.algorithm == "nvls-tree" ||
        IsPointToPoint(question))
    {
        return channels;
    }
    const ProtocolTraits& traits = GetTraits(question.protocol);
    uint64_t threshold = traits.bytesPerThread;
    if (question.algorithm == "ring" && question.protocol == Protocol::LL)
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
    const uint64_t most = std::max<uint64_t>((traffic + LEAST_TRAFFIC - 1) / LEAST_TRAFFIC, 1);
    return static_cast<uint32_t>(std::min<uint64_t>(channels, most));
}

} // namespace proteus
} // namespace ns3
