/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SIMPLE_TREE_H
#define PROTEUS_SIMPLE_TREE_H

#include "ns3/proteus-paths.h"

#include <vector>

/**
 * @file
 * @ingroup proteus
 * Which GPUs of a server talk to others in a tree.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Whether one GPU of a server talks to the parent and all children of a tree: the only GPU that
 * there is, or on Hopper and later GPUs whose NIC no other GPU is as near to. Otherwise two share
 * them: the first has the parent and one child, the next one the other child (NVIDIA/nccl v2.26.2
 * to v2.30.7, src/graph/search.cc, "Try a simpler tree"; src/graph/connect.cc, connectTrees()). The
 * tuner counts with it (ChannelSearch), and trees are built by it; GPUs are what their model says,
 * an unknown one is older than Hopper.
 * @param cluster where the ranks are
 * @param paths of the cluster
 * @param vertices of the ranks
 * @param pxn whether GPUs hand on what others send, see NicTable
 * @return whether it is so in a server, of several
 */
bool HasSimpleTree(const Cluster& cluster,
                   const Paths& paths,
                   const std::vector<VertexId>& vertices,
                   bool pxn);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SIMPLE_TREE_H
