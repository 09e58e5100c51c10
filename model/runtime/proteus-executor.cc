/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-executor.h"

#include "proteus-device-runtimes.h"
#include "proteus-flow-congestion.h"
#include "proteus-reached-links.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-graph-computation.h"
#include "ns3/proteus-registry.h"
#include "ns3/proteus-scenario-parts.h"
#include "ns3/proteus-shown-name.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

using Executors = Registry<std::unique_ptr<const Executor>>;

/// @param value of a number @return it, as short as it can be
std::string
ToShortText(double value)
{
    std::string text = std::to_string(value);
    text.erase(text.find_last_not_of('0') + 1);
    return text.back() == '.' ? text + "0" : text;
}

/// @param traits of an executor @param settings of a run @param setting one of them
/// @return whether the executor does what it says
bool
IsModelled(const ExecutorTraits& traits,
           const ExecutorSettings& settings,
           const EngineSetting& setting)
{
    const FlowCongestion* congestion =
        traits.hasCongestion ? settings.flow.congestion.get() : nullptr;
    return traits.hasPackets || (congestion && congestion->attributes.count(setting.name) > 0) ||
           (traits.hasCongestion && settings.flow.attributes.count(setting.name) > 0);
}

/// @param graph that was run @param record of a part of the run @return which part it is
std::string
DescribePart(const ExecutionGraph& graph, const RunRecord& record)
{
    return record.executor + ": PARTIAL, stopped after " +
           ToShortText(static_cast<double>(record.timeline.endPs) * 1e-9) +
           " ms of simulated time, when " + std::to_string(record.timeline.spans.size()) + " of " +
           std::to_string(CountSpans(graph)) +
           " tasks of devices were done; all numbers are of this part";
}

/// Most that a task may have to be executed, beside MAX_TASK_PS: beyond what is real, so that sums
/// of many still fit 64 bits of picoseconds.
constexpr uint64_t MAX_TASK_BYTES = uint64_t{1} << 50;
constexpr double MAX_TASK_FLOPS = 1e24;

/// @param settings of a run @throw std::invalid_argument that names a number which makes no sense
void
RequireNumbers(const ExecutorSettings& settings)
{
    if (std::isnan(settings.overlapFactor))
    {
        throw std::invalid_argument("ExecutorSettings::overlapFactor: is no number");
    }
    for (const auto& [name, value] :
         {std::pair{"computeSlowdown", settings.flow.computeSlowdown},
          std::pair{"communicationSlowdown", settings.flow.communicationSlowdown}})
    {
        if (!std::isfinite(value) || value < 0)
        {
            throw std::invalid_argument("FlowParameters::" + std::string(name) +
                                        ": must be a number from 0 on, not " +
                                        std::to_string(value));
        }
    }
}

} // namespace

void
RequireRealSizes(const ExecutionGraph& graph)
{
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        std::ostringstream excess;
        if (task.kind != TaskKind::COMPUTE && task.bytes > MAX_TASK_BYTES)
        {
            excess << (task.kind == TaskKind::MEMORY ? "takes " : "communicates ") << task.bytes
                   << " bytes; the most is " << MAX_TASK_BYTES;
        }
        else if (task.durationPs > MAX_TASK_PS)
        {
            excess << "lasts " << task.durationPs << " ps; the most is " << MAX_TASK_PS;
        }
        else if (task.flops > MAX_TASK_FLOPS)
        {
            excess << "has " << task.flops << " FLOPs; the most is " << MAX_TASK_FLOPS;
        }
        if (excess.tellp() > 0)
        {
            throw std::invalid_argument("task " + std::to_string(id) + " (" +
                                        ShownName(graph.GetName(task)) + ") " + excess.str());
        }
    }
}

