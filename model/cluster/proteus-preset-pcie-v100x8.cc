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
 * Eight V100 on PCIe Gen3 without NVLink, and one 100 Gb/s Ethernet NIC with RoCE: the servers of
 * ByteScheduler (Peng et al., SOSP'19, evaluation). How they are wired inside is not published;
 * assumed are four GPUs on a switch under each of two CPUs, and the NIC beside the first four.
 * Through the CPUs, of Intel's Skylake generation, NCCL copies by way of host memory. The data
 * sheet of the GPUs is that of the SXM2 module.
 * @copydetails ServerPreset::build
 */
std::vector<VertexId>
Build(Cluster& cluster, uint32_t server)
{
    const auto gpus = AddServerVertices(cluster, server, MakeGpu("V100-SXM2-16GB"), 8);
    const auto switches = AddServerVertices(cluster, server, VertexKind::PCIE_SWITCH, 2);
    const auto cpus = AddServerVertices(cluster, server, MakeCpu(0, false), 2);
    const auto nics = AddServerVertices(cluster, server, VertexKind::NIC, 1);
    for (uint32_t i = 0; i < 8; ++i)
    {
        AddPcieLink(cluster, gpus[i], switches[i / 4], 3);
    }
    AddPcieLink(cluster, nics[0], switches[0], 3);
    for (uint32_t i = 0; i < 2; ++i)
    {
        AddPcieLink(cluster, switches[i], cpus[i], 3);
    }
    // What traffic of devices reaches over UPI on this generation (Skylake), as NCCL counts it
    // (NVIDIA/nccl v2.30.7, src/graph/topo.h, SKL_QPI_BW).
    AddDefaultLink(cluster, cpus[0], cpus[1], LinkTechnology::CPU_INTERCONNECT, 10e9);
    return nics;
}

} // namespace

ServerPreset
MakePcieV100x8()
{
    return {"pcie-v100x8", LinkTechnology::ROCE, 100e9 / 8, &Build};
}

} // namespace proteus
} // namespace ns3
