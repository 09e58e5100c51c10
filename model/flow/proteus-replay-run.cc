/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-replay-run.h"

#include <cmath>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

FlowsOfBlocks
FindFlowsOfBlocks(const CollectiveProgram& program, const std::vector<ProgramFlow>& flows)
{
    const FlowIndex index(flows);
    FlowsOfBlocks found(program.ranks.size());
    for (uint32_t rank = 0; rank < program.ranks.size(); ++rank)
    {
        for (const ThreadBlock& block : program.ranks[rank].blocks)
        {
            found[rank].push_back({index.Find(block.channel, rank, block.sendPeer),
                                   index.Find(block.channel, block.receivePeer, rank)});
        }
    }
    return found;
}

ReplayRun::ReplayRun(const CollectiveProgram& program,
                     const std::vector<ProgramFlow>& flows,
                     const std::vector<uint32_t>& routes,
                     const ReplayWays& ways,
                     const ReplayCosts& costs,
                     bool isInstant,
                     const FlowsOfBlocks& ofBlocks,
                     std::vector<bool> isCarried,
                     ReplayCarry carry)
    : m_program(program),
      m_flows(flows),
      m_costs(costs),
      m_isInstant(isInstant),
      m_routes(routes),
      m_ways(ways),
      m_isCarried(std::move(isCarried)),
      m_carry(std::move(carry)),
      m_messages(ways,
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
        if (IsCarried(static_cast<uint32_t>(i)))
        {
            m_messages.AddPlace();
        }
        else
        {
            m_messages.AddFlow(routes[i], costs.limits.empty() ? 0 : costs.limits[i]);
        }
    }
    m_times.sentPs.assign(flows.size(), 0);
    m_times.receivedPs.assign(flows.size(), 0);
    m_times.senderStepPs.assign(flows.size(), 0);
    m_times.receiverStepPs.assign(flows.size(), 0);
    for (uint32_t rank = 0; rank < program.ranks.size(); ++rank)
    {
        SetUpRank(rank, ofBlocks[rank]);
    }
}

void
ReplayRun::SetUpRank(uint32_t rank, const std::vector<BlockFlows>& ofBlocks)
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
        block.sendFlow = ofBlocks[number].send;
        if (block.sendFlow != NO_ID)
        {
            m_senders[block.sendFlow] = id;
            block.sendsWhole = !m_costs.sendsWhole.empty() && m_costs.sendsWhole[block.sendFlow];
        }
        block.receiveFlow = ofBlocks[number].receive;
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
ReplayRun::Start()
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
ReplayRun::Wait(uint32_t rank)
{
    for (const uint32_t block : m_machine.GetRank(m_runs[rank]).blocks)
    {
        m_machine.GetBlock(block).busy = true;
    }
}

void
ReplayRun::Join(uint32_t rank, double timePs)
{
    m_clock.Push(timePs, ReplayEvent::JOIN, rank, 1);
}

void
ReplayRun::BeginRank(uint32_t rank)
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
ReplayRun::Advance(double untilPs)
{
    m_messages.Share();
    const auto handle = [this](const ReplayEvent& event) { Handle(event); };
    while (m_clock.GetNextPs() <= untilPs && m_clock.Step(handle))
    {
        m_messages.Share();
    }
}

void
ReplayRun::HandOver(double timePs, ReplayCarry carry)
{
    m_clock.GoTo(timePs);
    m_carry = std::move(carry);
    m_isCarried.assign(m_flows.size(), true);
    m_messages.HandOver(
        [this, timePs](uint32_t flow, double bytes) { m_carry(flow, bytes, timePs); });
}

ReplayTimes
ReplayRun::Run(const std::function<void()>& goOn, const std::vector<int64_t>& joinsPs)
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
ReplayRun::SendMessage(uint32_t flow, const Step& step)
{
    // A step without bytes is a flag, which has at least one.
    const auto bytes = static_cast<double>(
        std::max<uint64_t>(GetTraits(m_program.protocol).WireBytes(step.bytes), 1));
    if (m_flows[flow].group == NO_GROUP)
    {
        ++m_sending[m_flows[flow].from];
    }
    if (IsCarried(flow))
    {
        m_carry(flow, bytes, m_clock.GetNowPs());
        return;
    }
    m_messages.Send(flow, bytes);
}

void
ReplayRun::Send(uint32_t id, const Step& step)
{
    SendMessage(m_machine.GetBlock(id).sendFlow, step);
}

void
ReplayRun::Grant(uint32_t id, uint32_t chunks)
{
    const uint32_t flow = m_machine.GetBlock(id).receiveFlow;
    m_clock.Push(m_clock.GetNowPs() + static_cast<double>(GetRoute(flow).controlPs),
                 ReplayEvent::GRANT,
                 flow,
                 chunks);
}

bool
ReplayRun::IsThere(const ReplayBlock& block, const Step& step) const
{
    return step.kind != StepKind::GROUP_RECV ||
           m_groups.CountArrived(block.block->group, GetRank(block), step.peer) > 0;
}

bool
ReplayRun::EndBlock(uint32_t id)
{
    --m_blocksLeft;
    CheckDone(GetRank(m_machine.GetBlock(id)));
    return false;
}

void
ReplayRun::Begin(uint32_t id, const Step& step)
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
ReplayRun::Occupy(uint32_t id, const Step& step)
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
ReplayRun::End(uint32_t id, const Step& step)
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
ReplayRun::NoteSent(uint32_t flow, double behindPs)
{
    const FlowRoute& route = GetRoute(flow);
    const double arrival = m_clock.GetNowPs() + static_cast<double>(route.latencyPs) + behindPs;
    m_times.receivedPs[flow] = std::llround(arrival);
    m_times.sentPs[flow] = std::llround(arrival + static_cast<double>(route.ackPs));
    Arrive(flow, arrival);
}

void
ReplayRun::CheckDone(uint32_t rank)
{
    if (m_program.groups.empty() && m_sending[rank] == 0 &&
        m_machine.GetRank(m_runs[rank]).blocksLeft == 0)
    {
        m_ended.push_back({rank, std::max(m_rankStepPs[rank], m_rankAckPs[rank])});
    }
}

void
ReplayRun::Arrive(uint32_t flow, double arrival)
{
    if (m_flows[flow].group == NO_GROUP)
    {
        const uint32_t rank = m_flows[flow].from;
        const auto ackPs = static_cast<double>(GetRoute(flow).ackPs);
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
ReplayRun::DeliverGroup(const ProgramFlow& flow)
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
ReplayRun::Handle(const ReplayEvent& event)
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
    case ReplayEvent::LEAVE:
        m_messages.Leave(event.id);
        return;
    }
}

} // namespace proteus
} // namespace ns3
