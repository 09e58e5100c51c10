/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-server-preset.h"
#include "proteus-socket-rates.h"

#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr uint32_t GPUS = 4;
constexpr char H100[] = "H100-SXM5-80GB";
constexpr char H200[] = "H200";

/// Joins each GPU to each other one by a third of its NVLinks of 25 GB/s per direction (NVIDIA,
/// "HGX Platform" and the white papers of the GPUs' architectures).
/// @param cluster to add to @param gpus four @param links between two
/// @param generation of NVLink
void
JoinAll(Cluster& cluster, const std::vector<VertexId>& gpus, uint32_t links, uint32_t generation)
{
    constexpr double NVLINK = 25e9;
    for (uint32_t i = 0; i < GPUS; ++i)
    {
        for (uint32_t k = i + 1; k < GPUS; ++k)
        {
            AddDefaultLink(cluster,
                           gpus[i],
                           gpus[k],
                           LinkTechnology::NVLINK,
                           links * NVLINK,
                           generation);
        }
    }
}

/// What two kinds of servers have in common: at each of two CPUs two PCIe switches with a GPU and a
/// NIC each.
/// @param cluster to add to @param server its number @param gpu its model @param cpu like which the
/// CPUs are @param socketRate of the link between them, bytes per second
/// @param generation of PCI Express @return GPUs and NICs
std::pair<std::vector<VertexId>, std::vector<VertexId>>
AddPairs(Cluster& cluster,
         uint32_t server,
         const char* gpu,
         const Vertex& cpu,
         double socketRate,
         uint32_t generation)
{
    const auto gpus = AddServerVertices(cluster, server, MakeGpu(gpu), GPUS);
    const auto switches = AddServerVertices(cluster, server, VertexKind::PCIE_SWITCH, GPUS);
    const auto cpus = AddServerVertices(cluster, server, cpu, 2);
    const auto nics = AddServerVertices(cluster, server, VertexKind::NIC, GPUS);
    for (uint32_t i = 0; i < GPUS; ++i)
    {
        AddPcieLink(cluster, gpus[i], switches[i], generation);
        AddPcieLink(cluster, nics[i], switches[i], generation);
        AddPcieLink(cluster, switches[i], cpus[i / 2], generation);
    }
    AddDefaultLink(cluster, cpus[0], cpus[1], LinkTechnology::CPU_INTERCONNECT, socketRate);
    return {gpus, nics};
}

/**
 * HGX A100 with four GPUs, as in a server of JUWELS Booster (JSC, "JUWELS Booster Overview"): four
 * NVLinks between each two, and at each of two CPUs of AMD, by twice sixteen lanes, a PCIe switch
 * with two GPUs and two HDR NICs. That switch is taken for two, of sixteen lanes each.
 * @copydetails ServerPreset::build
 */
std::vector<VertexId>
BuildA100(Cluster& cluster, uint32_t server)
{
    const auto [gpus, nics] = AddPairs(cluster,
                                       server,
                                       "A100-SXM4-40GB",
                                       MakeCpu(0, false, CpuVendor::AMD),
                                       SocketRates::ZEN_2,
                                       4);
    JoinAll(cluster, gpus, 4, 3);
    return nics;
}

/**
 * Four A100 at one CPU of AMD's Zen 3, as in a server of Perlmutter (NERSC, "Perlmutter
 * Architecture": a GPU's and a NIC's PCI Express of Gen4 end at the CPU, four NVLinks between each
 * two GPUs) or, with half of the NICs, of Polaris (ALCF, "Polaris Machine Overview").
 * @copydetails ServerPreset::build
 */
std::vector<VertexId>
BuildA100AtOneCpu(Cluster& cluster, uint32_t server)
{
    const auto gpus = AddServerVertices(cluster, server, MakeGpu("A100-SXM4-40GB"), GPUS);
    const auto cpus = AddServerVertices(cluster, server, MakeCpu(0, true, CpuVendor::AMD), 1);
    const auto nics = AddServerVertices(cluster, server, VertexKind::NIC, GPUS);
    JoinAll(cluster, gpus, 4, 3);
    for (uint32_t i = 0; i < GPUS; ++i)
    {
        AddPcieLink(cluster, gpus[i], cpus[0], 4);
        AddPcieLink(cluster, nics[i], cpus[0], 4);
    }
    return nics;
}

/**
 * HGX H100 or H200 with four GPUs: six NVLinks between each two. As in a DGX H100, a GPU is assumed
 * behind the switch inside a ConnectX-7 of its own, an NDR NIC, and the CPUs of Intel's Sapphire
 * Rapids.
 * @tparam MODEL name of the GPU's model
 * @copydetails ServerPreset::build
 */
template <const char* MODEL>
std::vector<VertexId>
BuildHopper(Cluster& cluster, uint32_t server)
{
    const auto [gpus, nics] = AddPairs(cluster,
                                       server,
                                       MODEL,
                                       MakeCpu(IntelForwardBytesPerSecond(5)),
                                       SocketRates::SAPPHIRE_RAPIDS,
                                       5);
    JoinAll(cluster, gpus, 6, 4);
    return nics;
}

/**
 * Four GH200, as in a server of JUPITER (JSC, "JUPITER Hardware Overview"): six NVLinks between
 * each two GPUs, 450 GB/s of NVLink-C2C from each to its Grace, 100 GB/s of another NVLink between
 * each two Graces, and at each Grace a NIC of NDR200.
 * @copydetails ServerPreset::build
 */
std::vector<VertexId>
BuildGh200(Cluster& cluster, uint32_t server)
{
    constexpr double C2C = 450e9;
    constexpr double BETWEEN_CPUS = 100e9;
    const auto gpus = AddServerVertices(cluster, server, MakeGpu("GH200-96GB"), GPUS);
    const auto cpus = AddServerVertices(cluster, server, MakeCpu(0, true, CpuVendor::ARM), GPUS);
    const auto nics = AddServerVertices(cluster, server, VertexKind::NIC, GPUS);
    JoinAll(cluster, gpus, 6, 4);
    for (uint32_t i = 0; i < GPUS; ++i)
    {
        AddDefaultLink(cluster, gpus[i], cpus[i], LinkTechnology::CPU_INTERCONNECT, C2C);
        AddPcieLink(cluster, nics[i], cpus[i], 5);
        for (uint32_t k = 0; k < i; ++k)
        {
            AddDefaultLink(cluster,
                           cpus[k],
                           cpus[i],
                           LinkTechnology::CPU_INTERCONNECT,
                           BETWEEN_CPUS);
        }
    }
    return nics;
}

} // namespace

ServerPreset
MakeHgxA100Of4()
{
    return {"hgx-a100-4gpu", LinkTechnology::INFINIBAND, 200e9 / 8, &BuildA100}; // HDR
}

ServerPreset
MakeQuadA100()
{
    return {"quad-a100", LinkTechnology::ROCE, 200e9 / 8, &BuildA100AtOneCpu}; // Slingshot 11
}

ServerPreset
MakeHgxH100Of4()
{
    return {"hgx-h100-4gpu", LinkTechnology::INFINIBAND, 400e9 / 8, &BuildHopper<H100>}; // NDR
}

ServerPreset
MakeHgxH200Of4()
{
    return {"hgx-h200-4gpu", LinkTechnology::INFINIBAND, 400e9 / 8, &BuildHopper<H200>}; // NDR
}

ServerPreset
MakeQuadGh200()
{
    return {"quad-gh200", LinkTechnology::INFINIBAND, 200e9 / 8, &BuildGh200}; // NDR200
}

} // namespace proteus
} // namespace ns3
