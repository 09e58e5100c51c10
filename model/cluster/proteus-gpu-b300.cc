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
MakeB300()
{
    GpuModel model;
    model.sheet.model = "B300";
    model.sheet.fp32Flops = 75e12;
    model.sheet.tf32Flops = 1125e12;
    model.sheet.bf16Flops = 2250e12;
    model.sheet.fp16Flops = 2250e12;
    model.sheet.fp8Flops = 4500e12;
    model.sheet.memoryBytes = 288000000000;
    model.sheet.memoryBytesPerSecond = 8000e9;
    model.sheet.multiprocessors = 148;
    model.sheet.source =
        "NVIDIA DGX B300 data sheet (2025), dense; multiprocessors as the driver reports";
    model.aliases = {"GB300"};
    model.computeCapability = 103;
    model.standsFor = {103};
    model.pciDevices = {0x3182, 0x31c2};
    model.nvlinkBytesPerSecond = 50e9;
    model.nvlinkGeneration = 5;
    model.smCopyBytesPerSecond = SmCopyRate::BLACKWELL;
    return model;
}

const GpuModelRegistration B300(MakeB300());

} // namespace

} // namespace proteus
} // namespace ns3
