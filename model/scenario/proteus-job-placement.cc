/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-job-placement.h"

#include "ns3/proteus-enum-names.h"

#include <algorithm>
#include <map>
#include <random>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// A server and its free GPUs.
struct Server
{
    int32_t number{0};
    VertexId leaf{Cluster::NO_VERTEX}; //!< switch that its first NIC is plugged into
    std::vector<VertexId> free;        //!< ascending
    bool isWhole{true};                //!< whether all of its GPUs are free
};

/// Shuffles, the same way on all machines (std::shuffle() is not).
template <typename T>
void
Shuffle(std::vector<T>& values, std::mt19937_64& random)
{
    for (std::size_t i = values.size(); i > 1; --i)
    {
        std::swap(values[i - 1], values[random() % i]);
    }
}

/// Gives GPUs to jobs.
class Placer
{
  public:
    Placer(const Cluster& cluster, uint64_t seed)
        : m_cluster(cluster),
          m_random(seed),
          m_owners(cluster.GetVertices().size())
    {
    }

    /// @return the GPUs of a job whose place is a list
    std::vector<VertexId> TakeList(const PlacementRequest& request)
    {
        const auto& gpus = request.placement.gpus;
        if (gpus.size() != request.nDevices)
        {
            throw std::invalid_argument("placement of job '" + request.name + "': its list has " +
                                        std::to_string(gpus.size()) + " GPUs, and it needs " +
                                        std::to_string(request.nDevices));
        }
        for (const VertexId gpu : gpus)
        {
            if (!m_owners[gpu].empty())
            {
                throw std::invalid_argument("placement of job '" + request.name +
                                            "': " + m_cluster.GetVertices()[gpu].name +
                                            " belongs to job '" + m_owners[gpu] + "' already");
            }
            m_owners[gpu] = request.name;
        }
        return gpus;
    }

    /// @return the GPUs of another job
    std::vector<VertexId> Take(const PlacementRequest& request)
    {
        std::vector<Server> servers = ListServers(request.placement.servers);
        if (request.placement.kind != PlacementKind::PACKED)
        {
            servers.erase(std::remove_if(servers.begin(),
                                         servers.end(),
                                         [](const Server& server) { return !server.isWhole; }),
                          servers.end());
        }
        if (request.placement.kind == PlacementKind::SPREAD)
        {
            Spread(servers);
        }
        else if (request.placement.kind == PlacementKind::RANDOM)
        {
            Shuffle(servers, m_random);
        }
        std::vector<std::vector<VertexId>> taken; // by server
        uint32_t left = request.nDevices;
        for (Server& server : servers)
        {
            server.free.resize(std::min<std::size_t>(server.free.size(), left));
            left -= static_cast<uint32_t>(server.free.size());
            if (!server.free.empty())
            {
                taken.push_back(server.free);
            }
        }
        if (left > 0)
        {
            throw std::invalid_argument(
                "placement of job '" + request.name + "': it needs " +
                std::to_string(request.nDevices) + " GPUs, and only " +
                std::to_string(request.nDevices - left) +
                (request.placement.kind == PlacementKind::PACKED ? " are free"
                                                                 : " in whole servers are free") +
                (request.placement.servers.empty() ? "" : " in the servers that it may use"));
        }
        for (const auto& gpus : taken)
        {
            for (const VertexId gpu : gpus)
            {
                m_owners[gpu] = request.name;
            }
        }
        return Order(taken, request.placement.order);
    }

  private:
    /// @param only numbers of servers; empty: all @return them, in order, with what is free
    std::vector<Server> ListServers(const std::vector<int32_t>& only) const
    {
        std::map<int32_t, Server> byNumber;
        for (VertexId id = 0; id < m_cluster.GetVertices().size(); ++id)
        {
            const Vertex& vertex = m_cluster.GetVertices()[id];
            if (vertex.server < 0)
            {
                continue;
            }
            Server& server = byNumber[vertex.server];
            server.number = vertex.server;
            if (vertex.kind == VertexKind::GPU)
            {
                server.isWhole = server.isWhole && m_owners[id].empty();
                if (m_owners[id].empty())
                {
                    server.free.push_back(id);
                }
            }
            if (server.leaf == Cluster::NO_VERTEX)
            {
                server.leaf = FindLeaf(id);
            }
        }
        std::vector<Server> servers;
        for (const auto& [number, server] : byNumber)
        {
            if (only.empty() || std::find(only.begin(), only.end(), number) != only.end())
            {
                servers.push_back(server);
            }
        }
        return servers;
    }

