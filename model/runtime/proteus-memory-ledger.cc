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
    uint32_t nAllocations = 0;
    for (uint32_t local = 0; local < tasks.GetNTasks(); ++local)
    {
        if (tasks.GetIssue(local) == Issue::NONE)
        {
            m_first[local] = nAllocations;
            nAllocations += tasks.GetNInstances(local);
        }
    }
    m_allocations.reserve(nAllocations);
    for (uint32_t local = 0; local < tasks.GetNTasks(); ++local)
    {
        if (m_first[local] == NO_ID)
        {
            continue;
        }
        // Every instance of a consumer that is linked to an instance of the tensor uses it.
        Allocation allocation{0, 0};
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
    // One when something is allocated, one when it is freed. Room that is not used is not touched
    // and so takes no memory; a vector that grows would leave some behind that was.
    m_samples.reserve(2 * m_allocations.size() + 1);
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
    allocation.allocated = 1;
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
