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
MakeV100Of16()
{
    GpuModel model;
    model.sheet.model = "V100-SXM2-16GB";
    model.sheet.fp32Flops = 15.7e12;
    model.sheet.fp16Flops = 125e12;
    model.sheet.memoryBytes = 16000000000;
    model.sheet.memoryBytesPerSecond = 900e9;
    model.sheet.multiprocessors = 80;
    model.sheet.source = "NVIDIA Tesla V100 data sheet (2018), SXM2";
    model.computeCapability = 70;
    model.pciDevices = {0x1db1};
    model.nvlinkBytesPerSecond = 25e9;
    model.nvlinkGeneration = 2;
    model.smCopyBytesPerSecond = SmCopyRate::VOLTA;
    return model;
}

GpuModel
MakeV100Of32()
{
    GpuModel model;
    model.sheet.model = "V100-SXM2-32GB";
    model.sheet.fp32Flops = 15.7e12;
    model.sheet.fp16Flops = 125e12;
    model.sheet.memoryBytes = 32000000000;
    model.sheet.memoryBytesPerSecond = 900e9;
    model.sheet.multiprocessors = 80;
    model.sheet.source = "NVIDIA Tesla V100 data sheet (2018), SXM2";
    model.aliases = {"V100"};
    model.computeCapability = 70;
    model.standsFor = {70};
    model.pciDevices = {0x1db5, 0x1db8};
    model.nvlinkBytesPerSecond = 25e9;
    model.nvlinkGeneration = 2;
    model.smCopyBytesPerSecond = SmCopyRate::VOLTA;
    return model;
}

/// Boards for PCIe have no NVLinks.
/// @param model its name @param memoryBytes how much @param device of PCI @return the model
GpuModel
MakeV100Pcie(const std::string& model, uint64_t memoryBytes, uint32_t device)
{
    GpuModel result = MakeV100Of16();
    result.sheet.model = model;
    result.sheet.fp32Flops = 14e12;
    result.sheet.fp16Flops = 112e12;
    result.sheet.memoryBytes = memoryBytes;
    result.sheet.source = "NVIDIA Tesla V100 data sheet (2018), PCIe";
    result.pciDevices = {device};
    result.nvlinkBytesPerSecond = 0;
    result.nvlinkGeneration = 0;
    return result;
}

const GpuModelRegistration V100_PCIE_OF16(MakeV100Pcie("V100-PCIE-16GB", 16000000000, 0x1db4));
const GpuModelRegistration V100_PCIE_OF32(MakeV100Pcie("V100-PCIE-32GB", 32000000000, 0x1db6));
const GpuModelRegistration V100_OF16(MakeV100Of16());
const GpuModelRegistration V100_OF32(MakeV100Of32());

} // namespace

} // namespace proteus
} // namespace ns3
