/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CONNECTION_H
#define PROTEUS_CONNECTION_H

#include "proteus-block-cost.h"
#include "proteus-transport-rules.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-collective-kernel-cost.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-nic-table.h"
#include "ns3/proteus-paths.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A link that a thread block writes to host memory over, or reads it over.
struct HostLink
{
    LinkId link{0};           //!< in the cluster
    bool isForwards{true};    //!< the bytes go from its end `a` to its end `b`
    double bytesPerSecond{0}; //!< payload that it carries of such a copy
    /// The same of what is read over it while as much is written.
    double exchangeBytesPerSecond{0};
};

/// @ingroup proteus
/// How the bytes of one channel of a group get from one of its ranks to another.
struct Connection
{
    VertexId source{0};      //!< GPU that sends
    VertexId destination{0}; //!< GPU that receives
    /// Where the bytes are received and sent on, in order: between servers the NICs at both ends,
    /// see NicTable::Get(), and before them another GPU, see NicTable::FindRelay(); the memory of a
    /// CPU where there is no peer-to-peer.
    std::vector<VertexId> waypoints;
    uint64_t flow{0};                       //!< names the flow; its path depends on it
    CopyMethod copyMethod{CopyMethod::DMA}; //!< who moves the bytes at the source
    HopKind hop{HopKind::NETWORK};          //!< what it crosses
    /// Into host memory, in order; empty: the kernel of the source writes elsewhere.
    std::vector<HostLink> hostWrite;
    /// Out of host memory, in order; empty: the kernel of the destination reads elsewhere.
    std::vector<HostLink> hostRead;
    /// NIC that reads what is sent from the source through a CPU; Cluster::NO_VERTEX: none does.
    VertexId readingNic{Cluster::NO_VERTEX};
    /// NIC that writes it to the destination through a CPU; Cluster::NO_VERTEX: none does.
    VertexId writingNic{Cluster::NO_VERTEX};
    /// What readingNic reads while it writes as much, bytes per second of payload; 0: as if it
    /// wrote nothing.
    double exchangeBytesPerSecond{0};
    /// What the proxy of the source reads of lines of LL, bytes per second; 0: it reads none.
    double lineBytesPerSecond{0};
    /// GPU whose proxy has the core that reads them, with those of all others that name it;
    /// Cluster::NO_VERTEX: the source, whose proxy has one for itself.
    VertexId lineReader{Cluster::NO_VERTEX};

    /// @return what is crossed by a block that sends, which has its links for itself
    BlockHop GetSendHop() const;

    /// @return what is crossed by a block that receives, which has its links for itself
    BlockHop GetReceiveHop() const;
};

/**
 * @ingroup proteus
 * What each rank of a program has of the links over which several of them write to the memory of
 * their host, or read it. The ranks of a ring stay in step there: while one writes a chunk the
 * others write theirs, and all read when that is done. So each has an equal part of what a link
 * that they share carries in that direction, for those of its thread blocks that use it.
 */
class HostLinkShares
{
  public:
    /// Notes a connection of the program. @param connection which one
    void Add(const Connection& connection);

    /// @param connection of the program @return as Connection::GetSendHop(), of its part
    BlockHop GetSendHop(const Connection& connection) const;

    /// @param connection of the program @return as Connection::GetReceiveHop(), of its part
    BlockHop GetReceiveHop(const Connection& connection) const;

  private:
    /// Connections of GPUs by link and direction, and GPU that uses it.
    using Users = std::map<std::pair<LinkId, bool>, std::map<VertexId, uint32_t>>;

    /// @param hop what is crossed @param users of the links @param gpu one of them @param links of
    /// it
    /// @return the hop with what the GPU has of all of them
    static BlockHop GetHop(HopKind hop,
                           const Users& users,
                           VertexId gpu,
                           const std::vector<HostLink>& links);

    Users m_writers; //!< that send
    Users m_readers; //!< that receive
};

