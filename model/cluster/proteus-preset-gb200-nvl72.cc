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
 * NVIDIA GB200 NVL72 (NVIDIA, "GB200 NVL72" data sheet and "NVIDIA Blackwell Architecture Technical
 * Brief"): a rack of 18 compute trays with two Grace CPUs and four GPUs each, one NVLink domain.
 * The whole rack is one "server" here, as it is for a collective. Each of the 72 GPUs has 18 NVLink
 * 5, one to each of the 18 NVSwitches (nine trays of two). A GPU hangs on its Grace by NVLink-C2C,
 * 450 GB/s per direction, where its NDR NIC is plugged into PCIe Gen5; the two Graces of a tray are
 * joined by another C2C.
 * @copydetails ServerPreset::build
 */
std::vector<VertexId>
Build(Cluster& cluster, uint32_t server)
{
    // The GPU of the HGX board; clocked a little higher in this rack.
    const auto gpus = AddServerVertices(cluster, server, MakeGpu("B200"), 72);
    const auto nvswitches = AddServerVertices(cluster, server, MakeNvSwitch(5), 18);
    const auto cpus = AddServerVertices(cluster, server, MakeCpu(0, true, CpuVendor::ARM), 36);
    const auto nics = AddServerVertices(cluster, server, VertexKind::NIC, 72);

    constexpr double NVLINK5 = 50e9; // bytes/s per link and direction, same data sheet
    constexpr double C2C = 450e9;    // bytes/s per direction, same brief
    for (VertexId gpu : gpus)
    {
        for (VertexId nvswitch : nvswitches)
        {
            AddDefaultLink(cluster, gpu, nvswitch, LinkTechnology::NVLINK, NVLINK5, 5);
        }
    }
    for (uint32_t i = 0; i < 72; ++i)
    {
        AddDefaultLink(cluster, gpus[i], cpus[i / 2], LinkTechnology::CPU_INTERCONNECT, C2C);
        AddPcieLink(cluster, nics[i], cpus[i / 2], 5);
    }
    for (uint32_t tray = 0; tray < 18; ++tray)
    {
        AddDefaultLink(cluster,
                       cpus[2 * tray],
                       cpus[2 * tray + 1],
                       LinkTechnology::CPU_INTERCONNECT,
                       C2C);
    }
    return nics;
}

} // namespace

ServerPreset
MakeGb200Nvl72()
{
    return {"gb200-nvl72", LinkTechnology::INFINIBAND, 400e9 / 8, &Build}; // NDR
}

} // namespace proteus
} // namespace ns3
