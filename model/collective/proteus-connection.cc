/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-connection.h"

#include "ns3/proteus-first-way.h"
#include "ns3/proteus-flow-hash.h"
#include "ns3/proteus-pcie-stores.h"
#include "ns3/proteus-server-hosts.h"

#include <algorithm>
#include <limits>

namespace ns3
{
namespace proteus
{

namespace
{

/// Stands for the group of connections inside a server.
constexpr GroupId INSIDE = UINT32_MAX;

/// Part of the raw rate of a PCI Express link that a kernel's reads of host memory have: 25.1 of
/// 31.5 GB/s on an A100 (NVIDIA/nvbandwidth, issue 42), 25.2 on an A10 (drkennetz/cuda_examples,
/// pull request 1).
constexpr double HOST_READ_SHARE = 0.8;
/// What a GPU's kernels read of host memory however fast its link is, since there are only so many
/// requests under way: 35.2 GB/s on H100 over Gen5, whose kernels write 52.8 and whose copy engines
/// read more; others report the same of H20 and H800 (NVIDIA/nvbandwidth, issue 24).
constexpr double MOST_HOST_READ_BYTES_PER_SECOND = 35.2e9;
/// What a GPU reads of host memory gets less by this part of what it writes there meanwhile, which
/// loses nothing: requests to read may not pass writes on their way (PCI Express, ordering of
/// posted and non-posted requests), and of those under way there are only so many. So does a NIC
/// that reads from GPUs through a CPU and writes to them so. Copies into an
/// A100 fall from 25 to 11 GB/s beside 25 out of it, and from 25.5 to 12.5 beside 24
/// (NVIDIA/nvbandwidth, issues 53 and 11); on a third server of eight Gen4 GPUs from 26 to 18.6
/// (README, host_to_device_bidirectional_memcpy_ce). This is the middle one of the three.
constexpr double READ_LOST_TO_WRITES = 0.54;
/// Links up to Gen4 x16; of Gen5, whose devices have tags for more requests, nothing is known.
constexpr double MOST_OF_LINK_THAT_LOSES_READS = 32e9;

/// What a core copies out of sockets, and into sockets, with all that Linux does for it: bytes per
/// second (Q. Cai et al., "Understanding Host Network Stack Overheads", SIGCOMM 2021: 42 Gb/s for a
/// core that receives, 89 for one that sends).
constexpr double RECEIVED_BYTES_PER_SECOND_OF_CORE = 42e9 / 8;
constexpr double SENT_BYTES_PER_SECOND_OF_CORE = 89e9 / 8;

/// What the thread of a proxy reads of lines of LL that a GPU has written to its memory, bytes per
/// second with their flags: each cache line comes from memory. The middle one (median) of four
/// machines: 2.3 (A100 and EPYC, thomaslie210/NCCL_Test_Results, 64 to 256 KiB), 4.6 and 7 (EPYC
/// 7352 and L40S of the fourteenth set of logs, doc/measured-collectives-sets.rst), and 8.7 (EPYC
/// 9534, NVIDIA/nccl, issue 2441, 0.5 to 1 MB: 7.7 and 9.7, where NVIDIA names the network thread
/// as what LL may suffer from).
constexpr double LINE_BYTES_PER_SECOND = 5.8e9;

/// @param link that a kernel writes to host memory over, or reads it over @param isRead which
/// @return payload that it carries, bytes per second: answers are packets as long as those of copy
/// engines, and stores up to PCIE_STORE_BYTES, unlike those to another GPU
double
GetHostPayloadRate(const Link& link, bool isRead)
{
    const bool areStores = !isRead && link.technology == LinkTechnology::PCIE;
    const bool isCut = areStores && link.framing.packetBytes > PCIE_STORE_BYTES;
    const LinkFraming framing = link.framing.For(isCut ? CopyMethod::SM : CopyMethod::DMA);
    const auto payload = static_cast<double>(framing.unitBytes);
    const auto wire = static_cast<double>(framing.WireBytes(framing.unitBytes));
    const double rate = link.bytesPerSecond * payload / wire;
    return isRead && link.technology == LinkTechnology::PCIE
               ? std::min(
                     {rate, link.bytesPerSecond * HOST_READ_SHARE, MOST_HOST_READ_BYTES_PER_SECOND})
               : rate;
}

/// @param cluster of the vertices @param paths of it @param from a GPU, or the CPU whose memory it
/// is @param to the other one of these @param isRead whether it is read
/// @return the links between them
std::vector<HostLink>
ListHostLinks(const Cluster& cluster, const Paths& paths, VertexId from, VertexId to, bool isRead)
{
    std::vector<HostLink> links;
    VertexId at = from;
    for (LinkId id : WalkFirst(paths, from, to))
    {
        const Link& link = cluster.GetLinks()[id];
        const double rate = GetHostPayloadRate(link, isRead);
        const bool losesReads = isRead && link.technology == LinkTechnology::PCIE &&
                                link.bytesPerSecond <= MOST_OF_LINK_THAT_LOSES_READS &&
                                link.Other(at) == to;
        const double exchange = losesReads ? rate / (1 + READ_LOST_TO_WRITES) : rate;
        links.push_back({id, link.a == at, rate, exchange});
        at = link.Other(at);
    }
    return links;
}

/// @param cluster of the vertices @param paths of it @param gpu that a NIC reads from through a CPU
/// @param nic which one
/// @return what it reads while it writes as much, bytes per second of payload: the link is the
/// NIC's, whose writes and requests to read share it; 0: nothing is lost, or nothing is known
double
FindNicExchange(const Cluster& cluster, const Paths& paths, VertexId gpu, VertexId nic)
{
    double rate = std::numeric_limits<double>::infinity();
    for (LinkId id : WalkFirst(paths, gpu, nic))
    {
        const Link& link = cluster.GetLinks()[id];
        if (link.technology == LinkTechnology::PCIE)
        {
            rate = std::min(rate, GetHostPayloadRate(link, true));
        }
        const bool isOfNic = link.a == nic || link.b == nic;
        if (isOfNic && (link.technology != LinkTechnology::PCIE ||
                        link.bytesPerSecond > MOST_OF_LINK_THAT_LOSES_READS))
        {
            return 0;
        }
    }
    return rate / (1 + READ_LOST_TO_WRITES);
}

/// @param rules of transports, without a level of which GPUDirect RDMA ends at CPUs
/// @param cluster of the vertices @param paths of it @param gpu a GPU @param nic that reaches it
/// @return whether a CPU passes on what goes between them, other than over NVLink (C2C)
bool
IsThroughCpu(const TransportRules& rules,
             const Cluster& cluster,
             const Paths& paths,
             VertexId gpu,
             VertexId nic)
{
    if (!rules.gdrLevel || FindPathType(cluster, paths, gpu, nic) < PathType::PHB)
    {
        return false;
    }
    const auto way = WalkFirst(paths, gpu, nic);
    return std::none_of(way.begin(), way.end(), [&](LinkId link) {
        return cluster.GetLinks()[link].technology == LinkTechnology::NVLINK;
    });
}

/// GPUDirect RDMA goes no further than PCIe switches (PATH_PXB), counted from a GPU's relay if it
/// has one, also where that is not used, for what comes in (NVIDIA/nccl v2.27.3,
/// src/graph/paths.cc, ncclTopoCheckGdr(): "In case of PXN, use the intermediate GPU distance").
/// @return whether a CPU on the way keeps a GPU and a NIC from each other
bool
EndsAtCpus(const NicTable& nics, VertexId gpu, VertexId nic, const TransportRules& rules)
{
    return !rules.gdrLevel && nics.FindRelay(gpu, nic) == Cluster::NO_VERTEX;
}

/// @param gpu that sends or receives, or the one that passes on for it @param nic its NIC
/// @return whether variables of NCCL keep them from each other (ncclTopoCheckGdr())
bool
RefusesGdr(const TransportRules& rules,
           const Cluster& cluster,
           const Paths& paths,
           VertexId gpu,
           VertexId nic)
{
    return !rules.gdr ||
           (rules.gdrLevel && FindPathType(cluster, paths, gpu, nic) > *rules.gdrLevel);
}

/// Host memory that a copy goes through where devices do not reach each other.
struct Staging
{
    VertexId sender{Cluster::NO_VERTEX}; //!< the CPU whose memory it is for the sender
    /// The same for the receiver, which allocates the buffer (NVIDIA/nccl 033d7995,
    /// src/transport/shm.cc, shmRecvSetup()): the last one on the way.
    VertexId receiver{Cluster::NO_VERTEX};
};

/// Finds the host memory between devices.
class HostMemory
{
  public:
    HostMemory(const Cluster& cluster, const Paths& paths)
        : m_cluster(cluster),
          m_paths(paths)
    {
    }

