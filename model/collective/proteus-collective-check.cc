/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithms.h"
#include "proteus-program-machine.h"
#include "proteus-program-structure.h"
#include "proteus-symbolic-buffer.h"
#include "proteus-symbolic-group.h"
#include "proteus-symbolic-layout.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// What is under way from a block to another.
struct SymbolicQueue
{
    uint32_t sender{NO_ID};   //!< block
    uint32_t receiver{NO_ID}; //!< block
    std::deque<SymbolicChunk> chunks;
};

/// A thread block under way.
struct SymbolicBlock : MachineBlock
{
    SymbolicQueue* incoming{nullptr}; //!< null where nothing is received
    SymbolicQueue* outgoing{nullptr}; //!< null where nothing is sent
};

uint64_t
CountBytes(const SymbolicChunk& chunk)
{
    uint64_t bytes = 0;
    for (const SymbolicPiece& piece : chunk)
    {
        bytes += piece.bytes;
    }
    return bytes;
}

/// Executes a program once: the wire of a machine that carries symbols and takes no time.
class Execution
{
  public:
    using Machine = ProgramMachine<Execution, SymbolicBlock>;

    Execution(const CollectiveProgram& program, const CollectiveRequest& request)
        : m_program(program),
          m_request(request),
          m_waiters(FindWaiters(program)),
          m_machine(*this),
          m_n(static_cast<uint32_t>(program.ranks.size())),
          m_sets(m_n),
          m_layout(request),
          m_buffers(m_n)
    {
        for (const NetworkGroup& group : program.groups)
        {
            m_groups.emplace_back(group, program.slots);
        }
    }

    /// @return what is wrong with the buffers before the program begins
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

    // The wire, see ProgramMachine.
    void Begin(uint32_t id, const Step& step);
    void Send(uint32_t id, const Step& step);
    void Grant(uint32_t id, uint32_t chunks);
    bool IsThere(const SymbolicBlock& block, const Step& step) const;

    bool Occupy(uint32_t /* block */, const Step& /* step */)
    {
        return false;
    }

    void End(uint32_t /* block */, const Step& /* step */)
    {
    }

  private:
    /// @param block to find out about @return its rank in the group
    uint32_t GetRank(const SymbolicBlock& block) const
    {
        return m_machine.GetRank(block.rank).rank;
    }

    /// @param id of a block that waits @param other gets the block that it waits for, or NO_ID
    /// @return what its next step waits for
    std::string WaitsFor(uint32_t id, uint32_t& other) const;
    /// @param taker a block @param step of it whose chunk the group has not brought yet
    /// @return the block that is late, NO_ID if there is none
    uint32_t FindLate(uint32_t taker, const Step& step) const;
    /// Does what a step does to buffers. @return what is wrong with it
    std::string Compute(const SymbolicBlock& block, const Step& step);
    /// Does a step of a network group. @return what is wrong
    std::string DoGroupStep(const SymbolicBlock& block, const Step& step);
    /// @return the steps that wait for each other, or nothing
    std::string DescribeDeadlock() const;
    /// @return what nobody has taken in the end
    std::string FindUnread() const;
    /// @param id of a block @return name of its next step
    std::string Name(uint32_t id) const;

    const CollectiveProgram& m_program;
    const CollectiveRequest& m_request;
    BlockWaiters m_waiters;
    Machine m_machine;
    uint32_t m_n;
    RankSets m_sets;
    MessageLayout m_layout;
    std::vector<SymbolicBuffer> m_buffers;
    std::vector<SymbolicGroup> m_groups;
    /// By sender, receiver and channel.
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, SymbolicQueue> m_queues;
    SymbolicChunk m_chunk; //!< of the step that is being done: what it sends
    std::string m_error;   //!< of the first step that has one
};

std::string
Execution::Name(uint32_t id) const
{
    const SymbolicBlock& block = m_machine.GetBlock(id);
    return NameStep(GetRank(block), block.number, *block.block, block.next);
}

