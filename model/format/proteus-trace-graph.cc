/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-trace-graph.h"

#include "proteus-trace-order.h"

#include "ns3/proteus-plural.h"
#include "ns3/proteus-shown-name.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <cstddef>
#include <numeric>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

[[noreturn]] void
Fail(const std::string& message)
{
    throw std::invalid_argument(message);
}

/// Names of tasks must be UTF-8; what is not ASCII in one that is not becomes '?'.
std::string
ToUtf8(const std::string& name)
{
    bool isAscii = true;
    for (const char c : name)
    {
        isAscii &= static_cast<unsigned char>(c) < 0x80;
    }
    if (isAscii)
    {
        return name;
    }
    std::string text;
    const auto byte = [&](std::size_t i) -> unsigned {
        return i < name.size() ? static_cast<unsigned char>(name[i]) : 0U;
    };
    for (std::size_t i = 0; i < name.size();)
    {
        const unsigned lead = byte(i);
        // Two- and three-byte sequences outside the ranges that have exceptions, four-byte ones of
        // the common planes; the rest is rare enough to be lost.
        std::size_t length = lead < 0x80                    ? 1
                             : lead >= 0xc2 && lead <= 0xdf ? 2
                             : lead >= 0xe1 && lead <= 0xec ? 3
                             : lead == 0xee || lead == 0xef ? 3
                             : lead >= 0xf1 && lead <= 0xf3 ? 4
                                                            : 0;
        for (std::size_t k = 1; k < length; k++)
        {
            length = (byte(i + k) & 0xc0) == 0x80 ? length : 0;
        }
        text += length == 0 ? "?" : name.substr(i, length);
        i += std::max<std::size_t>(length, 1);
    }
    return text;
}

} // namespace

TraceGraph::TraceGraph(uint32_t nRanks, const std::string& name)
    : m_name(name),
      m_builder(nRanks),
      m_phase(m_builder.AddPhase("trace")),
      m_ranks(nRanks)
{
}

StreamId
TraceGraph::AddStream(const std::string& name, StreamOrder order, bool isHost)
{
    return m_builder.AddStream(ToUtf8(name), order, isHost);
}

uint32_t
TraceGraph::AddName(const std::string& name)
{
    const auto found = m_nameIndex.emplace(name, static_cast<uint32_t>(m_names.size()));
    if (found.second)
    {
        m_names.push_back(ToUtf8(name));
    }
    return found.first->second;
}

uint32_t
TraceGraph::AddGroup(const std::string& name,
                     const std::vector<DeviceId>& ranks,
                     Parallelism parallelism)
{
    const auto found =
        m_groupIndex.emplace(std::make_pair(name, ranks), static_cast<uint32_t>(m_groups.size()));
    if (!found.second)
    {
        return found.first->second;
    }
    Group group{name, ranks, parallelism, {}, {}};
    std::vector<DeviceId> sorted = ranks;
    std::sort(sorted.begin(), sorted.end());
    if (sorted.empty())
    {
        Fail(m_name + ": " + GroupText(group) + " has no members");
    }
    if (sorted.back() >= GetNRanks())
    {
        Fail(m_name + ": " + GroupText(group) + " has rank " + std::to_string(sorted.back()) +
             ", but the job has " + std::to_string(GetNRanks()) + " ranks");
    }
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end())
    {
        Fail(m_name + ": " + GroupText(group) + " has rank " + std::to_string(*twice) + " twice");
    }
    m_groups.push_back(std::move(group));
    return found.first->second;
}

void
TraceGraph::SetRank(DeviceId rank, std::shared_ptr<const RankTrace> trace)
{
    m_ranks.at(rank) = std::move(trace);
}

std::string
TraceGraph::NodeText(DeviceId rank, uint32_t node) const
{
    const TraceNode& it = m_ranks[rank]->nodes[node];
    return m_ranks[rank]->file + ": node " + std::to_string(it.id) + " (" +
           ShownName(m_names[it.name]) + ")";
}

std::string
TraceGraph::RankText(DeviceId rank) const
{
    return "rank " + std::to_string(rank) + " (" + m_ranks[rank]->file + ")";
}

