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
    model.aliases = {"GB200"};
    model.computeCapability = 100;
    model.standsFor = {100};
    model.pciDevices = {0x2901, 0x2941};
    model.nvlinkBytesPerSecond = 50e9;
    model.nvlinkGeneration = 5;
    model.smCopyBytesPerSecond = SmCopyRate::BLACKWELL;
    return model;
}

const GpuModelRegistration B200(MakeB200());

} // namespace

} // namespace proteus
} // namespace ns3
