/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TRACE_GRAPH_H
#define PROTEUS_TRACE_GRAPH_H

#include "ns3/proteus-graph.h"
#include "ns3/proteus-recording.h"

#include <cstdint>
#include <functional>
#include <istream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What the readers of traces have in common. A trace says what each rank did, one rank at a time;
 * the execution graph says what is to be done by all ranks together.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What to make of a trace.
struct TraceOptions
{
    /// Ranks of the job; 0: as many as the trace says, and where it does not say, availableRanks.
    uint32_t ranks{0};
    uint32_t availableRanks{0}; //!< GPUs that there are; 0 if that is not known
    std::string gpuModel;       //!< of these GPUs, or empty: recorded times of others are named
    /// Of NCCL that is simulated, as ParseNcclVersion() has it; 0 if that is not known.
    uint32_t ncclVersion{0};
    /// Compute nodes with FLOPs and bytes are timed by the cost model, not as they were recorded.
    bool isRoofline{false};
    /// Communication lasts as long as it was recorded, and is not simulated.
    bool isCommunicationRecorded{false};
    DataType dataType{DataType::BF16}; //!< number format that the cost model takes for them
    std::string groupFile;             //!< file with the process groups, if not empty (Chakra)
};

/// @ingroup proteus
/// A file of a trace that is still to be read.
struct TraceFile
{
    std::string name; //!< what messages call it
    /// Opens it from its beginning; it may be compressed.
    std::function<std::unique_ptr<std::istream>()> open;
};

/// @ingroup proteus
/// Most tasks that a trace may make, all ranks together, so that a small file cannot ask for much
/// memory.
constexpr uint64_t MAX_TRACE_TASKS = 1ULL << 26;

/// @ingroup proteus
/// One thing that a rank did.
struct TraceNode
{
    /// What kind of thing.
    enum class Kind : uint8_t
    {
        JOIN,       //!< nothing but dependencies
        COMPUTE,    //!< a kernel, or work of the host
        COLLECTIVE, //!< its part of a collective
        SEND,       //!< a message to another rank
        RECEIVE,    //!< a message from another rank
    };

    Kind kind{Kind::JOIN};                         //!< what kind
    Collective collective{Collective::ALL_REDUCE}; //!< of a collective
    DataType dataType{DataType::BF16};             //!< compute: if the cost model times it
    StreamId stream{0};                            //!< where it runs; receives: nowhere
    uint32_t name{0};                              //!< from TraceGraph::AddName()
    uint32_t peer{0};       //!< send, receive: other rank; collective: from TraceGraph::AddGroup()
    uint32_t root{0};       //!< collective with a root: its rank
    uint64_t id{0};         //!< what the file calls it; decides the order in which ranks issue
    uint64_t tag{0};        //!< send, receive: tells messages between two ranks apart
    uint64_t bytes{0};      //!< as the Collective counts them; compute: memory traffic
    int64_t durationPs{-1}; //!< compute; negative: the cost model times it
    int64_t recordedPs{-1}; //!< communication: how long it took; negative: not known
    double flops{0};        //!< compute
};

/**
 * @ingroup proteus
 * Everything that one rank did.
 */
struct RankTrace
{
    std::string file; //!< where it comes from, for messages

    /// Nodes in the order in which they were read.
    std::vector<TraceNode> nodes;
    /// (after, before), positions in nodes.
    std::vector<std::pair<uint32_t, uint32_t>> dependencies;
};

/**
 * @ingroup proteus
 * Joins the traces of all ranks to one execution graph.
 *
 * The n-th collective that a rank issues in a process group is the n-th of all ranks of the group.
 * The n-th message with a tag from one rank to another is the n-th receive with that tag there.
 * They are counted in the order in which a feeder issues: of the nodes whose dependencies are done,
 * the one with the lowest id.
 *
 * Receives are posted at once: a message goes as soon as it is sent, as small messages of NCCL and
 * all messages of ASTRA-sim do. What depends on a receive waits for the message, and for what the
 * receive depends on. If the receive depends on a send, it waits only until the send is issued,
 * since a buffer that was handed over does not hold a receive back.
 */
class TraceGraph
{
  public:
    /// Name of the process group of all ranks.
    static constexpr const char* WORLD = "";

    /**
     * @param nRanks ranks of the job
     * @param name of the trace, for messages and the graph's facts
     */
    TraceGraph(uint32_t nRanks, const std::string& name);

    /// @return ranks of the job
    uint32_t GetNRanks() const
    {
        return static_cast<uint32_t>(m_ranks.size());
    }