    /// @return the network switch that a NIC or host is plugged into, or none
    VertexId FindLeaf(VertexId id) const
    {
        for (const Port& port : m_cluster.GetPorts(id))
        {
            if (m_cluster.GetVertices()[port.neighbor].kind == VertexKind::SWITCH)
            {
                return port.neighbor;
            }
        }
        return Cluster::NO_VERTEX;
    }

    /// Sorts servers so that those of different leaves take turns.
    static void Spread(std::vector<Server>& servers)
    {
        std::map<VertexId, uint32_t> seen; // of every leaf so far
        std::vector<std::pair<uint32_t, Server>> keyed;
        for (const Server& server : servers)
        {
            keyed.emplace_back(seen[server.leaf]++, server);
        }
        std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) {
            return a.first < b.first;
        });
        for (std::size_t i = 0; i < servers.size(); ++i)
        {
            servers[i] = keyed[i].second;
        }
    }

    /// @param taken GPUs by server @param order of the ranks @return GPUs by rank
    std::vector<VertexId> Order(const std::vector<std::vector<VertexId>>& taken, RankOrder order)
    {
        std::vector<VertexId> ranked;
        std::size_t most = 0;
        for (std::size_t s = 0; s < taken.size(); ++s)
        {
            const std::size_t shift = order == RankOrder::ROTATED ? s : 0;
            most = std::max(most, taken[s].size());
            for (std::size_t i = 0; i < taken[s].size(); ++i)
            {
                ranked.push_back(taken[s][(i + shift) % taken[s].size()]);
            }
        }
        if (order == RankOrder::ROUND_ROBIN)
        {
            ranked.clear();
            for (std::size_t i = 0; i < most; ++i)
            {
                for (const auto& gpus : taken)
                {
                    if (i < gpus.size())
                    {
                        ranked.push_back(gpus[i]);
                    }
                }
            }
        }
        else if (order == RankOrder::RANDOM)
        {
            Shuffle(ranked, m_random);
        }
        return ranked;
    }

    const Cluster& m_cluster;
    std::mt19937_64 m_random;
    std::vector<std::string> m_owners; //!< job by vertex; empty: free
};

constexpr EnumNames<PlacementKind, 4> PLACEMENTS{"placement",
                                                 {{PlacementKind::PACKED, "packed"},
                                                  {PlacementKind::SPREAD, "spread"},
                                                  {PlacementKind::RANDOM, "random"},
                                                  {PlacementKind::LIST, "list"}}};

constexpr EnumNames<RankOrder, 4> ORDERS{"order of ranks",
                                         {{RankOrder::RAIL_ALIGNED, "rail-aligned"},
                                          {RankOrder::ROTATED, "rotated"},
                                          {RankOrder::ROUND_ROBIN, "round-robin"},
                                          {RankOrder::RANDOM, "random"}}};

} // namespace

PlacementKind
PlacementKindFromString(const std::string& text)
{
    return PLACEMENTS.Parse(text);
}

RankOrder
RankOrderFromString(const std::string& text)
{
    return ORDERS.Parse(text);
}

std::vector<std::vector<VertexId>>
PlaceJobs(const Cluster& cluster, const std::vector<PlacementRequest>& requests, uint64_t seed)
{
    Placer placer(cluster, seed);
    std::vector<std::vector<VertexId>> places(requests.size());
    for (const bool hasList : {true, false})
    {
        for (std::size_t i = 0; i < requests.size(); ++i)
        {
            if ((requests[i].placement.kind == PlacementKind::LIST) == hasList)
            {
                places[i] = hasList ? placer.TakeList(requests[i]) : placer.Take(requests[i]);
            }
        }
    }
    return places;
}

} // namespace proteus
} // namespace ns3
