/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-cluster.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <queue>
#include <set>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr std::array<const char*, 6> VERTEX_KINDS{"gpu",
                                                  "nvswitch",
                                                  "pcie-switch",
                                                  "cpu",
                                                  "nic",
                                                  "switch"};

constexpr std::array<const char*, 5> LINK_TECHNOLOGIES{"nvlink",
                                                       "pcie",
                                                       "cpu-interconnect",
                                                       "infiniband",
                                                       "roce"};

/**
 * @param what kind of name, for the message
 * @param names the known ones
 * @param text to find
 * @return its position
 */
template <std::size_t N>
std::size_t
FindName(const char* what, const std::array<const char*, N>& names, const std::string& text)
{
    for (std::size_t i = 0; i < N; ++i)
    {
        if (text == names[i])
        {
            return i;
        }
    }
    std::string message = std::string("unknown ") + what + " '" + text + "'; known:";
    for (std::size_t i = 0; i < N; ++i)
    {
        message += std::string(i == 0 ? " " : ", ") + names[i];
    }
    throw std::invalid_argument(message);
}

} // namespace

const char*
ToString(VertexKind kind)
{
    return VERTEX_KINDS.at(static_cast<std::size_t>(kind));
}

const char*
ToString(LinkTechnology technology)
{
    return LINK_TECHNOLOGIES.at(static_cast<std::size_t>(technology));
}

VertexKind
VertexKindFromString(const std::string& text)
{
    return static_cast<VertexKind>(FindName("kind of vertex", VERTEX_KINDS, text));
}

LinkTechnology
LinkTechnologyFromString(const std::string& text)
{
    return static_cast<LinkTechnology>(FindName("link technology", LINK_TECHNOLOGIES, text));
}

LinkFraming
DefaultFraming(LinkTechnology technology)
{
    LinkFraming framing;
    // The largest MTU of InfiniBand and RoCE; bursts on the other links are as long.
    framing.unitBytes = 4096;
    switch (technology)
    {
    case LinkTechnology::NVLINK:
        // Flits of 16 bytes, up to 256 bytes of payload in a packet (Foley and Danskin, "Ultra-
        // Performance Pascal GPU and NVLink Interconnect", IEEE Micro 37(2), 2017). Two flits of
        // header, address and byte enables, as stores of the SMs have: 256/288 = 88.9 %, measured
        // 86 % of a pair of A100s, and 88 % of an H200. (DMA writes have one: 94.1 %.) A unit
        // without payload is a packet of two flits.
        framing.packetBytes = 256;
        framing.packetHeaderBytes = 32;
        framing.controlBytes = 32;
        break;
    case LinkTechnology::PCIE:
        // Memory write with 64-bit address (PCI Express Base Specification, transaction and data
        // link layers): framing and sequence number 4, header 16, LCRC 4; maximum payload 256 is
        // what servers configure. 256/280 = 91.4 %. A unit without payload is a write of one
        // 8-byte flag.
        framing.packetBytes = 256;
        framing.packetHeaderBytes = 24;
        framing.controlBytes = 32;
        break;
    case LinkTechnology::CPU_INTERCONNECT:
        // The rates that are known for traffic of devices across sockets are measured payload rates
        // (see the server presets), which have the framing inside. Control: a line of 64 bytes.
        framing.packetBytes = 4096;
        framing.packetHeaderBytes = 0;
        framing.controlBytes = 64;
        break;
    case LinkTechnology::INFINIBAND:
        // InfiniBand Architecture Specification, volume 1: LRH 8, BTH 12, ICRC 4, VCRC 2. A unit
        // without payload is an acknowledgement: AETH 4 more. MTU 4096.
        framing.packetBytes = 4096;
        framing.packetHeaderBytes = 26;
        framing.controlBytes = 30;
        break;
    case LinkTechnology::ROCE:
        // InfiniBand Architecture Specification, annex A17 (RoCEv2), over Ethernet: header 14, FCS
        // 4, preamble and gap 20, IPv4 20, UDP 8, BTH 12, ICRC 4. An acknowledgement has AETH 4
        // more. MTU 4096.
        framing.packetBytes = 4096;
        framing.packetHeaderBytes = 82;
        framing.controlBytes = 86;
        break;
    }
    return framing;
}

int64_t
DefaultDelayPs(LinkTechnology technology)
{
    switch (technology)
    {
    case LinkTechnology::NVLINK:
        // No public source: a parameter. An upper bound is the 0.6 us that NCCL's tuning model
        // counts for a whole LL step over NVLink, two hops and the work of both GPUs included.
        return 150000;
    case LinkTechnology::PCIE:
        // PLX PEX 8624, 8647 and 8664 product briefs: cut-through latency of 140 to 176 ns. Root
        // complexes have no public figure.
        return 150000;
    case LinkTechnology::CPU_INTERCONNECT:
        // No public source for traffic of devices: a parameter. About half of what a load from the
        // memory of the other socket takes longer than one from its own.
        return 70000;
    case LinkTechnology::INFINIBAND:
        // NVIDIA Quantum QM8700 data sheet: port to port below 130 ns; and 4 m of cable at 5 ns/m.
        return 150000;
    case LinkTechnology::ROCE:
        // NVIDIA Spectrum SN2700 data sheet: 300 ns port to port; and 4 m of cable at 5 ns/m.
        return 320000;
    }
    throw std::invalid_argument("link technology out of range");
}

