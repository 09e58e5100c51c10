/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_BLOCK_COST_H
#define PROTEUS_BLOCK_COST_H

#include "proteus-program.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-collective-kernel-cost.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What the steps of a program cost its thread blocks, the same for all executors.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What every step of a thread block costs.
struct BlockCost
{
    int64_t latencyPs{0}; //!< from the arrival of a chunk to its use
    int64_t busyPs{0};    //!< of a step
    int64_t chunkPs{0};   //!< of a step that ends a chunk, beside that
    int64_t postPs{0};    //!< of a step that hands a chunk to a NIC, beside that
    double psPerByte{0};  //!< of a step, for every byte of its payload
    /// Of a step that receives, at least: it reads over PCI Express what lies in host memory.
    double receivePsPerByte{0};
    /// Of a step that sends, at least: it writes over PCI Express into host memory.
    double sendPsPerByte{0};
    /// Of a step that does both, at least: what is written meanwhile takes from what is read.
    double exchangePsPerByte{0};
    double warpsPsPerByte{0}; //!< of a step with all it takes, at least: what its warps move
    bool isDirect{false}; //!< chunks arrive where they belong: a step that only receives moves none

    /// @param step of the block @return that it is occupied by it, picoseconds
    double GetOccupancyPs(const Step& step) const
    {
        const bool movesBytes = !isDirect || step.kind != StepKind::RECV;
        const bool exchanges = Receives(step.kind) && Sends(step.kind);
        const double ps = std::max({psPerByte,
                                    Receives(step.kind) ? receivePsPerByte : 0,
                                    Sends(step.kind) ? sendPsPerByte : 0,
                                    exchanges ? exchangePsPerByte : 0});
        const bool posts = step.endsChunk && Sends(step.kind);
        const double bytes = movesBytes ? static_cast<double>(step.bytes) : 0;
        const int64_t once = (step.endsChunk ? chunkPs : 0) + (posts ? postPs : 0);
        return std::max(static_cast<double>(busyPs + once) + bytes * ps, bytes * warpsPsPerByte);
    }
};

/// @ingroup proteus
/// What the chunks that a block receives or sends cross.
struct BlockHop
{
    HopKind kind{HopKind::NETWORK}; //!< what
    /// Payload that the links between the GPU and a host memory carry, bytes per second; 0: the
    /// block neither reads nor writes host memory.
    double hostBytesPerSecond{0};
    /// Most thread blocks of the GPU that do so at once: its connections that way; 0: all.
    uint32_t hostBlocks{0};
    /// hostBytesPerSecond of a block that receives and writes as much to host memory at once.
    double exchangeBytesPerSecond{0};

    /// @param other what may be crossed @return whether it is
    bool Is(HopKind other) const
    {
        return kind == other;
    }
};

/// @ingroup proteus
/// What a block of a program has of the GPU.
struct BlockShare
{
    double part{0};         //!< of its thread block, in trees of `warps`, too; 0: it has none
    uint32_t processors{1}; //!< thread blocks that the kernel has on the GPU
    bool isMessage{false};  //!< whether a send and a receive of messages share its warps
    bool isTree{false};     //!< whether its steps are those of a tree
    bool isOwn{false};      //!< whether it copies what the rank has for itself
    uint32_t warps{0};      //!< that copy for it; 0: not counted
    /// Whether the step of another block reads what it receives and hands it on, so that its own
    /// steps only wait for it.
    bool passesOn{false};
    double memoryBytesPerSecond{0}; //!< of the memory of the GPU; 0: not known
    bool hasMessages{false};        //!< whether what its steps move are messages
};

/// @ingroup proteus
/// Messages of a rank that share a thread block.
struct MessageCount
{
    uint16_t senders{0};   //!< that send
    uint16_t receivers{0}; //!< that receive
    uint16_t copies{0};    //!< of what the rank has for itself
};