    /// @param from a vertex @param to another one @param endsAtCpus see EndsAtCpus(), which an
    /// NVLink to the CPU (C2C) undoes, as it is as fast either way
    /// @param isRefused whether NCCL does not let them reach each other, whatever is between them
    /// @return the memory of the nearest CPU where a NIC at one end, or devices between the two, do
    /// not let them reach each other; else none
    Staging Find(VertexId from, VertexId to, bool endsAtCpus, bool isRefused) const
    {
        const auto& vertices = m_cluster.GetVertices();
        if (IsHostMemory(vertices[from]) || IsHostMemory(vertices[to]))
        {
            return {}; // devices reach it wherever they do not reach each other
        }
        bool isBarred = isRefused || IsBarred(vertices[from], vertices[to]);
        bool hasNvlink = false;
        Staging staging;
        VertexId at = from;
        for (LinkId link : WalkFirst(m_paths, from, to))
        {
            at = m_cluster.GetLinks()[link].Other(at);
            hasNvlink |= m_cluster.GetLinks()[link].technology == LinkTechnology::NVLINK;
            if (vertices[at].kind == VertexKind::CPU)
            {
                staging.sender = staging.sender == Cluster::NO_VERTEX ? at : staging.sender;
                staging.receiver = at;
            }
            isBarred |= Bars(vertices[at], vertices[from], vertices[to]);
        }
        isBarred |= endsAtCpus && staging.receiver != Cluster::NO_VERTEX && !hasNvlink;
        if (!isBarred)
        {
            return {};
        }
        if (staging.sender == Cluster::NO_VERTEX)
        {
            staging.sender = FindNearestCpu(m_cluster, m_paths, from);
            staging.receiver = vertices[to].kind == VertexKind::GPU
                                   ? FindNearestCpu(m_cluster, m_paths, to)
                                   : staging.sender;
        }
        return staging;
    }

