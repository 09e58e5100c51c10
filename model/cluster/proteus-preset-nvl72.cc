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

/// Rate of an NVLink 5, bytes/s per direction (NVIDIA, "GB200 NVL72" data sheet).
constexpr double NVLINK5 = 50e9;
/// Rate of NVLink-C2C, bytes/s per direction (NVIDIA, "NVIDIA Blackwell Architecture Technical
/// Brief").
constexpr double C2C = 450e9;

/// What racks of 72 GPUs have in common: 18 compute trays with two Grace CPUs and four GPUs each,
/// one NVLink domain. The whole rack is one "server" here, as it is for a collective. Each GPU has
/// 18 NVLink 5, one to each of the 18 NVSwitches (nine trays of two), and hangs on its Grace by
/// NVLink-C2C; the two Graces of a tray are joined by another C2C.
struct Rack
{
    std::vector<VertexId> gpus; //!< 72
    std::vector<VertexId> cpus; //!< 36
};

/// @param cluster to add to @param server its number @param gpu model @return the rack, without
/// NICs
Rack
AddRack(Cluster& cluster, uint32_t server, const char* gpu)
{
    Rack rack;
    rack.gpus = AddServerVertices(cluster, server, MakeGpu(gpu), 72);
    const auto nvswitches = AddServerVertices(cluster, server, MakeNvSwitch(5), 18);
    rack.cpus = AddServerVertices(cluster, server, MakeCpu(0, true, CpuVendor::ARM), 36);
    for (VertexId id : rack.gpus)
    {
        for (VertexId nvswitch : nvswitches)
        {
            AddDefaultLink(cluster, id, nvswitch, LinkTechnology::NVLINK, NVLINK5, 5);
        }
    }
    for (uint32_t i = 0; i < 72; ++i)
    {
        AddDefaultLink(cluster,
                       rack.gpus[i],
                       rack.cpus[i / 2],
                       LinkTechnology::CPU_INTERCONNECT,
                       C2C);
    }
    for (uint32_t tray = 0; tray < 18; ++tray)
    {
        AddDefaultLink(cluster,
                       rack.cpus[2 * tray],
                       rack.cpus[2 * tray + 1],
                       LinkTechnology::CPU_INTERCONNECT,
                       C2C);
    }
    return rack;
}

/**
 * NVIDIA GB200 NVL72 (the same data sheet and brief): NDR NICs are plugged into the Grace of their
 * GPU, by PCIe Gen5.
 * @copydetails ServerPreset::build
 */
std::vector<VertexId>
BuildGb200(Cluster& cluster, uint32_t server)
{
    const Rack rack = AddRack(cluster, server, "GB200");
    const auto nics = AddServerVertices(cluster, server, VertexKind::NIC, 72);
    for (uint32_t i = 0; i < 72; ++i)
    {
        AddPcieLink(cluster, nics[i], rack.cpus[i / 2], 5);
    }
    return nics;
}

/**
 * NVIDIA GB300 NVL72 (NVIDIA, "NVL72 AI Factory" enterprise reference architecture, components). A
 * GPU hangs by PCIe Gen6 on the switch inside a ConnectX-8 of its own, an XDR NIC, from which Gen5
 * leads to the Grace: data go past that (NCCL's NCCL_IB_DATA_DIRECT, v2.30.7,
 * src/transport/net_ib/init.cc).
 * @copydetails ServerPreset::build
 */
std::vector<VertexId>
BuildGb300(Cluster& cluster, uint32_t server)
{
    const Rack rack = AddRack(cluster, server, "GB300");
    const auto switches = AddServerVertices(cluster, server, VertexKind::PCIE_SWITCH, 72);
    const auto nics = AddServerVertices(cluster, server, VertexKind::NIC, 72);
    for (uint32_t i = 0; i < 72; ++i)
    {
        AddPcieLink(cluster, rack.gpus[i], switches[i], 6);
        AddPcieLink(cluster, nics[i], switches[i], 6);
        AddPcieLink(cluster, switches[i], rack.cpus[i / 2], 5);
    }
    return nics;
}

} // namespace

ServerPreset
MakeGb200Nvl72()
{
    return {"gb200-nvl72", LinkTechnology::INFINIBAND, 400e9 / 8, &BuildGb200}; // NDR
}

ServerPreset
MakeGb300Nvl72()
{
    return {"gb300-nvl72", LinkTechnology::INFINIBAND, 800e9 / 8, &BuildGb300}; // XDR
}

} // namespace proteus
} // namespace ns3
