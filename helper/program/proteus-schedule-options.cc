/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-schedule-options.h"

#include "proteus-program-options.h"

#include "ns3/proteus-input-file.h"
#include "ns3/proteus-iteration-times.h"
#include "ns3/proteus-schedule-json.h"
#include "ns3/proteus-schedule-text.h"
#include "ns3/proteus-tables.h"

#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double S_PER_PS = 1e-12;

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
                     "what an iteration waits for: barrier (all of the one before) or tensor (of a "
                     "model: what it reads)",
                     crossIteration);
}

ScheduleSettings
ScheduleOptions::ReadSettings() const
{
    const std::string suffix = ".json";
    if (schedule.size() < suffix.size() ||
        schedule.compare(schedule.size() - suffix.size(), suffix.size(), suffix) != 0)
    {
        return ParseScheduleSettings(schedule);
    }
    InputFile file(schedule);
    return ReadScheduleJson(file.GetStream(), schedule);
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
    job.repeated = RepeatGraph(graph,
                               carried ? *carried : std::vector<CarriedDependency>(),
                               ToCount(iterations, "iterations", 1),
                               cross);
    job.run = PrepareSchedule(job.repeated.graph, ReadSettings());
    return job;
}

void
PrintIterations(const ScheduledJob& job, const std::vector<RunRecord>& records, std::ostream& out)
{
    std::vector<std::vector<std::string>> lines{{"Iteration"}};
    for (uint32_t i = 0; i < job.repeated.iterations; ++i)
    {
        lines.push_back({std::to_string(i + 1)});
    }
    lines.push_back({"steady"});
    for (const RunRecord& record : records)
    {
        const IterationTimes times =
            MeasureIterations(job.run.graph, job.repeated, record.timeline);
        lines[0].push_back(record.executor);
        for (std::size_t i = 0; i < times.timesPs.size(); ++i)
        {
            lines[i + 1].push_back(FormatTime(static_cast<double>(times.timesPs[i]) * S_PER_PS));
        }
        lines.back().push_back(FormatTime(static_cast<double>(times.steadyPs) * S_PER_PS));
    }
    out << "\nIterations (all else is about the " << job.repeated.iterations
        << " of them together; steady: the median of those after the first)\n"
        << FormatTable(lines, "l" + std::string(records.size(), 'r'));
}

} // namespace proteus
} // namespace ns3
