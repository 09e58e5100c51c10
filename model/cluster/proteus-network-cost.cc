/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-network-cost.h"

#include "proteus-bundles.h"
#include "proteus-paths.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double BYTES_PER_GBIT = 1e9 / 8;
constexpr double ROUNDING = 1e-6; //!< of a quotient that should be whole

bool
IsSwitch(const Cluster& cluster, VertexId id)
{
    return cluster.GetVertices()[id].kind == VertexKind::SWITCH;
}

/// Where something stands, metres.
struct Place
{
    double x{0};
    double y{0};
    bool isKnown{false};
};

/// Finds out where switches stand.
class Floor
{
  public:
    Floor(const Cluster& cluster, const RackLayout& layout)
        : m_layout(layout),
          m_places(cluster.GetVertices().size())
    {
        for (VertexId id = 0; id < m_places.size(); ++id)
        {
            const int32_t server = cluster.GetVertices()[id].server;
            if (server >= 0)
            {
                const uint32_t rack = static_cast<uint32_t>(server) / layout.serversPerRack;
                m_places[id] = {rack % layout.racksPerRow * layout.rackWidthM,
                                rack / layout.racksPerRow * layout.rowDistanceM,
                                true};
            }
        }
        for (bool isNew = true; isNew;) // level by level, from the servers up
        {
            isNew = false;
            std::vector<Place> next = m_places;
            for (VertexId id = 0; id < m_places.size(); ++id)
            {
                if (!m_places[id].isKnown)
                {
                    next[id] = FindMiddle(cluster, id);
                    isNew = isNew || next[id].isKnown;
                }
            }
            m_places = std::move(next);
        }
    }

    /// @return length of a cable, metres
    double GetLength(VertexId a, VertexId b) const
    {
        return std::abs(m_places[a].x - m_places[b].x) + std::abs(m_places[a].y - m_places[b].y) +
               m_layout.withinRackM;
    }

  private:
    /// @return the middle of what a switch is joined with and whose place is known
    Place FindMiddle(const Cluster& cluster, VertexId id) const
    {
        Place middle;
        double count = 0;
        for (const Port& port : cluster.GetPorts(id))
        {
            const Place& other = m_places[port.neighbor];
            if (other.isKnown)
            {
                middle.x += other.x;
                middle.y += other.y;
                ++count;
            }
        }
        if (count > 0)
        {
            middle = {middle.x / count, middle.y / count, true};
        }
        return middle;
    }

    const RackLayout& m_layout;
    std::vector<Place> m_places; //!< by vertex
};

/// Adds up things.
class Bill
{
  public:
    explicit Bill(const PriceTable& prices)
        : m_prices(prices)
    {
    }

    void Add(const std::string& name, double bytesPerSecond, uint64_t count)
    {
        const PriceItem& item = m_prices.Find(name, bytesPerSecond / BYTES_PER_GBIT);
        BillLine& line = m_lines[{name, item.gbitsPerSecond}];
        line.item = name;
        line.gbitsPerSecond = item.gbitsPerSecond;
        line.count += count;
        line.price += item.price * static_cast<double>(count);
        line.powerW += item.powerW * static_cast<double>(count);
    }

    std::vector<BillLine> GetLines() const
    {
        std::vector<BillLine> lines;
        for (const auto& [key, line] : m_lines)
        {
            lines.push_back(line);
        }
        return lines;
    }

  private:
    const PriceTable& m_prices;
    std::map<std::pair<std::string, double>, BillLine> m_lines;
};

/// Greatest flow through a network: Dinic, "Algorithm for solution of a problem of maximum flow in
/// networks with power estimation", Soviet Mathematics Doklady 11, 1970.
class MaxFlow
{
  public:
    explicit MaxFlow(std::size_t nVertices)
        : m_edges(nVertices)
    {
    }

    /// Adds an edge. @param backward capacity of the opposite direction
    void Add(std::size_t from, std::size_t to, double forward, double backward)
    {
        m_edges[from].push_back({to, m_edges[to].size(), forward});
        m_edges[to].push_back({from, m_edges[from].size() - 1, backward});
    }

