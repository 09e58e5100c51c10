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
 * NVIDIA DGX-1 with Tesla V100 (NVIDIA, "NVIDIA DGX-1 With Tesla V100 System Architecture", white
 * paper WP-08437-002): eight V100-SXM2-32GB in a hybrid cube mesh of NVLink 2, four PCIe switches
 * with two GPUs and one EDR NIC each, two Xeon E5-2698 v4 with two switches each.
 * @copydetails ServerPreset::build
 */
std::vector<VertexId>
Build(Cluster& cluster, uint32_t server)
{
    const auto gpus = AddServerVertices(cluster, server, MakeGpu("V100-SXM2-32GB"), 8);
    const auto switches = AddServerVertices(cluster, server, VertexKind::PCIE_SWITCH, 4);
    const auto cpus = AddServerVertices(cluster, server, MakeCpu(IntelForwardBytesPerSecond(3)), 2);
    const auto nics = AddServerVertices(cluster, server, VertexKind::NIC, 4);

    // Number of NVLinks between two GPUs as `nvidia-smi topo -m` prints them on a DGX-1 with V100,
    // upper triangle; six per GPU.
    constexpr uint32_t NVLINKS[8][8] = {{0, 1, 1, 2, 2, 0, 0, 0},
                                        {0, 0, 2, 1, 0, 2, 0, 0},
                                        {0, 0, 0, 2, 0, 0, 1, 0},
                                        {0, 0, 0, 0, 0, 0, 0, 1},
                                        {0, 0, 0, 0, 0, 1, 1, 2},
                                        {0, 0, 0, 0, 0, 0, 2, 1},
                                        {0, 0, 0, 0, 0, 0, 0, 2},
                                        {0, 0, 0, 0, 0, 0, 0, 0}};
    constexpr double NVLINK2 = 25e9; // bytes/s per link and direction, same white paper
    for (uint32_t i = 0; i < 8; ++i)
    {
        for (uint32_t j = i + 1; j < 8; ++j)
        {
            if (NVLINKS[i][j] > 0)
            {
                AddDefaultLink(cluster,
                               gpus[i],
                               gpus[j],
                               LinkTechnology::NVLINK,
                               NVLINKS[i][j] * NVLINK2,
                               2);
            }
        }
    }

    for (uint32_t i = 0; i < 4; ++i)
    {
        AddPcieLink(cluster, gpus[2 * i], switches[i], 3);
        AddPcieLink(cluster, gpus[2 * i + 1], switches[i], 3);
        AddPcieLink(cluster, nics[i], switches[i], 3);
        AddPcieLink(cluster, switches[i], cpus[i / 2], 3);
    }
    // What traffic of devices reaches over QPI on this generation (Broadwell), as NCCL counts it
    // (NVIDIA/nccl v2.30.7, src/graph/topo.h, BDW_QPI_BW).
    AddDefaultLink(cluster, cpus[0], cpus[1], LinkTechnology::CPU_INTERCONNECT, 6e9);
    return nics;
}

} // namespace

ServerPreset
MakeDgx1V100()
{
    return {"dgx1-v100", LinkTechnology::INFINIBAND, 100e9 / 8, &Build, {"dgx1", "dgx-1v"}}; // EDR
}

} // namespace proteus
} // namespace ns3
