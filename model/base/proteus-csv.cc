/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-csv.h"

#include <cmath>
#include <cstdio>

namespace ns3
{
namespace proteus
{

std::string
CsvText(const std::string& text)
{
    if (text.find_first_of(",\"\r\n") == std::string::npos)
    {
        return text;
    }
    std::string quoted = "\"";
    for (char c : text)
    {
        quoted += c == '"' ? "\"\"" : std::string(1, c);
    }
    return quoted + '"';
}

std::string
CsvNanoseconds(int64_t ps)
{
    std::string text = std::to_string(ps / 1000);
    if (ps % 1000 != 0)
    {
        const std::string decimals = std::to_string(1000 + ps % 1000).substr(1);
        text += '.' + decimals.substr(0, decimals.find_last_not_of('0') + 1);
    }
    return text;
}

std::string
CsvReal(double value)
{
    if (!std::isfinite(value))
    {
        return "";
    }
    char text[32];
    std::snprintf(text, sizeof(text), "%.6g", value);
    return text;
}

} // namespace proteus
} // namespace ns3
