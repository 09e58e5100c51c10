/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-server-preset.h"

namespace ns3
{
namespace proteus
{

namespace
{

/**
 * Eight TITAN Xp in a box without NVLink, as NCCL dumped its topology: two Xeons of the Broadwell
 * generation with two PCIe Gen3 switches each and two GPUs below each of those; a 1 Gb/s Ethernet
 * adapter at the second socket. GPUs write to each other below one switch only; through the CPUs
 * NCCL copies by way of host memory.
 * @copydetails ServerPreset::build
 */
std::vector<VertexId>
Build(Cluster& cluster, uint32_t server)
{
    const auto gpus = AddServerVertices(cluster, server, MakeGpu("TITAN-Xp"), 8);
    const auto switches = AddServerVertices(cluster, server, VertexKind::PCIE_SWITCH, 4);
    const auto cpus = AddServerVertices(cluster, server, MakeCpu(0, false), 2);
    const auto nics = AddServerVertices(cluster, server, VertexKind::NIC, 1);
    for (uint32_t i = 0; i < 4; ++i)
    {
        AddPcieLink(cluster, gpus[2 * i], switches[i], 3);
        AddPcieLink(cluster, gpus[2 * i + 1], switches[i], 3);
        AddPcieLink(cluster, switches[i], cpus[i / 2], 3);
    }
    AddPcieLink(cluster, nics[0], cpus[1], 3);
    // What traffic of devices reaches over QPI on this generation (Broadwell), as NCCL counts it
    // (NVIDIA/nccl v2.30.7, src/graph/topo.h, BDW_QPI_BW).
    AddDefaultLink(cluster, cpus[0], cpus[1], LinkTechnology::CPU_INTERCONNECT, 6e9);
    return nics;
}

} // namespace

ServerPreset
MakeTitanXpPcie()
{
    return {"titanxp-pcie", LinkTechnology::ROCE, 1e9 / 8, &Build};
}

} // namespace proteus
} // namespace ns3
