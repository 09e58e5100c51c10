/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-kernel-cost.h"

#include <cmath>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double PS_PER_US = 1e6;
constexpr double GBYTE = 1e9;

// For every channel, NCCL up to 2.21 writes a record of 512 bytes where the GPU reads it
// (struct ncclWork; NVIDIA/nccl v2.21.5, src/enqueue.cc, uploadWork()); from 2.22 on, 16 bytes
// into the arguments of the kernel (struct ncclDevWorkBatch; v2.22.3, finishPlan()).
constexpr uint32_t FIRST_WITH_BATCHES = 222;
constexpr int64_t RECORD_BYTES = 512;
constexpr int64_t BATCH_BYTES = 16;

// So a peer is cheaper, too, for which 64 bytes are written (struct ncclDevWorkP2p). One thread
// takes 13 us more for an all-to-all of eight B200 than for a gather on one host, and 24 us on
// another (nccl-tests by NCCL 2.29; mghpcc/aicr-benchmarks and a page beside it), 0.12 and 0.21 us
// for a peer and direction: a third of what one of records takes.
constexpr int64_t PEERS_OF_A_RECORD = 3;

/// @param us microseconds @return picoseconds
int64_t
ToPs(const SourcedNumber& us)
{
    return std::llround(us.value * PS_PER_US);
}

/// @param known of a generation @return what its collectives cost
CollectiveKernelCost
MakeCost(const CollectiveGeneration& known)
{
    constexpr auto SIMPLE = static_cast<std::size_t>(NcclProtocol::SIMPLE);
    CollectiveKernelCost cost;
    const auto at = [&cost](HopKind hop, std::size_t protocol) -> auto&
    {
        return cost.steps[static_cast<std::size_t>(hop)][protocol];
    };
    cost.messageBytesPerSecond = known.messageGBps[SIMPLE].value * GBYTE;
    cost.warpBytesPerSecond = known.warpGBps[SIMPLE].value * GBYTE;
    cost.groupWarpBytesPerSecond = known.switchWarpGBps[SIMPLE].value * GBYTE;
    for (std::size_t p = 0; p < NCCL_PROTOCOLS; ++p)
    {
        const double rate = known.blockGBps[p].value * GBYTE;
        const int64_t busyPs = ToPs(known.busyUs[p]);
        cost.kernelPs[p] = ToPs(known.startUs[p]);
        cost.chunkPs[p] = ToPs(known.chunkUs[p]);
        cost.gpuBytesPerSecond[p] = known.gpuGBps[p].value * GBYTE;
        at(HopKind::NVLINK, p) = {ToPs(known.nvlinkLatencyUs[p]), busyPs, rate};
        const bool hasTree = !known.treeLatencyUs[p].source.empty();
        cost.treeLatencyPs[p] = ToPs(hasTree ? known.treeLatencyUs[p] : known.nvlinkLatencyUs[p]);
        at(HopKind::PCIE, p) = {ToPs(known.pcieLatencyUs[p]), busyPs, rate};
        at(HopKind::NETWORK,
           p) = {ToPs(known.networkLatencyUs[p]), ToPs(known.networkBusyUs[p]), rate};
        at(HopKind::SWITCH, p) = {ToPs(known.switchLatencyUs[SIMPLE]),
                                  ToPs(known.switchBusyUs[SIMPLE]),
                                  known.switchBlockGBps[SIMPLE].value * GBYTE};
    }
    return cost;
}

/// @return what is built in
const CollectiveCosts&
GetBuiltIn()
{
    static const CollectiveCosts costs(GetBuiltInCollectiveCostTable());
    return costs;
}

} // namespace

CollectiveCosts::CollectiveCosts(const CollectiveCostTable& table)
{
    for (const CollectiveGeneration& generation : table.generations)
    {
        CollectiveGeneration other = generation;
        for (std::size_t p = 0; p < NCCL_PROTOCOLS; ++p)
        {
            if (!other.otherLatencyUs[p].source.empty())
            {
                other.networkLatencyUs[p] = other.otherLatencyUs[p];
            }
        }
        m_kernels.emplace(generation.firstCapability,
                          Kernels{MakeCost(generation), MakeCost(other)});
    }
    m_records = {ToPs(table.launch.kernelUs),
                 ToPs(table.launch.channelUs),
                 ToPs(table.launch.peerUs),
                 ToPs(table.launch.sharedThreadUs)};
    m_batches = m_records;
    m_batches.channelPs = m_records.channelPs * BATCH_BYTES / RECORD_BYTES;
    m_batches.peerPs = m_records.peerPs / PEERS_OF_A_RECORD;
}

const CollectiveCosts&
CollectiveCosts::Get(const std::shared_ptr<const CollectiveCosts>& costs)
{
    return costs ? *costs : GetBuiltIn();
}

const CollectiveKernelCost&
CollectiveCosts::GetKernel(uint32_t computeCapability, CpuVendor cpu) const
{
    const Kernels& kernels = std::prev(m_kernels.upper_bound(computeCapability))->second;
    return cpu == CpuVendor::AMD ? kernels.ofAmd : kernels.other;
}

const CollectiveLaunchCost&
CollectiveCosts::GetLaunch(uint32_t ncclVersion) const
{
    return ncclVersion < FIRST_WITH_BATCHES ? m_records : m_batches;
}

const CollectiveKernelCost&
GetCollectiveKernelCost(uint32_t computeCapability)
{
    return GetBuiltIn().GetKernel(computeCapability);
}

const CollectiveLaunchCost&
GetCollectiveLaunchCost(uint32_t ncclVersion)
{
    return GetBuiltIn().GetLaunch(ncclVersion);
}

} // namespace proteus
} // namespace ns3
