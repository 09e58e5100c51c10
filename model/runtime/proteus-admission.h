/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_ADMISSION_H
#define PROTEUS_ADMISSION_H

#include "proteus-device-tasks.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * How far a device has come in its schedule. An entry is posted when its receives are posted,
 * admitted when its tasks are in their streams, and started when the first of them has started.
 * Posting and admission go ahead of starting by a bounded number of entries. Entries without tasks
 * on the device neither wait nor make others wait.
 */
class Admission
{
  public:
    /**
     * @param graph that is executed; must outlive this object
     * @param device whose schedule
     * @param tasks of the device; must outlive this object
     * @param issueAhead entries that may be issued beyond those that have started
     */
    Admission(const ExecutionGraph& graph,
              DeviceId device,
              const DeviceTasks& tasks,
              uint32_t issueAhead);

    /// @return the schedule of the device
    const std::vector<ScheduleEntry>& GetSchedule() const
    {
        return m_schedule;
    }

    /// @return the next entry whose receives may be posted, or null
    const ScheduleEntry* GetNextPosted() const
    {
        return MayIssue(m_nextPosted, m_posted) ? &m_schedule[m_nextPosted] : nullptr;
    }

    /// The next entry is posted.
    void Post();

    /// @return the next entry that may be admitted, gates aside, or null
    const ScheduleEntry* GetNextAdmitted() const
    {
        return MayIssue(m_nextAdmitted, m_admitted) ? &m_schedule[m_nextAdmitted] : nullptr;
    }

    /// The next entry is admitted.
    void Admit();

    /// @param task a task @param microBatch of it @return how many entries were admitted, up to
    /// the task's
    uint32_t GetPlace(const Task& task, uint32_t microBatch) const
    {
        return m_places[task.phase][microBatch];
    }

    /// @param task that starts @param microBatch of it @return whether it is the first of its entry
    bool Start(const Task& task, uint32_t microBatch);

    /// @param task that has ended @param microBatch of it
    void Finish(const Task& task, uint32_t microBatch);

    /// @return the first entry that is not admitted, or null
    const ScheduleEntry* GetFirstWaiting() const
    {
        return m_nextAdmitted < m_schedule.size() ? &m_schedule[m_nextAdmitted] : nullptr;
    }

  private:
    /// @param next an entry @param issued entries with tasks here that were issued
    /// @return whether the entry may be issued
    bool MayIssue(std::size_t next, uint32_t issued) const
    {
        return next < m_schedule.size() && (m_tasks.GetPhaseTasks(m_schedule[next].phase).empty() ||
                                            issued < m_started + m_issueAhead);
    }

    const std::vector<ScheduleEntry>& m_schedule;
    const DeviceTasks& m_tasks;
    const uint32_t m_issueAhead;
    std::vector<bool> m_isScheduled;                 //!< by phase: whether it has entries
    std::vector<std::vector<uint32_t>> m_unfinished; //!< by phase and micro-batch: tasks
    std::vector<std::vector<bool>> m_hasStarted;     //!< by phase and micro-batch
    std::vector<std::vector<uint32_t>> m_places;     //!< by phase and micro-batch
    std::size_t m_nextPosted{0};                     //!< first entry that is not posted
    std::size_t m_nextAdmitted{0};                   //!< first entry that is not admitted
    uint32_t m_posted{0};                            //!< entries with tasks here that are posted
    uint32_t m_admitted{0};                          //!< entries with tasks here that are admitted
    uint32_t m_started{0};                           //!< entries of which a task has started
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_ADMISSION_H