std::string
TraceGraph::GroupText(const Group& group)
{
    return "process group '" + ShownName(group.name) + "' of " +
           std::to_string(group.ranks.size()) + " ranks";
}

const TraceNode&
TraceGraph::GetNode(const Part& part) const
{
    return m_ranks[part.rank]->nodes[part.node];
}

uint32_t
TraceGraph::JoinCollective(DeviceId rank, uint32_t nodeIndex)
{
    const TraceNode& node = m_ranks[rank]->nodes[nodeIndex];
    Group& group = m_groups.at(node.peer);
    if (std::find(group.ranks.begin(), group.ranks.end(), rank) == group.ranks.end())
    {
        Fail(NodeText(rank, nodeIndex) + ": " + GroupText(group) + " does not have rank " +
             std::to_string(rank));
    }
    const uint32_t place = group.seen[rank]++;
    if (place == group.parts.size())
    {
        group.parts.push_back(static_cast<uint32_t>(m_parts.size()));
        m_parts.push_back({rank, nodeIndex, 0, NO_ID, node.recordedPs});
        return group.parts.back();
    }
    Part& part = m_parts[group.parts[place]];
    part.recordedPs = std::min(part.recordedPs, node.recordedPs);
    const TraceNode& other = GetNode(part);
    const auto describe = [](const TraceNode& it) {
        return std::string(ToString(it.collective)) + " of " + std::to_string(it.bytes) + " bytes" +
               (HasRoot(it.collective) ? " from rank " + std::to_string(it.root) : "");
    };
    const bool isSame = node.collective == other.collective &&
                        (!HasRoot(node.collective) || node.root == other.root);
    // With unequal splits, ranks of an all-to-all have buffers of different size; the largest is
    // what all wait for, which is said in the end.
    if (!isSame || (node.bytes != other.bytes && node.collective != Collective::ALL_TO_ALL))
    {
        Fail(NodeText(rank, nodeIndex) + ": " + GroupText(group) + ": collective " +
             std::to_string(place) + " is " + describe(node) + ", but " +
             NodeText(part.rank, part.node) + " makes it " + describe(other));
    }
    if (node.bytes != other.bytes)
    {
        m_uneven.insert(group.parts[place]);
    }
    if (node.bytes > other.bytes)
    {
        part.rank = rank;
        part.node = nodeIndex;
    }
    return group.parts[place];
}

void
TraceGraph::AddMessage(DeviceId rank, bool isSend, uint32_t nodeIndex)
{
    const TraceNode& node = m_ranks[rank]->nodes[nodeIndex];
    if (node.peer >= GetNRanks() || node.peer == rank)
    {
        Fail(NodeText(rank, nodeIndex) + ": rank " + std::to_string(rank) +
             (isSend ? " cannot send to rank " : " cannot receive from rank ") +
             std::to_string(node.peer) + "; the job has " + std::to_string(GetNRanks()) + " ranks");
    }
    const DeviceId sender = isSend ? rank : node.peer;
    const DeviceId receiver = isSend ? node.peer : rank;
    Messages& messages = m_messages[{sender, receiver, node.tag}];
    (isSend ? messages.sends : messages.receives).push_back(nodeIndex);
}

void
TraceGraph::AddParts(DeviceId rank, const std::vector<uint32_t>& order)
{
    const auto& nodes = m_ranks[rank]->nodes;
    auto& partOf = m_partOf[rank];
    partOf.assign(nodes.size(), NO_ID);
    std::vector<bool> hasBefore(nodes.size(), false);
    std::vector<bool> hasAfter(nodes.size(), false);
    for (const auto& [after, before] : m_ranks[rank]->dependencies)
    {
        hasBefore[after] = true;
        hasAfter[before] = true;
    }
    const auto add = [&](uint32_t i) {
        partOf[i] = static_cast<uint32_t>(m_parts.size());
        m_parts.push_back({rank, i, 0, NO_ID, -1});
    };
    for (const uint32_t i : order)
    {
        switch (nodes[i].kind)
        {
        case TraceNode::Kind::JOIN:
            if (hasBefore[i] && hasAfter[i])
            {
                add(i);
            }
            break;
        case TraceNode::Kind::COMPUTE:
            add(i);
            break;
        case TraceNode::Kind::COLLECTIVE:
            partOf[i] = JoinCollective(rank, i);
            break;
        case TraceNode::Kind::SEND:
            add(i);
            AddMessage(rank, true, i);
            break;
        case TraceNode::Kind::RECEIVE:
            if (hasBefore[i] && hasAfter[i])
            {
                add(i);
            }
            AddMessage(rank, false, i);
            break;
        }
    }
}

