/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SERVER_LINKS_H
#define PROTEUS_SERVER_LINKS_H

#include "proteus-channel-search.h"

#include "ns3/proteus-cpu-vendor.h"
#include "ns3/proteus-nic-table.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The links of a server as NCCL's topology search counts them (NVIDIA/nccl v2.30.7,
 * src/graph/topo.h, paths.cc).
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A way between two GPUs of a server, or a GPU and the network.
struct ServerWay
{
    /// What a channel takes of a link.
    struct Use
    {
        uint32_t link{0}; //!< one direction of a link, as in ServerLinks::GetRates()
        double times{1};  //!< the speed of the channel
    };

    std::vector<Use> uses;        //!< links on the way
    PathType type{PathType::SYS}; //!< the worst part of it
    double gigabytesPerSecond{0}; //!< the slowest part of it, 1e9 bytes
    uint32_t hops{0};             //!< links on the way
};

/// @ingroup proteus
/// The links of one server, or of one domain of NVLink, and the ways of some of its GPUs.
class ServerLinks
{
  public:
    /**
     * @param cluster with the server
     * @param paths of it
     * @param gpus of the server that take part
     * @param hasNetwork whether channels come from and go to other servers
     * @param computeCapability of the GPUs, ten times
     * @param cpu who made the CPUs
     * @param rules of transports
     */
    ServerLinks(const Cluster& cluster,
                const Paths& paths,
                const std::vector<VertexId>& gpus,
                bool hasNetwork,
                uint32_t computeCapability,
                CpuVendor cpu,
                const TransportRules& rules = TransportRules());

    /// @return how many GPUs take part
    uint32_t CountGpus() const
    {
        return static_cast<uint32_t>(m_gpus.size());
    }

    /// @return what NCCL counts of each direction of each link, 1e9 bytes per second
    const std::vector<double>& GetRates() const
    {
        return m_rates;
    }

    /// @param a position of a GPU @param b of another one @return the way from a to b
    const ServerWay& Between(uint32_t a, uint32_t b) const
    {
        return m_between[a][b];
    }

    /// @param gpu position of a GPU @param channel of a collective @return the way from the network
    const ServerWay& In(uint32_t gpu, uint32_t channel) const
    {
        return m_in[gpu][channel % m_in[gpu].size()];
    }

    /// @param gpu position of the GPU that a channel leaves from @param first position of the one
    /// that it enters at @param channel of a collective @return the way to the network: to a NIC of
    /// the GPU itself, or to that by which the channel came (CrossNic::NEVER)
    const ServerWay& Out(uint32_t gpu, uint32_t first, uint32_t channel) const
    {
        const auto& ways = m_out[gpu][m_rules.crossNic == CrossNic::NEVER ? first : gpu];
        return ways[channel % ways.size()];
    }

    /// @param gpu position of a GPU @return how many NICs it has for itself
    uint32_t CountNics(uint32_t gpu) const
    {
        return static_cast<uint32_t>(m_in[gpu].size());
    }

    /// @param a position of a GPU @param b of another one @return position of the one that passes
    /// on from a to b, or NO_RANK
    uint32_t Relay(uint32_t a, uint32_t b) const
    {
        return m_relays[a][b];
    }

    /// @return whether NVSwitches join GPUs
    bool HasNvswitch() const
    {
        return m_hasNvswitch;
    }

    /// @return most that a GPU sends by all its NVLinks, or by PCIe, 1e9 bytes per second
    double GetTotalGBps() const
    {
        return m_totalGBps;
    }

    /// @return most of one way of a GPU: to the network, or if there is none to another GPU
    double GetMostGBps() const
    {
        return m_mostGBps;
    }

    /// @return what NCCL counts of one NVLink, 1e9 bytes per second
    double GetNvlinkGBps() const;

  private:
    /// How a way crosses a NIC.
    enum class Crossing
    {
        IN,        //!< from the network
        OUT,       //!< to the network
        OF_PROGRAM //!< to the network where programs do, which NCCL does not count
    };

