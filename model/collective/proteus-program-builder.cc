/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-program-builder.h"

#include <algorithm>
#include <iterator>

namespace ns3
{
namespace proteus
{

ProgramBuilder::ProgramBuilder(const CollectiveRequest& request,
                               const std::string& algorithm,
                               uint32_t channels,
                               uint64_t bufferBytes)
    : m_chunkBytes(request.chunkBytes),
      m_states(request.vertices.size())
{
    m_program.algorithm = algorithm;
    m_program.channels = channels;
    m_program.bufferBytes = bufferBytes > 0 ? bufferBytes : request.bytes;
    m_program.ranks.resize(request.vertices.size());
}

uint32_t
ProgramBuilder::GetBlock(uint32_t rank, uint32_t channel, uint32_t receivePeer, uint32_t sendPeer)
{
    RankState& state = m_states[rank];
    auto& blocks = m_program.ranks[rank].blocks;
    const auto [place, isNew] =
        state.blocks.emplace(std::make_tuple(channel, receivePeer, sendPeer),
                             static_cast<uint32_t>(blocks.size()));
    if (isNew)
    {
        ThreadBlock block;
        block.channel = static_cast<uint16_t>(channel);
        block.processor = block.channel;
        block.receivePeer = receivePeer;
        block.sendPeer = sendPeer;
        blocks.push_back(std::move(block));
        state.known.emplace_back();
        state.pending.emplace_back();
    }
    return place->second;
}

uint32_t
ProgramBuilder::AddGroupBlock(uint32_t rank, uint32_t channel, uint32_t group, uint16_t warps)
{
    auto& blocks = m_program.ranks[rank].blocks;
    ThreadBlock block;
    block.channel = static_cast<uint16_t>(channel);
    block.processor = block.channel;
    block.group = group;
    block.warps = warps;
    blocks.push_back(std::move(block));
    m_states[rank].known.emplace_back();
    m_states[rank].pending.emplace_back();
    return static_cast<uint32_t>(blocks.size() - 1);
}

uint32_t
ProgramBuilder::AddGroup(const std::vector<uint32_t>& members)
{
    m_program.groups.push_back({members});
    std::sort(m_program.groups.back().members.begin(), m_program.groups.back().members.end());
    return static_cast<uint32_t>(m_program.groups.size() - 1);
}

void
ProgramBuilder::Split(std::map<uint64_t, Access>& accesses, uint64_t at)
{
    auto next = accesses.upper_bound(at);
    if (next == accesses.begin())
    {
        return;
    }
    const auto before = std::prev(next);
    if (before->first < at && at < before->second.end)
    {
        Access rest = before->second;
        before->second.end = at;
        accesses.emplace(at, std::move(rest));
    }
}

void
ProgramBuilder::Touch(uint32_t rank,
                      const StepOf& self,
                      uint64_t begin,
                      uint64_t bytes,
                      bool writes)
{
    if (bytes == 0)
    {
        return;
    }
    RankState& state = m_states[rank];
    auto& accesses = state.accesses;
    const uint64_t end = begin + bytes;
    Split(accesses, begin);
    Split(accesses, end);
    auto& pending = state.pending[self.first];
    const auto require = [&](const StepOf& other) {
        if (other.first != NO_BLOCK && other.first != self.first)
        {
            auto& step = pending.emplace(other.first, other.second).first->second;
            step = std::max(step, other.second);
        }
    };
    auto at = accesses.lower_bound(begin);
    if (writes)
    {
        while (at != accesses.end() && at->first < end)
        {
            require(at->second.writer);
            std::for_each(at->second.readers.begin(), at->second.readers.end(), require);
            at = accesses.erase(at);
        }
        accesses.emplace(begin, Access{end, self, {}});
        return;
    }
    for (uint64_t from = begin; from < end;)
    {
        if (at == accesses.end() || at->first > from)
        {
            const uint64_t to = at == accesses.end() ? end : std::min(end, at->first);
            at = accesses.emplace(from, Access{to, {NO_BLOCK, 0}, {}}).first;
        }
        require(at->second.writer);
        auto& readers = at->second.readers;
        const auto own = std::find_if(readers.begin(), readers.end(), [&](const StepOf& reader) {
            return reader.first == self.first;
        });
        if (own == readers.end())
        {
            readers.push_back(self);
        }
        else
        {
            own->second = self.second;
        }
        from = at->second.end;
        ++at;
    }
}

void
ProgramBuilder::WaitForStep(uint32_t rank, uint32_t block, uint32_t other, uint32_t step)
{
    auto& pending = m_states[rank].pending[block].emplace(other, step).first->second;
    pending = std::max(pending, step);
}

void
ProgramBuilder::WaitFor(uint32_t rank, uint32_t block, uint32_t other)
{
    if (GetNSteps(rank, other) > 0)
    {
        WaitForStep(rank, block, other, GetNSteps(rank, other) - 1);
    }
}

void
ProgramBuilder::Emit(uint32_t rank, uint32_t block, Step step)
{
    RankState& state = m_states[rank];
    auto& known = state.known[block];
    auto& steps = m_program.ranks[rank].blocks[block].steps;
    std::vector<StepOf> waits;
    for (const auto& [other, last] : state.pending[block])
    {
        const auto found = known.find(other);
        if (found == known.end() || found->second < last)
        {
            waits.emplace_back(other, last);
        }
    }
    state.pending[block].clear();
    // What the others had waited for is done as well, if this waits for the last that they have.
    for (const auto& [other, last] : waits)
    {
        if (last + 1 == GetNSteps(rank, other))
        {
            for (const auto& [third, done] : state.known[other])
            {
                auto& entry = known.emplace(third, done).first->second;
                entry = std::max(entry, done);
            }
        }
    }
    std::vector<StepOf> needed;
    for (const auto& wait : waits)
    {
        const auto found = known.find(wait.first);
        if (found == known.end() || found->second < wait.second)
        {
            needed.push_back(wait);
        }
    }
    for (const auto& [other, last] : waits)
    {
        auto& entry = known.emplace(other, last).first->second;
        entry = std::max(entry, last);
    }
    for (std::size_t i = 0; i < needed.size(); ++i)
    {
        if (i + 1 < needed.size())
        {
            Step wait;
            wait.kind = StepKind::WAIT;
            wait.waitBlock = needed[i].first;
            wait.waitStep = needed[i].second;
            steps.push_back(wait);
        }
        else
        {
            step.waitBlock = needed[i].first;
            step.waitStep = needed[i].second;
        }
    }
    steps.push_back(step);
}

void
ProgramBuilder::Append(uint32_t rank, uint32_t block, const Step& step)
{
    // WAIT steps come before it, so the number of the step is not known yet: any beyond stands for
    // it until it is there.
    constexpr uint32_t UNKNOWN = 0xffffffff;
    const StepOf self(block, UNKNOWN);
    if (ReadsBuffer(step.kind))
    {
        Touch(rank, self, step.Source(), step.bytes, false);
    }
    if (step.kind == StepKind::REDUCE)
    {
        Touch(rank, self, step.offset, step.bytes, false);
    }
    if (WritesBuffer(step.kind))
    {
        Touch(rank, self, step.offset, step.bytes, true);
    }
    Emit(rank, block, step);
    const uint32_t number = GetNSteps(rank, block) - 1;
    const auto name = [&](uint64_t begin) {
        auto& accesses = m_states[rank].accesses;
        for (auto at = accesses.lower_bound(begin);
             at != accesses.end() && at->first < begin + step.bytes;
             ++at)
        {
            if (at->second.writer == self)
            {
                at->second.writer.second = number;
            }
            for (StepOf& reader : at->second.readers)
            {
                if (reader == self)
                {
                    reader.second = number;
                }
            }
        }
    };
    if (ReadsBuffer(step.kind))
    {
        name(step.Source());
    }
    if (WritesBuffer(step.kind))
    {
        name(step.offset);
    }
}

std::vector<Extent>
ProgramBuilder::CutChunks(const Extent& extent) const
{
    std::vector<Extent> chunks((extent.bytes + m_chunkBytes - 1) / m_chunkBytes);
    for (std::size_t i = 0; i < chunks.size(); ++i)
    {
        chunks[i] = CutExtent(extent, chunks.size(), i);
    }
    return chunks;
}

void
ProgramBuilder::AppendExtent(uint32_t rank, uint32_t block, StepKind kind, const Extent& extent)
{
    for (const Extent& chunk : CutChunks(extent))
    {
        Append(rank, block, {kind, chunk.offset, chunk.bytes});
    }
}

void
ProgramBuilder::Transfer(uint32_t from,
                         uint32_t to,
                         uint32_t channel,
                         const Extent& extent,
                         bool reduces)
{
    const uint32_t sender = GetBlock(from, channel, NO_RANK, to);
    const uint32_t receiver = GetBlock(to, channel, from, NO_RANK);
    AppendExtent(from, sender, StepKind::SEND, extent);
    AppendExtent(to, receiver, reduces ? StepKind::RECV_REDUCE : StepKind::RECV, extent);
}

CollectiveProgram
ProgramBuilder::Finish()
{
    for (RankProgram& rank : m_program.ranks)
    {
        // Blocks without steps are not waited for, so only numbers change.
        std::vector<uint32_t> numbers(rank.blocks.size(), NO_BLOCK);
        std::vector<ThreadBlock> blocks;
        for (std::size_t i = 0; i < rank.blocks.size(); ++i)
        {
            if (!rank.blocks[i].steps.empty())
            {
                numbers[i] = static_cast<uint32_t>(blocks.size());
                blocks.push_back(std::move(rank.blocks[i]));
            }
        }
        for (ThreadBlock& block : blocks)
        {
            for (Step& step : block.steps)
            {
                if (step.waitBlock != NO_BLOCK)
                {
                    step.waitBlock = numbers[step.waitBlock];
                }
            }
        }
        rank.blocks = std::move(blocks);
    }
    m_states.clear();
    return std::move(m_program);
}

} // namespace proteus
} // namespace ns3
