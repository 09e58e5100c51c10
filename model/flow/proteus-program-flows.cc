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

/// Numbers the components: flows that meet in a block, or in blocks of which one waits for the
/// other.
void
FindComponents(const CollectiveProgram& program, std::vector<ProgramFlow>& flows)
{
    const auto index = IndexFlows(flows);
    std::vector<uint32_t> parent(flows.size());
    std::iota(parent.begin(), parent.end(), 0);
    const auto root = [&parent](uint32_t id) {
        while (parent[id] != id)
        {
            id = parent[id] = parent[parent[id]];
        }
        return id;
    };
    std::vector<uint32_t> firstOfGroup(program.groups.size(), NO_ID);
    for (uint32_t i = 0; i < flows.size(); ++i)
    {
        if (flows[i].group != NO_GROUP)
        {
            uint32_t& first = firstOfGroup[flows[i].group];
            first = first == NO_ID ? i : first;
            parent[i] = first;
        }
    }
    const auto flowsOf = [&](uint32_t rank, const ThreadBlock& block) {
        std::vector<uint32_t> ids;
        for (const ProgramFlowKey& key : {MakeFlowKey(block.channel, rank, block.sendPeer),
                                          MakeFlowKey(block.channel, block.receivePeer, rank)})
        {
            const auto place = index.find(key);
            if (place != index.end())
            {
                ids.push_back(place->second);
            }
        }
        if (block.group != NO_GROUP)
        {
            ids.push_back(firstOfGroup[block.group]); // all flows of a group are one component
        }
        return ids;
    };
    for (uint32_t rank = 0; rank < program.ranks.size(); ++rank)
    {
        const auto& blocks = program.ranks[rank].blocks;
        for (const ThreadBlock& block : blocks)
        {
            auto ids = flowsOf(rank, block);
            std::vector<bool> seen(blocks.size());
            for (const Step& step : block.steps)
            {
                if (step.waitBlock != NO_BLOCK && !seen[step.waitBlock])
                {
                    seen[step.waitBlock] = true;
                    const auto others = flowsOf(rank, blocks[step.waitBlock]);
                    ids.insert(ids.end(), others.begin(), others.end());
                }
            }
            for (const uint32_t id : ids)
            {
                const uint32_t a = root(ids.front());
                const uint32_t b = root(id);
                parent[std::max(a, b)] = std::min(a, b);
            }
        }
    }
    std::map<uint32_t, uint32_t> numbers;
    for (uint32_t i = 0; i < flows.size(); ++i)
    {
        flows[i].component =
            numbers.emplace(root(i), static_cast<uint32_t>(numbers.size())).first->second;
    }
}

} // namespace

std::vector<ProgramFlow>
FindFlows(const CollectiveProgram& program)
{
    std::vector<ProgramFlow> flows = CountFlows(program);
    FindComponents(program, flows);
    return flows;
}

} // namespace proteus
} // namespace ns3
