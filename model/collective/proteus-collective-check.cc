/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithms.h"
#include "proteus-symbolic-buffer.h"
#include "proteus-symbolic-layout.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>

namespace ns3
{
namespace proteus
{

namespace
{

/// A thread block under way.
struct BlockState
{
    const ThreadBlock* block;
    uint32_t rank;
    uint32_t number;                              //!< in its rank
    std::size_t next{0};                          //!< step
    std::deque<SymbolicChunk>* incoming{nullptr}; //!< null where nothing is received
    std::deque<SymbolicChunk>* outgoing{nullptr}; //!< null where nothing is sent
};

/// A reduction of a network group, until all members have contributed.
struct Reduction
{
    StepKind kind{StepKind::GROUP_ALL_REDUCE};
    uint32_t peer{NO_RANK};
    uint64_t bytes{0};
    uint32_t contributions{0};
    SymbolicChunk sum;
};

/// The operations of a network group.
struct GroupState
{
    std::deque<Reduction> reductions;                      //!< from the first that is not complete
    uint64_t completed{0};                                 //!< reductions
    std::map<uint32_t, uint64_t> begun;                    //!< reductions, by member
    std::map<uint32_t, std::deque<SymbolicChunk>> results; //!< by member
    /// By receiver and sender.
    std::map<std::pair<uint32_t, uint32_t>, std::deque<SymbolicChunk>> multicasts;
};

/// Executes a program once.
class Execution
{
  public:
    Execution(const CollectiveProgram& program, const CollectiveRequest& request)
        : m_program(program),
          m_request(request),
          m_n(static_cast<uint32_t>(program.ranks.size())),
          m_sets(m_n),
          m_layout(request),
          m_buffers(m_n),
          m_groups(program.groups.size())
    {
    }

    /// @return what is wrong with the program before it begins
    std::string SetUp();

    /**
     * Executes all steps.
     * @param backwards whether blocks are tried from the last to the first
     * @param single whether every block does one step at a time
     * @return what is wrong
     */
    std::string Run(bool backwards, bool single);

    /// @return what is wrong with the result
    std::string CheckResult();

  private:
    /// @param state of a block @return what its next step waits for, empty if for nothing
    std::string WaitsFor(const BlockState& state, const BlockState** other) const;
    /// @param state of a block @return what is wrong with its next step, which is done
    std::string DoStep(BlockState& state);
    /// Does a step of a network group. @return what is wrong
    std::string DoGroupStep(BlockState& state, const Step& step);
    /// @return the steps that wait for each other, or nothing
    std::string DescribeDeadlock() const;
    /// @param state of a block @return e.g. "rank 1, channel 0, step 3"
    static std::string Name(const BlockState& state);
    /// @param from sender @param to receiver @param channel of the connection @param sends which
    /// end
    /// @return the block there
    const BlockState* FindPeer(uint32_t from, uint32_t to, uint32_t channel, bool sends) const;

