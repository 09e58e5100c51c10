/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PEER_REACH_H
#define PROTEUS_PEER_REACH_H

#include "proteus-transport-rules.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-paths.h"

#include <cstdint>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Servers whose GPUs do not exchange data through the memory of their host (NCCL_SHM_DISABLE=1).
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param variables of NCCL's environment, as ParseNcclVariables() reads them
/// @return whether GPUs of a server may exchange data through its memory (no NCCL_SHM_DISABLE=1)
bool UsesHostMemory(const std::string& variables);

/// @ingroup proteus
/// Which pairs of GPUs of one server, or of one domain of NVLink, write to each other.
enum class PeerReach : uint8_t
{
    ALL,  //!< all of them
    SOME, //!< in some server some do, and others go through the memory of a host
    NONE  //!< no two
};

/// @ingroup proteus
/// @param rules of transports @param cluster with the GPUs @param paths of it
/// @return which pairs of GPUs do, see AllowsPeerToPeer(); ALL where no server has two
PeerReach FindPeerReach(const TransportRules& rules, const Cluster& cluster, const Paths& paths);

/**
 * @ingroup proteus
 * A cluster as NCCL takes it with NCCL_SHM_DISABLE=1. GPUs that reach each other neither by
 * peer-to-peer nor by the memory of a host are of different servers to it: each has a topology of
 * its own, without the others, and sends by its NIC (NVIDIA/nccl v2.6.4 to v2.30.7,
 * src/graph/paths.cc, ncclTopoComputePaths(), PATH_NET, and ncclTopoTrimSystem()).
 * @param rules of transports
 * @param cluster with the GPUs
 * @return the cluster, if all pairs of GPUs write to each other; SeparateGpus() of it if none does;
 * DivideAtCpus() of it, if those of each CPU do
 * @throw std::invalid_argument if others do and do not, or if NICs of a server that they would need
 * are not there, or do not reach each other
 */
Cluster WithoutHostMemory(const TransportRules& rules, const Cluster& cluster);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PEER_REACH_H
