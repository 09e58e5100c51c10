/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-unused-network.h"

#include "proteus-name-lists.h"
#include "proteus-outer-links.h"
#include "proteus-switched-off.h"

#include "ns3/data-rate.h"
#include "ns3/proteus-attribute-defaults.h"
#include "ns3/proteus-cluster-text.h"
#include "ns3/proteus-fabric.h"
#include "ns3/proteus-nearest-name.h"
#include "ns3/proteus-paths.h"
#include "ns3/proteus-plural.h"
#include "ns3/proteus-scenario-plan.h"
#include "ns3/proteus-split.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

const char* const NOTHING_LEAVES = "nothing leaves a server";
const char* const NOTHING_BEYOND_SWITCH = "nothing goes from one switch of the network to another";
const char* const LINKS_OF_SERVERS_ONLY = "of the network, the links of servers count only";
const char* const ROUTING = "ns3::proteus::Fabric::Routing";

/// @param name of an option @return whether it decides which of several equal paths is taken
bool
IsOfPaths(const std::string& name)
{
    return name == "stream" || name == "streams" || name == "RngSeed" || name == "RngRun";
}

/// @param options of fabrics @param name of an option
/// @return the same without it; nothing if the option is not of fabrics
std::optional<FabricOptions>
Without(FabricOptions options, const std::string& name)
{
    const FabricOptions defaults;
    if (name == "fabric")
    {
        options.kind = defaults.kind;
        return options;
    }
    for (const std::string& kind : GetFabricKinds())
    {
        for (const FabricOptionField& field : GetFabricOptionFields(kind))
        {
            if (IsSameName(field.name, name))
            {
                if (field.whole != nullptr)
                {
                    options.*field.whole = defaults.*field.whole;
                }
                else
                {
                    options.*field.real = defaults.*field.real;
                }
                return options;
            }
        }
    }
    return std::nullopt;
}

/// @param cluster any @return what leads out of servers: technology, rate and delay of each link
std::multiset<std::tuple<LinkTechnology, double, int64_t>>
ListWaysOut(const Cluster& cluster)
{
    std::multiset<std::tuple<LinkTechnology, double, int64_t>> ways;
    for (const Link& link : cluster.GetLinks())
    {
        const bool isOfServer =
            cluster.GetVertices()[link.a].server >= 0 || cluster.GetVertices()[link.b].server >= 0;
        if (isOfServer && LeavesServer(cluster, link))
        {
            ways.emplace(link.technology, link.bytesPerSecond, link.delayPs);
        }
    }
    return ways;
}

/// @param typed about the network @param other how servers are joined instead
/// @param cluster that it ran on @return whether what leads out of servers is the same
bool
HasSameWaysOut(const TypedNetwork& typed, const FabricOptions& other, const Cluster& cluster)
{
    try
    {
        return typed.build && ListWaysOut(cluster) == ListWaysOut(typed.build(other));
    }
    catch (const std::invalid_argument&) // the option is needed
    {
        return false;
    }
}

/// @param cluster any @param insides names of vertices of servers
/// @return their ways out of servers, in order: name, which of the switches that they lead to,
/// technology, rate and delay
std::vector<std::tuple<std::string, std::size_t, LinkTechnology, double, int64_t>>
ListMeetings(const Cluster& cluster, const std::set<std::string>& insides)
{
    std::vector<std::tuple<std::string, std::size_t, LinkTechnology, double, int64_t>> meetings;
    std::map<VertexId, std::size_t> switches; // numbered as they come
    for (const Link& link : cluster.GetLinks())
    {
        if (!LeavesServer(cluster, link) || JoinsSwitches(cluster, link))
        {
            continue;
        }
        const bool isInA = cluster.GetVertices()[link.a].server >= 0;
        const std::string& inside = cluster.GetVertices()[isInA ? link.a : link.b].name;
        if (insides.count(inside) == 1)
        {
            const std::size_t number =
                switches.try_emplace(isInA ? link.b : link.a, switches.size()).first->second;
            meetings.emplace_back(inside,
                                  number,
                                  link.technology,
                                  link.bytesPerSecond,
                                  link.delayPs);
        }
    }
    return meetings;
}

