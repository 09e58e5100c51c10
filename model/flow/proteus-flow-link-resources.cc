/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-routes.h"

#include "ns3/proteus-network-links.h"

#include <map>
#include <utility>

namespace ns3
{
namespace proteus
{

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
        const double rate = link.bytesPerSecond * parameters.efficiency;
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
            // Switches say how loaded they are, NICs do not.
            const bool isTold =
                IsOfNetwork(link) && vertices[forward ? link.a : link.b].kind == VertexKind::SWITCH;
            m_resources[resource].capacity +=
                isTold ? rate * m_parameters.networkLoad.utilisation : rate;
            const uint32_t port = 2 * id + (forward ? 0 : 1);
            m_resources[resource].ports.push_back(port);
            m_ofPort[port] = resource;
        }
    }
}

} // namespace proteus
} // namespace ns3
