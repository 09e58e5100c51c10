/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PROTOCOL_H
#define PROTEUS_PROTOCOL_H

#include "ns3/proteus-graph.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * How NCCL puts chunks on the wire. All numbers are those of NVIDIA/nccl v2.30.7: src/include/
 * device.h, src/include/collectives.h, src/enqueue.cc, src/init.cc.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Chunks that a receiver has room for between two thread blocks (NCCL_STEPS in NCCL's device.h).
constexpr uint32_t CHUNK_SLOTS = 8;

/// @ingroup proteus
/// Most bytes of a chunk of a message over a network or PCIe (NCCL_P2P_NET_CHUNKSIZE, _PCI_).
constexpr uint64_t P2P_NETWORK_BYTES = 131072;
/// @ingroup proteus
/// Most bytes of a chunk of a message over NVLink (NCCL_P2P_NVL_CHUNKSIZE).
constexpr uint64_t P2P_NVLINK_BYTES = 524288;

/// @ingroup proteus
/// @param collective a collective @return whether NCCL does it by grouped messages
bool IsPointToPoint(Collective collective);

/// @ingroup proteus
/// How a receiver learns that data have arrived.
enum class Protocol : uint8_t
{
    SIMPLE, //!< data, a fence, then a flag per chunk
    LL,     //!< 4 bytes of flag with every 4 bytes of data
    LL128,  //!< 8 bytes of flag with every 120 bytes of data
};

/// @ingroup proteus
/// What sets a protocol apart.
struct ProtocolTraits
{
    uint32_t lineBytes;      //!< on the wire, of which
    uint32_t dataBytes;      //!< are payload
    uint64_t bufferBytes;    //!< of a connection, on the wire, cut into NCCL_STEPS slots
    uint32_t maxThreads;     //!< of a thread block, ring
    uint32_t bytesPerThread; //!< a channel is given up while it has less to do for each thread

    /// @param bytes payload @return what is on the wire, whole lines
    uint64_t WireBytes(uint64_t bytes) const
    {
        return (bytes + dataBytes - 1) / dataBytes * lineBytes;
    }

    /// @param buffer bytes of a connection on the wire; 0: bufferBytes
    /// @return most payload of one slot
    uint64_t SlotBytes(uint64_t buffer = 0) const;

    /// @return payload that all threads of a block move at once; with LL and LL128 every line has
    /// its own flag, so that a chunk passes through a GPU line by line, and this is as good as one
    uint64_t RoundBytes() const;
};

/// @ingroup proteus
/// @param protocol a value @return its name, "Simple", "LL" or "LL128"
const char* ToString(Protocol protocol);

/**
 * @ingroup proteus
 * Inverse of ToString(), whatever case.
 * @param text the name
 * @return the value
 * @throw std::invalid_argument that lists the known names
 */
Protocol ProtocolFromString(const std::string& text);

/// @ingroup proteus
/// @param protocol a value @return what sets it apart
const ProtocolTraits& GetTraits(Protocol protocol);

/// @ingroup proteus
/// What decides the chunks of a collective.
struct ChunkQuestion
{
    Collective collective{Collective::ALL_REDUCE};  //!< which one
    std::string algorithm;                          //!< e.g. "ring"
    Protocol protocol{Protocol::SIMPLE};            //!< which one
    uint64_t bytes{0};                              //!< as the Collective counts them
    uint32_t ranks{2};                              //!< how many
    uint32_t servers{1};                            //!< that the ranks are in
    uint32_t leastRanks{0};                         //!< of a server; 0: all have equally many
    uint32_t channels{1};                           //!< how many share the bytes
    bool hasNetworkPeers{false};                    //!< point to point: also to other servers
    bool hasNvlinkPeers{true};                      //!< point to point: local ones over NVLink
    uint64_t leastTrafficBytes{uint64_t{32} << 10}; //!< of a channel that is taken
    uint64_t nvlsChunkBytes{131072};                //!< most of a chunk with nvls
    uint64_t nvlsTreeChunkBytes{131072};            //!< most of a chunk with nvls-tree
    uint64_t bufferBytes{0};                        //!< of a connection; 0: as the protocol has it
    uint64_t messageChunkBytes{0};                  //!< point to point; 0: as NCCL has it
};

/// @ingroup proteus
/// How the part of one channel is cut.
struct ChunkPlan
{
    uint64_t stepBytes{0};      //!< most bytes of one step
    uint32_t slots{0};          //!< steps that a receiver has room for
    uint32_t stepsPerChunk{1};  //!< of a ring or tree
    uint64_t leastStepBytes{1}; //!< steps are not made shorter than this
};

/**
 * @ingroup proteus
 * The chunks that NCCL takes (calcCollChunking() in src/enqueue.cc, the loops of src/device/). What
 * is called a step here is a slice in NCCL: what is granted and announced at once.
 * @param question what is wanted
 * @return the plan
 */
ChunkPlan PlanChunks(const ChunkQuestion& question);

/**
 * @ingroup proteus
 * How many of its channels NCCL uses: fewer while there are not enough bytes for the threads
 * (topoGetAlgoInfo() in src/enqueue.cc), and none with less traffic than the version wants
 * (scheduleCollTasksToPlan(): 32 KiB from 2.29 on).
 * @param question what is wanted; its channels are those that there are
 * @param threads of a thread block; 0 for the most of the protocol
 * @return channels to use, at least one
 */
uint32_t PlanChannels(const ChunkQuestion& question, uint32_t threads = 0);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PROTOCOL_H
