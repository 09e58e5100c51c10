/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-group-operations.h"

#include <stdexcept>

namespace ns3
{
namespace proteus
{

GroupOperations::GroupOperations(TransportCore& core,
                                 QueuePairMaker& maker,
                                 SendPorts& ports,
                                 PacketSender& sender)
    : m_core(core),
      m_maker(maker),
      m_ports(ports),
      m_sender(sender)
{
}

uint32_t
GroupOperations::Create(const GroupOptions& options)
{
    Group group;
    group.Build(m_core.fabric->GetCluster(),
                m_core.fabric->GetPaths(),
                options,
                [this](LinkId link) { return m_core.fabric->GetFraming(link); });
    m_groups.push_back(std::move(group));
    return static_cast<uint32_t>(m_groups.size()) - 1;
}

void
GroupOperations::RequireLinks(uint32_t groupId)
{
    const std::string failed =
        m_groups[groupId].CheckLinks(m_core.fabric->GetCluster(),
                                     [this](LinkId link) { return m_core.fabric->IsLinkUp(link); });
    if (!failed.empty())
    {
        throw std::runtime_error("group " + std::to_string(groupId) + ": " + failed);
    }
}

void
GroupOperations::CheckLinks()
{
    for (uint32_t id = 0; id < m_groups.size(); ++id)
    {
        if (m_groups[id].CheckAtRest().empty())
        {
            m_groups[id].CheckLinks(m_core.fabric->GetCluster(),
                                    [this](LinkId link) { return m_core.fabric->IsLinkUp(link); });
        }
        else
        {
            RequireLinks(id);
        }
    }
}

void
GroupOperations::AddLanes(uint32_t groupId, uint32_t member, bool multicast)
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
        const uint32_t id = m_maker.Add(options);
        m_core.pairs.GetSender(id).unitBytes = group.unitBytes;
        m_core.pairs.GetSender(id).flags |= SenderState::GROUP;
        if (options.copyMethod == CopyMethod::SM)
        {
            m_core.pairs.GetSender(id).SetCopyMethod(multicast ? CopyMethod::SM_MULTICAST
                                                               : CopyMethod::SM_REDUCE);
        }
        m_core.pairs.GetReceiver(id).vertex = Cluster::NO_VERTEX;
        QueuePairState& state = m_core.pairs.GetState(id);
        state.path.packetBytes = group.unitBytes;
        state.path.bytesPerSecond = tree.bytesPerSecond;
        m_core.pairs.GetLane(id) = {groupId, member, plane, multicast};
        m_ports.Assign(id);
        sequence.lanes[plane][member] = id;
    }
}

std::vector<uint32_t>
GroupOperations::MakeLanes(uint32_t groupId, bool reductions, const std::vector<bool>& multicasts)
{
    RequireGroup(groupId);
    std::vector<uint32_t> all;
    const auto make = [&](bool multicast, uint32_t member) {
        const auto find = [&]() -> GroupSequence& {
            return multicast ? m_groups[groupId].multicasts[member] : m_groups[groupId].reductions;
        };
        if (find().lanes.empty() || find().lanes.front()[member] == UINT32_MAX)
        {
            AddLanes(groupId, member, multicast);
        }
        for (const std::vector<uint32_t>& plane : find().lanes)
        {
            all.push_back(plane[member]);
        }
    };
    for (uint32_t member = 0; member < multicasts.size(); ++member)
    {
        if (reductions)
        {
            make(false, member);
        }
        if (multicasts[member])
        {
            make(true, member);
        }
    }
    return all;
}

void
GroupOperations::Begin(GroupOperation operation,
                       uint64_t bytes,
                       uint64_t tag,
                       uint32_t root,
                       const Group& group,
                       GroupSequence& sequence)
{
    const std::size_t nMembers = group.options.members.size();
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

void
GroupOperations::Send(uint32_t groupId,
                      GroupOperation operation,
                      uint32_t member,
                      uint64_t bytes,
                      uint64_t tag,
                      uint32_t root)
{
    RequireGroup(groupId);
    if (bytes == 0)
    {
        throw std::invalid_argument("Transport: an operation needs at least one byte");
    }
    const bool multicast = operation == GroupOperation::MULTICAST;
    Group& group = m_groups[groupId];
    RequireIndex(member, group.multicasts.size(), "member", "the group");
    if (operation == GroupOperation::REDUCE)
    {
        RequireIndex(root, group.multicasts.size(), "root", "the group");
    }
    if (group.isBroken)
    {
        RequireLinks(groupId);
    }
    GroupSequence& sequence = multicast ? group.multicasts[member] : group.reductions;
    if (sequence.lanes.empty() || sequence.lanes.front()[member] == UINT32_MAX)
    {
        AddLanes(groupId, member, multicast);
    }
    const uint32_t number = sequence.nBegun[member]++;
    const std::size_t index = number - sequence.firstOperation;
    if (index == sequence.operations.size())
    {
        Begin(operation, bytes, tag, root, group, sequence);
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
            m_sender.Append(sequence.lanes[plane][member],
                            units * group.unitBytes - (hasLast ? missing : 0),
                            tag);
        }
    }
}

