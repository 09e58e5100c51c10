/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-cluster.h"

#include "proteus-nic-table.h"
#include "proteus-paths.h"
#include "proteus-reachability.h"

#include "ns3/proteus-enum-names.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr EnumNames<VertexKind, 6> VERTEX_KINDS{"kind of vertex",
                                                {{VertexKind::GPU, "gpu"},
                                                 {VertexKind::NVSWITCH, "nvswitch"},
                                                 {VertexKind::PCIE_SWITCH, "pcie-switch"},
                                                 {VertexKind::CPU, "cpu"},
                                                 {VertexKind::NIC, "nic"},
                                                 {VertexKind::SWITCH, "switch"}}};

constexpr EnumNames<LinkTechnology, 5> LINK_TECHNOLOGIES{
    "link technology",
    {{LinkTechnology::NVLINK, "nvlink"},
     {LinkTechnology::PCIE, "pcie"},
     {LinkTechnology::CPU_INTERCONNECT, "cpu-interconnect"},
     {LinkTechnology::INFINIBAND, "infiniband"},
     {LinkTechnology::ROCE, "roce"}}};

/// @param cluster any @param vertex of it, as a caller says
/// @throw std::invalid_argument if there is none of that number
void
RequireVertex(const Cluster& cluster, VertexId vertex)
{
    if (vertex >= cluster.GetVertices().size())
    {
        throw std::invalid_argument("vertex " + std::to_string(vertex) + ": the cluster has " +
                                    std::to_string(cluster.GetVertices().size()));
    }
}

} // namespace

const char*
ToString(VertexKind kind)
{
    return VERTEX_KINDS.Get(kind);
}

const char*
ToString(LinkTechnology technology)
{
    return LINK_TECHNOLOGIES.Get(technology);
}

VertexKind
VertexKindFromString(const std::string& text)
{
    return VERTEX_KINDS.Parse(text);
}

LinkTechnology
LinkTechnologyFromString(const std::string& text)
{
    return LINK_TECHNOLOGIES.Parse(text);
}

namespace
{

/// @param vertex to check @throw std::invalid_argument if it has what its kind cannot have
void
CheckCapabilities(const Vertex& vertex)
{
    const std::string where = "vertex '" + vertex.name + "': ";
    const bool isGpu = vertex.kind == VertexKind::GPU;

    const struct
    {
        const char* what;
        double value;
        bool allowed;
    } rates[] = {
        {"memory rate", vertex.memoryBytesPerSecond, isGpu || vertex.kind == VertexKind::CPU},
        {"copy engine rate", vertex.copyEngineBytesPerSecond, isGpu},
        {"SM copy rate", vertex.smCopyBytesPerSecond, isGpu},
        {"forwarding rate", vertex.forwardBytesPerSecond, !isGpu},
    };

    for (const auto& rate : rates)
    {
        if (rate.value != 0 && !rate.allowed)
        {
            throw std::invalid_argument(where + "a " + ToString(vertex.kind) + " has no " +
                                        rate.what);
        }
        if (rate.value != 0 && (!std::isfinite(rate.value) || rate.value < 1))
        {
            throw std::invalid_argument(where + "the " + rate.what +
                                        " must be at least 1 byte per second, or 0 for no limit");
        }
    }
    const bool isSwitch = vertex.kind == VertexKind::NVSWITCH || vertex.kind == VertexKind::SWITCH;
    const char* wrong = nullptr;
    if (vertex.copyEngines > 0 && !isGpu)
    {
        wrong = "copy engines";
    }
    else if (!vertex.peerToPeer && vertex.kind != VertexKind::CPU && !isGpu &&
             vertex.kind != VertexKind::PCIE_SWITCH)
    {
        wrong = "peer-to-peer to be disabled";
    }
    else if (!vertex.gpuDirectRdma && vertex.kind != VertexKind::CPU &&
             vertex.kind != VertexKind::NIC)
    {
        wrong = "GPUDirect RDMA to be disabled";
    }
    else if (vertex.multicast && !isSwitch)
    {
        wrong = "multicast";
    }
    else if (vertex.reduction && !isSwitch)
    {
        wrong = "reduction";
    }
    else if (vertex.bufferBytes > 0 && vertex.kind != VertexKind::SWITCH)
    {
        wrong = "shared buffer";
    }
    if (wrong != nullptr)
    {
        throw std::invalid_argument(where + "a " + ToString(vertex.kind) + " has no " + wrong);
    }
}

} // namespace

