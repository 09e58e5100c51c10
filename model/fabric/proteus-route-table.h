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
 * to its neighbour, so that end points need no columns of their own.
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
        const VertexId anchor = m_anchors[destination];
        if (anchor == at && destination != at)
        {
            return {m_lastPorts[destination], nullptr};
        }
        auto& row = m_rows[at + (wentDown ? m_outPorts.size() : 0)];
        if (!row)
        {
            FillRow(row);
        }
        uint16_t& route = row[anchor];
        if (route == UNKNOWN)
        {
            route = Look(at, anchor, wentDown);
        }
        if (route < FIRST_CHOICE)
        {
            return {m_outPorts[at][route], nullptr};
        }
        return {NO_PORT, route == NONE ? nullptr : &m_choices[route - FIRST_CHOICE]};
    }

  private:
    /// Entry: not looked up yet.
    static constexpr uint16_t UNKNOWN = 0xffff;
    /// Entry: there is no way.
    static constexpr uint16_t NONE = 0xfffe;
    /// Entry: from here on, several ports; below, the position of the only one.
    static constexpr uint16_t FIRST_CHOICE = 0x8000;

    /// @param row to make, all of it unknown
    void FillRow(std::unique_ptr<uint16_t[]>& row) const;
    /// @param at a vertex @param to a vertex @param wentDown as Find() @return the entry
    uint16_t Look(VertexId at, VertexId to, bool wentDown);

    const Cluster* m_cluster{nullptr};               //!< whose ways
    std::unique_ptr<Paths> m_paths;                  //!< its shortest paths
    std::vector<std::vector<PortId>> m_outPorts;     //!< by vertex, in the order of its ports
    std::vector<VertexId> m_anchors;                 //!< by vertex: its only neighbour, or itself
    std::vector<PortId> m_lastPorts;                 //!< by vertex: from its anchor to it
    std::vector<std::unique_ptr<uint16_t[]>> m_rows; //!< by vertex (and way) and anchor
    std::vector<std::vector<PortId>> m_choices;      //!< several ports, as entries name them
    bool m_phases{false};                            //!< HasPhases()
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_ROUTE_TABLE_H
