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

const GpuModelRegistration H200(MakeH200());

} // namespace

} // namespace proteus
} // namespace ns3
