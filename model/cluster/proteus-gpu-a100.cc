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

/// Copy engines: what deviceQuery of the CUDA samples prints.
GpuModel
MakeA100Of40()
{
    GpuModel model;
    model.sheet.model = "A100-SXM4-40GB";
    model.sheet.fp32Flops = 19.5e12;
    model.sheet.tf32Flops = 156e12;
    model.sheet.bf16Flops = 312e12;
    model.sheet.fp16Flops = 312e12;
    model.sheet.memoryBytes = 40000000000;
    model.sheet.memoryBytesPerSecond = 1555e9;
    model.sheet.multiprocessors = 108;
    model.sheet.source = "NVIDIA A100 data sheet (2021), 40GB SXM";
    model.computeCapability = 80;
    model.pciDevices = {0x20b0};
    model.nvlinkBytesPerSecond = 25e9;
    model.nvlinkGeneration = 3;
    model.copyEngines = 5;
    model.smCopyBytesPerSecond = SmCopyRate::AMPERE;
    return model;
}

/// An A800 has fewer NVLinks, which are part of its server.
GpuModel
MakeA100Of80()
{
    GpuModel model;
    model.sheet.model = "A100-SXM4-80GB";
    model.sheet.fp32Flops = 19.5e12;
    model.sheet.tf32Flops = 156e12;
    model.sheet.bf16Flops = 312e12;
    model.sheet.fp16Flops = 312e12;
    model.sheet.memoryBytes = 80000000000;
    model.sheet.memoryBytesPerSecond = 2039e9;
    model.sheet.multiprocessors = 108;
    model.sheet.source = "NVIDIA A100 data sheet (2021), 80GB SXM";
    model.aliases = {"A100", "A800"};
    model.computeCapability = 80;
    model.standsFor = {80};
    model.pciDevices = {0x20b2, 0x20f3};
    model.nvlinkBytesPerSecond = 25e9;
    model.nvlinkGeneration = 3;
    model.copyEngines = 5;
    model.smCopyBytesPerSecond = SmCopyRate::AMPERE;
    return model;
}

/// The processor of Leonardo's boards has more multiprocessors, at the clock of the others.
GpuModel
MakeA100Of64()
{
    constexpr double MORE = 124.0 / 108;
    GpuModel model = MakeA100Of40();
    model.sheet.model = "A100-SXM-64GB";
    model.sheet.fp32Flops *= MORE;
    model.sheet.tf32Flops *= MORE;
    model.sheet.bf16Flops *= MORE;
    model.sheet.fp16Flops *= MORE;
    model.sheet.memoryBytes = 64000000000;
    model.sheet.memoryBytesPerSecond = 1640e9;
    model.sheet.multiprocessors = 124;
    model.sheet.source = "custom A100 of Leonardo: 124 multiprocessors, 64 GB of 1.64 TB/s "
                         "(Turisini et al. 2023, arXiv 2307.16885), else as NVIDIA A100 data sheet";
    model.pciDevices.clear();
    return model;
}

/// Boards for PCIe, of which bridges of twelve NVLinks join two.
/// @param model its name @param alias what drivers call it @param memoryBytes how much
/// @param memoryRate of it, bytes per second @param device of PCI @return the model
GpuModel
MakeA100Pcie(const std::string& model,
             const std::string& alias,
             uint64_t memoryBytes,
             double memoryRate,
             uint32_t device)
{
    GpuModel result = MakeA100Of40();
    result.sheet.model = model;
    result.sheet.memoryBytes = memoryBytes;
    result.sheet.memoryBytesPerSecond = memoryRate;
    result.sheet.source = "NVIDIA A100 data sheet (2021), PCIe";
    result.bridgedNvlinks = 12;
    result.aliases = {alias};
    result.pciDevices = {device};
    return result;
}

const GpuModelRegistration A100_64GB(MakeA100Of64());
const GpuModelRegistration A100_PCIE_OF40(
    MakeA100Pcie("A100-PCIE-40GB", "A100 40GB PCIe", 40000000000, 1555e9, 0x20f1));
const GpuModelRegistration A100_PCIE_OF80(
    MakeA100Pcie("A100-PCIE-80GB", "A100 80GB PCIe", 80000000000, 1935e9, 0x20b5));
const GpuModelRegistration A100_OF40(MakeA100Of40());
const GpuModelRegistration A100_OF80(MakeA100Of80());

} // namespace

} // namespace proteus
} // namespace ns3
