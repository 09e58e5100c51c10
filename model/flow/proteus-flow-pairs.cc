/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-profile.h"

#include "ns3/proteus-flow-congestion.h"

#include <algorithm>
#include <limits>
#include <map>

namespace ns3
{
namespace proteus
{

namespace
{

/// Picoseconds in a second.
constexpr double PS_PER_SECOND = 1e12;
/// Part by which more must come than a server takes.
constexpr double LEAST_HELD_UP = 0.02;

/// @param flows a class with its pairs @param resources of them @return whether ports of switches
/// may be wanted for more than they have by these alone
bool
AreSwitchesWanted(const FlowClass& flows, const std::vector<FlowResource>& resources)
{
    std::map<uint32_t, std::map<uint32_t, double>> comes; // wire, to a port by that before
    for (const FlowPair& pair : flows.pairs)
    {
        for (std::size_t i = 1; i < pair.hops.size(); ++i)
        {
            const auto& [port, wire] = pair.hops[i];
            comes[port][pair.hops[i - 1].first] += pair.source * wire;
        }
    }
    return std::any_of(comes.begin(), comes.end(), [&resources](const auto& port) {
        double all = 0;
        for (const auto& [before, rate] : port.second)
        {
            all += std::min(rate, resources[before].capacity);
        }
        return all > resources[port.first].capacity * (1 + LEAST_HELD_UP);
    });
}

} // namespace

void
FlowProfiles::AddPairs(TaskId id,
                       const Shape& shape,
                       const std::vector<uint32_t>& routes,
                       const std::vector<uint32_t>& classOf,
                       std::vector<FlowClass>& classes) const
{
    if (!m_congestion)
    {
        return;
    }
    const GroupId group = m_graph.GetTask(id).place;
    const auto& devices = m_graph.GetGroup(group);
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
        pair.source = route.limit;
        for (const uint32_t resource : route.queues)
        {
            const auto use = std::find_if(
                route.uses.begin(),
                route.uses.end(),
                [resource](const FlowUse& entry) { return entry.resource == resource; });
            pair.hops.emplace_back(resource, use->amount);
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
    const auto wanted = FindWantedBehindNics(shape.flows, routes, classes);
    for (FlowClass& flows : classes)
    {
        const bool isHeldUp = MayBeHeldUp(flows, routes, wanted);
        for (FlowPair& pair : flows.pairs)
        {
            pair.isHeldUp = isHeldUp;
        }
    }
}

std::map<uint32_t, double>
FlowProfiles::FindWantedBehindNics(const std::vector<ProgramFlow>& flows,
                                   const std::vector<uint32_t>& routes,
                                   const std::vector<FlowClass>& classes) const
{
    const auto& resources = m_routes.GetResources();
    std::map<uint32_t, double> wanted;

    // What comes from one NIC to another comes no faster than it can be sent; by that and resource.
    struct Coming
    {
        double rate{0};                                       // payload, of one each
        double most{std::numeric_limits<double>::infinity()}; // payload, of all together
        double amount{0};                                     // of the resource
    };

    std::map<uint32_t, std::map<uint32_t, std::map<uint32_t, Coming>>> comes;
    std::vector<bool> isPair(flows.size(), false);
    for (const FlowClass& flowClass : classes)
    {
        for (const FlowPair& pair : flowClass.pairs)
        {
            isPair[pair.flow] = true;
            const FlowRoute& route = m_routes.GetRoute(routes[pair.flow]);
            const auto& [out, wire] = pair.hops.front();
            double most = resources[out].capacity / wire;
            for (const FlowUse& use : route.heads)
            {
                most = std::min(most, resources[use.resource].capacity / use.amount);
            }
            for (const FlowUse& use : route.tails)
            {
                Coming& coming = comes[use.resource][pair.hops.back().first][out];
                coming.rate += pair.source;
                coming.most = std::min(coming.most, most);
                coming.amount = std::max(coming.amount, use.amount);
            }
        }
    }
    for (const auto& [resource, byPort] : comes)
    {
        for (const auto& [port, byNic] : byPort)
        {
            double all = 0;
            double amount = 0;
            for (const auto& [nic, coming] : byNic)
            {
                all += std::min(coming.rate, coming.most);
                amount = std::max(amount, coming.amount);
            }
            wanted[resource] += std::min(all, resources[port].capacity) * amount;
        }
    }
    for (std::size_t i = 0; i < flows.size(); ++i)
    {
        const FlowRoute& route = m_routes.GetRoute(routes[i]);
        double alone = route.limit;
        for (const FlowUse& use : route.uses)
        {
            alone = std::min(alone, resources[use.resource].capacity / use.amount);
        }
        for (const FlowUse& use : isPair[i] ? route.heads : route.uses)
        {
            const auto place = wanted.find(use.resource);
            if (place != wanted.end() && flows[i].bytes > 0 && !use.comesFirst)
            {
                place->second += alone * use.amount;
            }
        }
    }
    return wanted;
}

bool
FlowProfiles::MayBeHeldUp(const FlowClass& flows,
                          const std::vector<uint32_t>& routes,
                          const std::map<uint32_t, double>& wanted) const
{
    const auto& resources = m_routes.GetResources();
    if (AreSwitchesWanted(flows, resources))
    {
        return false; // what switches let through is less than could be sent
    }
    std::map<uint32_t, double> comes; // bytes, by port
    for (const FlowPair& pair : flows.pairs)
    {
        comes[pair.hops.back().first] += flows.bytes * pair.part * pair.hops.back().second;
    }
    return std::any_of(flows.pairs.begin(), flows.pairs.end(), [&](const FlowPair& pair) {
        const auto& tails = m_routes.GetRoute(routes[pair.flow]).tails;
        const uint32_t port = pair.hops.back().first;
        const double marked = m_congestion->markPs / PS_PER_SECOND * resources[port].capacity;
        return comes[port] > m_congestion->pauseBytes + marked &&
               std::any_of(tails.begin(), tails.end(), [&](const FlowUse& use) {
                   const double most = resources[use.resource].capacity * (1 + LEAST_HELD_UP);
                   return wanted.at(use.resource) > most;
               });
    });
}

} // namespace proteus
} // namespace ns3
