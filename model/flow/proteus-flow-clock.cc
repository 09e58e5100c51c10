/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-clock.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace ns3
{
namespace proteus
{

void
FlowClock::Schedule(DeviceId /* device */, int64_t delayPs, std::function<void()> callback)
{
    if (delayPs < 0 || delayPs > std::numeric_limits<int64_t>::max() - m_timePs)
    {
        throw std::invalid_argument("flow clock: a delay of " + std::to_string(delayPs) +
                                    " ps from " + std::to_string(m_timePs) +
                                    " ps: must not be negative, nor pass the end of time");
    }
    ScheduleAt(m_timePs + delayPs, std::move(callback));
}

void
FlowClock::ScheduleAt(int64_t timePs, std::function<void()> callback)
{
    if (timePs < m_timePs)
    {
        throw std::invalid_argument("flow clock: " + std::to_string(timePs) +
                                    " ps is over, it is " + std::to_string(m_timePs) + " ps");
    }
    const uint32_t slot = m_callbacks.Add(std::move(callback));
    m_queue.push_back({timePs, m_scheduled++, slot});
    std::push_heap(m_queue.begin(), m_queue.end());
}

bool
FlowClock::Step()
{
    if (m_queue.empty())
    {
        return false;
    }
    std::pop_heap(m_queue.begin(), m_queue.end());
    const Entry entry = m_queue.back();
    m_queue.pop_back();
    m_timePs = entry.timePs;
    const std::function<void()> callback = std::move(m_callbacks[entry.slot]);
    m_callbacks[entry.slot] = nullptr;
    m_callbacks.GiveBack(entry.slot);
    ++m_events;
    callback();
    return true;
}

void
FlowClock::Run()
{
    while (!m_isStopped && Step())
    {
    }
}

} // namespace proteus
} // namespace ns3
