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
 * NVIDIA DGX-2 (NVIDIA, "NVIDIA DGX-2 System Architecture" and "NVIDIA NVSwitch" white papers): two
 * boards of eight V100-SXM3-32GB and six NVSwitches. A GPU has one NVLink 2 to each NVSwitch of its
 * board, and an NVSwitch eight to its partner on the other board. Two GPUs and one EDR NIC share a
 * PCIe switch, two of those a second one, and two of these a Xeon 8168. The data sheet's rates are
 * those of the SXM2 module, whose name the GPUs have here.
 * @copydetails ServerPreset::build
 */
std::vector<VertexId>
Build(Cluster& cluster, uint32_t server)
{
    const auto gpus = AddServerVertices(cluster, server, MakeGpu("V100-SXM2-32GB"), 16);
    const auto nvswitches = AddServerVertices(cluster, server, MakeNvSwitch(2), 12);
    // The first eight next to the GPUs, then four next to the CPUs.
    const auto switches = AddServerVertices(cluster, server, VertexKind::PCIE_SWITCH, 12);
    const auto cpus = AddServerVertices(cluster, server, MakeCpu(IntelForwardBytesPerSecond(3)), 2);
    const auto nics = AddServerVertices(cluster, server, VertexKind::NIC, 8);

    constexpr double NVLINK2 = 25e9; // bytes/s per link and direction, same white paper
    // Calibrated, one flit and a half: through an NVSwitch, unlike between two GPUs, packets answer
    // writes, so that 84.2 % are left in both directions. Measured, NCCL's rings on 12 GPUs, after
    // its own overhead: 123.6 of 150 GB/s, 82.4 %.
    Link nvlink;
    nvlink.technology = LinkTechnology::NVLINK;
    nvlink.bytesPerSecond = NVLINK2;
    nvlink.delayPs = DefaultDelayPs(LinkTechnology::NVLINK);
    nvlink.cost = DefaultCost(LinkTechnology::NVLINK);
    nvlink.framing = DefaultFraming(LinkTechnology::NVLINK, 2);
    nvlink.framing.reverseBytes = 24;
    for (uint32_t i = 0; i < 16; ++i)
    {
        for (uint32_t j = 0; j < 6; ++j)
        {
            nvlink.a = gpus[i];
            nvlink.b = nvswitches[i / 8 * 6 + j];
            cluster.AddLink(nvlink);
        }
    }
    for (uint32_t j = 0; j < 6; ++j)
    {
        nvlink.bytesPerSecond = 8 * NVLINK2;
        nvlink.a = nvswitches[j];
        nvlink.b = nvswitches[6 + j];
        cluster.AddLink(nvlink);
    }
    for (uint32_t i = 0; i < 8; ++i)
    {
        AddPcieLink(cluster, gpus[2 * i], switches[i], 3);
        AddPcieLink(cluster, gpus[2 * i + 1], switches[i], 3);
        AddPcieLink(cluster, nics[i], switches[i], 3);
        AddPcieLink(cluster, switches[i], switches[8 + i / 2], 3);
    }
    for (uint32_t i = 0; i < 4; ++i)
    {
        AddPcieLink(cluster, switches[8 + i], cpus[i / 2], 3);
    }
    // What traffic of devices reaches over UPI on this generation (Skylake), as NCCL counts it
    // (NVIDIA/nccl v2.30.7, src/graph/topo.h, SKL_QPI_BW).
    AddDefaultLink(cluster, cpus[0], cpus[1], LinkTechnology::CPU_INTERCONNECT, 10e9);
    return nics;
}

} // namespace

ServerPreset
MakeDgx2()
{
    return {"dgx2", LinkTechnology::INFINIBAND, 100e9 / 8, &Build}; // EDR
}

} // namespace proteus
} // namespace ns3