    double Find(std::size_t source, std::size_t sink)
    {
        double flow = 0;
        while (Level(source, sink))
        {
            m_next.assign(m_edges.size(), 0);
            for (double more = Push(source, sink, HUGE_VAL); more > 0;
                 more = Push(source, sink, HUGE_VAL))
            {
                flow += more;
            }
        }
        return flow;
    }

  private:
    struct Edge
    {
        std::size_t to;
        std::size_t back; //!< position of the opposite edge
        double left;      //!< capacity
    };

    /// Finds distances from the source. @return whether the sink can be reached
    bool Level(std::size_t source, std::size_t sink)
    {
        m_level.assign(m_edges.size(), -1);
        m_level[source] = 0;
        std::queue<std::size_t> queue({source});
        while (!queue.empty())
        {
            const std::size_t at = queue.front();
            queue.pop();
            for (const Edge& edge : m_edges[at])
            {
                if (edge.left > 1 && m_level[edge.to] < 0) // bytes per second, whole ones
                {
                    m_level[edge.to] = m_level[at] + 1;
                    queue.push(edge.to);
                }
            }
        }
        return m_level[sink] >= 0;
    }

    double Push(std::size_t at, std::size_t sink, double most)
    {
        if (at == sink)
        {
            return most;
        }
        for (std::size_t& i = m_next[at]; i < m_edges[at].size(); ++i)
        {
            Edge& edge = m_edges[at][i];
            if (edge.left <= 1 || m_level[edge.to] != m_level[at] + 1)
            {
                continue;
            }
            const double pushed = Push(edge.to, sink, std::min(most, edge.left));
            if (pushed > 0)
            {
                edge.left -= pushed;
                m_edges[edge.to][edge.back].left += pushed;
                return pushed;
            }
        }
        return 0;
    }

    std::vector<std::vector<Edge>> m_edges; //!< by vertex
    std::vector<int> m_level;               //!< by vertex
    std::vector<std::size_t> m_next;        //!< by vertex: edge to try
};

/// @return whether a link is one of the network
bool
IsNetworkLink(const Cluster& cluster, const Link& link)
{
    return IsSwitch(cluster, link.a) || IsSwitch(cluster, link.b);
}

/// @param isFirst of every server whether it is in the first half
/// @return the greatest flow, and what the NICs of the first half can send
std::pair<double, double>
FindFlow(const Cluster& cluster, const std::vector<bool>& isFirst)
{
    const std::size_t n = cluster.GetVertices().size();
    MaxFlow flow(n + 2);
    double sending = 0;
    for (const Link& link : cluster.GetLinks())
    {
        if (!IsNetworkLink(cluster, link))
        {
            continue;
        }
        flow.Add(link.a, link.b, link.bytesPerSecond, link.bytesPerSecond);
        for (const VertexId end : {link.a, link.b})
        {
            const int32_t server = cluster.GetVertices()[end].server;
            if (server >= 0)
            {
                const bool first = isFirst[static_cast<std::size_t>(server)];
                flow.Add(first ? n : end, first ? end : n + 1, link.bytesPerSecond, 0);
                sending += first ? link.bytesPerSecond : 0;
            }
        }
    }
    return {flow.Find(n, n + 1), sending};
}

/// @return the first vertex of a server that a network switch is joined with, NO_VERTEX if none
VertexId
FindPlug(const Cluster& cluster, uint32_t server)
{
    for (VertexId id = 0; id < cluster.GetVertices().size(); ++id)
    {
        if (cluster.GetVertices()[id].server != static_cast<int32_t>(server))
        {
            continue;
        }
        for (const Port& port : cluster.GetPorts(id))
        {
            if (IsSwitch(cluster, port.neighbor))
            {
                return id;
            }
        }
    }
    return Cluster::NO_VERTEX;
}

} // namespace

