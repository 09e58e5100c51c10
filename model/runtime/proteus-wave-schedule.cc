/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-wave-schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3
{
namespace proteus
{

namespace
{

/// Ends that differ by less than this part of a block are one: they differ by rounding.
constexpr double SAME_END = 1e-6;

} // namespace

WaveSchedule::WaveSchedule(uint64_t blocks, double blockTime, uint32_t processors)
    : m_blockTime(blockTime),
      m_waiting(blocks),
      m_processors(processors)
{
    Fill(0);
}

void
WaveSchedule::Fill(double time)
{
    if (m_waiting == 0 || m_running >= m_processors)
    {
        return;
    }
    const uint64_t blocks = std::min(m_waiting, m_processors - m_running);
    m_end = time + m_blockTime;
    if (!m_groups.empty() && m_end - m_groups.back().end < SAME_END * m_blockTime)
    {
        m_groups.back().blocks += blocks;
        m_end = m_groups.back().end;
    }
    else
    {
        m_groups.push_back({m_end, blocks});
    }
    m_waiting -= blocks;
    m_running += blocks;
}

void
WaveSchedule::Advance(double time)
{
    while (!m_groups.empty() && m_groups.front().end <= time)
    {
        // Whole rounds, in each of which every group is followed by its like, go at once.
        if (m_running <= m_processors && m_waiting >= m_running)
        {
            const double rounds = std::min(
                std::floor(static_cast<double>(m_waiting) / static_cast<double>(m_running)),
                std::floor((time - m_groups.back().end) / m_blockTime));
            if (rounds >= 1)
            {
                m_waiting -= static_cast<uint64_t>(rounds) * m_running;
                for (Group& group : m_groups)
                {
                    group.end += rounds * m_blockTime;
                }
                m_end = m_groups.back().end;
                continue;
            }
        }
        const Group over = m_groups.front();
        m_groups.erase(m_groups.begin());
        m_running -= over.blocks;
        Fill(over.end);
    }
}

void
WaveSchedule::SetProcessors(double time, uint32_t processors)
{
    Advance(time);
    m_processors = processors;
    Fill(time);
}

double
WaveSchedule::GetEnd() const
{
    WaveSchedule rest = *this;
    rest.Advance(std::numeric_limits<double>::infinity());
    return rest.m_end;
}

} // namespace proteus
} // namespace ns3
