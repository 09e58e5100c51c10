/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PROGRAM_MACHINE_H
#define PROTEUS_PROGRAM_MACHINE_H

#include "proteus-block-cost.h"
#include "proteus-program.h"

#include "ns3/proteus-pool.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The interpreter of collective programs. Its *wire* decides what carries the chunks and what time
 * they take: packets, flows, or symbols that take no time.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// By rank and block of a program: numbers of the other blocks of the rank that wait for it at some
/// step, ascending.
using BlockWaiters = std::vector<std::vector<std::vector<uint32_t>>>;

/// @ingroup proteus
/// @param program to look at @return which blocks wait for which
BlockWaiters FindWaiters(const CollectiveProgram& program);

/// @ingroup proteus
/// A thread block of a rank under way. A wire adds what it needs to know of it.
struct MachineBlock
{
    const ThreadBlock* block{nullptr}; //!< its program; null until its rank begins
    const Step* steps{nullptr};        //!< of the program
    const uint32_t* waiters{nullptr};  //!< numbers of the blocks of its rank that wait for it
    uint32_t nSteps{0};                //!< how many
    uint32_t nWaiters{0};              //!< how many
    uint32_t rank{NO_ID};              //!< whose it is, in the machine
    uint32_t number{0};                //!< position in its RankProgram
    uint32_t next{0};                  //!< step
    uint32_t grants{0};                //!< chunks that the send peer has room for
    uint32_t arrived{0};               //!< chunks that have not been taken out
    uint32_t ungranted{0};             //!< chunks to be received that are not granted yet
    bool busy{false};                  //!< with its next step
    bool sendsWhole{false};            //!< bytes leave when a chunk is done, not as a step begins
    bool inGroup{false};               //!< it works with a network group
    bool isAwaited{false};             //!< another block has found that it waits for this one
    uint32_t held{0};                  //!< last steps done, from the first on whose bytes wait for
                                       //!< the end of their chunk
    BlockCost cost;                    //!< of its steps

    /// @return whether its last step is done
    bool IsOver() const
    {
        return next >= nSteps;
    }

    /// @return its next step, of which there is one
    const Step& GetStep() const
    {
        return steps[next];
    }
};

/// @ingroup proteus
/// A rank of a program under way. A wire adds what it needs to know of it.
struct MachineRank
{
    const CollectiveProgram* program{nullptr}; //!< null where the place is free
    const BlockWaiters* waiters{nullptr};      //!< of the program
    uint32_t rank{0};                          //!< in the group
    uint32_t blocksLeft{0};                    //!< blocks with steps to do
    std::vector<uint32_t> blocks;              //!< its blocks in the machine, by number
};

/**
 * @ingroup proteus
 * Executes collective programs, any number at a time: the one place that knows when a step may
 * begin, what it takes and gives, and who goes on when it is done.
 *
 * A step begins when four conditions hold. The chunk that it receives has arrived. The receiver has
 * granted room for the chunk that it sends (NCCL's clear-to-send). The block that it waits for has
 * done the step that it waits for. What it takes from a network group is there. The bytes that it
 * sends leave when it begins, or (MachineBlock::sendsWhole) when the step is done that ends their
 * chunk (Step::endsChunk). When it is done, the room of the chunk that it received is granted
 * again.
 *
 * A wire has these members. `block` is a number of a block in the machine.
 * - `void Send(uint32_t block, const Step& step)`: the step's chunk leaves for the send peer. Later
 *   the wire calls Arrive() for the block there.
 * - `void Grant(uint32_t block, uint32_t chunks)`: the block has room for so many more chunks.
 *   Later the wire adds them to MachineBlock::grants of the block that sends to it, and advances
 *   that block.
 * - `bool IsThere(const Block& block, const Step& step)`: of a block with a network group, whether
 *   what the step takes from the group is there; true for steps that take nothing.
 * - `void Begin(uint32_t block, const Step& step)`: a step begins; before Send(). Steps of network
 *   groups take and give here.
 * - `bool Occupy(uint32_t block, const Step& step)`: whether the step keeps its block busy. Then
 *   the wire calls Finish() at its end.
 * - `void End(uint32_t block, const Step& step)`: the step is done; before its room is granted.
 * - `bool EndBlock(uint32_t block)`: the block has done its last step. Returns whether the wire has
 *   removed the block's rank, see FreeRank().
 *
 * It is a template, so that a step costs no virtual calls.
 * @tparam Wire what carries chunks and takes time
 * @tparam Block a MachineBlock
 * @tparam Rank a MachineRank
 */
template <class Wire, class Block = MachineBlock, class Rank = MachineRank>
class ProgramMachine
{
  public:
    /// @param wire that carries; must outlive this object
    explicit ProgramMachine(Wire& wire)
        : m_wire(wire)
    {
    }

    /// @param id of a block @return it
    Block& GetBlock(uint32_t id)
    {
        return m_blocks[id];
    }

