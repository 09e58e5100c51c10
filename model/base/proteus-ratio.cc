/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-ratio.h"

#include <cmath>
#include <cstdlib>
#include <regex>

namespace ns3
{
namespace proteus
{

std::optional<double>
ParseDecimal(const std::string& text)
{
    static const std::regex number("[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?");
    if (!std::regex_match(text, number))
    {
        return {};
    }
    const double value = std::strtod(text.c_str(), nullptr);
    return std::isfinite(value) ? std::optional<double>(value) : std::nullopt;
}

std::optional<double>
ParseRatio(const std::string& text)
{
    const std::size_t colon = text.find(':');
    if (colon != std::string::npos)
    {
        const auto above = ParseDecimal(text.substr(0, colon));
        const auto below = ParseDecimal(text.substr(colon + 1));
        return above && below && *below > 0 ? std::optional<double>(*above / *below) : std::nullopt;
    }
    if (!text.empty() && text.back() == '%')
    {
        const auto percent = ParseDecimal(text.substr(0, text.size() - 1));
        return percent ? std::optional<double>(*percent / 100) : std::nullopt;
    }
    return ParseDecimal(text);
}

} // namespace proteus
} // namespace ns3
