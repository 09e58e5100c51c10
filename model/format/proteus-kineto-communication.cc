/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-kineto-communication.h"

#include "ns3/proteus-plural.h"
#include "ns3/proteus-shown-name.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace ns3
{
namespace proteus
{
namespace kineto
{

namespace
{

/// Bytes of a barrier's all-reduce.
constexpr uint64_t BARRIER_BYTES = 4;

/// @return bytes of an element, 0 if the type is unknown
uint64_t
SizeOf(const std::string& type)
{
    static const std::unordered_map<std::string, uint64_t> sizes{
        {"Byte", 1},
        {"Char", 1},
        {"Bool", 1},
        {"Short", 2},
        {"Half", 2},
        {"BFloat16", 2},
        {"Int", 4},
        {"Float", 4},
        {"Long", 8},
        {"Double", 8},
        {"ComplexFloat", 8},
        {"ComplexDouble", 16},
        {"ComplexHalf", 4},
        {"Float8_e5m2", 1},
        {"Float8_e4m3fn", 1},
        {"Float8_e5m2fnuz", 1},
        {"Float8_e4m3fnuz", 1},
        {"UInt16", 2},
        {"UInt32", 4},
        {"UInt64", 8},
        // As shapes of operators have them (record_shapes).
        {"unsigned char", 1},
        {"signed char", 1},
        {"char", 1},
        {"bool", 1},
        {"short", 2},
        {"short int", 2},
        {"int", 4},
        {"long", 8},
        {"long int", 8},
        {"long long", 8},
        {"float", 4},
        {"double", 8},
        {"c10::Half", 2},
        {"c10::BFloat16", 2},
        {"c10::complex<float>", 8},
        {"c10::complex<double>", 16},
        {"c10::Float8_e5m2", 1},
        {"c10::Float8_e4m3fn", 1},
    };
    const auto found = sizes.find(type);
    return found == sizes.end() ? 0 : found->second;
}

} // namespace

CommunicationMaker::CommunicationMaker(Rank& events, TraceGraph& graph, bool standsForAll)
    : m_events(events),
      m_graph(graph),
      m_standsForAll(standsForAll)
{
}

void
CommunicationMaker::Fail(const GpuEvent& event, const std::string& cause) const
{
    throw std::invalid_argument(m_events.file + ": kernel " +
                                ShownName(m_events.names[event.name], 60) + " with correlation " +
                                std::to_string(event.correlation) + ": " + cause);
}

std::string
CommunicationMaker::GetName(const Communication& it)
{
    return it.collective.substr(
        std::min(it.collective.find_first_not_of('_'), it.collective.size()));
}

Collective
CommunicationMaker::FindCollective(const GpuEvent& event, const Communication& it) const
{
    static const std::vector<std::pair<const char*, Collective>> names{
        // The longer ones first: a name is known by how it begins, after underscores.
        {"allreduce", Collective::ALL_REDUCE},
        {"all_reduce", Collective::ALL_REDUCE},
        {"barrier", Collective::ALL_REDUCE},
        {"allgather", Collective::ALL_GATHER},
        {"all_gather", Collective::ALL_GATHER},
        {"reduce_scatter", Collective::REDUCE_SCATTER},
        {"all_to_all", Collective::ALL_TO_ALL},
        {"alltoall", Collective::ALL_TO_ALL},
        {"broadcast", Collective::BROADCAST},
        {"reduce", Collective::REDUCE},
        {"gather", Collective::GATHER},
        {"scatter", Collective::SCATTER},
        {"send", Collective::SEND_RECV},
        {"recv", Collective::SEND_RECV},
    };
    const std::string name = GetName(it);
    const auto found = std::find_if(names.begin(), names.end(), [&](const auto& entry) {
        return BeginsWith(name, entry.first);
    });
    if (found == names.end())
    {
        Fail(event,
             "the unknown collective " + QuotedText(it.collective) +
                 "; known are allreduce, allgather, reduce_scatter, all_to_all, broadcast, "
                 "reduce, gather, scatter, barrier, send and recv");
    }
    return found->second;
}

uint64_t
CommunicationMaker::GetElementBytes(const GpuEvent& event, const Communication& it) const
{
    const uint64_t size = SizeOf(it.type);
    if (size == 0 && it.inElements + it.outElements > 0)
    {
        Fail(event,
             it.type.empty() ? "it does not tell the type of its elements (dtype)"
                             : "the unknown dtype " + QuotedText(it.type));
    }
    return size;
}

uint64_t
CommunicationMaker::MultiplyBytes(const GpuEvent& event, uint64_t bytes, uint64_t n) const
{
    if (bytes > std::numeric_limits<uint64_t>::max() / n)
    {
        Fail(event,
             std::to_string(bytes) + " bytes of each of " + FormatThings(n, "rank") +
                 " are too many");
    }
    return bytes * n;
}

void
CommunicationMaker::Set(const GpuEvent& event, TraceNode& node)
{
    const Communication& it = m_events.communications[event.communication];
    const std::string name = GetName(it);
    node.collective = FindCollective(event, it);
    const uint64_t size = GetElementBytes(event, it);
    const uint64_t inBytes = it.inElements * size;
    const uint64_t outBytes = it.outElements * size;
    if (node.collective == Collective::SEND_RECV)
    {
        SetMessage(event, it, name[0] == 's', std::max(inBytes, outBytes), node);
        return;
    }
    std::vector<DeviceId> ranks = FindRanks(event, it);
    const uint64_t n = ranks.size();
    CheckSizes(it, node.collective, n);
    switch (node.collective)
    {
    case Collective::ALL_GATHER:
    case Collective::GATHER:
        node.bytes = MultiplyBytes(event, inBytes, n);
        break;
    case Collective::SCATTER:
        node.bytes = MultiplyBytes(event, outBytes, n);
        break;
    default:
        node.bytes = inBytes > 0 ? inBytes : outBytes;
        break;
    }
    if (node.bytes == 0)
    {
        if (name.rfind("barrier", 0) != 0)
        {
            ++m_events.nEmpty;
            node.kind = TraceNode::Kind::JOIN; // nothing to move
            return;
        }
        node.bytes = BARRIER_BYTES;
    }
    node.kind = TraceNode::Kind::COLLECTIVE;
    node.root = ranks.front();
    if (HasRoot(node.collective))
    {
        const auto root = it.source ? it.source : it.destination;
        node.root = root ? static_cast<uint32_t>(*root) : node.root;
        m_events.nRootless += root ? 0 : 1;
    }
    m_events.nUneven += node.collective == Collective::ALL_TO_ALL && it.isUneven ? 1 : 0;
    node.peer = m_graph.AddGroup(it.group, ranks, ParallelismFromDescription(it.description));
}

void
CommunicationMaker::CheckSizes(const Communication& it, Collective collective, uint64_t n)
{
    const bool isGather = collective == Collective::ALL_GATHER || collective == Collective::GATHER;
    const bool isScatter =
        collective == Collective::REDUCE_SCATTER || collective == Collective::SCATTER;
    // Unequal splits are named by themselves.
    const bool isExchange = collective == Collective::ALL_TO_ALL && !it.isUneven;
    // With one side only, there is nothing to compare: of a gather and a scatter only the root has
    // both.
    if ((!isGather && !isScatter && !isExchange) || it.inElements == 0 || it.outElements == 0)
    {
        return;
    }
    const uint64_t whole = isGather ? it.outElements : it.inElements;
    const uint64_t part = isGather ? it.inElements : it.outElements;
    const uint64_t parts = isExchange ? 1 : n;
    if (whole / parts != part || whole % parts != 0)
    {
        const bool isInTaken = collective != Collective::SCATTER;
        m_events.exampleOddSize =
            m_events.nOddSizes == 0
                ? ShownName(it.collective) + " of " + FormatThings(n, "rank") + ", with " +
                      std::to_string(it.inElements) + " in and " + std::to_string(it.outElements) +
                      " out, of which the " + (isInTaken ? "former" : "latter")
                : m_events.exampleOddSize;
        ++m_events.nOddSizes;
    }
}

std::vector<DeviceId>
CommunicationMaker::FindRanks(const GpuEvent& event, const Communication& it) const
{
    std::vector<DeviceId> ranks = it.ranks;
    const auto group = m_events.groups.find(it.group);
    if (ranks.empty())
    {
        ranks = group == m_events.groups.end() ? ranks : group->second;
    }
    else if (group != m_events.groups.end() && !group->second.empty() && ranks != group->second)
    {
        m_events.oddGroup = it.group;
        ++m_events.nOddGroups;
    }
    if (!ranks.empty() && it.groupSize != 0 && it.groupSize != ranks.size())
    {
        Fail(event,
             "its process group " + QuotedText(it.group) + " has " +
                 FormatThings(ranks.size(), "rank") + " by its list and " +
                 std::to_string(it.groupSize) + " by its size (Group size)");
    }
    if (ranks.empty())
    {
        const uint64_t size = it.groupSize == 0 ? m_graph.GetNRanks() : it.groupSize;
        if (size != m_graph.GetNRanks())
        {
            Fail(event,
                 "its process group " + QuotedText(it.group) + " has " + std::to_string(size) +
                     " of " + std::to_string(m_graph.GetNRanks()) +
                     " ranks, but the trace does not tell which (Process Group Ranks, "
                     "or pg_config in distributedInfo)");
        }
        for (DeviceId rank = 0; rank < m_graph.GetNRanks(); rank++)
        {
            ranks.push_back(rank);
        }
    }
    if (m_standsForAll && ranks.size() != m_graph.GetNRanks())
    {
        Fail(event,
             "its process group has " + std::to_string(ranks.size()) + " of " +
                 std::to_string(m_graph.GetNRanks()) +
                 " ranks; the trace of one rank can stand for all only if every "
                 "collective is among all");
    }
    return ranks;
}

void
CommunicationMaker::SetMessage(const GpuEvent& event,
                               const Communication& it,
                               bool isSend,
                               uint64_t bytes,
                               TraceNode& node)
{
    const auto peer = isSend ? it.destination : it.source;
    if (!peer)
    {
        Fail(event,
             isSend ? "it does not tell where it sends to (Dst Rank)"
                    : "it does not tell where it receives from (Src Rank)");
    }
    if (m_standsForAll)
    {
        Fail(event,
             "it is a message; the trace of one rank can stand for all only if it has "
             "none");
    }
    const auto own = isSend ? it.source : it.destination;
    if (own && m_events.rank && *own != *m_events.rank)
    {
        m_events.exampleOther =
            m_events.nOthers == 0
                ? std::string(isSend ? "a send (Src Rank " : "a receive (Dst Rank ") +
                      std::to_string(*own) + ") in that of rank " + std::to_string(*m_events.rank)
                : m_events.exampleOther;
        ++m_events.nOthers;
    }
    if (bytes == 0)
    {
        node.kind = TraceNode::Kind::JOIN;
        return;
    }
    node.kind = isSend ? TraceNode::Kind::SEND : TraceNode::Kind::RECEIVE;
    node.peer = static_cast<uint32_t>(*peer);
    node.bytes = bytes;
}

} // namespace kineto
} // namespace proteus
} // namespace ns3
