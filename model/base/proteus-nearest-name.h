/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NEAREST_NAME_H
#define PROTEUS_NEAREST_NAME_H

#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param name any @param names to compare with @return the one that differs least, if it is so
/// near that it may have been meant; else empty
std::string FindNearest(const std::string& name, const std::vector<std::string>& names);

/// @ingroup proteus
/// @param a a name @param b another one
/// @return whether they are the same but for letter case and what is no letter or digit
bool IsSameName(const std::string& a, const std::string& b);

/// @ingroup proteus
/// @param name e.g. "all_reduce" @param names that there are, e.g. "all-reduce"
/// @return the one for which IsSameName() holds; else empty
std::string FindAlias(const std::string& name, const std::vector<std::string>& names);

/// @ingroup proteus
/// @param name that is not there @param names that there are
/// @return "did you mean NAME?" of those that begin with it, of the nearest, or of those that have
/// its words ("h100" of "dgx-h100", "spine-leaf" of "leaf-spine") or that it has; else all names
std::string Suggest(const std::string& name, const std::vector<std::string>& names);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NEAREST_NAME_H
