/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PATH_REGION_H
#define PROTEUS_PATH_REGION_H

#include "proteus-path-rules.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Lists of ports, by number: many vertices and destinations share one.
 */
class PortLists
{
  public:
    /// The number of the list without ports.
    static constexpr uint32_t NONE = 0;

    /// @param cluster whose vertices have the ports
    explicit PortLists(const Cluster& cluster);

    /// @param port a position @return number of the list of this port alone
    static uint32_t GetSingle(uint16_t port)
    {
        return 1u + port;
    }

    /// @param ports positions @return number of their list
    uint32_t Intern(const std::vector<uint16_t>& ports);

    /// @param id number of a list @return the list
    const std::vector<uint16_t>& Get(uint32_t id) const
    {
        return m_lists[id];
    }

  private:
    /// Distinct lists; the first is empty, then those of the single ports 0, 1, ...
    std::deque<std::vector<uint16_t>> m_lists;
    std::map<std::vector<uint16_t>, uint32_t> m_ids; //!< of several ports
};

/**
 * @ingroup proteus
 * Some vertices of a cluster, and the shortest paths between them that do not leave them. For each
 * destination a tree is searched when it is first asked for.
 */
class PathRegion
{
  public:
    /**
     * @param rules of the paths; must outlive this object
     * @param lists that ports are kept in; must outlive this object
     * @param vertices of the region, ascending
     */
    PathRegion(const PathRules& rules, PortLists& lists, std::vector<VertexId> vertices);

    /// @param at a vertex of the region @param to another one @param arrivedDown how the path came
    /// @return number of the list of ports that lead there
    uint32_t FindPorts(VertexId at, VertexId to, bool arrivedDown);

    /// @param from a vertex of the region @param to another one @return summed cost, or
    /// Paths::UNREACHABLE
    uint32_t FindDistance(VertexId from, VertexId to);

    /// Drops all trees.
    void Forget();

  private:
    /// A port of a vertex that leads to another one of the region.
    struct Arc
    {
        uint32_t neighbor; //!< its place in the region
        uint32_t cost;     //!< of the link
        PathStep out;      //!< to the neighbour
        PathStep in;       //!< from the neighbour
        uint16_t position; //!< in Cluster::GetPorts()
        bool outDown;      //!< whether the way to the neighbour goes down
        bool inDown;       //!< whether the way from the neighbour goes down
    };

    /// What is known about one destination. A state is a vertex and how the path arrived there:
    /// number of vertices x (1 if down) + place of the vertex.
    struct Tree
    {
        std::vector<uint32_t> distance;  //!< by state
        std::vector<uint32_t> nextPorts; //!< by state: number of a list
    };

    /// @param vertex of the region @return its place
    uint32_t GetPlace(VertexId vertex) const;

    /// @param place of a vertex @param down whether it was reached by a link that goes down
    /// @return the state
    std::size_t GetState(uint32_t place, bool down) const
    {
        return down && m_isRenewed[place] == 0 ? m_vertices.size() + place : place;
    }

    /// @param to place of a destination @return its tree
    const Tree& GetTree(uint32_t to);
    /// @param to place of a destination @return by state, the distance to it
    std::vector<uint32_t> Search(uint32_t to) const;
    /// @param from a place @param arrivedDown how a path came there @param to place of its
    /// destination @param distance as of Search() @return number of the list of ports to go on by
    uint32_t ListPorts(uint32_t from,
                       bool arrivedDown,
                       uint32_t to,
                       const std::vector<uint32_t>& distance);

    const PathRules& m_rules;         //!< of the paths
    PortLists& m_lists;               //!< that ports are kept in
    std::vector<VertexId> m_vertices; //!< ascending
    std::vector<uint8_t> m_isRenewed; //!< by place: it does not matter how a path arrives
    std::vector<uint8_t> m_isGpu;     //!< by place: no path passes it
    std::vector<Arc> m_arcs;          //!< of all vertices, in the order of their ports
    std::vector<uint32_t> m_firstArc; //!< by place, and the end of all
    std::vector<Tree> m_trees;        //!< by place of the destination
    std::vector<uint16_t> m_ports;    //!< room of ListPorts()
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PATH_REGION_H
