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
MakeA10g()
{
    GpuModel model;
    model.sheet.model = "A10G";
    model.sheet.fp32Flops = 35e12;
    model.sheet.tf32Flops = 35e12;
    model.sheet.bf16Flops = 70e12;
    model.sheet.fp16Flops = 70e12;
    model.sheet.memoryBytes = 24000000000;
    model.sheet.memoryBytesPerSecond = 600e9;
    model.sheet.multiprocessors = 80;
    model.sheet.source = "NVIDIA A10G data sheet (2021), dense";
    model.computeCapability = 86;
    model.pciDevices = {0x2237};
    model.smCopyBytesPerSecond = SmCopyRate::AMPERE;
    return model;
}

const GpuModelRegistration A10G(MakeA10g());

} // namespace

} // namespace proteus
} // namespace ns3
