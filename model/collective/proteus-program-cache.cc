/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-program-cache.h"

#include "proteus-net-plugin.h"
#include "proteus-peer-reach.h"

#include "ns3/proteus-server-hosts.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return by server, its lowest vertex
std::vector<VertexId>
FindFirstVertices(const Cluster& cluster)
{
    std::vector<VertexId> first(cluster.GetNServers(), Cluster::NO_VERTEX);
    for (VertexId id = 0; id < cluster.GetVertices().size(); ++id)
    {
        const int32_t server = cluster.GetVertices()[id].server;
        if (server >= 0)
        {
            first[server] = std::min(first[server], id);
        }
    }
    return first;
}

/// Writes what sets a link apart for whoever sends over it.
void
Describe(const Link& link, std::ostream& out)
{
    out << ToString(link.technology) << ' ' << link.bytesPerSecond << ' ' << link.delayPs << ' '
        << link.cost << ' ' << link.framing.unitBytes << ' ' << link.framing.packetBytes << ' '
        << link.framing.packetHeaderBytes << ' ' << link.framing.unitHeaderBytes << ' ';
}

/// Of one transfer of a copy engine or a NIC.
constexpr uint64_t MOST_TRANSFER_BYTES = 1 << 30;

/// @param cluster of the ranks @param request of a program @return whether it is a message that no
/// kernel moves
bool
IsWithoutKernel(const Cluster& cluster, const CollectiveRequest& request)
{
    return request.collective == Collective::SEND_RECV &&
           MovesWithoutKernel(cluster, request.vertices.front(), request.vertices.back());
}

} // namespace

std::vector<uint32_t>
FindServerKinds(const Cluster& cluster)
{
    const auto first = FindFirstVertices(cluster);
    std::vector<std::ostringstream> texts(cluster.GetNServers());
    for (VertexId id = 0; id < cluster.GetVertices().size(); ++id)
    {
        const Vertex& vertex = cluster.GetVertices()[id];
        if (vertex.server < 0)
        {
            continue;
        }
        auto& text = texts[vertex.server];
        text << 'v' << id - first[vertex.server] << ' ' << ToString(vertex.kind) << ' '
             << vertex.model << ' ' << vertex.memoryBytesPerSecond << ' ' << vertex.copyEngines
             << ' ' << vertex.copyEngineBytesPerSecond << ' ' << vertex.smCopyBytesPerSecond << ' '
             << vertex.forwardBytesPerSecond << ' ' << vertex.peerToPeer << vertex.gpuDirectRdma
             << vertex.multicast << vertex.reduction << '\n';
        for (const Port& port : cluster.GetPorts(id))
        {
            // Where it leads: a vertex of the server by its place, anything else by its kind.
            const Vertex& neighbor = cluster.GetVertices()[port.neighbor];
            const bool inside = neighbor.server == vertex.server;
            text << (inside ? static_cast<int64_t>(port.neighbor) - first[vertex.server] : -1)
                 << ToString(neighbor.kind) << ' ';
            Describe(cluster.GetLinks()[port.link], text);
        }
    }
    std::map<std::string, uint32_t> numbers;
    std::vector<uint32_t> kinds;
    for (const auto& text : texts)
    {
        kinds.push_back(
            numbers.emplace(text.str(), static_cast<uint32_t>(numbers.size())).first->second);
    }
    return kinds;
}

CollectivePreferences
MakePreferences(const ProgramSettings& settings)
{
    CollectivePreferences preferences;
    preferences.protocol = settings.protocol;
    preferences.networkChannels = settings.networkChannels;
    preferences.communicatorRanks = settings.communicatorRanks;
    preferences.communicatorServers = settings.communicatorServers;
    preferences.communicatorChannels = settings.communicatorChannels;
    preferences.ncclVersion = settings.ncclVersion;
    preferences.cpuVendor = settings.cpuVendor;
    preferences.netPlugin = settings.netPlugin;
    preferences.variables =
        GetNcclVariables(settings.netPlugin, settings.ncclVariables, settings.ncclVersion);
    return preferences;
}

ProgramCache::ProgramCache(const ExecutionGraph& graph,
                           const Cluster& cluster,
                           const Paths& paths,
                           const ProgramSettings& settings)
    : m_graph(graph),
      m_cluster(cluster),
      m_paths(paths),
      m_settings(settings),
      m_chooser(cluster, paths, MakePreferences(settings)),
      m_serverKinds(FindServerKinds(cluster)),
      m_firstOfServer(FindFirstVertices(cluster)),
      m_shapeOf(graph.GetGroups().size(), NO_ID)
{
    if (!UsesHostMemory(settings.ncclVariables) &&
        FindPeerReach(MakeTransportRules(MakePreferences(settings)), cluster, paths) !=
            PeerReach::ALL)
    {
        throw std::invalid_argument("NCCL_SHM_DISABLE=1: GPUs of a server take the network; the "
                                    "cluster has to say it, as WithoutHostMemory() does");
    }
}

