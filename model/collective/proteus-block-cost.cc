/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-block-cost.h"

#include "proteus-algorithm-traits.h"
#include "proteus-collective-choice.h"

#include "ns3/proteus-whole-number.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

namespace
{

/// Picoseconds in a second.
constexpr double PS_PER_SECOND = 1e12;

/// From the arrival of a chunk of one slice through NVLink to its use, at most, picoseconds: of a
/// message, and of a tree by Simple (NVIDIA/nccl v2.12.12 to v2.30.7, all_reduce.h of the device,
/// runTreeSplit<..., ProtoSimple<1, 1>>). A ring may have more (CollectiveStepCost::latencyPs, 10.4
/// us on B200), where the slices of its chunks hide it. All-to-alls of two to eight B200 take 18 to
/// 42 us for 1 MiB and 23 to 46 for 4 (NCCL 2.29.3; public logs of nccl-tests,
/// mghpcc/aicr-benchmarks), 12 to 14 less among two than with 10.4. This is what Simple has on A100
/// and H100, fitted there.
constexpr int64_t MOST_SLICE_LATENCY_PS = 3000000;

constexpr uint32_t WARPS_OF_BLOCK = 20;    // NCCL_MAX_NTHREADS, 640
constexpr uint32_t WARPS_OF_SEGMENTS = 16; // of all works, before 2.12
constexpr uint32_t WORKS_OF_BATCH = 8;     // NCCL_MAX_DEV_WORK_P2P_PER_BATCH
constexpr uint32_t MOST_EVEN_WARPS = 4;    // of a work, shared equally by its send and its receive
constexpr uint32_t WARPS_WITH_POST = 3;    // NCCL_SIMPLE_EXTRA_GROUP_IF_NTHREADS_GE, 96

/// @param costs of the GPU @param protocol of the program @param share of the block
/// @return payload that it moves, bytes per second; 0: no limit
double
GetBlockRate(const CollectiveKernelCost& costs, NcclProtocol protocol, BlockShare share)
{
    protocol = share.isOwn ? NcclProtocol::SIMPLE : protocol;
    const double all = costs.gpuBytesPerSecond[static_cast<std::size_t>(protocol)];
    const bool isSimple = protocol == NcclProtocol::SIMPLE;
    const double rate = share.isMessage && isSimple
                            ? costs.messageBytesPerSecond
                            : costs.Get(HopKind::NVLINK, protocol).blockBytesPerSecond;
    return share.part * (all > 0 && !share.isOwn ? std::min(rate, all / share.processors) : rate);
}

/// @param costs of the GPU @param protocol of the program @param share of the block
/// @return payload that its warps move at most, bytes per second, in a tree for one of the copies
/// that they make, where a warp moves what one of NVLS does if that is known: its chunks are as
/// long, those of messages shorter; 0: no limit
double
GetWarpsRate(const CollectiveKernelCost& costs, NcclProtocol protocol, BlockShare share)
{
    const double ofTree =
        share.part * std::max(costs.warpBytesPerSecond, costs.groupWarpBytesPerSecond);
    const double rate = share.isTree ? ofTree : costs.warpBytesPerSecond;
    return protocol == NcclProtocol::SIMPLE || share.isOwn ? rate * share.warps : 0;
}

/// @param hop of a block @param bytesPerSecond of payload that it has of its links, all blocks
/// together @param protocol of the program @param share of the block
/// @return picoseconds for a byte of payload between its GPU and host memory; 0: it goes elsewhere
double
GetHostPsPerByte(const BlockHop& hop, double bytesPerSecond, Protocol protocol, BlockShare share)
{
    const ProtocolTraits& traits = GetTraits(protocol);
    // Others of the GPU's blocks may have NVLink for what they move meanwhile.
    const uint32_t blocks =
        hop.hostBlocks > 0 ? std::min(hop.hostBlocks, share.processors) : share.processors;
    return bytesPerSecond > 0
               ? PS_PER_SECOND / bytesPerSecond * blocks * traits.lineBytes / traits.dataBytes
               : 0;
}

/// @param costs of the GPU @param protocol of the program @param hop that is crossed
/// @return picoseconds that a block is busy with a step: lines of LL and LL128 come from a network,
/// and go to one, as they do inside a server, but that a chunk must be posted when it is whole
int64_t
GetPassPs(const CollectiveKernelCost& costs, NcclProtocol protocol, HopKind hop)
{
    const bool isLines = protocol != NcclProtocol::SIMPLE;
    return costs.Get(isLines && hop == HopKind::NETWORK ? HopKind::NVLINK : hop, protocol).busyPs;
}

/// @param block of a program @return chunks that it sends or receives
uint32_t
CountChunks(const ThreadBlock& block)
{
    return static_cast<uint32_t>(
        std::count_if(block.steps.begin(), block.steps.end(), [](const Step& step) {
            return Receives(step.kind) || Sends(step.kind);
        }));
}

/**
 * What goes up a tree and what comes down share a thread block. A few chunks are on their way up
 * before the first one has come down, and come down when no other one goes up: then each half has
 * the block to itself, as long as they fill no more than half of a connection's slots. With more,
 * halves meet for a part of the time, which is not counted: they share from the first chunk to the
 * last. All-reduces by trees of Simple between GH200 take 183, 295, 347, 447 and 697 us at 2, 4, 8,
 * 16 and 32 MiB on two servers, whose eight channels have one to eight chunks of 512 KiB (NCCL
 * 2.23.4, public logs of nccl-tests, boeschf/nccl-benchmark-on-alps-2025, NCCL_CROSS_NIC=1). Six of
 * eight hops are through NVLink: a chunk of 256 KiB more takes 18 to 22 GB/s at each of them. Of LL
 * and LL128 no such log is known; their numbers were set with halves.
 * @param program to look at @return most chunks of a thread block whose halves do not meet
 */
uint32_t
CountChunksApart(const CollectiveProgram& program)
{
    // Of the collectives only all-reduce has two halves, one of which has warps of its own.
    const bool hasHalves =
        std::any_of(program.ranks.begin(), program.ranks.end(), [](const RankProgram& rank) {
            return std::any_of(rank.blocks.begin(),
                               rank.blocks.end(),
                               [](const ThreadBlock& block) { return block.warps > 0; });
        });
    return hasHalves && program.protocol == Protocol::SIMPLE &&
                   GetAlgorithmTraits(program.algorithm).tunable == NcclAlgorithm::TREE
               ? program.slots / 2
               : 0;
}

/// @param block of a program @return whether it gives sums to switches
bool
GivesToSwitches(const ThreadBlock& block)
{
    return std::any_of(block.steps.begin(), block.steps.end(), [](const Step& step) {
        return SendsToGroup(step.kind);
    });
}

/**
 * A warp that copies what switches multicast has 2 KiB under way (16 bytes of 32 threads, four
 * times: COLL_UNROLL of NCCL's device code) and waits for them, in part for the memory of the GPU.
 * Five warps of a block move 3.15 GB/s each on H100, four logs of two servers (NDv5 of Azure, NCCL
 * 2.29.7, among them), and 3.235 on H200, the middle of three (BM.GPU.H200.8 of OCI, 2.27.5, among
 * them), none of them a table of the fit. The two differ by their memory, 3350 and 4800 GB/s: so
 * 8.7 % of the time on H100 are those of memory. No third GPU is known that could tell.
 * @param memoryBytesPerSecond of the GPU; 0: not known
 * @return time that a warp takes, in that of one on an H100
 */
double
GetWarpTime(double memoryBytesPerSecond)
{
    constexpr double OF_MEMORY = 0.087;
    constexpr double H100_BYTES_PER_SECOND = 3350e9;
    return memoryBytesPerSecond > 0
               ? 1 - OF_MEMORY + OF_MEMORY * H100_BYTES_PER_SECOND / memoryBytesPerSecond
               : 1;
}

} // namespace

