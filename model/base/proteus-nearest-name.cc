/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nearest-name.h"

#include "proteus-comma-list.h"
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

/// @return letters and digits in lower case; those beyond ASCII are letters as they are
std::string
Squeeze(const std::string& name)
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

/// @return letters to change, add, leave out or swap with their neighbour (optimal string
/// alignment)
std::size_t
GetDistance(const std::string& a, const std::string& b)
{
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i)
    {
        for (std::size_t j = 0; j <= b.size(); ++j)
        {
            if (i == 0 || j == 0)
            {
                d[i][j] = i + j;
                continue;
            }
            const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
            {
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }
    return d[a.size()][b.size()];
}

/// @return the words of a name, squeezed
std::vector<std::string>
SplitWords(const std::string& name)
{
    std::vector<std::string> words(1);
    for (const char c : name)
    {
        const std::string letter = Squeeze(std::string(1, c));
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
    const std::string squeezed = Squeeze(name);
    const std::vector<std::string> words = SplitWords(typed);
    return std::all_of(words.begin(),
                       words.end(),
                       [&squeezed](const std::string& word) {
                           return squeezed.find(word) != std::string::npos;
                       })
               ? Squeeze(typed).size() >= LEAST
               : squeezed.size() >= LEAST && Squeeze(typed).find(squeezed) != std::string::npos;
}

} // namespace

std::string
FindNearest(const std::string& name, const std::vector<std::string>& names)
{
    const std::string typed = Squeeze(name);
    std::string nearest;
    std::size_t least = std::max<std::size_t>(1, typed.size() / 3) + 1;
    for (const std::string& candidate : names)
    {
        const std::size_t distance = GetDistance(typed, Squeeze(candidate));
        if (distance < least)
        {
            least = distance;
            nearest = candidate;
        }
    }
    return nearest;
}

bool
IsSameName(const std::string& a, const std::string& b)
{
    return Squeeze(a) == Squeeze(b);
}

std::string
FindAlias(const std::string& name, const std::vector<std::string>& names)
{
    for (const std::string& candidate : names)
    {
        if (IsSameName(candidate, name))
        {
            return candidate;
        }
    }
    return "";
}

std::string
Suggest(const std::string& name, const std::vector<std::string>& names)
{
    if (const std::string known = FindByOtherName(name, names); !known.empty())
    {
        return "did you mean " + known + "?";
    }
    const std::string typed = Squeeze(name);
    std::vector<std::string> meant; // names that begin with it
    std::string all;
    for (const std::string& candidate : names)
    {
        if (!typed.empty() && Squeeze(candidate).rfind(typed, 0) == 0)
        {
            meant.push_back(candidate);
        }
        all += (all.empty() ? "there are " : ", ") + candidate;
    }
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
    return meant.empty() ? all : "did you mean " + ListAlternatives(meant) + "?";
}

} // namespace proteus
} // namespace ns3
