/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-copy-limiters.h"

#include "ns3/proteus-memory-limit.h"

namespace ns3
{
namespace proteus
{

namespace
{

/// Picoseconds in a second.
constexpr double PS_PER_SECOND = 1e12;

} // namespace

void
CopyLimiters::SetUp(const Cluster& cluster)
{
    const auto& vertices = cluster.GetVertices();
    for (VertexId id = 0; id < vertices.size(); ++id)
    {
        const Vertex& vertex = vertices[id];
        CopyLimiter limiter;
        double links = 0;
        for (const Port& port : cluster.GetPorts(id))
        {
            links += cluster.GetLinks()[port.link].bytesPerSecond;
        }
        if (CanLimitLinks(cluster, id))
        {
            limiter.memory = true;
            limiter.psPerByte = PS_PER_SECOND / vertex.memoryBytesPerSecond;
        }
        const double engines = vertex.copyEngines * vertex.copyEngineBytesPerSecond;
        if (engines > 0 && engines < links)
        {
            limiter.enginePsPerByte = PS_PER_SECOND / engines;
        }
        if (limiter.psPerByte > 0 || limiter.enginePsPerByte > 0)
        {
            if (m_limiterOf.empty())
            {
                m_limiterOf.assign(vertices.size(), NONE);
            }
            m_limiterOf[id] = static_cast<uint32_t>(m_limiters.size());
            m_limiters.push_back(limiter);
        }
    }
}

} // namespace proteus
} // namespace ns3