/**
 * @ingroup proteus
 * What the connections of a program get of the network where that is less than their links carry.
 *
 * NICs that reach GPUs through a CPU (GPUDirect RDMA, if NCCL_NET_GDR_LEVEL allows it there): one
 * that reads from a GPU while it writes to one reads less, as a GPU does that reads host memory
 * while it writes it, see READ_LOST_TO_WRITES in proteus-connection.cc. All that it reads for have
 * an equal part.
 *
 * Sockets: the threads of hosts copy all bytes, see SocketRules.
 *
 * LL: the thread of the sender's proxy reads every line in the memory of its host, flag by flag,
 * before it posts a chunk (NVIDIA/nccl v2.4.8 to v2.30.7, src/transport/net.cc,
 * sendProxyProgress()). It is one for all channels of the rank, and may share its core with those
 * of the other ranks of its server (NetPlugin::sharesCore).
 */
class NetworkShares
{
  public:
    /// @param rules of transports @param protocol of the program
    explicit NetworkShares(const TransportRules& rules, Protocol protocol = Protocol::SIMPLE);

    /// Notes a connection of the program. @param connection which one
    void Add(const Connection& connection);

    /// @param connection of the program
    /// @return what it gets at most, bytes per second of payload; 0: no limit
    double GetLimit(const Connection& connection) const;

  private:
    /// @param gpu of a rank @return what the thread of its proxy copies for each of its connections
    double GetProxyRate(VertexId gpu) const;

    std::optional<SocketRules> m_sockets;    //!< of the rules
    bool m_isLl;                             //!< whether proxies read lines
    std::map<VertexId, uint32_t> m_readers;  //!< connections by NIC that reads for them
    std::set<VertexId> m_writers;            //!< NICs that write
    std::map<VertexId, uint32_t> m_sends;    //!< connections between servers by GPU that sends
    std::map<VertexId, uint32_t> m_receives; //!< the same by GPU that receives
    std::map<VertexId, uint32_t> m_read;     //!< the same by Connection::lineReader
};

/// @ingroup proteus
/// @param cluster of the vertex @param paths of it @param from a vertex of a server
/// @return the CPU of the server that is nearest to it, or Cluster::NO_VERTEX
VertexId FindNearestCpu(const Cluster& cluster, const Paths& paths, VertexId from);

/// @ingroup proteus
/// @param cluster of the vertices @param paths of it @param from a GPU @param to another one of its
/// server @param rules of transports @return whether what is between them, or NCCL, bars them from
/// each other, so that copies go through the memory of a host
bool CrossesHostMemory(const Cluster& cluster,
                       const Paths& paths,
                       VertexId from,
                       VertexId to,
                       const TransportRules& rules);

/**
 * @ingroup proteus
 * @param cluster where the ranks are
 * @param group of the ranks
 * @param channel of its program
 * @param source device that sends
 * @param destination device that receives
 * @return name of the flow: Connection::flow. Inside a server it depends on the places of the
 * devices there and not on the group, so that equal servers choose equal ways.
 */
uint64_t GetConnectionFlow(const Cluster& cluster,
                           GroupId group,
                           uint32_t channel,
                           DeviceId source,
                           DeviceId destination);

/**
 * @ingroup proteus
 * @param cluster where the ranks are
 * @param paths of it
 * @param nics of the cluster
 * @param group of the ranks
 * @param channel of the group's program
 * @param source device that sends
 * @param destination device that receives
 * @param kernelCopies whether kernels move the bytes inside a server, not copy engines
 * @param rules of transports
 * @param gdrRead whether a NIC reads what is sent from the source, if it reaches it: ListGdrReads()
 * @return the connection
 */
Connection PlanConnection(const Cluster& cluster,
                          const Paths& paths,
                          const NicTable& nics,
                          GroupId group,
                          uint32_t channel,
                          DeviceId source,
                          DeviceId destination,
                          bool kernelCopies = true,
                          const TransportRules& rules = TransportRules(),
                          bool gdrRead = true);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CONNECTION_H
