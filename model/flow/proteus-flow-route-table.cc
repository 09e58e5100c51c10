/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-route-table.h"

#include "ns3/proteus-flow-hash.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace ns3
{
namespace proteus
{

std::size_t
FlowRouteTable::Hash::operator()(const FlowRoute& route) const
{
    uint64_t hash = MixHash(route.latencyPs, route.controlPs);
    for (const FlowUse& use : route.uses)
    {
        hash = MixHash(hash ^ std::hash<double>()(use.amount), use.resource);
    }
    return hash;
}

uint32_t
FlowRouteTable::Add(FlowRoute route)
{
    // What crosses a resource twice takes twice of it.
    std::sort(route.uses.begin(), route.uses.end());
    std::size_t kept = 0;
    for (const FlowUse& use : route.uses)
    {
        if (kept > 0 && route.uses[kept - 1].resource == use.resource)
        {
            FlowUse& sum = route.uses[kept - 1];
            sum.amount += use.amount;
            sum.payload += use.payload;
            sum.comesFirst &= use.comesFirst;
        }
        else
        {
            route.uses[kept++] = use;
        }
    }
    route.uses.resize(kept);
    route.uses.shrink_to_fit();
    const auto [place, isNew] =
        m_ids.emplace(std::move(route), static_cast<uint32_t>(m_routes.size()));
    if (isNew)
    {
        m_routes.push_back(&place->first);
    }
    return place->second;
}

} // namespace proteus
} // namespace ns3
