/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-unused-choices.h"

#include "proteus-same-choices.h"

#include "ns3/proteus-breakdown.h"

#include <algorithm>
#include <map>
#include <variant>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param graph that was run @return whether something goes from one GPU to another
bool
HasCommunication(const ExecutionGraph& graph)
{
    const auto& tasks = graph.GetTasks();
    return std::any_of(tasks.begin(), tasks.end(), [&graph](const Task& task) {
        return task.kind == TaskKind::COMMUNICATION && graph.GetGroups()[task.place].size() > 1;
    });
}

/// What of collectives is chosen, by names of fields, see GetCollectiveFields(), and the options of
/// the programs that say it; empty where the attribute alone does.
const std::map<std::string, std::string> CHOICES{{"Algorithm", "algorithm"},
                                                 {"Protocol", "protocol"},
                                                 {"Channels", "channels"},
                                                 {"ChunkBytes", ""},
                                                 {"CommunicatorChannels", ""},
                                                 {"CommunicatorRanks", ""},
                                                 {"CommunicatorServers", ""},
                                                 {"NetworkChannels", "networkChannels"},
                                                 {"NcclVersion", "ncclVersion"},
                                                 {"CpuVendor", "cpuVendor"},
                                                 {"NcclVariables", "nccl"}};

/// @param typed what was typed @param field of collectives, see GetCollectiveFields()
/// @return it as it was typed, as the option or as the attribute, where no line is about it yet
std::vector<std::string>
ListTyped(const TypedNetwork& typed, const std::string& field)
{
    std::vector<std::string> texts;
    const auto option = CHOICES.find(field);
    for (const std::string& name :
         {option == CHOICES.end() ? "" : option->second, "ns3::proteus::PacketNetwork::" + field})
    {
        const std::string value = FindTyped(typed.configuration, name);
        const std::string text = "--" + name + "=" + value;
        if (!value.empty() && !IsNamed(typed, text))
        {
            texts.push_back(text);
        }
    }
    return texts;
}

/// @param typed what was typed @param traits of an executor that has run
/// @return a line for each option about communication that it heeds, in a job that has none
std::vector<std::string>
FindNeedless(const TypedNetwork& typed, const ExecutorTraits& traits)
{
    const std::string reason = " has no effect: no GPU of the job sends anything to another one";
    std::vector<std::string> lines;
    for (const CollectiveField& field : GetCollectiveFields())
    {
        if (field.isOfNetwork && CHOICES.count(field.name) == 0)
        {
            continue; // named where nothing crosses a network
        }
        for (const std::string& text : Honours(traits, field.name) ? ListTyped(typed, field.name)
                                                                   : std::vector<std::string>())
        {
            lines.push_back(text + reason);
        }
    }
    std::vector<std::string> options{"communicationSchedule"};
    if (traits.hasPackets)
    {
        options.insert(options.end(), {"joinWindow", "joinGrid"});
    }
    for (const std::string& option : options)
    {
        const std::string value = FindTyped(typed.configuration, option);
        const std::string text = "--" + option + "=" + value;
        if (!value.empty() && !IsNamed(typed, text))
        {
            lines.push_back(text + reason);
        }
    }
    return lines;
}

/// @param traits of an executor that has run @param settings of the run
/// @param without other settings of collectives @param cluster that it ran on
/// @param graph that was run @param timeline of the run
/// @return why these make no difference to it; empty if they do
std::string
FindSame(const ExecutorTraits& traits,
         const ExecutorSettings& settings,
         const CollectiveSettings& without,
         const Cluster& cluster,
         const ExecutionGraph& graph,
         const Timeline& timeline)
{
    if (CommunicateAlike(graph, cluster, settings.collectives, without))
    {
        return "this job communicates alike without it";
    }
    const auto isTimedAlike = [&](bool slowsKernels) {
        return TimeAlike(traits, settings, without, cluster, graph, slowsKernels);
    };
    const auto runsBeside = [&] {
        const auto devices = BreakDown(graph, timeline);
        return std::any_of(devices.begin(), devices.end(), [](const DeviceBreakdown& device) {
            return device.overlapPs > 0;
        });
    };
    return isTimedAlike(false) &&
                   (!settings.runtime.sharesGpu || !runsBeside() || isTimedAlike(true))
               ? "latencies, and bytes over bandwidths, are the same without it"
               : "";
}

} // namespace

bool
Honours(const ExecutorTraits& traits, const std::string& field)
{
    return traits.hasPackets || traits.collectiveFields.count(field) > 0;
}

std::vector<std::string>
FindUnusedChoices(const TypedNetwork& typed,
                  const ExecutorTraits& traits,
                  const ExecutorSettings& settings,
                  const Cluster& cluster,
                  const ExecutionGraph& graph,
                  const Timeline& timeline)
{
    if (!HasCommunication(graph))
    {
        return FindNeedless(typed, traits);
    }
    std::vector<std::string> lines;
    const CollectiveSettings defaults;
    for (const CollectiveField& field : GetCollectiveFields())
    {
        const auto option = CHOICES.find(field.name);
        if (option == CHOICES.end() || !Honours(traits, field.name))
        {
            continue;
        }
        CollectiveSettings without = settings.collectives;
        const bool isSet = std::visit(
            [&](auto member) {
                without.*member = defaults.*member;
                return settings.collectives.*member != defaults.*member;
            },
            field.member);
        const auto texts = isSet ? ListTyped(typed, field.name) : std::vector<std::string>();
        const std::string reason =
            texts.empty() ? "" : FindSame(traits, settings, without, cluster, graph, timeline);
        for (const std::string& text : reason.empty() ? std::vector<std::string>() : texts)
        {
            lines.push_back(text + " has no effect: " + reason);
        }
    }
    return lines;
}

} // namespace proteus
} // namespace ns3
