/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-option-values.h"

#include "ns3/nstime.h"
#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-ratio.h"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// Longest time of an option, s: the sum of several still fits into 64 bits of picoseconds.
constexpr double MOST_SECONDS = 1e6;
constexpr double LEAST_SECONDS = 1e-12; //!< shortest, but for 0: the resolution of simulated time

/// Most bytes of an option.
constexpr double MOST_BYTES = 1e15;

/// @return bytes, which need not be whole; nothing if it is no size
std::optional<double>
ToSize(const std::string& text)
{
    static const std::regex size("([0-9]+\\.?[0-9]*)([KMGTkmgt]?)(iB|B)?");
    std::smatch match;
    if (!std::regex_match(text, match, size) || (match[2].length() == 0 && match[3].matched))
    {
        return {};
    }
    double value = std::strtod(match[1].str().c_str(), nullptr);
    if (match[2].length() > 0)
    {
        const auto letter = static_cast<char>(std::toupper(match[2].str()[0]));
        const auto power = static_cast<int>(std::string("KMGT").find(letter) + 1);
        const bool isDecimal = match[3].str() == "B"; // GB is 1e9 bytes throughout
        value *= isDecimal ? std::pow(1000.0, power) : std::ldexp(1.0, 10 * power);
    }
    return value;
}

/// @return a number so that it reads back the same
std::string
Print(double value)
{
    std::ostringstream text;
    text.precision(std::numeric_limits<double>::max_digits10);
    text << value;
    return text.str();
}

[[noreturn]] void
Refuse(const std::string& option, const std::string& text, const std::string& expected)
{
    throw std::invalid_argument(option + "=" + text + ": " + expected);
}

std::string
NormaliseWhole(const std::string& option, const std::string& text)
{
    static const std::regex whole("[+-]?[0-9]+");
    if (std::regex_match(text, whole))
    {
        try
        {
            return std::to_string(std::stoll(text));
        }
        catch (const std::out_of_range&)
        {
            Refuse(option, text, "is too large");
        }
    }
    // What was probably meant.
    const auto number = ParseDecimal(text);
    const auto value = number ? number : ToSize(text);
    const bool isWhole = value && *value == std::floor(*value) && std::abs(*value) < 1e15;
    Refuse(option,
           text,
           "must be a whole number" +
               (isWhole ? ": write " + option + "=" + std::to_string(static_cast<int64_t>(*value))
                        : std::string()));
}

std::string
NormaliseRatio(const std::string& option, const std::string& text)
{
    if (ParseDecimal(text))
    {
        return text;
    }
    if (const auto ratio = ParseRatio(text))
    {
        return Print(*ratio);
    }
    Refuse(option, text, "must be a number, a ratio such as 2:1, or per cent such as 10%");
}

/// @param text of a time @return with "u" for the sign of micro, of which Unicode has two
std::string
WriteMicro(std::string text)
{
    for (const std::string micro : {"\u00b5", "\u03bc"})
    {
        const std::size_t at = text.find(micro);
        if (at != std::string::npos)
        {
            text.replace(at, micro.size(), "u");
        }
    }
    return text;
}

std::string
NormaliseTime(const std::string& option, const std::string& text)
{
    static const std::regex time("([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)(fs|ps|ns|us|ms|s|min|h|d|y)?");
    std::smatch match;
    if (!std::regex_match(text, match, time) || !ParseDecimal(match[1].str()))
    {
        Refuse(option, text, "must be a time with its unit, such as 5us or 1.5ms");
    }
    if (!match[2].matched)
    {
        if (*ParseDecimal(match[1].str()) == 0)
        {
            return text + "s";
        }
        Refuse(option, text, "needs a unit, e.g. " + option + "=" + text + "us");
    }
    static const std::map<std::string, double> seconds{{"fs", 1e-15},
                                                       {"ps", 1e-12},
                                                       {"ns", 1e-9},
                                                       {"us", 1e-6},
                                                       {"ms", 1e-3},
                                                       {"s", 1},
                                                       {"min", 60},
                                                       {"h", 3600},
                                                       {"d", 86400},
                                                       {"y", 365 * 86400}};
    constexpr double ROUNDING = 1e-9; // of the product
    const double length = std::abs(*ParseDecimal(match[1].str())) * seconds.at(match[2].str());
    if (length > MOST_SECONDS || (length > 0 && length < LEAST_SECONDS * (1 - ROUNDING)))
    {
        Refuse(option, text, "must be a time from 1ps to 1e6s, or 0");
    }
    return text;
}

/// What can follow a number, and how many of an option's own unit it is.
using Units = std::vector<std::pair<std::string, double>>;

const Units SECONDS_UNITS{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"min", 60}, {"h", 3600}};

const Units MICROSECONDS_UNITS{{"us", 1}, {"ns", 1e-3}, {"ms", 1e3}, {"s", 1e6}};

