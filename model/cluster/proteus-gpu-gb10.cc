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
MakeGb10()
{
    GpuModel model;
    model.sheet.model = "GB10";
    model.sheet.fp32Flops = 31e12;
    model.sheet.tf32Flops = 62.5e12;
    model.sheet.bf16Flops = 125e12;
    model.sheet.fp16Flops = 125e12;
    model.sheet.fp8Flops = 250e12;
    model.sheet.memoryBytes = 128000000000;
    model.sheet.memoryBytesPerSecond = 273e9;
    model.sheet.multiprocessors = 48;
    // 1 PFLOP/s of FP4 with sparsity; the formats' ratios are those of RTX PRO 6000. The memory is
    // the CPU's, too.
    model.sheet.source = "NVIDIA DGX Spark data sheet (2025), NVIDIA GB10 at Hot Chips (2025), "
                         "dense; tf32 to fp8 after FP4";
    model.aliases = {"DGX-Spark"};
    model.computeCapability = 121;
    model.standsFor = {121};
    model.pciDevices = {0x2e12};
    model.smCopyBytesPerSecond = SmCopyRate::BLACKWELL;
    return model;
}

const GpuModelRegistration GB10(MakeGb10());

} // namespace

} // namespace proteus
} // namespace ns3
