/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_ROUTE_TABLE_H
#define PROTEUS_ROUTE_TABLE_H

#include "proteus-port.h"

#include "ns3/proteus-cluster.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Where a unit may go next.
struct NextHop
{
    PortId port{NO_PORT};                        //!< the only port; NO_PORT: none, or `choices`
    const std::vector<PortId>* choices{nullptr}; //!< several ports; null: none, or `port`
};

/**
 * @ingroup proteus
 * The shortest paths of a cluster as tables: by vertex and destination, the port or ports that
 * lead there. Rows are filled as they are asked for. Ways to a vertex with one link are the ways
 * to its neighbour, so that end points have no columns of their own; tables stay small enough for
 * the processor's caches that way.
 */
class RouteTable
{
  public:
    /// @param cluster to find ways in; must outlive the table
    void SetUp(const Cluster& cluster);

    /**
     * Empties the table and computes paths over the links that work.
     * @param ports of the cluster; PortState::goesDown is set
     * @param upDown whether paths never go up again after down
     */
    void Reset(PortTable& ports, bool upDown);

    /// @return the paths
    const Paths& GetPaths() const
    {
        return *m_paths;
    }

    /// @param vertex a vertex @return its ports, in the order of Cluster::GetPorts()
    const std::vector<PortId>& GetOutPorts(VertexId vertex) const
    {
        return m_outPorts[vertex];
    }

    /// @return whether the way on depends on how a unit has come
    bool HasPhases() const
    {
        return m_phases;
    }

    /**
     * @param at a vertex
     * @param destination another one
     * @param wentDown whether only ways down are legal; false unless HasPhases()
     * @return the ports that lead there
     */
    NextHop Find(VertexId at, VertexId destination, bool wentDown)
    {
        const Target& target = m_targets[destination];
        if (target.anchor == at && destination != at)
        {
            return {target.lastPort, nullptr};
        }
        auto& row = m_rows[at + (wentDown ? m_outPorts.size() : 0)];
        if (!row)
        {
            FillRow(row);
        }
        uint32_t& route = row[target.column];
        if (route == UNKNOWN)
        {
            route = Look(at, target.anchor, wentDown);
        }
        if (route < FIRST_CHOICE)
        {
            return {route, nullptr};
        }
        return {NO_PORT, route == NONE ? nullptr : &m_choices[route - FIRST_CHOICE]};
    }

  private:
    /// Entry: not looked up yet.
    static constexpr uint32_t UNKNOWN = 0xffffffff;
    /// Entry: there is no way.
    static constexpr uint32_t NONE = 0xfffffffe;
    /// Entry: from here on, several ports; below, the only one.
    static constexpr uint32_t FIRST_CHOICE = 0x80000000;

    /// How to find the ways to a destination.
    struct Target
    {
        VertexId anchor{0};       //!< its only neighbour, or itself
        uint32_t column{0};       //!< of the anchor
        PortId lastPort{NO_PORT}; //!< from its only neighbour to it
    };

    /// @param row to make, all of it unknown
    void FillRow(std::unique_ptr<uint32_t[]>& row) const;
    /// @param at a vertex @param to a vertex @param wentDown as Find() @return the entry
    uint32_t Look(VertexId at, VertexId to, bool wentDown);

    const Cluster* m_cluster{nullptr};               //!< whose ways
    std::unique_ptr<Paths> m_paths;                  //!< its shortest paths
    std::vector<std::vector<PortId>> m_outPorts;     //!< by vertex, in the order of its ports
    std::vector<Target> m_targets;                   //!< by vertex
    std::vector<std::unique_ptr<uint32_t[]>> m_rows; //!< by vertex (and way) and column
    std::vector<std::vector<PortId>> m_choices;      //!< several ports, as entries name them
    uint32_t m_nColumns{0};                          //!< of every row
    bool m_phases{false};                            //!< HasPhases()
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_ROUTE_TABLE_H
