/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_REPLAY_RUN_H
#define PROTEUS_REPLAY_RUN_H

#include "proteus-message-flows.h"
#include "proteus-program-replay.h"
#include "proteus-replay-clock.h"

#include "ns3/proteus-program-machine.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What ReplayProgram() and LiveReplay do.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A thread block of a rank.
struct ReplayBlock : MachineBlock
{
    uint32_t sendFlow{NO_ID};    //!< connection to the send peer
    uint32_t receiveFlow{NO_ID}; //!< connection from the receive peer
};

/// @ingroup proteus
/// The flows of a thread block: positions in the list of a program, NO_ID for none.
struct BlockFlows
{
    uint32_t send{NO_ID};    //!< connection to the send peer
    uint32_t receive{NO_ID}; //!< connection from the receive peer
};

/// @ingroup proteus
/// By rank and block of a program.
using FlowsOfBlocks = std::vector<std::vector<BlockFlows>>;

/// @ingroup proteus
/// @param program to look at @param flows of it @return which flows its blocks have
FlowsOfBlocks FindFlowsOfBlocks(const CollectiveProgram& program,
                                const std::vector<ProgramFlow>& flows);

/// @ingroup proteus
/// The network groups of a program: who has given, and what has not been taken.
class ReplayGroups
{
  public:
    /// @param program whose groups @param flows of it
    ReplayGroups(const CollectiveProgram& program, const std::vector<ProgramFlow>& flows)
        : m_members(program.groups.size(), std::vector<Member>(program.ranks.size())),
          m_sums(program.groups.empty() ? 0 : flows.size())
    {
        for (std::size_t i = 0; i < m_sums.size(); ++i)
        {
            m_sums[i].given.assign(flows[i].members.empty() ? 0 : program.ranks.size(), 0);
            m_sums[i].nGivers = flows[i].operation == StepKind::GROUP_MULTICAST
                                    ? 1
                                    : static_cast<uint32_t>(flows[i].members.size());
        }
    }

    /// @param group of a block @param rank of it @param block that takes from the group
    void AddBlock(uint32_t group, uint32_t rank, uint32_t block)
    {
        m_members[group][rank].blocks.push_back(block);
    }

    /// @param group of the rank @param rank a member @return its blocks that take from the group
    const std::vector<uint32_t>& GetBlocks(uint32_t group, uint32_t rank) const
    {
        return m_members[group][rank].blocks;
    }

    /// @param flow of a group @param rank that gives to it @return whether all have, so that the
    /// next operation of the flow begins
    bool Give(uint32_t flow, uint32_t rank)
    {
        Sums& sums = m_sums[flow];
        const uint32_t number = sums.given[rank]++;
        if (sums.waiting.size() <= number)
        {
            sums.waiting.resize(number + 1, 0);
        }
        return ++sums.waiting[number] == sums.nGivers;
    }

    /// @param group of the rank @param rank a member @param sender of a multicast, NO_RANK for a
    /// sum @return count of those that have arrived and are not taken
    uint32_t& GetArrived(uint32_t group, uint32_t rank, uint32_t sender)
    {
        return m_members[group][rank].arrived[sender];
    }

    /// @copydoc GetArrived
    uint32_t CountArrived(uint32_t group, uint32_t rank, uint32_t sender) const
    {
        const auto& arrived = m_members[group][rank].arrived;
        const auto found = arrived.find(sender);
        return found == arrived.end() ? 0 : found->second;
    }

  private:
    /// A member of a network group.
    struct Member
    {
        std::vector<uint32_t> blocks;         //!< that take from it
        std::map<uint32_t, uint32_t> arrived; //!< not taken, by sender; NO_RANK: sums
    };

    /// The operations of a flow of a group.
    struct Sums
    {
        std::vector<uint32_t> given;   //!< contributions, by rank
        std::vector<uint32_t> waiting; //!< members that have given, by operation
        uint32_t nGivers{0};           //!< members that give to each
    };

    std::vector<std::vector<Member>> m_members; //!< by group and rank
    std::vector<Sums> m_sums;                   //!< by flow
};

/// @ingroup proteus
/// Executes one program: the wire of a machine that carries messages as flows.
class ReplayRun
{
  public:
    /**
     * @param program to execute; must outlive this object, as what follows
     * @param flows of it, FindFlows()
     * @param routes of the flows
     * @param ways where the routes are
     * @param costs of the steps
     * @param isInstant whether bytes take no time
     * @param ofBlocks FindFlowsOfBlocks()
     * @param isCarried by flow: whether others carry its messages; those beyond its end: no
     * @param carry is told of these
     */
    ReplayRun(const CollectiveProgram& program,
              const std::vector<ProgramFlow>& flows,
              const std::vector<uint32_t>& routes,
              const ReplayWays& ways,
              const ReplayCosts& costs,
              bool isInstant,
              const FlowsOfBlocks& ofBlocks,
              std::vector<bool> isCarried = {},
              ReplayCarry carry = nullptr);