/// @param typed about the network @param other how servers are joined instead
/// @param cluster that it ran on @param crossed links that carried something
/// @return whether all that was sent went by way of one switch, on which the two servers would be
/// in the other network, too
bool
MeetsAlike(const TypedNetwork& typed,
           const FabricOptions& other,
           const Cluster& cluster,
           const std::vector<LinkId>& crossed)
{
    std::set<std::string> insides;
    for (const LinkId id : crossed)
    {
        const Link& link = cluster.GetLinks()[id];
        if (JoinsSwitches(cluster, link))
        {
            return false;
        }
        for (const VertexId end : {link.a, link.b})
        {
            if (LeavesServer(cluster, link) && cluster.GetVertices()[end].server >= 0)
            {
                insides.insert(cluster.GetVertices()[end].name);
            }
        }
    }
    try
    {
        return typed.build &&
               ListMeetings(cluster, insides) == ListMeetings(typed.build(other), insides);
    }
    catch (const std::invalid_argument&) // the option is needed
    {
        return false;
    }
}

/// @param cluster any @param withNics its servers that have NICs @param from who forwards
/// @param to where a unit stops next
/// @return whether no unit does: what goes from one server to another stops at the NICs of both
bool
PassesNics(const Cluster& cluster, const std::set<int32_t>& withNics, VertexId from, VertexId to)
{
    const auto isBehindNics = [&](VertexId vertex) {
        const Vertex& own = cluster.GetVertices()[vertex];
        return own.kind != VertexKind::NIC && withNics.count(own.server) > 0;
    };
    return cluster.GetVertices()[from].server != cluster.GetVertices()[to].server &&
           cluster.GetDomain(from) != cluster.GetDomain(to) &&
           (isBehindNics(from) || isBehindNics(to));
}

/// @param cluster any @param crossed links of it
/// @param hasPackets whether each packet goes one way; a flow goes over all NVLinks of its GPU
/// @return whether there may be several shortest ways between two of their ends
bool
HasEqualPaths(const Cluster& cluster, const std::vector<LinkId>& crossed, bool hasPackets)
{
    constexpr std::size_t MOST_PAIRS = 1000000; // of which it is looked at
    std::set<VertexId> ends;
    for (const LinkId link : crossed)
    {
        ends.insert({cluster.GetLinks()[link].a, cluster.GetLinks()[link].b});
    }
    if (ends.size() * ends.size() > MOST_PAIRS)
    {
        return true;
    }
    std::set<int32_t> withNics;
    for (const Vertex& vertex : cluster.GetVertices())
    {
        if (vertex.kind == VertexKind::NIC)
        {
            withNics.insert(vertex.server);
        }
    }
    const Paths paths(cluster);
    return std::any_of(ends.begin(), ends.end(), [&](VertexId to) {
        return std::any_of(ends.begin(), ends.end(), [&](VertexId from) {
            const auto& ports = paths.NextPorts(from, to);
            const bool isShared =
                !hasPackets && cluster.GetVertices()[from].kind == VertexKind::GPU &&
                std::all_of(ports.begin(), ports.end(), [&](uint16_t port) {
                    const LinkId link = cluster.GetPorts(from)[port].link;
                    return cluster.GetLinks()[link].technology == LinkTechnology::NVLINK;
                });
            return from != to && ports.size() > 1 && !isShared &&
                   !PassesNics(cluster, withNics, from, to);
        });
    });
}

