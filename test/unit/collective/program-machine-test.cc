/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-clusters.h"

#include "ns3/proteus-program-machine.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// A wire on which everything that may happen happens in a random order: chunks arrive, grants
/// arrive, steps end.
class RandomWire
{
  public:
    using Machine = ProgramMachine<RandomWire>;

    RandomWire(const CollectiveProgram& program, uint64_t seed, bool isBusy)
        : m_program(program),
          m_waiters(FindWaiters(program)),
          m_machine(*this),
          m_random(seed),
          m_isBusy(isBusy)
    {
        for (uint32_t rank = 0; rank < program.ranks.size(); ++rank)
        {
            const uint32_t run = m_machine.AddRank(program, m_waiters, rank);
            for (const ThreadBlock& block : program.ranks[rank].blocks)
            {
                const uint32_t id = m_machine.AddBlock();
                m_machine.BindBlock(run, id).sendsWhole = m_random() % 2 == 0;
                if (block.sendPeer != NO_RANK)
                {
                    m_ends[{block.channel, rank, block.sendPeer}].first = id;
                }
                if (block.receivePeer != NO_RANK)
                {
                    m_ends[{block.channel, block.receivePeer, rank}].second = id;
                }
            }
        }
    }

    /// Executes the program. @return steps done
    uint64_t Run()
    {
        for (const auto& entry : m_ends)
        {
            m_machine.GrantSlots(entry.second.second);
        }
        for (uint32_t id = 0; id < m_machine.GetNBlocks(); ++id)
        {
            m_machine.Advance(id);
        }
        while (!m_events.empty())
        {
            std::swap(m_events[m_random() % m_events.size()], m_events.back());
            const Event event = m_events.back();
            m_events.pop_back();
            switch (event.what)
            {
            case Event::CHUNK:
                m_machine.Arrive(event.block);
                break;
            case Event::GRANT:
                m_machine.GetBlock(event.block).grants += event.count;
                m_machine.Advance(event.block);
                break;
            case Event::END:
                m_machine.Finish(event.block);
                break;
            }
        }
        for (uint32_t id = 0; id < m_machine.GetNBlocks(); ++id)
        {
            EXPECT_TRUE(m_machine.GetBlock(id).IsOver());
            EXPECT_EQ(m_machine.GetBlock(id).arrived, 0u);
            EXPECT_EQ(m_machine.GetBlock(id).ungranted, 0u);
            EXPECT_EQ(m_machine.GetBlock(id).grants, 0u);
        }
        EXPECT_EQ(m_endedBlocks, m_machine.GetNBlocks());
        return m_steps;
    }

    // The wire, see ProgramMachine.
    void Send(uint32_t id, const Step& step)
    {
        EXPECT_TRUE(Sends(step.kind));
        const Ends& ends = GetEnds(id, true);
        // Never more under way, or lying there, than the receiver has room for.
        EXPECT_LE(++m_under[ends.second], m_program.slots);
        m_events.push_back({Event::CHUNK, ends.second, 1});
    }

    void Grant(uint32_t id, uint32_t chunks)
    {
        m_events.push_back({Event::GRANT, GetEnds(id, false).first, chunks});
    }

    bool IsThere(const MachineBlock& /* block */, const Step& /* step */) const
    {
        return true;
    }

    void Begin(uint32_t id, const Step& step)
    {
        const MachineBlock& block = m_machine.GetBlock(id);
        EXPECT_TRUE(!Receives(step.kind) || block.arrived > 0);
        EXPECT_TRUE(!Sends(step.kind) || block.grants > 0);
        if (step.waitBlock != NO_BLOCK)
        {
            const uint32_t awaited = m_machine.GetRank(block.rank).blocks[step.waitBlock];
            EXPECT_GT(m_machine.GetBlock(awaited).next, step.waitStep);
        }
    }

    bool Occupy(uint32_t id, const Step& /* step */)
    {
        if (m_isBusy)
        {
            m_events.push_back({Event::END, id, 1});
        }
        return m_isBusy;
    }

    void End(uint32_t id, const Step& step)
    {
        ++m_steps;
        m_under[id] -= Receives(step.kind);
    }

    bool EndBlock(uint32_t /* block */)
    {
        ++m_endedBlocks;
        return false;
    }

  private:
    /// Something that happens.
    struct Event
    {
        enum What
        {
            CHUNK,
            GRANT,
            END
        };

        What what;
        uint32_t block;
        uint32_t count;
    };

    /// Sender and receiver of a connection.
    using Ends = std::pair<uint32_t, uint32_t>;

    const Ends& GetEnds(uint32_t id, bool sends) const
    {
        const MachineBlock& block = m_machine.GetBlock(id);
        const uint32_t rank = m_machine.GetRank(block.rank).rank;
        return sends ? m_ends.at({block.block->channel, rank, block.block->sendPeer})
                     : m_ends.at({block.block->channel, block.block->receivePeer, rank});
    }

    const CollectiveProgram& m_program;
    BlockWaiters m_waiters;
    Machine m_machine;
    std::mt19937_64 m_random;
    bool m_isBusy;
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Ends> m_ends; //!< by channel, from, to
    std::map<uint32_t, uint32_t> m_under; //!< chunks sent and not taken out, by receiver
    std::vector<Event> m_events;
    uint64_t m_steps{0};
    uint32_t m_endedBlocks{0};
};

