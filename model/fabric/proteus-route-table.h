/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_ROUTE_TABLE_H
#define PROTEUS_ROUTE_TABLE_H

#include "proteus-port.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-paths.h"

#include <cstdint>
#include <map>
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
 * The shortest paths of a cluster as tables: by vertex and destination, the port or ports that lead
 * there. Entries are filled when they are asked for.
 *
 * Tables stay small enough for the processor's caches, and grow with the cluster, not with its
 * square. A vertex with one link, or with one link out of its server, has no column of its own: the
 * way to it is the way to its neighbour (Paths::GetAnchor()). Other columns get their numbers when
 * they are asked for, from 0 on in each region, and apart from those the columns of vertices in
 * other regions.
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

    /// @return the same paths, to be kept: they stay as they are after the next Reset()
    std::shared_ptr<const Paths> SharePaths() const
    {
        return m_paths;
    }

    /// @return the paths over all links, whether they work or not
    const Paths& GetWholePaths() const
    {
        return *m_wholePaths;
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
        Row& row = m_rows[at + (wentDown ? m_outPorts.size() : 0)];
        Targets& both = m_targets[destination];
        const bool isInside = row.region == both.region;
        Target& target = isInside ? both.inside : both.outside;
        if (target.anchor == at && destination != at)
        {
            return {target.lastPort, nullptr};
        }
        auto& entries = isInside ? row.inside : row.outside;
        if (target.column >= entries.size())
        {
            AddColumn(both.region, isInside, target, entries);
        }
        uint32_t& route = entries[target.column];
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

    /// Brings nearer to the processor what Find() reads last. @param at a vertex
    /// @param destination where packets at it go
    void Prefetch(VertexId at, VertexId destination) const
    {
        const Row& row = m_rows[at];
        const Targets& both = m_targets[destination];
        const bool isInside = row.region == both.region;
        const auto& entries = isInside ? row.inside : row.outside;
        const uint32_t column = (isInside ? both.inside : both.outside).column;
        if (column < entries.size())
        {
            __builtin_prefetch(&entries[column]);
        }
    }

  private:
    /// Entry: not looked up yet. Column: has none yet.
    static constexpr uint32_t UNKNOWN = 0xffffffff;
    /// Entry: there is no way.
    static constexpr uint32_t NONE = 0xfffffffe;
    /// Entry: from here on, several ports; below, the only one.
    static constexpr uint32_t FIRST_CHOICE = 0x80000000;

    /// How to find the ways to a destination.
    struct Target
    {
        VertexId anchor{0};       //!< what all ways lead through, or itself
        uint32_t column{UNKNOWN}; //!< of the anchor
        PortId lastPort{NO_PORT}; //!< from the anchor to it
    };

    /// The same from its own region and from others.
    struct alignas(32) Targets
    {
        uint32_t region{0}; //!< its own
        Target inside;      //!< from there
        Target outside;     //!< from others
    };

    /// The ways from a vertex.
    struct Row
    {
        std::vector<uint32_t> inside;  //!< to vertices of its region, by column
        std::vector<uint32_t> outside; //!< to others, by column
        uint32_t region{0};            //!< its own
    };

    /// @param vertex a vertex @param isInside from its own region
    /// @return how to find the ways to it
    Target MakeTarget(VertexId vertex, bool isInside) const;
    /// Makes room for a destination. @param region of it @param isInside from there
    /// @param target gets a column @param entries of a row
    void AddColumn(uint32_t region, bool isInside, Target& target, std::vector<uint32_t>& entries);
    /// @param at a vertex @param to a vertex @param wentDown as Find() @return the entry
    uint32_t Look(VertexId at, VertexId to, bool wentDown);

    const Cluster* m_cluster{nullptr};                   //!< whose ways
    std::shared_ptr<const Paths> m_paths;                //!< its shortest paths
    std::shared_ptr<const Paths> m_wholePaths;           //!< as if all links worked
    std::vector<std::vector<PortId>> m_outPorts;         //!< by vertex, in the order of its ports
    std::vector<Targets> m_targets;                      //!< by vertex
    std::vector<Row> m_rows;                             //!< by vertex (and way)
    std::vector<std::vector<PortId>> m_choices;          //!< several ports, as entries name them
    std::map<std::vector<PortId>, uint32_t> m_choiceIds; //!< their entries
    std::vector<uint32_t> m_insideColumns;               //!< by region: how many there are
    uint32_t m_outsideColumns{0};                        //!< how many there are
    std::vector<uint32_t> m_insideColumnOf;              //!< by anchor
    std::vector<uint32_t> m_outsideColumnOf;             //!< by anchor
    bool m_phases{false};                                //!< HasPhases()
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_ROUTE_TABLE_H
