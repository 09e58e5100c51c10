/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_REPLAY_WAYS_H
#define PROTEUS_REPLAY_WAYS_H

#include "proteus-flow-route-table.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What flows share: directions of links, memories, copy engines and CPUs.
struct FlowResource
{
    double capacity{0};          //!< wire bytes (links) or payload bytes per second
    double sharing{1};           //!< part of the capacity for several collectives together
    std::vector<uint32_t> ports; //!< directions of links that it stands for, 2 x link + (1 from
                                 //!< Link::b); they carry parts like their rates
};

/// @ingroup proteus
/// Where the messages of a replay go: those who have the resources and routes keep them.
class ReplayWays
{
  public:
    /// @param resources that routes use @param routes of flows
    /// @param inputBuffer bytes that an input of an InfiniBand switch holds
    ReplayWays(const std::vector<FlowResource>& resources,
               const FlowRouteTable& routes,
               double inputBuffer)
        : m_resources(&resources),
          m_routes(&routes),
          m_inputBuffer(inputBuffer)
    {
    }

    /// @return what there is to share
    const std::vector<FlowResource>& GetResources() const
    {
        return *m_resources;
    }

    /// @param id a route @return the route
    const FlowRoute& GetRoute(uint32_t id) const
    {
        return m_routes->Get(id);
    }

    /// @param route one @return payload bytes per second that idle links allow it
    double GetLinkRate(const FlowRoute& route) const
    {
        if (route.alone > 0)
        {
            return route.alone;
        }
        double rate = std::numeric_limits<double>::infinity();
        for (const FlowUse& use : route.uses)
        {
            rate = std::min(rate, GetResources()[use.resource].capacity / use.amount);
        }
        return rate;
    }

    /// @return bytes that an input of an InfiniBand switch holds
    double GetInputBuffer() const
    {
        return m_inputBuffer;
    }

  private:
    const std::vector<FlowResource>* m_resources;
    const FlowRouteTable* m_routes;
    double m_inputBuffer;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_REPLAY_WAYS_H
