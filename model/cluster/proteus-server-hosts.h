/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SERVER_HOSTS_H
#define PROTEUS_SERVER_HOSTS_H

#include "proteus-cluster.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Hosts that add up gradients: those without GPUs that carry parameter servers, and the memory and
 * the CPU of those with GPUs.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// The CPU of such hosts, where nothing else is said: a name of a data sheet.
extern const char* const DEFAULT_SERVER_CPU;

/**
 * @ingroup proteus
 * Adds hosts with parameter servers: a CPU, which sums up and stands among the devices of the
 * cluster behind all GPUs, and a NIC. Its PCI Express and its NIC are those of the first server
 * that has a NIC at a network switch. The hosts are spread over the switches that have NICs, in
 * their order. Between the cores and the root complex is the memory's rate.
 * @param cluster to add to
 * @param hosts how many
 * @param cpu name of a data sheet
 * @throw std::invalid_argument if the cluster has no network switch with NICs
 */
void AddServerHosts(Cluster& cluster, uint32_t hosts, const std::string& cpu = DEFAULT_SERVER_CPU);

/// @ingroup proteus
/// What memory moves for each byte that is added to a sum: two bytes are read, one is written.
constexpr double TRAFFIC_OF_SUM = 3;

/**
 * @ingroup proteus
 * Adds to servers the memory of one socket with its cores, which sum up what GPUs copy there. Each
 * stands among the devices of the cluster behind all others, at the CPU that is nearest to the
 * first GPU of its server, by a link of the memory's rate.
 * @param cluster to add to
 * @param servers numbers of the servers
 * @param cpu name of a data sheet
 * @throw std::invalid_argument if one of them has no GPU or no CPU
 */
void AddHostMemories(Cluster& cluster,
                     const std::vector<int32_t>& servers,
                     const std::string& cpu = DEFAULT_SERVER_CPU);

/**
 * @ingroup proteus
 * @param vertex a vertex
 * @return whether it is the memory of a host with its cores, from AddServerHosts() or
 * AddHostMemories(), and not a GPU
 */
bool IsHostMemory(const Vertex& vertex);

/**
 * @ingroup proteus
 * GPUs and CPUs have one: what passes them is written to a buffer there (NVIDIA/nccl,
 * src/transport/net.cc, sendProxyConnect()).
 * @param vertex a vertex
 * @return whether it has a memory that takes in what comes to it as a waypoint
 */
bool HasStagingMemory(const Vertex& vertex);

/**
 * @ingroup proteus
 * Who moves a message to or from the memory of a host. A copy engine does inside a server
 * (cudaMemcpyAsync() of pinned memory), the NICs do from one host's memory to another's. Between a
 * GPU and the memory of another host, as between GPUs, a kernel hands the bytes over.
 * @param cluster with the ends
 * @param from vertex of one end
 * @param to vertex of the other end
 * @return whether no kernel of a GPU takes part
 */
bool MovesWithoutKernel(const Cluster& cluster, VertexId from, VertexId to);

/**
 * @ingroup proteus
 * The rate at which a CPU adds gradients to a sum: for every byte of gradients, memory reads two
 * and writes one, and nothing else counts.
 * @param cpu name of a data sheet
 * @return bytes of gradients per second
 */
double GetAggregationRate(const std::string& cpu);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SERVER_HOSTS_H
