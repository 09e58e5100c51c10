/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SHOWN_NAME_H
#define PROTEUS_SHOWN_NAME_H

#include <cstddef>
#include <string>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param name that was read @param most characters of it to show
/// @return it as a message shows it: on one line, and cut to length with "..." behind it
std::string ShownName(const std::string& name, std::size_t most = 80);

/// @ingroup proteus
/// @param text that was read @return the first 40 characters of it on one line, in single quotes
std::string QuotedText(const std::string& text);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SHOWN_NAME_H
