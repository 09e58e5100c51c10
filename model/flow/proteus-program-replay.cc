/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-program-replay.h"

#include "proteus-message-flows.h"
#include "proteus-replay-clock.h"

#include "ns3/proteus-program-machine.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// A thread block of a rank.
struct ReplayBlock : MachineBlock
{
    uint32_t sendFlow{NO_ID};    //!< connection to the send peer
    uint32_t receiveFlow{NO_ID}; //!< connection from the receive peer
};

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

/// Executes one program: the wire of a machine that carries messages as flows.
class Replay
{
  public:
    Replay(const CollectiveProgram& program,
           const std::vector<ProgramFlow>& flows,
           const std::vector<uint32_t>& routes,
           const FlowRoutes& all,
           const ReplayCosts& costs,
           bool isInstant,
           std::vector<bool> isCarried = {},
           LiveReplay::Carry carry = nullptr)
        : m_program(program),
          m_flows(flows),
          m_costs(costs),
          m_isInstant(isInstant),
          m_isCarried(std::move(isCarried)),
          m_carry(std::move(carry)),
          m_messages(all,
                     m_clock,
                     isInstant,
                     [this](uint32_t flow, double behindPs) { NoteSent(flow, behindPs); }),
          m_waiters(FindWaiters(program)),
          m_machine(*this),
          m_index(flows),
          m_groups(program, flows),
          m_receivers(flows.size(), NO_ID),
          m_senders(flows.size(), NO_ID)
    {
        m_rankStepPs.assign(program.ranks.size(), 0);
        m_rankAckPs.assign(program.ranks.size(), 0);
        m_sending.assign(program.ranks.size(), 0);
        m_messages.Reserve(flows.size());
        for (std::size_t i = 0; i < flows.size(); ++i)
        {
            m_messages.AddFlow(routes[i], costs.limits.empty() ? 0 : costs.limits[i]);
        }
        m_times.sentPs.assign(flows.size(), 0);
        m_times.receivedPs.assign(flows.size(), 0);
        m_times.senderStepPs.assign(flows.size(), 0);
        m_times.receiverStepPs.assign(flows.size(), 0);
        for (uint32_t rank = 0; rank < program.ranks.size(); ++rank)
        {
            SetUpRank(rank);
        }
    }

    ReplayTimes Run(const std::function<void()>& goOn, const std::vector<int64_t>& joinsPs);

    /// All ranks are there: their blocks do what they can at once.
    void Start();
    /// A rank that has not joined does nothing until it does. @param rank which one
    void Wait(uint32_t rank);
    /// @param rank that joins @param timePs when
    void Join(uint32_t rank, double timePs);
    /// Goes on. @param untilPs what happens until then has happened, as others say when it happens
    void Advance(double untilPs);
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

    // The wire, see ProgramMachine.
    void Send(uint32_t id, const Step& step)
    {
        SendMessage(m_machine.GetBlock(id).sendFlow, step);
    }

    void Grant(uint32_t id, uint32_t chunks)
    {
        const uint32_t flow = m_machine.GetBlock(id).receiveFlow;
        m_clock.Push(m_clock.GetNowPs() + static_cast<double>(m_messages.GetRoute(flow).controlPs),
                     ReplayEvent::GRANT,
                     flow,
                     chunks);
    }

    bool IsThere(const ReplayBlock& block, const Step& step) const
    {
        return step.kind != StepKind::GROUP_RECV ||
               m_groups.CountArrived(block.block->group, GetRank(block), step.peer) > 0;
    }

    void Begin(uint32_t id, const Step& step);
    bool Occupy(uint32_t id, const Step& step);
    void End(uint32_t id, const Step& step);

    bool EndBlock(uint32_t id)
    {
        --m_blocksLeft;
        CheckDone(GetRank(m_machine.GetBlock(id)));
        return false; // ranks stay until the program is done
    }

  private:
    /// @param block to find out about @return its rank in the group
    uint32_t GetRank(const ReplayBlock& block) const
    {
        return m_machine.GetRank(block.rank).rank;
    }

