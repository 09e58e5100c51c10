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
MakeT4()
{
    GpuModel model;
    model.sheet.model = "T4";
    model.sheet.fp32Flops = 8.1e12;
    model.sheet.fp16Flops = 65e12;
    model.sheet.memoryBytes = 16000000000;
    model.sheet.memoryBytesPerSecond = 320e9;
    model.sheet.multiprocessors = 40;
    model.sheet.source = "NVIDIA T4 data sheet (2018), bandwidth: T4 product brief PB-09256-001";
    model.aliases = {"Tesla T4"};
    model.computeCapability = 75;
    model.standsFor = {75};
    model.pciDevices = {0x1eb8};
    model.smCopyBytesPerSecond = SmCopyRate::VOLTA;
    return model;
}

const GpuModelRegistration T4(MakeT4());

} // namespace

} // namespace proteus
} // namespace ns3
