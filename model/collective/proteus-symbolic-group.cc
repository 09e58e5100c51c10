/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-symbolic-group.h"

namespace ns3
{
namespace proteus
{

SymbolicGroup::SymbolicGroup(const NetworkGroup& group, uint32_t slots)
    : m_group(group),
      m_slots(slots)
{
}

bool
SymbolicGroup::IsThere(uint32_t rank, const Step& step) const
{
    if (step.peer == NO_RANK)
    {
        const auto found = m_results.find(rank);
        return found != m_results.end() && !found->second.empty();
    }
    const auto found = m_multicasts.find({rank, step.peer});
    return found != m_multicasts.end() && !found->second.empty();
}

SymbolicChunk
SymbolicGroup::Take(uint32_t rank, const Step& step)
{
    auto& queue = step.peer == NO_RANK ? m_results[rank] : m_multicasts[{rank, step.peer}];
    SymbolicChunk chunk = std::move(queue.front());
    queue.pop_front();
    return chunk;
}

std::string
SymbolicGroup::Multicast(uint32_t rank, const SymbolicChunk& chunk)
{
    for (const uint32_t member : m_group.members)
    {
        auto& queue = m_multicasts[{member, rank}];
        queue.push_back(chunk);
        if (queue.size() > m_slots)
        {
            return "rank " + std::to_string(member) + " has no room for a multicast";
        }
    }
    return "";
}

std::string
SymbolicGroup::Give(uint32_t rank, const Step& step, const SymbolicChunk& chunk, RankSets& sets)
{
    const uint64_t place = m_begun[rank]++ - m_completed;
    if (place == m_reductions.size())
    {
        m_reductions.push_back({step.kind, step.peer, step.bytes, 0, {}});
    }
    Reduction& reduction = m_reductions[place];
    if (reduction.kind != step.kind || reduction.peer != step.peer || reduction.bytes != step.bytes)
    {
        return "contributes to another reduction than the other members";
    }
    if (reduction.contributions++ == 0)
    {
        reduction.sum = chunk;
    }
    else
    {
        SymbolicChunk sum;
        const std::string error = AddChunks(reduction.sum, chunk, sets, sum);
        if (!error.empty())
        {
            return error;
        }
        reduction.sum = std::move(sum);
    }
    return Complete();
}

std::string
SymbolicGroup::Complete()
{
    while (!m_reductions.empty() && m_reductions.front().contributions == m_group.members.size())
    {
        const Reduction done = std::move(m_reductions.front());
        m_reductions.pop_front();
        ++m_completed;
        for (const uint32_t member : m_group.members)
        {
            if (done.peer != NO_RANK && done.peer != member)
            {
                continue;
            }
            auto& queue = m_results[member];
            queue.push_back(done.sum);
            if (queue.size() > m_slots)
            {
                return "rank " + std::to_string(member) + " has no room for a result";
            }
        }
    }
    return "";
}

uint32_t
SymbolicGroup::FindLate() const
{
    for (const uint32_t member : m_group.members)
    {
        const auto begun = m_begun.find(member);
        if (begun == m_begun.end() || begun->second <= m_completed)
        {
            return member;
        }
    }
    return NO_RANK;
}

std::string
SymbolicGroup::FindLeft() const
{
    for (const auto& [member, queue] : m_results)
    {
        if (!queue.empty())
        {
            return "rank " + std::to_string(member) + " leaves results of its network group unread";
        }
    }
    for (const auto& [ends, queue] : m_multicasts)
    {
        if (!queue.empty())
        {
            return "rank " + std::to_string(ends.first) + " leaves multicasts of rank " +
                   std::to_string(ends.second) + " unread";
        }
    }
    return m_reductions.empty() ? "" : "a reduction of a network group lacks contributions";
}

} // namespace proteus
} // namespace ns3
