/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NIC_TABLE_H
#define PROTEUS_NIC_TABLE_H

#include "proteus-cluster.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Which NIC each channel of a GPU takes.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param cluster with the NIC @param nic of it @return whether a link leads out of its server
bool HasNetwork(const Cluster& cluster, VertexId nic);

/**
 * @ingroup proteus
 * @param cluster with the vertex
 * @param from a vertex of a server
 * @return the nearest NICs of its server by routing cost, ascending
 */
std::vector<VertexId> FindNearestNics(const Cluster& cluster, VertexId from);

/**
 * @ingroup proteus
 * The NICs of GPUs. Where a server has several NICs for each GPU, e.g. sixteen for eight GPUs, a
 * GPU has a share of the nearest ones, and its channels take them in turn (NVIDIA/nccl v2.30.7,
 * src/graph/topo.cc, ncclTopoGetLocalNet()).
 */
class NicTable
{
  public:
    /// @param cluster with the GPUs; must outlive this object @param hasRelays whether FindRelay()
    /// finds any
    explicit NicTable(const Cluster& cluster, bool hasRelays = true);

    /// @param gpu a GPU @return how many NICs it has for itself; 1 where it shares one, or has none
    uint32_t CountNics(VertexId gpu) const;

    /// @param gpu a GPU @param channel of a collective @return NIC that it sends by; of channel 0
    /// that of Cluster::GetNic()
    VertexId Get(VertexId gpu, uint32_t channel) const;

    /**
     * The GPU that hands on what another sends by a NIC behind a CPU: the nearest of those that
     * reach the NIC by PCIe switches only, if it has an NVLink to the sender. What comes in by the
     * NIC takes no such way (PXN; NVIDIA/nccl v2.30.7, src/graph/paths.cc, ncclTopoComputePaths(),
     * "Only enabling it in the GPU->NIC direction").
     * @param gpu that sends
     * @param nic by which
     * @return the GPU; Cluster::NO_VERTEX if there is none or none is needed
     */
    VertexId FindRelay(VertexId gpu, VertexId nic) const;

  private:
    /// @param gpu a GPU @return its NICs
    const std::vector<VertexId>& Find(VertexId gpu) const;

    const Cluster& m_cluster;
    bool m_hasRelays;
    mutable std::unordered_map<VertexId, std::vector<VertexId>> m_nics; //!< by GPU, found on demand
    /// By server: its GPUs, ascending; found with the first NIC.
    mutable std::unordered_map<int32_t, std::vector<VertexId>> m_gpusOf;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NIC_TABLE_H
