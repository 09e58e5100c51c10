/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-group-trees.h"

#include "proteus-flow-hash.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

/// Marks the names of flows inside a server, which are the same in all servers.
constexpr uint32_t INSIDE = UINT32_MAX;

/// @param cluster of two vertices @param root an NVSwitch @param member of a group
/// @return whether there is surely no path between them: all links of the switch are NVLinks, which
/// lead to the member only in its NVLink domain
bool
IsElsewhere(const Cluster& cluster, VertexId root, VertexId member)
{
    const auto& ports = cluster.GetPorts(root);
    return cluster.GetDomain(root) != cluster.GetDomain(member) &&
           std::all_of(ports.begin(), ports.end(), [&cluster](const Port& port) {
               return cluster.GetLinks()[port.link].technology == LinkTechnology::NVLINK;
           });
}

} // namespace

bool
CombinesAndCopies(const Vertex& vertex)
{
    return vertex.multicast && vertex.reduction;
}

uint64_t
GetGroupFlow(const Cluster& cluster, const std::vector<VertexId>& members, uint32_t ordinal)
{
    const auto& vertices = cluster.GetVertices();
    const bool inside = vertices[members.front()].server >= 0 &&
                        vertices[members.front()].server == vertices[members.back()].server;
    const uint64_t ends = inside ? MixHash(members.back() - members.front(), INSIDE)
                                 : MixHash(members.front(), members.back());
    return MixHash(ends, ordinal);
}

std::vector<VertexId>
FindGroupRoots(const Cluster& cluster,
               const Paths& paths,
               const std::vector<VertexId>& accesses,
               bool areNics,
               uint64_t flow,
               uint32_t planes)
{
    std::vector<VertexId> roots;
    uint32_t best = Paths::UNREACHABLE;
    const auto& vertices = cluster.GetVertices();
    const VertexKind kind = areNics ? VertexKind::SWITCH : VertexKind::NVSWITCH;
    for (VertexId root = 0; root < vertices.size(); ++root)
    {
        if (vertices[root].kind != kind || !CombinesAndCopies(vertices[root]) ||
            (!areNics && IsElsewhere(cluster, root, accesses.front())))
        {
            continue;
        }
        uint32_t distance = 0;
        for (const VertexId access : accesses)
        {
            distance = std::max(distance, paths.Distance(access, root));
        }
        if (distance < best)
        {
            best = distance;
            roots.clear();
        }
        if (distance == best && best != Paths::UNREACHABLE)
        {
            roots.push_back(root);
        }
    }
    if (roots.empty())
    {
        throw std::invalid_argument(
            std::string("group: no ") + ToString(kind) +
            " with multicast and reduction reaches all members: give its vertices both, "
            "or use queue pairs");
    }
    const std::size_t most = planes > 0 ? planes : areNics ? 1 : roots.size();
    std::sort(roots.begin(), roots.end(), [&](VertexId a, VertexId b) {
        return MixHash(flow, a) < MixHash(flow, b);
    });
    roots.resize(std::min(most, roots.size()));
    std::sort(roots.begin(), roots.end());
    return roots;
}

const Port&
PickGroupPort(const Cluster& cluster,
              const Paths& paths,
              uint64_t flow,
              VertexId first,
              VertexId root,
              VertexId from,
              VertexId to)
{
    const auto& choices = paths.NextPorts(from, to);
    const auto place = [&](VertexId vertex) {
        return cluster.GetVertices()[vertex].server >= 0 ? vertex - first : vertex;
    };
    const uint64_t hash = MixHash(MixHash(flow, place(root)), place(from));
    return cluster.GetPorts(from)[choices[hash % choices.size()]];
}

} // namespace proteus
} // namespace ns3
