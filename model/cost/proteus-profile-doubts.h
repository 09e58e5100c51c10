/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PROFILE_DOUBTS_H
#define PROTEUS_PROFILE_DOUBTS_H

#include "proteus-profile-table.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Measured times that look as if they were in another unit.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A measured time that is far from the computed one.
struct ProfileDoubt
{
    ProfileEntry entry;    //!< the measurement
    int64_t computedPs{0}; //!< what KernelCostModel has for such a kernel, picoseconds
};

/**
 * @ingroup proteus
 * Compares measured times with computed ones.
 * @param table measurements
 * @return those that are 32 times (about the root of 1000) or more shorter or longer: units of time
 * are 1000 apart, and what is computed is hardly wrong by so much (norms by 320 times)
 */
std::vector<ProfileDoubt> FindProfileDoubts(const ProfileTable& table);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PROFILE_DOUBTS_H
