/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-kernels.h"

#include "ns3/proteus-collective-choice.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-nccl-tuner.h"
#include "ns3/proteus-net-plugin.h"
#include "ns3/proteus-program-repeat.h"
#include "ns3/proteus-whole-number.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param rank of a program @return whether it has a thread block of a GPU
bool
HasKernel(const RankProgram& rank)
{
    return std::any_of(rank.blocks.begin(), rank.blocks.end(), [](const ThreadBlock& block) {
        return block.processor != NO_PROCESSOR;
    });
}

} // namespace

bool
AreLaunchedAhead(const CollectiveSettings& settings)
{
    const bool isTimed = settings.launchPs < 0 ? settings.kernelCosts : settings.launchPs > 0;
    return LaunchModeFromString(settings.launchMode) == LaunchMode::STREAM &&
           (isTimed || settings.launchGapPs > 0);
}

CollectiveKernels::CollectiveKernels(const ExecutionGraph& graph,
                                     const Cluster& cluster,
                                     const CollectiveSettings& settings)
    : m_graph(graph),
      m_cluster(cluster),
      m_settings(settings),
      m_launchMode(LaunchModeFromString(settings.launchMode)),
      m_hostPs(graph.GetNDevices(), 0),
      m_cpus(ListCpuVendors(settings.cpuVendor, cluster))
{
    std::map<std::string, uint32_t> known; // every block asks, and a name is matched with many
    for (const VertexId gpu : cluster.GetGpus())
    {
        const std::string& model = cluster.GetVertices()[gpu].model;
        const auto [entry, isNew] = known.try_emplace(model, 0);
        if (isNew)
        {
            entry->second = FindComputeCapability(model);
        }
        m_capabilities.push_back(entry->second);
    }
}

const CollectiveKernelCost&
CollectiveKernels::GetKernelCost(DeviceId device) const
{
    return CollectiveCosts::Get(m_settings.costs)
        .GetKernel(GetCapability(device), m_cpus.at(device));
}

int64_t
CollectiveKernels::GetHostPs(const Task& task,
                             const CollectiveProgram& program,
                             uint32_t rank) const
{
    const CollectiveLaunchCost& cost =
        CollectiveCosts::Get(m_settings.costs).GetLaunch(m_settings.ncclVersion);
    const int64_t launchPs = GetLaunchPs(cost, program, rank);
    // Of messages, every rank sends one and receives one in a kernel.
    return task.collective == Collective::SEND_RECV ? launchPs - cost.kernelPs + cost.kernelPs / 2
                                                    : launchPs;
}

std::pair<int64_t, int64_t>
CollectiveKernels::FindTurn(const Task& task, DeviceId device) const
{
    const auto isBeside = [&](DeviceId other) {
        return m_cluster.GetServer(other) == m_cluster.GetServer(device);
    };
    int64_t before = 0;
    int64_t all = 0;
    if (task.collective == Collective::SEND_RECV && m_settings.communicatorServers > 0)
    {
        all = static_cast<int64_t>(
            DivideUp(m_settings.communicatorRanks, m_settings.communicatorServers));
        before = device - m_cluster.GetServerRanks(device).first;
        return {std::min(before, all - 1), all};
    }
    for (DeviceId other : m_graph.GetGroup(task.place))
    {
        all += isBeside(other);
        before += isBeside(other) && other < device;
    }
    return {before, all};
}

int64_t
CollectiveKernels::Launch(DeviceId device,
                          TaskId id,
                          const CollectiveProgram& program,
                          uint32_t rank,
                          int64_t nowPs)
{
    int64_t launchedPs = nowPs;
    if (m_graph.GetTask(id).collective == Collective::SEND_RECV && !HasKernel(program.ranks[rank]))
    {
        return launchedPs;
    }
    if (m_launchMode != LaunchMode::STREAM)
    {
        const Task& task = m_graph.GetTask(id);
        const int64_t onePs = GetHostPs(task, program, rank);
        const auto [before, all] = m_launchMode == LaunchMode::ONE_PROCESS
                                       ? FindTurn(task, device)
                                       : std::make_pair<int64_t, int64_t>(0, 1);
        launchedPs = std::max(launchedPs, m_hostPs[device] + (before + 1) * onePs);
        m_hostPs[device] += all * onePs;
    }
    launchedPs += m_settings.launchGapPs;
    if (m_settings.launchPs >= 0)
    {
        return launchedPs + m_settings.launchPs;
    }
    return m_settings.kernelCosts
               ? launchedPs + GetKernelCost(device).GetKernelPs(ToNcclProtocol(program.protocol))
               : launchedPs;
}

double
CollectiveKernels::GetWireRate(DeviceId device,
                               const CollectiveProgram& program,
                               const ProgramFacts& facts,
                               uint32_t from,
                               uint32_t to,
                               uint16_t channel) const
{
    const auto& blocks = program.ranks[from].blocks;
    const auto sender = std::find_if(blocks.begin(), blocks.end(), [&](const ThreadBlock& block) {
        return block.channel == channel && block.sendPeer == to;
    });
    if (!m_settings.kernelCosts || sender == blocks.end())
    {
        return 0;
    }
    return GetBlockWireRate(GetKernelCost(device),
                            program.protocol,
                            facts.shares.Get(from, *sender));
}

bool
CollectiveKernels::IsDirect(DeviceId device, const BlockHop& hop) const
{
    constexpr uint32_t READS_NVLINK = 80; // computeCapability whose receivers read over NVLink
    const bool isLocal =
        hop.Is(HopKind::NVLINK) || (hop.Is(HopKind::PCIE) && hop.hostBytesPerSecond == 0);
    const bool reads = hop.Is(HopKind::NVLINK) && GetCapability(device) == READS_NVLINK;
    return m_launchMode == LaunchMode::ONE_PROCESS && isLocal && !reads &&
           GetNcclTuner(m_settings.ncclVersion).hasDirectStores;
}

BlockCost
CollectiveKernels::GetCost(DeviceId device,
                           Protocol protocol,
                           BlockShare share,
                           bool inGroup,
                           std::optional<BlockHop> receive,
                           std::optional<BlockHop> send) const
{
    if (!m_settings.kernelCosts || share.part == 0)
    {
        return {};
    }
    share.memoryBytesPerSecond =
        m_cluster.GetVertices()[m_cluster.GetGpus()[device]].memoryBytesPerSecond;
    BlockCost cost = GetBlockCost(GetKernelCost(device), protocol, share, inGroup, receive, send);
    if (receive && receive->Is(HopKind::NETWORK))
    {
        cost.latencyPs +=
            m_settings.pluginLatencyPs + FindNetPlugin(m_settings.netPlugin).GetChunkPs();
    }
    cost.isDirect = protocol == Protocol::SIMPLE && receive && IsDirect(device, *receive);
    return cost;
}

int64_t
CollectiveKernels::GetGroupLatencyPs(DeviceId device, Protocol protocol) const
{
    return m_settings.kernelCosts
               ? GetKernelCost(device).Get(HopKind::SWITCH, ToNcclProtocol(protocol)).latencyPs
               : 0;
}

} // namespace proteus
} // namespace ns3
