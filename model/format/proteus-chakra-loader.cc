/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-chakra.h"
#include "proteus-graph-protobuf.h"
#include "proteus-input-file.h"
#include "proteus-trace-order.h"

#include "ns3/proteus-json.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr int64_t PS_PER_US = 1000000;
/// What a node without any duration lasts, as in ASTRA-sim.
constexpr int64_t NO_DURATION_PS = 1000;
/// Bytes of a barrier's all-reduce.
constexpr uint64_t BARRIER_BYTES = 4;

/// Makes a graph of files that other programs wrote.
class TraceLoader
{
  public:
    TraceLoader(const std::string& name, const TraceOptions& options)
        : m_name(name),
          m_options(options)
    {
    }

    ExecutionGraph Load(const std::vector<TraceFile>& files)
    {
        if (!m_options.groupFile.empty())
        {
            ReadGroupFile();
        }
        for (const TraceFile& file : files)
        {
            ReadRank(file);
        }
        const uint32_t nRanks = FindNRanks();
        TraceGraph graph(nRanks, m_name);
        m_streams = {graph.AddStream("cpu", StreamOrder::READY, true),
                     graph.AddStream("compute", StreamOrder::READY),
                     graph.AddStream("communication", StreamOrder::READY)};
        for (std::size_t i = 0; i < m_ranks.size(); i++)
        {
            Finish(graph, i);
        }
        for (DeviceId rank = 0; rank < nRanks; rank++)
        {
            graph.SetRank(rank, m_ranks[m_ranks.size() == 1 ? 0 : rank].trace);
        }
        m_ranks.clear();
        return graph.Build();
    }

  private:
    /// Where nodes run; position in m_streams.
    enum Lane : StreamId
    {
        CPU,
        COMPUTE,
        COMMUNICATION,
    };

    /// A rank while it is being read: streams are lanes, names and groups are local.
    struct Rank
    {
        std::shared_ptr<RankTrace> trace{std::make_shared<RankTrace>()};
        std::vector<std::string> groups;        //!< names, by what nodes call them
        std::map<std::string, uint32_t> places; //!< where a name is in `groups`
    };

    /// What the trace says of a process group.
    struct Group
    {
        std::vector<DeviceId> ranks; //!< empty: all
        Parallelism parallelism{Parallelism::NONE};
    };

    void ReadGroupFile()
    {
        InputFile file(m_options.groupFile);
        const JsonDocument document(file.GetStream(), file.GetName());
        const JsonValue root = document.GetRoot();
        for (const std::string& name : root.GetKeys())
        {
            const JsonValue list = root.Get(name.c_str());
            Group group;
            for (std::size_t i = 0; i < list.Size(); i++)
            {
                group.ranks.push_back(
                    static_cast<DeviceId>(list.At(i).AsUnsigned(0, MAX_DEVICES - 1)));
            }
            m_groups[name] = group;
        }
    }

    /// The operands of CHAKRA_GROUP_NODE: JSON, or JSON in a string in a list, as Python prints it.
    void ReadGroupNode(const std::string& where, const ChakraNode& node)
    {
        const std::size_t begin = node.inputValues.find("[{");
        const std::size_t end = node.inputValues.rfind("}]");
        if (begin == std::string::npos || end == std::string::npos || end < begin)
        {
            return; // no groups
        }
        std::string text;
        bool wasEscape = false;
        for (std::size_t i = begin; i < end + 2; i++)
        {
            const bool isEscape = node.inputValues[i] == '\\' && !wasEscape;
            if (!isEscape)
            {
                text += node.inputValues[i];
            }
            wasEscape = isEscape;
        }
        const auto json = nlohmann::json::parse(text, nullptr, false);
        if (!json.is_array())
        {
            throw std::invalid_argument(where + ": the process groups are no JSON list");
        }
        for (const auto& entry : json)
        {
            AddGroup(where, entry);
        }
    }

