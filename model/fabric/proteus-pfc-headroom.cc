/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-pfc-headroom.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace proteus
{

uint64_t
GetPfcHeadroom(const PfcLink& link)
{
    const double bytesPerPs = link.bytesPerSecond / 1e12;
    const double unit = link.unitBytes;
    // What the unit ahead of the pause costs in time, expressed in bytes of the link.
    const double held = std::max(unit, static_cast<double>(link.oppositeHoldPs) * bytesPerPs);
    // Units that arrive meanwhile burden the other direction, too.
    const double debt = (std::ceil(held / unit) + 1) * link.oppositeDebtBytes;
    const double pauses = static_cast<double>(link.nPauses) * link.pauseBytes;
    const double cable =
        (2 * static_cast<double>(link.delayPs) + static_cast<double>(link.reactionPs)) * bytesPerPs;
    return static_cast<uint64_t>(std::ceil(unit + held + debt + pauses + cable + unit));
}

} // namespace proteus
} // namespace ns3
