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
 * NVIDIA HGX B200 as in DGX B200 (NVIDIA, "DGX B200 User Guide" and Blackwell data sheet): eight
 * B200 with 18 NVLink 5 each, nine to each of two NVSwitches, eight NDR NICs, two Xeon 8570 with
 * four GPUs each, and a PCIe Gen5 switch per GPU and NIC.
 * @copydetails ServerPreset::build
 */
std::vector<VertexId>
Build(Cluster& cluster, uint32_t server)
{
    const auto gpus = AddServerVertices(cluster, server, MakeGpu("B200"), 8);
    const auto nvswitches = AddServerVertices(cluster, server, MakeNvSwitch(5), 2);
    const auto switches = AddServerVertices(cluster, server, VertexKind::PCIE_SWITCH, 8);
    const auto cpus = AddServerVertices(cluster, server, MakeCpu(IntelForwardBytesPerSecond(5)), 2);
    const auto nics = AddServerVertices(cluster, server, VertexKind::NIC, 8);

    constexpr double NVLINK5 = 50e9; // bytes/s per link and direction, same data sheet
    for (VertexId gpu : gpus)
    {
        for (VertexId nvswitch : nvswitches)
        {
            AddDefaultLink(cluster, gpu, nvswitch, LinkTechnology::NVLINK, 9 * NVLINK5, 5);
        }
    }
    for (uint32_t i = 0; i < 8; ++i)
    {
        AddPcieLink(cluster, gpus[i], switches[i], 5);
        AddPcieLink(cluster, nics[i], switches[i], 5);
        AddPcieLink(cluster, switches[i], cpus[i / 4], 5);
    }
    // What traffic of devices reaches between the sockets of this generation (Emerald Rapids), as
    // NCCL counts it (NVIDIA/nccl v2.30.7, src/graph/topo.h, ERP_QPI_BW).
    AddDefaultLink(cluster, cpus[0], cpus[1], LinkTechnology::CPU_INTERCONNECT, 40e9);
    return nics;
}

} // namespace

ServerPreset
MakeHgxB200()
{
    return {"hgx-b200", LinkTechnology::INFINIBAND, 400e9 / 8, &Build, {"dgx-b200"}}; // NDR
}

} // namespace proteus
} // namespace ns3
