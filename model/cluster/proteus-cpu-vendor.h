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
 * Who made the CPUs of a server. NCCL assumes lower rates through some CPUs than through others.
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

/// @ingroup proteus
/// @return the names of all vendors
std::vector<std::string> GetCpuVendors();

/**
 * @ingroup proteus
 * Who made the CPUs of the first server among some vertices: the vendor whose name the model of its
 * CPUs is, or begins with. All servers are taken to be alike, as NCCL does.
 * @param cluster with the servers
 * @param vertices of servers
 * @return the vendor; INTEL, as in most servers with GPUs, where the cluster does not say
 */
CpuVendor FindCpuVendor(const Cluster& cluster, const std::vector<VertexId>& vertices);

/// @ingroup proteus
/// @param said the vendor in words, which counts more than the cluster; may be empty
/// @param cluster of the CPUs @param vertices as FindCpuVendor() @return the vendor
CpuVendor FindCpuVendor(const std::string& said,
                        const Cluster& cluster,
                        const std::vector<VertexId>& vertices);

/// @ingroup proteus
/// @param said as FindCpuVendor() @param cluster of the CPUs @return the vendor of the CPUs in the
/// server of each GPU, by device
std::vector<CpuVendor> ListCpuVendors(const std::string& said, const Cluster& cluster);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CPU_VENDOR_H