    const CollectiveProgram& m_program;
    const CollectiveRequest& m_request;
    uint32_t m_n;
    RankSets m_sets;
    AllToAllLayout m_layout;
    std::vector<SymbolicBuffer> m_buffers;
    std::vector<GroupState> m_groups;
    std::vector<BlockState> m_states;
    std::vector<std::vector<std::size_t>> m_stateOf; //!< by rank and block
    /// By sender, receiver and channel.
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::deque<SymbolicChunk>> m_queues;
};

std::string
Execution::Name(const BlockState& state)
{
    std::ostringstream text;
    text << "rank " << state.rank << ", channel " << state.block->channel << ", ";
    if (state.number > 0)
    {
        text << "block " << state.number << ", ";
    }
    text << "step " << state.next;
    return text.str();
}

std::string
Execution::SetUp()
{
    if (m_n != m_request.vertices.size())
    {
        return "the program is for another number of ranks";
    }
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::pair<int, int>> ends;
    // By rank, group, what (0 gives to reductions, 1 gets results, 2 multicasts, 3 gets those of a
    // sender), sender: block.
    std::map<std::array<uint32_t, 4>, uint32_t> owners;
    m_stateOf.resize(m_n);
    for (uint32_t rank = 0; rank < m_n; ++rank)
    {
        const auto& blocks = m_program.ranks[rank].blocks;
        for (uint32_t number = 0; number < blocks.size(); ++number)
        {
            const ThreadBlock& block = blocks[number];
            BlockState state{&block, rank, number};
            const auto wrong = [&](const std::string& cause) { return Name(state) + ": " + cause; };
            if (block.receivePeer != NO_RANK)
            {
                const auto key = std::make_tuple(block.receivePeer, rank, uint32_t{block.channel});
                state.incoming = &m_queues[key];
                ++ends[key].second;
            }
            if (block.sendPeer != NO_RANK)
            {
                const auto key = std::make_tuple(rank, block.sendPeer, uint32_t{block.channel});
                state.outgoing = &m_queues[key];
                ++ends[key].first;
            }
            for (; state.next < block.steps.size(); ++state.next)
            {
                const Step& step = block.steps[state.next];
                const bool isGroup = SendsToGroup(step.kind) || step.kind == StepKind::GROUP_RECV;
                const bool mayBeEmpty = step.kind == StepKind::WAIT ||
                                        step.kind == StepKind::GROUP_ALL_REDUCE ||
                                        (step.kind == StepKind::GROUP_RECV && step.peer == NO_RANK);
                if ((step.bytes == 0 && !mayBeEmpty) || step.bytes > m_program.bufferBytes ||
                    step.offset > m_program.bufferBytes - step.bytes ||
                    step.Source() > m_program.bufferBytes - step.bytes)
                {
                    return wrong("a step is empty or reaches past the buffer");
                }
                if ((Receives(step.kind) && !state.incoming) ||
                    (Sends(step.kind) && !state.outgoing))
                {
                    return wrong("no peer");
                }
                if (step.waitBlock != NO_BLOCK &&
                    (step.waitBlock >= blocks.size() ||
                     step.waitStep >= blocks[step.waitBlock].steps.size()))
                {
                    return wrong("waits for a step that there is not");
                }
                if (!isGroup)
                {
                    continue;
                }
                if (block.group >= m_groups.size())
                {
                    return wrong("there is no such network group");
                }
                const auto& members = m_program.groups[block.group].members;
                const auto isMember = [&](uint32_t who) {
                    return std::binary_search(members.begin(), members.end(), who);
                };
                if (!isMember(rank) || (step.peer != NO_RANK && !isMember(step.peer)) ||
                    (step.peer == NO_RANK && step.kind == StepKind::GROUP_REDUCE))
                {
                    return wrong("is not between members of the network group");
                }
                const uint32_t what = step.kind == StepKind::GROUP_MULTICAST ? 2
                                      : SendsToGroup(step.kind)              ? 0
                                      : step.peer == NO_RANK                 ? 1
                                                                             : 3;
                const uint32_t sender = what == 3 ? step.peer : NO_RANK;
                if (owners.emplace(std::array<uint32_t, 4>{rank, block.group, what, sender}, number)
                        .first->second != number)
                {
                    return wrong("another block does such steps of the network group");
                }
            }
            state.next = 0;
            m_stateOf[rank].push_back(m_states.size());
            m_states.push_back(state);
        }
    }
    for (const auto& [key, count] : ends)
    {
        if (count != std::make_pair(1, 1))
        {
            std::ostringstream text;
            text << "connection from rank " << std::get<0>(key) << " to rank " << std::get<1>(key)
                 << " on channel " << std::get<2>(key) << " has " << count.first << " senders and "
                 << count.second << " receivers";
            return text.str();
        }
    }
    for (uint32_t rank = 0; rank < m_n; ++rank)
    {
        for (const Placement& place : GetInput(m_program, m_request, m_layout, rank, m_sets))
        {
            if (place.bytes > m_program.bufferBytes ||
                place.offset > m_program.bufferBytes - place.bytes)
            {
                return "the buffer is too small";
            }
            m_buffers[rank].Write(place.offset, {{place.bytes, place.logical, place.set}});
        }
    }
    return "";
}

const BlockState*
Execution::FindPeer(uint32_t from, uint32_t to, uint32_t channel, bool sends) const
{
    for (const std::size_t i : m_stateOf[sends ? from : to])
    {
        const ThreadBlock& block = *m_states[i].block;
        if (block.channel == channel && (sends ? block.sendPeer == to : block.receivePeer == from))
        {
            return &m_states[i];
        }
    }
    return nullptr;
}

std::string
Execution::WaitsFor(const BlockState& state, const BlockState** other) const
{
    const ThreadBlock& block = *state.block;
    const Step& step = block.steps[state.next];
    *other = nullptr;
    if (step.waitBlock != NO_BLOCK)
    {
        const BlockState& awaited = m_states[m_stateOf[state.rank][step.waitBlock]];
        if (awaited.next <= step.waitStep)
        {
            *other = &awaited;
            return "another block of its rank";
        }
    }
    if (Receives(step.kind) && state.incoming->empty())
    {
        *other = FindPeer(block.receivePeer, state.rank, block.channel, true);
        return "a chunk";
    }
    if (Sends(step.kind) && state.outgoing->size() >= m_program.slots)
    {
        *other = FindPeer(state.rank, block.sendPeer, block.channel, false);
        return "room";
    }
    if (step.kind == StepKind::GROUP_RECV)
    {
        const GroupState& group = m_groups[block.group];
        bool empty = true;
        if (step.peer == NO_RANK)
        {
            const auto found = group.results.find(state.rank);
            empty = found == group.results.end() || found->second.empty();
        }
        else
        {
            const auto found = group.multicasts.find({state.rank, step.peer});
            empty = found == group.multicasts.end() || found->second.empty();
        }
        if (empty)
        {
            // Of a reduction, the first member that has not contributed to the first one open.
            uint32_t late = step.peer;
            for (const uint32_t member : m_program.groups[block.group].members)
            {
                const auto begun = group.begun.find(member);
                if (late == NO_RANK &&
                    (begun == group.begun.end() || begun->second <= group.completed))
                {
                    late = member;
                }
            }
            for (const BlockState& candidate : m_states)
            {
                if (candidate.rank == late && candidate.block->group == block.group &&
                    candidate.next < candidate.block->steps.size() && &candidate != &state &&
                    std::any_of(candidate.block->steps.begin() + candidate.next,
                                candidate.block->steps.end(),
                                [&](const Step& later) {
                                    return step.peer == NO_RANK
                                               ? later.kind == StepKind::GROUP_REDUCE ||
                                                     later.kind == StepKind::GROUP_ALL_REDUCE
                                               : later.kind == StepKind::GROUP_MULTICAST;
                                }))
                {
                    *other = &candidate;
                }
            }
            return "its network group";
        }
    }
    return "";
}

std::string
Execution::DoGroupStep(BlockState& state, const Step& step)
{
    GroupState& group = m_groups[state.block->group];
    const auto& members = m_program.groups[state.block->group].members;
    SymbolicChunk chunk;
    if (step.kind == StepKind::GROUP_RECV)
    {
        auto& queue = step.peer == NO_RANK ? group.results[state.rank]
                                           : group.multicasts[{state.rank, step.peer}];
        chunk = std::move(queue.front());
        queue.pop_front();
        uint64_t bytes = 0;
        for (const SymbolicPiece& piece : chunk)
        {
            bytes += piece.bytes;
        }
        if (bytes != step.bytes)
        {
            return "receives a chunk of another size";
        }
        m_buffers[state.rank].Write(step.offset, chunk);
        return "";
    }
    if (!m_buffers[state.rank].Read(step.Source(), step.bytes, chunk))
    {
        return "sends bytes that hold nothing";
    }
    const auto deliver = [&](std::deque<SymbolicChunk>& queue, const SymbolicChunk& what) {
        queue.push_back(what);
        return queue.size() <= m_program.slots;
    };
    if (step.kind == StepKind::GROUP_MULTICAST)
    {
        for (const uint32_t member : members)
        {
            if (!deliver(group.multicasts[{member, state.rank}], chunk))
            {
                return "rank " + std::to_string(member) + " has no room for a multicast";
            }
        }
        return "";
    }
    const uint64_t number = group.begun[state.rank]++;
    if (number - group.completed == group.reductions.size())
    {
        group.reductions.push_back({step.kind, step.peer, step.bytes, 0, {}});
    }
    Reduction& reduction = group.reductions[number - group.completed];
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
        const std::string error = AddChunks(reduction.sum, chunk, m_sets, sum);
        if (!error.empty())
        {
            return error;
        }
        reduction.sum = std::move(sum);
    }
    while (!group.reductions.empty() && group.reductions.front().contributions == members.size())
    {
        const Reduction done = std::move(group.reductions.front());
        group.reductions.pop_front();
        ++group.completed;
        for (const uint32_t member : members)
        {
            if ((done.peer == NO_RANK || done.peer == member) &&
                !deliver(group.results[member], done.sum))
            {
                return "rank " + std::to_string(member) + " has no room for a result";
            }
        }
    }
    return "";
}

std::string
Execution::DoStep(BlockState& state)
{
    const Step& step = state.block->steps[state.next];
    if (step.kind == StepKind::WAIT)
    {
        return "";
    }
    if (SendsToGroup(step.kind) || step.kind == StepKind::GROUP_RECV)
    {
        return DoGroupStep(state, step);
    }
    SymbolicBuffer& buffer = m_buffers[state.rank];
    SymbolicChunk chunk;
    if (ReadsBuffer(step.kind) && !buffer.Read(step.Source(), step.bytes, chunk))
    {
        return "reads bytes that hold nothing";
    }
    SymbolicChunk other;
    if (Receives(step.kind))
    {
        other = std::move(state.incoming->front());
        state.incoming->pop_front();
        uint64_t bytes = 0;
        for (const SymbolicPiece& piece : other)
        {
            bytes += piece.bytes;
        }
        if (bytes != step.bytes)
        {
            return "receives a chunk of another size";
        }
    }
    else if (step.kind == StepKind::REDUCE && !buffer.Read(step.offset, step.bytes, other))
    {
        return "adds to bytes that hold nothing";
    }
    if (Reduces(step.kind))
    {
        SymbolicChunk sum;
        const std::string error = AddChunks(other, chunk, m_sets, sum);
        if (!error.empty())
        {
            return error;
        }
        chunk = std::move(sum);
    }
    else if (Receives(step.kind))
    {
        chunk = std::move(other);
    }
    if (WritesBuffer(step.kind))
    {
        buffer.Write(step.offset, chunk);
    }
    if (Sends(step.kind))
    {
        state.outgoing->push_back(std::move(chunk));
    }
    return "";
}

std::string
Execution::DescribeDeadlock() const
{
    // From some step that waits, go to what it waits for until a step comes again, or the way ends.
    const BlockState* at = nullptr;
    for (const BlockState& state : m_states)
    {
        if (state.next < state.block->steps.size())
        {
            at = &state;
            break;
        }
    }
    if (!at)
    {
        return "";
    }
    constexpr std::size_t MOST = 16; // that are named
    std::vector<const BlockState*> way;
    std::vector<std::string> reasons;
    while (at && at->next < at->block->steps.size() &&
           std::find(way.begin(), way.end(), at) == way.end())
    {
        way.push_back(at);
        const BlockState* other = nullptr;
        reasons.push_back(WaitsFor(*at, &other));
        at = other;
    }
    const bool isCycle = at && at->next < at->block->steps.size();
    std::size_t first =
        isCycle ? static_cast<std::size_t>(std::find(way.begin(), way.end(), at) - way.begin()) : 0;
    std::string text;
    for (std::size_t i = first; i < way.size() && i < first + MOST; ++i)
    {
        text += Name(*way[i]) + (i == first ? ": waits for ever for " : " waits for ") +
                reasons[i] + (i + 1 < way.size() ? " from " : "");
    }
    if (way.size() > first + MOST)
    {
        return text + "...";
    }
    return text + (isCycle ? " from " + Name(*at)
                   : at    ? " from " + Name(*at) + ", which is done"
                           : "");
}

std::string
Execution::Run(bool backwards, bool single)
{
    for (bool progress = true; progress;)
    {
        progress = false;
        for (std::size_t i = 0; i < m_states.size(); ++i)
        {
            BlockState& state = m_states[backwards ? m_states.size() - 1 - i : i];
            const BlockState* other;
            while (state.next < state.block->steps.size() && WaitsFor(state, &other).empty())
            {
                const std::string error = DoStep(state);
                if (!error.empty())
                {
                    return Name(state) + ": " + error;
                }
                ++state.next;
                progress = true;
                if (single)
                {
                    break;
                }
            }
        }
    }
    const std::string deadlock = DescribeDeadlock();
    if (!deadlock.empty())
    {
        return deadlock;
    }
    for (const auto& [key, queue] : m_queues)
    {
        if (!queue.empty())
        {
            return "rank " + std::to_string(std::get<1>(key)) + " leaves chunks of rank " +
                   std::to_string(std::get<0>(key)) + " unread";
        }
    }
    for (const GroupState& group : m_groups)
    {
        for (const auto& [member, queue] : group.results)
        {
            if (!queue.empty())
            {
                return "rank " + std::to_string(member) +
                       " leaves results of its network group "
                       "unread";
            }
        }
        for (const auto& [ends, queue] : group.multicasts)
        {
            if (!queue.empty())
            {
                return "rank " + std::to_string(ends.first) + " leaves multicasts of rank " +
                       std::to_string(ends.second) + " unread";
            }
        }
        if (!group.reductions.empty())
        {
            return "a reduction of a network group lacks contributions";
        }
    }
    return "";
}

std::string
Execution::CheckResult()
{
    for (uint32_t rank = 0; rank < m_n; ++rank)
    {
        for (const Placement& place : GetOutput(m_program, m_request, m_layout, rank, m_sets))
        {
            SymbolicChunk chunk;
            if (place.bytes > m_program.bufferBytes ||
                place.offset > m_program.bufferBytes - place.bytes)
            {
                return "the buffer is too small";
            }
            if (!m_buffers[rank].Read(place.offset, place.bytes, chunk))
            {
                return "rank " + std::to_string(rank) + " ends with bytes that hold nothing, at " +
                       std::to_string(place.offset) + " or behind it";
            }
            uint64_t offset = place.offset;
            for (const SymbolicPiece& piece : chunk)
            {
                const uint64_t logical = place.logical + (offset - place.offset);
                if (piece.set != place.set || piece.logical != logical)
                {
                    return "rank " + std::to_string(rank) +
                           " ends with wrong contributions at byte " + std::to_string(offset) +
                           ": " +
                           (piece.logical != logical ? "byte " + std::to_string(piece.logical) +
                                                           " instead of " + std::to_string(logical)
                                                     : m_sets.Describe(piece.set) + " instead of " +
                                                           m_sets.Describe(place.set));
                }
                offset += piece.bytes;
            }
        }
    }
    return "";
}

} // namespace

std::string
CheckProgram(const CollectiveProgram& program, const CollectiveRequest& request)
{
    for (const auto& [backwards, single] :
         {std::make_pair(false, false), std::make_pair(true, false), std::make_pair(false, true)})
    {
        Execution execution(program, request);
        std::string error = execution.SetUp();
        error = error.empty() ? execution.Run(backwards, single) : error;
        error = error.empty() ? execution.CheckResult() : error;
        if (!error.empty())
        {
            return error;
        }
    }
    return "";
}

} // namespace proteus
} // namespace ns3
