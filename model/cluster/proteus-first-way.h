/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FIRST_WAY_H
#define PROTEUS_FIRST_WAY_H

#include "proteus-paths.h"

#include <cstddef>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * One way between two vertices, for whom any of the shortest will do.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param paths of a cluster @param from a vertex @param to another one
/// @return links of the first of equal shortest paths, in order
inline std::vector<LinkId>
WalkFirst(const Paths& paths, VertexId from, VertexId to)
{
    return paths.Walk(from, to, [](VertexId, std::size_t) { return std::size_t{0}; });
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FIRST_WAY_H
