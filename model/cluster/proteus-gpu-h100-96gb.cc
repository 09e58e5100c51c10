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
MakeH100With96Gb()
{
    GpuModel model;
    model.sheet.model = "H100-SXM5-96GB-500W";
    model.sheet.fp32Flops = 67e12;
    model.sheet.tf32Flops = 989e12 / 2;
    model.sheet.bf16Flops = 1979e12 / 2;
    model.sheet.fp16Flops = 1979e12 / 2;
    model.sheet.fp8Flops = 3958e12 / 2;
    model.sheet.memoryBytes = 96000000000;
    model.sheet.memoryBytesPerSecond = 2400e9;
    model.sheet.multiprocessors = 132;
    model.sheet.source = "Meta's Grand Teton: HBM2e of 96 GB and 2.4 TB/s, limit of 500 W "
                         "(pytorch/torchtitan, benchmarks/llama3_h100_202412_torchtitan.md), else "
                         "as NVIDIA H100 data sheet (2023), SXM";
    model.computeCapability = 90;
    model.nvlinkBytesPerSecond = 25e9;
    model.nvlinkGeneration = 4;
    model.smCopyBytesPerSecond = SmCopyRate::HOPPER;
    return model;
}

/// Four stacks of HBM2e for six.
GpuModel
MakeH100With64Gb()
{
    GpuModel model = MakeH100With96Gb();
    model.sheet.model = "H100-SXM5-64GB";
    model.sheet.memoryBytes = 64000000000;
    model.sheet.memoryBytesPerSecond = 1600e9;
    model.sheet.source = "MareNostrum 5: 64 GB of HBM2 (Barcelona Supercomputing Center, user "
                         "documentation, \"MareNostrum 5\"), at the rate that each 16 GB of the "
                         "H100 of 96 GB have, else as NVIDIA H100 data sheet (2023), SXM";
    return model;
}

const GpuModelRegistration H100_96GB(MakeH100With96Gb());
const GpuModelRegistration H100_64GB(MakeH100With64Gb());

} // namespace

} // namespace proteus
} // namespace ns3