void
TraceGraph::JoinMessages()
{
    for (const auto& [key, messages] : m_messages)
    {
        const auto [sender, receiver, tag] = key;
        if (messages.sends.size() != messages.receives.size())
        {
            Fail(m_name + ": " + RankText(sender) + " sends " +
                 std::to_string(messages.sends.size()) + " messages with tag " +
                 std::to_string(tag) + " to " + RankText(receiver) + ", which receives " +
                 std::to_string(messages.receives.size()));
        }
        for (std::size_t i = 0; i < messages.sends.size(); i++)
        {
            const TraceNode& send = m_ranks[sender]->nodes[messages.sends[i]];
            const TraceNode& receive = m_ranks[receiver]->nodes[messages.receives[i]];
            if (receive.bytes != 0 && receive.bytes != send.bytes)
            {
                Fail(NodeText(sender, messages.sends[i]) + " sends " + std::to_string(send.bytes) +
                     " bytes, but " + NodeText(receiver, messages.receives[i]) + " receives " +
                     std::to_string(receive.bytes));
            }
            const uint32_t part = m_partOf[sender][messages.sends[i]];
            uint32_t& ofReceive = m_partOf[receiver][messages.receives[i]];
            if (ofReceive == NO_ID)
            {
                ofReceive = part;
            }
            else
            {
                m_parts[ofReceive].sender = part;
            }
        }
    }
}

void
TraceGraph::CheckGroups() const
{
    for (const Group& group : m_groups)
    {
        for (const DeviceId rank : group.ranks)
        {
            const auto found = group.seen.find(rank);
            const std::size_t n = found == group.seen.end() ? 0 : found->second;
            if (n != group.parts.size())
            {
                const Part& missing = m_parts[group.parts[n]];
                Fail(m_name + ": " + GroupText(group) + ": " + RankText(rank) + " takes part in " +
                     std::to_string(n) + " of its " + std::to_string(group.parts.size()) +
                     " collectives; the first that it misses is " +
                     NodeText(missing.rank, missing.node));
            }
        }
    }
}

std::vector<std::vector<uint32_t>>
TraceGraph::ListParts() const
{
    std::vector<std::vector<uint32_t>> lists(GetNRanks());
    for (DeviceId rank = 0; rank < GetNRanks(); rank++)
    {
        const auto& nodes = m_ranks[rank]->nodes;
        std::vector<uint32_t> positions(nodes.size());
        std::iota(positions.begin(), positions.end(), 0U);
        std::stable_sort(positions.begin(), positions.end(), [&](uint32_t a, uint32_t b) {
            return nodes[a].id < nodes[b].id;
        });
        for (const uint32_t i : positions)
        {
            const uint32_t part = m_partOf[rank][i];
            const bool isBareReceive = nodes[i].kind == TraceNode::Kind::RECEIVE && part != NO_ID &&
                                       m_parts[part].sender == NO_ID;
            if (part != NO_ID && !isBareReceive)
            {
                lists[rank].push_back(part);
            }
        }
    }
    return lists;
}

