/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-published-logs.h"

#include "proteus-error-list.h"

#include "ns3/proteus-gpu-model.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iomanip>
#include <sstream>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr ErrorListFormat FORMAT{"proteus-published-logs", 2, "errors of published logs", "logs"};
constexpr uint64_t MOST_LOGS = 1000000;
constexpr double MOST_ERROR = 1000;
/// Where the errors and what they are of stand.
constexpr const char* MANUAL = " (doc/measured-collectives.rst)";

/// What a GpuNetwork is called.
struct NetworkName
{
    const char* name;  //!< in the file
    const char* words; //!< of machines that have it
};

/// By GpuNetwork.
constexpr std::array<NetworkName, 4> NETWORKS{{
    {"", "one server"},
    {"NICs at GPUs", "several servers, NICs at GPUs,"},
    {"a plug-in", "several servers, a plug-in,"},
    {"over CPUs", "several servers, over CPUs or by sockets,"},
}};

/// @param network a network @return what it is called
const NetworkName&
GetName(GpuNetwork network)
{
    return NETWORKS.at(static_cast<std::size_t>(network));
}

/// @param logs of all kinds @param gpu of a kind; empty: the one of all @param network of it
/// @return the kind, or the end
std::vector<PublishedLogs>::const_iterator
FindKind(const std::vector<PublishedLogs>& logs, const std::string& gpu, GpuNetwork network)
{
    return std::find_if(logs.begin(), logs.end(), [&](const PublishedLogs& kind) {
        return kind.network == network &&
               (gpu.empty()
                    ? kind.gpus.empty()
                    : std::find(kind.gpus.begin(), kind.gpus.end(), gpu) != kind.gpus.end());
    });
}

/// @param json the name of a network @return the network
GpuNetwork
ReadNetwork(const JsonValue& json)
{
    const std::string& name = json.AsString();
    const auto found = std::find_if(NETWORKS.begin(), NETWORKS.end(), [&](const NetworkName& one) {
        return one.name == name;
    });
    if (found == NETWORKS.end())
    {
        json.Fail("is no network of published logs");
    }
    return static_cast<GpuNetwork>(found - NETWORKS.begin());
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
                    "network",
                    "logs",
                    "peakHalfWithin",
                    "peakNineOfTenWithin",
                    "fromMiBHalfWithin",
                    "fromMiBNineOfTenWithin"});
    PublishedLogs kind;
    kind.what = json.Get("what").AsName();
    kind.network = ReadNetwork(json.Get("network"));
    const JsonValue gpus = json.Get("gpus");
    if (gpus.Size() == 0 && FindKind(before, "", kind.network) != before.end())
    {
        gpus.Fail("are all, which have logs already");
    }
    for (std::size_t i = 0; i < gpus.Size(); ++i)
    {
        const std::string& gpu = gpus.At(i).AsName();
        gpus.At(i).Check([&] { return FindGpuDatasheet(gpu); });
        if (FindKind(before, gpu, kind.network) != before.end())
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
    return ReadErrorList(input, fileName, FORMAT, ReadKind);
}

std::string
DescribePublishedLogs(const std::vector<PublishedLogs>& logs,
                      const std::string& gpu,
                      GpuNetwork network)
{
    const std::string servers = GetName(network).words;
    auto kind = FindKind(logs, FindGpuDatasheet(gpu).model, network);
    const bool isOfItsOwn = kind != logs.end();
    if (!isOfItsOwn)
    {
        kind = FindKind(logs, "", network);
    }
    if (kind == logs.end())
    {
        return "too few published logs of " + servers + " with " + gpu +
               " were compared to say how far collectives are off" + MANUAL;
    }
    const auto percent = [](double share) { return 100 * share; };
    std::ostringstream text;
    text << std::fixed << std::setprecision(1) << "of " << kind->logs << " published logs of "
         << servers << " with " << (isOfItsOwn ? kind->what : "any GPUs (too few with " + gpu + ")")
         << " half have their peak computed within " << percent(kind->peak.halfWithin)
         << " %, nine of ten within " << percent(kind->peak.nineOfTenWithin)
         << " %; times from 1 MiB on within " << percent(kind->fromMiB.halfWithin) << " and "
         << percent(kind->fromMiB.nineOfTenWithin) << " %" << MANUAL;
    return text.str();
}

} // namespace proteus
} // namespace ns3
