/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-transport.h"

#include "ns3/abort.h"
#include "ns3/log.h"

#include <algorithm>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

NS_LOG_COMPONENT_DEFINE("ProteusTransportGroup");

uint32_t
Transport::CreateGroup(const GroupOptions& options)
{
    NS_LOG_FUNCTION(this << options.members.size() << options.flow);
    Group group;
    group.Build(m_fabric->GetCluster(), m_fabric->GetPaths(), options, [this](LinkId link) {
        return m_fabric->GetFraming(link);
    });
    m_groups.push_back(std::move(group));
    return static_cast<uint32_t>(m_groups.size()) - 1;
}

void
Transport::RequireLinks(uint32_t groupId)
{
    const std::string failed =
        m_groups[groupId].CheckLinks(m_fabric->GetCluster(),
                                     [this](LinkId link) { return m_fabric->IsLinkUp(link); });
    if (!failed.empty())
    {
        throw std::runtime_error("group " + std::to_string(groupId) + ": " + failed);
    }
}

void
Transport::CheckGroupLinks()
{
    for (uint32_t id = 0; id < m_groups.size(); ++id)
    {
        if (m_groups[id].CheckAtRest().empty())
        {
            m_groups[id].CheckLinks(m_fabric->GetCluster(),
                                    [this](LinkId link) { return m_fabric->IsLinkUp(link); });
        }
        else
        {
            RequireLinks(id);
        }
    }
}

void
Transport::AddLanes(uint32_t groupId, uint32_t member, bool multicast)
{
    const Group& group = m_groups[groupId];
    GroupSequence& sequence =
        multicast ? m_groups[groupId].multicasts[member] : m_groups[groupId].reductions;
    sequence.lanes.resize(group.planes.size(),
                          std::vector<uint32_t>(group.options.members.size(), UINT32_MAX));
    for (uint32_t plane = 0; plane < group.planes.size(); ++plane)
    {
        const GroupPlane& tree = group.planes[plane];
        const VertexId node = tree.nodes[tree.nodeOfMember[member]].vertex;
        QueuePairOptions options;
        options.source = group.options.members[member];
        options.destination = node;
        if (!group.options.nics.empty())
        {
            options.waypoints.push_back(group.options.nics[member]);
        }
        options.flow = MixHash(group.options.flow, plane);
        options.trafficClass = group.options.trafficClass;
        options.copyMethod = group.options.copyMethod;
        const uint32_t id = AddQueuePair(options);
        m_senders[id].unitBytes = group.unitBytes;
        m_senders[id].flags |= SenderState::GROUP;
        m_senders[id].multimem = options.copyMethod != CopyMethod::SM ? 0 : multicast ? 2 : 1;
        m_receivers[id].vertex = Cluster::NO_VERTEX;
        QueuePairState& state = m_states[id];
        state.path.packetBytes = group.unitBytes;
        state.path.bytesPerSecond = tree.bytesPerSecond;
        state.group = groupId;
        state.member = member;
        state.plane = plane;
        state.multicast = multicast;
        AssignPorts(id);
        sequence.lanes[plane][member] = id;
    }
}

void
Transport::SendGroup(uint32_t groupId,
                     GroupOperation operation,
                     uint32_t member,
                     uint64_t bytes,
                     uint64_t tag,
                     uint32_t root)
{
    NS_LOG_FUNCTION(this << groupId << member << bytes << tag);
    NS_ABORT_MSG_IF(bytes == 0, "proteus::Transport: an operation needs at least one byte");
    const bool multicast = operation == GroupOperation::MULTICAST;
    Group& group = m_groups[groupId];
    if (group.isBroken)
    {
        RequireLinks(groupId);
    }
    GroupSequence& sequence = multicast ? group.multicasts[member] : group.reductions;
    if (sequence.lanes.empty() || sequence.lanes.front()[member] == UINT32_MAX)
    {
        AddLanes(groupId, member, multicast);
    }
    const std::size_t nMembers = group.options.members.size();
    const uint32_t number = sequence.nBegun[member]++;
    const std::size_t index = number - sequence.firstOperation;
    if (index == sequence.operations.size())
    {
        GroupOperationState state;
        state.operation = operation;
        state.bytes = bytes;
        state.tag = tag;
        state.root = root;
        state.firstUnit = sequence.nUnits;
        state.nUnits = (bytes + group.unitBytes - 1) / group.unitBytes;
        state.received.assign(nMembers, 0);
        state.tags.assign(nMembers, tag);
        state.lanesLeft.assign(nMembers, 0);
        sequence.nUnits += state.nUnits;
        sequence.operations.push_back(state);
    }
    GroupOperationState& state = sequence.operations[index];
    if (state.operation != operation || state.bytes != bytes || state.root != root)
    {
        throw std::invalid_argument("group " + std::to_string(groupId) + ": member " +
                                    std::to_string(member) + " begins operation " +
                                    std::to_string(number) + " with another kind, size or root");
    }
    ++state.nBegun;
    state.tags[member] = tag;
    const uint64_t end = state.firstUnit + state.nUnits;
    const uint64_t missing = state.nUnits * group.unitBytes - bytes;
    for (uint32_t plane = 0; plane < group.planes.size(); ++plane)
    {
        const uint64_t units =
            group.pattern.Count(plane, end) - group.pattern.Count(plane, state.firstUnit);
        if (units > 0)
        {
            ++state.lanesLeft[member];
            const bool hasLast = group.pattern.GetPlane(end - 1) == plane;
            Send(sequence.lanes[plane][member],
                 units * group.unitBytes - (hasLast ? missing : 0),
                 tag);
        }
    }
}

