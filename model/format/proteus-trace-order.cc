/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-trace-order.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <string>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Nodes that the message about a cycle lists.
constexpr std::size_t MAX_LISTED = 8;

/// @param trace of a rank @param pending by node, how many others it still waits for
/// @throw std::invalid_argument that names a cycle
[[noreturn]] void
FailCycle(const RankTrace& trace, const std::vector<uint32_t>& pending)
{
    const auto n = static_cast<uint32_t>(trace.nodes.size());
    // Walking from any node that waits to one that it waits for ends on a cycle.
    std::vector<uint32_t> waitsFor(n, NO_ID);
    for (const auto& [after, before] : trace.dependencies)
    {
        if (pending[after] > 0 && pending[before] > 0)
        {
            waitsFor[after] = before;
        }
    }
    uint32_t at = 0;
    while (pending[at] == 0)
    {
        at++;
    }
    for (uint32_t i = 0; i < n; i++)
    {
        at = waitsFor[at];
    }
    std::vector<uint32_t> cycle{at};
    for (uint32_t i = waitsFor[at]; i != at; i = waitsFor[i])
    {
        cycle.push_back(i);
    }
    const auto lowest = std::min_element(cycle.begin(), cycle.end(), [&](uint32_t a, uint32_t b) {
        return trace.nodes[a].id < trace.nodes[b].id;
    });
    std::rotate(cycle.begin(), lowest, cycle.end());
    std::string message = trace.file + ": the dependencies form a cycle of " +
                          std::to_string(cycle.size()) +
                          (cycle.size() == 1 ? " node: " : " nodes: ");
    for (std::size_t i = 0; i < std::min(cycle.size(), MAX_LISTED); i++)
    {
        message += "node " + std::to_string(trace.nodes[cycle[i]].id) + " waits for ";
    }
    throw std::invalid_argument(message +
                                (cycle.size() > MAX_LISTED
                                     ? std::string("...")
                                     : "node " + std::to_string(trace.nodes[cycle.front()].id)));
}

/// Merges lists, see MergeLists().
class ListMerger
{
  public:
    ListMerger(const std::vector<std::vector<uint32_t>>& lists, std::size_t n)
        : m_lists(lists),
          m_waits(n, 0),
          m_isDone(n, false),
          m_next(lists.size(), 0),
          m_work(lists.size()),
          m_stopped(n)
    {
        for (const auto& list : lists)
        {
            for (const uint32_t part : list)
            {
                ++m_waits[part];
            }
        }
        // The first last, since it is taken from the end.
        std::iota(m_work.rbegin(), m_work.rend(), 0U);
        m_order.reserve(n);
    }

    std::vector<uint32_t> Merge()
    {
        std::size_t firstOpen = 0;
        for (;;)
        {
            while (!m_work.empty())
            {
                Advance(m_work.back());
            }
            while (firstOpen < m_lists.size() && m_next[firstOpen] == m_lists[firstOpen].size())
            {
                firstOpen++;
            }
            if (firstOpen == m_lists.size())
            {
                return std::move(m_order);
            }
            Take(m_lists[firstOpen][m_next[firstOpen]]); // force it
        }
    }

  private:
    /// Advances a list that is the last to be worked on by one thing, or stops it.
    void Advance(uint32_t at)
    {
        const auto& list = m_lists[at];
        if (m_next[at] == list.size())
        {
            m_work.pop_back();
            return;
        }
        const uint32_t part = list[m_next[at]];
        if (m_isDone[part]) // it was forced
        {
            m_next[at]++;
            return;
        }
        if (--m_waits[part] > 0)
        {
            m_stopped[part].push_back(at);
            m_work.pop_back();
            return;
        }
        m_next[at]++;
        Take(part);
    }

    /// Puts a thing into the order, and goes on with the lists that waited for it.
    void Take(uint32_t part)
    {
        m_isDone[part] = true;
        m_order.push_back(part);
        for (const uint32_t other : m_stopped[part])
        {
            m_next[other]++;
            m_work.push_back(other);
        }
        std::vector<uint32_t>().swap(m_stopped[part]);
    }

    const std::vector<std::vector<uint32_t>>& m_lists;
    std::vector<uint32_t> m_waits;                //!< by thing: lists in which it is not the next
    std::vector<bool> m_isDone;                   //!< by thing
    std::vector<std::size_t> m_next;              //!< by list
    std::vector<uint32_t> m_work;                 //!< lists that may go on, the next one last
    std::vector<std::vector<uint32_t>> m_stopped; //!< by thing: lists that wait for it
    std::vector<uint32_t> m_order;
};

} // namespace

std::vector<uint32_t>
FindIssueOrder(const RankTrace& trace)
{
    const auto n = static_cast<uint32_t>(trace.nodes.size());
    std::vector<uint32_t> pending(n, 0);
    std::vector<uint32_t> first(std::size_t{n} + 1, 0);
    for (const auto& [after, before] : trace.dependencies)
    {
        pending[after]++;
        first[before + 1]++;
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<uint32_t> successors(trace.dependencies.size());
    std::vector<uint32_t> fill(first.begin(), first.end() - 1);
    for (const auto& [after, before] : trace.dependencies)
    {
        successors[fill[before]++] = after;
    }
    using Key = std::pair<uint64_t, uint32_t>; // id, position
    std::priority_queue<Key, std::vector<Key>, std::greater<>> ready;
    for (uint32_t i = 0; i < n; i++)
    {
        if (pending[i] == 0)
        {
            ready.emplace(trace.nodes[i].id, i);
        }
    }
    std::vector<uint32_t> order;
    order.reserve(n);
    while (!ready.empty())
    {
        const uint32_t i = ready.top().second;
        ready.pop();
        order.push_back(i);
        for (uint32_t k = first[i]; k < first[i + 1]; k++)
        {
            if (--pending[successors[k]] == 0)
            {
                ready.emplace(trace.nodes[successors[k]].id, successors[k]);
            }
        }
    }
    if (order.size() == n)
    {
        return order;
    }
    FailCycle(trace, pending);
}

bool
HasCycle(const RankTrace& trace)
{
    try
    {
        FindIssueOrder(trace);
        return false;
    }
    catch (const std::invalid_argument&)
    {
        return true;
    }
}

std::vector<uint32_t>
MergeLists(const std::vector<std::vector<uint32_t>>& lists, std::size_t n)
{
    return ListMerger(lists, n).Merge();
}

} // namespace proteus
} // namespace ns3