/// @param link whose packets wait @param queueBytes so many of them at most
/// @return whether some may have got ECN marks by chance
bool
MayBeMarked(const Link& link, uint64_t queueBytes)
{
    const TypeId fabric = Fabric::GetTypeId();
    const char* marks = link.technology == LinkTechnology::ROCE         ? "Ecn"
                        : link.technology == LinkTechnology::INFINIBAND ? "InfinibandEcn"
                                                                        : nullptr;
    if (marks == nullptr || !IsOn(fabric, marks))
    {
        return false;
    }
    return static_cast<double>(queueBytes) + 1 >
           GetMarkThreshold(link,
                            ReadDefault<UintegerValue>(fabric, "EcnMinBytes").Get(),
                            ReadDefault<DataRateValue>(fabric, "EcnReferenceRate").Get());
}

/// @param cluster any @param links what they carried; empty: not known
/// @param crossed those that carried something @param hasPackets whether packets were sent
/// @return whether some may have been marked or lost by chance
bool
HasChance(const Cluster& cluster,
          const std::vector<LinkStatistics>& links,
          const std::vector<LinkId>& crossed,
          bool hasPackets)
{
    std::map<LinkId, uint64_t> queues; // of the links that are known
    for (const LinkStatistics& use : links)
    {
        uint64_t& most = queues[use.link];
        most = std::max<uint64_t>(most, use.maxQueueBytes);
    }
    return std::any_of(crossed.begin(), crossed.end(), [&](LinkId id) {
        const Link& link = cluster.GetLinks()[id];
        if (!hasPackets)
        {
            return link.technology == LinkTechnology::ROCE;
        }
        const auto queue = queues.find(id);
        constexpr uint64_t ANY_QUEUE = std::numeric_limits<uint32_t>::max();
        return link.lossProbability > 0 || link.bitErrorRate > 0 ||
               MayBeMarked(link, queue == queues.end() ? ANY_QUEUE : queue->second);
    });
}

/// @param typed what was typed @return whether a scenario changes links, so that other ways may be
/// taken than on the cluster as it is, and packets may be lost
bool
ChangesLinks(const TypedNetwork& typed)
{
    return typed.scenario && !typed.scenario->changes.empty();
}

/// @param typed what was typed @param traits of an executor that has run @param cluster it ran on
/// @param crossed links that carried something; nothing: not known
/// @return a line if --ns3::proteus::Fabric::Routing chooses among equal paths that are not there
std::vector<std::string>
FindUnusedRouting(const TypedNetwork& typed,
                  const ExecutorTraits& traits,
                  const Cluster& cluster,
                  const std::optional<std::vector<LinkId>>& crossed)
{
    const std::string name = ROUTING;
    const std::string value = FindTyped(typed.configuration, name);
    const std::string option = "--" + name + "=" + value;
    if (!traits.hasPaths || value.empty() || value == "UpDown" || !crossed || ChangesLinks(typed) ||
        IsNamed(typed, option) || HasEqualPaths(cluster, *crossed, traits.hasPackets))
    {
        return {};
    }
    return {option + " has no effect: no two paths are equal"};
}

/// @param cluster any @param graph that was run on it
/// @return that servers have no GPU of the job, or empty
std::string
DescribeIdleServers(const Cluster& cluster, const ExecutionGraph& graph)
{
    std::set<int32_t> used;
    for (DeviceId device = 0; device < graph.GetNDevices(); ++device)
    {
        used.insert(cluster.GetServer(device));
    }
    return used.size() >= cluster.GetNServers()
               ? ""
               : "the job has " + FormatThings(graph.GetNDevices(), "GPU") + " of " +
                     FormatThings(used.size(), "server") + "; the others have no work";
}

/// @param configuration options, as they were typed
/// @return the option that says how many servers there are, as it was typed, or empty
std::string
FindServers(const Configuration& configuration)
{
    const std::string nodes = FindTyped(configuration, "nodes");
    if (!nodes.empty())
    {
        return "--nodes=" + nodes;
    }
    for (const auto& [key, value] : ListClusterSettings(configuration))
    {
        if (key == "nodes")
        {
            return "--cluster=" + FindTyped(configuration, "cluster");
        }
    }
    return "";
}

} // namespace

