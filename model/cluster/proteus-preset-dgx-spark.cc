/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-server-preset.h"

#include <cmath>

namespace ns3
{
namespace proteus
{

namespace
{

/// Rate of NVLink-C2C between the halves of a GB10, bytes/s per direction (NVIDIA, "GB10" at Hot
/// Chips 2025).
constexpr double C2C = 300e9;

/// A ConnectX-7 of one port of 200 Gb/s shows as two NICs, each of four lanes of PCI Express Gen5,
/// which have half of it each (NVIDIA, "DGX Spark User Guide", ConnectX-7; RDMA writes between two
/// such NICs reach 98 Gb/s).
constexpr double NIC = 100e9 / 8;
constexpr double LANES_OF_NIC = 4.0 / 16;

/// NVIDIA DGX Spark: a GB10, whose GPU and CPU share a memory. @copydetails ServerPreset::build
std::vector<VertexId>
Build(Cluster& cluster, uint32_t server)
{
    constexpr uint32_t GENERATION = 5;
    const auto gpus = AddServerVertices(cluster, server, MakeGpu("GB10"), 1);
    const auto cpus = AddServerVertices(cluster, server, MakeCpu(0, true, CpuVendor::ARM), 1);
    const auto nics = AddServerVertices(cluster, server, VertexKind::NIC, 2);
    AddDefaultLink(cluster, gpus[0], cpus[0], LinkTechnology::CPU_INTERCONNECT, C2C);
    for (const VertexId nic : nics)
    {
        AddDefaultLink(cluster,
                       nic,
                       cpus[0],
                       LinkTechnology::PCIE,
                       std::floor(PcieX16BytesPerSecond(GENERATION) * LANES_OF_NIC),
                       GENERATION);
    }
    return nics;
}

} // namespace

ServerPreset
MakeDgxSpark()
{
    return {"dgx-spark", LinkTechnology::ROCE, NIC, &Build, {"GB10"}};
}

} // namespace proteus
} // namespace ns3