namespace
{

/// @param record of a run @param settings of it @param graph that was run @param cluster that it
/// ran on @return RunRecord::crossed: ways are searched for only if an attribute was set, of which
/// it is told whether it has an effect
std::optional<std::vector<LinkId>>
FindCrossed(const RunRecord& record,
            const ExecutorSettings& settings,
            const ExecutionGraph& graph,
            const Cluster& cluster)
{
    if (!record.links.empty())
    {
        return FindCrossedLinks(record.links);
    }
    if (settings.engine.empty())
    {
        return std::nullopt;
    }
    const std::vector<LinkId> reached = FindReachedLinks(graph, cluster);
    return reached.empty() ? std::nullopt : std::make_optional(reached);
}

} // namespace

void
RunObserver::OnProgress(const RunProgress& /* progress */)
{
}

void
RunObserver::OnStep(const std::string& /* step */)
{
}

void
RunObserver::OnRemark(const std::string& /* remark */)
{
}

bool
RunObserver::IsStopWanted() const
{
    return false;
}

Executor::Executor(ExecutorTraits traits)
    : m_traits(std::move(traits))
{
}

RunRecord
Executor::Run(const ExecutionGraph& graph,
              const Cluster& cluster,
              const ExecutorSettings& settings,
              RunObserver* observer) const
{
    if (m_traits.needsCalibration && !settings.calibration)
    {
        throw std::invalid_argument("executor " + m_traits.name +
                                    " needs a calibration: proteus-calibrate makes one");
    }
    CheckCollectiveSettings(settings.collectives);
    RequireNumbers(settings);
    if (settings.scenario)
    {
        RequireParts(*settings.scenario, m_traits.name, m_traits.scenarioParts);
    }
    RequireRealSizes(graph);
    RunObserver unheard;
    const auto start = std::chrono::steady_clock::now();
    RunRecord record = DoRun(graph, cluster, settings, observer ? *observer : unheard);
    if (record.isPartial && record.timeline.endPs == 0)
    {
        throw RunStopped("executor " + m_traits.name + " was stopped at its start");
    }
    if (record.wallS == 0)
    {
        record.wallS =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    record.executor = m_traits.name;
    std::vector<std::string> ignored = ListIgnoredSettings(m_traits, settings);
    const auto nLossy =
        std::count_if(cluster.GetLinks().begin(), cluster.GetLinks().end(), [](const Link& link) {
            return link.lossProbability > 0 || link.bitErrorRate > 0;
        });
    if (nLossy > 0 && !m_traits.hasPackets)
    {
        ignored.push_back(m_traits.name + ": losses of links (loss_probability, bit_error_rate, " +
                          std::to_string(nLossy) + " of " +
                          std::to_string(cluster.GetLinks().size()) +
                          ") are taken as none: only packets are lost");
    }
    record.crossed = FindCrossed(record, settings, graph, cluster);
    if (!record.isPartial)
    {
        const auto idle = ListIdleSettings(m_traits, settings, cluster, record.crossed);
        ignored.insert(ignored.end(), idle.begin(), idle.end());
    }
    record.notes.insert(record.notes.begin(), ignored.begin(), ignored.end());
    if (record.isPartial)
    {
        record.notes.insert(record.notes.begin(), DescribePart(graph, record));
    }
    return record;
}

ExecutorRegistration::ExecutorRegistration(std::unique_ptr<const Executor> executor)
{
    const std::string name = executor->GetTraits().name;
    Executors::Registration(name, std::move(executor));
}

std::vector<const Executor*>
GetExecutors()
{
    std::vector<const Executor*> executors;
    for (const auto& [name, executor] : Executors::Get().GetAll())
    {
        executors.push_back(executor.get());
    }
    std::stable_sort(executors.begin(), executors.end(), [](const Executor* a, const Executor* b) {
        return a->GetTraits().position < b->GetTraits().position; // then by name
    });
    return executors;
}

std::string
ListExecutorNames()
{
    std::string names;
    for (const Executor* executor : GetExecutors())
    {
        AppendName(names, executor->GetTraits().name);
    }
    return names;
}

const Executor&
FindExecutor(const std::string& name)
{
    for (const Executor* executor : GetExecutors())
    {
        if (executor->GetTraits().name == name)
        {
            return *executor;
        }
    }
    throw std::invalid_argument("executor '" + name + "': must be one of " + ListExecutorNames());
}

std::vector<std::string>
ListIdleSettings(const ExecutorTraits& traits,
                 const ExecutorSettings& settings,
                 const Cluster& cluster,
                 const std::optional<std::vector<LinkId>>& crossed)
{
    std::vector<std::string> notes;
    std::set<LinkTechnology> used;
    for (LinkId id = 0; !crossed && id < cluster.GetLinks().size(); ++id)
    {
        used.insert(cluster.GetLinks()[id].technology);
    }
    for (const LinkId id : crossed.value_or(std::vector<LinkId>()))
    {
        used.insert(cluster.GetLinks()[id].technology);
    }
    const auto add = [&](const std::string& setting, const std::set<LinkTechnology>& technologies) {
        std::vector<std::string> names;
        for (const LinkTechnology technology : technologies)
        {
            if (used.count(technology) > 0)
            {
                return;
            }
            names.emplace_back(ToString(technology));
        }
        notes.push_back(traits.name + ": " + setting + " has no effect: nothing crosses " +
                        ListAlternatives(names));
    };
    for (const EngineSetting& setting : settings.engine)
    {
        if (!setting.technologies.empty() && IsModelled(traits, settings, setting))
        {
            add(setting.name + "=" + setting.value, setting.technologies);
        }
    }
    const CollectiveSettings defaults;
    for (const CollectiveField& field : GetCollectiveFields())
    {
        const std::string value = ToText(settings.collectives, field);
        if (field.isOfNetwork && value != ToText(defaults, field) &&
            (traits.hasPackets || traits.collectiveFields.count(field.name) > 0))
        {
            add("ns3::proteus::PacketNetwork::" + field.name + "=" + value,
                {LinkTechnology::INFINIBAND, LinkTechnology::ROCE});
        }
    }
    return notes;
}

std::vector<std::string>
ListIgnoredSettings(const ExecutorTraits& traits, const ExecutorSettings& settings)
{
    std::vector<std::string> notes;
    const auto add = [&](const std::string& what, const std::string& instead) {
        notes.push_back(traits.name + ": " + what +
                        (instead.empty() ? " is not modelled" : " is taken as " + instead));
    };
    if (!traits.hasPackets)
    {
        const CollectiveSettings defaults;
        for (const CollectiveField& field : GetCollectiveFields())
        {
            const std::string value = ToText(settings.collectives, field);
            if (traits.collectiveFields.count(field.name) == 0 && value != ToText(defaults, field))
            {
                add("ns3::proteus::PacketNetwork::" + field.name + "=" + value, "");
            }
        }
        for (const EngineSetting& setting : settings.engine)
        {
            if (!IsModelled(traits, settings, setting))
            {
                add(setting.name + "=" + setting.value, setting.instead);
            }
        }
    }
    if (!traits.hasStreams && settings.runtime.startControl)
    {
        add("the communication schedule", "the order of its own rules");
    }
    if (!traits.hasSlowdowns)
    {
        for (const auto& [name, value] :
             {std::make_pair("computeSlowdown", settings.flow.computeSlowdown),
              std::make_pair("communicationSlowdown", settings.flow.communicationSlowdown)})
        {
            if (value > 0)
            {
                add(name + ("=" + ToShortText(value)), "");
            }
        }
    }
    else if (settings.runtime.sharesGpu &&
             (settings.flow.computeSlowdown > 0 || settings.flow.communicationSlowdown > 0))
    {
        notes.push_back(traits.name + ": the given slow-downs take the place of gpuSharing");
    }
    if (!traits.hasOverlapFactor && settings.overlapFactor >= 0)
    {
        add("overlapFactor=" + ToShortText(settings.overlapFactor), "");
    }
    if (!traits.hasOverlapFactor && !settings.sharesLinks)
    {
        add("linkSharing=off", "");
    }
    return notes;
}

} // namespace proteus
} // namespace ns3
