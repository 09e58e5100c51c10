/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TABLES_H
#define PROTEUS_TABLES_H

#include "ns3/proteus-number-text.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Aligned text, and numbers as people read them.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Text in columns, two spaces apart, each as wide as its widest cell. No line ends in a space.
 * @param rows cells by row; a row may be shorter than others
 * @param alignment a letter per column: 'l' left, 'r' right; the last goes on for further columns
 * @param indent before every line
 * @return the lines, each with its line feed
 * @throw std::invalid_argument for another letter, or no letter
 */
std::string FormatTable(const std::vector<std::vector<std::string>>& rows,
                        const std::string& alignment,
                        const std::string& indent = "  ");

/**
 * @ingroup proteus
 * @param text words with single spaces
 * @param columns most characters of a line, its indent included; a longer word has its own line
 * @param indent before every line
 * @return the text in lines, each with its line feed
 */
std::string WrapText(const std::string& text,
                     std::size_t columns = 100,
                     const std::string& indent = "  ");

/// @ingroup proteus
/// @param field of a CSV file @return quoted where RFC 4180 (section 2, items 6 and 7) asks for it
std::string QuoteCsv(const std::string& field);

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

#endif // PROTEUS_TABLES_H
