/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-memory-ledger.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

MemoryLedger::MemoryLedger(const DeviceTasks& tasks, const Clock& clock)
    : m_tasks(tasks),
      m_clock(clock),
      m_first(tasks.GetNTasks(), NO_ID)
{
    for (uint32_t local = 0; local < tasks.GetNTasks(); ++local)
    {
        if (tasks.GetIssue(local) != Issue::NONE)
        {
            continue;
        }
        m_first[local] = static_cast<uint32_t>(m_allocations.size());
        // Every instance of a consumer that is linked to an instance of the tensor uses it.
        Allocation allocation;
        for (const uint32_t consumer : tasks.GetSuccessors(local))
        {
            allocation.users += tasks.CountLinks(consumer, local);
        }
        m_allocations.insert(m_allocations.end(), tasks.GetNInstances(local), allocation);
    }
}

void
MemoryLedger::Start()
{
    m_samples.push_back({m_clock.GetTimePs(), 0});
}

void
MemoryLedger::Sample()
{
    if (m_samples.back().timePs == m_clock.GetTimePs())
    {
        m_samples.back().bytes = m_bytes;
    }
    else
    {
        m_samples.push_back({m_clock.GetTimePs(), m_bytes});
    }
}

void
MemoryLedger::Allocate(const LocalInstance& instance)
{
    Allocation& allocation = Get(instance);
    if (allocation.allocated)
    {
        return;
    }
    allocation.allocated = true;
    m_bytes += m_tasks.GetTask(instance.local).bytes;
    m_peakBytes = std::max(m_peakBytes, m_bytes);
    Sample();
}

void
MemoryLedger::Release(const LocalInstance& instance, uint32_t users)
{
    const Task& task = m_tasks.GetTask(instance.local);
    Allocation& allocation = Get(instance);
    allocation.users -= users;
    if (allocation.users > 0 || task.persistent || !allocation.allocated)
    {
        return;
    }
    m_bytes -= task.bytes;
    Sample();
}

} // namespace proteus
} // namespace ns3
