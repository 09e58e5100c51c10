/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-profile.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

void
FlowProfiles::AddPairs(TaskId id,
                       const Shape& shape,
                       const std::vector<uint32_t>& routes,
                       const std::vector<uint32_t>& classOf,
                       std::vector<FlowClass>& classes) const
{
    if (!m_hasCongestion)
    {
        return;
    }
    const GroupId group = m_graph.GetTask(id).place;
    const auto& devices = m_graph.GetGroup(group);
    const std::vector<double>& limits = shape.family->parts.back()->costs.limits;
    const uint32_t slots = shape.family->parts.back()->request.slots;
    for (std::size_t i = 0; i < shape.flows.size(); ++i)
    {
        const ProgramFlow& flow = shape.flows[i];
        const FlowRoute& route = m_routes.GetRoute(routes[i]);
        if (flow.group != NO_GROUP || flow.bytes == 0 || route.queues.size() < 2)
        {
            continue;
        }
        FlowPair pair;
        pair.flow = static_cast<uint32_t>(i);
        pair.key =
            GetConnectionFlow(m_cluster, group, flow.channel, devices[flow.from], devices[flow.to]);
        pair.part = static_cast<double>(flow.bytes) / classes[classOf[i]].bytes;
        pair.messageBytes = static_cast<double>(flow.bytes) /
                            static_cast<double>(std::max<uint64_t>(flow.messages, 1));
        pair.slots = slots;
        pair.line = route.lineBytesPerSecond;
        pair.lineWire = route.lineWire;
        pair.latencyPs = route.latencyPs;
        pair.controlPs = route.controlPs;
        pair.unitBytes = route.unitBytes;
        pair.source =
            limits.empty() || limits[i] <= 0 ? route.limit : std::min(route.limit, limits[i]);
        for (const uint32_t resource : route.queues)
        {
            const auto use = std::find_if(
                route.uses.begin(),
                route.uses.end(),
                [resource](const FlowUse& entry) { return entry.resource == resource; });
            pair.hops.emplace_back(resource, use->amount);
        }
        for (const uint32_t resource : route.returns)
        {
            pair.returns.emplace_back(resource, pair.hops.front().second * route.unitBytes);
        }
        for (const FlowUse& use : route.uses)
        {
            const bool isOfSwitch =
                std::find(route.queues.begin() + 1, route.queues.end(), use.resource) !=
                route.queues.end();
            const bool isQueue = use.resource >= m_routes.GetFirstQueue() &&
                                 use.resource < m_routes.GetEndOfQueues();
            if (!isOfSwitch && !isQueue && !use.comesFirst)
            {
                pair.source = std::min(pair.source,
                                       m_routes.GetResources()[use.resource].capacity / use.amount);
            }
        }
        classes[classOf[i]].pairs.push_back(std::move(pair));
    }
}

} // namespace proteus
} // namespace ns3
