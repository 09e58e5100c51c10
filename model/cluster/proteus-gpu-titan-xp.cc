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

/// 3840 cores x 2 x 1582 MHz; fp16 runs at 1/64 of fp32. A dump of a server with it says 5.2.
GpuModel
MakeTitanXp()
{
    GpuModel model;
    model.sheet.model = "TITAN-Xp";
    model.sheet.fp32Flops = 12.15e12;
    model.sheet.memoryBytes = 12000000000;
    model.sheet.memoryBytesPerSecond = 547.7e9;
    model.sheet.multiprocessors = 30;
    model.sheet.source =
        "NVIDIA TITAN Xp specifications (2017): 3840 cores, boost 1582 MHz, 547.7 GB/s";
    model.aliases = {"TitanXp", "TITAN X"};
    model.computeCapability = 61;
    model.standsFor = {52, 61};
    model.pciDevices = {0x1b02};
    model.copyEngines = 2;
    return model;
}

const GpuModelRegistration TITAN_XP(MakeTitanXp());

} // namespace

} // namespace proteus
} // namespace ns3