    /// @param goOn called often; may be null @param joinsPs by rank: when it begins; empty: all at
    /// 0
    /// @return the times, at the end @throw std::invalid_argument if it cannot come to its end
    ReplayTimes Run(const std::function<void()>& goOn, const std::vector<int64_t>& joinsPs);

    /// All ranks are there: their blocks do what they can at once.
    void Start();
    /// A rank that has not joined does nothing until it does. @param rank which one
    void Wait(uint32_t rank);
    /// @param rank that joins @param timePs when
    void Join(uint32_t rank, double timePs);
    /// Goes on. @param untilPs what happens until then has happened, as others say when it happens
    void Advance(double untilPs);
    /// From now on others carry all messages, those that are under way as well, of which they get
    /// what is left. @param timePs present time, not before the last Advance() @param carry is told
    void HandOver(double timePs, ReplayCarry carry);
    /// A message has arrived. @param flow of it @param arrivalPs when
    void Arrive(uint32_t flow, double arrivalPs);

    /// @return whether all blocks have done their steps
    bool IsOver() const
    {
        return m_blocksLeft == 0;
    }

    /// @return when something happens unless a rank joins, or what others carry arrives
    double GetNextPs() const
    {
        return m_clock.GetNextPs();
    }

    /// @return ranks that are done since the last call: their blocks have done their steps, and all
    /// that they have sent is acknowledged. None of programs with network groups.
    std::vector<RankEnd> TakeEnded()
    {
        return std::exchange(m_ended, {});
    }

    /// @return end of the last step so far
    double GetLastStepPs() const
    {
        return *std::max_element(m_rankStepPs.begin(), m_rankStepPs.end());
    }

    /// The wire, see ProgramMachine: a block sends. @param id of the block @param step that it does
    void Send(uint32_t id, const Step& step);
    /// A block has room for more. @param id of the block @param chunks of room
    void Grant(uint32_t id, uint32_t chunks);
    /// @param block that would do a step @param step of it @return whether what it takes from a
    /// network group is there
    bool IsThere(const ReplayBlock& block, const Step& step) const;
    /// A block begins a step. @param id of the block @param step of it
    void Begin(uint32_t id, const Step& step);
    /// @param id of a block @param step that it does @return whether that takes time, after which
    /// the machine is told
    bool Occupy(uint32_t id, const Step& step);
    /// A block has done a step. @param id of the block @param step of it
    void End(uint32_t id, const Step& step);
    /// A block has done all of its steps. @param id of the block @return whether its rank leaves
    /// the machine then: none does before the program is done
    bool EndBlock(uint32_t id);

  private:
    /// @param block to find out about @return its rank in the group
    uint32_t GetRank(const ReplayBlock& block) const
    {
        return m_machine.GetRank(block.rank).rank;
    }

    /// @param flow a flow @return its route
    const FlowRoute& GetRoute(uint32_t flow) const
    {
        return m_ways.GetRoute(m_routes[flow]);
    }

    /// @param flow a flow @return whether others carry its messages
    bool IsCarried(uint32_t flow) const
    {
        return flow < m_isCarried.size() && m_isCarried[flow];
    }

    void SetUpRank(uint32_t rank, const std::vector<BlockFlows>& ofBlocks);
    /// A rank has done something. @param rank which one
    void CheckDone(uint32_t rank);
    /// The blocks of a rank do what they can. @param rank that has joined
    void BeginRank(uint32_t rank);
    /// The bytes of a step leave over a flow.
    void SendMessage(uint32_t flow, const Step& step);
    /// A flow has sent a message.
    void NoteSent(uint32_t flow, double behindPs);
    /// An operation of a group has brought its result.
    void DeliverGroup(const ProgramFlow& flow);
    void Handle(const ReplayEvent& event);

    const CollectiveProgram& m_program;
    const std::vector<ProgramFlow>& m_flows;
    const ReplayCosts& m_costs;
    const bool m_isInstant;
    const std::vector<uint32_t>& m_routes; //!< of the flows
    const ReplayWays m_ways;               //!< where these are
    std::vector<bool> m_isCarried;         //!< by flow: whether others do; empty: none
    ReplayCarry m_carry;                   //!< tells them
    ReplayClock m_clock;
    MessageFlows m_messages; //!< numbered as m_flows
    BlockWaiters m_waiters;
    ProgramMachine<ReplayRun, ReplayBlock> m_machine;
    const FlowIndex m_index; //!< position in m_flows
    ReplayGroups m_groups;
    std::vector<uint32_t> m_receivers; //!< by flow: block
    std::vector<uint32_t> m_senders;   //!< by flow: block
    std::vector<double> m_rankStepPs;  //!< by rank: end of its last step
    std::vector<uint32_t> m_runs;      //!< by rank: its place in the machine
    std::vector<uint32_t> m_sending;   //!< by rank: messages that have not arrived
    std::vector<double> m_rankAckPs;   //!< by rank: when it knows that all others have
    std::vector<RankEnd> m_ended;      //!< TakeEnded()
    uint32_t m_blocksLeft{0};          //!< that have steps to do
    ReplayTimes m_times;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_REPLAY_RUN_H
