/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_RATIO_H
#define PROTEUS_RATIO_H

#include <optional>
#include <string>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param text as one types it @return a decimal number, all of the text; nothing if it is none
std::optional<double> ParseDecimal(const std::string& text);

/// @ingroup proteus
/// @param text as one types it: "2:1", "200%" or "2"
/// @return the ratio; nothing if it is none of these
std::optional<double> ParseRatio(const std::string& text);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RATIO_H
