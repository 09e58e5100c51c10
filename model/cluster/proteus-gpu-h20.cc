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

GpuModel
MakeH20()
{
    GpuModel model;
    model.sheet.model = "H20";
    model.sheet.fp32Flops = 44e12;
    model.sheet.tf32Flops = 74e12;
    model.sheet.bf16Flops = 148e12;
    model.sheet.fp16Flops = 148e12;
    model.sheet.fp8Flops = 296e12;
    model.sheet.memoryBytes = 96000000000;
    model.sheet.memoryBytesPerSecond = 4000e9;
    model.sheet.multiprocessors = 78;
    model.sheet.source = "NVIDIA H20 data sheet (2023)";
    model.computeCapability = 90;
    model.pciDevices = {0x2329};
    model.nvlinkBytesPerSecond = 25e9;
    model.nvlinkGeneration = 4;
    model.smCopyBytesPerSecond = SmCopyRate::HOPPER;
    return model;
}

const GpuModelRegistration H20(MakeH20());

} // namespace

} // namespace proteus
} // namespace ns3
