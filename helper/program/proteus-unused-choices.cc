/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-unused-choices.h"

#include "proteus-same-choices.h"

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

/// What of collectives options of the programs say, by names of fields, see GetCollectiveFields().
const std::map<std::string, std::string> CHOICES{{"Algorithm", "algorithm"},
                                                 {"Protocol", "protocol"},
                                                 {"Channels", "channels"},
                                                 {"NetworkChannels", "networkChannels"},
                                                 {"NcclVersion", "ncclVersion"},
                                                 {"CpuVendor", "cpuVendor"},
                                                 {"NcclVariables", "nccl"}};

/// @param typed what was typed @param traits of an executor that has run
/// @return a line for each option about communication that it heeds, in a job that has none
std::vector<std::string>
FindNeedless(const TypedNetwork& typed, const ExecutorTraits& traits)
{
    std::vector<std::string> options{"communicationSchedule"};
    for (const auto& [field, option] : CHOICES)
    {
        if (Honours(traits, field))
        {
            options.push_back(option);
        }
    }
    if (traits.hasPackets)
    {
        options.insert(options.end(), {"joinWindow", "joinGrid"});
    }
    std::vector<std::string> lines;
    for (const std::string& option : options)
    {
        const std::string value = FindTyped(typed.configuration, option);
        const std::string text = "--" + option + "=" + value;
        if (!value.empty() && !IsNamed(typed, text))
        {
            lines.push_back(text +
                            " has no effect: no GPU of the job sends anything to another one");
        }
    }
    return lines;
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
                  const ExecutionGraph& graph)
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
        const std::string value = FindTyped(typed.configuration, option->second);
        const std::string text = "--" + option->second + "=" + value;
        if (!value.empty() && isSet && !IsNamed(typed, text) &&
            CommunicateAlike(graph, cluster, settings.collectives, without))
        {
            lines.push_back(text + " has no effect: this job communicates alike without it");
        }
    }
    return lines;
}

} // namespace proteus
} // namespace ns3
