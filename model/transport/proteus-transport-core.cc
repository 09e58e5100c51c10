/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-transport-core.h"

namespace ns3
{
namespace proteus
{

bool
TransportCore::IsNicOf(VertexId at, VertexId device) const
{
    const auto& vertices = fabric->GetCluster().GetVertices();
    return vertices[at].kind == VertexKind::NIC && vertices[at].server >= 0 &&
           vertices[at].server == vertices[device].server;
}

std::string
TransportCore::Describe(uint32_t queuePair) const
{
    const QueuePairState& state = pairs.GetState(queuePair);
    const auto& vertices = fabric->GetCluster().GetVertices();
    return "queue pair " + std::to_string(queuePair) + " from " + vertices[state.source].name +
           " to " + vertices[state.destination].name;
}

} // namespace proteus
} // namespace ns3
