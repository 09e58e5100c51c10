/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PLURAL_H
#define PROTEUS_PLURAL_H

#include "ns3/proteus-number-text.h"

#include <cstdint>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Numbers of things in words.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param count how many @param thing one of them @return e.g. "1 packet", "1,234 packets"
inline std::string
FormatThings(uint64_t count, const std::string& thing)
{
    return FormatCount(count) + " " + thing + (count == 1 ? "" : "s");
}

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PLURAL_H