VertexId
Transport::DeliverGroup(const PacketRecord& record, VertexId at)
{
    const QueuePairState& lane = m_states[record.queuePair];
    Group& group = m_groups[lane.group];
    GroupPlane& plane = group.planes[lane.plane];
    const bool down = (record.flags & PacketRecord::TURNED) != 0;
    const uint32_t member = group.memberAt.Find(at);
    if (member != VertexIndex::NONE)
    {
        if (!down)
        {
            return plane.nodes[plane.nodeOfMember[member]].vertex; // at its NIC
        }
        if (at != group.options.members[member])
        {
            return group.options.members[member];
        }
        ReceiveGroup(record, member);
        return CONSUMED;
    }
    GroupNode& node = plane.nodes[plane.nodeAt.Find(at)];
    const bool isRoot = node.parent == GroupNode::NONE;
    if (down)
    {
        return REPLICATED;
    }
    if ((record.flags & PacketRecord::LAST) != 0 && at == lane.destination)
    {
        AcknowledgeGroup(record);
    }
    if (!lane.multicast)
    {
        const uint32_t unit = record.sequence - m_firstSequence;
        while (!IsBefore(unit, node.contributions.GetTail()))
        {
            node.contributions.Push(0);
        }
        if (++node.contributions.At(unit) < node.GetNContributors())
        {
            return CONSUMED;
        }
        while (!node.contributions.IsEmpty() &&
               node.contributions.Front() == node.GetNContributors())
        {
            node.contributions.Pop();
        }
    }
    return isRoot ? REPLICATED : plane.nodes[node.parent].vertex;
}

void
Transport::AcknowledgeGroup(const PacketRecord& record)
{
    const QueuePairState& lane = m_states[record.queuePair];
    Group& group = m_groups[lane.group];
    GroupSequence& sequence = lane.multicast ? group.multicasts[lane.member] : group.reductions;
    GroupOperationState& state =
        group.FindOperation(sequence, lane.plane, record.sequence - m_firstSequence);
    if (--state.lanesLeft[lane.member] == 0)
    {
        m_user->ReceiveGroupAcknowledgement(lane.group, lane.member, state.tags[lane.member]);
    }
}

void
Transport::Replicate(const PacketRecord& record, VertexId at, std::vector<PacketRecord>& copies)
{
    const QueuePairState& lane = m_states[record.queuePair];
    const Group& group = m_groups[lane.group];
    const GroupPlane& plane = group.planes[lane.plane];
    PacketRecord copy = record;
    copy.flags |= PacketRecord::TURNED;
    if (!lane.multicast)
    {
        const GroupOperationState& state =
            group.FindOperation(group.reductions, lane.plane, record.sequence - m_firstSequence);
        if (state.operation == GroupOperation::REDUCE)
        {
            copy.destination = group.GetAccess(state.root);
            copies.push_back(copy);
            return;
        }
    }
    const GroupNode& node = plane.nodes[plane.nodeAt.Find(at)];
    for (uint32_t child : node.children)
    {
        copy.destination = plane.nodes[child].vertex;
        copies.push_back(copy);
    }
    for (uint32_t member : node.members)
    {
        copy.destination = group.GetAccess(member);
        copies.push_back(copy);
    }
}

void
Transport::ReceiveGroup(const PacketRecord& record, uint32_t member)
{
    const QueuePairState& lane = m_states[record.queuePair];
    const uint32_t groupId = lane.group;
    Group& group = m_groups[groupId];
    GroupSequence& sequence = lane.multicast ? group.multicasts[lane.member] : group.reductions;
    GroupOperationState& state =
        group.FindOperation(sequence, lane.plane, record.sequence - m_firstSequence);
    state.received[member] += record.payloadBytes;
    if (state.received[member] < state.bytes)
    {
        return;
    }
    const uint64_t bytes = state.bytes;
    const uint64_t tag = state.tags[member];
    ++state.nDone;
    while (!sequence.operations.empty() &&
           sequence.operations.front().IsDone(group.options.members.size()))
    {
        sequence.operations.pop_front();
        ++sequence.firstOperation;
    }
    m_user->ReceiveGroupMessage(groupId, member, tag, bytes);
}

} // namespace proteus
} // namespace ns3
