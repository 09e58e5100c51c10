/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-split.h"

#include <set>
#include <stdexcept>

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

std::vector<std::string>
SplitOnce(const std::string& what, const std::string& text, char separator)
{
    std::vector<std::string> items = SplitList(text, separator);
    std::set<std::string> met;
    for (const std::string& item : items)
    {
        if (item.empty() || !met.insert(item).second)
        {
            throw std::invalid_argument(
                what + ": " + (item.empty() ? "a part is empty" : item + " stands there twice"));
        }
    }
    return items;
}

std::string
Trim(const std::string& text)
{
    constexpr const char* BLANKS = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(BLANKS);
    return begin == std::string::npos
               ? ""
               : text.substr(begin, text.find_last_not_of(BLANKS) + 1 - begin);
}

std::vector<std::pair<std::string, std::string>>
SplitSettings(const std::string& what, const std::string& text, const std::string& example)
{
    std::vector<std::pair<std::string, std::string>> settings;
    std::set<std::string> met;
    for (const std::string& item : SplitList(text))
    {
        const std::size_t equals = item.find('=');
        const std::string key = Trim(item.substr(0, equals));
        if (key.empty() || equals == std::string::npos)
        {
            throw std::invalid_argument(what + ": \"" + item + "\" is not NAME=VALUE, e.g. " +
                                        example);
        }
        if (!met.insert(key).second)
        {
            throw std::invalid_argument(what + ": " + key + " stands there twice");
        }
        settings.emplace_back(key, Trim(item.substr(equals + 1)));
    }
    return settings;
}

} // namespace proteus
} // namespace ns3
