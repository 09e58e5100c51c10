/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PROGRAM_H
#define PROTEUS_PROGRAM_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * A collective as one program per rank: what NCCL's channels, or the thread blocks of an MSCCL
 * schedule, do with chunks of a buffer. The packet network executes the steps; whoever wants to
 * know how many bytes pass between two ranks counts them here.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// One step of a thread block. The names are NCCL's and MSCCL's.
enum class StepKind : uint8_t
{
    SEND,                  //!< send the chunk from the local buffer
    RECV,                  //!< receive a chunk into the local buffer
    RECV_REDUCE,           //!< receive and add to the local buffer
    RECV_COPY_SEND,        //!< receive into the local buffer and send it on
    RECV_REDUCE_SEND,      //!< receive, add the local buffer and send the sum on
    RECV_REDUCE_COPY_SEND, //!< receive, add, keep the sum and send it on
};

/// @ingroup proteus
/// @param kind of a step @return whether it takes a chunk from the block's receive peer
bool Receives(StepKind kind);
/// @ingroup proteus
/// @param kind of a step @return whether it gives a chunk to the block's send peer
bool Sends(StepKind kind);
/// @ingroup proteus
/// @param kind of a step @return whether it adds what it receives to the local buffer
bool Reduces(StepKind kind);

/// @ingroup proteus
/// A step works on bytes [offset, offset + bytes) of the buffer.
struct Step
{
    StepKind kind{StepKind::SEND}; //!< what is done
    uint64_t offset{0};            //!< first byte
    uint64_t bytes{0};             //!< how many
};

/// @ingroup proteus
/// "No peer" of a thread block.
constexpr uint32_t NO_RANK = 0xffffffff;

/**
 * @ingroup proteus
 * A thread block: steps done strictly in order, each as soon as the chunk that it receives has
 * arrived and its receiver has granted room for the chunk that it sends. Chunks between two
 * blocks (same channel, one's send peer the other's receive peer) arrive in the order sent.
 */
struct ThreadBlock
{
    uint16_t channel{0};           //!< which channel it serves
    uint32_t receivePeer{NO_RANK}; //!< rank in the group
    uint32_t sendPeer{NO_RANK};    //!< rank in the group
    std::vector<Step> steps;       //!< in order
};

/// @ingroup proteus
/// What one rank does.
struct RankProgram
{
    std::vector<ThreadBlock> blocks; //!< they run side by side
};

/**
 * @ingroup proteus
 * A collective for a whole group, one program per rank.
 */
struct CollectiveProgram
{
    std::string algorithm;          //!< e.g. "ring"
    uint32_t channels{1};           //!< how many share the buffer
    uint64_t bufferBytes{0};        //!< extent of the buffer the offsets refer to
    std::vector<RankProgram> ranks; //!< by rank in the group
};

/// @ingroup proteus
/// What an algorithm needs to know.
struct CollectiveRequest
{
    Collective collective{Collective::ALL_REDUCE}; //!< what is to be computed
    uint64_t bytes{0};                             //!< as the Collective counts them
    uint32_t root{0};                              //!< broadcast: rank in the group
    uint32_t channels{0};                          //!< 0: the algorithm decides
    uint64_t chunkBytes{256 * 1024};               //!< most bytes of one step
    std::vector<VertexId> vertices;                //!< of the ranks, by rank in the group
};

/// @ingroup proteus
/// Chunks that a receiver has room for between two thread blocks (NCCL_STEPS in NCCL's device.h).
constexpr uint32_t CHUNK_SLOTS = 8;

/**
 * @ingroup proteus
 * An algorithm: makes the program of the collectives it serves.
 */
using CollectiveAlgorithm = CollectiveProgram (*)(const Cluster& cluster,
                                                  const Paths& paths,
                                                  const CollectiveRequest& request);

/// @ingroup proteus
/// @param collective a collective @return what makes its programs, see proteus-collective.cc
CollectiveAlgorithm FindAlgorithm(Collective collective);

/// @ingroup proteus
/// Part `index` of `total` cut into `parts`, the first ones one longer where it does not divide.
struct Extent
{
    uint64_t offset{0}; //!< first byte
    uint64_t bytes{0};  //!< how many
};

/// @ingroup proteus
/// @param whole to cut @param parts number of parts @param index which one @return that part
Extent CutExtent(const Extent& whole, uint64_t parts, uint64_t index);

/**
 * @ingroup proteus
 * The order of the ranks on the ring of every channel. Ranks of one server stand together on a
 * cycle. Where GPUs are joined by direct NVLinks (a cube mesh), channels take in turn as many
 * cycles over them as can be found without two on one lane, each in both directions: on eight GPUs
 * of a DGX-1 as many rings as NCCL finds, six. Elsewhere all channels take one cycle of least
 * summed routing cost (on an NVSwitch any). Across servers, channel c enters a server by its c-th
 * NIC and leaves it by the one that the fewest channels before it leave by; every second server is
 * walked backwards, so that both ends of a network hop are on one rail.
 *
 * @param cluster where the ranks are
 * @param paths of the cluster
 * @param vertices of the ranks
 * @param channels how many; 0 for the default: within a server two for each cycle, so that one
 * fills the gaps of the other (NCCL doubles its channels as well), across servers one for every
 * NIC that the ranks of the first server use
 * @return by channel, ranks in the order of the ring
 */
std::vector<std::vector<uint32_t>> MakeRingOrders(const Cluster& cluster,
                                                  const Paths& paths,
                                                  const std::vector<VertexId>& vertices,
                                                  uint32_t channels = 0);

/**
 * @ingroup proteus
 * Makes the program of a collective. Algorithms are registered in proteus-collective.cc.
 * @param cluster where the ranks are
 * @param paths of the cluster
 * @param request what is wanted; a group of one makes a program without steps
 * @return the program
 * @throw std::invalid_argument for a request that makes no sense
 */
CollectiveProgram MakeProgram(const Cluster& cluster,
                              const Paths& paths,
                              const CollectiveRequest& request);

/**
 * @ingroup proteus
 * The bytes that a rank sends, all blocks together.
 * @param program of one rank
 * @return sum of bytes of its sending steps
 */
uint64_t SentBytes(const RankProgram& program);

/**
 * @ingroup proteus
 * Executes a program symbolically, without a network, and checks that it computes its collective:
 * every byte of every rank's result holds the contribution of exactly the right ranks, once each,
 * and no step waits for ever.
 * @param program to check
 * @param request that it was made for
 * @return an empty text, or the first thing that is wrong
 */
std::string CheckProgram(const CollectiveProgram& program, const CollectiveRequest& request);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PROGRAM_H