/**
 * @ingroup proteus
 * Of the 640 threads of a thread block for messages, up to eight works have equal parts. What a
 * rank has for itself is a work like those to and from a peer.
 *
 * From NCCL 2.22 on a work of w warps receives with w / 2, or (w - 1) / 2 if w is above 4, and
 * sends with one more then; what has no opposite has both, and so has what is copied (`isCopy`).
 * From 2.12 to 2.21 a send and a receive are two of a power of two of works, with an equal power of
 * two of warps, the sends with one more if that is not 1, which copy what the rank has for itself
 * (`runSend()`). From 2.8 to 2.11 works share 512 threads, a power of two of them each, half for
 * each way; before, each has all of them. Of three and more warps that send, one does nothing but
 * post.
 *
 * (NVIDIA/nccl v2.22.3 and v2.30.7, src/device/sendrecv.h and prims_simple.h,
 * NCCL_SIMPLE_EXTRA_GROUP_IF_NTHREADS_GE; v2.12.12 to v2.21.5, src/collectives/device/sendrecv.h,
 * and finishWorkP2p() of src/enqueue.cc; v2.8.4, src/enqueue.cc, saveP2pOp(); v2.7.8,
 * src/collectives/device/sendrecv.h.)
 * @param rule of the version @param count of the thread block @param isOwn whether it is about what
 * the rank has for itself
 * @return warps that copy for one of the messages
 */
uint32_t CountMessageWarps(WarpRule rule, const MessageCount& count, bool isOwn);

/// @ingroup proteus
/// How much of a thread block of the GPU the blocks of a program have.
class BlockShares
{
  public:
    /// @param program to look at
    explicit BlockShares(const CollectiveProgram& program);

    /**
     * @param rank of the program
     * @param block of the rank
     * @return what the block has: all of its processor; half of it where several blocks of a
     * processor send; of messages that share its warps, an equal part (NVIDIA/nccl v2.30.7,
     * src/device/sendrecv.h: warps are divided by the works of a batch), and no more than its
     * warps move, some of which may copy what the rank has for itself
     */
    BlockShare Get(uint32_t rank, const ThreadBlock& block) const;

  private:
    /// Blocks of a processor.
    struct Count
    {
        uint16_t blocks{0};    //!< those with peers
        uint32_t chunks{0};    //!< of that with most
        MessageCount messages; //!< of them
    };

    /// @param block of the program @return whether it copies what a rank has for itself
    bool IsOwn(const ThreadBlock& block) const;

    /**
     * Heads of NVLSTree read what the switches sum up, and what comes from other servers, in the
     * step that sends it on or multicasts it (NVIDIA/nccl v2.18.3 to v2.30.7, all_reduce.h of the
     * device, directRecvDirectSend() of NVLS_TREE).
     * @param block of the program @return see BlockShare::passesOn
     */
    bool PassesOn(const ThreadBlock& block) const;

    std::vector<std::vector<Count>> m_counts; //!< by rank and processor
    std::vector<uint32_t> m_processors;       //!< by rank: those that have blocks with peers
    bool m_isMessage;                         //!< see BlockShare::isMessage
    bool m_isTree;                            //!< see BlockShare::isTree
    bool m_isNvlsTree;                        //!< whether heads of servers pass on, see PassesOn()
    bool m_sharesWarps;                       //!< see CollectiveProgram::sharesWarps
    WarpRule m_warpRule;                      //!< see CollectiveProgram::warpRule
};

/**
 * @ingroup proteus
 * @param costs of the GPU
 * @param protocol of the program
 * @param share of the block, its part above 0
 * @param inGroup whether the block works with a network group
 * @param receive what its chunks cross, if it receives any
 * @param send what it sends crosses, if it sends
 * @return what its steps cost
 *
 * Where there is no peer-to-peer, the kernel of the sender writes into host memory and that of the
 * receiver reads it (NVIDIA/nccl 033d7995, src/transport/shm.cc, shmSendConnect(),
 * shmRecvConnect(): both get the address of the buffer), and each is occupied until its own bytes
 * have crossed PCI Express, of which the thread blocks of a GPU have equal parts.
 */
BlockCost GetBlockCost(const CollectiveKernelCost& costs,
                       Protocol protocol,
                       BlockShare share,
                       bool inGroup,
                       std::optional<BlockHop> receive,
                       std::optional<BlockHop> send);

/**
 * @ingroup proteus
 * @param costs of the GPU
 * @param protocol of the program
 * @param share of the block that sends
 * @return bytes per second that it puts on the wire, with the flags of the protocol; 0 for no limit
 */
double GetBlockWireRate(const CollectiveKernelCost& costs, Protocol protocol, BlockShare share);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_BLOCK_COST_H
