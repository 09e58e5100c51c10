/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-routes.h"

#include "ns3/proteus-flow-places.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ns3
{
namespace proteus
{

FlowRoutes::FlowRoutes(const Cluster& cluster, const Paths& paths, const FlowParameters& parameters)
    : m_cluster(cluster),
      m_paths(paths),
      m_parameters(parameters),
      m_flowPlaces(GetFlowPlaces(cluster))
{
    AddLinkResources();
    AddQueues();
    const auto& vertices = m_cluster.GetVertices();
    m_ofMemory.assign(vertices.size(), NO_RESOURCE);
    m_ofEngines.assign(vertices.size(), NO_RESOURCE);
    for (VertexId id = 0; id < vertices.size(); ++id)
    {
        const Vertex& vertex = vertices[id];
        if (vertex.memoryBytesPerSecond > 0)
        {
            m_ofMemory[id] = AddResource(vertex.memoryBytesPerSecond, 1);
        }
        if (vertex.copyEngines * vertex.copyEngineBytesPerSecond > 0)
        {
            m_ofEngines[id] = AddResource(vertex.copyEngines * vertex.copyEngineBytesPerSecond, 1);
        }
    }
    const auto& links = m_cluster.GetLinks();
    m_ofForward.assign(2 * links.size(), NO_RESOURCE);
    for (uint32_t port = 0; port < m_ofForward.size(); ++port)
    {
        const Vertex& to = vertices[port % 2 == 0 ? links[port / 2].b : links[port / 2].a];
        if (to.forwardBytesPerSecond > 0 && to.kind != VertexKind::GPU)
        {
            m_ofForward[port] = AddResource(to.forwardBytesPerSecond, 1);
        }
    }
}

uint32_t
FlowRoutes::AddResource(double capacity, double sharing)
{
    m_resources.push_back({capacity, sharing, {}});
    return static_cast<uint32_t>(m_resources.size() - 1);
}

void
FlowRoutes::AddLinkResources()
{
    const auto& vertices = m_cluster.GetVertices();
    const auto& links = m_cluster.GetLinks();
    m_ofPort.resize(2 * links.size());
    // Of a GPU: the resources from and to its NVSwitches.
    std::map<std::pair<VertexId, bool>, uint32_t> bundles;
    for (LinkId id = 0; id < links.size(); ++id)
    {
        const Link& link = links[id];
        const FlowLinkParameters& parameters = m_parameters.Get(link.technology);
        const double capacity = link.bytesPerSecond * parameters.efficiency;
        const VertexKind a = vertices[link.a].kind;
        const VertexKind b = vertices[link.b].kind;
        const bool bundled = link.technology == LinkTechnology::NVLINK &&
                             ((a == VertexKind::GPU && b == VertexKind::NVSWITCH) ||
                              (b == VertexKind::GPU && a == VertexKind::NVSWITCH));
        const VertexId gpu = a == VertexKind::GPU ? link.a : link.b;
        for (const bool forward : {true, false})
        {
            uint32_t resource = NO_RESOURCE;
            if (bundled)
            {
                const bool out = forward == (gpu == link.a);
                const auto [place, isNew] = bundles.emplace(std::make_pair(gpu, out), 0);
                if (isNew)
                {
                    place->second = AddResource(0, parameters.sharing);
                }
                resource = place->second;
            }
            else
            {
                resource = AddResource(0, parameters.sharing);
            }
            m_resources[resource].capacity += capacity;
            const uint32_t port = 2 * id + (forward ? 0 : 1);
            m_resources[resource].ports.push_back(port);
            m_ofPort[port] = resource;
        }
    }
}

bool
FlowRoutes::AreAlike(VertexId at, const std::vector<uint16_t>& positions) const
{
    const auto name = [&](uint16_t position) {
        const Port& port = m_cluster.GetPorts(at)[position];
        const Link& link = m_cluster.GetLinks()[port.link];
        return std::make_tuple(port.neighbor,
                               m_ofPort[2 * port.link + (link.a == at ? 0 : 1)],
                               m_ofPort[2 * port.link + (link.a == at ? 1 : 0)],
                               m_ofForward[2 * port.link + (link.a == at ? 0 : 1)],
                               m_paths.GoesDown(at, position),
                               link.technology,
                               link.bytesPerSecond,
                               link.delayPs);
    };
    const auto framing = [&](uint16_t position) -> const LinkFraming& {
        return m_cluster.GetLinks()[m_cluster.GetPorts(at)[position].link].framing;
    };
    static_assert(std::has_unique_object_representations_v<LinkFraming>, "compared byte by byte");
    return std::all_of(positions.begin() + 1, positions.end(), [&](uint16_t position) {
        return name(position) == name(positions.front()) &&
               std::memcmp(&framing(position), &framing(positions.front()), sizeof(LinkFraming)) ==
                   0;
    });
}

} // namespace proteus
} // namespace ns3
