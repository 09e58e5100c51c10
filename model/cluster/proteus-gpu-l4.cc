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
MakeL4()
{
    GpuModel model;
    model.sheet.model = "L4";
    model.sheet.fp32Flops = 30.3e12;
    model.sheet.tf32Flops = 60e12;
    model.sheet.bf16Flops = 121e12;
    model.sheet.fp16Flops = 121e12;
    model.sheet.fp8Flops = 242.5e12;
    model.sheet.memoryBytes = 24000000000;
    model.sheet.memoryBytesPerSecond = 300e9;
    model.sheet.multiprocessors = 58;
    model.sheet.source = "NVIDIA L4 data sheet (2023), dense";
    model.computeCapability = 89;
    model.pciDevices = {0x27b8};
    model.smCopyBytesPerSecond = SmCopyRate::AMPERE;
    return model;
}

GpuModel
MakeL40()
{
    GpuModel model;
    model.sheet.model = "L40";
    model.sheet.fp32Flops = 90.5e12;
    model.sheet.tf32Flops = 90.5e12;
    model.sheet.bf16Flops = 181.05e12;
    model.sheet.fp16Flops = 181.05e12;
    model.sheet.fp8Flops = 362e12;
    model.sheet.memoryBytes = 48000000000;
    model.sheet.memoryBytesPerSecond = 864e9;
    model.sheet.multiprocessors = 142;
    model.sheet.source = "NVIDIA L40 data sheet (2023), dense";
    model.computeCapability = 89;
    model.pciDevices = {0x26b5};
    model.smCopyBytesPerSecond = SmCopyRate::AMPERE;
    return model;
}

const GpuModelRegistration L4(MakeL4());
const GpuModelRegistration L40(MakeL40());

} // namespace

} // namespace proteus
} // namespace ns3
