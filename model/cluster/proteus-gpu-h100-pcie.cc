/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-gpu-model.h"

namespace ns3
{
namespace proteus
{

namespace
{

/// Where NVIDIA prints rates with sparsity, half is taken. Its NVLinks, if any, are bridges between
/// pairs.
GpuModel
MakeH100Pcie()
{
    GpuModel model;
    model.sheet.model = "H100-PCIE-80GB";
    model.sheet.fp32Flops = 51e12;
    model.sheet.tf32Flops = 756e12 / 2;
    model.sheet.bf16Flops = 1513e12 / 2;
    model.sheet.fp16Flops = 1513e12 / 2;
    model.sheet.fp8Flops = 3026e12 / 2;
    model.sheet.memoryBytes = 80000000000;
    model.sheet.memoryBytesPerSecond = 2000e9;
    model.sheet.multiprocessors = 114;
    model.sheet.source = "NVIDIA H100 data sheet (2022), PCIe";
    model.aliases = {"H100 PCIe", "H100-PCIe"};
    model.computeCapability = 90;
    model.pciDevices = {0x2331, 0x2322};
    model.nvlinkBytesPerSecond = 25e9;
    model.nvlinkGeneration = 4;
    model.bridgedNvlinks = 12;
    model.smCopyBytesPerSecond = SmCopyRate::HOPPER;
    return model;
}

const GpuModelRegistration H100_PCIE(MakeH100Pcie());

} // namespace

} // namespace proteus
} // namespace ns3