uint32_t
CountMessageWarps(WarpRule rule, const MessageCount& count, bool isOwn)
{
    const bool isOneWay = count.senders == 0 || count.receivers == 0;
    const uint32_t works =
        std::clamp<uint32_t>(std::max(count.senders, count.receivers) + count.copies,
                             1,
                             WORKS_OF_BATCH);
    const auto withoutPost = [](uint32_t warps) {
        return warps < WARPS_WITH_POST ? warps : warps - 1;
    };
    switch (rule)
    {
    case WarpRule::WORKS: {
        const uint32_t each = WARPS_OF_BLOCK / works;
        const uint32_t receiving = (each <= MOST_EVEN_WARPS ? each : each - 1) / 2;
        const uint32_t sending = each <= MOST_EVEN_WARPS ? receiving : receiving + 1;
        return isOwn      ? sending + receiving
               : isOneWay ? withoutPost(sending + receiving)
                          : std::min(receiving, withoutPost(sending));
    }
    case WarpRule::HALVES: {
        // A receive that is alone is the only work.
        const bool isAlone = count.senders == 0 && count.copies == 0 && count.receivers == 1;
        const uint32_t halves = isAlone ? 1 : 2 * RoundUpToPowerOfTwo(works);
        uint32_t warps = 1;
        while (warps * halves <= WARPS_OF_BLOCK / 2)
        {
            warps *= 2;
        }
        return isOwn && warps > 1 ? warps + 1 : warps;
    }
    case WarpRule::SEGMENTS:
        return WARPS_OF_SEGMENTS / RoundUpToPowerOfTwo(works) / (isOwn ? 1 : 2);
    case WarpRule::BLOCK:
        return WARPS_OF_SEGMENTS / (isOwn ? 1 : 2);
    }
    return 0;
}

