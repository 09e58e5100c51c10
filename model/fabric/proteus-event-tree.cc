/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-event-tree.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

EventTree::EventTree(uint32_t nSlots)
    : m_bits(1)
{
    while ((uint64_t{1} << m_bits) < nSlots)
    {
        ++m_bits;
    }
    m_mask = (uint64_t{1} << m_bits) - 1;
    // One bit less than there is, so that no key equals EMPTY.
    m_horizon = int64_t{1} << (63 - m_bits);
    std::vector<std::size_t> sizes; // of 8-ary levels, in nodes
    std::size_t n = nSlots;
    while (n > MOST_PAIRED)
    {
        n = (n + 7) / 8;
        sizes.push_back(n);
    }
    m_half = LEAST_PAIRED;
    m_nPaired = 3;
    while (m_half < n)
    {
        m_half *= 2;
        ++m_nPaired;
    }
    const std::size_t pairs = 2 * m_half / 8;
    Node empty;
    std::fill(std::begin(empty.keys), std::end(empty.keys), uint64_t{EMPTY});
    m_nodes.assign(std::accumulate(sizes.begin(), sizes.end(), pairs), empty);
    m_pairs = m_nodes.front().keys;
    m_nWide = sizes.size();
    std::size_t first = pairs;
    for (std::size_t level = 0; level < m_nWide; ++level)
    {
        m_wide[level] = m_nodes[first].keys;
        first += sizes[level];
    }
    m_wide[m_nWide] = m_pairs + m_half;
    m_leaves = m_wide[0];
}

void
EventTree::MoveEpoch(int64_t timePs)
{
    // A quarter of the range stays below the earliest pending time, for times from now on: the
    // tree does not know what time it is.
    const int64_t epoch = std::min(GetTime(), timePs) - m_horizon / 4;
    uint64_t last = 0; // past the epoch
    for (const Node& node : m_nodes)
    {
        for (const uint64_t key : node.keys)
        {
            last = std::max(last, key == EMPTY ? 0 : key >> m_bits);
        }
    }
    const bool isBack = timePs < m_epoch;
    if ((!isBack && epoch <= m_epoch) || timePs - epoch >= m_horizon ||
        (isBack && static_cast<int64_t>(last) + m_epoch - epoch >= m_horizon))
    {
        throw std::length_error("packet events further apart in time than the event set can hold");
    }
    const uint64_t shift = static_cast<uint64_t>(epoch - m_epoch) << m_bits;
    m_epoch = epoch;
    // Minima move by as much as what they are minima of.
    for (Node& node : m_nodes)
    {
        for (uint64_t& key : node.keys)
        {
            key -= key == EMPTY ? 0 : shift;
        }
    }
    m_top -= m_top == EMPTY ? 0 : shift;
}

} // namespace proteus
} // namespace ns3
