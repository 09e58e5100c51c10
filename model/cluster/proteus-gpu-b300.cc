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
    model.computeCapability = 103;
    model.standsFor = {103};
    model.pciDevices = {0x3182};
    model.nvlinkBytesPerSecond = 50e9;
    model.nvlinkGeneration = 5;
    model.smCopyBytesPerSecond = SmCopyRate::BLACKWELL;
    return model;
}

/// The same GPU with a higher clock and limit.
GpuModel
MakeGb300()
{
    GpuModel model = MakeB300();
    model.sheet.model = "GB300";
    model.sheet.fp32Flops = 80e12;
    model.sheet.tf32Flops = 2500e12 / 2;
    model.sheet.bf16Flops = 5000e12 / 2;
    model.sheet.fp16Flops = 5000e12 / 2;
    model.sheet.fp8Flops = 10000e12 / 2;
    model.sheet.source = "NVIDIA GB300 NVL72 data sheet (2025), one GPU, dense";
    model.standsFor = {};
    model.pciDevices = {0x31c2};
    return model;
}

const GpuModelRegistration B300(MakeB300());
const GpuModelRegistration GB300(MakeGb300());

} // namespace

} // namespace proteus
} // namespace ns3
