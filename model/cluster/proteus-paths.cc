/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-cluster.h"

#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/property_map/function_property_map.hpp>
#include <functional>
#include <limits>
#include <set>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// A step of a path from a vertex to the next.
struct Step
{
    int32_t server{-1};    //!< the only one that a path may lead to; -1: any
    bool entersNic{false}; //!< from outside, which is not on the way to another NIC

    /// @param destination of a path @return whether it may take the step
    bool LeadsTo(const Vertex& destination) const
    {
        return server < 0 || (server == destination.server &&
                              !(entersNic && destination.kind == VertexKind::NIC));
    }
};

/// @param from where a step begins @param next where it ends @return the step
Step
MakeStep(const Vertex& from, const Vertex& next)
{
    Step step;
    if (next.kind == VertexKind::NIC && from.server != next.server)
    {
        step = {next.server, true};
    }
    else if (from.kind == VertexKind::NIC && from.server == next.server)
    {
        step = {from.server, false};
    }
    return step;
}

/// What the search needs of an edge.
struct Edge
{
    uint32_t cost; //!< of the link
    Step step;     //!< against the direction of the search
};

using BoostGraph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, Edge>;

} // namespace

struct Paths::SearchGraph
{
    /// From each state to those that a path may have been in before; none from the states of a GPU,
    /// since a path never passes one.
    BoostGraph edges;
};

/// Orders the vertices of each island, see the description of Paths.
class Paths::Orientation
{
  public:
    /// @param paths to order @param roots asked for
    Orientation(Paths& paths, const std::vector<VertexId>& roots)
        : m_paths(paths),
          m_cluster(paths.m_cluster),
          m_level(m_cluster.GetVertices().size(), NONE),
          m_isRoot(m_cluster.GetVertices().size(), false)
    {
        for (VertexId root : roots)
        {
            m_isRoot[root] = true;
        }
        std::vector<bool> isSeen(m_level.size(), false);
        for (VertexId start = 0; start < m_level.size(); ++start)
        {
            if (!isSeen[start] && !m_paths.IsTerminal(start))
            {
                OrderIsland(FindIsland(start, isSeen));
            }
        }
        const auto& links = m_cluster.GetLinks();
        m_paths.m_isDown.resize(links.size());
        for (LinkId link = 0; link < links.size(); ++link)
        {
            m_paths.m_isDown[link] = IsAbove(links[link].a, links[link].b);
        }
    }

  private:
    static constexpr uint32_t NONE = 0xffffffff;

    /// @param upper a vertex @param lower another one @return whether that is so
    bool IsAbove(VertexId upper, VertexId lower) const
    {
        const bool isUpperTerminal = m_paths.IsTerminal(upper);
        if (isUpperTerminal != m_paths.IsTerminal(lower))
        {
            return !isUpperTerminal;
        }
        return m_level[upper] != m_level[lower] ? m_level[upper] < m_level[lower] : upper > lower;
    }

    /// Calls f(neighbor) for the ports of a vertex whose links are enabled.
    template <typename F>
    void ForNeighbors(VertexId vertex, F f) const
    {
        for (const Port& port : m_cluster.GetPorts(vertex))
        {
            if (m_paths.m_isDisabled.empty() || !m_paths.m_isDisabled[port.link])
            {
                f(port.neighbor);
            }
        }
    }

    /// @param start a vertex @param isSeen gets those of the island @return its vertices
    std::vector<VertexId> FindIsland(VertexId start, std::vector<bool>& isSeen) const
    {
        std::vector<VertexId> island{start};
        isSeen[start] = true;
        for (std::size_t i = 0; i < island.size(); ++i)
        {
            ForNeighbors(island[i], [&](VertexId neighbor) {
                if (!isSeen[neighbor] && !m_paths.IsTerminal(neighbor))
                {
                    isSeen[neighbor] = true;
                    island.push_back(neighbor);
                }
            });
        }
        std::sort(island.begin(), island.end());
        return island;
    }

