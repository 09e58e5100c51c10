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
MakeRtxA5000()
{
    GpuModel model;
    model.sheet.model = "RTX-A5000";
    model.sheet.fp32Flops = 27.8e12;
    model.sheet.tf32Flops = 55.6e12;
    model.sheet.bf16Flops = 111.1e12;
    model.sheet.fp16Flops = 111.1e12;
    model.sheet.memoryBytes = 24000000000;
    model.sheet.memoryBytesPerSecond = 768e9;
    model.sheet.multiprocessors = 64;
    model.sheet.source = "NVIDIA RTX A5000 data sheet (2021), dense";
    model.aliases = {"A5000"};
    model.computeCapability = 86;
    model.pciDevices = {0x2231};
    model.nvlinkBytesPerSecond = 14.0625e9;
    model.nvlinkGeneration = 3;
    model.bridgedNvlinks = 4;
    model.smCopyBytesPerSecond = SmCopyRate::AMPERE;
    return model;
}

GpuModel
MakeRtxA6000()
{
    GpuModel model;
    model.sheet.model = "RTX-A6000";
    model.sheet.fp32Flops = 38.7e12;
    model.sheet.tf32Flops = 77.4e12;
    model.sheet.bf16Flops = 154.8e12;
    model.sheet.fp16Flops = 154.8e12;
    model.sheet.memoryBytes = 48000000000;
    model.sheet.memoryBytesPerSecond = 768e9;
    model.sheet.multiprocessors = 84;
    model.sheet.source = "NVIDIA RTX A6000 data sheet (2021), dense";
    model.aliases = {"A6000"};
    model.computeCapability = 86;
    model.pciDevices = {0x2230};
    model.nvlinkBytesPerSecond = 14.0625e9;
    model.nvlinkGeneration = 3;
    model.bridgedNvlinks = 4;
    model.smCopyBytesPerSecond = SmCopyRate::AMPERE;
    return model;
}

GpuModel
MakeRtx6000Ada()
{
    GpuModel model;
    model.sheet.model = "RTX-6000-Ada";
    model.sheet.fp32Flops = 91.1e12;
    model.sheet.tf32Flops = 182.1e12;
    model.sheet.bf16Flops = 364.2e12;
    model.sheet.fp16Flops = 364.2e12;
    model.sheet.fp8Flops = 728.5e12;
    model.sheet.memoryBytes = 48000000000;
    model.sheet.memoryBytesPerSecond = 960e9;
    model.sheet.multiprocessors = 142;
    model.sheet.source = "NVIDIA RTX 6000 Ada data sheet (2023), dense";
    model.computeCapability = 89;
    model.pciDevices = {0x26b1};
    model.smCopyBytesPerSecond = SmCopyRate::AMPERE;
    return model;
}

GpuModel
MakeRtxPro6000()
{
    GpuModel model;
    model.sheet.model = "RTX-PRO-6000";
    model.sheet.fp32Flops = 125e12;
    model.sheet.tf32Flops = 251.9e12;
    model.sheet.bf16Flops = 503.8e12;
    model.sheet.fp16Flops = 503.8e12;
    model.sheet.fp8Flops = 1007.6e12;
    model.sheet.memoryBytes = 96000000000;
    model.sheet.memoryBytesPerSecond = 1792e9;
    model.sheet.multiprocessors = 188;
    model.sheet.source = "NVIDIA RTX Blackwell PRO whitepaper V1.0 (2025), dense";
    model.computeCapability = 120;
    model.pciDevices = {0x2bb1, 0x2bb5};
    model.smCopyBytesPerSecond = SmCopyRate::BLACKWELL;
    return model;
}

const GpuModelRegistration RTX_A5000(MakeRtxA5000());
const GpuModelRegistration RTX_A6000(MakeRtxA6000());
const GpuModelRegistration RTX_6000_ADA(MakeRtx6000Ada());
const GpuModelRegistration RTX_PRO_6000(MakeRtxPro6000());

} // namespace

} // namespace proteus
} // namespace ns3