uint32_t
ProgramCache::FindShape(GroupId group)
{
    if (m_shapeOf[group] == NO_ID)
    {
        std::vector<uint32_t> shape;
        std::map<int32_t, uint32_t> servers; // in the order in which they appear
        std::map<int64_t, uint32_t> domains; // the same
        for (DeviceId device : m_graph.GetGroup(group))
        {
            const VertexId vertex = m_cluster.GetGpus()[device];
            const int32_t server = m_cluster.GetVertices()[vertex].server;
            shape.push_back(
                servers.emplace(server, static_cast<uint32_t>(servers.size())).first->second);
            shape.push_back(
                domains.emplace(m_cluster.GetDomain(vertex), static_cast<uint32_t>(domains.size()))
                    .first->second);
            shape.push_back(m_serverKinds[server]);
            shape.push_back(vertex - m_firstOfServer[server]);
        }
        m_shapeOf[group] =
            m_shapes.emplace(std::move(shape), static_cast<uint32_t>(m_shapes.size()))
                .first->second;
    }
    return m_shapeOf[group];
}

ProgramCache::Key
ProgramCache::GetKey(TaskId id)
{
    const Task& task = m_graph.GetTask(id);
    return {task.collective, task.bytes, task.root, FindShape(task.place)};
}

CollectiveRequest
ProgramCache::MakeRequest(TaskId id) const
{
    const Task& task = m_graph.GetTask(id);
    CollectiveRequest request;
    request.collective = task.collective;
    request.bytes = task.bytes;
    request.root = task.root;
    for (DeviceId device : m_graph.GetGroup(task.place))
    {
        request.vertices.push_back(m_cluster.GetGpus()[device]);
    }
    const auto algorithms = GetAlgorithms(request.collective);
    const bool exists =
        std::find(algorithms.begin(), algorithms.end(), m_settings.algorithm) != algorithms.end();
    request.algorithm = exists ? m_settings.algorithm : "";
    m_chooser.Complete(request);
    request.channels = m_settings.channels > 0 ? m_settings.channels : request.channels;
    request.chunkBytes = m_settings.chunkBytes > 0 ? m_settings.chunkBytes : request.chunkBytes;
    if (IsWithoutKernel(m_cluster, request))
    {
        // One transfer: nothing of NCCL cuts it.
        request.channels = 1;
        request.chunkBytes = std::clamp<uint64_t>(request.bytes, 1, MOST_TRANSFER_BYTES);
    }
    return request;
}

std::vector<TaskId>
ProgramCache::ListDistinct()
{
    std::set<Key> known;
    std::vector<TaskId> tasks;
    for (TaskId id = 0; id < m_graph.GetNTasks(); ++id)
    {
        if (m_graph.GetTask(id).kind == TaskKind::COMMUNICATION && known.insert(GetKey(id)).second)
        {
            tasks.push_back(id);
        }
    }
    return tasks;
}

CollectiveProgram
ProgramCache::Make(const CollectiveRequest& request) const
{
    CollectiveProgram program =
        m_settings.maker ? m_settings.maker(request) : MakeProgram(m_cluster, m_paths, request);
    if (program.ranks.size() != request.vertices.size())
    {
        throw std::invalid_argument(
            "SetProgramMaker(): " + std::string(ToString(request.collective)) + " of " +
            std::to_string(request.vertices.size()) +
            " ranks: the program is for another number of ranks, " +
            std::to_string(program.ranks.size()));
    }
    if (IsWithoutKernel(m_cluster, request))
    {
        for (RankProgram& rank : program.ranks)
        {
            for (ThreadBlock& block : rank.blocks)
            {
                block.processor = NO_PROCESSOR;
            }
        }
    }
    return program;
}

std::shared_ptr<const CollectiveProgram>
ProgramCache::Get(TaskId task)
{
    auto& program = m_programs[GetKey(task)];
    if (!program)
    {
        program = std::make_shared<CollectiveProgram>(Make(MakeRequest(task)));
    }
    return program;
}

std::shared_ptr<const CollectiveProgram>
ProgramCache::Find(TaskId task)
{
    const auto place = m_programs.find(GetKey(task));
    return place == m_programs.end() ? nullptr : place->second;
}

} // namespace proteus
} // namespace ns3
