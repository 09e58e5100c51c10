/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric-kind.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// Ports of the largest switch: a vertex has no more, less one to stay even.
constexpr uint32_t MOST_PORTS = 65534;
constexpr double ROUNDING = 1e-9; //!< of a quotient that should be whole

/// @param ports of a switch @return what plugs into a full fat tree of such switches
uint64_t
Capacity(uint64_t ports)
{
    return ports * ports * ports / 4;
}

/// @return ports of a switch @throw std::invalid_argument if the options ask for too few or many
uint32_t
FindPorts(const FabricPlugs& plugs, const FabricOptions& options)
{
    uint32_t least = 2;
    while (Capacity(least) < plugs.Count())
    {
        least += 2;
    }
    const uint32_t ports = options.switchPorts > 0 ? options.switchPorts : least;
    if (ports % 2 != 0 || ports < least || ports > MOST_PORTS)
    {
        throw std::invalid_argument("fat-tree: switch_ports must be an even number from " +
                                    std::to_string(least) + " to " + std::to_string(MOST_PORTS) +
                                    " for what plugs in (" + std::to_string(plugs.Count()) +
                                    "), is " + std::to_string(ports));
    }
    return ports;
}

/// @copydoc FabricKind::join
void
Join(Cluster& cluster, const FabricPlugs& plugs, const FabricOptions& options)
{
    const uint32_t ports = FindPorts(plugs, options);
    const uint32_t half = ports / 2;
    const uint64_t quarter = uint64_t{half} * half;
    const auto nPods = static_cast<uint32_t>((plugs.Count() - 1) / quarter + 1);
    CheckFabricSize(options.kind, uint64_t{nPods} * ports + quarter, 2 * nPods * quarter);
    // Oversubscription leaves aggregation switches out, and the cores above them.
    const auto nUp =
        static_cast<uint32_t>(std::max(1.0, std::ceil(half / options.oversubscription - ROUNDING)));
    const double above = plugs.access.bytesPerSecond * half / options.oversubscription / nUp;

    std::vector<VertexId> edges;
    std::vector<VertexId> aggregations; // both of pod after pod
    for (uint32_t pod = 0; pod < nPods; ++pod)
    {
        const std::string suffix = std::to_string(pod) + ".";
        for (uint32_t i = 0; i < half; ++i)
        {
            edges.push_back(AddNetworkSwitch(cluster, "edge" + suffix + std::to_string(i), plugs));
        }
        for (uint32_t i = 0; i < nUp; ++i)
        {
            aggregations.push_back(
                AddNetworkSwitch(cluster, "aggregation" + suffix + std::to_string(i), plugs));
        }
    }
    uint32_t count = 0;
    for (const auto& server : plugs.servers)
    {
        for (VertexId plug : server)
        {
            AddLinkLike(cluster, plug, edges[count++ / half], plugs.access);
        }
    }
    for (uint32_t pod = 0; pod < nPods; ++pod)
    {
        for (uint32_t i = 0; i < half; ++i)
        {
            for (uint32_t j = 0; j < nUp; ++j)
            {
                AddLinkLike(cluster,
                            edges[pod * half + i],
                            aggregations[pod * nUp + j],
                            plugs.trunk,
                            above);
            }
        }
    }
    for (uint32_t i = 0; i < nUp * half; ++i)
    {
        const VertexId core = AddNetworkSwitch(cluster, "core" + std::to_string(i), plugs);
        for (uint32_t pod = 0; pod < nPods; ++pod)
        {
            AddLinkLike(cluster, aggregations[pod * nUp + i / half], core, plugs.trunk, above);
        }
    }
}

} // namespace

FabricKind
MakeFatTree()
{
    return {"fat-tree",
            {OversubscriptionField(),
             {"switch_ports",
              "ports of a switch, an even number; 0: as few as do",
              &FabricOptions::switchPorts,
              nullptr,
              0}},
            &Join};
}

} // namespace proteus
} // namespace ns3
