/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_WAVE_SCHEDULE_H
#define PROTEUS_WAVE_SCHEDULE_H

#include <cstdint>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * The thread blocks of one kernel on the multiprocessors of a GPU: one block at a time on each, all
 * of the same length, the next one as soon as one ends. While the number of multiprocessors stays
 * the same, this makes waves, the last of which may be nearly empty. The number may change at any
 * time: a block that runs keeps its multiprocessor to its end, as on a real GPU.
 *
 * Times are of any unit, from the start of the kernel on.
 */
class WaveSchedule
{
  public:
    /**
     * Starts at time 0.
     * @param blocks how many, at least 1
     * @param blockTime of each, above 0
     * @param processors that the kernel may occupy, at least 1
     */
    WaveSchedule(uint64_t blocks, double blockTime, uint32_t processors);

    /**
     * @param time not before the last one
     * @param processors that the kernel may occupy from then on, at least 1
     */
    void SetProcessors(double time, uint32_t processors);

    /// @return when the last block ends, if nothing changes
    double GetEnd() const;

  private:
    /// Blocks that end together.
    struct Group
    {
        double end{0};
        uint64_t blocks{0};
    };

    /// @param time until which blocks end and others take their place
    void Advance(double time);
    /// @param time at which as many blocks start as there is room for
    void Fill(double time);

    double m_blockTime;
    uint64_t m_waiting;          //!< blocks that have not started
    uint64_t m_running{0};       //!< blocks that have, and have not ended
    uint64_t m_processors;       //!< most of them
    double m_end{0};             //!< of the last block that has started
    std::vector<Group> m_groups; //!< that run, by end
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_WAVE_SCHEDULE_H
