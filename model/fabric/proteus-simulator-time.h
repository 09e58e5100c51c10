/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SIMULATOR_TIME_H
#define PROTEUS_SIMULATOR_TIME_H

#include "ns3/nstime.h"

#include <algorithm>
#include <cstdint>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * @return picoseconds in one time step of the simulator; more than 1 where the resolution
 * (Time::SetResolution()) is coarser than a picosecond
 */
inline int64_t
GetPsPerStep()
{
    return std::max<int64_t>(TimeStep(1).GetPicoSeconds(), 1);
}

/**
 * @ingroup proteus
 * @param ps picoseconds, not negative
 * @return the first time of the simulator that is not earlier
 */
inline Time
CeilToStep(int64_t ps)
{
    const int64_t perStep = GetPsPerStep();
    return TimeStep((ps + perStep - 1) / perStep);
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SIMULATOR_TIME_H
