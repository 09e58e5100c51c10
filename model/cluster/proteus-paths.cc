/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-paths.h"

#include "proteus-path-region.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace ns3
{
namespace proteus
{

/// The parts of a cluster in which paths are searched, see the description of Paths.
class Paths::Regions
{
  public:
    /// @param cluster must outlive this object @param options which paths there are
    Regions(const Cluster& cluster, const PathOptions& options);

    /// @return which steps a path may take
    const PathRules& GetRules() const
    {
        return m_rules;
    }

    /// @param vertex a vertex @return see Paths::GetRegion()
    uint32_t GetRegion(VertexId vertex) const
    {
        return m_regionOf[vertex];
    }

    /// @copydoc Paths::GetAnchor
    Anchor GetAnchor(VertexId to, bool isInside) const;

    /// @copydoc Paths::NextPorts
    const std::vector<uint16_t>& NextPorts(VertexId at, VertexId to, bool arrivedDown);

    /// @copydoc Paths::Distance
    uint32_t Distance(VertexId from, VertexId to);

    /// @copydoc Paths::Forget
    void Forget();

  private:
    /// "No port".
    static constexpr uint16_t NO_POSITION = 0xffff;

    /// A link of a vertex to the backbone, the only one that leads out of its region; or, of a
    /// vertex of the backbone, its only link.
    struct Uplink
    {
        VertexId neighbor{Cluster::NO_VERTEX}; //!< at its other end; NO_VERTEX: there is no such
        uint32_t cost{0};                      //!< of the link
        uint16_t port{NO_POSITION};            //!< position in the ports of the vertex
        uint16_t back{NO_POSITION};            //!< position in the ports of the neighbour
    };

    /// @param vertex that the link belongs to @param position of the link @return it
    Uplink MakeUplink(VertexId vertex, std::size_t position) const;
    /// Finds the vertices whose only link leads to something that is passed.
    void FindAttachments();
    /// Finds the servers that are regions.
    void FindServers();
    /// @param vertices of a server @return whether all its links to others are such that it can be
    /// a region
    bool IsClosed(const std::vector<VertexId>& vertices) const;
    /// @param number of a region @return it, made if it is not there yet
    PathRegion& GetInside(uint32_t number);
    /// @return the whole cluster as one region
    PathRegion& GetWhole();

    /// @param at a vertex @return whether it is in the backbone but no vertex of that
    bool HangsOnBackbone(VertexId at) const
    {
        return m_regionOf[at] == 0 && m_attachments[at].neighbor != Cluster::NO_VERTEX;
    }

    /// Where to look for the way between two vertices.
    struct Place
    {
        PathRegion* region;   //!< in which
        const Uplink* uplink; //!< by which the way begins, or null
    };

    /// @param at a vertex @param to an anchor for it @return where the way is to be looked for
    Place FindPlace(VertexId at, VertexId to);

    PathRules m_rules;                           //!< which steps a path may take
    PortLists m_lists;                           //!< of ports
    std::vector<Uplink> m_attachments;           //!< by vertex: its only link
    std::vector<Uplink> m_exits;                 //!< by vertex: of NICs of regions
    std::vector<uint32_t> m_regionOf;            //!< by vertex
    std::vector<std::vector<VertexId>> m_inside; //!< by region: its vertices, until it is made
    std::vector<uint64_t> m_detours;             //!< by region: least cost of going out and in
    std::vector<std::unique_ptr<PathRegion>> m_regions; //!< by number; null: not made yet
    std::unique_ptr<PathRegion> m_whole;                //!< null: not made yet
};

Paths::Regions::Regions(const Cluster& cluster, const PathOptions& options)
    : m_rules(cluster, options),
      m_lists(cluster),
      m_attachments(cluster.GetVertices().size()),
      m_exits(cluster.GetVertices().size()),
      m_regionOf(cluster.GetVertices().size(), 0)
{
    FindAttachments();
    FindServers();
}

Paths::Regions::Uplink
Paths::Regions::MakeUplink(VertexId vertex, std::size_t position) const
{
    const Cluster& cluster = m_rules.GetCluster();
    const Port& port = cluster.GetPorts(vertex)[position];
    const auto& back = cluster.GetPorts(port.neighbor);
    // Links are added at both ends at once, so the ports of a vertex ascend in their links.
    const auto place =
        std::lower_bound(back.begin(), back.end(), port.link, [](const Port& p, LinkId link) {
            return p.link < link;
        });
    Uplink uplink;
    uplink.neighbor = port.neighbor;
    uplink.cost = cluster.GetLinks()[port.link].cost;
    uplink.port = static_cast<uint16_t>(position);
    uplink.back = static_cast<uint16_t>(place - back.begin());
    return uplink;
}

void
Paths::Regions::FindAttachments()
{
    const Cluster& cluster = m_rules.GetCluster();
    for (VertexId vertex = 0; vertex < m_attachments.size(); ++vertex)
    {
        const auto& ports = cluster.GetPorts(vertex);
        if (!m_rules.IsTerminal(vertex) || ports.size() != 1 || !m_rules.IsEnabled(ports[0].link))
        {
            continue;
        }
        // Not everything that gets to a switch that redirects may go on.
        if (!m_rules.IsTerminal(ports[0].neighbor) && !m_rules.IsRedirected(ports[0].neighbor))
        {
            m_attachments[vertex] = MakeUplink(vertex, 0);
        }
    }
}

bool
Paths::Regions::IsClosed(const std::vector<VertexId>& vertices) const
{
    const Cluster& cluster = m_rules.GetCluster();
    const auto& all = cluster.GetVertices();
    for (const VertexId vertex : vertices)
    {
        uint32_t exits = 0;
        for (const Port& port : cluster.GetPorts(vertex))
        {
            const int32_t server = all[port.neighbor].server;
            if (server == all[vertex].server || !m_rules.IsEnabled(port.link))
            {
                continue;
            }
            if (all[vertex].kind != VertexKind::NIC || server >= 0 || ++exits > 1)
            {
                return false;
            }
        }
    }
    return true;
}

void
Paths::Regions::FindServers()
{
    const Cluster& cluster = m_rules.GetCluster();
    const auto& all = cluster.GetVertices();
    std::vector<std::vector<VertexId>> servers(cluster.GetNServers());
    for (VertexId vertex = 0; vertex < all.size(); ++vertex)
    {
        if (all[vertex].server >= 0)
        {
            servers[all[vertex].server].push_back(vertex);
        }
    }
    m_inside.emplace_back(); // the backbone
    m_detours.push_back(std::numeric_limits<uint64_t>::max());
    for (auto& vertices : servers)
    {
        if (!IsClosed(vertices))
        {
            continue;
        }
        uint64_t least = std::numeric_limits<uint64_t>::max() / 2;
        for (const VertexId vertex : vertices)
        {
            m_regionOf[vertex] = static_cast<uint32_t>(m_inside.size());
            const auto& ports = cluster.GetPorts(vertex);
            for (std::size_t i = 0; i < ports.size(); ++i)
            {
                if (all[ports[i].neighbor].server < 0 && m_rules.IsEnabled(ports[i].link))
                {
                    m_exits[vertex] = MakeUplink(vertex, i);
                    least = std::min<uint64_t>(least, m_exits[vertex].cost);
                }
            }
        }
        m_inside.push_back(std::move(vertices));
        m_detours.push_back(2 * least);
    }
    for (VertexId vertex = 0; vertex < all.size(); ++vertex)
    {
        if (m_regionOf[vertex] == 0 && !HangsOnBackbone(vertex))
        {
            m_inside[0].push_back(vertex);
        }
    }
    m_regions.resize(m_inside.size());
}

Paths::Anchor
Paths::Regions::GetAnchor(VertexId to, bool isInside) const
{
    const Uplink& exit = m_exits[to];
    const Uplink& uplink =
        isInside || exit.neighbor == Cluster::NO_VERTEX ? m_attachments[to] : exit;
    Anchor anchor;
    anchor.vertex = to;
    if (uplink.neighbor != Cluster::NO_VERTEX)
    {
        anchor.vertex = uplink.neighbor;
        anchor.isNeighbor = true;
        anchor.port = uplink.back;
        anchor.cost = uplink.cost;
    }
    return anchor;
}

PathRegion&
Paths::Regions::GetInside(uint32_t number)
{
    auto& region = m_regions[number];
    if (!region)
    {
        region = std::make_unique<PathRegion>(m_rules, m_lists, std::move(m_inside[number]));
    }
    return *region;
}

PathRegion&
Paths::Regions::GetWhole()
{
    if (!m_whole)
    {
        std::vector<VertexId> all(m_regionOf.size());
        std::iota(all.begin(), all.end(), 0);
        m_whole = std::make_unique<PathRegion>(m_rules, m_lists, std::move(all));
    }
    return *m_whole;
}

Paths::Regions::Place
Paths::Regions::FindPlace(VertexId at, VertexId to)
{
    const uint32_t region = m_regionOf[at];
    if (region == m_regionOf[to])
    {
        if (HangsOnBackbone(at))
        {
            return {&GetInside(0), &m_attachments[at]};
        }
        PathRegion& inside = GetInside(region);
        return {region == 0 || inside.FindDistance(at, to) < m_detours[region] ? &inside
                                                                               : &GetWhole(),
                nullptr};
    }
    if (m_regionOf[to] == 0 && m_exits[at].neighbor != Cluster::NO_VERTEX)
    {
        return {&GetInside(0), &m_exits[at]};
    }
    return {&GetWhole(), nullptr};
}

const std::vector<uint16_t>&
Paths::Regions::NextPorts(VertexId at, VertexId to, bool arrivedDown)
{
    if (at == to)
    {
        return m_lists.Get(PortLists::NONE);
    }
    const Anchor anchor = GetAnchor(to, m_regionOf[at] == m_regionOf[to]);
    if (anchor.isNeighbor && anchor.vertex == at)
    {
        return m_lists.Get(PortLists::GetSingle(anchor.port));
    }
    const Place place = FindPlace(at, anchor.vertex);
    if (place.uplink == nullptr)
    {
        const uint32_t ports = place.region->FindPorts(at, anchor.vertex, arrivedDown);
        // What came down inside a server may have a way by the network only.
        return m_lists.Get(ports == PortLists::NONE && arrivedDown && m_regionOf[at] != 0
                               ? GetWhole().FindPorts(at, anchor.vertex, arrivedDown)
                               : ports);
    }
    const VertexId next = place.uplink->neighbor;
    const bool isReached = next == anchor.vertex ||
                           place.region->FindDistance(next, anchor.vertex) != Paths::UNREACHABLE;
    return m_lists.Get(isReached ? PortLists::GetSingle(place.uplink->port) : PortLists::NONE);
}

uint32_t
Paths::Regions::Distance(VertexId from, VertexId to)
{
    if (from == to)
    {
        return 0;
    }
    const Anchor anchor = GetAnchor(to, m_regionOf[from] == m_regionOf[to]);
    if (anchor.isNeighbor && anchor.vertex == from)
    {
        return anchor.cost;
    }
    const Place place = FindPlace(from, anchor.vertex);
    const uint32_t cost = anchor.cost + (place.uplink == nullptr ? 0 : place.uplink->cost);
    const uint32_t distance =
        place.region->FindDistance(place.uplink == nullptr ? from : place.uplink->neighbor,
                                   anchor.vertex);
    return distance == UNREACHABLE ? UNREACHABLE : distance + cost;
}

void
Paths::Regions::Forget()
{
    for (const auto& region : m_regions)
    {
        if (region)
        {
            region->Forget();
        }
    }
    m_whole = nullptr;
}

Paths::Paths(const Cluster& cluster, const PathOptions& options)
    : m_cluster(cluster),
      m_regions(std::make_unique<Regions>(cluster, options))
{
}

Paths::~Paths() = default;

const std::vector<uint16_t>&
Paths::NextPorts(VertexId at, VertexId to, bool arrivedDown) const
{
    return m_regions->NextPorts(at, to, arrivedDown);
}

bool
Paths::HasPhases() const
{
    return m_regions->GetRules().GetNPhases() > 1;
}

bool
Paths::GoesDown(VertexId from, std::size_t port) const
{
    return m_regions->GetRules().GoesDown(m_cluster.GetPorts(from)[port].link, from);
}

uint32_t
Paths::Distance(VertexId from, VertexId to) const
{
    return m_regions->Distance(from, to);
}

uint32_t
Paths::GetRegion(VertexId vertex) const
{
    return m_regions->GetRegion(vertex);
}

Paths::Anchor
Paths::GetAnchor(VertexId to, bool isInside) const
{
    return m_regions->GetAnchor(to, isInside);
}

void
Paths::Forget() const
{
    m_regions->Forget();
}

} // namespace proteus
} // namespace ns3
