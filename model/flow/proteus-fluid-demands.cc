/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fluid-queues.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

namespace
{

/// Picoseconds in a second.
constexpr double PS_PER_SECOND = 1e12;

} // namespace

double
FluidQueues::GetSinceS(const FluidStream& stream, double seconds, int64_t nowPs)
{
    return stream.handedPs > 0
               ? std::max(0.0,
                          static_cast<double>(nowPs - stream.handedPs) / PS_PER_SECOND - seconds)
               : 0;
}

double
FluidQueues::FindCredit(const Port& port, bool atNic)
{
    double creditS = 0;
    for (const Place& place : port.places)
    {
        creditS = (place.hop == 0) == atNic ? std::max(creditS, -place.stream->fromS) : creditS;
    }
    return port.queue > 0 ? 0 : std::min(creditS, port.idleS);
}

void
FluidQueues::ShareSources(double seconds, int64_t nowPs)
{
    const auto getDemand = [&](uint32_t nic) {
        const Port& port = m_ports[nic];
        FluidDemand demand;
        double creditS = 0;
        for (const Place& place : port.places)
        {
            if (place.hop == 0)
            {
                demand.wanted += place.stream->sends * seconds * place.stream->hops[0].wire;
                creditS = std::max(creditS, GetSinceS(*place.stream, seconds, nowPs));
            }
        }
        demand.allowed =
            std::min(demand.wanted, port.capacity * (seconds + std::min(creditS, port.idleS)));
        return demand;
    };
    m_ends.Share(
        FluidEnds::SOURCE,
        seconds,
        getDemand,
        [&](const FluidStream& stream) { return stream.sends * seconds; },
        [&](const FluidStream& stream) { return GetSinceS(stream, seconds, nowPs); });
}

void
FluidQueues::ShareSinks(double seconds)
{
    // What is there before a NIC: what waits, and what has gone from the port before.
    const auto getBytes = [](const FluidStream& stream) {
        return stream.hops.back().waiting + stream.hops[stream.hops.size() - 2].gone;
    };
    const auto getDemand = [&](uint32_t nic) {
        const Port& port = m_ports[nic];
        FluidDemand demand;
        for (const Place& place : port.places)
        {
            demand.wanted += getBytes(*place.stream) * place.stream->hops.back().wire;
        }
        demand.allowed =
            std::min(demand.wanted, port.capacity * (seconds + FindCredit(port, false)));
        return demand;
    };
    m_ends.Share(FluidEnds::SINK, seconds, getDemand, getBytes, [](const FluidStream& stream) {
        return std::max(0.0, -stream.fromS);
    });
}

} // namespace proteus
} // namespace ns3
