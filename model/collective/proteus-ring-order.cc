/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithms.h"
#include "proteus-ring-search.h"

#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-nic-table.h"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr uint32_t DEFAULT_CAPABILITY = 80; // of GPUs of unknown models

/// @param cluster with the GPUs @param paths of it @param gpus of one server
/// @param hasNetwork whether rings go on to other servers @param rules of transports
/// @return positions of the GPUs, by channel, in the order of the ring
std::vector<std::vector<uint32_t>>
FindOrders(const Cluster& cluster,
           const Paths& paths,
           const std::vector<VertexId>& gpus,
           bool hasNetwork,
           const TransportRules& rules)
{
    const uint32_t known = FindComputeCapability(cluster.GetVertices()[gpus.front()].model);
    const uint32_t capability = known > 0 ? known : DEFAULT_CAPABILITY;
    const ServerLinks
        links(cluster, paths, gpus, hasNetwork, capability, FindCpuVendor(cluster, gpus), rules);
    return SearchRings(links, !hasNetwork, capability).orders;
}

} // namespace

std::vector<std::vector<uint32_t>>
GroupByServer(const Cluster& cluster, const std::vector<VertexId>& vertices)
{
    std::vector<int32_t> servers;
    std::vector<std::vector<uint32_t>> members;
    for (uint32_t rank = 0; rank < vertices.size(); ++rank)
    {
        const int32_t server = cluster.GetDomain(vertices[rank]);
        const auto found = std::find(servers.begin(), servers.end(), server);
        members.resize(std::max<std::size_t>(members.size(), found - servers.begin() + 1));
        members[found - servers.begin()].push_back(rank);
        if (found == servers.end())
        {
            servers.push_back(server);
        }
    }
    return members;
}

std::size_t
CountLeastRanks(const std::vector<std::vector<uint32_t>>& servers)
{
    std::size_t least = servers.front().size();
    for (const auto& server : servers)
    {
        least = std::min(least, server.size());
    }
    return least;
}

std::vector<std::vector<uint32_t>>
GroupEvenlyByServer(const Cluster& cluster,
                    const CollectiveRequest& request,
                    const std::string& algorithm)
{
    auto members = GroupByServer(cluster, request.vertices);
    for (const auto& server : members)
    {
        if (server.size() != members.front().size())
        {
            throw std::invalid_argument(
                std::string(ToString(request.collective)) + ": algorithm " + algorithm +
                " needs equally many ranks in every server; there are " +
                std::to_string(members.front().size()) + " and " + std::to_string(server.size()));
        }
    }
    return members;
}

ServerChains
MakeServerChains(const Cluster& cluster,
                 const Paths& paths,
                 const std::vector<VertexId>& vertices,
                 uint32_t channels,
                 const TransportRules& rules)
{
    const auto servers = GroupByServer(cluster, vertices);
    const bool hasNetwork =
        servers.size() > 1 && cluster.GetNic(vertices.front()) != Cluster::NO_VERTEX;
    // Servers are alike if the same GPUs of them take part.
    std::map<std::vector<uint32_t>, std::vector<std::vector<uint32_t>>> known;
    ServerChains chains(channels);
    for (std::size_t s = 0; s < servers.size(); ++s)
    {
        std::vector<VertexId> gpus;
        std::vector<uint32_t> places;
        for (const uint32_t rank : servers[s])
        {
            gpus.push_back(vertices[rank]);
            places.push_back(cluster.GetVertices()[vertices[rank]].index);
        }
        auto& found = known[places];
        if (found.empty())
        {
            found = FindOrders(cluster, paths, gpus, hasNetwork, rules);
        }
        if (chains.empty())
        {
            chains.resize(found.size() * (servers.size() > 1 ? 1 : 2));
        }
        for (std::size_t channel = 0; channel < chains.size(); ++channel)
        {
            std::vector<uint32_t> chain;
            for (const uint32_t position : found[channel % found.size()])
            {
                chain.push_back(servers[s][position]);
            }
            chains[channel].push_back(std::move(chain));
        }
    }
    return chains;
}

std::vector<std::vector<uint32_t>>
MakeRingOrders(const Cluster& cluster,
               const Paths& paths,
               const std::vector<VertexId>& vertices,
               uint32_t channels,
               const TransportRules& rules)
{
    const NicTable nics(cluster, rules.pxn);
    const ServerChains chains = MakeServerChains(cluster, paths, vertices, channels, rules);
    std::vector<std::vector<uint32_t>> orders(chains.size());
    for (std::size_t channel = 0; channel < chains.size(); ++channel)
    {
        const auto hasRelay = [&](const std::vector<uint32_t>& chain) {
            const VertexId gpu = vertices[chain.back()];
            const VertexId nic = nics.Get(gpu, static_cast<uint32_t>(channel));
            return nic != Cluster::NO_VERTEX && nics.FindRelay(gpu, nic) != Cluster::NO_VERTEX;
        };
        // Odd servers turn, so that a ring that leaves by another NIC meets that NIC's rail again
        // (v2.30.7, src/graph/connect.cc, crossNicRing of 2 only).
        const bool turns = rules.crossNic != CrossNic::ALWAYS &&
                           !std::any_of(chains[channel].begin(), chains[channel].end(), hasRelay);
        for (std::size_t s = 0; s < chains[channel].size(); ++s)
        {
            std::vector<uint32_t> way = chains[channel][s];
            if (s % 2 == 1 && turns)
            {
                std::reverse(way.begin(), way.end());
            }
            orders[channel].insert(orders[channel].end(), way.begin(), way.end());
        }
    }
    return orders;
}

} // namespace proteus
} // namespace ns3
