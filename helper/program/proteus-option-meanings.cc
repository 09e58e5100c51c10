/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-option-meanings.h"

#include "proteus-name-lists.h"

#include "ns3/nstime.h"
#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-cluster-text.h"
#include "ns3/proteus-input-file.h"
#include "ns3/proteus-output-plan.h"
#include "ns3/proteus-split.h"

#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// A longer strategy is none.
constexpr std::size_t MOST_STRATEGY_BYTES = std::size_t{64} << 20;

/// @param number any @return it, so that no other number reads the same
std::string
Print(double number)
{
    std::ostringstream text;
    text << std::setprecision(std::numeric_limits<double>::max_digits10) << number;
    return text.str();
}

/// @param settings NAME=VALUE, ..., or something else @return the same text for the same settings
/// in another order; else what it got
std::string
SortSettings(const std::string& settings)
{
    std::vector<std::string> items = SplitList(settings);
    if (!std::all_of(items.begin(), items.end(), [](const std::string& item) {
            return item.find('=') != std::string::npos;
        }))
    {
        return settings;
    }
    std::sort(items.begin(), items.end());
    std::string all;
    for (const std::string& item : items)
    {
        all += (all.empty() ? "" : ",") + item;
    }
    return all;
}

} // namespace

std::string
GetValueMeaning(OptionKind kind, const std::string& text)
{
    switch (kind)
    {
    case OptionKind::FLAG:
        return text == "true" || text == "t" || text == "1" ? "true" : "false";
    case OptionKind::WHOLE:
        return std::to_string(std::stoll(text));
    case OptionKind::NUMBER:
    case OptionKind::RATIO:
    case OptionKind::SIZE:
    case OptionKind::SECONDS:
    case OptionKind::MICROSECONDS:
    case OptionKind::GIGABYTES:
        return Print(std::stod(text));
    case OptionKind::TIME:
        return std::to_string(Time(text).GetPicoSeconds());
    case OptionKind::TEXT:
    case OptionKind::OUTPUT:
        break;
    }
    std::error_code none; // a text that is no path is no file
    return std::filesystem::is_regular_file(text, none) ? FindRealPath(text) : SortSettings(text);
}

std::string
GetClusterMeaning(const std::string& text)
{
    const std::string name = FindClusterName(text);
    const std::string path = GetClusterPath(name);
    std::error_code none; // a text that is no path is no file
    const bool isFile = std::filesystem::is_regular_file(path, none);
    const std::string head = isFile ? path : GetTextPreset(name);
    const std::string meant = isFile ? FindRealPath(path) : head;
    return head.size() < name.size() ? meant + ':' + SortSettings(name.substr(head.size() + 1))
                                     : meant;
}

std::string
GetStrategyMeaning(const std::string& text)
{
    std::error_code none; // a text that is no path is no file
    std::string json = text;
    if (std::filesystem::is_regular_file(text, none))
    {
        InputFile file(text);
        json = ReadWhole(file.GetStream(), text, MOST_STRATEGY_BYTES);
    }
    const nlohmann::json fields = nlohmann::json::parse(json, nullptr, false);
    if (!fields.is_object())
    {
        return SortSettings(text);
    }
    std::string settings;
    for (const auto& [name, value] : fields.items())
    {
        if (name != "name")
        {
            settings += (settings.empty() ? "" : ",") + name + "=" +
                        (value.is_string()   ? value.get<std::string>()
                         : value.is_number() ? Print(value.get<double>())
                                             : value.dump());
        }
    }
    return settings; // in order
}

} // namespace proteus
} // namespace ns3
