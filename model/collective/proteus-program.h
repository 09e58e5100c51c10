/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PROGRAM_H
#define PROTEUS_PROGRAM_H

#include "proteus-protocol.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-paths.h"

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
    COPY,                  //!< copy within the local buffer
    REDUCE,                //!< add within the local buffer
    WAIT,                  //!< do nothing but wait for another block
    GROUP_REDUCE,          //!< contribute to a reduction in the switches of the block's group,
                           //!< whose result goes to Step::peer
    GROUP_ALL_REDUCE,      //!< contribute to one whose result goes to all members
    GROUP_MULTICAST,       //!< send the chunk to all members of the group, also to oneself
    GROUP_RECV,            //!< receive from the group: the next multicast of Step::peer, or, where
                           //!< that is NO_RANK, the next result of a reduction
};

/// @ingroup proteus
/// @param kind of a step @return whether it takes a chunk from the block's receive peer
bool Receives(StepKind kind);
/// @ingroup proteus
/// @param kind of a step @return whether it gives a chunk to the block's send peer
bool Sends(StepKind kind);
/// @ingroup proteus
/// @param kind of a step @return whether it adds what it receives, or has elsewhere, to the local
/// buffer
bool Reduces(StepKind kind);

/// @ingroup proteus
/// @param kind of a step @return whether it gives a chunk to the block's network group
bool SendsToGroup(StepKind kind);
/// @ingroup proteus
/// @param kind of a step @return whether it reads bytes [Source(), Source() + bytes) of the buffer
bool ReadsBuffer(StepKind kind);
/// @ingroup proteus
/// @param kind of a step @return whether it writes bytes [offset, offset + bytes) of the buffer
bool WritesBuffer(StepKind kind);

/// @ingroup proteus
/// "No peer" of a thread block.
constexpr uint32_t NO_RANK = 0xffffffff;
/// @ingroup proteus
/// "No block" to wait for.
constexpr uint32_t NO_BLOCK = 0xffffffff;
/// @ingroup proteus
/// "No network group" of a thread block.
constexpr uint32_t NO_GROUP = 0xffffffff;
/// @ingroup proteus
/// "No processor" of a thread block: a NIC, or a copy of the system, does its work.
constexpr uint16_t NO_PROCESSOR = 0xffff;

/**
 * @ingroup proteus
 * A step works on bytes [offset, offset + bytes) of the buffer. What it reads may lie elsewhere:
 * what is sent, copied, or added to. GROUP_ALL_REDUCE and its GROUP_RECV may have no bytes: then
 * flags alone are combined, and the members have waited for each other.
 */
struct Step
{
    static constexpr uint64_t AT_OFFSET = UINT64_MAX; //!< read where is written

    StepKind kind{StepKind::SEND}; //!< what is done
    uint64_t offset{0};            //!< first byte
    uint64_t bytes{0};             //!< how many
    uint64_t source{AT_OFFSET};    //!< first byte of what is read, see Source()
    uint32_t waitBlock{NO_BLOCK};  //!< block of the same rank to wait for before it begins,
    uint32_t waitStep{0};          //!< until that has done this step
    uint32_t peer{NO_RANK};        //!< GROUP_REDUCE: who gets the result; GROUP_RECV: whose
                                   //!< multicast

    /// @return first byte of what is read from the local buffer
    uint64_t Source() const
    {
        return source == AT_OFFSET ? offset : source;
    }
};

/**
 * @ingroup proteus
 * A thread block: steps done strictly in order, each as soon as the chunk that it receives has
 * arrived, its receiver has granted room for the chunk that it sends, and the block that it waits
 * for has come so far. Chunks between two blocks (same channel, one's send peer the other's receive
 * peer) arrive in the order sent.
 *
 * A block with a network group does group steps only. Of one rank, one block gives to the
 * reductions of a group, one receives their results, one multicasts, and one receives the
 * multicasts of each sender; they may be the same. All members give to the reductions of a group in
 * the same order.
 */
struct ThreadBlock
{
    uint16_t channel{0};           //!< names the connections to its peers
    uint32_t receivePeer{NO_RANK}; //!< rank in the group
    uint32_t sendPeer{NO_RANK};    //!< rank in the group
    std::vector<Step> steps;       //!< in order
    uint32_t group{NO_GROUP};      //!< of CollectiveProgram::groups
    uint16_t processor{0};         //!< blocks of a rank with one number share one thread block of
                                   //!< the GPU, thus an SM; or NO_PROCESSOR
};

/// @ingroup proteus
/// What one rank does.
struct RankProgram
{
    std::vector<ThreadBlock> blocks; //!< they run side by side
};

/// @ingroup proteus
/// Ranks whose multicasts and reductions switches do: NVLink SHARP, or SHARP of InfiniBand.
struct NetworkGroup
{
    std::vector<uint32_t> members; //!< ranks, at least two, ascending
};

