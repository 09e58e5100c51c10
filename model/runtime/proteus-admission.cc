/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-admission.h"

namespace ns3
{
namespace proteus
{

Admission::Admission(const ExecutionGraph& graph,
                     DeviceId device,
                     const DeviceTasks& tasks,
                     uint32_t issueAhead)
    : m_schedule(graph.GetSchedule(device)),
      m_tasks(tasks),
      m_issueAhead(issueAhead),
      m_isScheduled(graph.GetPhases().size())
{
    for (PhaseId phase = 0; phase < graph.GetPhases().size(); ++phase)
    {
        const uint32_t microBatches = graph.GetPhases()[phase].microBatches;
        m_unfinished.emplace_back(microBatches,
                                  static_cast<uint32_t>(tasks.GetPhaseTasks(phase).size()));
        m_hasStarted.emplace_back(microBatches, false);
        m_places.emplace_back(microBatches, 0);
    }
    for (const ScheduleEntry& entry : m_schedule)
    {
        m_isScheduled[entry.phase] = true;
    }
}

void
Admission::Post()
{
    m_posted += !m_tasks.GetPhaseTasks(m_schedule[m_nextPosted].phase).empty();
    ++m_nextPosted;
}

void
Admission::Admit()
{
    const ScheduleEntry& entry = m_schedule[m_nextAdmitted++];
    m_admitted += !m_tasks.GetPhaseTasks(entry.phase).empty();
    m_places[entry.phase][entry.microBatch] = m_admitted;
}

bool
Admission::Start(const Task& task, uint32_t microBatch)
{
    if (m_hasStarted[task.phase][microBatch])
    {
        return false;
    }
    m_hasStarted[task.phase][microBatch] = true;
    ++m_started;
    return true;
}

void
Admission::Finish(const Task& task, uint32_t microBatch)
{
    // Entries whose only tasks here are receives start with their end.
    if (--m_unfinished[task.phase][microBatch] == 0 && m_isScheduled[task.phase])
    {
        Start(task, microBatch);
    }
}

} // namespace proteus
} // namespace ns3