uint32_t
DefaultCost(LinkTechnology technology)
{
    switch (technology)
    {
    case LinkTechnology::NVLINK:
        return 1;
    case LinkTechnology::PCIE:
        // Two stages of NVSwitches (four hops) still beat one PCIe switch (two hops).
        return 4;
    case LinkTechnology::CPU_INTERCONNECT:
        return 8;
    case LinkTechnology::INFINIBAND:
    case LinkTechnology::ROCE:
        // Two hops cost more than any path inside a server, even through several PCIe switches in a
        // row; what is left inside the servers then only breaks ties between paths of as many
        // network hops.
        return 100;
    }
    throw std::invalid_argument("link technology out of range");
}

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
    const auto id = static_cast<VertexId>(m_vertices.size());
    if (!m_byName.emplace(vertex.name, id).second)
    {
        throw std::invalid_argument("vertex '" + vertex.name + "' exists twice");
    }
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
    if (link.cost < 1 || link.cost > Link::MAX_COST)
    {
        throw std::invalid_argument(where + "the cost must be 1 to " +
                                    std::to_string(Link::MAX_COST));
    }
    for (VertexId end : {link.a, link.b})
    {
        if (m_ports[end].size() == 0xffff)
        {
            throw std::invalid_argument(where + "'" + m_vertices[end].name +
                                        "' has 65535 links already");
        }
    }
    const auto id = static_cast<LinkId>(m_links.size());
    m_links.push_back(link);
    m_ports[link.a].push_back({id, link.b});
    m_ports[link.b].push_back({id, link.a});
    return id;
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

VertexId
Cluster::GetNic(VertexId gpu) const
{
    // A search inside one server is a few dozen steps, so nothing is kept.
    const int32_t server = m_vertices.at(gpu).server;
    auto nearestNics = [this, server](VertexId from) {
        using Entry = std::pair<uint32_t, VertexId>; // distance, vertex
        std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
        std::unordered_map<VertexId, uint32_t> distances{{from, 0}};
        std::vector<VertexId> nics;
        uint32_t nearest = Paths::UNREACHABLE;
        queue.emplace(0, from);
        while (!queue.empty())
        {
            const auto [distance, vertex] = queue.top();
            queue.pop();
            if (distance > nearest)
            {
                break;
            }
            if (distance > distances[vertex])
            {
                continue;
            }
            if (m_vertices[vertex].kind == VertexKind::NIC)
            {
                nearest = distance;
                nics.push_back(vertex);
            }
            if (vertex != from && m_vertices[vertex].kind == VertexKind::GPU)
            {
                continue;
            }
            for (const Port& port : m_ports[vertex])
            {
                if (m_vertices[port.neighbor].server != server)
                {
                    continue;
                }
                const uint32_t length = distance + m_links[port.link].cost;
                const auto known = distances.emplace(port.neighbor, length);
                if (known.second || length < known.first->second)
                {
                    known.first->second = length;
                    queue.emplace(length, port.neighbor);
                }
            }
        }
        std::sort(nics.begin(), nics.end());
        return nics;
    };

    const std::vector<VertexId> nics = nearestNics(gpu);
    if (nics.empty())
    {
        return NO_VERTEX;
    }
    std::size_t turn = 0;
    for (VertexId other : m_gpus)
    {
        if (other == gpu)
        {
            break;
        }
        if (nics.size() > 1 && m_vertices[other].server == server && nearestNics(other) == nics)
        {
            ++turn;
        }
    }
    return nics[turn % nics.size()];
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

    // Since paths do not run through GPUs, two GPUs reach each other if they have a link of their
    // own or touch the same island of the other vertices.
    constexpr uint32_t NONE = 0xffffffff;
    std::vector<uint32_t> islandOf(m_vertices.size(), NONE);
    uint32_t nIslands = 0;
    for (VertexId start = 0; start < m_vertices.size(); ++start)
    {
        if (m_vertices[start].kind == VertexKind::GPU || islandOf[start] != NONE)
        {
            continue;
        }
        std::vector<VertexId> pending{start};
        islandOf[start] = nIslands;
        while (!pending.empty())
        {
            const VertexId vertex = pending.back();
            pending.pop_back();
            for (const Port& port : m_ports[vertex])
            {
                if (m_vertices[port.neighbor].kind != VertexKind::GPU &&
                    islandOf[port.neighbor] == NONE)
                {
                    islandOf[port.neighbor] = nIslands;
                    pending.push_back(port.neighbor);
                }
            }
        }
        ++nIslands;
    }

    std::vector<std::set<uint32_t>> touched; // islands by rank
    touched.reserve(m_gpus.size());
    for (VertexId gpu : m_gpus)
    {
        std::set<uint32_t> islands;
        for (const Port& port : m_ports[gpu])
        {
            if (islandOf[port.neighbor] != NONE)
            {
                islands.insert(islandOf[port.neighbor]);
            }
        }
        touched.push_back(std::move(islands));
    }
    for (std::size_t i = 0; i < m_gpus.size(); ++i)
    {
        for (std::size_t j = i + 1; j < m_gpus.size(); ++j)
        {
            const bool common =
                std::any_of(touched[i].begin(), touched[i].end(), [&](uint32_t island) {
                    return touched[j].count(island) > 0;
                });
            const auto& ports = m_ports[m_gpus[i]];
            if (!common && std::none_of(ports.begin(), ports.end(), [&](const Port& port) {
                    return port.neighbor == m_gpus[j];
                }))
            {
                throw std::invalid_argument(
                    "GPU '" + m_vertices[m_gpus[i]].name + "' does not reach GPU '" +
                    m_vertices[m_gpus[j]].name +
                    "' (paths do not run through other GPUs); add a link or a switch");
            }
        }
    }
}

} // namespace proteus
} // namespace ns3