    /// Sets the levels of an island to the distance from some of its vertices.
    void SetLevels(const std::vector<VertexId>& island, std::vector<VertexId> pending)
    {
        for (VertexId vertex : island)
        {
            m_level[vertex] = NONE;
        }
        for (VertexId vertex : pending)
        {
            m_level[vertex] = 0;
        }
        for (std::size_t i = 0; i < pending.size(); ++i)
        {
            ForNeighbors(pending[i], [&](VertexId neighbor) {
                if (m_level[neighbor] == NONE && !m_paths.IsTerminal(neighbor))
                {
                    m_level[neighbor] = m_level[pending[i]] + 1;
                    pending.push_back(neighbor);
                }
            });
        }
    }

    void OrderIsland(const std::vector<VertexId>& island)
    {
        std::vector<VertexId> roots;
        std::vector<VertexId> cpus;
        std::vector<VertexId> gates; // with a GPU or NIC below
        VertexId single = island.front();
        std::size_t mostLinks = 0; // to others of the island
        for (VertexId vertex : island)
        {
            std::size_t nLinks = 0;
            bool isGate = false;
            ForNeighbors(vertex, [&](VertexId neighbor) {
                const bool isTerminal = m_paths.IsTerminal(neighbor);
                isGate = isGate || isTerminal;
                nLinks += isTerminal ? 0 : 1;
            });
            if (m_isRoot[vertex])
            {
                roots.push_back(vertex);
            }
            if (m_cluster.GetVertices()[vertex].kind == VertexKind::CPU)
            {
                cpus.push_back(vertex);
            }
            if (isGate)
            {
                gates.push_back(vertex);
            }
            if (nLinks > mostLinks)
            {
                single = vertex;
                mostLinks = nLinks;
            }
        }
        if (!roots.empty())
        {
            single = roots.front();
        }
        else if (!cpus.empty())
        {
            roots = cpus;
            single = cpus.front();
        }
        else if (!gates.empty())
        {
            SetLevels(island, gates);
            uint32_t highest = 0;
            for (VertexId vertex : island)
            {
                highest = std::max(highest, m_level[vertex]);
            }
            for (VertexId vertex : island)
            {
                if (m_level[vertex] == highest)
                {
                    roots.push_back(vertex);
                }
            }
        }
        else
        {
            roots = island;
        }
        SetLevels(island, roots);
        if (!AllMeet(island, gates))
        {
            SetLevels(island, {single});
        }
    }

    /// @return whether from every two gates one gets to a common vertex by going up only
    bool AllMeet(std::vector<VertexId> island, const std::vector<VertexId>& gates) const
    {
        std::sort(island.begin(), island.end(), [this](VertexId x, VertexId y) {
            return IsAbove(x, y);
        });
        // Which tops, vertices with none above, are above each vertex.
        std::vector<VertexId> tops;
        for (VertexId vertex : island)
        {
            bool isTop = true;
            ForNeighbors(vertex, [&](VertexId neighbor) {
                isTop = isTop && (m_paths.IsTerminal(neighbor) || IsAbove(vertex, neighbor));
            });
            if (isTop)
            {
                tops.push_back(vertex);
            }
        }
        if (tops.size() == 1)
        {
            return true;
        }
        using Set = std::vector<uint64_t>;
        std::unordered_map<VertexId, Set> above;
        for (std::size_t i = 0; i < tops.size(); ++i)
        {
            Set& set = above[tops[i]];
            set.resize((tops.size() + 63) / 64);
            set[i / 64] |= uint64_t{1} << i % 64;
        }
        for (VertexId vertex : island)
        {
            Set set((tops.size() + 63) / 64, 0);
            if (above.count(vertex) > 0)
            {
                continue;
            }
            ForNeighbors(vertex, [&](VertexId neighbor) {
                if (!m_paths.IsTerminal(neighbor) && IsAbove(neighbor, vertex))
                {
                    const Set& other = above[neighbor];
                    for (std::size_t i = 0; i < set.size(); ++i)
                    {
                        set[i] |= other[i];
                    }
                }
            });
            above[vertex] = std::move(set);
        }
        std::set<Set> distinct;
        for (VertexId gate : gates)
        {
            distinct.insert(above[gate]);
        }
        for (auto x = distinct.begin(); x != distinct.end(); ++x)
        {
            for (auto y = std::next(x); y != distinct.end(); ++y)
            {
                bool meet = false;
                for (std::size_t i = 0; i < x->size(); ++i)
                {
                    meet = meet || ((*x)[i] & (*y)[i]) != 0;
                }
                if (!meet)
                {
                    return false;
                }
            }
        }
        return true;
    }

