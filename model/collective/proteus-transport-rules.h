/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TRANSPORT_RULES_H
#define PROTEUS_TRANSPORT_RULES_H

#include "proteus-path-type.h"
#include "proteus-protocol.h"

#include "ns3/proteus-nccl-tuner.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// How NCCL's own network for TCP uses sockets (NVIDIA/nccl, src/transport/net_socket.cc,
/// ncclNetSocketGetNsockNthread()). A chunk is cut into as many parts as its connection has
/// sockets.
struct SocketRules
{
    /// Threads that copy for one connection; 0: all connections of a rank share the one thread of
    /// its proxy, for what they send and what they receive.
    uint32_t threads{0};
    uint32_t perThread{1};        //!< sockets of each thread
    double flowBytesPerSecond{0}; //!< what the network carries of one socket; 0: no limit
};

/// @ingroup proteus
/// Whether a ring may leave a server by another NIC than it came by (NCCL_CROSS_NIC, v2.6.4 to
/// v2.30.7, src/graph/search.cc, ncclTopoSearchRecGpu(), and connect.cc, crossNicRing).
enum class CrossNic : uint8_t
{
    RAILS,  //!< 2: where that carries more; odd servers turn, so that rings keep to their rails
    ALWAYS, //!< 1: any NIC is as good, and rings go from one rail to another
    NEVER   //!< 0: the last GPU of a server reaches the NIC of the first one, however slowly
};

/// @ingroup proteus
/// By what NCCL decides how two devices of a server reach each other.
struct TransportRules
{
    uint32_t version{NEWEST_NCCL};      //!< of NCCL, 100 times the major and the minor number
    std::string cpuVendor;              //!< one of CpuVendor; empty: as the cluster says
    bool pxn{true};                     //!< GPUs pass on to NICs of others
    CrossNic crossNic{CrossNic::RAILS}; //!< by which NIC rings leave a server
    bool peerToPeer{true};              //!< whether GPUs may reach each other at all
    std::optional<PathType> p2pLevel;   //!< worst way that they do by; none: as the version has it
    bool gdr{true};                     //!< whether NICs may reach GPUs at all
    std::optional<PathType> gdrLevel;   //!< worst way that they do by; none: as the version has it
    std::optional<bool> gdrRead; //!< whether NICs read from GPUs; none: as the version has it
    std::optional<SocketRules> sockets;       //!< none: the network is not by sockets
    bool sharesCore{false};                   //!< see NetPlugin::sharesCore
    std::optional<uint32_t> socketThreads;    //!< instead of SocketRules::threads
    std::optional<uint32_t> socketsPerThread; //!< instead of SocketRules::perThread

    /// @param protocol of a program @return whether its connections between servers may have less
    /// than their links, see NetworkShares
    bool LimitsNetwork(Protocol protocol) const
    {
        return gdrLevel.has_value() || sockets.has_value() || protocol == Protocol::LL;
    }

    /// @return whether a third GPU may pass on between two (NVB)
    bool HasRelays() const
    {
        return peerToPeer && p2pLevel.value_or(PathType::NVB) >= PathType::NVB;
    }
};

/**
 * @ingroup proteus
 * NCCL has two GPUs reach each other up to a level. Unless NCCL_P2P_LEVEL says it, that is PCIe
 * switches (PXB); before 2.9 the root complex of an Intel CPU (PHB; of Broadwell PXB, which
 * clusters do not tell apart); through CPUs of AMD anything, from 2.23 on where a server has two
 * GPUs; before that of IBM, too (NVIDIA/nccl v2.6.4 to v2.30.7, src/graph/paths.cc,
 * ncclTopoCheckP2p()). Beyond, copies go through the memory of a host.
 * @param rules of transports
 * @param cluster with the GPUs
 * @param paths of it
 * @param a a GPU
 * @param b another one of its server
 * @return whether they may, as far as NCCL is concerned
 * @throw std::invalid_argument if they may not, and are of two servers of one domain of NVLink
 */
bool AllowsPeerToPeer(const TransportRules& rules,
                      const Cluster& cluster,
                      const Paths& paths,
                      VertexId a,
                      VertexId b);

/**
 * @ingroup proteus
 * Which ranks' NICs read what they send from the GPU. Unless NCCL_NET_GDR_READ says it, a GPU
 * without an NVLink to another one of the communicator writes what it sends to host memory, "to
 * keep things local", if the communicator has another GPU in that server; from 2.19 on only GPUs
 * before Ampere (NVIDIA/nccl v2.7.8 to v2.30.7, src/graph/paths.cc, ncclTopoCheckGdr(), whose read
 * is a send).
 * @param rules of transports
 * @param cluster with the GPUs
 * @param paths of it
 * @param group the communicator
 * @return by rank, whether the NIC reads from the GPU, as far as this rule goes
 */
std::vector<bool> ListGdrReads(const TransportRules& rules,
                               const Cluster& cluster,
                               const Paths& paths,
                               const std::vector<DeviceId>& group);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TRANSPORT_RULES_H