std::string
Execution::SetUp()
{
    for (uint32_t rank = 0; rank < m_n; ++rank)
    {
        const uint32_t run = m_machine.AddRank(m_program, m_waiters, rank);
        for (std::size_t i = 0; i < m_program.ranks[rank].blocks.size(); ++i)
        {
            const uint32_t id = m_machine.AddBlock();
            SymbolicBlock& block = m_machine.BindBlock(run, id);
            const uint32_t channel = block.block->channel;
            // Room is granted for more than the program takes, so that what is sent in vain shows.
            block.ungranted = UINT32_MAX;
            if (block.block->receivePeer != NO_RANK)
            {
                block.incoming = &m_queues[{block.block->receivePeer, rank, channel}];
                block.incoming->receiver = id;
            }
            if (block.block->sendPeer != NO_RANK)
            {
                block.outgoing = &m_queues[{rank, block.block->sendPeer, channel}];
                block.outgoing->sender = id;
            }
        }
    }
    for (const auto& entry : m_queues)
    {
        m_machine.GrantSlots(entry.second.receiver);
    }
    for (uint32_t rank = 0; rank < m_n; ++rank)
    {
        for (const PlacedBytes& place : GetInput(m_program, m_request, m_layout, rank, m_sets))
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

void
Execution::Begin(uint32_t id, const Step& step)
{
    const SymbolicBlock& block = m_machine.GetBlock(id);
    const bool isGroup = SendsToGroup(step.kind) || step.kind == StepKind::GROUP_RECV;
    const std::string error = step.kind == StepKind::WAIT ? ""
                              : isGroup                   ? DoGroupStep(block, step)
                                                          : Compute(block, step);
    if (!error.empty() && m_error.empty())
    {
        m_error = Name(id) + ": " + error;
    }
}

void
Execution::Send(uint32_t id, const Step& /* step */)
{
    SymbolicQueue& queue = *m_machine.GetBlock(id).outgoing;
    queue.chunks.push_back(std::move(m_chunk));
    ++m_machine.GetBlock(queue.receiver).arrived;
}

void
Execution::Grant(uint32_t id, uint32_t chunks)
{
    m_machine.GetBlock(m_machine.GetBlock(id).incoming->sender).grants += chunks;
}

bool
Execution::IsThere(const SymbolicBlock& block, const Step& step) const
{
    return step.kind != StepKind::GROUP_RECV ||
           m_groups[block.block->group].IsThere(GetRank(block), step);
}

uint32_t
Execution::FindLate(uint32_t taker, const Step& step) const
{
    const uint32_t number = m_machine.GetBlock(taker).block->group;
    const uint32_t late = step.peer == NO_RANK ? m_groups[number].FindLate() : step.peer;
    const auto gives = [&](const Step& later) {
        return step.peer == NO_RANK ? later.kind == StepKind::GROUP_REDUCE ||
                                          later.kind == StepKind::GROUP_ALL_REDUCE
                                    : later.kind == StepKind::GROUP_MULTICAST;
    };
    uint32_t found = NO_ID;
    for (uint32_t id = 0; id < m_machine.GetNBlocks(); ++id)
    {
        const SymbolicBlock& candidate = m_machine.GetBlock(id);
        const auto& steps = candidate.block->steps;
        if (id != taker && GetRank(candidate) == late && candidate.block->group == number &&
            !candidate.IsOver() && std::any_of(steps.begin() + candidate.next, steps.end(), gives))
        {
            found = id;
        }
    }
    return found;
}

std::string
Execution::WaitsFor(uint32_t id, uint32_t& other) const
{
    const SymbolicBlock& block = m_machine.GetBlock(id);
    const Step& step = block.GetStep();
    other = m_machine.FindAwaited(block, step);
    if (other != NO_ID)
    {
        return "another block of its rank";
    }
    if (Machine::LacksChunk(block, step))
    {
        other = block.incoming->sender;
        return "a chunk";
    }
    if (Machine::LacksRoom(block, step))
    {
        other = block.outgoing->receiver;
        return "room";
    }
    other = FindLate(id, step);
    return "its network group";
}

std::string
Execution::DoGroupStep(const SymbolicBlock& block, const Step& step)
{
    const uint32_t rank = GetRank(block);
    SymbolicGroup& group = m_groups[block.block->group];
    SymbolicChunk chunk;
    if (step.kind == StepKind::GROUP_RECV)
    {
        chunk = group.Take(rank, step);
        if (CountBytes(chunk) != step.bytes)
        {
            return "receives a chunk of another size";
        }
        m_buffers[rank].Write(step.offset, chunk);
        return "";
    }
    if (!m_buffers[rank].Read(step.Source(), step.bytes, chunk))
    {
        return "sends bytes that hold nothing";
    }
    return step.kind == StepKind::GROUP_MULTICAST ? group.Multicast(rank, chunk)
                                                  : group.Give(rank, step, chunk, m_sets);
}

std::string
Execution::Compute(const SymbolicBlock& block, const Step& step)
{
    SymbolicBuffer& buffer = m_buffers[GetRank(block)];
    SymbolicChunk chunk;
    if (ReadsBuffer(step.kind) && !buffer.Read(step.Source(), step.bytes, chunk))
    {
        return "reads bytes that hold nothing";
    }
    SymbolicChunk other;
    if (Receives(step.kind))
    {
        other = std::move(block.incoming->chunks.front());
        block.incoming->chunks.pop_front();
        if (CountBytes(other) != step.bytes)
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
    m_chunk = std::move(chunk);
    return "";
}

std::string
Execution::DescribeDeadlock() const
{
    // From some step that waits, go to what it waits for until a step comes again, or the way ends.
    uint32_t at = 0;
    while (at < m_machine.GetNBlocks() && m_machine.GetBlock(at).IsOver())
    {
        ++at;
    }
    if (at == m_machine.GetNBlocks())
    {
        return "";
    }
    constexpr std::size_t MOST = 16; // that are named
    std::vector<uint32_t> way;
    std::vector<std::string> reasons;
    while (at != NO_ID && !m_machine.GetBlock(at).IsOver() &&
           std::find(way.begin(), way.end(), at) == way.end())
    {
        way.push_back(at);
        uint32_t other = NO_ID;
        reasons.push_back(WaitsFor(at, other));
        at = other;
    }
    const bool isCycle = at != NO_ID && !m_machine.GetBlock(at).IsOver();
    const std::size_t first =
        isCycle ? static_cast<std::size_t>(std::find(way.begin(), way.end(), at) - way.begin()) : 0;
    std::string text;
    for (std::size_t i = first; i < way.size() && i < first + MOST; ++i)
    {
        text += Name(way[i]) + (i == first ? ": waits for ever for " : " waits for ") + reasons[i] +
                (i + 1 < way.size() ? " from " : "");
    }
    if (way.size() > first + MOST)
    {
        return text + "...";
    }
    return text + (isCycle       ? " from " + Name(at)
                   : at != NO_ID ? " from " + Name(at) + ", which is done"
                                 : "");
}

std::string
Execution::FindUnread() const
{
    for (const auto& [key, queue] : m_queues)
    {
        if (!queue.chunks.empty())
        {
            return "rank " + std::to_string(std::get<1>(key)) + " leaves chunks of rank " +
                   std::to_string(std::get<0>(key)) + " unread";
        }
    }
    for (const SymbolicGroup& group : m_groups)
    {
        const std::string left = group.FindLeft();
        if (!left.empty())
        {
            return left;
        }
    }
    return "";
}

std::string
Execution::Run(bool backwards, bool single)
{
    const uint32_t n = m_machine.GetNBlocks();
    for (bool progress = true; progress;)
    {
        progress = false;
        for (uint32_t i = 0; i < n; ++i)
        {
            const uint32_t id = backwards ? n - 1 - i : i;
            for (bool more = true; more && m_machine.IsReady(id); more = !single)
            {
                m_machine.DoStep(id);
                if (!m_error.empty())
                {
                    return m_error;
                }
                progress = true;
            }
        }
    }
    const std::string deadlock = DescribeDeadlock();
    return deadlock.empty() ? FindUnread() : deadlock;
}

std::string
Execution::CheckResult()
{
    for (uint32_t rank = 0; rank < m_n; ++rank)
    {
        for (const PlacedBytes& place : GetOutput(m_program, m_request, m_layout, rank, m_sets))
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
    if (program.ranks.size() != request.vertices.size())
    {
        return "the program is for another number of ranks";
    }
    const std::string wrong = CheckStructure(program);
    if (!wrong.empty())
    {
        return wrong;
    }
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
