/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-number-text.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double PS_PER_S = 1e12;

/// @param value in the first of the units @param units each 1000 times the one before
/// @param decimals of the result; none in the first unit
template <std::size_t N>
std::string
FormatWithUnit(double value, const std::array<const char*, N>& units, int decimals)
{
    // What would be printed as 1000.00 belongs to the next unit.
    const auto limit = [decimals](std::size_t unit) {
        return 1000.0 - 0.5 * std::pow(10.0, unit == 0 ? 0 : -decimals);
    };
    std::size_t i = 0;
    while (i + 1 < N && std::fabs(value) >= limit(i))
    {
        value /= 1000.0;
        ++i;
    }
    return FormatNumber(value, i == 0 ? 0 : decimals) + " " + units[i];
}

} // namespace

std::string
FormatCount(uint64_t count)
{
    std::string text = std::to_string(count);
    for (auto i = static_cast<std::ptrdiff_t>(text.size()) - 3; i > 0; i -= 3)
    {
        text.insert(static_cast<std::size_t>(i), 1, ',');
    }
    return text;
}

std::string
FormatNumber(double value, int decimals)
{
    const int length = std::snprintf(nullptr, 0, "%.*f", decimals, value);
    std::string text(static_cast<std::size_t>(length) + 1, '\0');
    std::snprintf(&text[0], text.size(), "%.*f", decimals, value);
    text.pop_back();
    return text;
}

std::string
FormatPercent(double share, int decimals)
{
    constexpr double PERCENT = 100;
    return FormatNumber(PERCENT * share, decimals) + " %";
}

std::string
FormatTime(double seconds)
{
    constexpr std::array<const char*, 5> UNITS{"ps", "ns", "us", "ms", "s"};
    return FormatWithUnit(seconds * PS_PER_S, UNITS, 3);
}

std::string
FormatBytes(double bytes)
{
    constexpr std::array<const char*, 6> UNITS{"B", "kB", "MB", "GB", "TB", "PB"};
    return FormatWithUnit(bytes, UNITS, 2);
}

std::string
FormatPicoseconds(int64_t ps, int decimals)
{
    // The magnitude without a sign: that of the smallest number does not fit with one.
    const uint64_t magnitude = ps < 0 ? 0 - static_cast<uint64_t>(ps) : static_cast<uint64_t>(ps);
    std::string text = std::to_string(magnitude);
    const auto nDecimals = static_cast<std::size_t>(decimals);
    if (text.size() <= nDecimals)
    {
        text.insert(0, nDecimals + 1 - text.size(), '0');
    }
    if (decimals > 0)
    {
        text.insert(text.size() - nDecimals, 1, '.');
    }
    return ps < 0 ? "-" + text : text;
}

} // namespace proteus
} // namespace ns3
