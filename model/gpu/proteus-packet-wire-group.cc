/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-packet-wire.h"

#include "ns3/abort.h"

#include <algorithm>

/**
 * @file
 * @ingroup proteus
 * Steps of collectives that work inside switches.
 */

namespace ns3
{
namespace proteus
{

std::vector<VertexId>
PacketWire::GetVertices(GroupId group, const NetworkGroup& network) const
{
    std::vector<VertexId> vertices;
    for (const uint32_t member : network.members)
    {
        vertices.push_back(m_fabric->GetCluster().GetGpus()[m_graph.GetGroup(group)[member]]);
    }
    return vertices;
}

std::vector<uint32_t>
PacketWire::MakeGroups(GroupId group, const CollectiveProgram& program)
{
    std::vector<uint32_t> pairs;
    std::map<std::vector<uint32_t>, uint32_t> count;
    for (uint32_t number = 0; number < program.groups.size(); ++number)
    {
        const NetworkGroup& network = program.groups[number];
        bool reductions = false;
        std::vector<bool> multicasts(network.members.size(), false);
        for (std::size_t i = 0; i < network.members.size(); ++i)
        {
            for (const ThreadBlock& block : program.ranks[network.members[i]].blocks)
            {
                for (const Step& step : block.steps)
                {
                    const bool multicast = step.kind == StepKind::GROUP_MULTICAST;
                    const bool concerns = block.group == number && SendsToGroup(step.kind);
                    reductions = reductions || (concerns && !multicast);
                    multicasts[i] = multicasts[i] || (concerns && multicast);
                }
            }
        }
        const auto lanes = m_groups.Prepare(GetVertices(group, network),
                                            count[network.members]++,
                                            reductions,
                                            multicasts);
        pairs.insert(pairs.end(), lanes.begin(), lanes.end());
    }
    return pairs;
}

void
PacketWire::OpenGroups(uint32_t id)
{
    PacketRank& run = m_machine.GetRank(id);
    const TaskId task = run.traffic.task;
    const auto& groups = run.program->groups;
    run.groups.assign(groups.size(), {NO_ID, 0});
    for (uint32_t number = 0; number < groups.size(); ++number)
    {
        const auto& members = groups[number].members;
        const auto place = std::lower_bound(members.begin(), members.end(), run.rank);
        if (place == members.end() || *place != run.rank)
        {
            continue;
        }
        const std::vector<VertexId> vertices =
            GetVertices(m_graph.GetTask(task).place, groups[number]);
        const auto member = static_cast<uint32_t>(place - members.begin());
        run.groups[number] = {m_groups.Open(task, run.microBatch, number, vertices, id, member),
                              member};
    }
}

namespace
{

/// @param program a program @param group of it @param rank a member, or NO_RANK
/// @return its position in the group, CollectiveGroups::SUM for NO_RANK
uint32_t
FindMember(const CollectiveProgram& program, uint32_t group, uint32_t rank)
{
    const auto& members = program.groups[group].members;
    return rank == NO_RANK
               ? CollectiveGroups::SUM
               : static_cast<uint32_t>(std::lower_bound(members.begin(), members.end(), rank) -
                                       members.begin());
}

} // namespace

bool
PacketWire::IsThere(const PacketBlock& block, const Step& step) const
{
    return step.kind != StepKind::GROUP_RECV ||
           m_groups.IsThere(
               block.group,
               block.member,
               FindMember(*m_machine.GetRank(block.rank).program, block.block->group, step.peer));
}

void
PacketWire::DoGroupStep(const PacketBlock& block, const Step& step)
{
    PacketRank& rank = m_machine.GetRank(block.rank);
    const uint32_t peer = FindMember(*rank.program, block.block->group, step.peer);
    if (step.kind == StepKind::GROUP_RECV)
    {
        m_groups.Take(block.group, block.member, peer);
        return;
    }
    if (!SendsToGroup(step.kind))
    {
        return;
    }
    const GroupOperation operation = step.kind == StepKind::GROUP_REDUCE ? GroupOperation::REDUCE
                                     : step.kind == StepKind::GROUP_ALL_REDUCE
                                         ? GroupOperation::ALL_REDUCE
                                         : GroupOperation::MULTICAST;
    const uint64_t bytes = CountSent(rank, step);
    rank.traffic.expectedBytes += m_groups.Give(block.group,
                                                block.member,
                                                operation,
                                                operation == GroupOperation::REDUCE ? peer : 0,
                                                bytes);
}

void
PacketWire::ReceiveGroupMessage(uint32_t group, uint32_t member, uint64_t tag, uint64_t bytes)
{
    const CollectiveGroups::Member& state = m_groups.GetMember(group, member);
    if (!m_kernels.GetSettings().kernelCosts || state.rankRun == NO_ID)
    {
        TakeGroupMessage({group, member, tag, bytes});
        return;
    }
    const PacketRank& rank = m_machine.GetRank(state.rankRun);
    const int64_t latencyPs = m_kernels.GetGroupLatencyPs(rank.device, rank.program->protocol);
    CallAt(m_fabric->GetTimePs() + latencyPs, TAKE, m_arrivals.Add({group, member, tag, bytes}));
}

void
PacketWire::TakeGroupMessage(const GroupArrival& arrival)
{
    const CollectiveGroups::Member& state =
        m_groups.Receive(arrival.group, arrival.member, arrival.tag);
    const uint32_t rank = state.rankRun;
    NS_ABORT_MSG_IF(rank == NO_ID, "proteus::PacketNetwork: a rank gets what it has no room for");
    ++m_machine.GetRank(rank).messages;
    m_machine.GetRank(rank).traffic.receivedBytes += arrival.bytes;
    const std::vector<uint32_t> blocks = state.blocks; // which a rank that ends clears
    for (const uint32_t block : blocks)
    {
        m_machine.Advance(block);
        if (!m_machine.GetRank(rank).program)
        {
            return; // that was the last step of this rank
        }
    }
}

void
PacketWire::ReceiveGroupAcknowledgement(uint32_t group, uint32_t member, uint64_t /* tag */)
{
    const uint32_t rank = m_groups.GetMember(group, member).rankRun;
    --m_machine.GetRank(rank).unacknowledged;
    CheckDone(rank);
}

std::string
PacketWire::DescribeGroupWait(const PacketBlock& block,
                              const Step& step,
                              const std::function<std::string(uint32_t)>& name) const
{
    if (step.peer != NO_RANK)
    {
        return "waits for a multicast of " + name(step.peer);
    }
    const uint32_t late = m_groups.FindLate(block.group);
    const CollectiveProgram& program = *m_machine.GetRank(block.rank).program;
    return late == CollectiveGroups::SUM
               ? "waits for the result of a sum from the switches"
               : "waits, for a sum in the switches, for " +
                     name(program.groups[block.block->group].members[late]);
}

} // namespace proteus
} // namespace ns3
