/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-schedule-options.h"

#include "proteus-name-lists.h"
#include "proteus-program-options.h"

#include "ns3/proteus-executor.h"
#include "ns3/proteus-input-file.h"
#include "ns3/proteus-schedule-json.h"
#include "ns3/proteus-schedule-text.h"

#include <stdexcept>

namespace ns3
{
namespace proteus
{

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
    return job;
}

} // namespace proteus
} // namespace ns3
