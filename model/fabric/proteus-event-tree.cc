/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-event-tree.h"

#include <algorithm>
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
    for (std::size_t n = nSlots; m_levels.empty() || n > 1;)
    {
        n = (n + 7) / 8;
        m_levels.emplace_back(8 * n, uint64_t{EMPTY});
    }
    m_nLevels = m_levels.size();
}

void
EventTree::MoveEpoch(int64_t timePs)
{
    // A quarter of the range stays below, for times between now, which is unknown here, and the
    // earliest pending one.
    const int64_t epoch = std::min(GetTime(), timePs) - m_horizon / 4;
    if (epoch <= m_epoch || timePs - epoch >= m_horizon)
    {
        throw std::length_error("packet events further apart in time than the event set can hold");
    }
    const uint64_t shift = static_cast<uint64_t>(epoch - m_epoch) << m_bits;
    m_epoch = epoch;
    for (uint32_t slot = 0; slot < m_levels[0].size(); ++slot)
    {
        if (m_levels[0][slot] != EMPTY)
        {
            m_levels[0][slot] -= shift;
        }
    }
    for (std::size_t level = 1; level < m_nLevels; ++level)
    {
        for (std::size_t i = 0; i < m_levels[level - 1].size() / 8; ++i)
        {
            m_levels[level][i] = Minimum(&m_levels[level - 1][i << 3]);
        }
    }
    m_top = Minimum(m_levels[m_nLevels - 1].data());
}

} // namespace proteus
} // namespace ns3
