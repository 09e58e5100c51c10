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
MakeA10()
{
    GpuModel model;
    model.sheet.model = "A10";
    model.sheet.fp32Flops = 31.2e12;
    model.sheet.tf32Flops = 62.5e12;
    model.sheet.bf16Flops = 125e12;
    model.sheet.fp16Flops = 125e12;
    model.sheet.memoryBytes = 24000000000;
    model.sheet.memoryBytesPerSecond = 600e9;
    model.sheet.multiprocessors = 72;
    model.sheet.source = "NVIDIA A10 data sheet (2021)";
    model.computeCapability = 86;
    model.pciDevices = {0x2236};
    model.smCopyBytesPerSecond = SmCopyRate::AMPERE;
    return model;
}

const GpuModelRegistration A10(MakeA10());

} // namespace

} // namespace proteus
} // namespace ns3
