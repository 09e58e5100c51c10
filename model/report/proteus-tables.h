/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TABLES_H
#define PROTEUS_TABLES_H

#include "ns3/proteus-number-text.h"

#include <cstddef>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Aligned text.
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

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TABLES_H
