/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-schedule-text.h"

#include "ns3/proteus-comma-list.h"
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

/// @param key of the setting @param text of its value @return whether it is on
bool
ToFlag(const std::string& key, const std::string& text)
{
    if (text != "0" && text != "1" && text != "false" && text != "true")
    {
        throw std::invalid_argument("schedule: " + key + "=" + text + ": must be true or false");
    }
    return text == "1" || text == "true";
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
        {"serial", [&](const std::string& value) { settings.isSerial = ToFlag("serial", value); }},
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
                AppendName(known, name + "=");
            }
            throw std::invalid_argument("schedule: unknown setting '" + key + "=" + value +
                                        "'; there are: " + known);
        }
        setter->second(value);
    }
    CheckScheduleSettings(settings);
    return settings;
}

namespace
{

/// @param policy that decides @param creditBytes what may be under way
/// @return how many of two ready communications it starts at once
uint32_t
CountStarted(const SchedulingPolicy& policy, uint64_t creditBytes)
{
    ScheduleSettings settings;
    settings.creditBytes = creditBytes;
    const auto scheduler = policy.make(settings);
    for (const uint32_t part : {0, 1})
    {
        ReadyCommunication ready;
        ready.bytes = 2;
        ready.part = part;
        scheduler->Add(ready);
    }
    uint32_t nStarted = 0;
    while (scheduler->TakeNext())
    {
        ++nStarted;
    }
    return nStarted;
}

} // namespace

bool
HeedsCredit(const SchedulingPolicy& policy)
{
    return policy.make && CountStarted(policy, 1) < CountStarted(policy, CreditWindow::UNLIMITED);
}

bool
StartsSeveral(const SchedulingPolicy& policy)
{
    return policy.make && CountStarted(policy, CreditWindow::UNLIMITED) > 1;
}

std::vector<std::string>
ListUnusedSettings(const ScheduleSettings& settings)
{
    const ScheduleSettings defaults;
    const SchedulingPolicy policy = FindSchedulingPolicy(settings.policy);
    const bool merges = policy.transform != nullptr;
    const bool decides = policy.make != nullptr;
    const bool isCut = !merges && settings.partBytes != defaults.partBytes;
    std::vector<std::string> unused;
    const auto add = [&unused](const std::string& key, auto value, auto usual, bool isUsed) {
        if (value != usual && !isUsed)
        {
            unused.push_back(key + "=" + std::to_string(value));
        }
    };
    add("partBytes", settings.partBytes, defaults.partBytes, !merges);
    add("creditBytes", settings.creditBytes, defaults.creditBytes, HeedsCredit(policy));
    add("bucketBytes", settings.bucketBytes, defaults.bucketBytes, merges);
    add("messagePs", settings.messagePs, defaults.messagePs, decides);
    add("serial", settings.isSerial, defaults.isSerial, StartsSeveral(policy));
    if (settings.kinds != defaults.kinds && !merges && !decides && !isCut)
    {
        std::string kinds;
        for (const Parallelism kind : settings.kinds)
        {
            kinds += (kinds.empty() ? "" : "+") + std::string(ToString(kind));
        }
        unused.push_back("kinds=" + kinds);
    }
    return unused;
}

} // namespace proteus
} // namespace ns3
