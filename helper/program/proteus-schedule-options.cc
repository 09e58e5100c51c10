/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-schedule-options.h"

#include "proteus-name-lists.h"
#include "proteus-program-options.h"
#include "proteus-scheduled-kinds.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-credit-window.h"
#include "ns3/proteus-executor.h"
#include "ns3/proteus-input-file.h"
#include "ns3/proteus-iteration-times.h"
#include "ns3/proteus-schedule-json.h"
#include "ns3/proteus-schedule-text.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param settings of a policy @return the kinds of communication that it orders: "data or tensor"
std::string
ListKinds(const ScheduleSettings& settings)
{
    std::vector<std::string> names;
    for (const Parallelism kind : settings.kinds)
    {
        names.emplace_back(ToString(kind));
    }
    return ListAlternatives(names);
}

/// @param settings of a policy @return whether it is one of credit, and all that is ready starts
bool
LacksCredit(const ScheduleSettings& settings)
{
    return settings.creditBytes == CreditWindow::UNLIMITED && !settings.isSerial &&
           HeedsCredit(FindSchedulingPolicy(settings.policy));
}

/// @param graph of all iterations @param settings of a policy @param scheduled what it makes of the
/// graph @return why it changes nothing, or empty
std::string
FindNothingToOrder(const ExecutionGraph& graph,
                   const ScheduleSettings& settings,
                   const ExecutionGraph& scheduled)
{
    const std::string kinds = ListKinds(settings);
    std::vector<uint32_t> counts(graph.GetNDevices(), 0); // of communications, by device
    uint32_t most = 0;
    bool hasOthers = false;
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        const bool isCommunication = task.kind == TaskKind::COMMUNICATION;
        const bool isScheduled =
            isCommunication &&
            std::find(settings.kinds.begin(), settings.kinds.end(), task.parallelism) !=
                settings.kinds.end();
        hasOthers |= isCommunication && !isScheduled;
        for (std::size_t i = 0; isScheduled && i < graph.GetGroup(task.place).size(); ++i)
        {
            most = std::max(most, ++counts[graph.GetGroup(task.place)[i]]);
        }
    }
    if (most == 0)
    {
        // Of a job without any, RunNotes says what it does not need.
        return hasOthers ? "the job has no communication of kind " + kinds : "";
    }
    // One that is cut or merged, or whose start has to be told, is another one.
    const bool isAlike = scheduled.GetNTasks() == graph.GetNTasks() && settings.messagePs == 0;
    if (isAlike && !FindSchedulingPolicy(settings.policy).make)
    {
        return "no communication of kind " + kinds + " is cut or merged";
    }
    return most == 1 && isAlike ? "no GPU has more than one communication of kind " + kinds +
                                      ", so that there is nothing to order"
                                : "";
}

} // namespace

std::string
DescribeSchedulingPolicies()
{
    std::string policies;
    for (const SchedulingPolicy& policy : GetSchedulingPolicies())
    {
        policies += (policies.empty() ? "" : "; ") + policy.name + " (" + policy.description + ")";
    }
    return policies;
}

void
ScheduleOptions::AddTo(OptionList& command)
{
    command.AddValue("communicationSchedule",
                     "order of gradients and other communications that are ready, a file .json of "
                     "proteus-schedule or a policy and what differs from its defaults, e.g. "
                     "priority,partBytes=4000000,creditBytes=16000000,"
                     "kinds=data: " +
                         DescribeSchedulingPolicies(),
                     schedule);
    command.AddValue("iterations", "how often the graph runs", iterations);
    command.AddValue("crossIteration",
                     "what an iteration waits for: barrier (all that the GPU did) or tensor (of a "
                     "model: what it reads)",
                     crossIteration);
    command.AddRange("iterations", 1);
    command.AddNames("crossIteration", GetCrossIterationNames());
    command.AddIdleParts(
        "communicationSchedule",
        [this]() {
            try
            {
                return ListUnusedSettings(ReadSettings());
            }
            catch (const std::exception&) // which the run reports
            {
                return std::vector<std::string>();
            }
        },
        "the policy takes no notice of it");
    command.AddIdle("crossIteration",
                    [this]() { return iterations == 1 ? "there is one iteration" : ""; });
}

