/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COMMA_LIST_H
#define PROTEUS_COMMA_LIST_H

#include <string>
#include <string_view>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param list of a message, "a, b" @param name that comes behind, with ", " unless it is the first
void AppendName(std::string& list, std::string_view name);

/// @ingroup proteus
/// @param names texts @return them as a message lists them: "a, b, c"
template <typename NAMES>
std::string
ListNames(const NAMES& names)
{
    std::string list;
    for (const auto& name : names)
    {
        AppendName(list, name);
    }
    return list;
}

/// @ingroup proteus
/// @param names texts, of which there may be many @return the first of them as ListNames() has
/// them, and how many more there are: "a, b, c and 4 more"
std::string ListSome(const std::vector<std::string>& names);

/// @ingroup proteus
/// @param names texts of which one holds @return them as a message lists them: "a, b or c"
std::string ListAlternatives(const std::vector<std::string>& names);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COMMA_LIST_H