double
PriceTable::FindRent(const std::string& gpu) const
{
    for (const GpuRent& rent : rents)
    {
        if (rent.gpu == gpu)
        {
            return rent.pricePerHour;
        }
    }
    throw std::invalid_argument("no rent of GPU " + gpu + "; add {\"gpu\": \"" + gpu +
                                "\", \"price_per_hour\": ..., \"source\": ...} to \"rents\"");
}

const PriceItem&
PriceTable::Find(const std::string& name, double gbitsPerSecond) const
{
    const PriceItem* best = nullptr;
    for (const PriceItem& item : items)
    {
        if (item.name == name && item.gbitsPerSecond >= gbitsPerSecond * (1 - ROUNDING) &&
            (!best || item.gbitsPerSecond < best->gbitsPerSecond))
        {
            best = &item;
        }
    }
    if (!best)
    {
        std::ostringstream text;
        text << "no price of a '" << name << "' for " << gbitsPerSecond << " Gb/s: add one";
        throw std::invalid_argument(text.str());
    }
    return *best;
}

std::vector<BillLine>
MakeBill(const Cluster& cluster, const PriceTable& prices)
{
    const double cable = GetCableRate(cluster);
    const Floor floor(cluster, prices.layout);
    Bill bill(prices);
    for (const Link& link : cluster.GetLinks())
    {
        if (!IsNetworkLink(cluster, link))
        {
            continue;
        }
        const double unit = cable > 0 ? cable : link.bytesPerSecond;
        const auto cables =
            static_cast<uint64_t>(std::max(1.0, std::ceil(link.bytesPerSecond / unit - ROUNDING)));
        const double rate = std::min(unit, link.bytesPerSecond);
        for (const VertexId end : {link.a, link.b})
        {
            bill.Add(IsSwitch(cluster, end) ? "switch-port" : "nic", rate, cables);
        }
        const double length = floor.GetLength(link.a, link.b);
        const auto place =
            std::find_if(prices.classes.begin(),
                         prices.classes.end(),
                         [length](const CableClass& c) { return length <= c.upToM; });
        bill.Add(place->name, rate, cables);
    }
    return bill.GetLines();
}

Bisection
FindBisection(const Cluster& cluster)
{
    Bisection best;
    const uint32_t servers = cluster.GetNServers();
    if (servers < 2)
    {
        return best;
    }
    std::vector<bool> first(servers);
    std::vector<bool> even(servers);
    for (uint32_t i = 0; i < servers; ++i)
    {
        first[i] = i < servers / 2;
        even[i] = i % 2 == 0 && i / 2 < servers / 2;
    }
    for (const auto& [half, name] : {std::make_pair(first, "first half and second half of servers"),
                                     std::make_pair(even, "servers of even and odd numbers")})
    {
        const auto [flow, sending] = FindFlow(cluster, half);
        if (best.division.empty() || flow < best.bytesPerSecond)
        {
            best = {flow, sending > 0 ? flow / sending : 0, name};
        }
    }
    return best;
}

uint64_t
CountPaths(const Cluster& cluster)
{
    if (cluster.GetNServers() < 2)
    {
        return 0;
    }
    const VertexId from = FindPlug(cluster, 0);
    const VertexId to = FindPlug(cluster, cluster.GetNServers() - 1);
    if (from == Cluster::NO_VERTEX || to == Cluster::NO_VERTEX)
    {
        return 0;
    }
    const Paths paths(cluster);
    std::map<VertexId, uint64_t> counts{{from, 1}};
    std::set<std::pair<uint32_t, VertexId>> order{{UINT32_MAX - paths.Distance(from, to), from}};
    while (!order.empty()) // farthest from the end first
    {
        const VertexId at = order.begin()->second;
        order.erase(order.begin());
        if (at == to)
        {
            continue;
        }
        for (const uint16_t position : paths.NextPorts(at, to))
        {
            const VertexId next = cluster.GetPorts(at)[position].neighbor;
            counts[next] += counts[at];
            order.insert({UINT32_MAX - paths.Distance(next, to), next});
        }
    }
    return counts[to];
}

} // namespace proteus
} // namespace ns3
