/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nic-queues.h"

#include <algorithm>
#include <limits>

namespace ns3
{
namespace proteus
{

namespace
{

/// Bytes that rounding may leave.
constexpr double NOTHING = 1e-3;
/// Picoseconds in a second.
constexpr double PS_PER_SECOND = 1e12;

} // namespace

double
NicQueues::FindRates(const Queue& queue, std::vector<double>& rates)
{
    double sum = 0;
    rates.clear();
    for (const Reader& reader : queue.readers)
    {
        const auto sharers =
            std::count_if(queue.readers.begin(), queue.readers.end(), [&](const Reader& other) {
                return other.from == reader.from;
            });
        rates.push_back(std::min(reader.comes / static_cast<double>(sharers), reader.allowed));
        sum += rates.back();
    }
    return sum;
}

void
NicQueues::Advance(Queue& queue, double nowPs)
{
    while (queue.sincePs < nowPs && (!queue.readers.empty() || queue.bytes > 0))
    {
        double comes = FindRates(queue, m_rates);
        const bool isFull = queue.bytes >= queue.room - NOTHING;
        if (isFull && comes > queue.goes)
        {
            // No more is read than has left.
            for (double& rate : m_rates)
            {
                rate *= queue.goes / comes;
            }
            comes = queue.goes;
        }
        double forPs = nowPs - queue.sincePs;
        for (std::size_t i = 0; i < queue.readers.size(); ++i)
        {
            forPs = std::min(forPs, queue.readers[i].bytes / m_rates[i]);
        }
        const double grows = comes - queue.goes;
        if (grows > 0)
        {
            forPs = std::min(forPs, (queue.room - queue.bytes) / grows);
        }
        else if (grows < 0 && queue.bytes > 0)
        {
            forPs = std::min(forPs, queue.bytes / -grows);
        }
        for (std::size_t i = 0; i < queue.readers.size(); ++i)
        {
            queue.readers[i].bytes -= m_rates[i] * forPs;
        }
        queue.bytes = std::clamp(queue.bytes + grows * forPs, 0.0, queue.room);
        queue.bytes = queue.bytes < NOTHING ? 0 : queue.bytes;
        queue.sincePs += forPs;
        queue.readers.erase(
            std::remove_if(queue.readers.begin(),
                           queue.readers.end(),
                           [](const Reader& reader) { return reader.bytes < NOTHING; }),
            queue.readers.end());
    }
    queue.sincePs = std::max(queue.sincePs, nowPs);
}

std::vector<NicQueues::Reader>::iterator
NicQueues::Find(Queue& queue, uint32_t flow)
{
    return std::find_if(queue.readers.begin(), queue.readers.end(), [flow](const Reader& reader) {
        return reader.flow == flow;
    });
}

void
NicQueues::Add(uint32_t flow, const FlowReading& reading, double rate, double bytes, double nowPs)
{
    Queue& queue = m_queues[reading.port];
    Advance(queue, nowPs);
    queue.room = reading.room;
    queue.goes = reading.goes / PS_PER_SECOND;
    const auto place = Find(queue, flow);
    if (place != queue.readers.end())
    {
        place->bytes += bytes;
    }
    else
    {
        queue.readers.push_back({flow, reading.from, bytes, reading.comes / PS_PER_SECOND, rate});
    }
}

double
NicQueues::Begin(uint32_t flow, const FlowReading& reading, double rate, double bytes, double nowPs)
{
    const double before = GetQueued(reading.port, nowPs);
    Add(flow, reading, rate, bytes, nowPs);
    return before / (reading.goes / PS_PER_SECOND);
}

double
NicQueues::SetRate(uint32_t flow, const FlowReading& reading, double rate, double nowPs)
{
    Queue& queue = m_queues[reading.port];
    Advance(queue, nowPs);
    const auto place = Find(queue, flow);
    if (place == queue.readers.end())
    {
        return 0;
    }
    place->allowed = rate;
    return place->bytes;
}

double
NicQueues::GetQueued(uint32_t port, double nowPs)
{
    const auto place = m_queues.find(port);
    if (place == m_queues.end())
    {
        return 0;
    }
    Advance(place->second, nowPs);
    return place->second.bytes;
}

} // namespace proteus
} // namespace ns3
