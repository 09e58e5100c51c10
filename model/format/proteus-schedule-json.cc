/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-schedule-json.h"

#include "ns3/proteus-json.h"

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

namespace ns3
{
namespace proteus
{

namespace
{

using Json = nlohmann::ordered_json;

constexpr const char* FORMAT = "proteus-schedule";

void
ReadBytes(const JsonValue& root, const char* key, uint64_t& bytes)
{
    if (const auto field = root.Find(key))
    {
        bytes = field->AsWhole(1, INT64_MAX); // of 0 bytes nothing would ever start
    }
}

/// Checks the record of a search, which nothing but people read.
/// @param search how the sizes were found
void
CheckSearch(const JsonValue& search)
{
    search.AllowKeys("a search", {"method", "seed", "trials"});
    search.Get("method").AsName();
    search.Get("seed").AsWhole(0, INT64_MAX);
    const JsonValue trials = search.Get("trials");
    for (std::size_t i = 0; i < trials.Size(); ++i)
    {
        trials.At(i).AllowKeys("a trial", {"partBytes", "creditBytes", "iterationS"});
        for (const char* size : {"partBytes", "creditBytes"})
        {
            trials.At(i).Get(size).AsWhole(1, INT64_MAX);
        }
        trials.At(i).Get("iterationS").AsNumber(0, std::numeric_limits<double>::max());
    }
}

} // namespace

void
WriteScheduleJson(const ScheduleSettings& settings,
                  const ScheduleSearch* search,
                  std::ostream& output)
{
    Json root;
    root["format"] = FORMAT;
    root["version"] = 1;
    root["policy"] = settings.policy;
    if (settings.partBytes != ScheduleSettings::WHOLE)
    {
        root["partBytes"] = settings.partBytes;
    }
    if (settings.creditBytes != CreditWindow::UNLIMITED)
    {
        root["creditBytes"] = settings.creditBytes;
    }
    root["bucketBytes"] = settings.bucketBytes;
    for (const Parallelism kind : settings.kinds)
    {
        root["kinds"].push_back(ToString(kind));
    }
    root["messagePs"] = settings.messagePs;
    if (settings.isSerial)
    {
        root["serial"] = true;
    }
    if (search)
    {
        root["search"]["method"] = search->method;
        root["search"]["seed"] = search->seed;
        for (const TunerTrial& trial : search->result.trials)
        {
            Json one;
            one["partBytes"] = static_cast<uint64_t>(trial.values[0]);
            one["creditBytes"] = static_cast<uint64_t>(trial.values[1]);
            one["iterationS"] = trial.cost;
            root["search"]["trials"].push_back(one);
        }
    }
    output << root.dump(1) << '\n';
}

ScheduleSettings
ReadScheduleJson(std::istream& input, const std::string& fileName)
{
    const JsonDocument document(input, fileName);
    document.CheckFormat(FORMAT, 1);
    const JsonValue root = document.GetRoot();
    root.AllowKeys("a schedule",
                   {"format",
                    "version",
                    "policy",
                    "partBytes",
                    "creditBytes",
                    "bucketBytes",
                    "kinds",
                    "messagePs",
                    "serial",
                    "search"});
    ScheduleSettings settings;
    const JsonValue policy = root.Get("policy");
    settings.policy = policy.Check([&] { return FindSchedulingPolicy(policy.AsName()).name; });
    ReadBytes(root, "partBytes", settings.partBytes);
    ReadBytes(root, "creditBytes", settings.creditBytes);
    ReadBytes(root, "bucketBytes", settings.bucketBytes);
    if (const auto kinds = root.Find("kinds"))
    {
        settings.kinds.clear();
        if (kinds->Size() == 0)
        {
            kinds->Fail(
                "must name a kind of communication to order; leave it out for the usual ones");
        }
        for (std::size_t i = 0; i < kinds->Size(); ++i)
        {
            const JsonValue kind = kinds->At(i);
            settings.kinds.push_back(
                kind.Check([&] { return ParallelismFromString(kind.AsName()); }));
        }
    }
    if (const auto message = root.Find("messagePs"))
    {
        settings.messagePs =
            static_cast<int64_t>(message->AsWhole(0, static_cast<uint64_t>(MOST_MESSAGE_PS)));
    }
    if (const auto serial = root.Find("serial"))
    {
        settings.isSerial = serial->AsBool();
    }
    if (const auto search = root.Find("search"))
    {
        CheckSearch(*search);
    }
    root.Check([&] {
        CheckScheduleSettings(settings);
        return 0;
    });
    return settings;
}

} // namespace proteus
} // namespace ns3
