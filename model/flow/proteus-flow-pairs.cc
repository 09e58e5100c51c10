/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-profile.h"

#include <algorithm>
#include <map>
#include <utility>

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
FlowProfiles::LimitHosts(const std::vector<uint32_t>& routes, FlowClass& flows, bool isRead) const
{
    const auto& resources = m_routes.GetResources();
    const auto getHop = [isRead](const FlowPair& pair) {
        return isRead ? pair.hops.front() : pair.hops.back();
    };
    const auto getHosts = [&](const FlowPair& pair) -> const std::vector<uint32_t>& {
        const FlowRoute& route = m_routes.GetRoute(routes[pair.flow]);
        return isRead ? route.reads : route.writes;
    };
    // What crosses a port, there and before or behind it, for a byte of the largest flow.
    std::map<std::pair<uint32_t, uint32_t>, double> amounts; // by port and resource
    for (const FlowPair& pair : flows.pairs)
    {
        const uint32_t port = getHop(pair).first;
        for (const uint32_t resource : getHosts(pair))
        {
            amounts[{port, resource}] +=
                pair.part * FindAmount(m_routes.GetRoute(routes[pair.flow]), resource);
        }
    }
    for (FlowPair& pair : flows.pairs)
    {
        const auto [port, wire] = getHop(pair);
        for (const uint32_t resource : getHosts(pair))
        {
            FlowHost host;
            host.resource = resource;
            host.amount = FindAmount(m_routes.GetRoute(routes[pair.flow]), resource);
            // What goes on inside the server takes its part.
            const double amount = amounts[{port, resource}];
            const auto use = std::find_if(
                flows.uses.begin(),
                flows.uses.end(),
                [resource](const FlowUse& entry) { return entry.resource == resource; });
            const double beside = std::max(0.0, use->amount - amount);
            host.least = resources[resource].capacity - beside * flows.linkRate;
            host.beside = beside * pair.part * host.amount / amount;
            // Others can hold up what is written, too.
            if (!isRead || host.least / host.amount < resources[port].capacity / wire)
            {
                (isRead ? pair.reads : pair.writes).push_back(host);
            }
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
        pair.toNicPs = route.toNicPs;
        pair.returnPs = route.returnPs;
        pair.unitBytes = route.unitBytes;
        pair.reading = route.reading;
        pair.sender =
            limits.empty() || limits[i] <= 0 ? route.limit : std::min(route.limit, limits[i]);
        pair.source = pair.sender;
        for (const uint32_t resource : route.queues)
        {
            pair.hops.emplace_back(resource, FindAmount(route, resource));
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
    for (FlowClass& flows : classes)
    {
        LimitHosts(routes, flows, true);
        LimitHosts(routes, flows, false);
    }
    AddTurns(shape, routes, classOf, classes);
}

void
FlowProfiles::AddTurns(const Shape& shape,
                       const std::vector<uint32_t>& routes,
                       const std::vector<uint32_t>& classOf,
                       std::vector<FlowClass>& classes) const
{
    std::vector<std::map<std::pair<uint32_t, uint32_t>, double>> amounts(classes.size());
    for (std::size_t i = 0; i < shape.flows.size(); ++i)
    {
        const FlowRoute& route = m_routes.GetRoute(routes[i]);
        const double part = static_cast<double>(shape.flows[i].bytes) / classes[classOf[i]].bytes;
        for (const auto& turn : route.turns)
        {
            amounts[classOf[i]][turn] += part * FindAmount(route, turn.first);
        }
    }
    for (std::size_t i = 0; i < classes.size(); ++i)
    {
        for (const auto& [turn, amount] : amounts[i])
        {
            classes[i].turns.push_back({turn.first, turn.second, amount});
        }
    }
}

} // namespace proteus
} // namespace ns3
