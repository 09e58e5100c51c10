/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// Marks of packets that FluidQueues stand for, and what senders hear of them.

#include "proteus-fluid-queues.h"

#include "ns3/proteus-flow-hash.h"

#include <cmath>

namespace ns3
{
namespace proteus
{

void
FluidQueues::Mark(FluidStream& stream, const Passage& passage)
{
    FluidPair& pair = *stream.pair;
    const double all = pair.packets + passage.packets;
    for (double number = 1; number <= all; ++number)
    {
        const double part = (number - pair.packets) / passage.packets;
        const double queuePs = passage.queuePs + part * passage.risePs;
        const double probability = queuePs >= m_congestion.markAllPs ? 1
                                   : queuePs <= m_congestion.markPs
                                       ? 0
                                       : m_congestion.maxProbability *
                                             (queuePs - m_congestion.markPs) /
                                             (m_congestion.markAllPs - m_congestion.markPs);
        if (probability > 0 && Draw(pair) < probability)
        {
            const double waitsPs = m_congestion.marksAtDequeue ? 0 : queuePs * passage.slowness;
            const int64_t arrivalPs =
                std::llround(passage.fromPs + part * passage.perPs + waitsPs) +
                stream.flow->toNicPs;
            if (arrivalPs - pair.notifiedPs >= m_congestion.notificationPs)
            {
                pair.notifiedPs = arrivalPs;
                pair.goesPs.push_back(arrivalPs);
            }
        }
    }
    pair.packets = all - std::floor(all);
}

double
FluidQueues::Draw(FluidPair& pair) const
{
    return static_cast<double>(MixHash(pair.key ^ m_seed, ++pair.draws) >> 11) * 0x1p-53;
}

double
FluidQueues::FindWait(const FluidStream& stream, double fromPs) const
{
    double waitPs = 0;
    for (const auto& [port, unitPs] : stream.returns)
    {
        const Port& back = m_ports[port];
        if (back.queue > 0)
        {
            // Packets follow each other, so that those that cause notifications meet them alike.
            const double sentPs = fromPs + waitPs - back.sincePs;
            waitPs += std::ceil(sentPs / unitPs) * unitPs - sentPs;
        }
        else if (back.busy > 0)
        {
            const double draw = Draw(*stream.pair);
            waitPs += draw < back.busy ? draw / back.busy * unitPs : 0;
        }
    }
    return waitPs;
}

void
FluidQueues::Hear(FluidStream& stream, int64_t nowPs)
{
    FluidPair& pair = *stream.pair;
    for (; !pair.goesPs.empty() && pair.goesPs.front() <= nowPs; pair.goesPs.pop_front())
    {
        const int64_t goesPs = pair.goesPs.front();
        pair.notificationsPs.push_back(goesPs + stream.flow->returnPs +
                                       std::llround(FindWait(stream, static_cast<double>(goesPs))));
    }
    while (!pair.notificationsPs.empty() && pair.notificationsPs.front() <= nowPs)
    {
        pair.control->Notify(pair.notificationsPs.front());
        pair.notificationsPs.pop_front();
        ++m_notifications;
    }
    pair.control->Advance(nowPs);
}

} // namespace proteus
} // namespace ns3
