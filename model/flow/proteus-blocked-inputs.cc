/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-blocked-inputs.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Part of what messages that are under way have to send that is left in the mean, as they begin
/// and end at any time.
constexpr double LEFT = 0.5;
/// No limit.
constexpr double UNLIMITED = std::numeric_limits<double>::infinity();

/// From its second input on a flow comes from a switch; before the first there is none.
constexpr std::size_t FIRST_INPUT = 1;

/// @param user a user @param link an input @param holder of the user @return whether what holds it
/// is behind the input on its way
bool
WaitsBehind(const SharedUser& user, uint32_t link, uint32_t holder)
{
    const auto& inputs = *user.inputs;
    const auto input = std::find_if(inputs.begin(), inputs.end(), [link](const FlowInput& other) {
        return other.from == link;
    });
    return std::any_of(input, inputs.end(), [holder](const FlowInput& other) {
        return other.resource == holder;
    });
}

} // namespace

double
BlockedInputs::FindRate(const FairSolution& solution, uint32_t link)
{
    m_waiting.clear();
    double bytes = 0;
    for (const SharedResource::Active& active : m_table.resources[link].active)
    {
        const uint32_t holder = solution.GetHolder(active.user);
        const SharedUser& user = m_table.users[active.user];
        if (holder != NO_ID && WaitsBehind(user, link, holder))
        {
            m_waiting.emplace_back(solution.GetRate(active.user), LEFT * user.bytes);
            bytes += LEFT * user.bytes;
        }
    }
    if (bytes <= m_bufferBytes)
    {
        return UNLIMITED;
    }
    // Those that the buffer holds altogether hold nobody up.
    std::sort(m_waiting.begin(), m_waiting.end());
    double held = 0;
    const auto first = std::find_if(m_waiting.begin(), m_waiting.end(), [&](const auto& waiting) {
        held += waiting.second;
        return held > m_bufferBytes;
    });
    return first == m_waiting.end() ? UNLIMITED : first->first;
}

const std::vector<BlockedInputs::Cap>&
BlockedInputs::Find(const FairSolution& solution,
                    const std::vector<uint32_t>& users,
                    const std::vector<uint32_t>& freed)
{
    ++m_call;
    m_rates.resize(m_table.resources.size(), UNLIMITED);
    m_linkCalls.resize(m_table.resources.size(), 0);
    m_userCalls.resize(m_table.users.GetNPlaces(), 0);
    m_changed.clear();
    const auto change = [this](uint32_t user) {
        if (std::exchange(m_userCalls[user], m_call) != m_call)
        {
            m_changed.push_back(user);
        }
    };
    const auto look = [&](uint32_t link) {
        if (link >= m_rates.size() || std::exchange(m_linkCalls[link], m_call) == m_call)
        {
            return; // what is no resource is used by nobody
        }
        const double rate = FindRate(solution, link);
        if (std::exchange(m_rates[link], rate) != rate)
        {
            for (const SharedResource::Active& active : m_table.resources[link].active)
            {
                change(active.user);
            }
        }
    };
    for (const uint32_t link : freed)
    {
        look(link);
    }
    for (const uint32_t id : users)
    {
        const auto& inputs = *m_table.users[id].inputs;
        for (std::size_t i = FIRST_INPUT; i < inputs.size(); ++i)
        {
            look(inputs[i].from);
        }
        if (!inputs.empty())
        {
            change(id);
        }
    }
    std::sort(m_changed.begin(), m_changed.end());
    m_caps.clear();
    for (const uint32_t id : m_changed)
    {
        const SharedUser& user = m_table.users[id];
        const uint32_t holder = solution.GetHolder(id);
        Cap cap{id, UNLIMITED};
        for (std::size_t i = FIRST_INPUT; i < user.inputs->size(); ++i)
        {
            const uint32_t link = (*user.inputs)[i].from;
            // Those that wait behind it have what holds them.
            const bool isFree =
                link >= m_rates.size() || (holder != NO_ID && WaitsBehind(user, link, holder));
            cap.rate = isFree ? cap.rate : std::min(cap.rate, m_rates[link]);
        }
        m_caps.push_back(cap);
    }
    return m_caps;
}

} // namespace proteus
} // namespace ns3
