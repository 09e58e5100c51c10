/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-read-requests.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

void
ReadRequests::Add(uint32_t pair, VertexId device, uint32_t trafficClass, uint32_t units)
{
    const auto [place, isNew] =
        m_numbers.try_emplace({device, trafficClass}, static_cast<uint32_t>(m_readers.size()));
    if (isNew)
    {
        m_readers.emplace_back();
        m_readers.back().room = std::max(units, 1U);
    }
    if (m_readerOf.size() <= pair)
    {
        m_readerOf.resize(pair + 1);
    }
    m_readerOf[pair] = place->second;
}

bool
ReadRequests::HasRoom(uint32_t pair, int64_t now)
{
    Reader& reader = m_readers[m_readerOf[pair]];
    const auto left = std::remove_if(reader.returns.begin(),
                                     reader.returns.end(),
                                     [now](int64_t timePs) { return timePs <= now; });
    reader.asked -= static_cast<uint32_t>(reader.returns.end() - left);
    reader.returns.erase(left, reader.returns.end());
    return reader.asked < reader.room;
}

ReadRequests::Turn
ReadRequests::TakeWaiting(uint32_t pair)
{
    Reader& reader = m_readers[m_readerOf[pair]];
    if (reader.waiting.empty())
    {
        return {};
    }
    const Turn turn = reader.waiting.front();
    reader.waiting.pop_front();
    return turn;
}

bool
ReadRequests::IsAtRest() const
{
    return std::all_of(m_readers.begin(), m_readers.end(), [](const Reader& reader) {
        return reader.asked == reader.returns.size() && reader.waiting.empty();
    });
}

} // namespace proteus
} // namespace ns3
