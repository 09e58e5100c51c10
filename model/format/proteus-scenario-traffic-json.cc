/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-csv.h"
#include "proteus-input-file.h"
#include "proteus-scenario-json.h"
#include "proteus-scenario-reader.h"
#include "proteus-text-reader.h"

#include "ns3/proteus-enum-names.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr uint64_t MAX_BYTES = 1000000000000; //!< of a message
constexpr std::size_t MAX_MESSAGES = 1000000; //!< of a list or a round
constexpr double MAX_LOAD = 10;               //!< of senders
constexpr double PER_CENT = 100;              //!< all, in parts of distributions of sizes

/// Keys of all kinds, and of each kind.
const std::map<std::string, std::vector<const char*>>&
GetKeys()
{
    static const std::map<std::string, std::vector<const char*>> keys{
        {"list", {"file", "messages"}},
        {"poisson", {"servers", "gpus", "bytes", "sizes", "load", "messages_per_s"}},
        {"permutation", {"servers", "gpus", "bytes", "shift", "every"}},
        {"incast", {"to", "servers", "gpus", "bytes", "every"}},
        {"all-to-all", {"servers", "gpus", "bytes", "every"}}};
    return keys;
}

/// @return the size of messages
uint64_t
ReadBytes(const JsonValue& json)
{
    return json.Get("bytes").AsWhole(1, MAX_BYTES);
}

/// Refuses what has too many messages.
void
CheckCount(const JsonValue& json, std::size_t count)
{
    if (count > MAX_MESSAGES)
    {
        json.Fail(std::to_string(count) + " messages at once are too many: take fewer GPUs");
    }
}

/// Reads messages as they are.
void
ReadList(const JsonValue& json, const ScenarioReader& reader, TrafficPattern& pattern)
{
    if (json.Has("file") == json.Has("messages"))
    {
        json.Fail("needs either 'file', a list of flows, or 'messages'");
    }
    if (const auto file = json.Find("file"))
    {
        const std::string path = reader.GetPath(file->AsName());
        const auto& gpus = reader.GetCluster().GetGpus();
        const auto load = [&] { return LoadFlows(path, reader.GetCluster()); };
        for (const FlowSpec& flow : file->Check(load))
        {
            if (!flow.after.empty())
            {
                file->Fail("flow '" + flow.id + "' waits for others, which traffic cannot");
            }
            pattern.messages.push_back(
                {gpus[flow.source], gpus[flow.destination], flow.bytes, flow.startPs});
        }
    }
    const auto list = json.Find("messages");
    for (std::size_t i = 0; list && i < list->Size(); ++i)
    {
        const JsonValue element = list->At(i);
        element.AllowKeys("a message", {"from", "to", "bytes", "start"});
        TrafficMessage message;
        message.from = reader.ReadGpu(element.Get("from"));
        message.to = reader.ReadGpu(element.Get("to"));
        message.bytes = ReadBytes(element);
        if (const auto start = element.Find("start"))
        {
            message.startPs = ScenarioReader::ReadPs(*start);
        }
        if (message.from == message.to)
        {
            element.Fail("'from' and 'to' must be two GPUs");
        }
        pattern.messages.push_back(message);
    }
    CheckCount(json, pattern.messages.size());
    if (pattern.messages.empty())
    {
        (list ? *list : json).Fail("needs at least one message");
    }
    std::stable_sort(
        pattern.messages.begin(),
        pattern.messages.end(),
        [](const TrafficMessage& a, const TrafficMessage& b) { return a.startPs < b.startPs; });
}

/// @return the summed rate of the network links of the NICs of GPUs, bytes per second
double
FindRate(const std::vector<VertexId>& gpus, const ScenarioReader& reader)
{
    const Cluster& cluster = reader.GetCluster();
    std::set<LinkId> links;
    for (const VertexId gpu : gpus)
    {
        const VertexId nic = cluster.GetNic(gpu) == Cluster::NO_VERTEX ? gpu : cluster.GetNic(gpu);
        for (const LinkId link : reader.FindNetworkLinks(nic))
        {
            links.insert(link);
        }
    }
    double rate = 0;
    for (const LinkId link : links)
    {
        rate += cluster.GetLinks()[link].bytesPerSecond;
    }
    return rate;
}

