/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-traffic-source.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double PS_PER_S = 1e12;

} // namespace

uint64_t
FindSize(const SizeDistribution& sizes, double part)
{
    double size = sizes.back().first;
    if (part <= sizes.front().second)
    {
        size = sizes.front().first;
    }
    for (std::size_t i = 1; i < sizes.size(); ++i)
    {
        const auto& [below, partBelow] = sizes[i - 1];
        const auto& [above, partAbove] = sizes[i];
        if (part > partBelow && part <= partAbove)
        {
            size = below + (above - below) * (part - partBelow) / (partAbove - partBelow);
            break;
        }
    }
    return static_cast<uint64_t>(std::max(1.0, std::floor(size)));
}

double
FindMeanSize(const SizeDistribution& sizes)
{
    double mean = sizes.front().first * sizes.front().second;
    for (std::size_t i = 1; i < sizes.size(); ++i)
    {
        mean += (sizes[i - 1].first + sizes[i].first) / 2 * (sizes[i].second - sizes[i - 1].second);
    }
    return mean;
}

TrafficSource::TrafficSource(const TrafficPattern& pattern)
    : m_pattern(pattern),
      m_random(pattern.seed),
      m_timePs(static_cast<double>(pattern.fromPs))
{
}

double
TrafficSource::Draw()
{
    return std::ldexp(static_cast<double>(m_random() >> 11), -53);
}

std::optional<TrafficMessage>
TrafficSource::NextRandom()
{
    // Times between messages are exponential: a Poisson process.
    m_timePs -= std::log1p(-Draw()) / m_pattern.messagesPerSecond * PS_PER_S;
    if (m_timePs >= static_cast<double>(m_pattern.untilPs))
    {
        return {};
    }
    const auto& servers = m_pattern.servers;
    const auto pick = [this](std::size_t n) {
        return std::min(n - 1, static_cast<std::size_t>(Draw() * static_cast<double>(n)));
    };
    const std::size_t from = pick(servers.size());
    const std::size_t step = 1 + pick(servers.size() - 1); // never the same server
    const auto& senders = servers[from];
    const auto& receivers = servers[(from + step) % servers.size()];
    TrafficMessage message;
    message.from = senders[pick(senders.size())];
    message.to = receivers[pick(receivers.size())];
    message.bytes = FindSize(m_pattern.sizes, Draw());
    message.startPs = std::llround(m_timePs);
    return message;
}

std::optional<TrafficMessage>
TrafficSource::Next()
{
    if (m_pattern.kind == TrafficPattern::Kind::POISSON)
    {
        return NextRandom();
    }
    if (m_next == m_pattern.messages.size())
    {
        if (m_pattern.kind == TrafficPattern::Kind::LIST || m_pattern.messages.empty())
        {
            return {};
        }
        m_next = 0;
        ++m_round;
    }
    TrafficMessage message = m_pattern.messages[m_next++];
    message.startPs += m_round * m_pattern.everyPs;
    if (m_pattern.kind == TrafficPattern::Kind::ROUNDS && message.startPs >= m_pattern.untilPs)
    {
        return {};
    }
    return message;
}

} // namespace proteus
} // namespace ns3
