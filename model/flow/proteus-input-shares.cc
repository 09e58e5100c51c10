/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-input-shares.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace ns3
{
namespace proteus
{

namespace
{

/// Part by which a weight differs from 1 at least.
constexpr double ROUNDING = 1e-9;

} // namespace

void
InputShares::AddFlows(uint32_t count,
                      double bytes,
                      const std::vector<FlowInput>& inputs,
                      uint32_t held)
{
    Flows flows;
    flows.count = count;
    flows.bytes = bytes;
    flows.inputs = &inputs;
    const auto place = std::find_if(inputs.begin(), inputs.end(), [held](const FlowInput& input) {
        return held != NO_ID && input.resource == held;
    });
    if (place != inputs.end())
    {
        flows.held = place->resource;
        flows.turn = place->turn;
        flows.end = static_cast<std::size_t>(place - inputs.begin()) + 1;
        m_held.push_back(static_cast<uint32_t>(m_flows.size()));
    }
    m_flows.push_back(flows);
}

bool
InputShares::Find()
{
    std::stable_sort(m_held.begin(), m_held.end(), [this](uint32_t a, uint32_t b) {
        return m_flows[a].held < m_flows[b].held;
    });
    for (std::size_t begin = 0; begin < m_held.size();)
    {
        std::size_t end = begin + 1;
        while (end < m_held.size() && m_flows[m_held[end]].held == m_flows[m_held[begin]].held)
        {
            ++end;
        }
        Weigh({begin, end});
        begin = end;
    }
    return std::any_of(m_held.begin(), m_held.end(), [this](uint32_t flows) {
        return std::abs(m_flows[flows].weight - 1) > ROUNDING;
    });
}

void
InputShares::Weigh(const Range& range)
{
    if (range.second - range.first < 2)
    {
        return; // all come the same way
    }
    std::size_t longest = 0;
    double count = 0;
    double bytes = 0;
    for (std::size_t i = range.first; i < range.second; ++i)
    {
        const Flows& flows = m_flows[m_held[i]];
        longest = std::max(longest, flows.end);
        count += flows.count;
        bytes += flows.count * flows.bytes;
    }
    // What the buffer does not hold takes several turns, the last of them a part of one.
    const double inBuffers = bytes / count / m_bufferBytes;
    const double turns = std::ceil(inBuffers) / inBuffers;
    for (std::size_t distance = longest; distance-- > 0;)
    {
        ShareInputs(range, distance, turns);
    }
    double sum = 0;
    for (std::size_t i = range.first; i < range.second; ++i)
    {
        sum += m_flows[m_held[i]].weight * m_flows[m_held[i]].count;
    }
    for (std::size_t i = range.first; i < range.second; ++i)
    {
        m_flows[m_held[i]].weight *= count / sum;
    }
}

void
InputShares::ShareInputs(const Range& range, std::size_t distance, double turns)
{
    m_places.clear();
    for (std::size_t i = range.first; i < range.second; ++i)
    {
        const Flows& flows = m_flows[m_held[i]];
        if (flows.end > distance)
        {
            const FlowInput& input = (*flows.inputs)[flows.end - 1 - distance];
            const auto count = [&](uint32_t turn) {
                return (turn + input.period - flows.turn) % input.period;
            };
            m_places.push_back(
                {input.resource, count(input.turn), input.from, count(input.fromTurn), m_held[i]});
        }
    }
    const auto input = [](const Place& place) {
        return std::tie(place.resource, place.turn, place.from, place.fromTurn);
    };
    std::stable_sort(m_places.begin(), m_places.end(), [&](const Place& a, const Place& b) {
        return input(a) < input(b);
    });
    for (auto first = m_places.begin(); first != m_places.end();)
    {
        const auto last = std::find_if(first, m_places.end(), [&](const Place& place) {
            return input(place) != input(*first);
        });
        double sum = 0;
        double count = 0;
        for (auto place = first; place != last; ++place)
        {
            const Flows& flows = m_flows[place->flows];
            sum += flows.weight * flows.count;
            count += flows.count;
        }
        for (; first != last; ++first)
        {
            m_flows[first->flows].weight *= std::min(count, turns) / sum;
        }
    }
}

} // namespace proteus
} // namespace ns3
