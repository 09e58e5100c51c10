/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-meant-names.h"

#include "proteus-nearest-name.h"
#include "proteus-other-names.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return the words of a name, squeezed
std::vector<std::string>
SplitWords(const std::string& name)
{
    std::vector<std::string> words(1);
    for (const char c : name)
    {
        const std::string letter = SqueezeName(std::string(1, c));
        if (letter.empty() && !words.back().empty())
        {
            words.emplace_back();
        }
        words.back() += letter;
    }
    return words;
}

/// @param typed a name that is not there @param name that is @return whether one has all words of
/// the other, in any order
bool
HasWords(const std::string& typed, const std::string& name)
{
    constexpr std::size_t LEAST = 3; // letters that say something
    const std::string squeezed = SqueezeName(name);
    const std::vector<std::string> words = SplitWords(typed);
    return std::all_of(words.begin(),
                       words.end(),
                       [&squeezed](const std::string& word) {
                           return squeezed.find(word) != std::string::npos;
                       })
               ? SqueezeName(typed).size() >= LEAST
               : squeezed.size() >= LEAST && SqueezeName(typed).find(squeezed) != std::string::npos;
}

} // namespace

std::string
SqueezeName(const std::string& name)
{
    std::string squeezed;
    for (const char c : name)
    {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) != 0 || byte >= 0x80 || c == '+' || c == '.')
        {
            squeezed += static_cast<char>(std::tolower(byte));
        }
    }
    return squeezed;
}

std::vector<std::string>
FindMeant(const std::string& name, const std::vector<std::string>& names)
{
    const std::string alias = FindAlias(name, names);
    const std::string known = alias.empty() ? FindByOtherName(name, names) : alias;
    if (!known.empty())
    {
        return {known};
    }
    const std::string typed = SqueezeName(name);
    std::vector<std::string> meant; // names that begin with it
    std::copy_if(names.begin(),
                 names.end(),
                 std::back_inserter(meant),
                 [&typed](const std::string& candidate) {
                     return !typed.empty() && SqueezeName(candidate).rfind(typed, 0) == 0;
                 });
    if (const std::string nearest = FindNearest(name, names); meant.empty() && !nearest.empty())
    {
        meant.push_back(nearest);
    }
    if (meant.empty())
    {
        std::copy_if(names.begin(),
                     names.end(),
                     std::back_inserter(meant),
                     [&name](const std::string& candidate) { return HasWords(name, candidate); });
    }
    return meant;
}

} // namespace proteus
} // namespace ns3
