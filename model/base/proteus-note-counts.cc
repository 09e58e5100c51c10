/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-note-counts.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

void
NoteCounts::Add(const std::string& note)
{
    std::string kind = note;
    kind.erase(
        std::remove_if(kind.begin(), kind.end(), [](char c) { return c >= '0' && c <= '9'; }),
        kind.end());
    Kind& found = m_kinds[kind];
    if (found.runs == 0)
    {
        found.first = note;
    }
    found.isVaried = found.isVaried || found.first != note;
    ++found.runs;
}

std::vector<std::pair<std::string, uint32_t>>
NoteCounts::List() const
{
    std::vector<std::pair<std::string, uint32_t>> notes;
    notes.reserve(m_kinds.size());
    for (const auto& [text, kind] : m_kinds)
    {
        notes.emplace_back(kind.first + (kind.isVaried ? "; others with other numbers" : ""),
                           kind.runs);
    }
    return notes;
}

} // namespace proteus
} // namespace ns3
