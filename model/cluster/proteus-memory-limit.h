/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MEMORY_LIMIT_H
#define PROTEUS_MEMORY_LIMIT_H

#include "proteus-cluster.h"

/**
 * @file
 * @ingroup proteus
 * Whether a memory can be slower than the links to it.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Of each byte that a link brings or takes, the memory does one access. So one that is at least as
 * fast as all links in both directions is never waited for.
 * @param cluster of the vertex
 * @param vertex a vertex, such as a GPU or a CPU
 * @return whether it has a memory whose rate is known and less than that
 */
bool CanLimitLinks(const Cluster& cluster, VertexId vertex);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MEMORY_LIMIT_H
