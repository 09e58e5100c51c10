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
MakeL40s()
{
    GpuModel model;
    model.sheet.model = "L40S";
    model.sheet.fp32Flops = 91.6e12;
    model.sheet.tf32Flops = 183e12;
    model.sheet.bf16Flops = 362.05e12;
    model.sheet.fp16Flops = 362.05e12;
    model.sheet.fp8Flops = 733e12;
    model.sheet.memoryBytes = 48000000000;
    model.sheet.memoryBytesPerSecond = 864e9;
    model.sheet.multiprocessors = 142;
    model.sheet.source = "NVIDIA L40S data sheet (2023)";
    model.computeCapability = 89;
    model.standsFor = {89};
    model.pciDevices = {0x26b9};
    model.smCopyBytesPerSecond = SmCopyRate::AMPERE;
    return model;
}

const GpuModelRegistration L40S(MakeL40s());

} // namespace

} // namespace proteus
} // namespace ns3
