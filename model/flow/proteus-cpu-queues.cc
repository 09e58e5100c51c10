/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-cpu-queues.h"

#include "ns3/proteus-network-links.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace proteus
{

CpuQueues::CpuQueues(const Cluster& cluster,
                     const Paths& paths,
                     std::vector<double> comes,
                     std::vector<double> goes)
    : m_cluster(cluster),
      m_paths(paths),
      m_comes(std::move(comes)),
      m_goes(std::move(goes))
{
}

std::vector<uint32_t>
CpuQueues::List() const
{
    std::vector<uint32_t> ports;
    const auto& links = m_cluster.GetLinks();
    if (std::none_of(links.begin(), links.end(), &IsOfNetwork))
    {
        return ports;
    }
    for (uint32_t port = 0; port < m_comes.size(); ++port)
    {
        if (m_cluster.GetVertices()[GetEnd(port)].kind == VertexKind::CPU && HasSlowOutput(port))
        {
            ports.push_back(port);
        }
    }
    return ports;
}

double
CpuQueues::FindSeconds(uint32_t port, double comes, double goes)
{
    auto known = m_slowParts.find(port);
    if (known == m_slowParts.end())
    {
        known = m_slowParts.emplace(port, FindSlowPart(port)).first;
    }
    const double part = known->second;
    // By how many units come between two slow ones.
    double waits = 0;
    double probability = part;
    for (double between = goes - comes; between > 0 && probability > 0; between -= comes)
    {
        waits += probability * between;
        probability *= 1 - part;
    }
    return comes + waits;
}

VertexId
CpuQueues::GetEnd(uint32_t port) const
{
    const Link& link = m_cluster.GetLinks()[port / 2];
    return port % 2 == 0 ? link.b : link.a;
}

bool
CpuQueues::IsSlowOutput(VertexId cpu, std::size_t position, uint32_t port) const
{
    const Port& out = m_cluster.GetPorts(cpu)[position];
    const uint32_t leaves = 2 * out.link + (m_cluster.GetLinks()[out.link].a == cpu ? 0 : 1);
    return out.link != port / 2 && m_goes[leaves] > m_comes[port];
}

bool
CpuQueues::HasSlowOutput(uint32_t port) const
{
    const VertexId cpu = GetEnd(port);
    const std::size_t count = m_cluster.GetPorts(cpu).size();
    for (std::size_t position = 0; position < count; ++position)
    {
        if (IsSlowOutput(cpu, position, port))
        {
            return true;
        }
    }
    return false;
}

double
CpuQueues::FindSlowPart(uint32_t port)
{
    const VertexId cpu = GetEnd(port);
    const auto& vertices = m_cluster.GetVertices();
    if (m_gpusOfServer.empty())
    {
        for (const VertexId gpu : m_cluster.GetGpus())
        {
            m_gpusOfServer[vertices[gpu].server].push_back(gpu);
        }
    }
    uint32_t slow = 0;
    uint32_t all = 0;
    for (const VertexId gpu : m_gpusOfServer[vertices[cpu].server])
    {
        const auto& choices = m_paths.NextPorts(cpu, gpu);
        if (!choices.empty() && m_cluster.GetPorts(cpu)[choices.front()].link != port / 2)
        {
            ++all;
            slow += IsSlowOutput(cpu, choices.front(), port) ? 1 : 0;
        }
    }
    return all == 0 ? 0 : static_cast<double>(slow) / all;
}

} // namespace proteus
} // namespace ns3