    void SetUpRank(uint32_t rank);
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
    const std::vector<bool> m_isCarried; //!< by flow: whether others do; empty: none
    const LiveReplay::Carry m_carry;     //!< tells them
    ReplayClock m_clock;
    MessageFlows m_messages; //!< numbered as m_flows
    BlockWaiters m_waiters;
    ProgramMachine<Replay, ReplayBlock> m_machine;
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

void
Replay::SetUpRank(uint32_t rank)
{
    const uint32_t run = m_machine.AddRank(m_program, m_waiters, rank);
    m_runs.push_back(run);
    const auto& blocks = m_program.ranks[rank].blocks;
    for (uint32_t number = 0; number < blocks.size(); ++number)
    {
        const ThreadBlock& program = blocks[number];
        const uint32_t id = m_machine.AddBlock();
        ReplayBlock& block = m_machine.BindBlock(run, id);
        m_blocksLeft += !block.IsOver();
        if (!m_costs.blocks.empty())
        {
            block.cost = m_costs.blocks[rank][number];
        }
        block.sendFlow = m_index.Find(program.channel, rank, program.sendPeer);
        if (block.sendFlow != NO_ID)
        {
            m_senders[block.sendFlow] = id;
            block.sendsWhole = !m_costs.sendsWhole.empty() && m_costs.sendsWhole[block.sendFlow];
        }
        block.receiveFlow = m_index.Find(program.channel, program.receivePeer, rank);
        if (block.receiveFlow != NO_ID)
        {
            m_receivers[block.receiveFlow] = id;
        }
        if (program.group != NO_GROUP)
        {
            m_groups.AddBlock(program.group, rank, id);
        }
    }
}

void
Replay::Start()
{
    for (const uint32_t receiver : m_receivers)
    {
        if (receiver != NO_ID)
        {
            m_machine.GrantSlots(receiver);
        }
    }
    for (uint32_t block = 0; block < m_machine.GetNBlocks(); ++block)
    {
        m_machine.Advance(block);
    }
}

void
Replay::Wait(uint32_t rank)
{
    for (const uint32_t block : m_machine.GetRank(m_runs[rank]).blocks)
    {
        m_machine.GetBlock(block).busy = true;
    }
}

void
Replay::Join(uint32_t rank, double timePs)
{
    m_clock.Push(timePs, ReplayEvent::JOIN, rank, 1);
}

void
Replay::BeginRank(uint32_t rank)
{
    const std::vector<uint32_t>& blocks = m_machine.GetRank(m_runs[rank]).blocks;
    for (const uint32_t block : blocks)
    {
        m_machine.GetBlock(block).busy = false;
        const uint32_t flow = m_machine.GetBlock(block).receiveFlow;
        if (flow != NO_ID && m_receivers[flow] == block)
        {
            m_machine.GrantSlots(block);
        }
    }
    for (const uint32_t block : blocks)
    {
        m_machine.Advance(block);
    }
}

void
Replay::Advance(double untilPs)
{
    m_messages.Share();
    const auto handle = [this](const ReplayEvent& event) { Handle(event); };
    while (m_clock.GetNextPs() <= untilPs && m_clock.Step(handle))
    {
        m_messages.Share();
    }
}

ReplayTimes
Replay::Run(const std::function<void()>& goOn, const std::vector<int64_t>& joinsPs)
{
    for (uint32_t rank = 0; rank < joinsPs.size(); ++rank)
    {
        Wait(rank);
        Join(rank, static_cast<double>(joinsPs[rank]));
    }
    if (joinsPs.empty())
    {
        Start();
    }
    do
    {
        if (goOn)
        {
            goOn();
        }
        m_messages.Share();
    } while (m_clock.Step([this](const ReplayEvent& event) { Handle(event); }));
    if (!IsOver())
    {
        throw std::invalid_argument("flow network: a program of algorithm '" + m_program.algorithm +
                                    "' has steps that wait for ever");
    }
    for (const double end : m_rankStepPs)
    {
        m_times.stepsPs.push_back(std::llround(end));
        m_times.endPs = std::max<int64_t>(m_times.endPs, m_times.stepsPs.back());
    }
    for (std::size_t i = 0; i < m_flows.size(); ++i)
    {
        m_times.endPs = std::max({m_times.endPs, m_times.sentPs[i], m_times.receivedPs[i]});
    }
    return m_times;
}

void
Replay::SendMessage(uint32_t flow, const Step& step)
{
    // A step without bytes is a flag, which has at least one.
    const auto bytes = static_cast<double>(
        std::max<uint64_t>(GetTraits(m_program.protocol).WireBytes(step.bytes), 1));
    if (m_flows[flow].group == NO_GROUP)
    {
        ++m_sending[m_flows[flow].from];
    }
    if (flow < m_isCarried.size() && m_isCarried[flow])
    {
        m_carry(flow, bytes, m_clock.GetNowPs());
        return;
    }
    m_messages.Send(flow, bytes);
}

void
Replay::Begin(uint32_t id, const Step& step)
{
    const ReplayBlock& block = m_machine.GetBlock(id);
    if (block.block->group == NO_GROUP)
    {
        return;
    }
    const uint32_t rank = GetRank(block);
    if (step.kind == StepKind::GROUP_RECV)
    {
        --m_groups.GetArrived(block.block->group, rank, step.peer);
    }
    else if (SendsToGroup(step.kind))
    {
        const uint32_t flow = m_index.GetOfGroup(MakeGroupFlowKey(*block.block, rank, step));
        if (m_groups.Give(flow, rank))
        {
            SendMessage(flow, step);
        }
    }
}

bool
Replay::Occupy(uint32_t id, const Step& step)
{
    const BlockCost& cost = m_machine.GetBlock(id).cost;
    const double busyPs =
        m_isInstant ? static_cast<double>(cost.busyPs) : cost.GetOccupancyPs(step);
    if (busyPs > 0)
    {
        m_clock.Push(m_clock.GetNowPs() + busyPs, ReplayEvent::STEP_END, id, 1);
    }
    return busyPs > 0;
}

void
Replay::End(uint32_t id, const Step& step)
{
    const ReplayBlock& block = m_machine.GetBlock(id);
    m_rankStepPs[GetRank(block)] = m_clock.GetNowPs();
    const int64_t now = std::llround(m_clock.GetNowPs());
    if (Sends(step.kind))
    {
        m_times.senderStepPs[block.sendFlow] = now;
    }
    if (Receives(step.kind))
    {
        m_times.receiverStepPs[block.receiveFlow] = now;
    }
}

void
Replay::NoteSent(uint32_t flow, double behindPs)
{
    const FlowRoute& route = m_messages.GetRoute(flow);
    const double arrival = m_clock.GetNowPs() + static_cast<double>(route.latencyPs) + behindPs;
    m_times.receivedPs[flow] = std::llround(arrival);
    m_times.sentPs[flow] = std::llround(arrival + static_cast<double>(route.ackPs));
    Arrive(flow, arrival);
}

void
Replay::CheckDone(uint32_t rank)
{
    if (m_program.groups.empty() && m_sending[rank] == 0 &&
        m_machine.GetRank(m_runs[rank]).blocksLeft == 0)
    {
        m_ended.push_back({rank, std::max(m_rankStepPs[rank], m_rankAckPs[rank])});
    }
}

void
Replay::Arrive(uint32_t flow, double arrival)
{
    if (m_flows[flow].group == NO_GROUP)
    {
        const uint32_t rank = m_flows[flow].from;
        const auto ackPs = static_cast<double>(m_messages.GetRoute(flow).ackPs);
        m_rankAckPs[rank] = std::max(m_rankAckPs[rank], arrival + ackPs);
        --m_sending[rank];
        CheckDone(rank);
    }
    const int64_t latencyPs = m_flows[flow].group != NO_GROUP
                                  ? m_costs.groupLatencyPs
                                  : m_machine.GetBlock(m_receivers[flow]).cost.latencyPs;
    m_clock.Push(arrival + static_cast<double>(latencyPs), ReplayEvent::USE, flow, 1);
}

void
Replay::DeliverGroup(const ProgramFlow& flow)
{
    const bool multicast = flow.operation == StepKind::GROUP_MULTICAST;
    for (const uint32_t rank : m_program.groups[flow.group].members)
    {
        if (!multicast && flow.to != NO_RANK && flow.to != rank)
        {
            continue;
        }
        ++m_groups.GetArrived(flow.group, rank, multicast ? flow.from : NO_RANK);
        for (const uint32_t block : m_groups.GetBlocks(flow.group, rank))
        {
            m_machine.Advance(block);
        }
    }
}

void
Replay::Handle(const ReplayEvent& event)
{
    switch (event.what)
    {
    case ReplayEvent::SENT:
        m_messages.Finish(event.id);
        return;
    case ReplayEvent::USE:
        if (m_flows[event.id].group != NO_GROUP)
        {
            DeliverGroup(m_flows[event.id]);
        }
        else
        {
            m_machine.Arrive(m_receivers[event.id]);
        }
        return;
    case ReplayEvent::GRANT:
        m_machine.GetBlock(m_senders[event.id]).grants += event.count;
        m_machine.Advance(m_senders[event.id]);
        return;
    case ReplayEvent::STEP_END:
        m_machine.Finish(event.id);
        return;
    case ReplayEvent::JOIN:
        BeginRank(event.id);
        return;
    }
}

} // namespace

