/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_REQUIRED_ARGUMENTS_H
#define PROTEUS_REQUIRED_ARGUMENTS_H

#include "proteus-fabric-state.h"

#include "ns3/proteus-cluster.h"

#include <cstddef>
#include <stdexcept>
#include <string>

/**
 * @file
 * @ingroup proteus
 * What programs in C++ give to objects of the simulator, checked.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * @tparam POINTER of any kind
 * @param pointer that a caller gives
 * @param what it points to, e.g. "the fabric"
 * @throw std::invalid_argument if it is null
 */
template <typename POINTER>
void
RequireThere(const POINTER& pointer, const std::string& what)
{
    if (!pointer)
    {
        throw std::invalid_argument(what + " is a null pointer");
    }
}

/// @ingroup proteus
/// @param index of a thing that a caller gives @param n how many there are
/// @param what the thing is, and whose, e.g. "flow", "the player"
/// @param whose see `what`
/// @throw std::invalid_argument if there is none of that number
inline void
RequireIndex(std::size_t index, std::size_t n, const char* what, const char* whose)
{
    if (index >= n)
    {
        throw std::invalid_argument(std::string(what) + " " + std::to_string(index) + ": " + whose +
                                    " has " + std::to_string(n));
    }
}

/// @ingroup proteus
/// @param cluster of a fabric @param link that a caller gives
/// @throw std::invalid_argument if the cluster has none of that number
inline void
RequireLink(const Cluster& cluster, LinkId link)
{
    RequireIndex(link, cluster.GetLinks().size(), "link", "the fabric");
}

/// @ingroup proteus
/// @param fabric that a caller gives @throw std::invalid_argument if nothing can run on it
inline void
RequireCluster(const FabricState& fabric)
{
    if (fabric.GetNodes().GetN() == 0)
    {
        throw std::invalid_argument("the fabric has no cluster, or was disposed of: "
                                    "FabricHelper::Install() makes one of a cluster");
    }
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_REQUIRED_ARGUMENTS_H
