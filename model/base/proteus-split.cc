/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-split.h"

namespace ns3
{
namespace proteus
{

std::vector<std::string>
SplitList(const std::string& text, char separator)
{
    std::vector<std::string> items;
    if (text.empty())
    {
        return items;
    }
    std::size_t begin = 0;
    for (std::size_t end = text.find(separator); end != std::string::npos;
         end = text.find(separator, begin))
    {
        items.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    items.push_back(text.substr(begin));
    return items;
}

} // namespace proteus
} // namespace ns3
