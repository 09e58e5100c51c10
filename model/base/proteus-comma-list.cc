/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-comma-list.h"

#include <cstddef>

namespace ns3
{
namespace proteus
{

void
AppendName(std::string& list, std::string_view name)
{
    if (!list.empty())
    {
        list += ", ";
    }
    list += name;
}

std::string
ListSome(const std::vector<std::string>& names)
{
    constexpr std::size_t MOST = 3;
    std::string list;
    for (std::size_t i = 0; i < names.size() && i < MOST; ++i)
    {
        AppendName(list, names[i]);
    }
    return names.size() <= MOST ? list
                                : list + " and " + std::to_string(names.size() - MOST) + " more";
}

std::string
ListAlternatives(const std::vector<std::string>& names)
{
    std::string list;
    for (std::size_t i = 0; i < names.size(); ++i)
    {
        list += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + names[i];
    }
    return list;
}

} // namespace proteus
} // namespace ns3
