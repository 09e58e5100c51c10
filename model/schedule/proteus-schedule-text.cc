/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-schedule-text.h"

#include "ns3/proteus-split.h"
#include "ns3/proteus-whole-number.h"

#include <functional>
#include <map>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param key a setting @param text its value @return the number
template <typename T>
T
ToNumber(const std::string& key, const std::string& text)
{
    const auto number = ParseWholeNumber<T>(text);
    if (!number)
    {
        throw std::invalid_argument("schedule: " + key + "=" + text +
                                    ": must be a whole number, e.g. " + key + "=4000000");
    }
    return *number;
}

/// @param text kinds joined by '+' @return them
std::vector<Parallelism>
ToKinds(const std::string& text)
{
    std::vector<Parallelism> kinds;
    for (const std::string& name : SplitOnce("schedule: kinds=" + text, text, '+'))
    {
        kinds.push_back(ParallelismFromString(name));
    }
    return kinds;
}

} // namespace

ScheduleSettings
ParseScheduleSettings(const std::string& text)
{
    ScheduleSettings settings;
    const std::map<std::string, std::function<void(const std::string&)>> setters{
        {"partBytes",
         [&](const std::string& value) {
             settings.partBytes = ToNumber<uint64_t>("partBytes", value);
         }},
        {"creditBytes",
         [&](const std::string& value) {
             settings.creditBytes = ToNumber<uint64_t>("creditBytes", value);
         }},
        {"bucketBytes",
         [&](const std::string& value) {
             settings.bucketBytes = ToNumber<uint64_t>("bucketBytes", value);
         }},
        {"messagePs",
         [&](const std::string& value) {
             settings.messagePs = ToNumber<int64_t>("messagePs", value);
         }},
        {"serial",
         [&](const std::string& value) {
             settings.isSerial = ToNumber<uint32_t>("serial", value) != 0;
         }},
        {"kinds", [&](const std::string& value) { settings.kinds = ToKinds(value); }}};
    const std::size_t comma = text.find(',');
    settings.policy = text.substr(0, comma);
    const std::string rest = comma == std::string::npos ? "" : text.substr(comma + 1);
    for (const auto& [key, value] : SplitSettings("schedule: " + text, rest, "partBytes=4000000"))
    {
        const auto setter = setters.find(key);
        if (setter == setters.end())
        {
            std::string known;
            for (const auto& [name, set] : setters)
            {
                known += (known.empty() ? "" : ", ") + name + "=";
            }
            throw std::invalid_argument("schedule: unknown setting '" + key + "=" + value +
                                        "'; there are: " + known);
        }
        setter->second(value);
    }
    CheckScheduleSettings(settings);
    return settings;
}

} // namespace proteus
} // namespace ns3
