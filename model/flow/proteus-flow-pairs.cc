/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-profile.h"

#include <algorithm>
#include <limits>
#include <map>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param route with it @param resource that it uses @return what it takes of that for a byte
double
FindAmount(const FlowRoute& route, uint32_t resource)
{
    return std::find_if(route.uses.begin(),
                        route.uses.end(),
                        [resource](const FlowUse& use) { return use.resource == resource; })
        ->amount;
}

} // namespace

void
FlowProfiles::LimitReads(const FlowRoute& route, FlowPair& pair) const
{
    const auto getRate = [&](uint32_t resource) {
        return m_routes.GetResources()[resource].capacity / FindAmount(route, resource);
    };
    const auto& [port, wire] = pair.hops.front();
    for (const uint32_t resource : route.reads)
    {
        if (getRate(resource) >= getRate(port))
        {
            continue;
        }
        if (resource == route.feed)
        {
            pair.feed = getRate(resource) * wire;
        }
        else
        {
            pair.reads.emplace_back(resource, FindAmount(route, resource));
        }
    }
}

void
FlowProfiles::LimitWrites(const std::vector<uint32_t>& routes, FlowClass& flows) const
{
    struct Behind
    {
        double wire{0};                     // of the last port, for a byte of the largest flow
        std::map<uint32_t, double> amounts; // of what is behind, by resource
    };

    std::map<uint32_t, Behind> ports;
    for (const FlowPair& pair : flows.pairs)
    {
        const FlowRoute& route = m_routes.GetRoute(routes[pair.flow]);
        Behind& behind = ports[pair.hops.back().first];
        behind.wire += pair.part * pair.hops.back().second;
        for (const uint32_t resource : route.writes)
        {
            behind.amounts[resource] += pair.part * FindAmount(route, resource);
        }
    }
    for (FlowPair& pair : flows.pairs)
    {
        const auto& [port, behind] = *ports.find(pair.hops.back().first);
        double drain = std::numeric_limits<double>::infinity();
        double room = 0;
        double beside = 0;
        for (const auto& [resource, amount] : behind.amounts)
        {
            // What goes on inside the server takes its part.
            const auto use = std::find_if(
                flows.uses.begin(),
                flows.uses.end(),
                [id = resource](const FlowUse& entry) { return entry.resource == id; });
            const double whole = m_routes.GetResources()[resource].capacity / amount * behind.wire;
            const double taken = std::max(0.0, use->amount - amount) / amount * behind.wire;
            if (whole - taken * flows.linkRate < drain)
            {
                drain = whole - taken * flows.linkRate;
                room = whole;
                beside = taken;
            }
        }
        if (drain < m_routes.GetResources()[port].capacity)
        {
            pair.drain = drain;
            pair.room = room;
            pair.beside = beside * pair.part * pair.hops.back().second / behind.wire;
        }
    }
}

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
            pair.hops.emplace_back(resource, FindAmount(route, resource));
        }
        LimitReads(route, pair);
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
    for (FlowClass& flows : classes)
    {
        LimitWrites(routes, flows);
    }
}

} // namespace proteus
} // namespace ns3