  private:
    /// @return whether one end is a NIC that does not reach the GPU at the other one
    static bool IsBarred(const Vertex& from, const Vertex& to)
    {
        const auto lacks = [](const Vertex& nic, const Vertex& gpu) {
            return nic.kind == VertexKind::NIC && !nic.gpuDirectRdma && gpu.kind == VertexKind::GPU;
        };
        return lacks(from, to) || lacks(to, from);
    }

    /// @return whether a device on the way keeps its ends from each other
    static bool Bars(const Vertex& device, const Vertex& from, const Vertex& to)
    {
        if (device.kind == VertexKind::PCIE_SWITCH)
        {
            return !device.peerToPeer;
        }
        const bool hasNic = from.kind == VertexKind::NIC || to.kind == VertexKind::NIC;
        return device.kind == VertexKind::CPU &&
               !(hasNic ? device.gpuDirectRdma : device.peerToPeer);
    }

    const Cluster& m_cluster;
    const Paths& m_paths;
};

/// Appends the memory that a copy goes through first. @param staging of it, maybe none
void
Append(const Staging& staging, std::vector<VertexId>& waypoints)
{
    if (staging.sender != Cluster::NO_VERTEX)
    {
        waypoints.push_back(staging.sender);
    }
}

} // namespace

BlockHop
Connection::GetSendHop() const
{
    return HostLinkShares().GetSendHop(*this);
}

BlockHop
Connection::GetReceiveHop() const
{
    return HostLinkShares().GetReceiveHop(*this);
}

void
HostLinkShares::Add(const Connection& connection)
{
    for (const HostLink& link : connection.hostWrite)
    {
        ++m_writers[{link.link, link.isForwards}][connection.source];
    }
    for (const HostLink& link : connection.hostRead)
    {
        ++m_readers[{link.link, link.isForwards}][connection.destination];
    }
}

BlockHop
HostLinkShares::GetHop(HopKind hop,
                       const Users& users,
                       VertexId gpu,
                       const std::vector<HostLink>& links)
{
    BlockHop result{hop};
    double share = std::numeric_limits<double>::infinity();
    double exchange = std::numeric_limits<double>::infinity();
    for (const HostLink& link : links)
    {
        const auto place = users.find({link.link, link.isForwards});
        const std::size_t n = place == users.end() ? 1 : place->second.size();
        share = std::min(share, link.bytesPerSecond / static_cast<double>(n));
        exchange = std::min(exchange, link.exchangeBytesPerSecond / static_cast<double>(n));
        if (place != users.end())
        {
            const auto own = place->second.find(gpu);
            result.hostBlocks =
                std::max(result.hostBlocks, own == place->second.end() ? 0 : own->second);
        }
    }
    result.hostBytesPerSecond = links.empty() ? 0 : share;
    result.exchangeBytesPerSecond = links.empty() ? 0 : exchange;
    return result;
}

BlockHop
HostLinkShares::GetSendHop(const Connection& connection) const
{
    return GetHop(connection.hop, m_writers, connection.source, connection.hostWrite);
}

BlockHop
HostLinkShares::GetReceiveHop(const Connection& connection) const
{
    return GetHop(connection.hop, m_readers, connection.destination, connection.hostRead);
}

NetworkShares::NetworkShares(const TransportRules& rules, Protocol protocol)
    : m_sockets(rules.sockets),
      m_isLl(protocol == Protocol::LL)
{
}

namespace
{

/// @param connection between servers @return GPU whose proxy reads what the source sends of lines
VertexId
GetLineReader(const Connection& connection)
{
    return connection.lineReader == Cluster::NO_VERTEX ? connection.source : connection.lineReader;
}

} // namespace

void
NetworkShares::Add(const Connection& connection)
{
    if (connection.hop != HopKind::NETWORK)
    {
        return;
    }
    ++m_sends[connection.source];
    ++m_receives[connection.destination];
    ++m_read[GetLineReader(connection)];
    if (connection.readingNic != Cluster::NO_VERTEX)
    {
        ++m_readers[connection.readingNic];
    }
    if (connection.writingNic != Cluster::NO_VERTEX)
    {
        m_writers.insert(connection.writingNic);
    }
}

double
NetworkShares::GetProxyRate(VertexId gpu) const
{
    const auto count = [&](const std::map<VertexId, uint32_t>& connections) {
        const auto place = connections.find(gpu);
        return place == connections.end() ? 0. : static_cast<double>(place->second);
    };
    return 1 / (count(m_sends) / SENT_BYTES_PER_SECOND_OF_CORE +
                count(m_receives) / RECEIVED_BYTES_PER_SECOND_OF_CORE);
}

double
NetworkShares::GetLimit(const Connection& connection) const
{
    double limit = std::numeric_limits<double>::infinity();
    const auto readers = m_readers.find(connection.readingNic);
    if (readers != m_readers.end() && m_writers.count(connection.readingNic) > 0 &&
        connection.exchangeBytesPerSecond > 0)
    {
        limit = connection.exchangeBytesPerSecond / readers->second;
    }
    const auto read = m_read.find(GetLineReader(connection));
    if (m_isLl && connection.lineBytesPerSecond > 0 && read != m_read.end())
    {
        limit = std::min(limit, connection.lineBytesPerSecond / read->second);
    }
    if (m_sockets && connection.hop == HopKind::NETWORK)
    {
        const uint32_t threads = m_sockets->threads;
        limit = std::min(limit,
                         threads > 0 ? threads * RECEIVED_BYTES_PER_SECOND_OF_CORE
                                     : std::min(GetProxyRate(connection.source),
                                                GetProxyRate(connection.destination)));
        if (m_sockets->flowBytesPerSecond > 0)
        {
            limit = std::min(limit,
                             m_sockets->flowBytesPerSecond *
                                 std::max<uint32_t>(threads * m_sockets->perThread, 1));
        }
    }
    return limit < std::numeric_limits<double>::infinity() ? limit : 0;
}

VertexId
FindNearestCpu(const Cluster& cluster, const Paths& paths, VertexId from)
{
    const auto& vertices = cluster.GetVertices();
    VertexId found = Cluster::NO_VERTEX;
    uint32_t nearest = Paths::UNREACHABLE;
    for (VertexId cpu = 0; cpu < vertices.size(); ++cpu)
    {
        if (vertices[cpu].kind == VertexKind::CPU && vertices[cpu].server == vertices[from].server)
        {
            const uint32_t distance = paths.Distance(from, cpu);
            if (distance < nearest)
            {
                nearest = distance;
                found = cpu;
            }
        }
    }
    return found;
}

bool
CrossesHostMemory(const Cluster& cluster,
                  const Paths& paths,
                  VertexId from,
                  VertexId to,
                  const TransportRules& rules)
{
    const bool isRefused = !AllowsPeerToPeer(rules, cluster, paths, from, to);
    return HostMemory(cluster, paths).Find(from, to, false, isRefused).sender != Cluster::NO_VERTEX;
}

uint64_t
GetConnectionFlow(const Cluster& cluster,
                  GroupId group,
                  uint32_t channel,
                  DeviceId source,
                  DeviceId destination)
{
    const auto domain = [&](DeviceId device) {
        return cluster.GetDomain(cluster.GetGpus()[device]);
    };
    if (cluster.GetServer(source) == cluster.GetServer(destination) &&
        domain(source) == domain(destination))
    {
        const auto place = [&](DeviceId device) {
            return device - cluster.GetServerRanks(device).first;
        };
        return MixHash(MixHash(place(source), place(destination)), MixHash(channel, INSIDE));
    }
    return MixHash(MixHash(source, destination), MixHash(channel, group));
}

Connection
PlanConnection(const Cluster& cluster,
               const Paths& paths,
               const NicTable& nics,
               GroupId group,
               uint32_t channel,
               DeviceId source,
               DeviceId destination,
               bool kernelCopies,
               const TransportRules& rules,
               bool gdrRead)
{
    const VertexId a = cluster.GetGpus()[source];
    const VertexId b = cluster.GetGpus()[destination];
    const bool local = cluster.GetDomain(a) == cluster.GetDomain(b);
    Connection connection;
    connection.source = a;
    connection.destination = b;
    connection.flow = GetConnectionFlow(cluster, group, channel, source, destination);
    connection.copyMethod = local && kernelCopies && !MovesWithoutKernel(cluster, a, b)
                                ? CopyMethod::SM
                                : CopyMethod::DMA;
    const HostMemory memory(cluster, paths);
    VertexId from = a;
    for (const VertexId gpu : {a, b})
    {
        // The search for a NIC takes time, which most connections need not wait for.
        const VertexId nic = local ? Cluster::NO_VERTEX : nics.Get(gpu, channel);
        if (nic != Cluster::NO_VERTEX && from != nic)
        {
            const VertexId relay = gpu == a ? nics.FindRelay(a, nic) : Cluster::NO_VERTEX;
            if (relay != Cluster::NO_VERTEX)
            {
                connection.waypoints.push_back(relay);
                from = relay;
            }
            const bool isSender = gpu == a;
            const Staging staging =
                memory.Find(from,
                            nic,
                            from == a && EndsAtCpus(nics, a, nic, rules),
                            isSender && (!gdrRead || RefusesGdr(rules, cluster, paths, from, nic)));
            Append(staging, connection.waypoints);
            if (isSender && from == a && staging.receiver != Cluster::NO_VERTEX)
            {
                connection.hostWrite = ListHostLinks(cluster, paths, a, staging.receiver, false);
            }
            else if (isSender && from == a && IsThroughCpu(rules, cluster, paths, a, nic))
            {
                connection.readingNic = nic;
                connection.exchangeBytesPerSecond = FindNicExchange(cluster, paths, a, nic);
            }
            connection.waypoints.push_back(nic);
            from = nic;
        }
    }
    if (!local)
    {
        connection.lineBytesPerSecond = LINE_BYTES_PER_SECOND;
        if (rules.sharesCore)
        {
            connection.lineReader = cluster.GetGpus()[cluster.GetServerRanks(source).first];
        }
    }
    VertexId near = b; // as NCCL counts the distance to a NIC, see EndsAtCpus()
    if (from != a && rules.gdrLevel && nics.FindRelay(b, from) != Cluster::NO_VERTEX)
    {
        near = nics.FindRelay(b, from);
    }
    const bool isRefused = local ? !AllowsPeerToPeer(rules, cluster, paths, a, b)
                                 : from != a && RefusesGdr(rules, cluster, paths, near, from);
    const Staging staging =
        memory.Find(from, b, from != a && EndsAtCpus(nics, b, from, rules), isRefused);
    Append(staging, connection.waypoints);
    if (staging.receiver != Cluster::NO_VERTEX)
    {
        connection.hostRead = ListHostLinks(cluster, paths, staging.receiver, b, true);
        if (local)
        {
            connection.hostWrite = ListHostLinks(cluster, paths, a, staging.receiver, false);
        }
    }
    else if (!local && from != a && IsThroughCpu(rules, cluster, paths, b, from))
    {
        connection.writingNic = from;
    }
    if (local)
    {
        connection.hop = HopKind::NVLINK;
        for (LinkId link : WalkFirst(paths, a, b))
        {
            if (cluster.GetLinks()[link].technology != LinkTechnology::NVLINK ||
                staging.receiver != Cluster::NO_VERTEX)
            {
                connection.hop = HopKind::PCIE;
            }
        }
    }
    return connection;
}

} // namespace proteus
} // namespace ns3
