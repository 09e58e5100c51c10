/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MEANT_NAMES_H
#define PROTEUS_MEANT_NAMES_H

#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param name any @return its letters, digits, '+' and '.' in lower case; letters beyond ASCII as
/// they are
std::string SqueezeName(const std::string& name);

/// @ingroup proteus
/// @param name that is not there @param names that there are
/// @return those that may have been meant: the one that is the same but for its writing, or that
/// others call so; else those that begin with it; else the nearest; else those that have its words
/// ("h100" of "dgx-h100", "spine-leaf" of "leaf-spine") or that it has; empty if there are none
std::vector<std::string> FindMeant(const std::string& name, const std::vector<std::string>& names);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MEANT_NAMES_H
