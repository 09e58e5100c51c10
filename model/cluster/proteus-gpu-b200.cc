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
MakeB200()
{
    GpuModel model;
    model.sheet.model = "B200";
    model.sheet.fp32Flops = 75e12;
    model.sheet.tf32Flops = 2200e12 / 2;
    model.sheet.bf16Flops = 4500e12 / 2;
    model.sheet.fp16Flops = 4500e12 / 2;
    model.sheet.fp8Flops = 9000e12 / 2;
    model.sheet.memoryBytes = 180000000000;
    model.sheet.memoryBytesPerSecond = 7700e9;
    model.sheet.multiprocessors = 148;
    model.sheet.source = "NVIDIA Blackwell data sheet (2025), one GPU of HGX B200";
    model.computeCapability = 100;
    model.standsFor = {100};
    model.pciDevices = {0x2901};
    model.nvlinkBytesPerSecond = 50e9;
    model.nvlinkGeneration = 5;
    model.smCopyBytesPerSecond = SmCopyRate::BLACKWELL;
    return model;
}

/// The same GPU with a higher clock and limit (1200 W in place of 1000), and the bandwidth of all
/// of its memory. 2.5 PFLOP/s are what 148 multiprocessors do at 2062 MHz.
GpuModel
MakeGb200()
{
    GpuModel model = MakeB200();
    model.sheet.model = "GB200";
    model.sheet.fp32Flops = 80e12;
    model.sheet.tf32Flops = 2500e12 / 2;
    model.sheet.bf16Flops = 5000e12 / 2;
    model.sheet.fp16Flops = 5000e12 / 2;
    model.sheet.fp8Flops = 10000e12 / 2;
    model.sheet.memoryBytes = 186000000000;
    model.sheet.memoryBytesPerSecond = 8000e9;
    model.sheet.source = "NVIDIA Blackwell data sheet (2025), one GPU of GB200 NVL72";
    model.standsFor = {};
    model.pciDevices = {0x2941};
    return model;
}

const GpuModelRegistration B200(MakeB200());
const GpuModelRegistration GB200(MakeGb200());

} // namespace

} // namespace proteus
} // namespace ns3