BlockShares::BlockShares(const CollectiveProgram& program)
    : m_counts(program.ranks.size()),
      m_processors(program.ranks.size()),
      m_isMessage(GetAlgorithmTraits(program.algorithm).isLaunchedByPeer),
      m_isTree(GetAlgorithmTraits(program.algorithm).hasTreeSteps),
      m_isNvlsTree(GetAlgorithmTraits(program.algorithm).tunable == NcclAlgorithm::NVLS_TREE),
      m_sharesWarps(program.sharesWarps),
      m_warpRule(program.warpRule)
{
    const uint32_t apart = CountChunksApart(program);
    for (std::size_t rank = 0; rank < program.ranks.size(); ++rank)
    {
        auto& counts = m_counts[rank];
        for (const ThreadBlock& block : program.ranks[rank].blocks)
        {
            if (block.processor != NO_PROCESSOR)
            {
                counts.resize(std::max<std::size_t>(counts.size(), block.processor + 1));
                Count& count = counts[block.processor];
                if (IsOwn(block))
                {
                    ++count.messages.copies;
                    continue;
                }
                m_processors[rank] += count.blocks++ == 0;
                if (m_isMessage || m_isTree)
                {
                    count.chunks = std::max(count.chunks, CountChunks(block));
                }
                count.messages.senders += block.sendPeer != NO_RANK;
                count.messages.receivers += block.receivePeer != NO_RANK;
            }
            else if (GivesToSwitches(block))
            {
                // Its thread block has one copy more to write, as to the parent in a tree.
                counts.resize(std::max<std::size_t>(counts.size(), block.channel + 1));
                ++counts[block.channel].messages.senders;
            }
        }
        for (Count& count : counts)
        {
            if (count.chunks > 0 && count.chunks <= apart)
            {
                count.messages.senders = std::min<uint16_t>(count.messages.senders, 1);
            }
        }
    }
}

bool
BlockShares::IsOwn(const ThreadBlock& block) const
{
    return m_sharesWarps && block.sendPeer == NO_RANK && block.receivePeer == NO_RANK;
}

bool
BlockShares::PassesOn(const ThreadBlock& block) const
{
    if (!m_isNvlsTree)
    {
        return false;
    }
    const bool isSum = block.group != NO_GROUP && block.warps == 0 &&
                       std::any_of(block.steps.begin(), block.steps.end(), [](const Step& step) {
                           return step.kind == StepKind::GROUP_RECV;
                       });
    const bool onlyReceives = block.receivePeer != NO_RANK && block.sendPeer == NO_RANK;
    return isSum || onlyReceives;
}

BlockShare
BlockShares::Get(uint32_t rank, const ThreadBlock& block) const
{
    if (block.processor == NO_PROCESSOR)
    {
        return {};
    }
    const MessageCount& count = m_counts[rank][block.processor].messages;
    // A message of one chunk has been sent when another one has come.
    const bool isInTurn = m_counts[rank][block.processor].chunks <= 1;
    if (!m_sharesWarps)
    {
        // Of trees half is for what goes up and half for what comes down. Warps that hand on what
        // comes down write it to each child and to the own result: as often as the rank sends, to
        // the parent and to the children. A message by itself is part of an exchange, as far as its
        // program can tell.
        const bool handsOn = m_isTree && block.warps > 0;
        return {count.senders <= 1 ? 1
                : handsOn          ? 1.0 / count.senders
                                   : 0.5,
                m_processors[rank],
                m_isMessage,
                m_isTree,
                false,
                block.warps,
                PassesOn(block),
                0,
                m_isMessage};
    }
    const bool isOneWay = count.senders == 0 || count.receivers == 0;
    const bool isOwn = IsOwn(block);
    const uint32_t messages = std::max(count.senders, count.receivers);
    const double works = messages > 0 ? messages : count.copies;
    return {m_warpRule == WarpRule::BLOCK ? 1 : 1 / works,
            m_processors[rank],
            m_isMessage && !isOneWay && !isInTurn && !(isOwn && m_warpRule == WarpRule::BLOCK),
            m_isTree,
            isOwn,
            CountMessageWarps(m_warpRule, count, isOwn),
            false,
            0,
            m_isMessage};
}