void
TraceGraph::AddTask(uint32_t index)
{
    Part& part = m_parts[index];
    const TraceNode& node = GetNode(part);
    Task task;
    task.phase = m_phase;
    task.stream = node.stream;
    switch (node.kind)
    {
    case TraceNode::Kind::JOIN:
    case TraceNode::Kind::RECEIVE: // what waits for the message and for more
        if (!m_hasControl)
        {
            m_hasControl = true;
            m_control = m_builder.AddStream("(joins)", StreamOrder::READY);
        }
        task.stream = m_control;
        task.kind = TaskKind::COMPUTE;
        task.place = part.rank;
        task.durationPs = 0;
        break;
    case TraceNode::Kind::COMPUTE:
        task.kind = TaskKind::COMPUTE;
        task.place = part.rank;
        task.durationPs = node.durationPs;
        if (node.durationPs < 0)
        {
            task.flops = node.flops;
            task.bytes = node.bytes;
            task.dataType = node.dataType;
        }
        break;
    case TraceNode::Kind::COLLECTIVE: {
        const Group& group = m_groups[node.peer];
        task.kind = TaskKind::COMMUNICATION;
        task.place = m_builder.AddGroup(group.ranks);
        task.parallelism = group.parallelism;
        task.collective = node.collective;
        task.bytes = node.bytes;
        if (HasRoot(node.collective))
        {
            const auto root = std::find(group.ranks.begin(), group.ranks.end(), node.root);
            if (root == group.ranks.end() || root - group.ranks.begin() > UINT16_MAX)
            {
                Fail(NodeText(part.rank, part.node) + ": its root, rank " +
                     std::to_string(node.root) + ", is not in " + GroupText(group));
            }
            task.root = static_cast<uint16_t>(root - group.ranks.begin());
        }
        break;
    }
    case TraceNode::Kind::SEND:
        task.kind = TaskKind::COMMUNICATION;
        task.collective = Collective::SEND_RECV;
        task.place = m_builder.AddGroup({part.rank, node.peer});
        task.bytes = node.bytes;
        break;
    }
    part.task = m_builder.AddTask(task, m_names[node.name]);
}

std::unordered_map<uint32_t, std::vector<uint32_t>>
TraceGraph::FindBeforeSends(DeviceId rank) const
{
    const auto& nodes = m_ranks[rank]->nodes;
    std::unordered_map<uint32_t, std::vector<uint32_t>> beforeSend;
    for (const auto& [after, before] : m_ranks[rank]->dependencies)
    {
        if (nodes[after].kind == TraceNode::Kind::RECEIVE &&
            nodes[before].kind == TraceNode::Kind::SEND)
        {
            beforeSend[before];
        }
    }
    for (const auto& [after, before] : m_ranks[rank]->dependencies)
    {
        const auto found = beforeSend.find(after);
        if (found != beforeSend.end())
        {
            found->second.push_back(before);
        }
    }
    return beforeSend;
}

void
TraceGraph::AddDependencies(DeviceId rank)
{
    const auto& nodes = m_ranks[rank]->nodes;
    const auto& partOf = m_partOf[rank];
    const auto isReceive = [&](uint32_t i) { return nodes[i].kind == TraceNode::Kind::RECEIVE; };
    const auto depend = [&](uint32_t after, uint32_t before) {
        if (partOf[after] != NO_ID && partOf[before] != NO_ID)
        {
            m_builder.AddDependency(m_parts[partOf[before]].task, m_parts[partOf[after]].task);
        }
    };
    const auto beforeSend = FindBeforeSends(rank);
    for (const auto& [after, before] : m_ranks[rank]->dependencies)
    {
        if (isReceive(after) && partOf[after] != NO_ID && m_parts[partOf[after]].sender == NO_ID)
        {
            continue; // posted at once, and nothing waits for it
        }
        const auto found = isReceive(after) ? beforeSend.find(before) : beforeSend.end();
        if (found == beforeSend.end())
        {
            depend(after, before);
            continue;
        }
        for (const uint32_t earlier : found->second)
        {
            depend(after, earlier);
        }
    }
    for (uint32_t i = 0; i < nodes.size(); i++)
    {
        if (isReceive(i) && partOf[i] != NO_ID && m_parts[partOf[i]].sender != NO_ID)
        {
            m_builder.AddDependency(m_parts[m_parts[partOf[i]].sender].task,
                                    m_parts[partOf[i]].task);
        }
    }
}

