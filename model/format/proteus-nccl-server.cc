/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nccl-server.h"

#include "ns3/proteus-fabric-kind.h"
#include "ns3/proteus-server-preset.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

std::size_t
NcclServer::Add(NcclDevice device)
{
    m_devices.push_back(std::move(device));
    m_isLeftOut.push_back(false);
    return m_devices.size() - 1;
}

bool
NcclServer::HasLink(LinkTechnology technology) const
{
    return std::any_of(m_links.begin(), m_links.end(), [technology](const NcclLink& link) {
        return link.technology == technology;
    });
}

uint32_t
NcclServer::CountWithoutRdma() const
{
    return static_cast<uint32_t>(
        std::count_if(m_devices.begin(), m_devices.end(), [](const auto& device) {
            return device.lacksRdma;
        }));
}

uint32_t
NcclServer::CountLeftOut() const
{
    return static_cast<uint32_t>(std::count(m_isLeftOut.begin(), m_isLeftOut.end(), true));
}

void
NcclServer::SetPeers(const std::string& told)
{
    const std::size_t gpus = InOrder(VertexKind::GPU).size();
    for (NcclDevice& device : m_devices)
    {
        Vertex& vertex = device.vertex;
        if (vertex.kind == VertexKind::CPU)
        {
            vertex.peerToPeer = told == "on" || device.joinsGpus ||
                                (vertex.model == ToString(CpuVendor::AMD) && gpus <= 2);
            vertex.gpuDirectRdma = vertex.peerToPeer;
            vertex.peerToPeer = vertex.peerToPeer && told != "off";
            // What a CPU forwards from one device to another says nothing of its memory.
            vertex.forwardBytesPerSecond = vertex.peerToPeer ? vertex.forwardBytesPerSecond : 0;
        }
    }
}

void
NcclServer::LeaveOutSlowNics()
{
    const NcclDevice* best = nullptr;
    for (const NcclDevice& device : m_devices)
    {
        if (device.vertex.kind == VertexKind::NIC &&
            (best == nullptr || device.networkBytesPerSecond > best->networkBytesPerSecond))
        {
            best = &device;
        }
    }
    for (std::size_t i = 0; i < m_devices.size(); ++i)
    {
        m_isLeftOut[i] = m_devices[i].vertex.kind == VertexKind::NIC &&
                         (m_devices[i].networkBytesPerSecond < best->networkBytesPerSecond ||
                          m_devices[i].network != best->network);
    }
}

std::vector<std::size_t>
NcclServer::InOrder(VertexKind kind) const
{
    std::vector<std::size_t> positions;
    for (std::size_t i = 0; i < m_devices.size(); ++i)
    {
        if (m_devices[i].vertex.kind == kind && !m_isLeftOut[i])
        {
            positions.push_back(i);
        }
    }
    std::stable_sort(positions.begin(), positions.end(), [this](auto x, auto y) {
        return m_devices[x].dev < m_devices[y].dev;
    });
    return positions;
}

std::vector<VertexId>
NcclServer::AddCopy(Cluster& cluster, uint32_t server) const
{
    std::vector<VertexId> nics;
    std::vector<VertexId> vertexOf(m_devices.size(), Cluster::NO_VERTEX);
    for (const VertexKind kind : {VertexKind::GPU,
                                  VertexKind::NVSWITCH,
                                  VertexKind::PCIE_SWITCH,
                                  VertexKind::CPU,
                                  VertexKind::NIC})
    {
        uint32_t index = 0;
        for (const std::size_t position : InOrder(kind))
        {
            Vertex vertex = m_devices[position].vertex;
            const std::string stem = kind == VertexKind::PCIE_SWITCH ? "pcie" : ToString(kind);
            vertex.name = "n" + std::to_string(server) + "." + stem + std::to_string(index++);
            vertex.server = static_cast<int32_t>(server);
            vertexOf[position] = cluster.AddVertex(vertex);
            if (kind == VertexKind::NIC)
            {
                nics.push_back(vertexOf[position]);
            }
        }
    }
    for (const NcclLink& link : m_links)
    {
        if (!m_isLeftOut[link.a] && !m_isLeftOut[link.b])
        {
            AddDefaultLink(cluster,
                           vertexOf[link.a],
                           vertexOf[link.b],
                           link.technology,
                           link.bytesPerSecond,
                           link.generation);
        }
    }
    return nics;
}

Cluster
NcclServer::Build(const std::string& name, uint32_t servers, const FabricOptions& fabric) const
{
    Cluster cluster(std::to_string(servers) + " x " + name +
                    (servers > 1 ? ", " + fabric.kind : ""));
    FabricPlugs plugs;
    for (uint32_t server = 0; server < servers; ++server)
    {
        plugs.servers.push_back(AddCopy(cluster, server));
        if (server == 0)
        {
            CheckServersFit(cluster, servers, plugs.servers.front().size(), fabric.kind);
        }
    }
    if (servers > 1)
    {
        if (plugs.servers.front().empty())
        {
            throw std::invalid_argument("there is no NIC to join several servers by");
        }
        const NcclDevice& nic = m_devices[InOrder(VertexKind::NIC).back()]; // all are alike
        plugs.trunk.technology = nic.network;
        plugs.trunk.bytesPerSecond = nic.networkBytesPerSecond;
        plugs.trunk.delayPs = DefaultDelayPs(nic.network);
        plugs.trunk.cost = DefaultCost(nic.network);
        plugs.trunk.framing = DefaultFraming(nic.network);
        plugs.access = plugs.trunk;
        plugs.access.framing = NicFraming(nic.network, nic.networkBytesPerSecond);
        JoinByFabric(cluster, plugs, fabric);
    }
    cluster.Validate();
    return cluster;
}

} // namespace proteus
} // namespace ns3
