/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-peer-reach.h"

#include "proteus-algorithms.h"
#include "proteus-connection.h"
#include "proteus-nccl-variables.h"
#include "proteus-server-links.h"

#include "ns3/proteus-cluster-changes.h"
#include "ns3/proteus-nic-table.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param cluster any @return its GPUs by server, or domain of NVLink
std::vector<std::vector<VertexId>>
ListServers(const Cluster& cluster)
{
    std::vector<std::vector<VertexId>> servers;
    for (const auto& ranks : GroupByServer(cluster, cluster.GetGpus()))
    {
        servers.emplace_back();
        for (const uint32_t rank : ranks)
        {
            servers.back().push_back(cluster.GetGpus()[rank]);
        }
    }
    return servers;
}

/// @throw std::invalid_argument if a GPU of a server has no NIC, or two have NICs that do not reach
/// each other
void
CheckNics(const Cluster& cluster)
{
    const std::string variable = "NCCL_SHM_DISABLE=1: GPUs of a server would take its NICs, ";
    const Paths paths(cluster);
    const NicTable nics(cluster);
    for (const auto& gpus : ListServers(cluster))
    {
        const VertexId first = nics.Get(gpus.front(), 0);
        for (const VertexId gpu : gpus)
        {
            const VertexId own = nics.Get(gpu, 0);
            if (own == Cluster::NO_VERTEX)
            {
                throw std::invalid_argument(variable + "and '" + cluster.GetVertices()[gpu].name +
                                            "' has none");
            }
            if (own != first &&
                (!HasNetwork(cluster, own) || paths.Distance(first, own) == Paths::UNREACHABLE))
            {
                throw std::invalid_argument(variable + "which no network joins; two servers and "
                                                       "more have one");
            }
        }
    }
}

} // namespace

bool
UsesHostMemory(const std::string& variables)
{
    const auto settings = SplitNcclVariables(variables);
    return std::none_of(settings.begin(), settings.end(), [](const auto& setting) {
        return setting.first == "NCCL_SHM_DISABLE" && ReadNcclNumber(setting.second, 0, 1) == 1;
    });
}

PeerReach
FindPeerReach(const TransportRules& rules, const Cluster& cluster, const Paths& paths)
{
    bool reaches = false;
    bool lacks = false;
    for (const auto& gpus : ListServers(cluster))
    {
        const auto relays = FindRelays(cluster, gpus);
        for (std::size_t i = 0; i < gpus.size(); ++i)
        {
            for (std::size_t j = 0; j < i; ++j)
            {
                const bool isJoined = rules.peerToPeer &&
                                      ((rules.HasRelays() && relays[i][j] != NO_RANK) ||
                                       !CrossesHostMemory(cluster, paths, gpus[i], gpus[j], rules));
                (isJoined ? reaches : lacks) = true;
            }
        }
    }
    return !lacks ? PeerReach::ALL : reaches ? PeerReach::SOME : PeerReach::NONE;
}

Cluster
WithoutHostMemory(const TransportRules& rules, const Cluster& cluster)
{
    const PeerReach reach = FindPeerReach(rules, cluster, Paths(cluster));
    if (reach == PeerReach::ALL)
    {
        return cluster;
    }
    CheckNics(cluster);
    if (reach == PeerReach::NONE)
    {
        return SeparateGpus(cluster);
    }
    const Cluster divided = DivideAtCpus(cluster);
    if (FindPeerReach(rules, divided, Paths(divided)) != PeerReach::ALL)
    {
        throw std::invalid_argument(
            "NCCL_SHM_DISABLE=1: some GPUs of a server reach each other and others do not, which "
            "would be several servers to NCCL; that is honoured where all those of each CPU do "
            "(NCCL_P2P_LEVEL=PHB), or none (NCCL_P2P_DISABLE=1)");
    }
    return divided;
}

} // namespace proteus
} // namespace ns3
