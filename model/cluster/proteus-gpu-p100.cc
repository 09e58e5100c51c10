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

/// Its NVLink 1 has the framing of the generation after.
GpuModel
MakeP100()
{
    GpuModel model;
    model.sheet.model = "P100-SXM2-16GB";
    model.sheet.fp32Flops = 10.6e12;
    model.sheet.fp16Flops = 21.2e12;
    model.sheet.memoryBytes = 16000000000;
    model.sheet.memoryBytesPerSecond = 732e9;
    model.sheet.multiprocessors = 56;
    model.sheet.source = "NVIDIA Tesla P100 data sheet (2016), NVLink-optimized servers";
    model.aliases = {"P100"};
    model.computeCapability = 60;
    model.standsFor = {60};
    model.pciDevices = {0x15f9};
    model.nvlinkBytesPerSecond = 20e9;
    model.nvlinkGeneration = 2;
    model.smCopyBytesPerSecond = SmCopyRate::VOLTA;
    return model;
}

const GpuModelRegistration P100(MakeP100());

} // namespace

} // namespace proteus
} // namespace ns3