BlockCost
GetBlockCost(const CollectiveKernelCost& costs,
             Protocol protocol,
             BlockShare share,
             bool inGroup,
             std::optional<BlockHop> receive,
             std::optional<BlockHop> send)
{
    const NcclProtocol nccl = ToNcclProtocol(protocol);
    BlockCost cost;
    if (inGroup && share.passesOn)
    {
        return cost;
    }
    if (inGroup)
    {
        const CollectiveStepCost& step = costs.Get(HopKind::SWITCH, nccl);
        cost.busyPs = step.busyPs;
        cost.psPerByte =
            step.blockBytesPerSecond > 0 ? PS_PER_SECOND / step.blockBytesPerSecond : 0;
        const double warpsRate = share.warps * costs.groupWarpBytesPerSecond;
        cost.warpsPsPerByte =
            warpsRate > 0 ? PS_PER_SECOND / warpsRate * GetWarpTime(share.memoryBytesPerSecond) : 0;
        return cost;
    }
    if (receive)
    {
        const CollectiveStepCost& step = costs.Get(receive->kind, nccl);
        cost.latencyPs = share.isTree && receive->Is(HopKind::NVLINK)
                             ? costs.treeLatencyPs[static_cast<std::size_t>(nccl)]
                             : step.latencyPs;
        const bool isTreeOfSimple = share.isTree && nccl == NcclProtocol::SIMPLE;
        if ((share.hasMessages || isTreeOfSimple) && receive->Is(HopKind::NVLINK))
        {
            cost.latencyPs = std::min(cost.latencyPs, MOST_SLICE_LATENCY_PS);
        }
        cost.busyPs = GetPassPs(costs, nccl, receive->kind);
    }
    if (send)
    {
        cost.busyPs = std::max(cost.busyPs, GetPassPs(costs, nccl, send->kind));
        cost.postPs = costs.Get(send->kind, nccl).busyPs - GetPassPs(costs, nccl, send->kind);
    }
    cost.chunkPs = costs.chunkPs[static_cast<std::size_t>(nccl)];
    const double rate = GetBlockRate(costs, nccl, share);
    cost.psPerByte = rate > 0 ? PS_PER_SECOND / rate : 0;
    const double warpsRate = GetWarpsRate(costs, nccl, share);
    cost.warpsPsPerByte = warpsRate > 0 ? PS_PER_SECOND / warpsRate : 0;
    const auto getHostPs = [&](const BlockHop& hop, double bytesPerSecond) {
        return GetHostPsPerByte(hop, bytesPerSecond, protocol, share);
    };
    cost.receivePsPerByte = receive ? getHostPs(*receive, receive->hostBytesPerSecond) : 0;
    cost.sendPsPerByte = send ? getHostPs(*send, send->hostBytesPerSecond) : 0;
    if (share.passesOn)
    {
        cost.busyPs = cost.chunkPs = 0;
        cost.psPerByte = cost.warpsPsPerByte = 0;
    }
    if (cost.sendPsPerByte > 0 && cost.receivePsPerByte > 0)
    {
        cost.exchangePsPerByte = getHostPs(*receive, receive->exchangeBytesPerSecond);
    }
    return cost;
}

double
GetBlockWireRate(const CollectiveKernelCost& costs, Protocol protocol, BlockShare share)
{
    const ProtocolTraits& traits = GetTraits(protocol);
    const NcclProtocol nccl = ToNcclProtocol(protocol);
    const double equal = GetBlockRate(costs, nccl, share);
    const double warpsRate = GetWarpsRate(costs, nccl, share);
    return (warpsRate > 0 ? std::min(equal, warpsRate) : equal) * traits.lineBytes /
           traits.dataBytes;
}

} // namespace proteus
} // namespace ns3
