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

/// In what servers with eight Blackwell GPUs differ.
struct Board
{
    const char* gpu;             //!< its model
    uint32_t pcieGeneration;     //!< of GPU and NIC
    double socketBytesPerSecond; //!< what traffic of devices reaches between the sockets
};

/// Eight GPUs with 18 NVLink 5 each, nine to each of two NVSwitches; two CPUs with four GPUs each;
/// and a PCIe switch per GPU and NIC, from which Gen5 leads to the CPU.
std::vector<VertexId>
AddServer(Cluster& cluster, uint32_t server, const Board& board)
{
    const auto gpus = AddServerVertices(cluster, server, MakeGpu(board.gpu), 8);
    const auto nvswitches = AddServerVertices(cluster, server, MakeNvSwitch(5), 2);
    const auto switches = AddServerVertices(cluster, server, VertexKind::PCIE_SWITCH, 8);
    const auto cpus = AddServerVertices(cluster, server, MakeCpu(IntelForwardBytesPerSecond(5)), 2);
    const auto nics = AddServerVertices(cluster, server, VertexKind::NIC, 8);

    constexpr double NVLINK5 = 50e9; // bytes/s per link and direction, Blackwell data sheet
    for (VertexId gpu : gpus)
    {
        for (VertexId nvswitch : nvswitches)
        {
            AddDefaultLink(cluster, gpu, nvswitch, LinkTechnology::NVLINK, 9 * NVLINK5, 5);
        }
    }
    for (uint32_t i = 0; i < 8; ++i)
    {
        AddPcieLink(cluster, gpus[i], switches[i], board.pcieGeneration);
        AddPcieLink(cluster, nics[i], switches[i], board.pcieGeneration);
        AddPcieLink(cluster, switches[i], cpus[i / 4], 5);
    }
    AddDefaultLink(cluster,
                   cpus[0],
                   cpus[1],
                   LinkTechnology::CPU_INTERCONNECT,
                   board.socketBytesPerSecond);
    return nics;
}

/**
 * NVIDIA HGX B200 as in DGX B200 (NVIDIA, "DGX B200 User Guide" and Blackwell data sheet), with NDR
 * NICs and two Xeon 8570. Between the sockets: what NCCL counts for Emerald Rapids (NVIDIA/nccl
 * v2.30.7, src/graph/topo.h, ERP_QPI_BW).
 * @copydetails ServerPreset::build
 */
std::vector<VertexId>
BuildB200(Cluster& cluster, uint32_t server)
{
    return AddServer(cluster, server, {"B200", 5, 40e9});
}

/**
 * NVIDIA HGX B300 as in DGX B300 (NVIDIA, "DGX B300 User Guide" and Blackwell Ultra data sheet),
 * with two Xeon 6776P. A GPU hangs on the PCIe switch inside a ConnectX-8 of its own, an XDR NIC,
 * by PCIe Gen6 (NVIDIA, "ConnectX-8 SuperNIC", Hot Chips 37, 2025). Between the sockets: what NCCL
 * counts for the model number of Granite Rapids (as above, SRP_QPI_BW).
 * @copydetails ServerPreset::build
 */
std::vector<VertexId>
BuildB300(Cluster& cluster, uint32_t server)
{
    return AddServer(cluster, server, {"B300", 6, 22e9});
}

} // namespace

ServerPreset
MakeHgxB200()
{
    return {"hgx-b200", LinkTechnology::INFINIBAND, 400e9 / 8, &BuildB200, {"dgx-b200"}}; // NDR
}

ServerPreset
MakeHgxB300()
{
    return {"hgx-b300", LinkTechnology::INFINIBAND, 800e9 / 8, &BuildB300, {"dgx-b300"}}; // XDR
}

} // namespace proteus
} // namespace ns3
