/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CSV_H
#define PROTEUS_CSV_H

#include <cstdint>
#include <string>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param text of a cell @return it, quoted where RFC 4180 wants it
std::string CsvText(const std::string& text);

/// @ingroup proteus
/// @param ps picoseconds @return nanoseconds, exactly: up to three decimals
std::string CsvNanoseconds(int64_t ps);

/// @ingroup proteus
/// @param value any @return it with six significant digits, empty if it is not finite
std::string CsvReal(double value);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CSV_H
