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

/// Rates of tensor cores are those that sum up in fp32, which is half of the other on GeForce.
GpuModel
MakeRtx2080Ti()
{
    GpuModel model;
    model.sheet.model = "RTX-2080-Ti";
    model.sheet.fp32Flops = 13.4e12;
    model.sheet.fp16Flops = 53.8e12;
    model.sheet.memoryBytes = 11000000000;
    model.sheet.memoryBytesPerSecond = 616e9;
    model.sheet.multiprocessors = 68;
    model.sheet.source = "NVIDIA Turing whitepaper (2018), appendix A, reference card";
    model.computeCapability = 75;
    model.pciDevices = {0x1e04, 0x1e07};
    model.nvlinkBytesPerSecond = 25e9;
    model.nvlinkGeneration = 2;
    model.bridgedNvlinks = 2;
    model.smCopyBytesPerSecond = SmCopyRate::VOLTA;
    return model;
}

GpuModel
MakeRtx3090()
{
    GpuModel model;
    model.sheet.model = "RTX-3090";
    model.sheet.fp32Flops = 35.6e12;
    model.sheet.tf32Flops = 35.6e12;
    model.sheet.bf16Flops = 71e12;
    model.sheet.fp16Flops = 71e12;
    model.sheet.memoryBytes = 24000000000;
    model.sheet.memoryBytesPerSecond = 936e9;
    model.sheet.multiprocessors = 82;
    model.sheet.source = "NVIDIA GA102 whitepaper V2 (2021), table 2";
    model.computeCapability = 86;
    model.pciDevices = {0x2204};
    model.nvlinkBytesPerSecond = 14.0625e9;
    model.nvlinkGeneration = 3;
    model.bridgedNvlinks = 4;
    model.smCopyBytesPerSecond = SmCopyRate::AMPERE;
    model.reachesPeersAsMemory = true;
    return model;
}

/// 10,752 cores at 1.86 GHz, the other rates as on RTX 3090 in proportion; pci.ids has its device.
GpuModel
MakeRtx3090Ti()
{
    GpuModel model = MakeRtx3090();
    model.sheet.model = "RTX-3090-Ti";
    model.sheet.fp32Flops = 40e12;
    model.sheet.tf32Flops = 40e12;
    model.sheet.bf16Flops = 80e12;
    model.sheet.fp16Flops = 80e12;
    model.sheet.memoryBytesPerSecond = 1008e9;
    model.sheet.multiprocessors = 84;
    model.sheet.source = "NVIDIA, GeForce RTX 3090 Ti specifications (2022)";
    model.pciDevices = {0x2203};
    return model;
}

GpuModel
MakeRtx4090()
{
    GpuModel model;
    model.sheet.model = "RTX-4090";
    model.sheet.fp32Flops = 82.6e12;
    model.sheet.tf32Flops = 82.6e12;
    model.sheet.bf16Flops = 165.2e12;
    model.sheet.fp16Flops = 165.2e12;
    model.sheet.fp8Flops = 330.3e12;
    model.sheet.memoryBytes = 24000000000;
    model.sheet.memoryBytesPerSecond = 1008e9;
    model.sheet.multiprocessors = 128;
    model.sheet.source = "NVIDIA Ada whitepaper V2 (2023), appendix A";
    model.computeCapability = 89;
    model.pciDevices = {0x2684, 0x2685};
    model.smCopyBytesPerSecond = SmCopyRate::AMPERE;
    model.reachesPeersAsMemory = true;
    return model;
}

GpuModel
MakeRtx5090()
{
    GpuModel model;
    model.sheet.model = "RTX-5090";
    model.sheet.fp32Flops = 104.8e12;
    model.sheet.tf32Flops = 104.8e12;
    model.sheet.bf16Flops = 209.5e12;
    model.sheet.fp16Flops = 209.5e12;
    model.sheet.fp8Flops = 419e12;
    model.sheet.memoryBytes = 32000000000;
    model.sheet.memoryBytesPerSecond = 1792e9;
    model.sheet.multiprocessors = 170;
    model.sheet.source = "NVIDIA RTX Blackwell whitepaper V1.1 (2025), appendix A";
    model.computeCapability = 120;
    model.standsFor = {120};
    model.pciDevices = {0x2b85};
    model.smCopyBytesPerSecond = SmCopyRate::BLACKWELL;
    model.reachesPeersAsMemory = true;
    return model;
}

const GpuModelRegistration RTX_2080_TI(MakeRtx2080Ti());
const GpuModelRegistration RTX_3090(MakeRtx3090());
const GpuModelRegistration RTX_3090_TI(MakeRtx3090Ti());
const GpuModelRegistration RTX_4090(MakeRtx4090());
const GpuModelRegistration RTX_5090(MakeRtx5090());

} // namespace

} // namespace proteus
} // namespace ns3
