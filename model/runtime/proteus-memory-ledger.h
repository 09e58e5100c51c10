/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MEMORY_LEDGER_H
#define PROTEUS_MEMORY_LEDGER_H

#include "proteus-device-tasks.h"
#include "proteus-network.h"

#include "ns3/proteus-timeline.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Which tensors of a device are allocated, and how much memory they take over time.
 */
class MemoryLedger
{
  public:
    /// @param tasks of the device; must outlive this object
    /// @param clock of the run; must outlive this object
    MemoryLedger(const DeviceTasks& tasks, const Clock& clock);

    /// Begins the record, with nothing allocated.
    void Start();

    /// @param instance a memory task, which is allocated from now on if it was not before
    void Allocate(const LocalInstance& instance);

    /// @param instance a memory task, which is freed if it has no consumers left and is not kept
    /// @param users consumers that it has no more
    void Release(const LocalInstance& instance, uint32_t users);

    /// @return the level of allocated memory at every time it changed
    const std::vector<MemorySample>& GetSamples() const
    {
        return m_samples;
    }

    /// @return as GetSamples(), which are gone afterwards
    std::vector<MemorySample> TakeSamples()
    {
        return std::exchange(m_samples, {});
    }

    /// @return most bytes allocated at once
    uint64_t GetPeakBytes() const
    {
        return m_peakBytes;
    }

  private:
    /// A memory task for one micro-batch; there are millions.
    struct Allocation
    {
        uint32_t users : 31;    //!< consumers that have not ended
        uint32_t allocated : 1; //!< whether it was, from some time on
    };

    /// @param instance a memory task @return its record
    Allocation& Get(const LocalInstance& instance)
    {
        return m_allocations[m_first[instance.local] + instance.microBatch];
    }

    /// Writes the present level down.
    void Sample();

    const DeviceTasks& m_tasks;
    const Clock& m_clock;
    std::vector<uint32_t> m_first;         //!< by task: start in m_allocations; NO_ID: no memory
    std::vector<Allocation> m_allocations; //!< by instance of memory tasks
    uint64_t m_bytes{0};
    uint64_t m_peakBytes{0};
    std::vector<MemorySample> m_samples;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MEMORY_LEDGER_H