    /// @param link of the cluster @param from one of its ends @return its direction's number
    uint32_t FindDirection(LinkId link, VertexId from);
    /// @param link of the cluster @return what NCCL counts of it, 1e9 bytes per second
    double GetLinkGBps(LinkId link) const;
    /// @param link of the cluster @return the same; where a GPU spreads over NVSwitches, that of
    /// all
    double GetJoinedGBps(LinkId link) const;
    /// @param vertices to pass, first to last @return the way
    ServerWay MakeWay(const std::vector<VertexId>& vertices);
    /// @param a a GPU @param b another one @return the way between them, by way of the CPUs next to
    /// them where no other may be taken
    ServerWay MakeWayBetween(VertexId a, VertexId b);
    /// Finds the ways between GPUs.
    void AddWaysBetween();
    /// Finds the ways to the network and from it.
    void AddWaysOut();
    /// @param gpu position of a GPU @param first position of another one @param nic of that one
    /// @return the other one, if it hands on to its NIC what the first GPU sends; or NO_VERTEX
    VertexId FindHelper(uint32_t gpu, uint32_t first, VertexId nic) const;
    /// @param gpu any @param relay a GPU that hands on, or NO_VERTEX @param nic any
    /// @return the way from the GPU by the NIC to the network
    ServerWay MakeWayOut(VertexId gpu, VertexId relay, VertexId nic);
    /// @param way to lengthen by the link of a NIC to the network @param nic which
    /// @param crossing as what
    void CrossNetwork(ServerWay& way, VertexId nic, Crossing crossing);

    const Cluster& m_cluster;
    const Paths& m_paths;
    const std::vector<VertexId> m_gpus;
    const bool m_hasNetwork;
    const uint32_t m_capability;
    const CpuVendor m_cpu;
    const TransportRules m_rules;
    std::vector<std::vector<uint32_t>> m_relays; //!< by GPU and GPU
    std::map<std::pair<LinkId, VertexId>, uint32_t> m_directions;
    std::vector<double> m_rates;                   //!< by direction
    std::vector<std::vector<ServerWay>> m_between; //!< by GPU and GPU
    std::vector<std::vector<ServerWay>> m_in;      //!< by GPU and NIC of its own
    /// By GPU, GPU whose NIC it is, and NIC; of others only with CrossNic::NEVER.
    std::vector<std::vector<std::vector<ServerWay>>> m_out;
    bool m_hasNvswitch{false};
    double m_totalGBps{0};
    double m_mostGBps{0};
};

/**
 * @ingroup proteus
 * Finds who passes chunks on between two GPUs that have no NVLink to each other: the GPU with most
 * NVLinks to both.
 * @param cluster with the GPUs
 * @param gpus of one server
 * @return by position and position, the position of a third, or NO_RANK
 */
std::vector<std::vector<uint32_t>> FindRelays(const Cluster& cluster,
                                              const std::vector<VertexId>& gpus);

/**
 * @ingroup proteus
 * A message between servers leaves on the rail of its receiver if the GPU of that rail reaches its
 * NIC by PCIe switches (PATH_PXB), from 2.28 on also by C2C and the PCIe of its CPU (PATH_P2C,
 * NCCL_PXN_C2C); otherwise each GPU sends by its own NIC (NVIDIA/nccl v2.12.7 to v2.30.7,
 * src/graph/search.cc, ncclTopoGetNetDev(), and paths.cc).
 * @param rules of transports
 * @param cluster with the GPUs
 * @param paths of it
 * @param vertices the GPUs of a communicator; servers are alike, as NCCL takes them to be
 * @return whether some of them hand on messages of others
 */
bool HandsOnMessages(const TransportRules& rules,
                     const Cluster& cluster,
                     const Paths& paths,
                     const std::vector<VertexId>& vertices);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SERVER_LINKS_H
