/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nearest-name.h"

#include "proteus-comma-list.h"
#include "proteus-meant-names.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

namespace
{

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

} // namespace

std::string
FindNearest(const std::string& name, const std::vector<std::string>& names)
{
    const std::string typed = SqueezeName(name);
    std::string nearest;
    std::size_t least = std::max<std::size_t>(1, typed.size() / 3) + 1;
    for (const std::string& candidate : names)
    {
        const std::string other = SqueezeName(candidate);
        const std::size_t apart =
            typed.size() < other.size() ? other.size() - typed.size() : typed.size() - other.size();
        const std::size_t distance = apart < least ? GetDistance(typed, other) : apart;
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
    return SqueezeName(a) == SqueezeName(b);
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
    const std::vector<std::string> meant = FindMeant(name, names);
    return !meant.empty()  ? "did you mean " + ListAlternatives(meant) + "?"
           : names.empty() ? ""
                           : "there are " + ListNames(names);
}

} // namespace proteus
} // namespace ns3