Cluster::Cluster(const std::string& name)
    : m_name(name)
{
}

VertexId
Cluster::AddVertex(const Vertex& vertex)
{
    if (vertex.name.empty())
    {
        throw std::invalid_argument("a vertex needs a name");
    }
    if (vertex.server < -1)
    {
        throw std::invalid_argument("vertex '" + vertex.name + "': server " +
                                    std::to_string(vertex.server) + " is below 0");
    }
    if (vertex.server == -1 && vertex.kind != VertexKind::SWITCH &&
        vertex.kind != VertexKind::NVSWITCH)
    {
        throw std::invalid_argument("vertex '" + vertex.name + "': a " + ToString(vertex.kind) +
                                    " must be in a server; give its number");
    }
    CheckCapabilities(vertex);
    const auto id = static_cast<VertexId>(m_vertices.size());
    if (!m_byName.emplace(vertex.name, id).second)
    {
        throw std::invalid_argument("vertex '" + vertex.name + "' exists twice");
    }
    m_nics.clear();
    m_vertices.push_back(vertex);
    m_vertices.back().index = m_countByKind[{vertex.kind, vertex.server}]++;
    m_ports.emplace_back();
    if (vertex.kind == VertexKind::GPU)
    {
        m_gpus.push_back(id);
    }
    m_nServers = std::max(m_nServers, static_cast<uint32_t>(vertex.server + 1));
    return id;
}

namespace
{

/// @param link to check @param where messages begin with this
/// @throw std::invalid_argument if a property of the link is out of range
void
CheckLink(const Link& link, const std::string& where)
{
    if (link.a == link.b)
    {
        throw std::invalid_argument(where + "the ends must be two vertices");
    }
    if (!std::isfinite(link.bytesPerSecond) || link.bytesPerSecond < 1)
    {
        throw std::invalid_argument(where + "the rate must be at least 1 byte per second");
    }
    if (link.delayPs < 0)
    {
        throw std::invalid_argument(where + "the delay must not be negative");
    }
    if (link.framing.unitBytes == 0 || link.framing.packetBytes == 0 ||
        link.framing.controlBytes == 0)
    {
        throw std::invalid_argument(
            where + "unit, packet and control bytes of the framing must be above 0");
    }

    const struct
    {
        const char* what;
        double value;
    } probabilities[] = {
        {"loss probability", link.lossProbability},
        {"bit error rate", link.bitErrorRate},
    };

    for (const auto& probability : probabilities)
    {
        if (!(probability.value >= 0 && probability.value <= 1))
        {
            throw std::invalid_argument(where + "the " + probability.what + " must be 0 to 1");
        }
    }
    if (link.cost < 1 || link.cost > Link::MAX_COST)
    {
        throw std::invalid_argument(where + "the cost must be 1 to " +
                                    std::to_string(Link::MAX_COST));
    }
}

/// @param vertex any @return whether it is a GPU that reaches others by NICs only
bool
IsAlone(const Vertex& vertex)
{
    return vertex.kind == VertexKind::GPU && !vertex.peerToPeer;
}

} // namespace

LinkId
Cluster::AddLink(const Link& link)
{
    for (VertexId end : {link.a, link.b})
    {
        if (end >= m_vertices.size())
        {
            throw std::invalid_argument("link from or to vertex " + std::to_string(end) +
                                        ", which does not exist");
        }
    }
    const std::string where =
        "link from '" + m_vertices[link.a].name + "' to '" + m_vertices[link.b].name + "': ";
    CheckLink(link, where);
    for (VertexId end : {link.a, link.b})
    {
        if (m_ports[end].size() == 0xffff)
        {
            throw std::invalid_argument(where + "'" + m_vertices[end].name +
                                        "' has 65535 links already");
        }
    }
    const auto id = static_cast<LinkId>(m_links.size());
    m_nics.clear();
    m_links.push_back(link);
    m_ports[link.a].push_back({id, link.b});
    m_ports[link.b].push_back({id, link.a});
    if (link.technology == LinkTechnology::NVLINK && !IsAlone(m_vertices[link.a]) &&
        !IsAlone(m_vertices[link.b]))
    {
        JoinDomains(link.a, link.b);
    }
    return id;
}

