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

namespace
{

/// @param uses of a flow, which are added up to one for each resource: what crosses a resource
/// twice takes twice of it
void
AddUp(std::vector<FlowUse>& uses)
{
    std::sort(uses.begin(), uses.end());
    std::size_t kept = 0;
    for (const FlowUse& use : uses)
    {
        if (kept > 0 && uses[kept - 1].resource == use.resource)
        {
            FlowUse& sum = uses[kept - 1];
            sum.amount += use.amount;
            sum.payload += use.payload;
            sum.comesFirst &= use.comesFirst;
        }
        else
        {
            uses[kept++] = use;
        }
    }
    uses.resize(kept);
    uses.shrink_to_fit();
}

} // namespace

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
    AddUp(route.uses);
    AddUp(route.heads);
    AddUp(route.tails);
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
