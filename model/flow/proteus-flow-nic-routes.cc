/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-routes.h"
#include "proteus-flow-walker.h"

#include "ns3/proteus-network-links.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

/**
 * @file
 * @ingroup proteus
 * What routes say of where flows leave a NIC, and of the switches behind it: how the NIC comes by
 * the bytes, and where packets get marks.
 */

namespace ns3
{
namespace proteus
{

namespace
{

/// Picoseconds in a second.
constexpr double PS_PER_SECOND = 1e12;

} // namespace

FlowReading
FlowRoutes::FindReading(const std::vector<Walker>& walkers, uint32_t unitBytes) const
{
    const Walker& first = walkers.front();
    const auto& links = m_cluster.GetLinks();
    const auto leaves =
        std::find_if(first.ports.begin(), first.ports.end(), [&links](uint32_t port) {
            return IsOfNetwork(links[port / 2]);
        });
    const auto toNic = static_cast<std::size_t>(leaves - first.ports.begin());
    if (leaves == first.ports.end() || toNic == 0)
    {
        return {};
    }
    const auto wire = [&](uint32_t port) {
        return static_cast<double>(links[port / 2].framing.For(first.method).WireBytes(unitBytes)) /
               unitBytes;
    };
    // What a memory on its way has taken in waits there for nothing but room in the NIC.
    std::size_t end = toNic;
    for (const std::size_t memory : first.memories)
    {
        end = memory < toNic ? memory + 1 : end;
    }
    std::map<uint32_t, double> amounts; // by resource
    for (const Walker& walker : walkers)
    {
        for (std::size_t i = 0; i < end; ++i)
        {
            amounts[m_ofPort[walker.ports[i]]] += walker.share * wire(walker.ports[i]);
            const uint32_t forward = i + 1 < end ? FindForward(walker, i) : NO_RESOURCE;
            if (forward != NO_RESOURCE)
            {
                amounts[forward] += walker.share;
            }
        }
    }
    FlowReading reading;
    reading.comes = std::numeric_limits<double>::infinity();
    for (const auto& [resource, amount] : amounts)
    {
        const double rate = m_resources[resource].capacity / amount;
        if (rate < reading.comes)
        {
            reading.comes = rate;
            reading.from = resource;
        }
    }
    reading.goes = m_resources[m_ofPort[*leaves]].capacity / wire(*leaves);
    const uint32_t last = first.ports[toNic - 1];
    reading.room = static_cast<double>(m_parameters.nicReadPs) / PS_PER_SECOND *
                   links[last / 2].bytesPerSecond / wire(last);
    reading.port = m_ofPort[*leaves];
    return reading.comes > reading.goes ? reading : FlowReading();
}

void
FlowRoutes::FindMarkers(const std::vector<Walker>& walkers,
                        uint32_t unitBytes,
                        FlowRoute& route) const
{
    double slowest = std::numeric_limits<double>::infinity();
    double toNicPs = 0;
    for (const uint32_t port : walkers.front().ports)
    {
        const Link& link = m_cluster.GetLinks()[port / 2];
        const bool isCommon =
            std::all_of(walkers.begin(), walkers.end(), [port](const Walker& walker) {
                return std::find(walker.ports.begin(), walker.ports.end(), port) !=
                       walker.ports.end();
            });
        if (link.technology == LinkTechnology::ROCE && isCommon)
        {
            route.queues.push_back(m_ofPort[port]);
        }
        if (link.technology == LinkTechnology::ROCE)
        {
            // A switch is reached when all of a packet is.
            const double unitPs = link.framing.WireBytes(unitBytes) / link.bytesPerSecond;
            toNicPs += route.queues.size() > 1 ? unitPs * PS_PER_SECOND : 0;
            toNicPs +=
                static_cast<double>(link.delayPs + m_parameters.Get(link.technology).latencyPs);
        }
        if (link.bytesPerSecond < slowest)
        {
            slowest = link.bytesPerSecond;
            route.lineWire = static_cast<double>(link.framing.WireBytes(unitBytes)) / unitBytes;
        }
    }
    route.lineBytesPerSecond = route.queues.empty() ? 0 : slowest;
    if (!route.queues.empty())
    {
        route.toNicPs = std::llround(toNicPs);
        FindHosts(walkers.front(), route);
        FindReturns(walkers.front(), route);
    }
}

void
FlowRoutes::FindHosts(const Walker& walker, FlowRoute& route) const
{
    const auto isOfQueues = [&](uint32_t port) {
        return std::find(route.queues.begin(), route.queues.end(), m_ofPort[port]) !=
               route.queues.end();
    };
    const auto& ports = walker.ports;
    const auto first = std::find_if(ports.begin(), ports.end(), isOfQueues);
    const auto end = std::find_if(ports.rbegin(), ports.rend(), isOfQueues).base();
    const auto add = [&](auto port, std::vector<uint32_t>& list) {
        list.push_back(m_ofPort[*port]);
        const auto place = static_cast<std::size_t>(port - ports.begin());
        const uint32_t forward =
            place + 1 < ports.size() ? FindForward(walker, place) : NO_RESOURCE;
        if (forward != NO_RESOURCE)
        {
            list.push_back(forward);
        }
    };
    for (auto port = ports.begin(); port != first; ++port)
    {
        add(port, route.reads);
    }
    bool isInMemory = false;
    for (auto port = end; port != ports.end() && !isInMemory; ++port)
    {
        add(port, route.writes);
        isInMemory = walker.IsInMemory(port - ports.begin());
    }
}

void
FlowRoutes::FindTurns(const Walker& walker, FlowRoute& route) const
{
    for (std::size_t i = 1; i < walker.ports.size(); ++i)
    {
        const LinkTechnology technology = m_cluster.GetLinks()[walker.ports[i] / 2].technology;
        if (technology == LinkTechnology::PCIE || technology == LinkTechnology::CPU_INTERCONNECT)
        {
            route.turns.emplace_back(m_ofPort[walker.ports[i]], m_ofPort[walker.ports[i - 1]]);
        }
    }
}

void
FlowRoutes::FindReturns(const Walker& walker, FlowRoute& route) const
{
    const auto isRoce = [this](uint32_t port) {
        return m_cluster.GetLinks()[port / 2].technology == LinkTechnology::ROCE;
    };
    const auto first = std::find_if(walker.ports.begin(), walker.ports.end(), isRoce);
    const std::size_t last = CountLinksToNic(walker) - 1;
    const Link& link = m_cluster.GetLinks()[*first / 2];
    Walker back;
    back.hash = walker.hash;
    back.source = walker.source;
    back.at = walker.forwarders[last];
    Walk(back, *first % 2 == 0 ? link.a : link.b);
    double returnPs = 0;
    for (const uint32_t port : back.ports)
    {
        const Link& way = m_cluster.GetLinks()[port / 2];
        route.returns.push_back(m_ofPort[port]);
        returnPs += static_cast<double>(way.delayPs) +
                    way.framing.controlBytes / way.bytesPerSecond * PS_PER_SECOND;
    }
    route.returnPs = std::llround(returnPs);
}

} // namespace proteus
} // namespace ns3
