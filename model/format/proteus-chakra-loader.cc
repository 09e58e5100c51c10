/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-chakra-changes.h"
#include "proteus-chakra-doubts.h"
#include "proteus-chakra-groups.h"
#include "proteus-chakra.h"
#include "proteus-graph-protobuf.h"
#include "proteus-input-file.h"
#include "proteus-trace-doubts.h"
#include "proteus-trace-order.h"

#include "ns3/proteus-graph-head.h"
#include "ns3/proteus-json.h"
#include "ns3/proteus-shown-name.h"
#include "ns3/proteus-sort-unique.h"
#include "ns3/proteus-warning.h"

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

    ExecutionGraph Load(const std::vector<TraceFile>& files, Recording* recording)
    {
        if (!m_options.groupFile.empty())
        {
            m_groups.ReadFile(m_options.groupFile);
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
        m_doubts.isRooflineIdle = m_options.isRoofline && !m_hasRoofline;
        m_doubts.groups = m_groups.DescribeDoubts(m_groupsInUse, nRanks);
        m_doubts.steps = DescribeProfilerSteps({m_names.begin(), m_names.end()});
        // Before doubts: what is refused is one message.
        ExecutionGraph result = graph.Build();
        if (recording)
        {
            *recording = graph.GetRecording();
        }
        WarnOfNoRecorded(m_name, m_options, m_nRecorded);
        m_doubts.Warn(m_name);
        return result;
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
        const uint32_t known = m_options.ranks != 0 ? m_options.ranks : m_groups.GetKnownRanks();
        return known != 0 ? known : static_cast<uint32_t>(GuessRanks(m_options, m_name));
    }

    /// Dependencies as a file has them.
    struct Dependencies
    {
        std::unordered_map<uint64_t, uint32_t> places;     //!< of nodes, by id
        std::vector<std::pair<uint32_t, uint64_t>> wanted; //!< (node, id), data dependencies
        std::vector<std::pair<uint32_t, uint64_t>> hoped;  //!< the same, control dependencies
        bool areFromPyTorch{false};
    };

    void ReadRank(const TraceFile& file)
    {
        m_ranks.emplace_back();
        Rank& rank = m_ranks.back();
        rank.trace->file = file.name;
        const auto in = file.open();
        ChakraReader reader(*in, file.name);
        m_doubts.AddVersion(reader.GetVersion());
        Dependencies dependencies;
        ChakraNode node;
        while (reader.Read(node))
        {
            AddNode(rank, reader.GetPosition(), node, dependencies);
        }
        m_doubts.unknownFields.insert(reader.GetUnknownFields().begin(),
                                      reader.GetUnknownFields().end());
        m_doubts.misspelt.insert(reader.GetMisspelt().begin(), reader.GetMisspelt().end());
        AddDependencies(dependencies, *rank.trace);
    }

    /// Adds a node to a rank. @param position of it in the file @param dependencies gets its own
    void AddNode(Rank& rank, uint64_t position, const ChakraNode& node, Dependencies& dependencies)
    {
        RankTrace& trace = *rank.trace;
        const auto where = [&] {
            return trace.file + ": byte " + std::to_string(position) + ": node " +
                   std::to_string(node.id);
        };
        const auto place = static_cast<uint32_t>(trace.nodes.size());
        if (!dependencies.places.emplace(node.id, place).second)
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
            m_groups.ReadNode(trace.file, where(), node);
        }
        for (const uint64_t id : node.dataDependencies)
        {
            dependencies.wanted.emplace_back(place, id);
        }
        for (const uint64_t id : node.controlDependencies)
        {
            dependencies.hoped.emplace_back(place, id);
        }
        dependencies.areFromPyTorch |= node.isFromPyTorch;
        trace.nodes.push_back(ToTraceNode(rank, node));
    }

    /// Control dependencies that close a cycle are left out: PyTorch writes such.
    void AddDependencies(const Dependencies& dependencies, RankTrace& trace)
    {
        const auto& places = dependencies.places;
        auto& all = trace.dependencies;
        for (const auto& [after, id] : dependencies.wanted)
        {
            const auto before = places.find(id);
            if (before == places.end())
            {
                throw std::invalid_argument(trace.file + ": node " +
                                            std::to_string(trace.nodes[after].id) +
                                            " depends on the data of node " + std::to_string(id) +
                                            ", which is not in the file");
            }
            all.emplace_back(after, before->second);
        }
        const std::size_t nData = all.size();
        for (const auto& [after, id] : dependencies.hoped)
        {
            const auto before = places.find(id);
            if (before != places.end())
            {
                all.emplace_back(after, before->second);
            }
            m_doubts.dangling += before == places.end() ? 1 : 0;
        }
        if (dependencies.areFromPyTorch && all.size() > nData && HasCycle(trace))
        {
            all.resize(nData);
            ++m_doubts.contradictory;
        }
        SortUnique(all);
        all.shrink_to_fit();
    }

    static int64_t GetDurationPs(const ChakraNode& node)
    {
        return static_cast<int64_t>(node.durationMicros) * PS_PER_US;
    }

    /// Work that lasts as long as the trace says.
    static void SetFixed(Lane lane, const ChakraNode& node, TraceNode& result)
    {
        result.kind = TraceNode::Kind::COMPUTE;
        result.stream = lane;
        result.durationPs = node.durationMicros > 0 ? GetDurationPs(node) : NO_DURATION_PS;
    }

    /// Work whose duration is estimated.
    void SetEstimated(Lane lane, const ChakraNode& node, TraceNode& result) const
    {
        result.kind = TraceNode::Kind::COMPUTE;
        result.stream = lane;
        result.durationPs = -1;
        result.flops = node.flops;
        result.bytes = node.tensorBytes;
        result.dataType = m_options.dataType;
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
        const bool movesNothing = node.type < ChakraNodeType::COMM_SEND;
        m_doubts.misplaced += movesNothing && (node.hasCollective || node.bytes > 0) ? 1 : 0;
        switch (node.type)
        {
        case ChakraNodeType::INVALID:
        case ChakraNodeType::METADATA:
            m_doubts.typeless += node.type == ChakraNodeType::INVALID || node.durationMicros > 0;
            break;
        case ChakraNodeType::MEM_LOAD:
        case ChakraNodeType::MEM_STORE:
            if (node.durationMicros == 0 && node.tensorBytes > 0)
            {
                ++m_doubts.timelessMemory;
                SetEstimated(COMMUNICATION, node, result);
                break;
            }
            m_doubts.emptyMemory += node.durationMicros == 0 ? 1 : 0;
            SetFixed(COMMUNICATION, node, result);
            break;
        case ChakraNodeType::COMP: {
            const bool isByRoofline = m_options.isRoofline && node.tensorBytes > 0;
            const bool isEstimated = node.flops > 0 && (node.durationMicros == 0 || isByRoofline);
            m_hasRoofline |= isEstimated && isByRoofline && !node.isCpu;
            m_doubts.timeless += !node.isCpu && !isEstimated && node.durationMicros == 0 ? 1 : 0;
            isEstimated && !node.isCpu ? SetEstimated(COMPUTE, node, result)
                                       : SetFixed(node.isCpu ? CPU : COMPUTE, node, result);
            break;
        }
        default:
            m_doubts.ofHost += node.isCpu ? 1 : 0;
            node.isCpu                          ? SetFixed(CPU, node, result)
            : m_options.isCommunicationRecorded ? SetRecorded(rank, node, result)
                                                : SetCommunication(rank, node, result);
            break;
        }
        return result;
    }

    /// Communication that lasts as long as it was recorded.
    void SetRecorded(const Rank& rank, const ChakraNode& node, TraceNode& result)
    {
        ++m_nRecorded;
        if (node.durationMicros == 0)
        {
            throw std::invalid_argument(rank.trace->file + ": node " + std::to_string(node.id) +
                                        " communicates and has no duration (duration_micros), so "
                                        "that communication cannot last as it was recorded");
        }
        SetFixed(COMMUNICATION, node, result);
    }

    void SetCommunication(Rank& rank, const ChakraNode& node, TraceNode& result)
    {
        result.stream = COMMUNICATION;
        result.bytes = node.bytes;
        m_doubts.priorities += node.hasPriority ? 1 : 0;
        ++m_doubts.communications;
        if (node.type == ChakraNodeType::COMM_COLL)
        {
            if (!node.hasCollective)
            {
                throw std::invalid_argument(rank.trace->file + ": node " + std::to_string(node.id) +
                                            " is a collective and does not say which (comm_type)");
            }
            SetCollective(rank, node, result, GetDurationPs(node));
            return;
        }
        const bool isSend = node.type == ChakraNodeType::COMM_SEND;
        const auto own = static_cast<uint32_t>(m_ranks.size() - 1);
        result.kind = isSend ? TraceNode::Kind::SEND : TraceNode::Kind::RECEIVE;
        result.peer = (isSend ? node.destination : node.source).value_or(own);
        m_doubts.foreign += (isSend ? node.source : node.destination).value_or(own) != own;
        result.tag = static_cast<uint64_t>(node.tag);
        result.bytes = node.bytes > 0 ? node.bytes : node.tensorBytes;
        if (result.bytes == 0 && isSend)
        {
            throw std::invalid_argument(rank.trace->file + ": node " + std::to_string(node.id) +
                                        " sends 0 bytes");
        }
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
            ++m_doubts.sizeless;
            result.kind = durationPs > 0 ? TraceNode::Kind::COMPUTE : TraceNode::Kind::JOIN;
            result.durationPs = durationPs;
            return;
        }
        if (node.leavesOutDimensions && (node.processGroup.empty() || node.processGroup == "0"))
        {
            throw std::invalid_argument(
                rank.trace->file + ": node " + std::to_string(node.id) +
                ": involved_dim leaves out dimensions of a network that is not in the trace, so "
                "that it is not known which ranks take part: name their process group by pg_name");
        }
        result.kind = TraceNode::Kind::COLLECTIVE;
        result.recordedPs = durationPs > 0 ? durationPs : -1;
        result.peer =
            rank.places.emplace(node.processGroup, static_cast<uint32_t>(rank.groups.size()))
                .first->second;
        if (result.peer == rank.groups.size())
        {
            rank.groups.push_back(node.processGroup);
        }
        m_doubts.rootless += HasRoot(result.collective) && !node.hasRoot;
    }

    /// Turns what is local to a rank into what the graph has.
    void Finish(TraceGraph& graph, std::size_t place)
    {
        Rank& rank = m_ranks[place];
        std::vector<uint32_t> ids;
        std::vector<std::size_t> sizes;
        for (const std::string& inTrace : rank.groups)
        {
            const std::string name = m_groups.FindName(inTrace, rank.trace->file);
            const ChakraGroup group = m_groups.Find(name,
                                                    rank.trace->file,
                                                    graph.GetNRanks(),
                                                    m_ranks.size() == 1 && m_options.ranks != 0);
            if (m_ranks.size() == 1 && group.ranks.size() != graph.GetNRanks())
            {
                throw std::invalid_argument(
                    rank.trace->file + ": process group " + QuotedText(name) + " has " +
                    std::to_string(group.ranks.size()) + " of " +
                    std::to_string(graph.GetNRanks()) +
                    " ranks; the trace of one rank can stand for all only if every collective is "
                    "among all");
            }
            m_groupsInUse.emplace(inTrace, name);
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
    ChakraGroups m_groups;
    std::map<std::string, std::string> m_groupsInUse; //!< as the trace calls them; their names
    uint64_t m_nNodes{0};
    ChakraDoubts m_doubts;
    uint64_t m_nRecorded{0};   //!< communications that last as recorded
    bool m_hasRoofline{false}; //!< whether the roofline times what has a duration
    std::vector<std::string> m_names;
    std::unordered_map<std::string, uint32_t> m_nameIndex;
};

/// A task that WriteChakra() wrote, with its name.
struct NamedTask
{
    ChakraTask task;
    std::string name;
};

/// @param files that WriteChakra() wrote @return the tasks in them, by id
std::vector<NamedTask>
ReadTasks(const std::vector<TraceFile>& files)
{
    std::vector<NamedTask> tasks;
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
    std::sort(tasks.begin(), tasks.end(), [](const NamedTask& a, const NamedTask& b) {
        return a.task.id < b.task.id;
    });
    return tasks;
}

/// Reads back what WriteChakra() wrote. @param head the graph without its tasks
ExecutionGraph
ReadBack(const std::vector<TraceFile>& files, const std::string& name, const ExecutionGraph& head)
{
    if (files.size() != head.GetNDevices())
    {
        throw std::invalid_argument(name + ": the graph has " + std::to_string(head.GetNDevices()) +
                                    " devices, but there are files of " +
                                    std::to_string(files.size()));
    }
    const std::vector<NamedTask> tasks = ReadTasks(files);
    GraphBuilder builder(head.GetNDevices());
    CopyHead(head, builder);
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
           const TraceOptions& options,
           Recording* recording)
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
        return TraceLoader(name, options).Load(files, recording);
    }
    CheckIsRecording(name, options);
    std::istringstream in(head);
    const std::string own =
        ": has no effect: the trace has the graph that it was written of, with ";
    if (!options.groupFile.empty())
    {
        Warn(options.groupFile + own + "its process groups");
    }
    if (options.isRoofline)
    {
        Warn(name + ": the roofline" + own + "its times");
    }
    if (options.ranks != 0 && options.ranks != files.size())
    {
        throw std::invalid_argument(name + ": has traces of " + std::to_string(files.size()) +
                                    " ranks, not of " + std::to_string(options.ranks));
    }
    ExecutionGraph graph =
        ReadBack(files,
                 name,
                 ReadGraphProtobuf(in, files.front().name + ": attribute proteus_graph"));
    if (const std::string changes = DescribeChakraChanges(files, graph); !changes.empty())
    {
        Warn(name + ": " + changes);
    }
    return graph;
}

} // namespace proteus
} // namespace ns3