const Units GIGABYTES_UNITS{{"GB", 1},
                            {"G", 1},
                            {"GiB", 1.073741824},
                            {"MB", 1e-3},
                            {"MiB", 1.048576e-3},
                            {"TB", 1e3},
                            {"TiB", 1099.511627776}};

/// @param units that may follow; without one, it is the first @return a number of the first unit
std::string
NormaliseQuantity(const Units& units, const std::string& option, const std::string& text)
{
    if (ParseDecimal(text))
    {
        return text;
    }
    std::string names;
    for (const auto& [unit, factor] : units)
    {
        const bool ends = text.size() > unit.size() &&
                          text.compare(text.size() - unit.size(), unit.size(), unit) == 0;
        const auto number =
            ends ? ParseDecimal(text.substr(0, text.size() - unit.size())) : std::nullopt;
        if (number)
        {
            return Print(*number * factor);
        }
        AppendName(names, unit);
    }
    Refuse(option,
           text,
           "must be a number, in " + units.front().first + " or with one of " + names);
}

} // namespace

std::string
GetPlaceholder(OptionKind kind)
{
    switch (kind)
    {
    case OptionKind::FLAG:
        return "";
    case OptionKind::WHOLE:
        return "N";
    case OptionKind::NUMBER:
        return "NUMBER";
    case OptionKind::RATIO:
        return "RATIO";
    case OptionKind::SIZE:
        return "SIZE";
    case OptionKind::TIME:
    case OptionKind::SECONDS:
    case OptionKind::MICROSECONDS:
        return "TIME";
    case OptionKind::GIGABYTES:
        return "SIZE";
    case OptionKind::OUTPUT:
        return "FILE";
    case OptionKind::TEXT:
        break;
    }
    return "TEXT";
}

std::string
PrintTime(const std::string& text)
{
    const double ps = static_cast<double>(Time(text).GetPicoSeconds());
    std::ostringstream out;
    for (const auto& [unit, size] :
         {std::pair{"s", 1e12}, {"ms", 1e9}, {"us", 1e6}, {"ns", 1e3}, {"ps", 1.0}})
    {
        if (std::abs(ps) >= size)
        {
            out << ps / size << unit;
            return out.str();
        }
    }
    return "0";
}

std::string
NormaliseValue(OptionKind kind, const std::string& option, const std::string& text)
{
    switch (kind)
    {
    case OptionKind::FLAG:
        for (const char* word : {"true", "false", "1", "0", "t", "f"})
        {
            if (text == word)
            {
                return text;
            }
        }
        Refuse(option, text, "is a switch: write " + option + ", or " + option + "=false");
    case OptionKind::WHOLE:
        return NormaliseWhole(option, text);
    case OptionKind::NUMBER:
        if (!ParseDecimal(text))
        {
            Refuse(option, text, "must be a number");
        }
        return text;
    case OptionKind::RATIO:
        return NormaliseRatio(option, text);
    case OptionKind::SIZE:
        return std::to_string(ParseSize(text, option.substr(option.find_first_not_of('-'))));
    case OptionKind::TIME:
        return NormaliseTime(option, WriteMicro(text));
    case OptionKind::SECONDS:
        return NormaliseQuantity(SECONDS_UNITS, option, WriteMicro(text));
    case OptionKind::MICROSECONDS:
        return NormaliseQuantity(MICROSECONDS_UNITS, option, WriteMicro(text));
    case OptionKind::GIGABYTES:
        return NormaliseQuantity(GIGABYTES_UNITS, option, text);
    case OptionKind::TEXT:
    case OptionKind::OUTPUT:
        break;
    }
    return text;
}

uint64_t
ParseSize(const std::string& text, const std::string& option)
{
    const auto bytes = ToSize(text);
    if (bytes && *bytes > MOST_BYTES)
    {
        throw std::invalid_argument("--" + option + "=" + text + ": is more than 1e15 bytes");
    }
    if (!bytes || *bytes < 1)
    {
        throw std::invalid_argument("--" + option + "=" + text +
                                    ": must be a size such as 8, 512K, 64M or 1G");
    }
    // To nccl-tests 1MB is 1M, to everything else here 1e6.
    const std::size_t letters = text.find_first_of("KMGTkmgt");
    if (letters != std::string::npos && text.compare(letters + 1, std::string::npos, "B") == 0)
    {
        throw std::invalid_argument(
            "--" + option + "=" + text + ": write " + text.substr(0, letters + 1) +
            " for powers of 1024, as nccl-tests takes it, or " +
            (*bytes == std::floor(*bytes) ? std::to_string(static_cast<uint64_t>(*bytes))
                                          : std::string("the bytes")) +
            " for powers of 1000");
    }
    if (*bytes != std::floor(*bytes))
    {
        throw std::invalid_argument("--" + option + "=" + text + ": is no whole number of bytes");
    }
    return static_cast<uint64_t>(*bytes);
}

} // namespace proteus
} // namespace ns3