GroupSequence&
GroupOperations::GetSequence(const GroupLane& lane)
{
    Group& group = m_groups[lane.group];
    return lane.multicast ? group.multicasts[lane.member] : group.reductions;
}

GroupOperationState&
GroupOperations::FindOperation(const PacketRecord& record)
{
    const GroupLane& lane = m_core.pairs.GetLane(record.queuePair);
    return m_groups[lane.group].FindOperation(GetSequence(lane),
                                              lane.plane,
                                              record.sequence - m_core.settings.firstSequence);
}

bool
GroupOperations::Contribute(GroupNode& node, uint32_t unit)
{
    while (!IsBefore(unit, node.contributions.GetTail()))
    {
        node.contributions.Push(0);
    }
    if (++node.contributions.At(unit) < node.GetNContributors())
    {
        return false;
    }
    while (!node.contributions.IsEmpty() && node.contributions.Front() == node.GetNContributors())
    {
        node.contributions.Pop();
    }
    return true;
}

VertexId
GroupOperations::Deliver(const PacketRecord& record, VertexId at)
{
    const GroupLane& lane = m_core.pairs.GetLane(record.queuePair);
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
        Receive(record, member);
        return FabricEndpoint::CONSUMED;
    }
    GroupNode& node = plane.nodes[plane.nodeAt.Find(at)];
    const bool isRoot = node.parent == GroupNode::NONE;
    if (down)
    {
        return FabricEndpoint::REPLICATED;
    }
    if ((record.flags & PacketRecord::LAST) != 0 &&
        at == m_core.pairs.GetState(record.queuePair).destination)
    {
        Acknowledge(record);
    }
    if (!lane.multicast && !Contribute(node, record.sequence - m_core.settings.firstSequence))
    {
        return FabricEndpoint::CONSUMED;
    }
    return isRoot ? FabricEndpoint::REPLICATED : plane.nodes[node.parent].vertex;
}

void
GroupOperations::Acknowledge(const PacketRecord& record)
{
    const GroupLane& lane = m_core.pairs.GetLane(record.queuePair);
    GroupOperationState& state = FindOperation(record);
    if (--state.lanesLeft[lane.member] == 0)
    {
        m_core.user->ReceiveGroupAcknowledgement(lane.group, lane.member, state.tags[lane.member]);
    }
}

void
GroupOperations::Replicate(const PacketRecord& record,
                           VertexId at,
                           std::vector<PacketRecord>& copies)
{
    const GroupLane& lane = m_core.pairs.GetLane(record.queuePair);
    const Group& group = m_groups[lane.group];
    const GroupPlane& plane = group.planes[lane.plane];
    PacketRecord copy = record;
    copy.flags |= PacketRecord::TURNED;
    if (!lane.multicast)
    {
        const GroupOperationState& state = FindOperation(record);
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
GroupOperations::Receive(const PacketRecord& record, uint32_t member)
{
    const GroupLane& lane = m_core.pairs.GetLane(record.queuePair);
    const uint32_t groupId = lane.group;
    GroupOperationState& state = FindOperation(record);
    state.received[member] += record.payloadBytes;
    if (state.received[member] < state.bytes)
    {
        return;
    }
    const uint64_t bytes = state.bytes;
    const uint64_t tag = state.tags[member];
    ++state.nDone;
    const std::size_t nMembers = m_groups[groupId].options.members.size();
    GroupSequence& sequence = GetSequence(lane);
    while (!sequence.operations.empty() && sequence.operations.front().IsDone(nMembers))
    {
        sequence.operations.pop_front();
        ++sequence.firstOperation;
    }
    m_core.user->ReceiveGroupMessage(groupId, member, tag, bytes);
}

std::string
GroupOperations::CheckAtRest() const
{
    for (uint32_t id = 0; id < m_groups.size(); ++id)
    {
        const std::string left = m_groups[id].CheckAtRest();
        if (!left.empty())
        {
            return "group " + std::to_string(id) + ": " + left;
        }
    }
    return "";
}

} // namespace proteus
} // namespace ns3
