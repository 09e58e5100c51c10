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

/// Where NVIDIA prints rates with sparsity, half is taken.
/// An H800 has fewer NVLinks, which are part of its server.
GpuModel
MakeH100()
{
    GpuModel model;
    model.sheet.model = "H100-SXM5-80GB";
    model.sheet.fp32Flops = 67e12;
    model.sheet.tf32Flops = 989e12 / 2;
    model.sheet.bf16Flops = 1979e12 / 2;
    model.sheet.fp16Flops = 1979e12 / 2;
    model.sheet.fp8Flops = 3958e12 / 2;
    model.sheet.memoryBytes = 80000000000;
    model.sheet.memoryBytesPerSecond = 3350e9;
    model.sheet.multiprocessors = 132;
    model.sheet.source = "NVIDIA H100 data sheet (2023), SXM";
    model.aliases = {"H100", "H800"};
    model.computeCapability = 90;
    model.standsFor = {90};
    model.pciDevices = {0x2330, 0x2324};
    model.nvlinkBytesPerSecond = 25e9;
    model.nvlinkGeneration = 4;
    model.smCopyBytesPerSecond = SmCopyRate::HOPPER;
    return model;
}

const GpuModelRegistration H100(MakeH100());

} // namespace

} // namespace proteus
} // namespace ns3
