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
 * NVIDIA HGX B300 as in DGX B300 (NVIDIA, "DGX B300 User Guide" and Blackwell Ultra data sheet):
 * eight B300 with 18 NVLink 5 each, nine to each of two NVSwitches, and two Xeon 6776P with four
 * GPUs each. A GPU hangs on the PCIe switch inside a ConnectX-8 of its own, an XDR NIC, by PCIe
 * Gen6; from there Gen5 leads to the CPU (NVIDIA, "ConnectX-8 SuperNIC", Hot Chips 37, 2025).
 * @copydetails ServerPreset::build
 */
std::vector<VertexId>
Build(Cluster& cluster, uint32_t server)
{
    const auto gpus = AddServerVertices(cluster, server, MakeGpu("B300"), 8);
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
        AddPcieLink(cluster, gpus[i], switches[i], 6);
        AddPcieLink(cluster, nics[i], switches[i], 6);
        AddPcieLink(cluster, switches[i], cpus[i / 4], 5);
    }
    // What traffic of devices reaches between sockets, as NCCL counts it for the model number of
    // Granite Rapids (NVIDIA/nccl v2.30.7, src/graph/topo.h, SRP_QPI_BW).
    AddDefaultLink(cluster, cpus[0], cpus[1], LinkTechnology::CPU_INTERCONNECT, 22e9);
    return nics;
}

} // namespace

ServerPreset
MakeHgxB300()
{
    return {"hgx-b300", LinkTechnology::INFINIBAND, 800e9 / 8, &Build, {"dgx-b300"}}; // XDR
}

} // namespace proteus
} // namespace ns3
