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

/// A CPU that is a device of its own: a parameter server.
GpuModel
MakeXeonE52690V4()
{
    GpuModel model;
    model.sheet.model = "Xeon-E5-2690-v4";
    model.sheet.fp32Flops = 14 * 2.6e9 * 32; // cores, base frequency, two AVX2 FMA units of 8
    model.sheet.memoryBytes = 1540000000000;
    model.sheet.memoryBytesPerSecond = 76.8e9;
    model.sheet.multiprocessors = 14;
    model.sheet.source =
        "Intel Xeon E5-2600 v4 family (2016): four channels of DDR4-2400, AVX2 with "
        "FMA3; cores, clock and largest memory of this member from memory, not "
        "looked up (no time depends on them)";
    model.isCpu = true;
    return model;
}

const GpuModelRegistration XEON_E5_2690_V4(MakeXeonE52690V4());

} // namespace

} // namespace proteus
} // namespace ns3