    void AddGroup(const std::string& where, const nlohmann::json& entry)
    {
        const auto name = entry.is_object() ? entry.find("pg_name") : entry.end();
        if (!entry.is_object() || name == entry.end() ||
            !(name->is_string() || name->is_number_integer()))
        {
            throw std::invalid_argument(where + ": a process group has no pg_name");
        }
        Group group;
        const auto ranks = entry.find("ranks");
        if (ranks != entry.end() && ranks->is_array())
        {
            for (const auto& rank : *ranks)
            {
                if (!rank.is_number_unsigned() || rank.get<uint64_t>() >= MAX_DEVICES)
                {
                    throw std::invalid_argument(
                        where + ": a process group has the rank " +
                        rank.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) +
                        ", which is none");
                }
                group.ranks.push_back(rank.get<DeviceId>());
                m_knownRanks = std::max(m_knownRanks, group.ranks.back() + 1);
            }
        }
        const auto description = entry.find("pg_desc");
        if (description != entry.end() && description->is_string())
        {
            group.parallelism = ParallelismFromDescription(description->get<std::string>());
        }
        const auto size = entry.find("group_size");
        if (group.ranks.empty() && size != entry.end() && size->is_number_unsigned() &&
            size->get<uint64_t>() <= MAX_DEVICES)
        {
            m_knownRanks = std::max(m_knownRanks, size->get<uint32_t>());
        }
        m_groups[name->is_string() ? name->get<std::string>() : name->dump()] = group;
    }

    uint32_t FindNRanks() const
    {
        const auto nFiles = static_cast<uint32_t>(m_ranks.size());
        if (nFiles > 1)
        {
            if (m_options.ranks != 0 && m_options.ranks != nFiles)
            {
                throw std::invalid_argument(m_name + ": the trace has files of " +
                                            std::to_string(nFiles) + " ranks, not of " +
                                            std::to_string(m_options.ranks));
            }
            return nFiles;
        }
        return m_options.ranks != 0 ? m_options.ranks
               : m_knownRanks != 0  ? m_knownRanks
                                    : std::max(m_options.availableRanks, 1U);
    }

    void ReadRank(const TraceFile& file)
    {
        m_ranks.emplace_back();
        Rank& rank = m_ranks.back();
        RankTrace& trace = *rank.trace;
        trace.file = file.name;
        const auto in = file.open();
        ChakraReader reader(*in, file.name);
        std::unordered_map<uint64_t, uint32_t> places;     // of nodes, by id
        std::vector<std::pair<uint32_t, uint64_t>> wanted; // (node, id), data dependencies
        std::vector<std::pair<uint32_t, uint64_t>> hoped;  // the same, control dependencies
        bool isFromPyTorch = false;
        ChakraNode node;
        while (reader.Read(node))
        {
            const auto where = [&] {
                return file.name + ": byte " + std::to_string(reader.GetPosition()) + ": node " +
                       std::to_string(node.id);
            };
            const auto place = static_cast<uint32_t>(trace.nodes.size());
            if (!places.emplace(node.id, place).second)
            {
                throw std::invalid_argument(where() + " is there twice");
            }
            if (++m_nNodes > MAX_TRACE_TASKS)
            {
                throw std::invalid_argument(where() + " is one too many; a trace has at most " +
                                            std::to_string(MAX_TRACE_TASKS) + " nodes");
            }
            if (node.name == CHAKRA_GROUP_NODE)
            {
                ReadGroupNode(where(), node);
            }
            for (const uint64_t id : node.dataDependencies)
            {
                wanted.emplace_back(place, id);
            }
            for (const uint64_t id : node.controlDependencies)
            {
                hoped.emplace_back(place, id);
            }
            isFromPyTorch |= node.isFromPyTorch;
            trace.nodes.push_back(ToTraceNode(rank, node));
        }
        for (const auto& [after, id] : wanted)
        {
            const auto before = places.find(id);
            if (before == places.end())
            {
                throw std::invalid_argument(file.name + ": node " +
                                            std::to_string(trace.nodes[after].id) +
                                            " depends on the data of node " + std::to_string(id) +
                                            ", which is not in the file");
            }
            trace.dependencies.emplace_back(after, before->second);
        }
        const std::size_t nData = trace.dependencies.size();
        for (const auto& [after, id] : hoped)
        {
            const auto before = places.find(id);
            if (before != places.end())
            {
                trace.dependencies.emplace_back(after, before->second);
            }
        }
        auto& all = trace.dependencies;
        if (isFromPyTorch && all.size() > nData && HasCycle(trace))
        {
            all.resize(nData);
        }
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        all.shrink_to_fit();
    }

    TraceNode ToTraceNode(Rank& rank, const ChakraNode& node)
    {
        TraceNode result;
        result.id = node.id;
        result.name =
            m_nameIndex.emplace(node.name, static_cast<uint32_t>(m_names.size())).first->second;
        if (result.name == m_names.size())
        {
            m_names.push_back(node.name);
        }
        const auto durationPs = static_cast<int64_t>(node.durationMicros) * PS_PER_US;
        const auto setFixed = [&](Lane lane) {
            result.kind = TraceNode::Kind::COMPUTE;
            result.stream = lane;
            result.durationPs = durationPs > 0 ? durationPs : NO_DURATION_PS;
        };
        const auto setCost = [&](Lane lane) {
            result.kind = TraceNode::Kind::COMPUTE;
            result.stream = lane;
            result.durationPs = -1;
            result.flops = node.flops;
            result.bytes = node.tensorBytes;
            result.dataType = m_options.dataType;
        };
        switch (node.type)
        {
        case ChakraNodeType::INVALID:
        case ChakraNodeType::METADATA:
            return result;
        case ChakraNodeType::MEM_LOAD:
        case ChakraNodeType::MEM_STORE:
            node.durationMicros == 0 && node.tensorBytes > 0 ? setCost(COMMUNICATION)
                                                             : setFixed(COMMUNICATION);
            return result;
        case ChakraNodeType::COMP: {
            const bool isTimed = node.flops > 0 && (node.durationMicros == 0 ||
                                                    (m_options.isRoofline && node.tensorBytes > 0));
            const Lane lane = node.isCpu ? CPU : COMPUTE;
            isTimed && !node.isCpu ? setCost(lane) : setFixed(lane);
            return result;
        }
        default:
            break;
        }
        if (node.isCpu)
        {
            setFixed(CPU);
            return result;
        }
        result.stream = COMMUNICATION;
        result.bytes = node.bytes;
        if (node.type == ChakraNodeType::COMM_COLL)
        {
            SetCollective(rank, node, result, durationPs);
            return result;
        }
        const bool isSend = node.type == ChakraNodeType::COMM_SEND;
        const auto own = static_cast<uint32_t>(m_ranks.size() - 1);
        result.kind = isSend ? TraceNode::Kind::SEND : TraceNode::Kind::RECEIVE;
        result.peer = (isSend ? node.destination : node.source).value_or(own);
        result.tag = static_cast<uint64_t>(node.tag);
        result.bytes = node.bytes > 0 ? node.bytes : node.tensorBytes;
        if (result.bytes == 0 && isSend)
        {
            throw std::invalid_argument(rank.trace->file + ": node " + std::to_string(node.id) +
                                        " sends 0 bytes");
        }
        return result;
    }

    void SetCollective(Rank& rank, const ChakraNode& node, TraceNode& result, int64_t durationPs)
    {
        result.root = node.root;
        switch (node.collective)
        {
        case ChakraCollective::ALL_REDUCE:
            break;
        case ChakraCollective::REDUCE:
            result.collective = Collective::REDUCE;
            break;
        case ChakraCollective::ALL_GATHER:
            result.collective = Collective::ALL_GATHER;
            break;
        case ChakraCollective::GATHER:
            result.collective = Collective::GATHER;
            break;
        case ChakraCollective::SCATTER:
            result.collective = Collective::SCATTER;
            break;
        case ChakraCollective::BROADCAST:
            result.collective = Collective::BROADCAST;
            break;
        case ChakraCollective::ALL_TO_ALL:
            result.collective = Collective::ALL_TO_ALL;
            break;
        case ChakraCollective::REDUCE_SCATTER:
        case ChakraCollective::REDUCE_SCATTER_BLOCK:
            result.collective = Collective::REDUCE_SCATTER;
            break;
        case ChakraCollective::BARRIER:
            result.bytes = BARRIER_BYTES;
            break;
        }
        if (result.bytes == 0)
        {
            result.kind = durationPs > 0 ? TraceNode::Kind::COMPUTE : TraceNode::Kind::JOIN;
            result.durationPs = durationPs;
            return;
        }
        result.kind = TraceNode::Kind::COLLECTIVE;
        result.peer =
            rank.places.emplace(node.processGroup, static_cast<uint32_t>(rank.groups.size()))
                .first->second;
        if (result.peer == rank.groups.size())
        {
            rank.groups.push_back(node.processGroup);
        }
    }

    /// @return the ranks of a group @param name of it @param user who wants to know
    Group FindGroup(const std::string& name, const std::string& user, uint32_t nRanks) const
    {
        const auto found = m_groups.find(name);
        if (found == m_groups.end() && !name.empty() && name != "0")
        {
            std::string known;
            for (const auto& entry : m_groups)
            {
                known += (known.empty() ? " '" : ", '") + entry.first + "'";
            }
            throw std::invalid_argument(
                user + ": there is no process group '" + name + "'; " +
                (known.empty() ? std::string("the trace names none") : "known are" + known) +
                "; a file {\"NAME\": [RANK, ...]} can say who is in it");
        }
        Group group = found == m_groups.end() ? Group() : found->second;
        if (group.ranks.empty())
        {
            for (DeviceId rank = 0; rank < nRanks; rank++)
            {
                group.ranks.push_back(rank);
            }
        }
        return group;
    }

    /// Turns what is local to a rank into what the graph has.
    void Finish(TraceGraph& graph, std::size_t place)
    {
        Rank& rank = m_ranks[place];
        std::vector<uint32_t> ids;
        std::vector<std::size_t> sizes;
        for (const std::string& name : rank.groups)
        {
            const Group group = FindGroup(name, rank.trace->file, graph.GetNRanks());
            if (m_ranks.size() == 1 && group.ranks.size() != graph.GetNRanks())
            {
                throw std::invalid_argument(
                    rank.trace->file + ": process group '" + name + "' has " +
                    std::to_string(group.ranks.size()) + " of " +
                    std::to_string(graph.GetNRanks()) +
                    " ranks; the trace of one rank can stand for all only if every collective is "
                    "among all");
            }
            ids.push_back(graph.AddGroup(name, group.ranks, group.parallelism));
            sizes.push_back(group.ranks.size());
        }
        for (TraceNode& node : rank.trace->nodes)
        {
            node.name = graph.AddName(m_names[node.name]);
            node.stream = m_streams[node.stream];
            const bool isMessage =
                node.kind == TraceNode::Kind::SEND || node.kind == TraceNode::Kind::RECEIVE;
            if (isMessage && m_ranks.size() == 1 && graph.GetNRanks() > 1)
            {
                throw std::invalid_argument(
                    rank.trace->file + ": node " + std::to_string(node.id) +
                    " is a message; the trace of one rank can stand for all only if it has none");
            }
            if (node.kind != TraceNode::Kind::COLLECTIVE)
            {
                continue;
            }
            const std::size_t size = sizes[node.peer];
            node.peer = ids[node.peer];
            if (node.collective == Collective::ALL_GATHER || node.collective == Collective::GATHER)
            {
                if (node.bytes > std::numeric_limits<uint64_t>::max() / size)
                {
                    throw std::invalid_argument(rank.trace->file + ": node " +
                                                std::to_string(node.id) + ": " +
                                                std::to_string(node.bytes) + " bytes of each of " +
                                                std::to_string(size) + " ranks are too many");
                }
                node.bytes *= size;
            }
        }
    }

    const std::string& m_name;
    const TraceOptions& m_options;
    std::vector<StreamId> m_streams; //!< by lane
    std::vector<Rank> m_ranks;
    std::map<std::string, Group> m_groups;
    uint32_t m_knownRanks{0}; //!< as far as process groups tell
    uint64_t m_nNodes{0};
    std::vector<std::string> m_names;
    std::unordered_map<std::string, uint32_t> m_nameIndex;
};