std::vector<std::string>
FindThinLinks(const TypedNetwork& typed,
              const Cluster& cluster,
              const std::vector<LinkStatistics>& links)
{
    const Configuration& configuration = typed.configuration;
    const bool isMade =
        std::any_of(configuration.begin(), configuration.end(), [&typed](const auto& option) {
            return Without(typed.fabric, option.first).has_value();
        });
    if (!isMade && ListClusterSettings(configuration).empty())
    {
        return {};
    }
    double nic = 0; // rate of the slowest one that carries something
    const Link* thinnest = nullptr;
    for (const LinkId id : FindCrossedLinks(links))
    {
        const Link& link = cluster.GetLinks()[id];
        if (link.technology != LinkTechnology::INFINIBAND &&
            link.technology != LinkTechnology::ROCE)
        {
            continue;
        }
        if (!JoinsSwitches(cluster, link))
        {
            nic = nic == 0 ? link.bytesPerSecond : std::min(nic, link.bytesPerSecond);
        }
        else if (thinnest == nullptr || link.bytesPerSecond < thinnest->bytesPerSecond)
        {
            thinnest = &link;
        }
    }
    constexpr double ROUNDING = 0.99;
    if (thinnest == nullptr || thinnest->bytesPerSecond >= ROUNDING * nic)
    {
        return {};
    }
    constexpr double BYTES_PER_GBIT = 1e9 / 8;
    const auto show = [](double rate) {
        std::ostringstream text;
        text.precision(4);
        text << rate / BYTES_PER_GBIT << " Gb/s";
        return text.str();
    };
    return {"links between switches are slower than NICs, as no cable of theirs is (" +
            cluster.GetVertices()[thinnest->a].name + " - " +
            cluster.GetVertices()[thinnest->b].name + " " + show(thinnest->bytesPerSecond) +
            ", a NIC " + show(nic) + "): fewer spines, or less oversubscription, make faster ones"};
}

std::vector<std::string>
FindUnusedServers(const TypedNetwork& typed, const Cluster& cluster, const ExecutionGraph& graph)
{
    const std::string servers = FindServers(typed.configuration);
    if (servers.empty() || (typed.scenario && !typed.scenario->traffic.empty())) // which uses them
    {
        return {};
    }
    const std::string idle = DescribeIdleServers(cluster, graph);
    return idle.empty() ? std::vector<std::string>()
                        : std::vector<std::string>{servers + ": " + idle};
}

std::vector<std::string>
FindUnseenNetwork(const ExecutorTraits& traits,
                  const Cluster& cluster,
                  const ExecutionGraph& graph,
                  const std::vector<LinkStatistics>& links)
{
    std::vector<std::string> lines;
    if (const std::string idle = DescribeIdleServers(cluster, graph); !idle.empty())
    {
        lines.push_back(idle);
    }
    if (!traits.hasNetwork)
    {
        lines.push_back(traits.name + ": " + LINKS_OF_SERVERS_ONLY);
        return lines;
    }
    const std::vector<LinkId> crossed = FindCrossedLinks(links);
    const auto crosses = [&cluster, &crossed](bool (*isSuch)(const Cluster&, const Link&)) {
        return std::any_of(crossed.begin(), crossed.end(), [&](LinkId link) {
            return isSuch(cluster, cluster.GetLinks()[link]);
        });
    };
    const std::vector<Link>& all = cluster.GetLinks();
    if (!links.empty() && !crosses(LeavesServer))
    {
        lines.push_back(std::string(NOTHING_LEAVES) + ": no network makes a difference");
    }
    else if (!links.empty() && !crosses(JoinsSwitches) &&
             std::any_of(all.begin(), all.end(), [&cluster](const Link& link) {
                 return JoinsSwitches(cluster, link);
             }))
    {
        lines.push_back(std::string(NOTHING_BEYOND_SWITCH) +
                        ": what joins the switches makes no difference");
    }
    return lines;
}

