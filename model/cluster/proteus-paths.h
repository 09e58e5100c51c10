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
 * CPUs and NICs, never through a GPU. By a NIC it enters the server of its destination only, and
 * only the NIC that is its destination, if one is; what has reached a NIC goes out and not back in:
 * servers do not forward for others, nor a NIC for another. And at a PCIe switch without
 * peer-to-peer it goes from one device below to another by way of the CPU. Computed per destination
 * on first use and kept. Not safe to be called from two threads at once.
 *
 * UP_DOWN is up/down routing (Schroeder et al., "Autonet: A High-Speed, Self-Configuring Local Area
 * Network Using Point-to-Point Links", IEEE JSAC 9(8), 1991): every link has an upper and a lower
 * end, and no path goes up again once it has gone down, which leaves no cycle of links that could
 * wait for each other. GPUs and NICs are at the bottom; every island of switches and CPUs between
 * them (the network, the PCIe tree of a server, its NVSwitches) has its own order: by distance from
 * its roots, equals by id. The roots are the given ones that lie in the island, otherwise its CPUs,
 * otherwise what is farthest from GPUs and NICs: spines and cores. If some pair would have no legal
 * path, a single root is taken. At a NIC the order begins anew: it reads from memory only what it
 * has room for, so that PCIe never waits for the network, and what arrives may wait for PCIe.
 *
 * What a search costs does not grow with the square of the cluster, since it does not look at all
 * of it. A server whose links to others are all at NICs, one for each NIC, is a region of its own:
 * paths between two of its vertices are searched inside it, as long as going out and in again could
 * not be as short. Everything else is the backbone, of which what hangs on one link, as NICs and
 * hosts do, is no part: the way to it is the way to its neighbour. Only paths that lead from the
 * inside of a server to another without stopping at a NIC are searched in the whole cluster.
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
