/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-groups.h"

#include "ns3/proteus-algorithms.h"
#include "ns3/proteus-group-trees.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

namespace
{

/// Bits of a tag that count; those above say whose multicast it is, or 0 for a sum.
constexpr uint32_t COUNT_BITS = 32;

} // namespace

void
CollectiveGroups::SetUp(Ptr<Transport> transport)
{
    m_transport = transport;
}

uint32_t
CollectiveGroups::Open(TaskId task,
                       uint32_t microBatch,
                       uint32_t number,
                       const std::vector<VertexId>& members,
                       uint32_t rankRun,
                       uint32_t member)
{
    const auto key = std::make_tuple(task, microBatch, number);
    const auto [place, isNew] = m_index.emplace(key, NO_ID);
    if (isNew)
    {
        place->second = m_runs.Add(Run());
        Run& run = m_runs[place->second];
        run.vertices = members;
        run.key = key;
        run.members.resize(members.size());
        for (Member& state : run.members)
        {
            state.sources.resize(1 + members.size());
        }
    }
    m_runs[place->second].members[member].rankRun = rankRun;
    return place->second;
}

void
CollectiveGroups::Close(uint32_t id, uint32_t member)
{
    Run& run = m_runs[id];
    run.members[member].blocks.clear();
    if (++run.nClosed < run.members.size())
    {
        return;
    }
    if (run.group != NO_ID)
    {
        m_pool[run.vertices].push_back(run.group);
        m_runOf[run.group] = NO_ID;
    }
    m_index.erase(run.key);
    m_runs.GiveBack(id);
}

void
CollectiveGroups::AddBlock(uint32_t id, uint32_t member, uint32_t block)
{
    m_runs[id].members[member].blocks.push_back(block);
}

uint32_t
CollectiveGroups::Acquire(const Run& run)
{
    auto& pool = m_pool[run.vertices];
    if (!pool.empty())
    {
        // The first one, so that it does not matter in which order they came back.
        const auto first = std::min_element(pool.begin(), pool.end());
        const uint32_t group = *first;
        pool.erase(first);
        m_transport->RestartGroup(group);
        return group;
    }
    return Make(run.vertices);
}

std::vector<uint32_t>
CollectiveGroups::Prepare(const std::vector<VertexId>& members,
                          uint32_t ordinal,
                          bool reductions,
                          const std::vector<bool>& multicasts)
{
    while (m_made[members].size() <= ordinal)
    {
        m_pool[members].push_back(Make(members));
    }
    // Acquire() takes them in the same order, the first ones first.
    return m_transport->MakeLanes(m_made[members][ordinal], reductions, multicasts);
}

uint32_t
CollectiveGroups::Make(const std::vector<VertexId>& members)
{
    const Cluster& cluster = m_transport->GetFabric()->GetCluster();
    GroupOptions options;
    options.members = members;
    if (!AreJoinedByReducingSwitches(cluster, members, VertexKind::NVSWITCH))
    {
        options.copyMethod = CopyMethod::DMA;
        for (VertexId vertex : members)
        {
            options.nics.push_back(cluster.GetNic(vertex));
        }
    }
    std::vector<uint32_t>& made = m_made[members];
    options.flow = GetGroupFlow(cluster, members, static_cast<uint32_t>(made.size()));
    m_runOf.push_back(NO_ID);
    made.push_back(m_transport->CreateGroup(options));
    return made.back();
}

uint64_t
CollectiveGroups::Give(uint32_t id,
                       uint32_t member,
                       GroupOperation operation,
                       uint32_t root,
                       uint64_t bytes)
{
    Run& run = m_runs[id];
    if (run.group == NO_ID)
    {
        run.group = Acquire(run);
        m_runOf[run.group] = id;
    }
    Member& state = run.members[member];
    uint64_t tag = 0;
    uint64_t received = 0;
    if (operation == GroupOperation::MULTICAST)
    {
        tag = uint64_t{member + 1} << COUNT_BITS | state.multicasts++;
        received = run.members.size() * bytes;
        root = 0;
    }
    else
    {
        ++state.given;
        if (operation == GroupOperation::ALL_REDUCE || root == member)
        {
            tag = state.results++;
            received = bytes;
        }
    }
    m_transport->SendGroup(run.group, operation, member, bytes, tag, root);
    return received;
}

bool
CollectiveGroups::IsThere(uint32_t id, uint32_t member, uint32_t sender) const
{
    const Member::Source& source = m_runs[id].members[member].sources[sender + 1];
    return source.taken != source.arrived;
}

void
CollectiveGroups::Take(uint32_t id, uint32_t member, uint32_t sender)
{
    ++m_runs[id].members[member].sources[sender + 1].taken;
}

const CollectiveGroups::Member&
CollectiveGroups::Receive(uint32_t group, uint32_t member, uint64_t tag)
{
    Member& state = m_runs[m_runOf[group]].members[member];
    Member::Source& source = state.sources[tag >> COUNT_BITS];
    const auto number = static_cast<uint32_t>(tag);
    if (number != source.arrived)
    {
        source.early.push_back(number);
        return state;
    }
    ++source.arrived;
    auto& early = source.early;
    for (auto next = early.begin(); next != early.end();
         next = std::find(early.begin(), early.end(), source.arrived))
    {
        if (*next == source.arrived)
        {
            ++source.arrived;
            *next = early.back();
            early.pop_back();
        }
    }
    return state;
}

uint32_t
CollectiveGroups::FindLate(uint32_t id) const
{
    const auto& members = m_runs[id].members;
    const auto fewer = [](const Member& a, const Member& b) { return a.given < b.given; };
    const auto [least, most] = std::minmax_element(members.begin(), members.end(), fewer);
    return least->given == most->given ? SUM : static_cast<uint32_t>(least - members.begin());
}

std::string
CollectiveGroups::CheckAtRest() const
{
    return m_index.empty()
               ? ""
               : std::to_string(m_index.size()) + " network groups of collectives are still in use";
}

} // namespace proteus
} // namespace ns3
