/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COLLECTIVE_KERNEL_COST_H
#define PROTEUS_COLLECTIVE_KERNEL_COST_H

#include "proteus-collective-cost-table.h"
#include "proteus-nccl-cost.h"

#include "ns3/proteus-cpu-vendor.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>

/**
 * @file
 * @ingroup proteus
 * What NCCL's kernels, its proxies and the host cost besides the time of the bytes on the wire.
 * The numbers and their sources are in proteus-collective-cost-table.cc.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What a step of a thread block crosses.
enum class HopKind : uint8_t
{
    NVLINK,  //!< NVLink, also through NVSwitches
    PCIE,    //!< PCI Express and what is between CPUs
    NETWORK, //!< NICs: a proxy thread of the host posts the sends
    SWITCH,  //!< a group whose switches multicast and reduce
};

/// @ingroup proteus
/// Number of HopKind values.
constexpr std::size_t HOP_KINDS = 4;

/// @ingroup proteus
/// What a step costs.
struct CollectiveStepCost
{
    /// Picoseconds from the arrival of the last byte of a chunk until it can be used: the sender's
    /// fence, the flag, the receiver's poll, the barrier of its threads; through a network also
    /// both proxies. Steps in flight overlap it.
    int64_t latencyPs{0};
    /// That the thread block does nothing else for: barriers, index arithmetic, posting the flag.
    int64_t busyPs{0};
    /// Payload that one thread block moves, bytes per second; 0: no limit.
    double blockBytesPerSecond{0};
};

/// @ingroup proteus
/// What the collectives of a GPU cost.
struct CollectiveKernelCost
{
    /// From the moment the stream is free, or the launch there, to the first step, and from the
    /// last one to the moment at which the stream is free again; by NcclProtocol.
    std::array<int64_t, NCCL_PROTOCOLS> kernelPs{};
    /// That a thread block is busy for with a chunk, beside what its steps take, by NcclProtocol: a
    /// primitive of NCCL is called once for a chunk, and its threads wait for each other.
    std::array<int64_t, NCCL_PROTOCOLS> chunkPs{};
    /// Payload that all thread blocks of a kernel move together, bytes per second, by NcclProtocol;
    /// 0: no limit but theirs.
    std::array<double, NCCL_PROTOCOLS> gpuBytesPerSecond{};
    /// Payload that a thread block moves of a message with Simple, bytes per second: a send and a
    /// receive share the warps of the block (NVIDIA/nccl v2.30.7, src/device/sendrecv.h).
    double messageBytesPerSecond{0};
    /// That one of few warps of a thread block moves of a message with Simple, all that a step
    /// takes included, bytes per second; 0: no limit.
    double warpBytesPerSecond{0};
    /// That one of the warps moves that copy between a buffer of the user and one that switches
    /// multicast and reduce, all that a step takes included, bytes per second; 0: no limit.
    double groupWarpBytesPerSecond{0};
    /// Of a step of a tree, in place of CollectiveStepCost::latencyPs of NVLink, by NcclProtocol: a
    /// ring goes through a GPU as fast as its warps take up the next step, a tree as the bytes do.
    std::array<int64_t, NCCL_PROTOCOLS> treeLatencyPs{};
    /// By HopKind and NcclProtocol.
    std::array<std::array<CollectiveStepCost, NCCL_PROTOCOLS>, HOP_KINDS> steps;

    /// @param protocol of the kernel @return its start and end
    int64_t GetKernelPs(NcclProtocol protocol) const
    {
        return kernelPs[static_cast<std::size_t>(protocol)];
    }

    /// @param hop what is crossed @param protocol of the step @return what it costs
    const CollectiveStepCost& Get(HopKind hop, NcclProtocol protocol) const
    {
        return steps[static_cast<std::size_t>(hop)][static_cast<std::size_t>(protocol)];
    }
};

/// @ingroup proteus
/// What a host thread takes to launch a collective on one GPU.
struct CollectiveLaunchCost
{
    int64_t kernelPs{0};  //!< for the kernel,
    int64_t channelPs{0}; //!< for every channel of a collective,
    int64_t peerPs{0};    //!< and for every peer of a point-to-point operation and direction
    /// What every kernel starts later where one thread launches those of all eight GPUs of a
    /// server, even if it is far ahead of the GPUs; of fewer, in proportion.
    int64_t sharedThreadPs{0};
};

/// @ingroup proteus
/// What collectives cost on all GPUs.
class CollectiveCosts
{
  public:
    /// @param table of the numbers; the first generation begins at 0
    explicit CollectiveCosts(const CollectiveCostTable& table);

    /// @param costs of a run, or null @return them; of null, those that are built in
    static const CollectiveCosts& Get(const std::shared_ptr<const CollectiveCosts>& costs);

    /// @param computeCapability of the GPU, ten times, e.g. 80 for an A100
    /// @param cpu who made those of its server, whose memory and proxies a network's chunks cross
    /// @return what its collectives cost
    const CollectiveKernelCost& GetKernel(uint32_t computeCapability,
                                          CpuVendor cpu = CpuVendor::AMD) const;

    /// @param ncclVersion 100 times the major and the minor number: before 2.22 a channel costs
    /// more @return what the host takes to launch a collective. It depends on the CPU; that of the
    /// table is of the servers with A100
    const CollectiveLaunchCost& GetLaunch(uint32_t ncclVersion) const;

  private:
    /// What a generation costs.
    struct Kernels
    {
        CollectiveKernelCost ofAmd; //!< beside CPUs of AMD
        CollectiveKernelCost other; //!< beside all others
    };

    std::map<uint32_t, Kernels> m_kernels; //!< by first capability
    CollectiveLaunchCost m_records;        //!< up to NCCL 2.21
    CollectiveLaunchCost m_batches;        //!< from 2.22 on
};

/**
 * @ingroup proteus
 * @param computeCapability of the GPU, ten times, e.g. 80 for an A100
 * @return what its collectives cost, as it is built in
 */
const CollectiveKernelCost& GetCollectiveKernelCost(uint32_t computeCapability);

/**
 * @ingroup proteus
 * @param ncclVersion 100 times the major and the minor number
 * @return CollectiveCosts::GetLaunch(), as it is built in
 */
const CollectiveLaunchCost& GetCollectiveLaunchCost(uint32_t ncclVersion);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COLLECTIVE_KERNEL_COST_H