    Paths& m_paths;
    const Cluster& m_cluster;
    std::vector<uint32_t> m_level; //!< by vertex: distance from the roots of its island
    std::vector<bool> m_isRoot;    //!< by vertex: asked for
};

Paths::Paths(const Cluster& cluster, const PathOptions& options)
    : m_cluster(cluster),
      m_rule(options.rule),
      m_trees(cluster.GetVertices().size()),
      m_portLists(1)
{
    const auto& vertices = cluster.GetVertices();
    const auto& links = cluster.GetLinks();
    for (LinkId link : options.disabledLinks)
    {
        if (link >= links.size())
        {
            throw std::invalid_argument("there is no link " + std::to_string(link) +
                                        " to be disabled");
        }
        m_isDisabled.resize(links.size(), false);
        m_isDisabled[link] = true;
    }
    for (VertexId root : options.roots)
    {
        if (root >= vertices.size() || IsTerminal(root))
        {
            throw std::invalid_argument(
                "vertex " + std::to_string(root) +
                " cannot be a root of up/down routing; name a switch or a CPU");
        }
    }
    for (VertexId vertex = 0; vertex < vertices.size(); ++vertex)
    {
        if (vertices[vertex].kind == VertexKind::PCIE_SWITCH && !vertices[vertex].peerToPeer)
        {
            m_isRedirected.resize(vertices.size(), false);
            m_isRedirected[vertex] = true;
        }
    }
    if (m_rule == RoutingRule::UP_DOWN || !m_isRedirected.empty())
    {
        m_nPhases = 2;
        const Orientation orientation(*this, options.roots);
        for (VertexId vertex = 0; vertex < m_isRedirected.size(); ++vertex)
        {
            bool hasRoot = false; // something above to be redirected to
            for (std::size_t i = 0; i < cluster.GetPorts(vertex).size(); ++i)
            {
                hasRoot = hasRoot || !GoesDown(vertex, i);
            }
            m_isRedirected[vertex] = m_isRedirected[vertex] && hasRoot;
        }
    }

    std::size_t mostPorts = 0;
    for (VertexId vertex = 0; vertex < vertices.size(); ++vertex)
    {
        mostPorts = std::max(mostPorts, cluster.GetPorts(vertex).size());
    }
    for (std::size_t port = 0; port < mostPorts; ++port)
    {
        m_portLists.push_back({static_cast<uint16_t>(port)});
    }
    FindAttachments();

    std::vector<std::pair<std::size_t, std::size_t>> ends;
    std::vector<Edge> costs;
    for (uint32_t phase = 0; phase < m_nPhases; ++phase)
    {
        for (VertexId vertex = 0; vertex < vertices.size(); ++vertex)
        {
            if (vertices[vertex].kind == VertexKind::GPU || (phase > 0 && IsTerminal(vertex)))
            {
                continue;
            }
            for (const Port& port : cluster.GetPorts(vertex))
            {
                const bool down = LinkGoesDown(port.link, port.neighbor);
                if ((!m_isDisabled.empty() && m_isDisabled[port.link]) ||
                    State(vertex, down) != State(vertex, phase > 0))
                {
                    continue;
                }
                for (uint32_t before = 0; before < m_nPhases; ++before)
                {
                    if ((before == 0 || !IsTerminal(port.neighbor)) &&
                        MayPass(port.neighbor, before > 0, down))
                    {
                        ends.emplace_back(State(vertex, phase > 0),
                                          State(port.neighbor, before > 0));
                        costs.push_back({links[port.link].cost,
                                         MakeStep(vertices[port.neighbor], vertices[vertex])});
                    }
                }
            }
        }
    }
    m_graph = std::make_shared<SearchGraph>(SearchGraph{BoostGraph(boost::edges_are_sorted,
                                                                   ends.begin(),
                                                                   ends.end(),
                                                                   costs.begin(),
                                                                   m_nPhases * vertices.size())});
}

