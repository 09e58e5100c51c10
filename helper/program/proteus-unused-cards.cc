/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-unused-cards.h"

#include "proteus-name-lists.h"
#include "proteus-same-choices.h"
#include "proteus-unused-choices.h"

#include "ns3/proteus-cluster-text.h"
#include "ns3/proteus-memory-limit.h"
#include "ns3/proteus-nearest-name.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param typed what was typed, a short form of a cluster @param key of it, to leave away
/// @param servers how many there are @return the cluster without it
Cluster
MakeWithout(const TypedNetwork& typed, const std::string& key, uint32_t servers)
{
    const std::string name = FindClusterName(FindTyped(typed.configuration, "cluster"));
    std::string text = GetTextPreset(name) + ":nodes=" + std::to_string(servers);
    for (const auto& [other, value] : ListClusterSettings(typed.configuration))
    {
        if (other != key && !IsSameName(other, "nodes"))
        {
            text += "," + other + "=" + value;
        }
    }
    return MakeTextCluster(text, servers, typed.fabric);
}

/// @param a a cluster @param b one of the same vertices @return whether their CPUs are the same
bool
HasSameCpus(const Cluster& a, const Cluster& b)
{
    return std::equal(a.GetVertices().begin(),
                      a.GetVertices().end(),
                      b.GetVertices().begin(),
                      b.GetVertices().end(),
                      [](const Vertex& x, const Vertex& y) {
                          return x.model == y.model && x.peerToPeer == y.peerToPeer &&
                                 x.gpuDirectRdma == y.gpuDirectRdma &&
                                 x.memoryBytesPerSecond == y.memoryBytesPerSecond;
                      });
}

/// @param cluster that a job ran on @return whether no memory of a CPU can be slower than its links
bool
HasFastMemories(const Cluster& cluster)
{
    const auto& vertices = cluster.GetVertices();
    for (VertexId id = 0; id < vertices.size(); ++id)
    {
        if (vertices[id].kind == VertexKind::CPU && CanLimitLinks(cluster, id))
        {
            return false;
        }
    }
    return true;
}

} // namespace

std::vector<std::string>
FindUnusedCards(const TypedNetwork& typed,
                const ExecutorTraits& traits,
                const ExecutorSettings& settings,
                const Cluster& cluster,
                const ExecutionGraph& graph)
{
    std::vector<std::string> lines;
    if (!Honours(traits, "Algorithm") || typed.scenario)
    {
        return lines;
    }
    const std::vector<std::string> ofCpus{"p2p", "memory", "cpu"};
    for (const auto& [key, value] : ListClusterSettings(typed.configuration))
    {
        if (FindAlias(key, ofCpus).empty())
        {
            continue;
        }
        try
        {
            const Cluster without =
                MakeWithout(typed, key, static_cast<uint32_t>(cluster.GetNServers()));
            // What is the default is what there is.
            if (HasSameCpus(cluster, without))
            {
                continue;
            }
            const std::string setting = "--cluster=" + FindTyped(typed.configuration, "cluster") +
                                        ": " + key + "=" + value + " has no effect: ";
            if (CommunicateAlike(graph, cluster, without, settings.collectives))
            {
                lines.push_back(setting + "GPUs communicate alike without it");
            }
            // Packets pass a memory one after the other, however fast it is.
            else if (IsSameName(key, "memory") && !traits.hasPackets && HasFastMemories(cluster))
            {
                lines.push_back(setting + "the links of each CPU carry less than its memory");
            }
        }
        catch (const std::invalid_argument&) // other keys need it
        {
        }
    }
    return lines;
}

} // namespace proteus
} // namespace ns3
