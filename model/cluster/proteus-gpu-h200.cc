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
GpuModel
MakeH200()
{
    GpuModel model;
    model.sheet.model = "H200";
    model.sheet.fp32Flops = 67e12;
    model.sheet.tf32Flops = 989e12 / 2;
    model.sheet.bf16Flops = 1979e12 / 2;
    model.sheet.fp16Flops = 1979e12 / 2;
    model.sheet.fp8Flops = 3958e12 / 2;
    model.sheet.memoryBytes = 141000000000;
    model.sheet.memoryBytesPerSecond = 4800e9;
    model.sheet.multiprocessors = 132;
    model.sheet.source = "NVIDIA H200 data sheet (2024), SXM";
    model.computeCapability = 90;
    model.pciDevices = {0x2335};
    model.nvlinkBytesPerSecond = 25e9;
    model.nvlinkGeneration = 4;
    model.smCopyBytesPerSecond = SmCopyRate::HOPPER;
    return model;
}

/// Bridges join two or four of them. Half of the rates with sparsity is taken.
GpuModel
MakeH200Nvl()
{
    GpuModel model = MakeH200();
    model.sheet.model = "H200-NVL";
    model.sheet.fp32Flops = 60e12;
    model.sheet.tf32Flops = 835e12 / 2;
    model.sheet.bf16Flops = 1671e12 / 2;
    model.sheet.fp16Flops = 1671e12 / 2;
    model.sheet.fp8Flops = 3341e12 / 2;
    model.sheet.source = "NVIDIA H200 data sheet (2024), NVL";
    model.pciDevices = {0x233b};
    model.bridgedNvlinks = 18;
    model.mostBridged = 4;
    return model;
}

const GpuModelRegistration H200(MakeH200());
const GpuModelRegistration H200_NVL(MakeH200Nvl());

} // namespace

} // namespace proteus
} // namespace ns3