/// Reads back what WriteChakra() wrote. @param head the graph without its tasks
ExecutionGraph
ReadBack(const std::vector<TraceFile>& files, const std::string& name, const ExecutionGraph& head)
{
    struct Named
    {
        ChakraTask task;
        std::string name;
    };

    if (files.size() != head.GetNDevices())
    {
        throw std::invalid_argument(name + ": the graph has " + std::to_string(head.GetNDevices()) +
                                    " devices, but there are files of " +
                                    std::to_string(files.size()));
    }
    std::vector<Named> tasks;
    for (const TraceFile& file : files)
    {
        const auto in = file.open();
        ChakraReader reader(*in, file.name);
        ChakraNode node;
        while (reader.Read(node))
        {
            if (node.task)
            {
                tasks.push_back({std::move(*node.task), std::move(node.name)});
            }
        }
    }
    std::sort(tasks.begin(), tasks.end(), [](const Named& a, const Named& b) {
        return a.task.id < b.task.id;
    });
    GraphBuilder builder(head.GetNDevices());
    for (std::size_t i = 0; i < head.GetStreams().size(); i++)
    {
        builder.AddStream(head.GetStreams()[i],
                          head.GetStreamOrder(static_cast<StreamId>(i)),
                          head.IsHostStream(static_cast<StreamId>(i)));
    }
    for (const Phase& phase : head.GetPhases())
    {
        builder.AddPhase(phase.name, phase.microBatches);
    }
    for (const auto& group : head.GetGroups())
    {
        builder.AddGroup(group);
    }
    for (const auto& devices : head.FindScheduledDevices())
    {
        builder.SetSchedule(devices, head.GetSchedule(devices.front()));
    }
    for (const MicroBatchGate& gate : head.GetGates())
    {
        builder.AddGate(gate);
    }
    builder.SetFacts(head.GetFacts());
    for (std::size_t i = 0; i < tasks.size(); i++)
    {
        if (tasks[i].task.id != i)
        {
            throw std::invalid_argument(
                name + ": task " + std::to_string(i) +
                (i > 0 && tasks[i].task.id == i - 1
                     ? " is in the files where task " + std::to_string(i - 1) + " is there twice"
                     : " of the graph is in none of the files"));
        }
        builder.AddTask(tasks[i].task.task, tasks[i].name, tasks[i].task.dependencies);
    }
    try
    {
        return builder.Build();
    }
    catch (const std::invalid_argument& error)
    {
        throw std::invalid_argument(name + ": " + error.what());
    }
}

} // namespace

ExecutionGraph
ReadChakra(const std::vector<TraceFile>& files,
           const std::string& name,
           const TraceOptions& options)
{
    if (files.empty())
    {
        throw std::invalid_argument(name + ": the trace has no files");
    }
    std::string head;
    {
        const auto in = files.front().open();
        head = ChakraReader(*in, files.front().name).GetAttribute("proteus_graph");
    }
    if (head.empty())
    {
        return TraceLoader(name, options).Load(files);
    }
    std::istringstream in(head);
    return ReadBack(files,
                    name,
                    ReadGraphProtobuf(in, files.front().name + ": attribute proteus_graph"));
}

} // namespace proteus
} // namespace ns3