/// Reads random messages.
void
ReadPoisson(const JsonValue& json, const ScenarioReader& reader, TrafficPattern& pattern)
{
    pattern.kind = TrafficPattern::Kind::POISSON;
    const std::vector<VertexId> gpus = reader.ReadGpus(json);
    std::map<int32_t, std::vector<VertexId>> byServer;
    for (const VertexId gpu : gpus)
    {
        byServer[reader.GetCluster().GetVertices()[gpu].server].push_back(gpu);
    }
    for (const auto& [server, own] : byServer)
    {
        pattern.servers.push_back(own);
    }
    if (pattern.servers.size() < 2)
    {
        json.Fail("needs GPUs of two servers or more");
    }
    if (json.Has("bytes") == json.Has("sizes"))
    {
        json.Fail("needs either 'bytes', the size of all messages, or 'sizes', a file");
    }
    pattern.sizes = {{0, 1}};
    if (const auto file = json.Find("sizes"))
    {
        const std::string path = reader.GetPath(file->AsName());
        pattern.sizes = file->Check([&path] {
            InputFile sizes(path);
            return ReadSizeDistribution(sizes.GetStream(), path);
        });
    }
    else
    {
        pattern.sizes = {{static_cast<double>(ReadBytes(json)), 1}};
    }
    if (json.Has("load") == json.Has("messages_per_s"))
    {
        json.Fail("needs either 'load', a part of the rate of the NICs, or 'messages_per_s'");
    }
    if (const auto load = json.Find("load"))
    {
        const double rate = FindRate(gpus, reader);
        if (rate == 0)
        {
            load->Fail("these GPUs have no NIC with a link: give 'messages_per_s'");
        }
        if (load->AsNumber(1e-6, MAX_LOAD) > 1 && !json.Has("until"))
        {
            load->Fail("is more than these NICs carry, so that ever more messages wait, and jobs "
                       "may not end: add 'until', or take 1 at most");
        }
        pattern.messagesPerSecond =
            load->AsNumber(1e-6, MAX_LOAD) * rate / FindMeanSize(pattern.sizes);
    }
    else
    {
        pattern.messagesPerSecond = json.Get("messages_per_s").AsNumber(1e-3, 1e12);
    }
}

/// Adds the messages of a permutation.
void
AddPermutation(const JsonValue& json,
               const std::vector<VertexId>& gpus,
               uint64_t bytes,
               TrafficPattern& pattern)
{
    const auto shift = json.Find("shift");
    const std::size_t by =
        shift ? shift->AsWhole(1, gpus.size() - 1) : std::max<std::size_t>(1, gpus.size() / 2);
    for (std::size_t i = 0; i < gpus.size(); ++i)
    {
        pattern.messages.push_back({gpus[i], gpus[(i + by) % gpus.size()], bytes, 0});
    }
}

/// Reads messages that may come again.
void
ReadRounds(const JsonValue& json,
           const std::string& kind,
           const ScenarioReader& reader,
           TrafficPattern& pattern)
{
    const std::vector<VertexId> gpus = reader.ReadGpus(json);
    const uint64_t bytes = ReadBytes(json);
    if (gpus.size() < 2)
    {
        json.Fail("needs two GPUs or more");
    }
    if (kind == "permutation")
    {
        AddPermutation(json, gpus, bytes, pattern);
    }
    else if (kind == "incast")
    {
        const VertexId to = reader.ReadGpu(json.Get("to"));
        for (const VertexId gpu : gpus)
        {
            if (gpu != to)
            {
                pattern.messages.push_back({gpu, to, bytes, 0});
            }
        }
    }
    else
    {
        CheckCount(json, gpus.size() * (gpus.size() - 1));
        for (std::size_t step = 1; step < gpus.size(); ++step) // in turn, not all to one at first
        {
            for (std::size_t i = 0; i < gpus.size(); ++i)
            {
                pattern.messages.push_back({gpus[i], gpus[(i + step) % gpus.size()], bytes, 0});
            }
        }
    }
    CheckCount(json, pattern.messages.size());
    if (const auto every = json.Find("every"))
    {
        pattern.kind = TrafficPattern::Kind::ROUNDS;
        pattern.everyPs = ScenarioReader::ReadPs(*every);
        if (pattern.everyPs < 1000)
        {
            every->Fail("must be 1 ns or more");
        }
    }
}

} // namespace