ReplayTimes
ReplayProgram(const CollectiveProgram& program,
              const std::vector<ProgramFlow>& flows,
              const std::vector<uint32_t>& routes,
              const FlowRoutes& all,
              const ReplayCosts& costs,
              bool isInstant,
              const std::function<void()>& goOn,
              const std::vector<int64_t>& joinsPs)
{
    return Replay(program, flows, routes, all, costs, isInstant).Run(goOn, joinsPs);
}

/// What executes a program beside a run.
class LiveReplay::Body
{
  public:
    Body(std::shared_ptr<const ReplayInput> input,
         const FlowRoutes& all,
         std::vector<bool> isCarried,
         Carry carry,
         bool isWhole)
        : m_input(std::move(input)),
          m_isStarted(!isWhole),
          m_missing(isWhole ? 0 : static_cast<uint32_t>(m_input->program->ranks.size())),
          m_replay(*m_input->program,
                   m_input->flows,
                   m_input->routes,
                   all,
                   m_input->costs,
                   false,
                   std::move(isCarried),
                   std::move(carry))
    {
        for (uint32_t rank = 0; m_isStarted && rank < m_input->program->ranks.size(); ++rank)
        {
            m_replay.Wait(rank);
        }
    }

    /// @return the replay
    Replay& Get()
    {
        return m_replay;
    }

