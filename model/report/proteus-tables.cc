/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double PS_PER_S = 1e12;

/// @param text in UTF-8 @return number of its characters
std::size_t
WidthOf(const std::string& text)
{
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0) != 0x80; // no continuation byte
    }));
}

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
QuoteCsv(const std::string& field)
{
    if (field.find_first_of(",\"\r\n") == std::string::npos)
    {
        return field;
    }
    std::string quoted = "\"";
    for (char c : field)
    {
        quoted += c;
        if (c == '"')
        {
            quoted += c;
        }
    }
    return quoted + '"';
}

std::string
FormatTable(const std::vector<std::vector<std::string>>& rows,
            const std::string& alignment,
            const std::string& indent)
{
    if (alignment.empty() || alignment.find_first_not_of("lr") != std::string::npos)
    {
        throw std::invalid_argument("table: the alignment '" + alignment +
                                    "' must be letters l and r, at least one");
    }
    std::vector<std::size_t> widths;
    for (const auto& row : rows)
    {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i)
        {
            widths[i] = std::max(widths[i], WidthOf(row[i]));
        }
    }
    std::string text;
    for (const auto& row : rows)
    {
        std::string line = indent;
        for (std::size_t i = 0; i < row.size(); ++i)
        {
            const std::string padding(widths[i] - WidthOf(row[i]), ' ');
            const bool isRight = alignment[std::min(i, alignment.size() - 1)] == 'r';
            line += i == 0 ? "" : "  ";
            line += isRight ? padding + row[i] : row[i] + padding;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    }
    return text;
}

std::string
WrapText(const std::string& text, std::size_t columns, const std::string& indent)
{
    std::string lines;
    std::string line;
    std::istringstream words(text);
    for (std::string word; words >> word;)
    {
        if (!line.empty() && WidthOf(indent) + WidthOf(line) + 1 + WidthOf(word) > columns)
        {
            lines += indent + line + '\n';
            line.clear();
        }
        line += (line.empty() ? "" : " ") + word;
    }
    return line.empty() ? lines : lines + indent + line + '\n';
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
