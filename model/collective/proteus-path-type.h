/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PATH_TYPE_H
#define PROTEUS_PATH_TYPE_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-paths.h"

#include <cstdint>
#include <optional>
#include <string>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What kind of way connects two devices of a server; a later one is worse. The names are NCCL's.
enum class PathType : uint8_t
{
    NVL, //!< NVLink, also through NVSwitches
    NVB, //!< NVLink by way of another GPU
    PIX, //!< one PCIe switch
    PXB, //!< several PCIe switches
    P2C, //!< NVLink-C2C to a CPU, and its PCIe
    PXN, //!< NVLink to another GPU, and the PCIe switch of that
    PHB, //!< the root complex of a CPU
    SYS, //!< the connection between CPUs
};

/// @ingroup proteus
/// @param cluster where they are @param paths of the cluster @param a a device @param b another one
/// @return the kind of the way between them
PathType FindPathType(const Cluster& cluster, const Paths& paths, VertexId a, VertexId b);

/// @ingroup proteus
/// @param text "NVL", "PXB" and so on, or a number of NCCL before 2.5 (0 to 5)
/// @return the kind; none for LOC, which no two devices are
/// @throw std::invalid_argument for anything else
std::optional<PathType> ReadPathLevel(const std::string& text);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PATH_TYPE_H