ExecutionGraph
TraceGraph::Build()
{
    uint64_t nNodes = 0;
    for (DeviceId rank = 0; rank < GetNRanks(); rank++)
    {
        if (m_ranks[rank] == nullptr)
        {
            Fail(m_name + ": there is no trace of rank " + std::to_string(rank));
        }
        nNodes += m_ranks[rank]->nodes.size();
    }
    if (nNodes > MAX_TRACE_TASKS)
    {
        Fail(m_name + ": the trace has " + std::to_string(nNodes) + " nodes on " +
             std::to_string(GetNRanks()) + " ranks; the most is " +
             std::to_string(MAX_TRACE_TASKS));
    }
    m_partOf.resize(GetNRanks());
    std::map<const RankTrace*, std::vector<uint32_t>> orders;
    for (DeviceId rank = 0; rank < GetNRanks(); rank++)
    {
        auto found = orders.find(m_ranks[rank].get());
        if (found == orders.end())
        {
            found = orders.emplace(m_ranks[rank].get(), FindIssueOrder(*m_ranks[rank])).first;
        }
        AddParts(rank, found->second);
    }
    orders.clear();
    CheckGroups();
    if (!m_uneven.empty())
    {
        const Part& first = m_parts[*m_uneven.begin()];
        Warn(m_name + ": " + FormatThings(m_uneven.size(), "all-to-all") +
             " with other sizes on other ranks: the largest of each counts, of the first " +
             std::to_string(GetNode(first).bytes) + " bytes, as " +
             NodeText(first.rank, first.node) + " has it");
    }
    JoinMessages();
    for (const uint32_t part : MergeLists(ListParts(), m_parts.size()))
    {
        AddTask(part);
    }
    for (DeviceId rank = 0; rank < GetNRanks(); rank++)
    {
        AddDependencies(rank);
    }
    WorkloadFacts facts;
    facts.name = ToUtf8(m_name);
    m_builder.SetFacts(facts);
    try
    {
        return m_builder.Build();
    }
    catch (const std::invalid_argument& error)
    {
        Fail(m_name + ": " + error.what());
    }
}

Recording
TraceGraph::GetRecording() const
{
    using Kind = std::tuple<Collective, Parallelism, uint64_t, std::size_t>;
    std::map<Kind, RecordedCollective> kinds;
    for (const Part& part : m_parts)
    {
        const TraceNode& node = GetNode(part);
        if (node.kind != TraceNode::Kind::COLLECTIVE || part.recordedPs < 0)
        {
            continue;
        }
        const Group& group = m_groups[node.peer];
        RecordedCollective& sum =
            kinds[{node.collective, group.parallelism, node.bytes, group.ranks.size()}];
        const double s = static_cast<double>(part.recordedPs) * 1e-12;
        sum.leastS = sum.count == 0 ? s : std::min(sum.leastS, s);
        sum.meanS += s;
        ++sum.count;
    }
    Recording recording;
    for (auto& [kind, sum] : kinds)
    {
        std::tie(sum.collective, sum.parallelism, sum.bytes, sum.ranks) = kind;
        sum.meanS /= static_cast<double>(sum.count);
        recording.collectives.push_back(sum);
    }
    return recording;
}

Parallelism
ParallelismFromDescription(const std::string& text)
{
    const std::string lower = boost::algorithm::to_lower_copy(text);
    const auto has = [&](const char* word) { return lower.find(word) != std::string::npos; };
    // Megatron-LM's and PyTorch's names; those of parts of another group come first.
    return has("embedding")                         ? Parallelism::EMBEDDING
           : has("expert") || has("moe")            ? Parallelism::EXPERT
           : has("context") || has("mesh_cp")       ? Parallelism::CONTEXT
           : has("tensor") || has("mesh_tp")        ? Parallelism::TENSOR
           : has("pipeline") || has("mesh_pp")      ? Parallelism::PIPELINE
           : has("data_parallel") || has("mesh_dp") ? Parallelism::DATA
                                                    : Parallelism::NONE;
}

} // namespace proteus
} // namespace ns3
