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
MakeA30()
{
    GpuModel model;
    model.sheet.model = "A30";
    model.sheet.fp32Flops = 10.3e12;
    model.sheet.tf32Flops = 82e12;
    model.sheet.bf16Flops = 165e12;
    model.sheet.fp16Flops = 165e12;
    model.sheet.memoryBytes = 24000000000;
    model.sheet.memoryBytesPerSecond = 933e9;
    model.sheet.multiprocessors = 56;
    model.sheet.source = "NVIDIA A30 data sheet (2021)";
    model.computeCapability = 80;
    model.pciDevices = {0x20b7};
    model.nvlinkBytesPerSecond = 25e9;
    model.nvlinkGeneration = 3;
    model.bridgedNvlinks = 4;
    model.smCopyBytesPerSecond = SmCopyRate::AMPERE;
    return model;
}

const GpuModelRegistration A30(MakeA30());

} // namespace

} // namespace proteus
} // namespace ns3
