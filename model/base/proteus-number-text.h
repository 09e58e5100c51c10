/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NUMBER_TEXT_H
#define PROTEUS_NUMBER_TEXT_H

#include <cstdint>
#include <string>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param count a number @return it with a comma between thousands
std::string FormatCount(uint64_t count);

/// @ingroup proteus
/// @param value a number @param decimals how many @return e.g. "3.14"
std::string FormatNumber(double value, int decimals);

/// @ingroup proteus
/// @param share a part of one @param decimals how many @return in percent, e.g. "31.4 %"
std::string FormatPercent(double share, int decimals = 1);

/// @ingroup proteus
/// @param seconds a time @return with the unit that suits it: "1.234 s", "56.789 ms", "12.300 us"
std::string FormatTime(double seconds);

/// @ingroup proteus
/// @param bytes a size @return in decimal units, GB = 1e9 bytes: "80.00 GB", "4.10 kB", "17 B"
std::string FormatBytes(double bytes);

/// @ingroup proteus
/// @param ps picoseconds, may be negative @param decimals of the unit, e.g. 12 for seconds
/// @return the exact decimal number, e.g. "1.000000000001"
std::string FormatPicoseconds(int64_t ps, int decimals);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NUMBER_TEXT_H