    /// @param id of a block @return it
    const Block& GetBlock(uint32_t id) const
    {
        return m_blocks[id];
    }

    /// Brings a block nearer to the processor. @param id of a block, or any number
    void Prefetch(uint32_t id) const
    {
        m_blocks.Prefetch(id);
    }

    /// @param id of a rank @return it
    Rank& GetRank(uint32_t id)
    {
        return m_ranks[id];
    }

    /// @param id of a rank @return it
    const Rank& GetRank(uint32_t id) const
    {
        return m_ranks[id];
    }

    /// @return number of places of blocks: all their numbers are below
    uint32_t GetNBlocks() const
    {
        return static_cast<uint32_t>(m_blocks.GetNPlaces());
    }

    /// @return a new block, which may get grants before its rank begins
    uint32_t AddBlock()
    {
        return m_blocks.Add(Block());
    }

    /**
     * @param program of the rank; must outlive it
     * @param waiters of the program; must outlive the rank
     * @param rank in the group
     * @return the rank, yet without blocks
     */
    uint32_t AddRank(const CollectiveProgram& program, const BlockWaiters& waiters, uint32_t rank)
    {
        Rank run;
        run.program = &program;
        run.waiters = &waiters;
        run.rank = rank;
        return m_ranks.Add(std::move(run));
    }

    /**
     * Gives a rank its next block.
     * @param rank which one
     * @param block see AddBlock()
     * @return that block
     */
    Block& BindBlock(uint32_t rank, uint32_t block)
    {
        Rank& owner = m_ranks[rank];
        Block& run = m_blocks[block];
        run.rank = rank;
        run.number = static_cast<uint32_t>(owner.blocks.size());
        run.block = &owner.program->ranks[owner.rank].blocks[run.number];
        run.steps = run.block->steps.data();
        run.nSteps = static_cast<uint32_t>(run.block->steps.size());
        run.inGroup = run.block->group != NO_GROUP;
        const auto& waiters = (*owner.waiters)[owner.rank][run.number];
        run.waiters = waiters.data();
        run.nWaiters = static_cast<uint32_t>(waiters.size());
        owner.blocks.push_back(block);
        owner.blocksLeft += !run.block->steps.empty();
        if (run.block->receivePeer != NO_RANK)
        {
            run.ungranted = static_cast<uint32_t>(
                std::count_if(run.block->steps.begin(),
                              run.block->steps.end(),
                              [](const Step& step) { return Receives(step.kind); }));
        }
        return run;
    }

    /// @param id of a rank whose place, with those of its blocks, is free from now on
    void FreeRank(uint32_t id)
    {
        for (const uint32_t block : m_ranks[id].blocks)
        {
            m_blocks.GiveBack(block);
        }
        m_ranks[id] = Rank();
        m_ranks.GiveBack(id);
    }

    /// Forgets everything.
    void Clear()
    {
        m_blocks.Clear();
        m_ranks.Clear();
    }

    /// Grants the sender of a block all the room that there is in the beginning. @param id of it
    void GrantSlots(uint32_t id)
    {
        GrantRoom(id, m_ranks[m_blocks[id].rank].program->slots);
    }

    /// A chunk has arrived and can be used. @param id of the block that receives it
    void Arrive(uint32_t id)
    {
        ++m_blocks[id].arrived;
        Advance(id);
    }

    /// @param block that has begun @param step of it @return whether it must wait for a chunk
    static bool LacksChunk(const Block& block, const Step& step)
    {
        return Receives(step.kind) && block.arrived == 0;
    }

    /// @param block that has begun @param step of it @return whether it must wait for room at its
    /// send peer
    static bool LacksRoom(const Block& block, const Step& step)
    {
        return Sends(step.kind) && block.grants == 0;
    }

    /// @param block that has begun @param step of it @return the block of the rank that it must
    /// wait for, NO_ID if there is none
    uint32_t FindAwaited(const Block& block, const Step& step) const
    {
        if (step.waitBlock == NO_BLOCK)
        {
            return NO_ID;
        }
        const uint32_t awaited = m_ranks[block.rank].blocks[step.waitBlock];
        return m_blocks[awaited].next > step.waitStep ? NO_ID : awaited;
    }

    /// @param block that has begun @param step of it @return whether it must wait for what its
    /// network group brings
    bool LacksGroup(const Block& block, const Step& step) const
    {
        return block.inGroup && !m_wire.IsThere(block, step);
    }

    /// @param id of a block that has begun @return whether its next step can begin
    bool IsReady(uint32_t id) const
    {
        const Block& block = m_blocks[id];
        return HasChunkAndRoom(block) && FindAwaited(block, block.GetStep()) == NO_ID &&
               !LacksGroup(block, block.GetStep());
    }

