/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-symbolic-buffer.h"

#include <algorithm>
#include <iterator>

namespace ns3
{
namespace proteus
{

namespace
{

/// Appends a piece, to the last one if it goes on with it.
void
Append(SymbolicChunk& chunk, const SymbolicPiece& piece)
{
    if (!chunk.empty() && chunk.back().set == piece.set &&
        chunk.back().logical + chunk.back().bytes == piece.logical)
    {
        chunk.back().bytes += piece.bytes;
    }
    else
    {
        chunk.push_back(piece);
    }
}

} // namespace

RankSets::RankSets(uint32_t ranks)
    : m_ranks(ranks)
{
}

uint32_t
RankSets::Intern(const Bits& bits)
{
    const auto [place, isNew] = m_numbers.emplace(bits, static_cast<uint32_t>(m_sets.size()));
    if (isNew)
    {
        m_sets.push_back(bits);
    }
    return place->second;
}

uint32_t
RankSets::Single(uint32_t rank)
{
    Bits bits(m_ranks);
    bits.set(rank);
    return Intern(bits);
}

uint32_t
RankSets::All()
{
    Bits bits(m_ranks);
    bits.set();
    return Intern(bits);
}

uint32_t
RankSets::Join(uint32_t a, uint32_t b)
{
    const uint64_t key = uint64_t{std::min(a, b)} << 32 | std::max(a, b);
    const auto found = m_joins.find(key);
    if (found != m_joins.end())
    {
        return found->second;
    }
    const uint32_t join = m_sets[a].intersects(m_sets[b]) ? OVERLAP : Intern(m_sets[a] | m_sets[b]);
    m_joins.emplace(key, join);
    return join;
}

std::string
RankSets::Describe(uint32_t set) const
{
    std::string text = "ranks";
    for (uint32_t rank = 0; rank < m_ranks; ++rank)
    {
        text += m_sets[set].test(rank) ? " " + std::to_string(rank) : "";
    }
    return text;
}

std::string
AddChunks(const SymbolicChunk& a, const SymbolicChunk& b, RankSets& sets, SymbolicChunk& sum)
{
    sum.clear();
    auto at = a.begin();
    auto bt = b.begin();
    uint64_t aUsed = 0;
    uint64_t bUsed = 0;
    while (at != a.end() && bt != b.end())
    {
        const uint64_t bytes = std::min(at->bytes - aUsed, bt->bytes - bUsed);
        if (at->logical + aUsed != bt->logical + bUsed)
        {
            return "adds byte " + std::to_string(bt->logical + bUsed) + " to byte " +
                   std::to_string(at->logical + aUsed);
        }
        const uint32_t set = sets.Join(at->set, bt->set);
        if (set == RankSets::OVERLAP)
        {
            return "adds a contribution twice";
        }
        Append(sum, {bytes, at->logical + aUsed, set});
        aUsed += bytes;
        bUsed += bytes;
        if (aUsed == at->bytes)
        {
            ++at;
            aUsed = 0;
        }
        if (bUsed == bt->bytes)
        {
            ++bt;
            bUsed = 0;
        }
    }
    return at == a.end() && bt == b.end() ? "" : "adds chunks of different sizes";
}

bool
SymbolicBuffer::Read(uint64_t offset, uint64_t bytes, SymbolicChunk& chunk) const
{
    chunk.clear();
    const uint64_t end = offset + bytes;
    auto at = m_pieces.upper_bound(offset);
    if (at != m_pieces.begin())
    {
        --at;
    }
    while (offset < end)
    {
        if (at == m_pieces.end() || at->first > offset || at->first + at->second.bytes <= offset)
        {
            return false;
        }
        const uint64_t skipped = offset - at->first;
        const uint64_t taken = std::min(end - offset, at->second.bytes - skipped);
        Append(chunk, {taken, at->second.logical + skipped, at->second.set});
        offset += taken;
        ++at;
    }
    return true;
}

void
SymbolicBuffer::Split(uint64_t at)
{
    const auto next = m_pieces.upper_bound(at);
    if (next == m_pieces.begin())
    {
        return;
    }
    const auto before = std::prev(next);
    const uint64_t used = at - before->first;
    if (used > 0 && used < before->second.bytes)
    {
        SymbolicPiece rest = before->second;
        rest.bytes -= used;
        rest.logical += used;
        before->second.bytes = used;
        m_pieces.emplace(at, rest);
    }
}

void
SymbolicBuffer::Write(uint64_t offset, const SymbolicChunk& chunk)
{
    uint64_t end = offset;
    for (const SymbolicPiece& piece : chunk)
    {
        end += piece.bytes;
    }
    Split(offset);
    Split(end);
    m_pieces.erase(m_pieces.lower_bound(offset), m_pieces.lower_bound(end));
    for (const SymbolicPiece& piece : chunk)
    {
        auto place = m_pieces.emplace(offset, piece).first;
        offset += piece.bytes;
        if (place != m_pieces.begin())
        {
            const auto before = std::prev(place);
            SymbolicPiece& last = before->second;
            if (before->first + last.bytes == place->first && last.set == piece.set &&
                last.logical + last.bytes == piece.logical)
            {
                last.bytes += piece.bytes;
                m_pieces.erase(place);
            }
        }
    }
}

} // namespace proteus
} // namespace ns3
