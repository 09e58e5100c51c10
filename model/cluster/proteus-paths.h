/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PATHS_H
#define PROTEUS_PATHS_H

#include "proteus-cluster.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Shortest paths of a cluster.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Which paths Paths takes.
enum class RoutingRule : uint8_t
{
    SHORTEST, //!< least summed cost
    UP_DOWN,  //!< the same among those that first go up only and then down only
};

/// @ingroup proteus
/// What Paths makes of a cluster.
struct PathOptions
{
    RoutingRule rule{RoutingRule::SHORTEST}; //!< which paths there are
    std::vector<LinkId> disabledLinks;       //!< that are not used, as if they were not there
    /// UP_DOWN: vertices at the top. Empty: chosen from what each island of switches looks like.
    std::vector<VertexId> roots;
};

/**
 * @ingroup proteus
 * Shortest paths of a cluster, with all alternatives of equal cost. A path runs through switches,
 * CPUs and NICs, never through a GPU. Servers do not forward for others: a path enters a server by
 * a NIC only if its destination is there, and if the destination is a NIC, only by that one. Nor
 * does a NIC forward for another: what has reached a NIC from its server goes out, not back in. At
 * a PCIe switch without peer-to-peer, a path from one device below to another goes by way of the
 * CPU. Paths are computed per destination on first use and kept; so two threads must not use one
 * object at once.
 *
 * UP_DOWN is up/down routing (Schroeder et al., "Autonet: A High-Speed, Self-Configuring Local Area
 * Network Using Point-to-Point Links", IEEE JSAC 9(8), 1991). Every link has an upper and a lower
 * end, and a path that has gone down does not go up again. This leaves no circle of links that
 * could wait for each other. GPUs and NICs are at the bottom. Switches and CPUs between them form
 * islands (the network, the PCIe tree of a server, its NVSwitches), and each island has its own
 * order: by distance from its roots, then by id. The roots are the given ones that lie in the
 * island; else its CPUs; else what is farthest from GPUs and NICs, as spines and cores are. If a
 * pair would have no legal path, a single root is taken. At a NIC the order begins anew: a NIC
 * reads from memory only what it has room for, so PCIe never waits for the network, though what
 * arrives may wait for PCIe.
 *
 * The cost of a search does not grow with the square of the cluster, because a search does not look
 * at all of it. A server that is linked to the outside only at NICs, by one link for each, is a
 * region: paths between two of its vertices are searched inside it, unless a way out and in again
 * could be as short. All else is the backbone, without the vertices that hang on a single link, as
 * NICs and hosts do: the way to such a vertex is the way to its neighbour. Only paths from inside a
 * server to another server that do not stop at a NIC are searched in the whole cluster.
 */
class Paths
{
  public:
    /**
     * @param cluster must outlive this object
     * @param options which paths there are
     * @throw std::invalid_argument for links or roots that do not exist
     */
    explicit Paths(const Cluster& cluster, const PathOptions& options = PathOptions());
    ~Paths();

    /**
     * Ports to begin a path with.
     * @param from a vertex
     * @param to a vertex
     * @return the positions in cluster.GetPorts(from) of all ports on a shortest path, ascending;
     * empty where `to` cannot be reached or is `from`
     */
    const std::vector<uint16_t>& NextPorts(VertexId from, VertexId to) const
    {
        return NextPorts(from, to, false);
    }

    /**
     * Ports to go on with.
     * @param at a vertex
     * @param to a vertex
     * @param arrivedDown whether the path came here down a link, see GoesDown(); makes no
     * difference if not HasPhases()
     * @return as above
     */
    const std::vector<uint16_t>& NextPorts(VertexId at, VertexId to, bool arrivedDown) const;

    /// @return whether the ports depend on how the path arrived
    bool HasPhases() const;

    /**
     * @param from a vertex
     * @param port position in cluster.GetPorts(from)
     * @return whether its link goes down, if HasPhases(); otherwise false
     */
    bool GoesDown(VertexId from, std::size_t port) const;

    /// @param from a vertex @param to a vertex @return summed cost; UNREACHABLE if there is no path
    uint32_t Distance(VertexId from, VertexId to) const;

    /// Drops all that is kept, for when it has been copied somewhere else.
    void Forget() const;

    /// "No path".
    static constexpr uint32_t UNREACHABLE = 0xffffffff;

    /// The vertex that all ways to another one lead through, and the last step of these ways.
    struct Anchor
    {
        VertexId vertex{0};     //!< the neighbour, or the other one itself
        bool isNeighbor{false}; //!< whether it is the neighbour
        uint16_t port{0};       //!< of the neighbour: position in GetPorts()
        uint32_t cost{0};       //!< of the link
    };

    /// @param vertex a vertex @return number of its region: servers count from 1, 0 is the backbone
    uint32_t GetRegion(VertexId vertex) const;

    /// @param to a vertex @param isInside from the same region @return what ways to it lead through
    Anchor GetAnchor(VertexId to, bool isInside) const;

    /**
     * One shortest path.
     * @param from a vertex
     * @param to a vertex
     * @param choose picks among equal-cost ports: (vertex, number of choices) -> index
     * @return the links in order
     */
    template <typename F>
    std::vector<LinkId> Walk(VertexId from, VertexId to, F choose) const
    {
        std::vector<LinkId> links;
        bool arrivedDown = false;
        while (from != to)
        {
            const auto& ports = NextPorts(from, to, arrivedDown);
            if (ports.empty())
            {
                return {};
            }
            const std::size_t position = ports[choose(from, ports.size())];
            const auto& port = m_cluster.GetPorts(from)[position];
            arrivedDown = GoesDown(from, position);
            links.push_back(port.link);
            from = port.neighbor;
        }
        return links;
    }

  private:
    class Regions;

    const Cluster& m_cluster;           //!< whose paths
    std::unique_ptr<Regions> m_regions; //!< where they are searched
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PATHS_H