void
Cluster::RankGpus(const std::vector<VertexId>& first)
{
    std::vector<bool> isFirst(m_vertices.size(), false);
    for (const VertexId gpu : first)
    {
        if (gpu >= m_vertices.size() || m_vertices[gpu].kind != VertexKind::GPU || isFirst[gpu])
        {
            throw std::invalid_argument("vertex " + std::to_string(gpu) +
                                        " is no GPU, or gets two ranks");
        }
        isFirst[gpu] = true;
    }
    std::vector<VertexId> ranked = first;
    for (const VertexId gpu : m_gpus)
    {
        if (!isFirst[gpu])
        {
            ranked.push_back(gpu);
        }
    }
    m_gpus = std::move(ranked);
}

int32_t
Cluster::DomainKey(VertexId vertex) const
{
    const int32_t server = m_vertices[vertex].server;
    return server >= 0 && !IsAlone(m_vertices[vertex]) ? server : -2 - static_cast<int32_t>(vertex);
}

void
Cluster::JoinDomains(VertexId a, VertexId b)
{
    // The first server of both names the new one.
    const auto order = [](int32_t key) { return static_cast<uint32_t>(key); };
    const int32_t x = GetDomain(a);
    const int32_t y = GetDomain(b);
    if (x == y)
    {
        return;
    }
    const int32_t kept = order(x) < order(y) ? x : y;
    const int32_t gone = kept == x ? y : x;
    for (auto& [key, domain] : m_domainOf)
    {
        domain = domain == gone ? kept : domain;
    }
    m_domainOf[gone] = kept;
}

int32_t
Cluster::GetDomain(VertexId vertex) const
{
    RequireVertex(*this, vertex);
    const int32_t key = DomainKey(vertex);
    const auto found = m_domainOf.find(key);
    return found == m_domainOf.end() ? key : found->second;
}

Cluster::RankRange
Cluster::GetServerRanks(uint32_t rank) const
{
    const int32_t server = GetServer(rank);
    RankRange ranks{rank, rank + 1};
    while (ranks.first > 0 && GetServer(ranks.first - 1) == server)
    {
        --ranks.first;
    }
    while (ranks.end < m_gpus.size() && GetServer(ranks.end) == server)
    {
        ++ranks.end;
    }
    return ranks;
}

VertexId
Cluster::FindVertex(const std::string& name) const
{
    auto found = m_byName.find(name);
    if (found == m_byName.end())
    {
        throw std::invalid_argument("there is no vertex '" + name + "'");
    }
    return found->second;
}

std::vector<VertexId>
Cluster::FindNearestNics(VertexId from) const
{
    return ns3::proteus::FindNearestNics(*this, from);
}

VertexId
Cluster::GetNic(VertexId gpu) const
{
    RequireVertex(*this, gpu);
    const int32_t server = m_vertices[gpu].server;
    const auto known = m_nics.find(gpu);
    if (known != m_nics.end())
    {
        return known->second;
    }
    const NicTable table(*this);
    for (const VertexId other : m_gpus)
    {
        if (m_vertices[other].server == server)
        {
            m_nics[other] = table.Get(other, 0);
        }
    }
    const auto found = m_nics.find(gpu);
    if (found != m_nics.end())
    {
        return found->second;
    }
    const std::vector<VertexId> nics = FindNearestNics(gpu); // not a GPU
    return nics.empty() ? NO_VERTEX : nics.front();
}

void
Cluster::Validate() const
{
    if (m_gpus.empty())
    {
        throw std::invalid_argument("the cluster has no GPU");
    }
    std::set<int32_t> servers;
    for (const Vertex& vertex : m_vertices)
    {
        servers.insert(vertex.server);
    }
    servers.erase(-1);
    int32_t expected = 0;
    for (int32_t server : servers)
    {
        if (server != expected)
        {
            throw std::invalid_argument("there is a server " + std::to_string(server) +
                                        " but no server " + std::to_string(expected) +
                                        "; number the servers from 0 without gaps");
        }
        ++expected;
    }
    CheckReachability(*this);
}

} // namespace proteus
} // namespace ns3
