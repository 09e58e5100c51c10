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

/// A bridge of four NVLinks joins two of them: 112.5 GB/s, both directions together.
GpuModel
MakeA40()
{
    GpuModel model;
    model.sheet.model = "A40";
    model.sheet.fp32Flops = 37.4e12;
    model.sheet.tf32Flops = 74.8e12;
    model.sheet.bf16Flops = 149.7e12;
    model.sheet.fp16Flops = 149.7e12;
    model.sheet.memoryBytes = 48000000000;
    model.sheet.memoryBytesPerSecond = 696e9;
    model.sheet.multiprocessors = 84;
    model.sheet.source = "NVIDIA A40 data sheet (2022)";
    model.computeCapability = 86;
    model.standsFor = {86};
    model.pciDevices = {0x2235};
    model.nvlinkBytesPerSecond = 14.0625e9;
    model.nvlinkGeneration = 3;
    model.bridgedNvlinks = 4;
    model.smCopyBytesPerSecond = SmCopyRate::AMPERE;
    return model;
}

const GpuModelRegistration A40(MakeA40());

} // namespace

} // namespace proteus
} // namespace ns3
