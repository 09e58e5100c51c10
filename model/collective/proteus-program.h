/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PROGRAM_H
#define PROTEUS_PROGRAM_H

#include "proteus-protocol.h"
#include "proteus-transport-rules.h"

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
 * schedule, do with the chunks of a buffer. A ProgramMachine executes the steps. Whoever wants to
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
constexpr bool
Receives(StepKind kind)
{
    return kind == StepKind::RECV || kind == StepKind::RECV_REDUCE ||
           kind == StepKind::RECV_COPY_SEND || kind == StepKind::RECV_REDUCE_SEND ||
           kind == StepKind::RECV_REDUCE_COPY_SEND;
}

/// @ingroup proteus
/// @param kind of a step @return whether it gives a chunk to the block's send peer
constexpr bool
Sends(StepKind kind)
{
    return kind == StepKind::SEND || kind == StepKind::RECV_COPY_SEND ||
           kind == StepKind::RECV_REDUCE_SEND || kind == StepKind::RECV_REDUCE_COPY_SEND;
}

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
 * A step works on the bytes [offset, offset + bytes) of the buffer. What it reads, to send, copy or
 * add it, may lie elsewhere, see Source(). GROUP_ALL_REDUCE and its GROUP_RECV may have no bytes:
 * then only flags are combined, by which the members have waited for each other.
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
    /// Whether what was sent up to here is whole for a NIC. A chunk of LL or LL128 passes through
    /// GPUs in parts, but is one message of the network (NVIDIA/nccl v2.30.7, postSend() of
    /// src/device/prims_ll128.h; for LL, sendProxyProgress() of src/transport/net.cc sees the flags
    /// of all lines first).
    bool endsChunk{true};

    /// @return first byte of what is read from the local buffer
    uint64_t Source() const
    {
        return source == AT_OFFSET ? offset : source;
    }
};

