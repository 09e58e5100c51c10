/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-tables.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param text in UTF-8 @return number of its characters
std::size_t
WidthOf(const std::string& text)
{
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0) != 0x80; // no continuation byte
    }));
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

} // namespace proteus
} // namespace ns3