    /// @param rank that joins @param timePs when
    void Join(uint32_t rank, double timePs)
    {
        --m_missing;
        m_replay.Join(rank, timePs);
    }

    /// @return whether all ranks have joined
    bool HasAllRanks() const
    {
        return m_missing == 0;
    }

    /// @param flow a flow @return bytes of all its messages
    double GetBytes(uint32_t flow) const
    {
        const ProgramFlow& found = m_input->flows[flow];
        return static_cast<double>(std::max(found.bytes, found.messages));
    }

    /// @param untilPs see LiveReplay::Advance()
    void Advance(double untilPs)
    {
        if (!m_isStarted)
        {
            m_isStarted = true;
            m_replay.Start();
        }
        m_replay.Advance(untilPs);
    }

  private:
    std::shared_ptr<const ReplayInput> m_input; //!< kept
    bool m_isStarted;   //!< whether the first steps have begun, or do when their ranks join
    uint32_t m_missing; //!< ranks that have not joined
    Replay m_replay;    //!< of that
};

LiveReplay::LiveReplay(std::shared_ptr<const ReplayInput> input,
                       const FlowRoutes& all,
                       std::vector<bool> isCarried,
                       Carry carry,
                       bool isWhole)
    : m_body(std::make_unique<Body>(std::move(input),
                                    all,
                                    std::move(isCarried),
                                    std::move(carry),
                                    isWhole))
{
}

LiveReplay::~LiveReplay() = default;

void
LiveReplay::Deliver(uint32_t flow, double timePs)
{
    m_body->Get().Arrive(flow, timePs);
}

void
LiveReplay::Join(uint32_t rank, double timePs)
{
    m_body->Join(rank, timePs);
}

bool
LiveReplay::HasAllRanks() const
{
    return m_body->HasAllRanks();
}

double
LiveReplay::GetNextPs() const
{
    return m_body->Get().GetNextPs();
}

void
LiveReplay::Advance(double untilPs)
{
    m_body->Advance(untilPs);
}

double
LiveReplay::GetBytes(uint32_t flow) const
{
    return m_body->GetBytes(flow);
}

std::vector<RankEnd>
LiveReplay::TakeEnded()
{
    return m_body->Get().TakeEnded();
}

double
LiveReplay::GetEndPs() const
{
    return m_body->Get().GetLastStepPs();
}

} // namespace proteus
} // namespace ns3
