/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_HTSIM_TOPOLOGY_H
#define PROTEUS_HTSIM_TOPOLOGY_H

#include "proteus-hpcc-topology.h"

#include "ns3/proteus-cluster.h"

#include <istream>
#include <string>

/**
 * @file
 * @ingroup proteus
 * The topologies of htsim (csg-htsim, uet-htsim, and as a backend of ASTRA-sim).
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param word the first of a file @return whether a topology of htsim begins so
bool IsHtsimTopologyWord(const std::string& word);

/**
 * @ingroup proteus
 * Reads a topology of htsim: a Clos network of two or three tiers of switches (.topo).
 *
 *     Nodes 32                          hosts
 *     Tiers 2                           of switches
 *     Podsize 32                        hosts that need no switch of the third tier
 *
 *     Tier 0                            switches of hosts
 *     Downlink_speed_Gbps 100           of a link down
 *     Radix_Down 8                      links down of a switch
 *     Radix_Up 2                        links up
 *     Downlink_Latency_ns 1000          of a link down
 *     Switch_Latency_ns 0               of a switch; may be left out
 *     Oversubscribed 4                  must be what speeds and radices say; may be left out
 *
 *     Tier 1
 *     Downlink_speed_Gbps 100
 *     Radix_Down 4
 *     Downlink_Latency_ns 1000
 *     Bundle 1                          links to the same switch below; may be left out
 *
 * Keys may have any letter case, and "#" begins a comment. Every switch of tier 0 is joined to all
 * of tier 1 of its pod; the k-th of tier 1 of a pod, of a, to switches k, k + a, k + 2a, ... of
 * tier 2 (htsim, sim/datacenter/fat_tree_topology.cpp). Links of a bundle are links of their own.
 * Hosts are GPUs, one per server, ranked as they are numbered; vertices are called host(id),
 * tor(id), agg(id) and core(id). Half the latency of a switch is on each of its links, so that
 * every path has the whole of each switch that it passes. Queue_Up and Queue_Down are named and
 * not heeded: buffers are attributes of the fabric.
 *
 * @param input the text
 * @param fileName for errors
 * @param options what the file does not say
 * @return the cluster, validated
 * @throw std::invalid_argument of one line, "FILE:LINE: cause"
 */
Cluster ReadHtsimTopology(std::istream& input,
                          const std::string& fileName,
                          const HpccTopologyOptions& options = HpccTopologyOptions());

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_HTSIM_TOPOLOGY_H
