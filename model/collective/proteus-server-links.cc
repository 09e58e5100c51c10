/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-server-links.h"

#include "proteus-connection.h"

#include "ns3/proteus-first-way.h"
#include "ns3/proteus-network-links.h"

#include <algorithm>
#include <limits>

namespace ns3
{
namespace proteus
{

namespace
{

// What NCCL takes two CPUs to carry to each other, in 1e9 bytes per second
// (ncclTopoGetInterCpuBw() and src/graph/topo.h, v2.6.4 to v2.30.7). Models of Intel's CPUs are not
// known: Skylake has the most up to 2.25, Emerald Rapids from 2.26 on.
constexpr double NO_LIMIT_GBPS = 5000; // LOC_BW
constexpr double AMD_GBPS = 16;        // AMD_BW, from 2.19 on
constexpr double SKYLAKE_9_GBPS = 9;   // SKL_QPI_WIDTH, up to 2.17
constexpr double SKYLAKE_GBPS = 10;    // SKL_QPI_BW, from 2.18 on
constexpr double EMERALD_GBPS = 40;    // ERP_QPI_BW, from 2.26 on
constexpr double POWER_GBPS = 32;      // P9_BW
constexpr double ARM_GBPS = 6;         // ARM_BW

/// @param cluster with the link @param link any @return whether it joins two CPUs
bool
IsBetweenCpus(const Cluster& cluster, const Link& link)
{
    return link.technology == LinkTechnology::CPU_INTERCONNECT &&
           cluster.GetVertices()[link.a].kind == VertexKind::CPU &&
           cluster.GetVertices()[link.b].kind == VertexKind::CPU;
}

/// @param raw rate of a link between CPUs @param cpu who made them @param version of NCCL
/// @return what NCCL takes it to carry
double
LimitBetweenCpus(double raw, CpuVendor cpu, uint32_t version)
{
    return cpu == CpuVendor::AMD     ? (version >= 219 ? AMD_GBPS : NO_LIMIT_GBPS)
           : cpu == CpuVendor::INTEL ? std::min(raw,
                                                version >= 226   ? EMERALD_GBPS
                                                : version >= 218 ? SKYLAKE_GBPS
                                                                 : SKYLAKE_9_GBPS)
           : cpu == CpuVendor::POWER ? POWER_GBPS
           : cpu == CpuVendor::ARM   ? ARM_GBPS
                                     : raw;
}

/// The NVLink lanes between GPUs that are joined directly, in units of the narrowest connection.
std::vector<std::vector<uint32_t>>
CountLanes(const Cluster& cluster, const std::vector<VertexId>& gpus)
{
    const auto n = gpus.size();
    std::vector<std::vector<double>> rates(n, std::vector<double>(n, 0));
    double narrowest = std::numeric_limits<double>::max();
    for (std::size_t i = 0; i < n; ++i)
    {
        for (const Port& port : cluster.GetPorts(gpus[i]))
        {
            const auto peer = std::find(gpus.begin(), gpus.end(), port.neighbor);
            const Link& link = cluster.GetLinks()[port.link];
            if (peer != gpus.end() && link.technology == LinkTechnology::NVLINK)
            {
                rates[i][peer - gpus.begin()] += link.bytesPerSecond;
                narrowest = std::min(narrowest, link.bytesPerSecond);
            }
        }
    }
    std::vector<std::vector<uint32_t>> lanes(n, std::vector<uint32_t>(n, 0));
    for (std::size_t i = 0; i < n; ++i)
    {
        for (std::size_t j = 0; j < n; ++j)
        {
            lanes[i][j] = static_cast<uint32_t>(rates[i][j] / narrowest + 0.5);
        }
    }
    return lanes;
}

/// What crosses the root complex of an Intel CPU between GPUs takes more of PCIe
/// (INTEL_P2P_OVERHEAD).
constexpr double INTEL_TIMES = 6.0 / 5;
/// What a GPU before Ampere takes of the other direction for what a NIC writes to it.
constexpr double READ_TIMES = 1.0 / 8;

/// @return whether a GPU may hand on to a NIC what others of its server send, see HandsOnMessages()
bool
MayHandOn(const TransportRules& rules,
          const Cluster& cluster,
          const Paths& paths,
          VertexId gpu,
          VertexId nic)
{
    constexpr uint32_t FIRST_BY_C2C = 228;
    const PathType worst = rules.version >= FIRST_BY_C2C ? PathType::P2C : PathType::PXB;
    return rules.pxn && FindPathType(cluster, paths, gpu, nic) <= worst;
}

} // namespace

std::vector<std::vector<uint32_t>>
FindRelays(const Cluster& cluster, const std::vector<VertexId>& gpus)
{
    const auto lanes = CountLanes(cluster, gpus);
    const auto n = static_cast<uint32_t>(lanes.size());
    std::vector<std::vector<uint32_t>> relays(n, std::vector<uint32_t>(n, NO_RANK));
    std::vector<std::vector<uint32_t>> neighbors(n);
    for (uint32_t a = 0; a < n; ++a)
    {
        for (uint32_t b = 0; b < n; ++b)
        {
            if (lanes[a][b] > 0)
            {
                neighbors[a].push_back(b);
            }
        }
    }
    for (uint32_t a = 0; a < n; ++a)
    {
        for (uint32_t b = 0; b < n; ++b)
        {
            uint32_t most = 0;
            for (const uint32_t via : neighbors[a])
            {
                const uint32_t least = std::min(lanes[a][via], lanes[via][b]);
                if (a != b && lanes[a][b] == 0 && least > most)
                {
                    most = least;
                    relays[a][b] = via;
                }
            }
        }
    }
    return relays;
}

bool
HandsOnMessages(const TransportRules& rules,
                const Cluster& cluster,
                const Paths& paths,
                const std::vector<VertexId>& vertices)
{
    return std::any_of(vertices.begin(), vertices.end(), [&](VertexId gpu) {
        const VertexId nic = cluster.GetNic(gpu);
        return nic != Cluster::NO_VERTEX && MayHandOn(rules, cluster, paths, gpu, nic);
    });
}

ServerLinks::ServerLinks(const Cluster& cluster,
                         const Paths& paths,
                         const std::vector<VertexId>& gpus,
                         bool hasNetwork,
                         uint32_t computeCapability,
                         CpuVendor cpu,
                         const TransportRules& rules)
    : m_cluster(cluster),
      m_paths(paths),
      m_gpus(gpus),
      m_hasNetwork(hasNetwork),
      m_capability(computeCapability),
      m_cpu(cpu),
      m_rules(rules),
      m_relays(rules.HasRelays() ? FindRelays(cluster, gpus)
                                 : std::vector<std::vector<uint32_t>>(
                                       gpus.size(),
                                       std::vector<uint32_t>(gpus.size(), NO_RANK)))
{
    for (const VertexId gpu : m_gpus)
    {
        double nvlink = 0;
        double other = 0;
        for (const Port& port : m_cluster.GetPorts(gpu))
        {
            const bool isNvlink =
                m_cluster.GetLinks()[port.link].technology == LinkTechnology::NVLINK;
            if (isNvlink && !m_rules.peerToPeer)
            {
                continue; // which is there for nobody
            }
            (isNvlink ? nvlink : other) += GetLinkGBps(port.link);
            m_hasNvswitch = m_hasNvswitch ||
                            m_cluster.GetVertices()[port.neighbor].kind == VertexKind::NVSWITCH;
        }
        m_totalGBps = std::max({m_totalGBps, nvlink, other});
    }
    AddWaysBetween();
    if (m_hasNetwork)
    {
        AddWaysOut();
    }
}

double
ServerLinks::GetNvlinkGBps() const
{
    // Of a raw rate of 20 (Pascal), 25, 25 (Hopper) and 50 (Blackwell).
    return m_capability >= 100 ? 40.1 : m_capability >= 90 ? 20.6 : m_capability >= 70 ? 20 : 18;
}

double
ServerLinks::GetLinkGBps(LinkId id) const
{
    const Link& link = m_cluster.GetLinks()[id];
    const double raw = link.bytesPerSecond / 1e9;
    const double nvlinkRaw = m_capability >= 100 ? 50 : m_capability >= 70 ? 25 : 20;
    return link.technology == LinkTechnology::NVLINK ? raw * GetNvlinkGBps() / nvlinkRaw
           : link.technology == LinkTechnology::PCIE ? raw * 12 / 15.75 // Gen3 x16
           : IsBetweenCpus(m_cluster, link)          ? LimitBetweenCpus(raw, m_cpu, m_rules.version)
                                                     : raw;
}

double
ServerLinks::GetJoinedGBps(LinkId id) const
{
    const Link& link = m_cluster.GetLinks()[id];
    const auto kind = [&](VertexId vertex) { return m_cluster.GetVertices()[vertex].kind; };
    const VertexId gpu = kind(link.a) == VertexKind::GPU ? link.a : link.b;
    if (kind(gpu) != VertexKind::GPU || kind(link.Other(gpu)) != VertexKind::NVSWITCH)
    {
        return GetLinkGBps(id);
    }
    double sum = 0;
    for (const Port& port : m_cluster.GetPorts(gpu))
    {
        sum += kind(port.neighbor) == VertexKind::NVSWITCH ? GetLinkGBps(port.link) : 0;
    }
    return sum;
}

uint32_t
ServerLinks::FindDirection(LinkId link, VertexId from)
{
    const auto [place, isNew] =
        m_directions.emplace(std::make_pair(link, from), static_cast<uint32_t>(m_rates.size()));
    if (isNew)
    {
        m_rates.push_back(GetJoinedGBps(link));
    }
    return place->second;
}

ServerWay
ServerLinks::MakeWay(const std::vector<VertexId>& vertices)
{
    ServerWay way;
    way.type = PathType::NVL;
    way.gigabytesPerSecond = std::numeric_limits<double>::infinity();
    const auto kind = [&](VertexId vertex) { return m_cluster.GetVertices()[vertex].kind; };
    const bool startsAtGpu = kind(vertices.front()) == VertexKind::GPU;
    const bool endsAtGpu = kind(vertices.back()) == VertexKind::GPU;
    for (std::size_t i = 0; i + 1 < vertices.size(); ++i)
    {
        const PathType type = FindPathType(m_cluster, m_paths, vertices[i], vertices[i + 1]);
        way.type = std::max(way.type, vertices.size() > 2 ? std::max(type, PathType::NVB) : type);
        VertexId at = vertices[i];
        for (const LinkId id : WalkFirst(m_paths, at, vertices[i + 1]))
        {
            const Link& link = m_cluster.GetLinks()[id];
            const VertexId next = link.Other(at);
            const bool isSlower = type == PathType::PHB && startsAtGpu && endsAtGpu &&
                                  m_cpu == CpuVendor::INTEL &&
                                  link.technology == LinkTechnology::PCIE;
            way.uses.push_back({FindDirection(id, at), isSlower ? INTEL_TIMES : 1});
            way.gigabytesPerSecond = std::min(way.gigabytesPerSecond, GetJoinedGBps(id));
            if (kind(next) == VertexKind::GPU && !startsAtGpu && m_capability < 80)
            {
                way.uses.push_back({FindDirection(id, next), READ_TIMES});
            }
            at = next;
            ++way.hops;
        }
    }
    return way;
}

ServerWay
ServerLinks::MakeWayBetween(VertexId a, VertexId b)
{
    // Of ways that cross a CPU anyhow it makes no difference (ncclTopoComputePaths(),
    // addInterStep()).
    if (FindPathType(m_cluster, m_paths, a, b) > PathType::PXB ||
        AllowsPeerToPeer(m_rules, m_cluster, m_paths, a, b))
    {
        return MakeWay({a, b});
    }
    const VertexId near = FindNearestCpu(m_cluster, m_paths, a);
    const VertexId far = FindNearestCpu(m_cluster, m_paths, b);
    return near == Cluster::NO_VERTEX || far == Cluster::NO_VERTEX ? MakeWay({a, b})
           : near == far                                           ? MakeWay({a, near, b})
                                                                   : MakeWay({a, near, far, b});
}

void
ServerLinks::AddWaysBetween()
{
    m_between.assign(m_gpus.size(), std::vector<ServerWay>(m_gpus.size()));
    for (uint32_t a = 0; a < m_gpus.size(); ++a)
    {
        for (uint32_t b = 0; b < m_gpus.size(); ++b)
        {
            if (a != b)
            {
                const uint32_t relay = m_relays[a][b];
                m_between[a][b] = relay == NO_RANK ? MakeWayBetween(m_gpus[a], m_gpus[b])
                                                   : MakeWay({m_gpus[a], m_gpus[relay], m_gpus[b]});
                if (!m_hasNetwork)
                {
                    m_mostGBps = std::max(m_mostGBps, m_between[a][b].gigabytesPerSecond);
                }
            }
        }
    }
}

void
ServerLinks::AddWaysOut()
{
    const NicTable nics(m_cluster, m_rules.pxn);
    const auto n = static_cast<uint32_t>(m_gpus.size());
    m_in.resize(n);
    m_out.assign(n, std::vector<std::vector<ServerWay>>(n));
    for (uint32_t gpu = 0; gpu < n; ++gpu)
    {
        for (uint32_t k = 0; k < nics.CountNics(m_gpus[gpu]); ++k)
        {
            const VertexId nic = nics.Get(m_gpus[gpu], k);
            ServerWay in = MakeWay({nic, m_gpus[gpu]});
            CrossNetwork(in, nic, Crossing::IN);
            m_in[gpu].push_back(std::move(in));
            for (uint32_t from = 0; from < n; ++from)
            {
                if (from == gpu)
                {
                    const VertexId relay = nics.FindRelay(m_gpus[gpu], nic);
                    m_out[gpu][gpu].push_back(MakeWayOut(m_gpus[gpu], relay, nic));
                }
                else if (m_rules.crossNic == CrossNic::NEVER)
                {
                    m_out[from][gpu].push_back(
                        MakeWayOut(m_gpus[from], FindHelper(from, gpu, nic), nic));
                }
                if (m_rules.crossNic == CrossNic::NEVER)
                {
                    // Programs leave by a NIC of the last GPU (MakeRingOrders()), which has to
                    // carry no more for it.
                    CrossNetwork(m_out[from][gpu].back(),
                                 nics.Get(m_gpus[from], k),
                                 Crossing::OF_PROGRAM);
                }
            }
            m_mostGBps = std::max(m_mostGBps, m_out[gpu][gpu].back().gigabytesPerSecond);
        }
    }
}

VertexId
ServerLinks::FindHelper(uint32_t gpu, uint32_t first, VertexId nic) const
{
    const bool helps =
        FindPathType(m_cluster, m_paths, m_gpus[gpu], nic) > PathType::PXB &&
        FindPathType(m_cluster, m_paths, m_gpus[gpu], m_gpus[first]) == PathType::NVL &&
        MayHandOn(m_rules, m_cluster, m_paths, m_gpus[first], nic);
    return helps ? m_gpus[first] : Cluster::NO_VERTEX;
}

ServerWay
ServerLinks::MakeWayOut(VertexId gpu, VertexId relay, VertexId nic)
{
    const bool hasRelay = relay != Cluster::NO_VERTEX;
    ServerWay out = hasRelay ? MakeWay({gpu, relay, nic}) : MakeWay({gpu, nic});
    out.type = hasRelay ? PathType::PXN : out.type;
    CrossNetwork(out, nic, Crossing::OUT);
    return out;
}

void
ServerLinks::CrossNetwork(ServerWay& way, VertexId nic, Crossing crossing)
{
    for (const Port& port : m_cluster.GetPorts(nic))
    {
        if (IsOfNetwork(m_cluster.GetLinks()[port.link]))
        {
            const VertexId from = crossing == Crossing::IN    ? port.neighbor
                                  : crossing == Crossing::OUT ? nic
                                                              : Cluster::NO_VERTEX;
            way.uses.push_back({FindDirection(port.link, from), 1});
            way.gigabytesPerSecond = std::min(way.gigabytesPerSecond, GetLinkGBps(port.link));
            break;
        }
    }
}

} // namespace proteus
} // namespace ns3
