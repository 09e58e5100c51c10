/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-shared-buffers.h"

#include <cmath>
#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

void
SharedBuffers::SetUp(const BufferSettings& settings)
{
    m_settings = &settings;
    m_losslessClasses = 0;
    for (uint32_t c : ParseNumbers("PfcClasses", settings.pfcClasses, MAX_TRAFFIC_CLASSES - 1))
    {
        m_losslessClasses |= settings.pfc ? 1u << c : 0;
    }
}

uint64_t
SharedBuffers::GetTotalBytes(const Vertex& vertex) const
{
    return vertex.bufferBytes > 0              ? vertex.bufferBytes
           : vertex.kind == VertexKind::SWITCH ? m_settings->switchBytes
                                               : m_settings->nicBytes;
}

void
SharedBuffers::Build(const Cluster& cluster, PortTable& ports)
{
    const auto& vertices = cluster.GetVertices();
    const auto& links = cluster.GetLinks();
    std::vector<uint32_t> bufferAt(vertices.size(), 0);
    for (VertexId vertex = 0; vertex < vertices.size(); ++vertex)
    {
        const VertexKind kind = vertices[vertex].kind;
        if (kind != VertexKind::SWITCH && kind != VertexKind::NIC)
        {
            continue;
        }
        uint64_t reserved = 0;
        bool ethernet = false;
        for (const Port& out : cluster.GetPorts(vertex))
        {
            const Link& link = links[out.link];
            if (link.technology != LinkTechnology::ROCE)
            {
                continue;
            }
            ethernet = true;
            PortState& in = ports[2 * out.link + (link.a == vertex ? 1 : 0)];
            in.headroomBytes =
                m_settings->headroomBytes > 0
                    ? m_settings->headroomBytes
                    : static_cast<uint32_t>(std::ceil(2 * static_cast<double>(in.delayPs) *
                                                      (link.bytesPerSecond / 1e12))) +
                          2 * (in.fullWire[0] + in.controlWire);
            for (uint32_t c = 0; c < ports.GetNClasses(); ++c)
            {
                reserved += IsLossless(c) ? m_settings->reserveBytes + in.headroomBytes : 0;
            }
        }
        if (!ethernet)
        {
            continue;
        }
        const uint64_t total = GetTotalBytes(vertices[vertex]);
        if (reserved >= total)
        {
            throw std::invalid_argument(
                "the buffer of " + vertices[vertex].name + ", " + std::to_string(total) +
                " bytes, is smaller than the reserve and headroom of its ports and lossless "
                "classes, " +
                std::to_string(reserved) +
                " bytes; raise ns3::proteus::Fabric::SwitchBuffer or NicBuffer, or lower Headroom "
                "or PfcClasses");
        }
        m_buffers.push_back({total - reserved, 0});
        bufferAt[vertex] = static_cast<uint32_t>(m_buffers.size());
    }
    if (m_buffers.empty())
    {
        return;
    }
    m_ingress.resize(ports.GetNLanes());
    for (PortId id = 0; id < 2 * links.size(); ++id)
    {
        if (links[id / 2].technology == LinkTechnology::ROCE)
        {
            ports[id].bufferAt = bufferAt[ports[id].to];
        }
    }
}

uint64_t
SharedBuffers::GetMostUsedBytes() const
{
    uint64_t most = 0;
    for (const Buffer& buffer : m_buffers)
    {
        most = std::max(most, buffer.usedBytes);
    }
    return most;
}

} // namespace proteus
} // namespace ns3