bool
Paths::IsTerminal(VertexId vertex) const
{
    const VertexKind kind = m_cluster.GetVertices()[vertex].kind;
    return kind == VertexKind::GPU || kind == VertexKind::NIC;
}

std::size_t
Paths::State(VertexId vertex, bool down) const
{
    return down && m_nPhases > 1 && !IsTerminal(vertex) ? m_trees.size() + vertex : vertex;
}

bool
Paths::MayPass(VertexId vertex, bool arrivedDown, bool down) const
{
    if (m_nPhases == 1 || IsTerminal(vertex))
    {
        return true;
    }
    if (!m_isRedirected.empty() && m_isRedirected[vertex] && !arrivedDown && down)
    {
        return false;
    }
    return m_rule == RoutingRule::SHORTEST || !arrivedDown || down;
}

bool
Paths::LinkGoesDown(LinkId link, VertexId from) const
{
    return !m_isDown.empty() && m_isDown[link] == (m_cluster.GetLinks()[link].a == from);
}

bool
Paths::GoesDown(VertexId from, std::size_t port) const
{
    return LinkGoesDown(m_cluster.GetPorts(from)[port].link, from);
}

void
Paths::FindAttachments()
{
    m_attachments.resize(m_trees.size());
    for (VertexId vertex = 0; vertex < m_trees.size(); ++vertex)
    {
        const auto& ports = m_cluster.GetPorts(vertex);
        if (!IsTerminal(vertex) || ports.size() != 1 ||
            (!m_isDisabled.empty() && m_isDisabled[ports[0].link]))
        {
            continue;
        }
        const VertexId neighbor = ports[0].neighbor;
        if (IsTerminal(neighbor) || (!m_isRedirected.empty() && m_isRedirected[neighbor]))
        {
            continue; // not everything that gets there may go on
        }
        const auto& back = m_cluster.GetPorts(neighbor);
        // Links are added at both ends at once, so the ports of a vertex ascend in their links.
        const auto port =
            std::lower_bound(back.begin(), back.end(), ports[0].link, [](const Port& p, LinkId l) {
                return p.link < l;
            });
        m_attachments[vertex] = {neighbor,
                                 m_cluster.GetLinks()[ports[0].link].cost,
                                 static_cast<PortListId>(1 + (port - back.begin()))};
    }
}

Paths::PortListId
Paths::Intern(const std::vector<uint16_t>& ports) const
{
    if (ports.size() <= 1)
    {
        return ports.empty() ? 0 : 1u + ports.front();
    }
    const auto known = m_portListIds.find(ports);
    if (known != m_portListIds.end())
    {
        return known->second;
    }
    const auto id = static_cast<PortListId>(m_portLists.size());
    m_portLists.push_back(ports);
    m_portListIds.emplace(ports, id);
    return id;
}

