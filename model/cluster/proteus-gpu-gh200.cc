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
MakeGh200()
{
    GpuModel model;
    model.sheet.model = "GH200-96GB";
    model.sheet.fp32Flops = 67e12;
    model.sheet.tf32Flops = 494.5e12;
    model.sheet.bf16Flops = 989.4e12;
    model.sheet.fp16Flops = 989.4e12;
    model.sheet.fp8Flops = 1978.9e12;
    model.sheet.memoryBytes = 96000000000;
    model.sheet.memoryBytesPerSecond = 4000e9;
    model.sheet.multiprocessors = 132;
    model.sheet.source = "NVIDIA GH200 data sheet (2023), HBM3, dense";
    model.aliases = {"GH200"};
    model.computeCapability = 90;
    model.pciDevices = {0x2342};
    model.nvlinkBytesPerSecond = 25e9;
    model.nvlinkGeneration = 4;
    model.smCopyBytesPerSecond = SmCopyRate::HOPPER;
    return model;
}

/// GPU and CPU of a module share its limit, of which the CPU takes first what it needs.
GpuModel
MakeGh200Of660W()
{
    GpuModel model = MakeGh200();
    model.sheet.model = "GH200-96GB-660W";
    model.sheet.source = "as GH200-96GB, in modules limited to 660 W (eth-cscs/cscs-docs, Slurm, "
                         "\"GH200 power capping\")";
    model.aliases.clear();
    model.pciDevices.clear();
    return model;
}

const GpuModelRegistration GH200(MakeGh200());
const GpuModelRegistration GH200_660W(MakeGh200Of660W());

} // namespace

} // namespace proteus
} // namespace ns3
