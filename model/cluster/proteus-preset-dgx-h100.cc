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

constexpr char H100[] = "H100-SXM5-80GB";
constexpr char H200[] = "H200";

/**
 * NVIDIA DGX H100 and H200 (NVIDIA, "DGX H100/H200 User Guide", tables of components and of network
 * modules): eight GPUs with 18 NVLink 4 each to four NVSwitches, eight NDR NICs, two Xeon 8480C
 * with four GPUs each. A GPU sits behind the PCIe switch inside the ConnectX-7 of its own, so there
 * are eight switches with one GPU and one NIC each.
 * @tparam MODEL name of the GPU's model
 * @tparam IS_H800 whether GPUs have 8 NVLinks, two to each switch (an H800 is an H100 with 400 GB/s
 * in both directions)
 * @copydetails ServerPreset::build
 */
template <const char* MODEL, bool IS_H800 = false>
std::vector<VertexId>
Build(Cluster& cluster, uint32_t server)
{
    const auto gpus = AddServerVertices(cluster, server, MakeGpu(MODEL), 8);
    const auto nvswitches = AddServerVertices(cluster, server, MakeNvSwitch(4), 4);
    const auto switches = AddServerVertices(cluster, server, VertexKind::PCIE_SWITCH, 8);
    const auto cpus = AddServerVertices(cluster, server, MakeCpu(IntelForwardBytesPerSecond(5)), 2);
    const auto nics = AddServerVertices(cluster, server, VertexKind::NIC, 8);

    // Bytes per second of a link and direction: "NVIDIA H100 Tensor Core GPU Architecture", white
    // paper.
    constexpr double NVLINK4 = 25e9;
    // Links of a GPU to each switch: NVIDIA, "The NVLink-Network Switch", Hot Chips 34 (2022).
    constexpr uint32_t NVLINKS[4] = {5, 4, 4, 5};
    for (VertexId gpu : gpus)
    {
        for (uint32_t i = 0; i < 4; ++i)
        {
            AddDefaultLink(cluster,
                           gpu,
                           nvswitches[i],
                           LinkTechnology::NVLINK,
                           (IS_H800 ? 2 : NVLINKS[i]) * NVLINK4,
                           4);
        }
    }

    for (uint32_t i = 0; i < 8; ++i)
    {
        AddPcieLink(cluster, gpus[i], switches[i], 5);
        AddPcieLink(cluster, nics[i], switches[i], 5);
        AddPcieLink(cluster, switches[i], cpus[i / 4], 5);
    }
    // What traffic of devices reaches between the sockets of this generation (Sapphire Rapids), as
    // NCCL counts it (NVIDIA/nccl v2.30.7, src/graph/topo.h, SRP_QPI_BW).
    AddDefaultLink(cluster, cpus[0], cpus[1], LinkTechnology::CPU_INTERCONNECT, 22e9);
    return nics;
}

} // namespace

ServerPreset
MakeDgxH100()
{
    return {"dgx-h100", LinkTechnology::INFINIBAND, 400e9 / 8, &Build<H100>, {"hgx-h100"}}; // NDR
}

ServerPreset
MakeHgxH800()
{
    return {"hgx-h800",
            LinkTechnology::INFINIBAND,
            400e9 / 8, // NDR
            &Build<H100, true>,
            {"dgx-h800"}};
}

ServerPreset
MakeDgxH200()
{
    return {"dgx-h200", LinkTechnology::INFINIBAND, 400e9 / 8, &Build<H200>, {"hgx-h200"}}; // NDR
}

} // namespace proteus
} // namespace ns3
