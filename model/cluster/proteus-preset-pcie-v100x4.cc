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
 * Four V100 on one PCIe Gen3 switch, without NVLink, and one EDR NIC beside them: the machine of
 * the nccl-tests logs "4 x V100 PCIe on one switch". The data sheet of the GPUs is that of the SXM2
 * module.
 * @copydetails ServerPreset::build
 */
std::vector<VertexId>
Build(Cluster& cluster, uint32_t server)
{
    const auto gpus = AddServerVertices(cluster, server, MakeGpu("V100-SXM2-16GB"), 4);
    const auto switches = AddServerVertices(cluster, server, VertexKind::PCIE_SWITCH, 1);
    const auto cpus = AddServerVertices(cluster, server, MakeCpu(IntelForwardBytesPerSecond(3)), 1);
    const auto nics = AddServerVertices(cluster, server, VertexKind::NIC, 1);
    for (VertexId gpu : gpus)
    {
        AddPcieLink(cluster, gpu, switches[0], 3);
    }
    AddPcieLink(cluster, nics[0], switches[0], 3);
    AddPcieLink(cluster, switches[0], cpus[0], 3);
    return nics;
}

} // namespace

ServerPreset
MakePcieV100x4()
{
    return {"pcie-v100x4", LinkTechnology::INFINIBAND, 100e9 / 8, &Build}; // EDR
}

} // namespace proteus
} // namespace ns3
