/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-run-notes.h"

#include "ns3/proteus-paths.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <tuple>

namespace ns3
{
namespace proteus
{

namespace
{

/// Who hears, or null.
RunNotes* g_notes = nullptr;

/// @param links what links carried @return those that carried something
std::vector<LinkId>
FindCrossed(const std::vector<LinkStatistics>& links)
{
    std::vector<LinkId> crossed;
    for (const LinkStatistics& use : links)
    {
        if (use.wireBytes > 0)
        {
            crossed.push_back(use.link);
        }
    }
    return crossed;
}

/// @param name as files write it, or typed @return small letters of it only
std::string
Squeeze(const std::string& name)
{
    std::string letters;
    for (const char c : name)
    {
        if (c != '_')
        {
            letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    return letters;
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
            if (Squeeze(field.name) == Squeeze(name))
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

/// @param cluster any @param link of it @return whether it leads out of a server
bool
LeavesServer(const Cluster& cluster, const Link& link)
{
    return cluster.GetVertices()[link.a].server != cluster.GetVertices()[link.b].server;
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

/// @param options of a program @param other how servers are joined instead
/// @param cluster that it ran on @return whether what leads out of servers is the same
bool
HasSameWaysOut(const ProgramOptions& options, const FabricOptions& other, const Cluster& cluster)
{
    try
    {
        return ListWaysOut(cluster) == ListWaysOut(options.BuildCluster(other));
    }
    catch (const std::invalid_argument&) // the option is needed
    {
        return false;
    }
}

/// @param cluster any @param crossed links of it @return whether there may be several shortest ways
/// between two of their ends
bool
HasEqualPaths(const Cluster& cluster, const std::vector<LinkId>& crossed)
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
    const Paths paths(cluster);
    return std::any_of(ends.begin(), ends.end(), [&](VertexId to) {
        return std::any_of(ends.begin(), ends.end(), [&](VertexId from) {
            return from != to && paths.NextPorts(from, to).size() > 1;
        });
    });
}

/// @param cluster any @param crossed links of it @return whether packets may be marked or lost
/// there by chance
bool
HasChance(const Cluster& cluster, const std::vector<LinkId>& crossed)
{
    return std::any_of(crossed.begin(), crossed.end(), [&](LinkId id) {
        const Link& link = cluster.GetLinks()[id];
        return link.technology == LinkTechnology::INFINIBAND ||
               link.technology == LinkTechnology::ROCE || link.lossProbability > 0 ||
               link.bitErrorRate > 0;
    });
}

} // namespace

std::vector<std::string>
FindUnusedNetwork(const ProgramOptions& options,
                  const ExecutorTraits& traits,
                  const Cluster& cluster,
                  const std::vector<LinkStatistics>& links)
{
    const std::vector<LinkId> crossed = FindCrossed(links);
    const bool hasLeft = std::any_of(crossed.begin(), crossed.end(), [&](LinkId link) {
        return LeavesServer(cluster, cluster.GetLinks()[link]);
    });
    const auto isNamed = [&options](const std::string& option) {
        const auto& notes = options.information.notes;
        return std::any_of(notes.begin(), notes.end(), [&](const std::string& note) {
            return note.compare(0, option.size(), option) == 0;
        });
    };
    std::vector<std::string> lines;
    for (const auto& [name, value] : options.information.configuration)
    {
        const std::string option = "--" + name + "=" + value;
        const std::string begin = traits.name + ": " + option;
        const auto without = Without(options.fabric.GetOptions(), name);
        if (isNamed(option + " has no effect"))
        {
            continue;
        }
        if (without && !links.empty() && !hasLeft)
        {
            lines.push_back(begin + " has no effect: nothing leaves a server");
        }
        else if (without && links.empty() && HasSameWaysOut(options, *without, cluster))
        {
            lines.push_back(begin +
                            " is not modelled: of the network, the links of servers count only");
        }
        else if (name == "stream" && traits.hasPaths && !links.empty() &&
                 !HasEqualPaths(cluster, crossed) &&
                 !(traits.hasPackets && HasChance(cluster, crossed)))
        {
            lines.push_back(begin + " has no effect: no two paths are equal");
        }
    }
    return lines;
}

RunNotes::RunNotes()
    : m_before(g_notes)
{
    g_notes = this;
}

RunNotes::~RunNotes()
{
    g_notes = m_before;
}

void
RunNotes::Hear(const ProgramOptions& options,
               const Executor& executor,
               const ExecutorSettings& settings,
               const Cluster& cluster,
               RunRecord& record)
{
    if (record.isPartial)
    {
        return;
    }
    const ExecutorTraits& traits = executor.GetTraits();
    std::vector<std::string> lines = FindUnusedNetwork(options, traits, cluster, record.links);
    record.notes.insert(record.notes.begin(), lines.begin(), lines.end());
    for (const auto& more : {ListIgnoredSettings(traits, settings),
                             ListIdleSettings(traits, settings, cluster, record.links)})
    {
        lines.insert(lines.end(), more.begin(), more.end());
    }
    Note(traits.name, lines);
}

void
RunNotes::HearPackets(const ExecutorSettings& settings,
                      const Cluster& cluster,
                      const std::vector<LinkStatistics>& links)
{
    const ExecutorTraits& traits = FindExecutor("packet").GetTraits();
    Note(traits.name, ListIdleSettings(traits, settings, cluster, links));
}

void
RunNotes::Note(const std::string& executor, const std::vector<std::string>& lines)
{
    if (g_notes == nullptr)
    {
        return;
    }
    const std::lock_guard<std::mutex> lock(g_notes->m_mutex);
    Heard& heard = g_notes->m_heard[executor];
    ++heard.runs;
    for (const std::string& line : std::set<std::string>(lines.begin(), lines.end()))
    {
        ++heard.of[line];
    }
}

std::vector<std::string>
RunNotes::List() const
{
    const std::lock_guard<std::mutex> lock(m_mutex);
    std::vector<std::string> lines;
    for (const auto& [executor, heard] : m_heard)
    {
        for (const auto& [line, runs] : heard.of)
        {
            if (runs == heard.runs)
            {
                lines.push_back(line);
            }
        }
    }
    return lines;
}

} // namespace proteus
} // namespace ns3