bool
SaysNetwork(const TypedNetwork& typed)
{
    const Configuration& options = typed.configuration;
    return !ListClusterSettings(options).empty() ||
           std::any_of(options.begin(), options.end(), [&typed](const auto& option) {
               return IsOfPaths(option.first) || option.first == ROUTING ||
                      Without(typed.fabric, option.first).has_value();
           });
}

std::vector<std::string>
FindUnusedNetwork(const TypedNetwork& typed,
                  const ExecutorTraits& traits,
                  const Cluster& cluster,
                  const RunRecord& record,
                  const std::optional<std::vector<LinkId>>& crossed)
{
    const bool staysInside =
        crossed && std::none_of(crossed->begin(), crossed->end(), [&](LinkId link) {
            return LeavesServer(cluster, cluster.GetLinks()[link]);
        });
    std::vector<std::string> lines;
    for (const auto& [name, value] : typed.configuration)
    {
        const std::string option = "--" + name + "=" + value;
        const auto without = Without(typed.fabric, name);
        if (IsNamed(typed, option))
        {
            continue;
        }
        if (without && staysInside)
        {
            lines.push_back(option + " has no effect: " + NOTHING_LEAVES);
        }
        else if (without && crossed && MeetsAlike(typed, *without, cluster, *crossed))
        {
            lines.push_back(option + " has no effect: " + NOTHING_BEYOND_SWITCH);
        }
        else if (name.rfind("ns3::proteus::Transport::", 0) == 0 && !traits.hasPackets &&
                 staysInside)
        {
            lines.push_back(option + " has no effect: " + NOTHING_LEAVES);
        }
        else if (without && !traits.hasNetwork && HasSameWaysOut(typed, *without, cluster))
        {
            lines.push_back(option + " is not modelled: " + LINKS_OF_SERVERS_ONLY);
        }
        else if (IsOfPaths(name) && traits.hasPaths && crossed && !ChangesLinks(typed) &&
                 !HasEqualPaths(cluster, *crossed, traits.hasPackets) &&
                 !HasChance(cluster, record.links, *crossed, traits.hasPackets))
        {
            lines.push_back(option +
                            " has no effect: no two paths are equal, and nothing else is drawn");
        }
    }
    for (const auto& [key, value] : ListClusterSettings(typed.configuration))
    {
        if (key != "nodes" && key != "gpu" && !IsCardKey(key) && staysInside)
        {
            lines.push_back("--cluster=" + FindTyped(typed.configuration, "cluster") + ": " + key +
                            "=" + value + " has no effect: " + NOTHING_LEAVES);
        }
    }
    return lines;
}

std::vector<std::string>
FindUnusedOptions(TypedNetwork typed,
                  const ExecutorTraits& traits,
                  const Cluster& cluster,
                  const RunRecord& record,
                  const std::optional<std::vector<LinkId>>& crossed)
{
    const std::vector<LinkStatistics>& links = record.links;
    std::vector<std::string> lines;
    if (traits.hasPackets)
    {
        lines = FindSwitchedOff(typed);
        const auto unneeded = FindNothingLost(typed, links, record.network);
        lines.insert(lines.end(), unneeded.begin(), unneeded.end());
    }
    typed.named.insert(typed.named.end(), lines.begin(), lines.end());
    if (traits.hasPackets && !links.empty())
    {
        const std::vector<LinkId> used = FindCrossedLinks(links);
        const bool crossesRoce = std::any_of(used.begin(), used.end(), [&](LinkId link) {
            return cluster.GetLinks()[link].technology == LinkTechnology::ROCE;
        });
        const auto unmarked = FindNothingMarked(typed, cluster, links, crossesRoce);
        lines.insert(lines.end(), unmarked.begin(), unmarked.end());
    }
    for (const auto& more : {FindUnusedRouting(typed, traits, cluster, crossed),
                             FindUnusedNetwork(typed, traits, cluster, record, crossed),
                             FindThinLinks(typed, cluster, links)})
    {
        lines.insert(lines.end(), more.begin(), more.end());
    }
    return lines;
}

} // namespace proteus
} // namespace ns3
