/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-classic-server.h"

#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-network-links.h"

#include <algorithm>
#include <queue>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

ClassicServer::ClassicServer(const Cluster& cluster,
                             const std::vector<VertexId>& gpus,
                             bool isAlone)
    : m_cluster(cluster),
      m_gpus(gpus),
      m_capability(FindComputeCapability(cluster.GetVertices()[gpus[0]].model))
{
    for (VertexId id = 0; id < cluster.GetVertices().size(); ++id)
    {
        AddPlace(id);
    }
    AddArcs();
    FindGpuWays();
    if (!isAlone)
    {
        FindNicWays();
    }
    for (uint32_t gpu = 0; gpu < gpus.size(); ++gpu)
    {
        m_total = std::max(m_total, TotalRate(gpu));
    }
}

double
ClassicServer::GetMost() const
{
    double most = 0;
    for (const ClassicWay& way : m_nics.empty() ? m_ways : m_in)
    {
        most = std::max(most, way.width);
    }
    return most;
}

std::vector<double>
ClassicServer::GetWidths() const
{
    std::vector<double> widths;
    for (const ClassicArc& arc : m_arcs)
    {
        widths.push_back(arc.width);
    }
    return widths;
}

bool
ClassicServer::Take(const ClassicWay& way,
                    bool fromGpu,
                    double speed,
                    std::vector<double>& left) const
{
    // INTEL_P2P_OVERHEAD; the servers of NVIDIA with Ampere have AMD's CPUs.
    const bool isSlowed =
        fromGpu && way.throughCpu && way.type == NcclPath::PHB && m_capability != 80;
    for (const uint32_t id : way.arcs)
    {
        const double rate = m_arcs[id].isPcie && isSlowed ? speed * 6 / 5 : speed;
        left[id] -= rate;
        // Reads of GPUs before Ampere cost the opposite direction, too.
        if (!fromGpu && IsGpu(m_arcs[id].to) && m_capability < 80)
        {
            left[id ^ 1] -= rate / 8;
            if (left[id ^ 1] < -CLASSIC_RATE_SLACK)
            {
                return false;
            }
        }
        if (left[id] < -CLASSIC_RATE_SLACK)
        {
            return false;
        }
    }
    return true;
}

void
ClassicServer::AddPlace(VertexId id)
{
    if (m_placeOf.empty())
    {
        for (uint32_t i = 0; i < m_gpus.size(); ++i)
        {
            m_placeOf[m_gpus[i]] = i;
            m_kinds.push_back(VertexKind::GPU);
        }
    }
    const Vertex& vertex = m_cluster.GetVertices()[id];
    if (vertex.server != m_cluster.GetVertices()[m_gpus[0]].server ||
        vertex.kind == VertexKind::GPU)
    {
        return;
    }
    if (vertex.kind == VertexKind::NVSWITCH && m_nvswitch)
    {
        m_placeOf[id] = *m_nvswitch;
        return;
    }
    m_placeOf[id] = static_cast<uint32_t>(m_kinds.size());
    if (vertex.kind == VertexKind::NVSWITCH)
    {
        m_nvswitch = m_placeOf[id];
    }
    m_kinds.push_back(vertex.kind);
}

double
ClassicServer::WidthOf(const Link& link) const
{
    const double raw = link.bytesPerSecond / 1e9;
    switch (link.technology)
    {
    case LinkTechnology::NVLINK: // 18 of 20 GB/s (Pascal), 22 of 25
        return m_capability >= 70 ? raw * 22 / 25 : raw * 18 / 20;
    case LinkTechnology::PCIE: // 12 of 15.75 GB/s (Gen3 x16)
        return raw * 12 / 15.75;
    default:
        return raw;
    }
}

