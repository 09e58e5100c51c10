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

/// Bridges of twelve NVLinks join two of them.
GpuModel
MakeH100Nvl()
{
    GpuModel model;
    model.sheet.model = "H100-NVL";
    model.sheet.fp32Flops = 60e12;
    model.sheet.tf32Flops = 417.5e12;
    model.sheet.bf16Flops = 835.5e12;
    model.sheet.fp16Flops = 835.5e12;
    model.sheet.fp8Flops = 1670.5e12;
    model.sheet.memoryBytes = 94000000000;
    model.sheet.memoryBytesPerSecond = 3900e9;
    model.sheet.multiprocessors = 132;
    model.sheet.source = "NVIDIA H100 NVL data sheet (2024), dense";
    model.computeCapability = 90;
    model.pciDevices = {0x2321};
    model.nvlinkBytesPerSecond = 25e9;
    model.nvlinkGeneration = 4;
    model.bridgedNvlinks = 12;
    model.smCopyBytesPerSecond = SmCopyRate::HOPPER;
    return model;
}

const GpuModelRegistration H100_NVL(MakeH100Nvl());

} // namespace

} // namespace proteus
} // namespace ns3
