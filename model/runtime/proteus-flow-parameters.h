/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_PARAMETERS_H
#define PROTEUS_FLOW_PARAMETERS_H

#include "ns3/proteus-cluster.h"

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

namespace ns3
{
namespace proteus
{

struct FlowCongestion;

/// @ingroup proteus
/// Number of values of LinkTechnology.
constexpr std::size_t N_LINK_TECHNOLOGIES = 5;

/// @ingroup proteus
/// What calibration may change about all links of a technology.
struct FlowLinkParameters
{
    double efficiency{1}; //!< part of the rate, after framing, that one collective can use
    double sharing{1};    //!< part of that which several collectives together can use
    int64_t latencyPs{0}; //!< of a message, for every such link, besides what the cluster says
};

/// @ingroup proteus
/// What congestion control adds to, and leaves of, links of a network.
struct FlowNetworkLoad
{
    double utilisation{1};       //!< part of a full link that flows take together
    uint32_t telemetryBytes{0};  //!< in every packet
    uint32_t ackEveryPackets{0}; //!< an acknowledgement for this many packets; 0: per message
    std::string control;         //!< whose utilisation that is; empty: of none
};

/**
 * @ingroup proteus
 * The parameters of the flow network that follow neither from the cluster nor from the programs of
 * the collectives. The defaults are those of an uncalibrated model; calibration against the packet
 * network finds others.
 */
struct FlowParameters
{
    std::array<FlowLinkParameters, N_LINK_TECHNOLOGIES> links; //!< by LinkTechnology
    /// From a rank joining a communication to its first step; negative: as CollectiveKernelCost
    /// says. See ns3::proteus::PacketNetwork::LaunchOverhead.
    int64_t launchPs{-1};
    /// What a chunk that crosses the network takes longer than the plug-in says:
    /// ns3::proteus::PacketNetwork::PluginLatency.
    int64_t pluginLatencyPs{0};
    /// Whether steps of kernels cost time beside that on the wire: see CollectiveKernelCost.
    bool kernelCosts{true};
    /// While a device communicates, its computation takes longer by this part.
    double computeSlowdown{0};
    /// While a device of a collective computes, the collective takes longer by this part.
    double communicationSlowdown{0};
    /// Seed of path choice, as the packet network draws it from its random stream.
    uint32_t pathSeed{0};
    /// Whether packets take all of several equal ways through the network
    /// (ns3::proteus::Fabric::Routing is Spray or Adaptive), so that each has its part of a flow.
    bool spreads{false};
    /// What an input of an InfiniBand switch holds for an output that is full, before it is held
    /// up: ns3::proteus::Fabric::InfinibandBuffer. With 0 no input is.
    uint32_t infinibandBufferBytes{131072};
    /// A NIC has room for what its PCI Express link brings in this time, which it reads before it
    /// sends it: ns3::proteus::Fabric::NicReadTime.
    int64_t nicReadPs{12000000};
    /// Whether a CPU has one queue per input, in which what waits for an output holds up what is
    /// behind it: ns3::proteus::Fabric::InputQueuedDevices names cpu. See CpuQueues.
    bool cpuInputQueues{true};
    /// Attributes of the packet engine that all this honours, TYPE::NAME, beside those of
    /// `congestion`.
    std::set<std::string> attributes;
    FlowNetworkLoad networkLoad; //!< of InfiniBand and RoCE
    /// Congestion control of queue pairs over RoCE, or null for none.
    std::shared_ptr<const FlowCongestion> congestion;

    /// @param technology of a link @return its parameters
    const FlowLinkParameters& Get(LinkTechnology technology) const
    {
        return links[static_cast<std::size_t>(technology)];
    }
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_PARAMETERS_H
