/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COMMA_LIST_H
#define PROTEUS_COMMA_LIST_H

#include <string>
#include <string_view>

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

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COMMA_LIST_H