/**
 * @ingroup proteus
 * A collective for a whole group, one program per rank.
 *
 * Where the input lies in the buffer of a rank, and the result in the end: in place, both have
 * their place in a buffer of CollectiveRequest::bytes, that is also the own segment of an
 * all-gather or a reduce-scatter. Otherwise the input begins at 0, the result at outputOffset, and
 * an own segment lies there alone. All-to-all is never in place: what a rank sends stands in the
 * order of the receivers from 0, what it gets in the order of the senders from outputOffset.
 */
struct CollectiveProgram
{
    std::string algorithm;               //!< e.g. "ring"
    uint32_t channels{1};                //!< how many share the buffer
    uint64_t bufferBytes{0};             //!< extent of the buffer the offsets refer to
    std::vector<RankProgram> ranks;      //!< by rank in the group
    Protocol protocol{Protocol::SIMPLE}; //!< what is on the wire beside the payload
    uint32_t slots{CHUNK_SLOTS};         //!< chunks that a receiver has room for, per connection
    bool inPlace{true};                  //!< whether input and result share their place
    uint64_t outputOffset{0};            //!< not in place: where the result begins
    std::vector<NetworkGroup> groups;    //!< that blocks refer to
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
    std::string algorithm;               //!< one of GetAlgorithms(); empty: the first of them
    Protocol protocol{Protocol::SIMPLE}; //!< goes into the program
    uint32_t slots{CHUNK_SLOTS};         //!< chunks that a receiver has room for, at least 2
    /// Steps that a chunk of a ring is cut into as long as they keep leastStepBytes, NCCL's slices;
    /// no more than half of the slots.
    uint32_t stepsPerChunk{1};
    uint64_t leastStepBytes{1};  //!< see stepsPerChunk
    uint32_t networkChannels{0}; //!< direct, pxn: channels to a peer in another server; 0: channels
    uint32_t parameterServers{1}; //!< parameter-server: ranks from `root` on that are servers
    /// All-to-all: bytes from rank i to rank j, at i * ranks + j; empty: equal shares. No row may
    /// sum up to more than `bytes`. What a rank has for itself does not move.
    std::vector<uint64_t> splits;
};

/**
 * @ingroup proteus
 * An algorithm: makes the program of the collectives it serves.
 */
using CollectiveAlgorithm = CollectiveProgram (*)(const Cluster& cluster,
                                                  const Paths& paths,
                                                  const CollectiveRequest& request);

/**
 * @ingroup proteus
 * @param collective a collective
 * @return names of the algorithms that make programs of it, the one taken by default first
 */
std::vector<std::string> GetAlgorithms(Collective collective);

/**
 * @ingroup proteus
 * @param collective a collective
 * @param algorithm its name; empty for the default
 * @return what makes the programs
 * @throw std::invalid_argument that lists the names there are
 */
CollectiveAlgorithm FindAlgorithm(Collective collective, const std::string& algorithm = "");

/// @ingroup proteus
/// Bytes of a barrier: an all-reduce of one 4-byte element, as PyTorch's NCCL backend does it
/// (ProcessGroupNCCL::barrier()).
constexpr uint64_t BARRIER_ELEMENT_BYTES = 4;

/// @ingroup proteus
/// @param vertices of the ranks @return a request that makes all ranks wait for each other
CollectiveRequest MakeBarrierRequest(const std::vector<VertexId>& vertices);

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
 * The orders in which rings pass the ranks, by channel: server after server, inside them what
 * SearchRings() finds, in turn. Every second server is walked backwards, so that both ends of a
 * network hop are on one rail.
 *
 * @param cluster where the ranks are
 * @param paths of the cluster
 * @param vertices of the ranks
 * @param channels how many; 0 for the default. Within a server that is two for each ring that was
 * found, so that one fills the gaps of the other (NCCL doubles its channels as well); across servers
 * it is one
 * @return by channel, ranks in the order of the ring
 */
std::vector<std::vector<uint32_t>> MakeRingOrders(const Cluster& cluster,
                                                  const Paths& paths,
                                                  const std::vector<VertexId>& vertices,
                                                  uint32_t channels = 0);

/**
 * @ingroup proteus
 * Makes the program of a collective by an algorithm, see AlgorithmTraits.
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
 * The bytes that a rank sends, all blocks together: also what it gives to switches.
 * @param program of one rank
 * @return sum of bytes of its sending steps
 */
uint64_t SentBytes(const RankProgram& program);

/**
 * @ingroup proteus
 * The bytes that a rank receives, all blocks together: also what it gets from switches.
 * @param program of one rank
 * @return sum of bytes of its receiving steps
 */
uint64_t ReceivedBytes(const RankProgram& program);

/**
 * @ingroup proteus
 * Executes a program symbolically, without a network, and checks that it computes its collective:
 * every byte of every rank's result holds the contribution of exactly the right ranks, once each,
 * and no step waits for ever. Done three times, with the blocks advanced in other orders, so that
 * a result that depends on who comes first shows.
 * @param program to check
 * @param request that it was made for
 * @return an empty text, or the first thing that is wrong; of steps that wait for each other, all
 */
std::string CheckProgram(const CollectiveProgram& program, const CollectiveRequest& request);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PROGRAM_H