const Paths::Tree&
Paths::GetTree(VertexId to, bool withDistance) const
{
    Tree& tree = m_trees[to];
    if (!tree.nextPorts.empty() && (!withDistance || !tree.distance.empty()))
    {
        return tree;
    }

    // Links have the same cost both ways. The search starts at the neighbours, since a GPU has no
    // edges of its own in the graph, and goes against the direction of the paths.
    const auto& vertices = m_cluster.GetVertices();
    const auto& links = m_cluster.GetLinks();
    const auto nVertices = static_cast<VertexId>(vertices.size());
    const std::size_t nStates = m_nPhases * vertices.size();
    std::vector<uint32_t> distance(nStates, UNREACHABLE);
    std::vector<std::size_t> starts;
    for (const Port& port : m_cluster.GetPorts(to))
    {
        if (!m_isDisabled.empty() && m_isDisabled[port.link])
        {
            continue;
        }
        const bool down = LinkGoesDown(port.link, port.neighbor);
        for (uint32_t before = 0; before < m_nPhases; ++before)
        {
            const std::size_t state = State(port.neighbor, before > 0);
            if (!MayPass(port.neighbor, before > 0, down))
            {
                continue;
            }
            if (distance[state] == UNREACHABLE)
            {
                starts.push_back(state);
            }
            distance[state] = std::min(distance[state], links[port.link].cost);
        }
    }
    const BoostGraph& graph = m_graph->edges;
    const auto index = boost::get(boost::vertex_index, graph);
    std::vector<boost::default_color_type> colors(nStates, boost::white_color);
    for (std::size_t state : {State(to, false), State(to, true)})
    {
        distance[state] = 0;
        colors[state] = boost::black_color;
    }
    boost::dijkstra_shortest_paths_no_init(
        graph,
        starts.begin(),
        starts.end(),
        boost::dummy_property_map(),
        boost::make_iterator_property_map(distance.begin(), index),
        boost::make_function_property_map<BoostGraph::edge_descriptor>(
            [&](const BoostGraph::edge_descriptor& edge) {
                const Edge& e = graph[edge];
                return e.step.LeadsTo(vertices[to]) ? e.cost : UNREACHABLE;
            }),
        index,
        std::less<uint32_t>(),
        boost::closed_plus<uint32_t>(UNREACHABLE),
        uint32_t{0},
        boost::dijkstra_visitor<>(),
        boost::make_iterator_property_map(colors.begin(), index));

    tree.nextPorts.assign(nStates, 0);
    std::vector<uint16_t> several;
    for (uint32_t phase = 0; phase < m_nPhases; ++phase)
    {
        for (VertexId from = 0; from < nVertices; ++from)
        {
            const std::size_t state = State(from, phase > 0);
            if (from == to || distance[state] == UNREACHABLE || (phase > 0 && state == from))
            {
                continue;
            }
            const auto& ports = m_cluster.GetPorts(from);
            several.clear();
            for (std::size_t i = 0; i < ports.size(); ++i)
            {
                const VertexId neighbor = ports[i].neighbor;
                const bool down = LinkGoesDown(ports[i].link, from);
                const std::size_t next = State(neighbor, down);
                // First what rules most ports out. An unreachable neighbour cannot pass the test:
                // its distance is the largest number.
                if (distance[next] >= distance[state] ||
                    distance[next] + links[ports[i].link].cost != distance[state] ||
                    !MayPass(from, phase > 0, down) ||
                    (!m_isDisabled.empty() && m_isDisabled[ports[i].link]))
                {
                    continue;
                }
                if (neighbor == to ||
                    (vertices[neighbor].kind != VertexKind::GPU &&
                     MakeStep(vertices[from], vertices[neighbor]).LeadsTo(vertices[to])))
                {
                    several.push_back(static_cast<uint16_t>(i));
                }
            }
            tree.nextPorts[state] = Intern(several);
        }
    }
    if (withDistance)
    {
        tree.distance = std::move(distance);
    }
    return tree;
}

const std::vector<uint16_t>&
Paths::NextPorts(VertexId at, VertexId to, bool arrivedDown) const
{
    const Attachment& attachment = m_attachments[to];
    if (attachment.neighbor != Cluster::NO_VERTEX)
    {
        if (at == attachment.neighbor || at == to)
        {
            return m_portLists[at == to ? 0 : attachment.ports];
        }
        to = attachment.neighbor;
    }
    return m_portLists[GetTree(to, false).nextPorts[State(at, arrivedDown)]];
}

uint32_t
Paths::Distance(VertexId from, VertexId to) const
{
    const Attachment& attachment = m_attachments[to];
    if (from == to || attachment.neighbor == Cluster::NO_VERTEX)
    {
        return from == to ? 0 : GetTree(to, true).distance[from];
    }
    const uint32_t distance = GetTree(attachment.neighbor, true).distance[from];
    return distance == UNREACHABLE ? UNREACHABLE : distance + attachment.cost;
}

void
Paths::Forget() const
{
    m_trees.assign(m_trees.size(), Tree());
}

} // namespace proteus
} // namespace ns3