void
ClassicServer::AddArcs()
{
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> arcOf;
    m_first.resize(m_kinds.size());
    for (const Link& link : m_cluster.GetLinks())
    {
        if (!m_placeOf.count(link.a) || !m_placeOf.count(link.b))
        {
            continue;
        }
        const uint32_t a = m_placeOf[link.a];
        const uint32_t b = m_placeOf[link.b];
        const auto place = arcOf.emplace(std::minmax(a, b), m_arcs.size());
        if (place.second)
        {
            const bool isPcie = link.technology == LinkTechnology::PCIE;
            m_first[a].push_back(static_cast<uint32_t>(m_arcs.size()));
            m_arcs.push_back({b, 0, isPcie});
            m_first[b].push_back(static_cast<uint32_t>(m_arcs.size()));
            m_arcs.push_back({a, 0, isPcie});
        }
        m_arcs[place.first->second].width += WidthOf(link);
        m_arcs[place.first->second ^ 1].width += WidthOf(link);
    }
}

double
ClassicServer::TotalRate(uint32_t gpu) const
{
    double nvlink = 0;
    double other = 0;
    for (const uint32_t arc : m_first[gpu])
    {
        (m_arcs[arc].isPcie ? other : nvlink) += m_arcs[arc].width;
    }
    return std::max(nvlink, other);
}

std::optional<uint32_t>
ClassicServer::FindArc(uint32_t from, uint32_t to) const
{
    for (const uint32_t arc : m_first[from])
    {
        if (m_arcs[arc].to == to)
        {
            return arc;
        }
    }
    return std::nullopt;
}

ClassicWay
ClassicServer::MakeWay(std::vector<uint32_t> arcs, NcclPath type) const
{
    ClassicWay way;
    way.width = 1e9;
    way.type = type;
    for (const uint32_t arc : arcs)
    {
        way.width = std::min(way.width, m_arcs[arc].width);
        way.throughCpu = way.throughCpu || m_kinds[m_arcs[arc].to] == VertexKind::CPU;
    }
    way.arcs = std::move(arcs);
    return way;
}

ClassicWay
ClassicServer::FindTreeWay(uint32_t from, uint32_t to) const
{
    std::vector<uint32_t> cameBy(m_kinds.size(), NO_ID);
    std::queue<uint32_t> places;
    places.push(from);
    while (!places.empty() && cameBy[to] == NO_ID)
    {
        const uint32_t at = places.front();
        places.pop();
        for (const uint32_t arc : m_first[at])
        {
            const uint32_t next = m_arcs[arc].to;
            const bool isPassable =
                m_kinds[next] == VertexKind::PCIE_SWITCH || m_kinds[next] == VertexKind::CPU;
            if (next != from && cameBy[next] == NO_ID && (isPassable || next == to) &&
                (m_arcs[arc].isPcie || !IsGpu(next)))
            {
                cameBy[next] = arc;
                places.push(next);
            }
        }
    }
    ClassicWay none;
    if (cameBy[to] == NO_ID)
    {
        return none;
    }
    std::vector<uint32_t> arcs;
    uint32_t cpus = 0;
    uint32_t switches = 0;
    for (uint32_t at = to; at != from; at = m_arcs[cameBy[at] ^ 1].to)
    {
        arcs.push_back(cameBy[at]);
        cpus += m_kinds[at] == VertexKind::CPU ? 1 : 0;
        switches += m_kinds[at] == VertexKind::PCIE_SWITCH ? 1 : 0;
    }
    std::reverse(arcs.begin(), arcs.end());
    return MakeWay(std::move(arcs),
                   cpus > 1       ? NcclPath::SYS
                   : cpus == 1    ? NcclPath::PHB
                   : switches > 1 ? NcclPath::PXB
                                  : NcclPath::PIX);
}