    /// Begins a step that is ready. @param id of its block @return whether it is done; otherwise
    /// it keeps the block busy
    bool DoStep(uint32_t id)
    {
        const Step& step = m_blocks[id].GetStep();
        m_wire.Begin(id, step);
        if (Sends(step.kind) && !m_blocks[id].sendsWhole)
        {
            Send(id, step);
        }
        if (m_wire.Occupy(id, step))
        {
            m_blocks[id].busy = true;
            return false;
        }
        EndStep(id);
        return true;
    }

    /// A block does all steps that it can. @param id of it
    void Advance(uint32_t id)
    {
        bool advanced = false;
        while (AskReady(id) && DoStep(id))
        {
            advanced = true;
        }
        if (advanced)
        {
            WakeOthers(id);
        }
    }

    /// A step that kept its block busy is done. @param id of the block
    void Finish(uint32_t id)
    {
        m_blocks[id].busy = false;
        EndStep(id);
        if (WakeOthers(id))
        {
            Advance(id);
        }
    }

  private:
    /// @param block that has begun @return whether it is free for its next step, as far as its
    /// peers and itself are concerned
    static bool HasChunkAndRoom(const Block& block)
    {
        return !block.busy && !block.IsOver() && !LacksChunk(block, block.GetStep()) &&
               !LacksRoom(block, block.GetStep());
    }

    /// Does what IsReady() does; a block that only waits for another one leaves word there.
    /// @param id of a block that has begun @return whether its next step can begin
    bool AskReady(uint32_t id)
    {
        const Block& block = m_blocks[id];
        if (!HasChunkAndRoom(block))
        {
            return false;
        }
        const uint32_t awaited = FindAwaited(block, block.GetStep());
        if (awaited != NO_ID)
        {
            m_blocks[awaited].isAwaited = true;
            return false;
        }
        return !LacksGroup(block, block.GetStep());
    }

    /// @param id of a block @param chunks that there is room for; no more than are to come
    void GrantRoom(uint32_t id, uint32_t chunks)
    {
        chunks = std::min(m_blocks[id].ungranted, chunks);
        if (chunks > 0)
        {
            m_blocks[id].ungranted -= chunks;
            m_wire.Grant(id, chunks);
        }
    }

    /// @param id of a block @param step whose chunk it sends
    void Send(uint32_t id, const Step& step)
    {
        --m_blocks[id].grants;
        m_wire.Send(id, step);
    }

    /// A step of a block that sends whole chunks is done: its bytes, and those that wait for them,
    /// leave if that ends their chunk. @param id of the block @param step its next one
    void EndWhole(uint32_t id, const Step& step)
    {
        Block& block = m_blocks[id];
        if (!Sends(step.kind))
        {
            block.held += block.held > 0 ? 1 : 0;
            return;
        }
        if (!step.endsChunk)
        {
            --block.grants;
            ++block.held;
            return;
        }
        const Step* const end = block.steps + block.next;
        for (const Step* at = end - std::exchange(block.held, 0); at != end; ++at)
        {
            if (Sends(at->kind))
            {
                m_wire.Send(id, *at);
            }
        }
        Send(id, step);
    }

    /// @param id of a block whose next step is done
    void EndStep(uint32_t id)
    {
        const Step& step = m_blocks[id].GetStep();
        if (m_blocks[id].sendsWhole)
        {
            EndWhole(id, step);
        }
        ++m_blocks[id].next;
        // The step behind the next one: programs of large rings are read from the memory.
        __builtin_prefetch(m_blocks[id].steps + m_blocks[id].next + 1);
        m_wire.End(id, step);
        if (Receives(step.kind))
        {
            --m_blocks[id].arrived;
            GrantRoom(id, 1);
        }
    }

    /// Others of its rank may have waited for what a block has done. @param id of the block
    /// @return whether its rank is still there
    bool WakeOthers(uint32_t id)
    {
        const uint32_t rank = m_blocks[id].rank;
        if (m_blocks[id].IsOver())
        {
            --m_ranks[rank].blocksLeft;
            if (m_wire.EndBlock(id))
            {
                return false;
            }
        }
        if (!std::exchange(m_blocks[id].isAwaited, false))
        {
            return true;
        }
        const uint32_t self = m_blocks[id].number;
        const uint32_t* const waiters = m_blocks[id].waiters;
        const uint32_t nWaiters = m_blocks[id].nWaiters;
        for (uint32_t i = 0; i < nWaiters; ++i)
        {
            const uint32_t other = m_ranks[rank].blocks[waiters[i]];
            const Block& run = m_blocks[other];
            if (!run.IsOver() && run.GetStep().waitBlock == self)
            {
                Advance(other);
                if (!m_ranks[rank].program)
                {
                    return false; // that was the last step of this rank
                }
            }
        }
        return true;
    }

    Wire& m_wire;         //!< carries chunks and takes time
    Pool<Block> m_blocks; //!< of all ranks
    Pool<Rank> m_ranks;   //!< of all programs
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PROGRAM_MACHINE_H
