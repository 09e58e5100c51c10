/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-packet-network.h"

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

void
PacketNetwork::OpenGroups(uint32_t id, uint32_t rank)
{
    RankRun& run = m_rankRuns[id];
    const auto& groups = run.program->groups;
    run.groups.assign(groups.size(), {NO_ID, 0});
    const auto& devices = m_graph->GetGroup(m_graph->GetTask(run.task).place);
    for (uint32_t number = 0; number < groups.size(); ++number)
    {
        const auto& members = groups[number].members;
        const auto place = std::lower_bound(members.begin(), members.end(), rank);
        if (place == members.end() || *place != rank)
        {
            continue;
        }
        std::vector<VertexId> vertices;
        for (const uint32_t member : members)
        {
            vertices.push_back(m_fabric->GetCluster().GetGpus()[devices[member]]);
        }
        const auto member = static_cast<uint32_t>(place - members.begin());
        run.groups[number] = {m_groups.Open(run.task, run.microBatch, number, vertices, id, member),
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
PacketNetwork::IsGroupStepReady(const BlockRun& run, const Step& step) const
{
    return step.kind != StepKind::GROUP_RECV ||
           m_groups.IsThere(
               run.group,
               run.member,
               FindMember(*m_rankRuns[run.rankRun].program, run.block->group, step.peer));
}

void
PacketNetwork::DoGroupStep(const BlockRun& run, const Step& step)
{
    RankRun& rank = m_rankRuns[run.rankRun];
    const uint32_t peer = FindMember(*rank.program, run.block->group, step.peer);
    if (step.kind == StepKind::GROUP_RECV)
    {
        m_groups.Take(run.group, run.member, peer);
        return;
    }
    if (!SendsToGroup(step.kind))
    {
        return;
    }
    // Flags alone are something on the wire, too.
    const uint64_t bytes =
        std::max<uint64_t>(GetTraits(rank.program->protocol).WireBytes(step.bytes), 1);
    ++rank.unacknowledged;
    rank.sentBytes += bytes;
    const GroupOperation operation = step.kind == StepKind::GROUP_REDUCE ? GroupOperation::REDUCE
                                     : step.kind == StepKind::GROUP_ALL_REDUCE
                                         ? GroupOperation::ALL_REDUCE
                                         : GroupOperation::MULTICAST;
    rank.expectedBytes += m_groups.Give(run.group,
                                        run.member,
                                        operation,
                                        operation == GroupOperation::REDUCE ? peer : 0,
                                        bytes);
}

void
PacketNetwork::ReceiveGroupMessage(uint32_t group, uint32_t member, uint64_t tag, uint64_t bytes)
{
    const CollectiveGroups::Member& state = m_groups.GetMember(group, member);
    if (!m_kernelCosts || state.rankRun == NO_ID)
    {
        TakeGroupMessage(group, member, tag, bytes);
        return;
    }
    const RankRun& run = m_rankRuns[state.rankRun];
    const int64_t latencyPs = GetKernelCost(run.device)
                                  .Get(HopKind::SWITCH, ToNcclProtocol(run.program->protocol))
                                  .latencyPs;
    CallLater(run.device, latencyPs, [this, group, member, tag, bytes]() {
        TakeGroupMessage(group, member, tag, bytes);
    });
}

void
PacketNetwork::TakeGroupMessage(uint32_t group, uint32_t member, uint64_t tag, uint64_t bytes)
{
    const CollectiveGroups::Member& state = m_groups.Receive(group, member, tag);
    ++m_messages;
    const uint32_t rankRun = state.rankRun;
    NS_ABORT_MSG_IF(rankRun == NO_ID,
                    "proteus::PacketNetwork: a rank gets what it has no room for");
    m_rankRuns[rankRun].receivedBytes += bytes;
    const std::vector<uint32_t> blocks = state.blocks; // which a rank that ends clears
    for (const uint32_t block : blocks)
    {
        Advance(block);
        if (m_rankRuns[rankRun].program == nullptr)
        {
            return; // that was the last step of this rank
        }
    }
}

void
PacketNetwork::ReceiveGroupAcknowledgement(uint32_t group, uint32_t member, uint64_t /* tag */)
{
    const uint32_t rankRun = m_groups.GetMember(group, member).rankRun;
    --m_rankRuns[rankRun].unacknowledged;
    CheckDone(rankRun);
}

std::string
PacketNetwork::DescribeGroupWait(const BlockRun& run,
                                 const Step& step,
                                 const std::function<std::string(uint32_t)>& name) const
{
    if (step.peer != NO_RANK)
    {
        return "waits for a multicast of " + name(step.peer);
    }
    const uint32_t late = m_groups.FindLate(run.group);
    const auto& members = m_rankRuns[run.rankRun].program->groups[run.block->group].members;
    return late == CollectiveGroups::SUM
               ? "waits for the result of a sum from the switches"
               : "waits, for a sum in the switches, for " + name(members[late]);
}

} // namespace proteus
} // namespace ns3