/**
 * @ingroup proteus
 * A thread block: steps that are done strictly in order. A step begins when the chunk that it
 * receives has arrived, when its receiver has granted room for the chunk that it sends, and when
 * the block that it waits for has come so far. Two blocks are connected if they have the same
 * channel and each is the other's peer; chunks between them arrive in the order in which they were
 * sent.
 *
 * A block with a network group does group steps only. In every rank, one block gives to the sums of
 * a group, one receives their results, one multicasts, and one receives the multicasts of each
 * sender; these may be the same block. All members give to the sums of a group in the same order.
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
    uint16_t warps{0};             //!< of the thread block that copy for it; 0: not counted
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

/// @ingroup proteus
/// How a version of NCCL shares the warps of a thread block among messages, see
/// CountMessageWarps().
enum class WarpRule : uint8_t
{
    WORKS,    //!< a message to a peer and one from it share a work (from NCCL 2.22 on)
    HALVES,   //!< each is one of a power of two of works (2.12 to 2.21)
    SEGMENTS, //!< both share one of a power of two of segments of 512 threads (2.8 to 2.11)
    BLOCK,    //!< both have all of the 512 threads, one peer after the other (2.7)
};

/**
 * @ingroup proteus
 * A collective for a whole group, one program per rank.
 *
 * Where input and result lie in the buffer of a rank. If the program is in place, both lie in a
 * buffer of CollectiveRequest::bytes; the own segment of an all-gather or a reduce-scatter lies at
 * its place there. Otherwise the input begins at 0 and the result at outputOffset; an own segment
 * then stands alone. All-to-all is never in place: from 0 on stands what the rank sends, in the
 * order of the receivers, and from outputOffset on what it gets, in the order of the senders. What
 * the root of a gather or a scatter has for itself is copied to where it is, which stands for
 * another buffer.
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
    /// Whether blocks with one processor are messages that share its warps in equal parts.
    bool sharesWarps{false};
    WarpRule warpRule{WarpRule::WORKS}; //!< where they do
};

/// @ingroup proteus
/// What an algorithm needs to know.
struct CollectiveRequest
{
    Collective collective{Collective::ALL_REDUCE}; //!< what is to be computed
    uint64_t bytes{0};                             //!< as the Collective counts them
    uint32_t root{0};                              //!< rank in the group, if HasRoot()
    uint32_t channels{0};                          //!< 0: the algorithm decides
    uint64_t chunkBytes{256 * 1024};               //!< most bytes of one step
    std::vector<VertexId> vertices;                //!< of the ranks, by rank in the group
    std::string algorithm;               //!< one of GetAlgorithms(); empty: the first of them
    Protocol protocol{Protocol::SIMPLE}; //!< goes into the program
    uint32_t slots{CHUNK_SLOTS};         //!< chunks that a receiver has room for, at least 2
    /// Steps that a chunk of a ring or tree is cut into (NCCL's slices, and parts of LL and LL128),
    /// as long as each has leastStepBytes; of rings no more than half of the slots.
    uint32_t stepsPerChunk{1};
    uint64_t leastStepBytes{1};  //!< see stepsPerChunk
    uint32_t networkChannels{0}; //!< direct, pxn: channels to a peer in another server; 0: channels
    /// All-to-all, gather, scatter: see InsertMessageRelays().
    bool relaysMessages{true};
    TransportRules rules;        //!< how GPUs of a server reach each other
    uint32_t messagesOfBlock{8}; //!< direct, pxn: to another server, that share a thread block; see
                                 //!< MessageBlocks
    /// Direct, pxn: thread blocks of a kernel that messages are spread over, a power of two; 0: as
    /// many as their channels want. See MessageBlocks.
    uint32_t messageProcessors{0};
    WarpRule warpRule{WarpRule::WORKS}; //!< direct, pxn: of the version
    uint32_t parameterServers{1}; //!< parameter-server: ranks from `root` on that are servers;
                                  //!< host-parameter-server: hosts, the first ones, that have some
    /// All-to-all: bytes from rank i to rank j, at i * ranks + j; empty: equal shares. No row may
    /// sum up to more than `bytes`. What a rank has for itself is copied.
    std::vector<uint64_t> splits;

    /// @return steps in a row that a NIC gets as one message, see Step::endsChunk: slices of Simple
    /// are messages of their own
    uint32_t GetStepsOfMessage() const
    {
        return protocol == Protocol::SIMPLE ? 1 : stepsPerChunk;
    }
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
/// A run of bytes of a buffer.
struct Extent
{
    uint64_t offset{0}; //!< first byte
    uint64_t bytes{0};  //!< how many
};

/// @ingroup proteus
/// @param whole to cut @param parts number of parts @param index which one, from 0
/// @return that part; parts are equal, but the first ones have a byte more where it does not divide
Extent CutExtent(const Extent& whole, uint64_t parts, uint64_t index);

/**
 * @ingroup proteus
 * The orders of the ranks on the rings, by channel: server after server, and inside a server the
 * orders that SearchRings() finds, one after the other. Every second server is walked backwards, so
 * that both ends of a network hop are on one rail, unless the last GPU of a server sends by way of
 * the one that the ring came in by (NicTable::FindRelay()).
 *
 * @param cluster where the ranks are
 * @param paths of the cluster
 * @param vertices of the ranks
 * @param channels how many; 0 for the default: one for each ring that was found across servers; in
 * a single server two, of which one uses the link while the other copies (NCCL doubles its channels
 * as well)
 * @param rules of transports
 * @return by channel, ranks in the order of the ring
 */
std::vector<std::vector<uint32_t>> MakeRingOrders(const Cluster& cluster,
                                                  const Paths& paths,
                                                  const std::vector<VertexId>& vertices,
                                                  uint32_t channels = 0,
                                                  const TransportRules& rules = TransportRules());

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
 * and no step waits for ever. It is done three times, with the blocks advanced in different orders,
 * so that a result that depends on who comes first is found.
 * @param program to check
 * @param request that it was made for
 * @return an empty text, or the first thing that is wrong; if steps wait for each other, all of
 * them
 */
std::string CheckProgram(const CollectiveProgram& program, const CollectiveRequest& request);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PROGRAM_H
