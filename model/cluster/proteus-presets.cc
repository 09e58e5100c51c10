/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric-kind.h"
#include "proteus-gpu-model.h"
#include "proteus-pcie-stores.h"
#include "proteus-server-preset.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-nearest-name.h"

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return all server presets
const std::vector<ServerPreset>&
ServerPresets()
{
    static const std::vector<ServerPreset> presets{
        MakeDgx1V100(),   MakeDgx2(),       MakeDgxA100(),    MakeHgxA800(),    MakeDgxH100(),
        MakeHgxH800(),    MakeDgxH200(),    MakeHgxB200(),    MakeHgxB300(),    MakeGb200Nvl72(),
        MakeGb300Nvl72(), MakeHgxA100Of4(), MakeQuadA100(),   MakeHgxH100Of4(), MakeHgxH200Of4(),
        MakeQuadGh200(),  MakeDgxSpark(),   MakePcieV100x4(), MakePcieV100x8(), MakeTitanXpPcie()};
    return presets;
}

/// @param entries of a table @return their names
template <typename T>
std::vector<std::string>
Names(const std::vector<T>& entries)
{
    std::vector<std::string> names;
    for (const T& entry : entries)
    {
        names.push_back(entry.name);
    }
    return names;
}

/**
 * @param what the table lists, for the message
 * @param entries of a table
 * @param name to find
 * @return the entry
 */
template <typename T>
const T&
Find(const std::string& what, const std::vector<T>& entries, const std::string& name)
{
    std::string known;
    for (const T& entry : entries)
    {
        if (entry.name == name)
        {
            return entry;
        }
        AppendName(known, entry.name);
    }
    throw std::invalid_argument("unknown " + what + " '" + name + "'; known: " + known);
}

} // namespace

void
CheckServersFit(const Cluster& cluster, uint32_t servers, uint64_t nics, const std::string& fabric)
{
    constexpr uint64_t MOST_LINKS = 10000000;
    const uint64_t nLinks = cluster.GetLinks().size();
    if (nLinks * servers > MOST_LINKS)
    {
        throw std::invalid_argument(std::to_string(servers) + " servers with " +
                                    std::to_string(nLinks) + " links each are more than " +
                                    std::to_string(MOST_LINKS) + " links; ask for fewer");
    }
    if (servers > 1)
    {
        CheckPlugs(fabric, servers * nics);
    }
}

double
PcieX16BytesPerSecond(uint32_t generation)
{
    if (generation < 3 || generation > 6)
    {
        throw std::invalid_argument("PCI Express generation " + std::to_string(generation) +
                                    " is not one of 3, 4, 5, 6");
    }
    const double transfersPerSecond = 8e9 * (1u << (generation - 3));
    const double code = generation < 6 ? 128.0 / 130 : 242.0 / 256;
    return std::round(transfersPerSecond * 16 / 8 * code);
}

Vertex
MakeGpu(const std::string& model)
{
    Vertex gpu;
    gpu.kind = VertexKind::GPU;
    gpu.model = model;
    if (const GpuModel* known = Registry<GpuModel>::Get().Find(model))
    {
        gpu.memoryBytesPerSecond = known->sheet.memoryBytesPerSecond;
        gpu.copyEngines = known->copyEngines;
        gpu.smCopyBytesPerSecond = known->smCopyBytesPerSecond;
    }
    return gpu;
}

Vertex
MakeNvSwitch(uint32_t nvlinkGeneration)
{
    Vertex nvswitch;
    nvswitch.kind = VertexKind::NVSWITCH;
    nvswitch.multicast = nvlinkGeneration >= 4;
    nvswitch.reduction = nvswitch.multicast;
    return nvswitch;
}

Vertex
MakeCpu(double forwardBytesPerSecond, bool peerToPeer, CpuVendor vendor)
{
    Vertex cpu;
    cpu.model = ToString(vendor);
    cpu.kind = VertexKind::CPU;
    cpu.forwardBytesPerSecond = forwardBytesPerSecond;
    cpu.peerToPeer = peerToPeer;
    cpu.gpuDirectRdma = peerToPeer;
    return cpu;
}

double
IntelForwardBytesPerSecond(uint32_t generation)
{
    return 12e9 / 6 * 5 * (1u << (generation - 3));
}

std::vector<VertexId>
AddServerVertices(Cluster& cluster, uint32_t server, const Vertex& like, uint32_t count)
{
    const std::string stem = like.kind == VertexKind::PCIE_SWITCH ? "pcie" : ToString(like.kind);
    std::vector<VertexId> ids;
    for (uint32_t i = 0; i < count; ++i)
    {
        Vertex vertex = like;
        vertex.name = "n" + std::to_string(server) + "." + stem + std::to_string(i);
        vertex.server = static_cast<int32_t>(server);
        ids.push_back(cluster.AddVertex(vertex));
    }
    return ids;
}