ScenarioTraffic
ReadScenarioTraffic(const JsonValue& json, const ScenarioReader& reader)
{
    const JsonValue kind = json.Get("kind");
    const std::string name = kind.AsName();
    const auto keys = GetKeys().find(name);
    if (keys == GetKeys().end())
    {
        std::vector<std::string> names;
        for (const auto& known : GetKeys())
        {
            names.push_back(known.first);
        }
        kind.Check([&] { FailUnknownName("kind of traffic", name, names); });
    }
    std::vector<const char*> all{"kind", "name", "from", "until", "traffic_class"};
    all.insert(all.end(), keys->second.begin(), keys->second.end());
    json.AllowKeys("traffic of kind " + name, all);
    ScenarioTraffic traffic;
    traffic.pattern.name = json.Has("name") ? json.Get("name").AsName() : name;
    ScenarioReader::ReadTimes(json, "from", traffic.from, traffic.until);
    if (const auto trafficClass = json.Find("traffic_class"))
    {
        traffic.pattern.trafficClass = static_cast<uint32_t>(trafficClass->AsWhole(1, 7));
    }
    if (name == "list")
    {
        ReadList(json, reader, traffic.pattern);
    }
    else if (name == "poisson")
    {
        ReadPoisson(json, reader, traffic.pattern);
    }
    else
    {
        ReadRounds(json, name, reader, traffic.pattern);
    }
    if (traffic.until && traffic.pattern.kind == TrafficPattern::Kind::LIST)
    {
        json.Get("until").Fail("belongs to traffic that goes on: add 'every', or leave it out");
    }
    return traffic;
}

SizeDistribution
ReadSizeDistribution(std::istream& input, const std::string& fileName)
{
    SizeDistribution sizes;
    TextReader reader(input, fileName);
    for (std::string line; reader.ReadLine(line);)
    {
        while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
        {
            line.pop_back();
        }
        if (line.empty() || line[0] == '#' || (sizes.empty() && line == "bytes,part"))
        {
            continue;
        }
        const bool hasMore = std::count(line.begin(), line.end(), ',') > 1;
        std::replace(line.begin(), line.end(), ',', ' ');
        std::istringstream text(line);
        double bytes = -1;
        double part = -1;
        std::string more;
        if (hasMore || !(text >> bytes >> part) || text >> more)
        {
            reader.Fail("must be bytes,part, e.g. 10000,0.15");
        }
        const bool isOrigin = sizes.empty() && bytes == 0 && part == 0;
        if ((!(bytes >= 1) && !isOrigin) || bytes > static_cast<double>(MAX_BYTES) ||
            !(part >= 0) || part > PER_CENT)
        {
            reader.Fail("bytes must be 1 or more, and their part 0 to 1, or 0 to 100 per cent");
        }
        if (!sizes.empty() && (bytes <= sizes.back().first || part < sizes.back().second))
        {
            reader.Fail("bytes and parts must ascend");
        }
        sizes.emplace_back(bytes, part);
    }
    if (sizes.empty())
    {
        throw std::invalid_argument(fileName + ": there is no size in the file");
    }
    const double whole = sizes.back().second;
    if (whole != 1 && whole != PER_CENT)
    {
        reader.Fail("the part of the last line must be 1, or 100 per cent");
    }
    for (auto& [bytes, part] : sizes)
    {
        part /= whole;
    }
    const auto& [least, share] = sizes.front();
    if (sizes.size() > 1 && share > 0)
    {
        std::ostringstream text;
        text << fileName << ": " << PER_CENT * share << " % of all messages are of exactly "
             << static_cast<uint64_t>(least)
             << " bytes, the first size; a line 0,0 before it would spread them from 0 on";
        Warn(text.str());
    }
    return sizes;
}

} // namespace proteus
} // namespace ns3