uint64_t
CountSteps(const CollectiveProgram& program)
{
    uint64_t steps = 0;
    for (const RankProgram& rank : program.ranks)
    {
        for (const ThreadBlock& block : rank.blocks)
        {
            steps += block.steps.size();
        }
    }
    return steps;
}

} // namespace

TEST(ProgramMachine, DoesEveryStepOnceInWhateverOrderThingsArrive)
{
    const Cluster cluster = MakeReducingCluster(2, 3);
    const Paths paths(cluster);
    uint32_t programs = 0;
    for (const Collective collective : GroupCollectives())
    {
        for (const std::string& algorithm : GetAlgorithms(collective))
        {
            CollectiveRequest request;
            request.collective = collective;
            request.algorithm = algorithm;
            request.bytes = 60000;
            request.chunkBytes = 1000;
            request.channels = 2;
            request.vertices = cluster.GetGpus();
            if (algorithm == "nvls")
            {
                continue; // within a server only
            }
            for (const Protocol protocol : {Protocol::SIMPLE, Protocol::LL128})
            {
                // Parts of LL128 that a NIC gets together.
                request.protocol = protocol;
                request.stepsPerChunk = protocol == Protocol::SIMPLE ? 1 : 2;
                request.slots = protocol == Protocol::SIMPLE ? 3 : 4;
                const CollectiveProgram program = MakeProgram(cluster, paths, request);
                if (!program.groups.empty())
                {
                    continue; // this wire has no switches that add up
                }
                ++programs;
                for (uint64_t seed = 1; seed <= 4; ++seed)
                {
                    RandomWire wire(program, seed, seed % 2 == 0);
                    EXPECT_EQ(wire.Run(), CountSteps(program)) << algorithm;
                    ASSERT_FALSE(testing::Test::HasFailure())
                        << ToString(collective) << " " << algorithm;
                }
            }
        }
    }
    EXPECT_GT(programs, 30u);
}

namespace
{

/// Notes what a block sends, and when.
struct NotingWire
{
    void Send(uint32_t id, const Step& step)
    {
        sent.emplace_back(machine->GetBlock(id).next, step.offset);
    }

    void Grant(uint32_t /* id */, uint32_t /* chunks */)
    {
    }

    bool IsThere(const MachineBlock& /* block */, const Step& /* step */) const
    {
        return true;
    }

    void Begin(uint32_t /* id */, const Step& /* step */)
    {
    }

    bool Occupy(uint32_t /* id */, const Step& /* step */)
    {
        return false;
    }

    void End(uint32_t /* id */, const Step& /* step */)
    {
    }

    bool EndBlock(uint32_t /* id */)
    {
        return false;
    }

    ProgramMachine<NotingWire>* machine{nullptr};
    std::vector<std::pair<uint32_t, uint64_t>> sent; //!< step that is done, and offset
};

/// @param sendsWhole see MachineBlock @return see NotingWire::sent, of two chunks of two parts each
/// with a step between the first two
std::vector<std::pair<uint32_t, uint64_t>>
SendParts(bool sendsWhole)
{
    CollectiveProgram program;
    program.ranks.resize(2);
    ThreadBlock block;
    block.sendPeer = 1;
    for (const auto& [kind, endsChunk] : {std::pair(StepKind::SEND, false),
                                          std::pair(StepKind::WAIT, true),
                                          std::pair(StepKind::SEND, true),
                                          std::pair(StepKind::SEND, false),
                                          std::pair(StepKind::SEND, true)})
    {
        Step step{kind, block.steps.size(), 1};
        step.endsChunk = endsChunk;
        block.steps.push_back(step);
    }
    program.ranks[0].blocks.push_back(block);
    NotingWire wire;
    ProgramMachine<NotingWire> machine(wire);
    wire.machine = &machine;
    const BlockWaiters waiters = FindWaiters(program);
    const uint32_t rank = machine.AddRank(program, waiters, 0);
    const uint32_t id = machine.AddBlock();
    machine.BindBlock(rank, id).sendsWhole = sendsWhole;
    machine.GetBlock(id).grants = 4;
    machine.Advance(id);
    EXPECT_TRUE(machine.GetBlock(id).IsOver());
    EXPECT_EQ(machine.GetBlock(id).grants, 0u);
    return wire.sent;
}

} // namespace

TEST(ProgramMachine, ANicGetsWholeChunksAndAnotherGpuTheirParts)
{
    using Sent = std::vector<std::pair<uint32_t, uint64_t>>;
    EXPECT_EQ(SendParts(true), (Sent{{2, 0}, {2, 2}, {4, 3}, {4, 4}}));
    EXPECT_EQ(SendParts(false), (Sent{{0, 0}, {2, 2}, {3, 3}, {4, 4}}));
}

TEST(ProgramMachine, ListsWaitersOnceAndNotThemselves)
{
    CollectiveProgram program;
    program.ranks.resize(1);
    auto& blocks = program.ranks[0].blocks;
    blocks.resize(3);
    const auto wait = [&](uint32_t block, uint32_t other) {
        Step step{StepKind::WAIT};
        step.waitBlock = other;
        blocks[block].steps.push_back(step);
    };
    wait(0, 0);
    wait(1, 0);
    wait(2, 0);
    wait(2, 1);
    wait(2, 0);
    const BlockWaiters waiters = FindWaiters(program);
    ASSERT_EQ(waiters.size(), 1u);
    using List = std::vector<uint32_t>;
    EXPECT_EQ(waiters[0], (std::vector<List>{{1, 2}, {2}, {}}));
}
