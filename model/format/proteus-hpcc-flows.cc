/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-hpcc-flows.h"

#include "proteus-hpcc-words.h"

#include "ns3/proteus-split.h"

#include <algorithm>
#include <set>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr uint64_t MAX_FLOWS = 0x7fffffff;
constexpr uint64_t MAX_BYTES = uint64_t{1} << 50;
constexpr uint64_t MAX_NODE = 0xfffffffe;
constexpr std::size_t COLUMNS = 6; //!< of a line without an id

/// @param cluster any @return whether its vertices are called by their ids, as text topologies do
bool
HasNodeIds(const Cluster& cluster)
{
    const auto& vertices = cluster.GetVertices();
    for (VertexId id = 0; id < vertices.size(); ++id)
    {
        if (vertices[id].name != "node" + std::to_string(id))
        {
            return false;
        }
    }
    return true;
}

/// Reads the lines behind the first.
class Reader
{
  public:
    Reader(TextReader& reader, const Cluster& cluster)
        : m_words(reader),
          m_cluster(cluster),
          m_hasNodeIds(HasNodeIds(cluster))
    {
    }

    std::vector<FlowSpec> Read(const std::string& first)
    {
        const HpccWord head = m_words.Split(first).front();
        const uint64_t count = m_words.ToWhole(head, "the number of flows", MAX_FLOWS);
        if (count == 0)
        {
            m_words.Fail(head.line, "there is no flow in the file");
        }
        std::vector<FlowSpec> flows;
        std::set<std::string> ids;
        while (flows.size() < count)
        {
            const std::vector<HpccWord> line = m_words.NextLine();
            if (line.empty())
            {
                m_words.Fail(head.line,
                             "there are " + std::to_string(flows.size()) + " flows, not " +
                                 std::to_string(count));
            }
            flows.push_back(ReadFlow(line, flows.size()));
            if (!ids.insert(flows.back().id).second)
            {
                m_words.Fail(line.front().line,
                             "the id " + HpccWords::Shown(line.front()) + " is used already");
            }
        }
        m_words.WarnOfRest(count, "flow");
        if (m_priorityGroups.size() > 1)
        {
            m_words.Warn(head.line,
                         "the flows are of " + std::to_string(m_priorityGroups.size()) +
                             " priority groups; here all have one traffic class");
        }
        return flows;
    }

  private:
    /// @param word a node @return its rank
    uint32_t ToRank(const HpccWord& word) const
    {
        const auto& gpus = m_cluster.GetGpus();
        const uint64_t node = m_words.ToWhole(word, "an end of a flow", MAX_NODE);
        if (!m_hasNodeIds)
        {
            if (node >= gpus.size())
            {
                m_words.Fail(word.line,
                             "there is no rank " + std::to_string(node) + ": the cluster has " +
                                 std::to_string(gpus.size()) + " GPUs");
            }
            return static_cast<uint32_t>(node);
        }
        const auto found = std::find(gpus.begin(), gpus.end(), static_cast<VertexId>(node));
        if (found == gpus.end())
        {
            m_words.Fail(word.line,
                         "node " + std::to_string(node) + " is no host of " + m_cluster.GetName());
        }
        return static_cast<uint32_t>(found - gpus.begin());
    }

    /// @param line its words @param position of the flow, its id if the line has none
    FlowSpec ReadFlow(const std::vector<HpccWord>& line, std::size_t position)
    {
        if (line.size() != COLUMNS && line.size() != COLUMNS + 1)
        {
            m_words.Fail(line.front().line,
                         std::to_string(line.size()) +
                             " words instead of 'src dst pg dport size start' or 'id src dst pg "
                             "dport size start'");
        }
        const std::size_t at = line.size() - COLUMNS;
        FlowSpec flow;
        flow.id = at == 1 ? line[0].text : std::to_string(position);
        flow.source = ToRank(line[at]);
        flow.destination = ToRank(line[at + 1]);
        if (flow.source == flow.destination)
        {
            m_words.Fail(line[at].line, "a flow from node " + line[at].text + " to itself");
        }
        m_priorityGroups.insert(m_words.ToWhole(line[at + 2], "the priority group", 0xff));
        m_words.ToWhole(line[at + 3], "the port", 0xffff);
        flow.bytes = m_words.ToWhole(line[at + 4], "the size", MAX_BYTES);
        if (flow.bytes == 0)
        {
            m_words.Fail(line[at].line, "a flow of no bytes");
        }
        flow.startPs = m_words.ToPicoseconds(line[at + 5], "the start");
        return flow;
    }

    HpccWords m_words;
    const Cluster& m_cluster;
    const bool m_hasNodeIds;
    std::set<uint64_t> m_priorityGroups; //!< of all flows
};

} // namespace

bool
IsHpccFlowCount(const std::string& line)
{
    const std::string text = Trim(line.substr(0, line.find('#')));
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

std::vector<FlowSpec>
ReadHpccFlows(TextReader& reader, const std::string& first, const Cluster& cluster)
{
    return Reader(reader, cluster).Read(first);
}

} // namespace proteus
} // namespace ns3
