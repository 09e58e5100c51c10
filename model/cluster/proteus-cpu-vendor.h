/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CPU_VENDOR_H
#define PROTEUS_CPU_VENDOR_H

#include "proteus-cluster.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Who made the CPUs of a server: NCCL counts on less from some than from others.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Vendor and architecture of a CPU, as far as NCCL distinguishes them.
enum class CpuVendor : uint8_t
{
    INTEL,
    AMD,
    ARM,   //!< Grace and others
    POWER, //!< IBM
    OTHER, //!< x86 of others
};

/// @ingroup proteus
/// @param vendor a value @return its name in files and options, e.g. "intel"
const char* ToString(CpuVendor vendor);

/**
 * @ingroup proteus
 * Inverse of ToString().
 * @param text the name
 * @return the value
 * @throw std::invalid_argument that lists the known names
 */
CpuVendor CpuVendorFromString(const std::string& text);

/**
 * @ingroup proteus
 * Who made the CPUs of the first server of some vertices: the model of its CPUs, where that is one
 * of the names of ToString() or begins with one. NCCL assumes as well that all servers are alike.
 * @param cluster with the servers
 * @param vertices of servers
 * @return the vendor; Intel's, as of most servers with GPUs, where the cluster does not say
 */
CpuVendor FindCpuVendor(const Cluster& cluster, const std::vector<VertexId>& vertices);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CPU_VENDOR_H
