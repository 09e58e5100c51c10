/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-server-preset.h"
#include "proteus-socket-rates.h"

namespace ns3
{
namespace proteus
{

namespace
{

/**
 * NVIDIA DGX A100 640GB (NVIDIA, "NVIDIA DGX A100 System Architecture", white paper WP-10083-001):
 * eight A100-SXM4-80GB, each with two NVLink 3 to each of six NVSwitches, four PCIe Gen4 switches
 * with two GPUs and two HDR NICs each, two EPYC 7742 with two switches each.
 * @tparam NVSWITCHES to each of which a GPU has two NVLinks: 6, or 4 for A800, whose GPUs have 8
 * links (NVIDIA, "A800" data sheet: 400 GB/s in both directions), spread here as if there were four
 * @copydetails ServerPreset::build
 */
template <uint32_t NVSWITCHES>
std::vector<VertexId>
Build(Cluster& cluster, uint32_t server)
{
    const auto gpus = AddServerVertices(cluster, server, MakeGpu("A100-SXM4-80GB"), 8);
    const auto nvswitches = AddServerVertices(cluster, server, MakeNvSwitch(3), NVSWITCHES);
    const auto switches = AddServerVertices(cluster, server, VertexKind::PCIE_SWITCH, 4);
    // Measured: 16 GB/s instead of 24 through a NIC behind the root complex of an EPYC.
    const auto cpus = AddServerVertices(cluster, server, MakeCpu(16e9, true, CpuVendor::AMD), 2);
    const auto nics = AddServerVertices(cluster, server, VertexKind::NIC, 8);

    constexpr double NVLINK3 = 25e9; // bytes/s per link and direction, same white paper
    for (VertexId gpu : gpus)
    {
        for (VertexId nvswitch : nvswitches)
        {
            AddDefaultLink(cluster, gpu, nvswitch, LinkTechnology::NVLINK, 2 * NVLINK3, 3);
        }
    }

    // Calibrated, 9 bytes per packet more: measured are 24 GB/s where two HDR NICs share an uplink,
    // and 26.2 from one GPU to its CPU; this is 25.
    Link uplink;
    uplink.technology = LinkTechnology::PCIE;
    uplink.bytesPerSecond = PcieX16BytesPerSecond(4);
    uplink.delayPs = DefaultDelayPs(LinkTechnology::PCIE);
    uplink.cost = DefaultCost(LinkTechnology::PCIE);
    uplink.framing = DefaultFraming(LinkTechnology::PCIE, 4);
    uplink.framing.packetHeaderBytes += 9;
    for (uint32_t i = 0; i < 4; ++i)
    {
        for (uint32_t j : {2 * i, 2 * i + 1})
        {
            AddPcieLink(cluster, gpus[j], switches[i], 4);
            AddPcieLink(cluster, nics[j], switches[i], 4);
        }
        uplink.a = switches[i];
        uplink.b = cpus[i / 2];
        cluster.AddLink(uplink);
    }
    AddDefaultLink(cluster, cpus[0], cpus[1], LinkTechnology::CPU_INTERCONNECT, SocketRates::ZEN_2);
    return nics;
}

} // namespace

ServerPreset
MakeDgxA100()
{
    return {"dgx-a100", LinkTechnology::INFINIBAND, 200e9 / 8, &Build<6>, {"hgx-a100"}}; // HDR
}

ServerPreset
MakeHgxA800()
{
    return {"hgx-a800", LinkTechnology::INFINIBAND, 200e9 / 8, &Build<4>, {"dgx-a800"}}; // HDR
}

} // namespace proteus
} // namespace ns3
