/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-staging-rate.h"

namespace ns3
{
namespace proteus
{

double
GetStagingRate(uint32_t channels, double transfersPerSecond)
{
    constexpr double BYTES_OF_TRANSFER = 8;
    // The middle one of three machines whose cores do as many reads as writes, by Intel's Memory
    // Latency Checker ("1:1 Reads-Writes"), those whose text says what their memory is: 263.8 of
    // 409.6 GB/s on two EPYC 7H12 with 16 channels of DDR4-3200, 97.7 of 136.5 on one with 128 bits
    // at 8533 MT/s, 199.3 of 256 on two Xeon 8269CY with 12 channels of DDR4-2666 (0.64, 0.715 and
    // 0.78). Of devices nothing as clear is known: four GPUs have 101 to 107 of 144 GB/s in logs
    // that this number was not taken from (doc/measured-collectives-sets.rst, twenty-fifth set).
    constexpr double SHARE_OF_MIX = 0.715;
    return channels * transfersPerSecond * BYTES_OF_TRANSFER * SHARE_OF_MIX;
}

} // namespace proteus
} // namespace ns3
