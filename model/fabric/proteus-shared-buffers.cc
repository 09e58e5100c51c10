/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-shared-buffers.h"

#include "proteus-pfc-headroom.h"

#include <algorithm>
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

uint64_t
SharedBuffers::GetNeed(const Cluster& cluster, const PortTable& ports, PortId in) const
{
    const PortState& port = ports[in];
    const PortState& opposite = ports[in ^ 1];
    PfcLink link;
    link.bytesPerSecond =
        std::ldexp(1e12, TIME_FRACTION_BITS) / static_cast<double>(port.psPerByte);
    link.delayPs = port.delayPs;
    link.unitBytes = port.sizes->mostWire;
    link.pauseBytes = opposite.sizes->controlWire;
    link.reactionPs = m_settings->pauseReaction.GetPicoSeconds();
    link.nPauses = CountLossless(ports);
    // A unit that is cut through from a slower link leaves no faster than it comes.
    for (const Port& other : cluster.GetPorts(port.to))
    {
        const PortState& into =
            ports[2 * other.link + (cluster.GetLinks()[other.link].a == port.to ? 1 : 0)];
        if (into.cutBytes > 0)
        {
            link.oppositeHoldPs = std::max(
                link.oppositeHoldPs,
                static_cast<int64_t>(into.sizes->mostWire * into.psPerByte >> TIME_FRACTION_BITS));
        }
    }
    for (std::size_t i = 0; i < COPY_METHODS; ++i)
    {
        const uint32_t packets = (port.sizes->fullPayload + port.sizes->packetPayload[i] - 1) /
                                 port.sizes->packetPayload[i];
        link.oppositeDebtBytes =
            std::max(link.oppositeDebtBytes, packets * port.sizes->packetReverse[i]);
    }
    return GetPfcHeadroom(link);
}

uint64_t
SharedBuffers::SetAside(const Cluster& cluster, PortTable& ports, VertexId vertex) const
{
    uint64_t reserved = 0;
    const uint32_t nLossless = CountLossless(ports);
    for (const Port& out : cluster.GetPorts(vertex))
    {
        const Link& link = cluster.GetLinks()[out.link];
        const PortId id = 2 * out.link + (link.a == vertex ? 1 : 0);
        if (link.technology != LinkTechnology::ROCE || nLossless == 0)
        {
            continue;
        }
        PortState& in = ports[id];
        const uint64_t need = GetNeed(cluster, ports, id);
        if (m_settings->headroomBytes > 0 && m_settings->headroomBytes < need)
        {
            throw std::invalid_argument(
                "ns3::proteus::Fabric::Headroom, " + std::to_string(m_settings->headroomBytes) +
                " bytes, is less than what may arrive from " + cluster.GetVertices()[in.from].name +
                " at " + cluster.GetVertices()[vertex].name + " after a pause is due, " +
                std::to_string(need) +
                " bytes, so that lossless classes would lose packets; leave it 0, raise it, or "
                "take the classes out of PfcClasses");
        }
        in.headroomBytes = static_cast<uint32_t>(
            std::max<uint64_t>(in.headroomBytes,
                               m_settings->headroomBytes > 0 ? m_settings->headroomBytes : need));
        reserved += nLossless * (uint64_t{m_settings->reserveBytes} + in.headroomBytes);
    }
    const uint64_t total = GetTotalBytes(cluster.GetVertices()[vertex]);
    if (reserved >= total)
    {
        throw std::invalid_argument(
            "the buffer of " + cluster.GetVertices()[vertex].name + ", " + std::to_string(total) +
            " bytes, is smaller than the reserve and headroom of its ports and lossless classes, " +
            std::to_string(reserved) +
            " bytes, so that these would lose packets; raise ns3::proteus::Fabric::SwitchBuffer, "
            "NicBuffer or the buffer of the cluster's switch, or name fewer PfcClasses");
    }
    return reserved;
}

uint32_t
SharedBuffers::CountLossless(const PortTable& ports) const
{
    uint32_t count = 0;
    for (uint32_t c = 0; c < ports.GetNClasses(); ++c)
    {
        count += IsLossless(c) ? 1 : 0;
    }
    return count;
}

SharedBuffers::Buffer
SharedBuffers::MakeBuffer(const Cluster& cluster, PortTable& ports, VertexId vertex) const
{
    Buffer buffer;
    buffer.sharedBytes =
        GetTotalBytes(cluster.GetVertices()[vertex]) - SetAside(cluster, ports, vertex);
    uint64_t nClasses = 0;
    for (const Port& out : cluster.GetPorts(vertex))
    {
        const bool isEthernet = cluster.GetLinks()[out.link].technology == LinkTechnology::ROCE;
        nClasses += isEthernet ? CountLossless(ports) : 0;
    }
    buffer.calmBytes =
        buffer.sharedBytes / 2 / ((uint64_t{1} << m_settings->thresholdShift) + nClasses);
    return buffer;
}

void
SharedBuffers::Build(const Cluster& cluster, PortTable& ports)
{
    const auto& vertices = cluster.GetVertices();
    const auto& links = cluster.GetLinks();
    std::vector<uint32_t> bufferAt(vertices.size(), 0);
    for (const Link& link : links)
    {
        for (const VertexId vertex : {link.a, link.b})
        {
            const VertexKind kind = vertices[vertex].kind;
            if (link.technology != LinkTechnology::ROCE || bufferAt[vertex] != 0 ||
                (kind != VertexKind::SWITCH && kind != VertexKind::NIC))
            {
                continue;
            }
            m_buffers.push_back(MakeBuffer(cluster, ports, vertex));
            bufferAt[vertex] = static_cast<uint32_t>(m_buffers.size());
        }
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

void
SharedBuffers::Update(const Cluster& cluster, PortTable& ports, VertexId vertex)
{
    for (const Port& out : cluster.GetPorts(vertex))
    {
        const PortState& in =
            ports[2 * out.link + (cluster.GetLinks()[out.link].a == vertex ? 1 : 0)];
        if (in.bufferAt != 0)
        {
            const Buffer changed = MakeBuffer(cluster, ports, vertex);
            m_buffers[in.bufferAt - 1].sharedBytes = changed.sharedBytes;
            m_buffers[in.bufferAt - 1].calmBytes = changed.calmBytes;
            return;
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
