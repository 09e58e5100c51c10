/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CLUSTER_CHANGES_H
#define PROTEUS_CLUSTER_CHANGES_H

#include "proteus-cluster.h"
#include "proteus-cpu-vendor.h"
#include "proteus-gpu-model.h"
#include "proteus-server-preset.h"

#include <cstdint>
#include <optional>

/**
 * @file
 * @ingroup proteus
 * The same cluster with other parts.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What differs of a server of cards, see MakeCardServer().
struct CardChanges
{
    std::optional<uint32_t> generation; //!< of the slots of GPUs
    uint32_t lanes{16};                 //!< of each
    std::optional<CpuVendor> cpu;       //!< who made the CPUs
    std::optional<bool> peers;          //!< whether GPUs reach each other through CPUs
    double memoryBytesPerSecond{0};     //!< of each CPU, see GetStagingRate()
    CardLayout layout;                  //!< what the servers are built with
};

/// @ingroup proteus
/// @param cluster any @param model of GPUs
/// @return the same cluster with GPUs of this model, at the same links
Cluster ReplaceGpus(const Cluster& cluster, const GpuModel& model);

/// @ingroup proteus
/// @param cluster any @param bytes most payload of a packet
/// @return the same cluster with networks whose packets have so many bytes of payload at most
Cluster SetMtu(const Cluster& cluster, uint32_t bytes);

/// @ingroup proteus
/// @param cluster any @return the same cluster with GPUs that reach others by NICs only, also those
/// of their server: each is a server of its own to a collective (Cluster::GetDomain())
Cluster SeparateGpus(const Cluster& cluster);

/// @ingroup proteus
/// @param cluster any @return the same cluster whose servers are divided between their CPUs: what
/// is joined to a CPU, directly or through others than CPUs, is a server of its own
Cluster DivideAtCpus(const Cluster& cluster);

/// @ingroup proteus
/// @param cluster any @return whether it is as SeparateGpus() or DivideAtCpus() makes one: a GPU
/// reaches others by NICs only, or CPUs of two servers are joined
bool HasPartedServers(const Cluster& cluster);

/// @ingroup proteus
/// @param cluster of servers of cards @param changes of them, but for their layout
/// @return the same servers with these changes
Cluster ChangeCards(const Cluster& cluster, const CardChanges& changes);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CLUSTER_CHANGES_H
