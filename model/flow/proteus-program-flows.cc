/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-program-flows.h"

#include <algorithm>
#include <boost/container/static_vector.hpp>
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
MakeGroupFlowKey(const ThreadBlock& block, uint32_t rank, const Step& step)
{
    const bool multicasts = step.kind == StepKind::GROUP_MULTICAST;
    return {0,
            multicasts ? rank : NO_RANK,
            step.kind == StepKind::GROUP_REDUCE ? step.peer : NO_RANK,
            block.group,
            step.kind};
}

FlowIndex::FlowIndex(const std::vector<ProgramFlow>& flows)
{
    for (uint32_t i = 0; i < flows.size(); ++i)
    {
        if (flows[i].group != NO_GROUP)
        {
            m_groups.emplace(NameFlow(flows[i]), i);
            continue;
        }
        m_channels = std::max(m_channels, flows[i].channel + 1);
        m_ranks = std::max(m_ranks, flows[i].from + 1);
    }
    m_first.assign(std::size_t{m_channels} * m_ranks + 1, 0);
    const auto place = [this](const ProgramFlow& flow) {
        return std::size_t{flow.channel} * m_ranks + flow.from;
    };
    for (const ProgramFlow& flow : flows)
    {
        if (flow.group == NO_GROUP)
        {
            ++m_first[place(flow) + 1];
        }
    }
    std::partial_sum(m_first.begin(), m_first.end(), m_first.begin());
    m_entries.resize(m_first.back());
    std::vector<uint32_t> next(m_first.begin(), m_first.end() - 1);
    for (uint32_t i = 0; i < flows.size(); ++i)
    {
        if (flows[i].group == NO_GROUP)
        {
            m_entries[next[place(flows[i])]++] = {flows[i].to, i};
        }
    }
    for (std::size_t i = 0; i + 1 < m_first.size(); ++i)
    {
        std::sort(m_entries.begin() + m_first[i],
                  m_entries.begin() + m_first[i + 1],
                  [](const Entry& a, const Entry& b) { return a.to < b.to; });
    }
}

uint32_t
FlowIndex::Find(uint32_t channel, uint32_t from, uint32_t to) const
{
    if (channel >= m_channels || from >= m_ranks || to == NO_RANK)
    {
        return NO_ID;
    }
    const std::size_t place = std::size_t{channel} * m_ranks + from;
    const auto end = m_entries.begin() + m_first[place + 1];
    const auto found =
        std::lower_bound(m_entries.begin() + m_first[place],
                         end,
                         to,
                         [](const Entry& entry, uint32_t rank) { return entry.to < rank; });
    return found == end || found->to != to ? NO_ID : found->flow;
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

/// @param flows of a program, several of one name @return those of a name added up, by name
std::vector<ProgramFlow>
MergeFlows(std::vector<ProgramFlow> flows)
{
    std::sort(flows.begin(), flows.end(), [](const ProgramFlow& a, const ProgramFlow& b) {
        return NameFlow(a) < NameFlow(b);
    });
    std::size_t kept = 0;
    for (std::size_t i = 1; i < flows.size(); ++i)
    {
        if (NameFlow(flows[i]) == NameFlow(flows[kept]))
        {
            flows[kept].bytes += flows[i].bytes;
            flows[kept].messages += flows[i].messages;
        }
        else if (++kept != i)
        {
            flows[kept] = std::move(flows[i]);
        }
    }
    flows.resize(std::min(flows.size(), kept + 1));
    return flows;
}

/// @return blocks of all ranks of a program
std::size_t
CountBlocks(const CollectiveProgram& program)
{
    std::size_t blocks = 0;
    for (const RankProgram& rank : program.ranks)
    {
        blocks += rank.blocks.size();
    }
    return blocks;
}

/// @return by group of a program: how many before it have the same members
std::vector<uint32_t>
CountGroupsBefore(const CollectiveProgram& program)
{
    std::vector<uint32_t> before;
    std::map<std::vector<uint32_t>, uint32_t> known;
    for (const NetworkGroup& group : program.groups)
    {
        before.push_back(known[group.members]++);
    }
    return before;
}

/// @return the flows of a program, without components
std::vector<ProgramFlow>
CountFlows(const CollectiveProgram& program)
{
    std::vector<ProgramFlow> flows;
    flows.reserve(CountBlocks(program)); // most blocks send
    std::map<ProgramFlowKey, ProgramFlow> ofGroups;
    std::map<ProgramFlowKey, uint32_t> giver; // of groups' flows: the member whose part is counted
    const std::vector<uint32_t> ordinals = CountGroupsBefore(program);
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
                    ProgramFlow& flow = ofGroups[key];
                    flow.members = program.groups[block.group].members;
                    if (flow.messages == 0)
                    {
                        giver[key] = rank;
                    }
                    flow.ordinal = ordinals[block.group];
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
                flows.emplace_back();
                ProgramFlow& flow = flows.back();
                flow.channel = block.channel;
                flow.from = rank;
                flow.to = block.sendPeer;
                flow.bytes = sentBytes;
                flow.messages = messages;
            }
        }
    }
    for (auto& entry : ofGroups)
    {
        flows.push_back(std::move(entry.second));
    }
    return MergeFlows(std::move(flows));
}

/// Finds the components: flows that meet in a block, or in blocks of which one waits for the other.
class ComponentFinder
{
  public:
    ComponentFinder(const CollectiveProgram& program, const std::vector<ProgramFlow>& flows)
        : m_program(program),
          m_index(flows),
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
            m_joined.assign(program.ranks[rank].blocks.size(), NO_BLOCK);
            for (uint32_t block = 0; block < m_joined.size(); ++block)
            {
                JoinBlock(rank, block);
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
    /// Flows of a block: at most one sent, one received and one of a group.
    using FlowsOfBlock = boost::container::static_vector<uint32_t, 3>;

    /// @return the flows of a block, one for a group, whose flows are one component
    FlowsOfBlock FindFlowsOf(uint32_t rank, const ThreadBlock& block) const
    {
        FlowsOfBlock ids;
        for (const uint32_t id : {m_index.Find(block.channel, rank, block.sendPeer),
                                  m_index.Find(block.channel, block.receivePeer, rank)})
        {
            if (id != NO_ID)
            {
                ids.push_back(id);
            }
        }
        if (block.group != NO_GROUP)
        {
            ids.push_back(m_firstOfGroup[block.group]);
        }
        return ids;
    }

    /// Joins the flows of a block, and of those that it waits for.
    void JoinBlock(uint32_t rank, uint32_t number)
    {
        const auto& blocks = m_program.ranks[rank].blocks;
        uint32_t first = NO_ID;
        const auto join = [&](const ThreadBlock& block) {
            for (const uint32_t id : FindFlowsOf(rank, block))
            {
                first = first == NO_ID ? id : first;
                const uint32_t a = GetRoot(first);
                const uint32_t b = GetRoot(id);
                m_parent[std::max(a, b)] = std::min(a, b);
            }
        };
        join(blocks[number]);
        for (const Step& step : blocks[number].steps)
        {
            if (step.waitBlock != NO_BLOCK && m_joined[step.waitBlock] != number)
            {
                m_joined[step.waitBlock] = number;
                join(blocks[step.waitBlock]);
            }
        }
    }

    const CollectiveProgram& m_program;
    const FlowIndex m_index;
    std::vector<uint32_t> m_parent;       //!< by flow: one of the same component, or itself
    std::vector<uint32_t> m_firstOfGroup; //!< flow
    std::vector<uint32_t> m_joined;       //!< by block of a rank: the last one that waits for it
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
