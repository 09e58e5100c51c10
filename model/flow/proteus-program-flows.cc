/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-program-flows.h"

#include <algorithm>
#include <numeric>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return the name of a flow
ProgramFlowKey
NameFlow(const ProgramFlow& flow)
{
    return {flow.group == NO_GROUP ? flow.channel : 0,
            flow.from,
            flow.to,
            flow.group,
            flow.operation};
}

} // namespace

ProgramFlowKey
MakeFlowKey(uint32_t channel, uint32_t from, uint32_t to)
{
    return {channel, from, to, NO_GROUP, StepKind::SEND};
}

ProgramFlowKey
MakeGroupFlowKey(const ThreadBlock& block, uint32_t rank, const Step& step)
{
    const bool multicasts = step.kind == StepKind::GROUP_MULTICAST;
    return {0,
            multicasts ? rank : NO_RANK,
            step.kind == StepKind::GROUP_REDUCE ? step.peer : NO_RANK,
            block.group,
            step.kind};
}

std::map<ProgramFlowKey, uint32_t>
IndexFlows(const std::vector<ProgramFlow>& flows)
{
    std::map<ProgramFlowKey, uint32_t> index;
    for (uint32_t i = 0; i < flows.size(); ++i)
    {
        index.emplace(NameFlow(flows[i]), i);
    }
    return index;
}

uint64_t
SentBytes(const ProgramFlow& flow)
{
    return flow.group == NO_GROUP || flow.operation == StepKind::GROUP_MULTICAST
               ? flow.bytes
               : flow.bytes * flow.members.size();
}

namespace
{

/// @return the flows of a program, without components
std::vector<ProgramFlow>
CountFlows(const CollectiveProgram& program)
{
    std::map<ProgramFlowKey, ProgramFlow> found;
    std::map<ProgramFlowKey, uint32_t> giver; // of groups' flows: the member whose part is counted
    const ProtocolTraits& traits = GetTraits(program.protocol);
    for (uint32_t rank = 0; rank < program.ranks.size(); ++rank)
    {
        for (const ThreadBlock& block : program.ranks[rank].blocks)
        {
            uint64_t sentBytes = 0;
            uint64_t messages = 0;
            for (const Step& step : block.steps)
            {
                if (SendsToGroup(step.kind))
                {
                    const ProgramFlowKey key = MakeGroupFlowKey(block, rank, step);
                    ProgramFlow& flow = found[key];
                    flow.members = program.groups[block.group].members;
                    if (flow.messages == 0)
                    {
                        giver[key] = rank;
                    }
                    flow.channel = block.channel;
                    std::tie(std::ignore, flow.from, flow.to, flow.group, flow.operation) = key;
                    if (giver[key] == rank) // all members give equally much
                    {
                        flow.bytes += std::max<uint64_t>(traits.WireBytes(step.bytes), 1);
                        ++flow.messages;
                    }
                }
                if (Sends(step.kind))
                {
                    sentBytes += std::max<uint64_t>(traits.WireBytes(step.bytes), 1);
                    ++messages;
                }
            }
            if (messages > 0)
            {
                ProgramFlow& flow = found[MakeFlowKey(block.channel, rank, block.sendPeer)];
                flow.channel = block.channel;
                flow.from = rank;
                flow.to = block.sendPeer;
                flow.bytes += sentBytes;
                flow.messages += messages;
            }
        }
    }
    std::vector<ProgramFlow> flows;
    for (const auto& entry : found)
    {
        flows.push_back(entry.second);
    }
    return flows;
}

/// Finds the components: flows that meet in a block, or in blocks of which one waits for the other.
class ComponentFinder
{
  public:
    ComponentFinder(const CollectiveProgram& program, const std::vector<ProgramFlow>& flows)
        : m_program(program),
          m_index(IndexFlows(flows)),
          m_parent(flows.size()),
          m_firstOfGroup(program.groups.size(), NO_ID)
    {
        std::iota(m_parent.begin(), m_parent.end(), 0);
        for (uint32_t i = 0; i < flows.size(); ++i)
        {
            if (flows[i].group != NO_GROUP)
            {
                uint32_t& first = m_firstOfGroup[flows[i].group];
                first = first == NO_ID ? i : first;
                m_parent[i] = first;
            }
        }
        for (uint32_t rank = 0; rank < program.ranks.size(); ++rank)
        {
            for (const ThreadBlock& block : program.ranks[rank].blocks)
            {
                Join(FindMeeting(rank, block));
            }
        }
    }

    /// @return the flow that stands for the component of a flow
    uint32_t GetRoot(uint32_t id)
    {
        while (m_parent[id] != id)
        {
            id = m_parent[id] = m_parent[m_parent[id]];
        }
        return id;
    }

  private:
    /// @return the flows of a block, one for a group, whose flows are one component
    std::vector<uint32_t> FindFlowsOf(uint32_t rank, const ThreadBlock& block) const
    {
        std::vector<uint32_t> ids;
        for (const ProgramFlowKey& key : {MakeFlowKey(block.channel, rank, block.sendPeer),
                                          MakeFlowKey(block.channel, block.receivePeer, rank)})
        {
            const auto place = m_index.find(key);
            if (place != m_index.end())
            {
                ids.push_back(place->second);
            }
        }
        if (block.group != NO_GROUP)
        {
            ids.push_back(m_firstOfGroup[block.group]);
        }
        return ids;
    }

    /// @return the flows of a block, and of those that it waits for
    std::vector<uint32_t> FindMeeting(uint32_t rank, const ThreadBlock& block) const
    {
        const auto& blocks = m_program.ranks[rank].blocks;
        std::vector<uint32_t> ids = FindFlowsOf(rank, block);
        std::vector<bool> seen(blocks.size());
        for (const Step& step : block.steps)
        {
            if (step.waitBlock != NO_BLOCK && !seen[step.waitBlock])
            {
                seen[step.waitBlock] = true;
                const auto others = FindFlowsOf(rank, blocks[step.waitBlock]);
                ids.insert(ids.end(), others.begin(), others.end());
            }
        }
        return ids;
    }

    void Join(const std::vector<uint32_t>& ids)
    {
        for (const uint32_t id : ids)
        {
            const uint32_t a = GetRoot(ids.front());
            const uint32_t b = GetRoot(id);
            m_parent[std::max(a, b)] = std::min(a, b);
        }
    }

    const CollectiveProgram& m_program;
    std::map<ProgramFlowKey, uint32_t> m_index;
    std::vector<uint32_t> m_parent;       //!< by flow: one of the same component, or itself
    std::vector<uint32_t> m_firstOfGroup; //!< flow
};

/// Numbers the components in the order of their first flows.
void
NumberComponents(const CollectiveProgram& program, std::vector<ProgramFlow>& flows)
{
    ComponentFinder finder(program, flows);
    std::map<uint32_t, uint32_t> numbers;
    for (uint32_t i = 0; i < flows.size(); ++i)
    {
        flows[i].component =
            numbers.emplace(finder.GetRoot(i), static_cast<uint32_t>(numbers.size())).first->second;
    }
}

} // namespace

std::vector<ProgramFlow>
FindFlows(const CollectiveProgram& program)
{
    std::vector<ProgramFlow> flows = CountFlows(program);
    NumberComponents(program, flows);
    return flows;
}

} // namespace proteus
} // namespace ns3