    /// @param name of the stream @param order in which it runs @param isHost whether the host does
    /// @return its id
    StreamId AddStream(const std::string& name, StreamOrder order, bool isHost = false);

    /// @param name of nodes @return what stands for it
    uint32_t AddName(const std::string& name);

    /**
     * @param name of the process group
     * @param ranks its members, in its order
     * @param parallelism what it serves
     * @return its id; groups with the same name and members are one
     * @throw std::invalid_argument if a rank does not exist or is there twice, or there is none
     */
    uint32_t AddGroup(const std::string& name,
                      const std::vector<DeviceId>& ranks,
                      Parallelism parallelism = Parallelism::NONE);

    /// @param rank of the job @param trace what it did; several ranks may have done the same
    void SetRank(DeviceId rank, std::shared_ptr<const RankTrace> trace);

    /**
     * @return the graph; this object is of no use afterwards
     * @throw std::invalid_argument that names file and nodes if dependencies form a cycle or ranks
     * do not fit together
     */
    ExecutionGraph Build();

    /// @return what was recorded of the collectives of the graph that Build() has made; no length
    Recording GetRecording() const;

  private:
    /// What becomes a task.
    struct Part
    {
        DeviceId rank;   //!< the first that has it
        uint32_t node;   //!< its node there
        TaskId task;     //!< once it is one
        uint32_t sender; //!< join of a receive: the part of its send; else NO_ID
        /// Collective: how long it took on the rank where it took least, the last to join;
        /// negative: not known.
        int64_t recordedPs;
    };

    /// A process group.
    struct Group
    {
        std::string name;
        std::vector<DeviceId> ranks;
        Parallelism parallelism;
        std::vector<uint32_t> parts;       //!< its collectives
        std::map<DeviceId, uint32_t> seen; //!< how many each rank has issued
    };

    /// @param rank whose nodes become parts @param order of issue
    void AddParts(DeviceId rank, const std::vector<uint32_t>& order);
    /// @param rank that issues a collective @param node its node @return its part
    uint32_t JoinCollective(DeviceId rank, uint32_t node);
    /// Matches sends with receives.
    void JoinMessages();
    /// Checks that all members of a group issued equally many collectives.
    void CheckGroups() const;
    /// @return by rank, its parts in the order of the ids of their nodes, without receives that
    /// nothing waits for
    std::vector<std::vector<uint32_t>> ListParts() const;
    /// @param rank a rank @return what its sends depend on, of those that receives depend on
    std::unordered_map<uint32_t, std::vector<uint32_t>> FindBeforeSends(DeviceId rank) const;
    /// @param rank whose dependencies become those of tasks
    void AddDependencies(DeviceId rank);
    /// @param part to make a task of
    void AddTask(uint32_t part);
    /// @param part @return its node
    const TraceNode& GetNode(const Part& part) const;
    /// @param rank a rank @param node of it @return "FILE: node 5 (name)"
    std::string NodeText(DeviceId rank, uint32_t node) const;
    /// @param rank a rank @return "rank 5 (FILE)"
    std::string RankText(DeviceId rank) const;
    /// @param group a group @return "process group 'x' of 4 ranks"
    static std::string GroupText(const Group& group);
    /// @param rank sender or receiver @param isSend which @param node of it
    void AddMessage(DeviceId rank, bool isSend, uint32_t node);

    /// Sends and receives with the same key.
    struct Messages
    {
        std::vector<uint32_t> sends;    //!< nodes of the sender
        std::vector<uint32_t> receives; //!< nodes of the receiver
    };

    std::string m_name;
    GraphBuilder m_builder;
    PhaseId m_phase;
    StreamId m_control{0}; //!< of tasks that take no time
    bool m_hasControl{false};
    std::vector<std::string> m_names;
    std::unordered_map<std::string, uint32_t> m_nameIndex;
    std::vector<Group> m_groups;
    std::map<std::pair<std::string, std::vector<DeviceId>>, uint32_t> m_groupIndex;
    std::vector<std::shared_ptr<const RankTrace>> m_ranks;
    std::vector<Part> m_parts;
    std::set<uint32_t> m_uneven; //!< all-to-alls in m_parts of ranks with other sizes
    std::vector<std::vector<uint32_t>> m_partOf; //!< by rank and node; NO_ID: none
    std::map<std::tuple<DeviceId, DeviceId, uint64_t>, Messages> m_messages;
};

/// @ingroup proteus
/// @param text e.g. the description of a process group @return the parallelism that it speaks of
Parallelism ParallelismFromDescription(const std::string& text);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TRACE_GRAPH_H