std::vector<VertexId>
AddServerVertices(Cluster& cluster, uint32_t server, VertexKind kind, uint32_t count)
{
    Vertex vertex;
    vertex.kind = kind;
    return AddServerVertices(cluster, server, vertex, count);
}

LinkFraming
DefaultFraming(LinkTechnology technology, uint32_t generation, const Vertex& a, const Vertex& b)
{
    LinkFraming framing = DefaultFraming(technology, generation);
    for (const Vertex* end : {&a, &b})
    {
        const bool isGpu = technology == LinkTechnology::PCIE && end->kind == VertexKind::GPU;
        const GpuModel* gpu = isGpu ? MatchGpuModel(end->model) : nullptr;
        // Longer packets are not filled by stores anyway.
        if (gpu && gpu->reachesPeersAsMemory && framing.packetBytes <= PCIE_STORE_BYTES)
        {
            framing.smPacketHeaderBytes = 0;
            framing.smReverseBytes = 0;
        }
    }
    return framing;
}

void
AddDefaultLink(Cluster& cluster,
               VertexId a,
               VertexId b,
               LinkTechnology technology,
               double bytesPerSecond,
               uint32_t generation)
{
    Link link;
    link.a = a;
    link.b = b;
    link.technology = technology;
    link.bytesPerSecond = bytesPerSecond;
    link.delayPs = DefaultDelayPs(technology);
    const auto& vertices = cluster.GetVertices();
    link.framing = DefaultFraming(technology, generation, vertices.at(a), vertices.at(b));
    link.cost = DefaultCost(technology);
    cluster.AddLink(link);
}

void
AddPcieLink(Cluster& cluster, VertexId a, VertexId b, uint32_t generation)
{
    AddDefaultLink(cluster,
                   a,
                   b,
                   LinkTechnology::PCIE,
                   PcieX16BytesPerSecond(generation),
                   generation);
}

std::vector<std::string>
GetServerPresets()
{
    return Names(ServerPresets());
}

std::string
FindServerPreset(const std::string& name)
{
    const std::string own = FindAlias(name, GetServerPresets());
    if (!own.empty())
    {
        return own;
    }
    for (const ServerPreset& preset : ServerPresets())
    {
        if (!FindAlias(name, preset.otherNames).empty())
        {
            return preset.name;
        }
    }
    return FindCardServer(name);
}

ServerPreset
GetServerPreset(const std::string& name)
{
    const std::string card = FindCardServer(name);
    return card.empty() ? Find("server preset", ServerPresets(), name) : MakeCardServer(card);
}

Cluster
MakeCluster(const std::string& preset, uint32_t servers, const FabricOptions& fabric)
{
    return MakeCluster(GetServerPreset(preset), servers, fabric);
}

Cluster
MakeCluster(const ServerPreset& preset, uint32_t servers, const FabricOptions& fabric)
{
    GetFabricOptionFields(fabric.kind); // for one server, too, it must be there
    if (servers < 1 || servers > MAX_SERVERS)
    {
        throw std::invalid_argument("the number of servers must be 1 to " +
                                    std::to_string(MAX_SERVERS) + ", is " +
                                    std::to_string(servers));
    }
    Cluster cluster(std::to_string(servers) + " x " + preset.name +
                    (servers > 1 ? ", " + fabric.kind : ""));
    FabricPlugs plugs;
    for (uint32_t server = 0; server < servers; ++server)
    {
        plugs.servers.push_back(preset.build(cluster, server));
        if (server == 0)
        {
            CheckServersFit(cluster, servers, plugs.servers.front().size(), fabric.kind);
        }
    }
    if (servers > 1)
    {
        plugs.trunk.technology = preset.networkTechnology;
        plugs.trunk.bytesPerSecond = preset.nicBytesPerSecond;
        plugs.trunk.delayPs = DefaultDelayPs(preset.networkTechnology);
        plugs.trunk.framing = DefaultFraming(preset.networkTechnology);
        plugs.trunk.cost = DefaultCost(preset.networkTechnology);
        plugs.access = plugs.trunk;
        plugs.access.framing = NicFraming(preset.networkTechnology, preset.nicBytesPerSecond);
        JoinByFabric(cluster, plugs, fabric);
    }
    cluster.Validate();
    return cluster;
}

} // namespace proteus
} // namespace ns3