ScheduleSettings
ScheduleOptions::ReadSettings() const
{
    const std::string suffix = ".json";
    if (schedule.size() < suffix.size() ||
        schedule.compare(schedule.size() - suffix.size(), suffix.size(), suffix) != 0)
    {
        return ReadNamed("--communicationSchedule=" + schedule,
                         [&]() { return ParseScheduleSettings(schedule); });
    }
    InputFile file(schedule);
    return ReadScheduleJson(file.GetStream(), schedule);
}

void
RequireStreams(const std::vector<std::string>& executors, const std::string& wish)
{
    for (const std::string& executor : executors)
    {
        if (!FindExecutor(executor).GetTraits().hasStreams)
        {
            throw std::invalid_argument(wish + ": executor " + executor +
                                        " starts what is ready, whatever its stream and the order "
                                        "of communications; leave it out of --executor");
        }
    }
}

void
ScheduleOptions::Check() const
{
    ReadSettings();
    ToCount(iterations, "iterations", 1);
    CrossIterationFromString(crossIteration);
}

bool
ScheduleOptions::IsUsed() const
{
    const ScheduleOptions defaults;
    return schedule != defaults.schedule || iterations != defaults.iterations;
}

ScheduledJob
ScheduleOptions::Prepare(const ExecutionGraph& graph,
                         const std::vector<CarriedDependency>* carried) const
{
    const CrossIteration cross = CrossIterationFromString(crossIteration);
    if (cross == CrossIteration::TENSOR && !carried)
    {
        throw std::invalid_argument("--crossIteration=tensor: of a graph from a file it is not "
                                    "known what reads which parameter; take "
                                    "--crossIteration=barrier, or --model with --strategy");
    }
    ScheduledJob job;
    job.repeated = ReadNamed("--iterations=" + std::to_string(iterations), [&]() {
        return RepeatGraph(graph,
                           carried ? *carried : std::vector<CarriedDependency>(),
                           ToCount(iterations, "iterations", 1),
                           cross);
    });
    const ScheduleSettings settings = ReadSettings();
    job.run = ReadNamed("--communicationSchedule=" + schedule,
                        [&]() { return PrepareSchedule(job.repeated.graph, settings); });
    const std::string idle = schedule == ScheduleOptions().schedule
                                 ? ""
                                 : FindNothingToOrder(job.repeated.graph, settings, job.run.graph);
    if (!idle.empty())
    {
        Warn("--communicationSchedule=" + schedule + " has no effect: " + idle);
    }
    else if (LacksCredit(settings) && HasScheduled(graph, settings))
    {
        Warn("--communicationSchedule=" + schedule +
             ": without creditBytes all that is ready starts at once, so that little is put into "
             "order; e.g. partBytes=4000000,creditBytes=16000000, as proteus-schedule has them");
    }
    return job;
}

std::vector<std::string>
ScheduleOptions::FindUnused(const ScheduledJob& job, const RunRecord& record) const
{
    std::vector<std::string> lines;
    if (record.isPartial || !FindExecutor(record.executor).GetTraits().hasStreams)
    {
        return lines;
    }
    const bool isTensor = CrossIterationFromString(crossIteration) == CrossIteration::TENSOR;
    if (isTensor && iterations > 1 &&
        !DoIterationsOverlap(job.run.graph, job.repeated.iterationOf, record.timeline))
    {
        lines.push_back(record.executor + ": --crossIteration=" + crossIteration +
                        " has no effect: no GPU begins an iteration before all of the one before "
                        "has ended there");
    }
    const ScheduleSettings settings = ReadSettings();
    const bool isAlike = job.run.graph.GetNTasks() == job.repeated.graph.GetNTasks() &&
                         settings.messagePs == 0; // else parts, or when they start, are others
    const bool isIdle = !FindNothingToOrder(job.repeated.graph, settings, job.run.graph).empty();
    if (job.run.use && !job.run.use->hasChosen && isAlike && !isIdle &&
        HasScheduled(job.repeated.graph, settings) && schedule != ScheduleOptions().schedule)
    {
        lines.push_back(record.executor + ": --communicationSchedule=" + schedule +
                        " has put nothing into order: no two communications of kind " +
                        ListKinds(settings) + " were ready at once");
    }
    return lines;
}

} // namespace proteus
} // namespace ns3