ClassicWay
ClassicServer::FindGpuWay(uint32_t a, uint32_t b) const
{
    if (const auto direct = FindArc(a, b); direct && !m_arcs[*direct].isPcie)
    {
        return MakeWay({*direct}, NcclPath::NVL);
    }
    if (m_nvswitch)
    {
        const auto up = FindArc(a, *m_nvswitch);
        const auto down = FindArc(*m_nvswitch, b);
        if (up && down)
        {
            return MakeWay({*up, *down}, NcclPath::NVL);
        }
    }
    ClassicWay best = FindTreeWay(a, b);
    for (uint32_t via = 0; via < m_gpus.size(); ++via)
    {
        const auto first = FindArc(a, via);
        const auto second = FindArc(via, b);
        if (first && second)
        {
            ClassicWay way = MakeWay({*first, *second}, NcclPath::NVB);
            best = way.width > best.width ? way : best;
        }
    }
    return best;
}

void
ClassicServer::FindGpuWays()
{
    const auto n = CountGpus();
    m_ways.resize(std::size_t{n} * n);
    for (uint32_t a = 0; a < n; ++a)
    {
        for (uint32_t b = 0; b < n; ++b)
        {
            if (a != b)
            {
                m_ways[a * n + b] = FindGpuWay(a, b);
            }
        }
    }
}

uint32_t
ClassicServer::FindCpu(uint32_t gpu) const
{
    std::size_t least = SIZE_MAX;
    uint32_t best = NO_ID;
    for (uint32_t place = 0; place < m_kinds.size(); ++place)
    {
        if (m_kinds[place] == VertexKind::CPU)
        {
            const ClassicWay way = FindTreeWay(gpu, place);
            if (!way.arcs.empty() && way.arcs.size() < least)
            {
                least = way.arcs.size();
                best = place;
            }
        }
    }
    return best;
}

ClassicWay
ClassicServer::FindNicWay(uint32_t from, uint32_t to, uint32_t gpu) const
{
    const uint32_t cpu = m_capability >= 80 ? NO_ID : FindCpu(gpu);
    if (cpu == NO_ID)
    {
        return FindTreeWay(from, to);
    }
    const ClassicWay first = FindTreeWay(from, cpu);
    const ClassicWay second = FindTreeWay(cpu, to);
    if (first.arcs.empty() || second.arcs.empty())
    {
        return ClassicWay();
    }
    std::vector<uint32_t> arcs = first.arcs;
    arcs.insert(arcs.end(), second.arcs.begin(), second.arcs.end());
    const bool isBetweenSockets = std::any_of(arcs.begin(), arcs.end(), [this](uint32_t arc) {
        return m_kinds[m_arcs[arc].to] == VertexKind::CPU &&
               m_kinds[m_arcs[arc ^ 1].to] == VertexKind::CPU;
    });
    return MakeWay(std::move(arcs), isBetweenSockets ? NcclPath::SYS : NcclPath::PHB);
}

void
ClassicServer::FindNicWays()
{
    for (const auto& [vertex, nic] : m_placeOf)
    {
        if (KindOf(vertex) != VertexKind::NIC)
        {
            continue;
        }
        double rate = 0;
        for (const Port& port : m_cluster.GetPorts(vertex))
        {
            const Link& link = m_cluster.GetLinks()[port.link];
            rate += IsOfNetwork(link) ? link.bytesPerSecond / 1e9 : 0;
        }
        // The link to the network: one arc out, one arc in, at the end of every way.
        const auto out = static_cast<uint32_t>(m_arcs.size());
        m_arcs.push_back({NO_ID, rate, false});
        m_arcs.push_back({NO_ID, rate, false});
        for (uint32_t gpu = 0; gpu < m_gpus.size(); ++gpu)
        {
            m_in.push_back(FindNicWay(nic, gpu, gpu));
            m_out.push_back(FindNicWay(gpu, nic, gpu));
            for (ClassicWay* way : {&m_in.back(), &m_out.back()})
            {
                if (!way->arcs.empty())
                {
                    way->width = std::min(way->width, rate);
                    way->arcs.push_back(way == &m_in.back() ? out + 1 : out);
                }
            }
        }
        m_nics.push_back(nic);
    }
    if (m_nics.empty())
    {
        throw std::invalid_argument("classic rules: a server of a group that spans servers has "
                                    "no NIC");
    }
}

} // namespace proteus
} // namespace ns3
