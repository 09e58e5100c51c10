/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CLUSTER_SVG_H
#define PROTEUS_CLUSTER_SVG_H

#include "ns3/proteus-cluster.h"

#include <ostream>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Draws a cluster: a box per server at the bottom, the switches of the network above by their
 * distance from the servers, and a line for all links between two boxes, the thicker the greater
 * their summed rate. A pointer on anything shows its name and rate. Where there are more boxes in a
 * row than fit, they are narrow and without names.
 * @param cluster any
 * @param out where to; its state tells whether all was written
 */
void WriteClusterSvg(const Cluster& cluster, std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CLUSTER_SVG_H
