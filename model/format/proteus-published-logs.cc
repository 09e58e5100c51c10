/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-published-logs.h"

#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-json.h"

#include <algorithm>
#include <cstddef>
#include <iomanip>
#include <sstream>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr const char* FORMAT = "proteus-published-logs";
constexpr uint32_t VERSION = 1;
constexpr uint64_t MOST_LOGS = 1000000;
constexpr double MOST_ERROR = 1000;
/// Where the errors and what they are of stand.
constexpr const char* MANUAL = " (doc/measured-collectives.rst)";

/// @param logs of all kinds @param gpu of a kind @param isOfSeveralServers of it
/// @return the kind, or the end
std::vector<PublishedLogs>::const_iterator
FindKind(const std::vector<PublishedLogs>& logs, const std::string& gpu, bool isOfSeveralServers)
{
    return std::find_if(logs.begin(), logs.end(), [&](const PublishedLogs& kind) {
        return kind.isOfSeveralServers == isOfSeveralServers &&
               std::find(kind.gpus.begin(), kind.gpus.end(), gpu) != kind.gpus.end();
    });
}

/// @param json a kind @param half key of what half of the logs do not exceed @param nineOfTen key
/// of what nine of ten do not @return both
PublishedLogs::Errors
ReadErrors(const JsonValue& json, const char* half, const char* nineOfTen)
{
    PublishedLogs::Errors errors;
    errors.halfWithin = json.Get(half).AsNumber(0, MOST_ERROR);
    errors.nineOfTenWithin = json.Get(nineOfTen).AsNumber(errors.halfWithin, MOST_ERROR);
    return errors;
}

PublishedLogs
ReadKind(const JsonValue& json, const std::vector<PublishedLogs>& before)
{
    json.AllowKeys("logs",
                   {"what",
                    "gpus",
                    "severalServers",
                    "logs",
                    "peakHalfWithin",
                    "peakNineOfTenWithin",
                    "fromMiBHalfWithin",
                    "fromMiBNineOfTenWithin"});
    PublishedLogs kind;
    kind.what = json.Get("what").AsName();
    kind.isOfSeveralServers = json.Get("severalServers").AsBool();
    const JsonValue gpus = json.Get("gpus");
    for (std::size_t i = 0; i < gpus.Size(); ++i)
    {
        const std::string& gpu = gpus.At(i).AsName();
        gpus.At(i).Check([&] { return FindGpuDatasheet(gpu); });
        if (FindKind(before, gpu, kind.isOfSeveralServers) != before.end())
        {
            gpus.At(i).Fail("has logs already");
        }
        kind.gpus.push_back(gpu);
    }
    kind.logs = static_cast<uint32_t>(json.Get("logs").AsWhole(1, MOST_LOGS));
    kind.peak = ReadErrors(json, "peakHalfWithin", "peakNineOfTenWithin");
    kind.fromMiB = ReadErrors(json, "fromMiBHalfWithin", "fromMiBNineOfTenWithin");
    return kind;
}

} // namespace

std::vector<PublishedLogs>
ReadPublishedLogs(std::istream& input, const std::string& fileName)
{
    const JsonDocument document(input, fileName);
    document.CheckFormat(FORMAT, VERSION);
    document.GetRoot().AllowKeys("errors of published logs",
                                 {"format", "version", "source", "logs"});
    const JsonValue list = document.GetRoot().Get("logs");
    std::vector<PublishedLogs> logs;
    for (std::size_t i = 0; i < list.Size(); ++i)
    {
        logs.push_back(ReadKind(list.At(i), logs));
    }
    return logs;
}

std::string
DescribePublishedLogs(const std::vector<PublishedLogs>& logs,
                      const std::string& gpu,
                      bool isOfSeveralServers)
{
    const std::string servers = isOfSeveralServers ? "several servers" : "one server";
    const auto kind = FindKind(logs, FindGpuDatasheet(gpu).model, isOfSeveralServers);
    if (kind == logs.end())
    {
        return "too few published logs of " + servers + " with " + gpu +
               " were compared to say how far collectives are off" + MANUAL;
    }
    const auto percent = [](double share) { return 100 * share; };
    std::ostringstream text;
    text << std::fixed << std::setprecision(1) << "of " << kind->logs << " published logs of "
         << servers << " with " << kind->what << " half have their peak computed within "
         << percent(kind->peak.halfWithin) << " %, nine of ten within "
         << percent(kind->peak.nineOfTenWithin) << " %; times from 1 MiB on within "
         << percent(kind->fromMiB.halfWithin) << " and " << percent(kind->fromMiB.nineOfTenWithin)
         << " %" << MANUAL;
    return text.str();
}

} // namespace proteus
} // namespace ns3
