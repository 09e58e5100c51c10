/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CHAKRA_H
#define PROTEUS_CHAKRA_H

#include "proteus-trace-graph.h"

#include "ns3/proteus-graph.h"

#include <cstdint>
#include <istream>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Chakra execution traces (MLCommons), one file per rank; the encoding is in proteus-chakra.proto.
 *
 * Nodes do what ASTRA-sim makes of them. A rank has a stream for nodes of the host ("cpu"), one for
 * kernels ("compute"), and one for communication and memory nodes ("communication"). Each runs one
 * node at a time: of those whose control and data dependencies are done, the one with the lowest
 * id. Receives occupy no stream. Nodes last duration_micros. Where that is 0, the cost model times
 * compute nodes with num_ops and memory nodes with tensor_size, and all others last 1 ns.
 * Collectives of the host last their duration.
 *
 * Differences from ASTRA-sim: broadcast, reduce, gather and scatter are carried by the network;
 * there a broadcast takes its duration. A barrier is an all-reduce of 4 bytes, as PyTorch has it. A
 * collective without comm_size lasts its duration. A control dependency on a node that the file
 * does not have is no dependency, because converters drop the calls around operators. Early
 * converters of PyTorch traces, whose nodes have fw_parent, wrote as control dependencies who
 * called whom, which can contradict the data dependencies; if they do, all control dependencies of
 * the file are left out.
 *
 * comm_size counts the input of a rank, which for an all-gather or a gather is the rank's own part.
 * The bytes of the graph are those of nccl-tests, which count the gathered buffer.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Name of the node whose operands list the process groups, in traces converted from PyTorch.
constexpr const char* CHAKRA_GROUP_NODE = "## process_group:init ##";

/// @ingroup proteus
/// What a node of a Chakra trace is; the numbers are those of the file.
enum class ChakraNodeType : uint8_t
{
    INVALID,
    METADATA,
    MEM_LOAD,
    MEM_STORE,
    COMP,
    COMM_SEND,
    COMM_RECV,
    COMM_COLL,
};

/// @ingroup proteus
/// What a COMM_COLL node does; the numbers are those of the file.
enum class ChakraCollective : uint8_t
{
    ALL_REDUCE,
    REDUCE,
    ALL_GATHER,
    GATHER,
    SCATTER,
    BROADCAST,
    ALL_TO_ALL,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    BARRIER,
};

/// @ingroup proteus
/// A task as WriteChakra() adds it to the node that stands for it, so that it can be read back.
struct ChakraTask
{
    TaskId id{0};                     //!< in the graph
    Task task;                        //!< without its name
    std::vector<TaskId> dependencies; //!< of the task
};

/**
 * @ingroup proteus
 * A node of a Chakra trace, with the attributes that feeders read. Attributes may be of any numeric
 * type in the file.
 */
struct ChakraNode
{
    uint64_t id{0};                               //!< in its file
    std::string name;                             //!< any bytes
    ChakraNodeType type{ChakraNodeType::INVALID}; //!< what it is
    std::vector<uint64_t> controlDependencies;    //!< ids
    std::vector<uint64_t> dataDependencies;       //!< ids
    uint64_t durationMicros{0};                   //!< measured, microseconds
    std::string inputValues;                      //!< operands as text
    bool isCpu{false};                            //!< is_cpu_op
    double flops{0};                              //!< num_ops
    uint64_t tensorBytes{0};                      //!< tensor_size
    ChakraCollective collective{};                //!< comm_type
    bool hasCollective{false};                    //!< whether it has comm_type
    bool hasPriority{false};                      //!< comm_priority, not 0
    uint64_t bytes{0};                            //!< comm_size
    std::optional<uint32_t> source;               //!< comm_src
    std::optional<uint32_t> destination;          //!< comm_dst
    int64_t tag{0};                               //!< comm_tag
    uint32_t root{0};                             //!< root_rank
    bool hasRoot{false};                          //!< whether it is said
    std::string processGroup;                     //!< pg_name
    bool leavesOutDimensions{false};              //!< involved_dim, of ASTRA-sim's network
    bool isFromPyTorch{false};                    //!< whether it has fw_parent
    std::optional<ChakraTask> task;               //!< if this library wrote it
};

/**
 * @ingroup proteus
 * Reads a file of a Chakra trace node by node: memory does not grow with its length.
 */
class ChakraReader
{
  public:
    /**
     * @param in the file, compressed or not; outlives this object
     * @param fileName what messages call it
     * @throw std::invalid_argument "FILE: byte N: cause" if it does not begin as a trace
     */
    ChakraReader(std::istream& in, const std::string& fileName);
    ~ChakraReader();

    /// @return what the trace says about its schema, e.g. "0.0.4"
    const std::string& GetVersion() const;

    /// @param name of an attribute of the trace @return its text, empty if it has none
    std::string GetAttribute(const std::string& name) const;

    /**
     * @param node where to
     * @return whether there was another node
     * @throw std::invalid_argument "FILE: byte N: cause" (N counts decompressed bytes) if the file
     * is damaged, was cut off, or says what cannot be
     */
    bool Read(ChakraNode& node);

    /// @return attributes so far whose names are no attribute's that is read, and near to one: what
    /// each may have been meant for, by name
    const std::map<std::string, std::string>& GetMisspelt() const;

    /// @return numbers of fields of messages so far that the schema does not have
    const std::set<int>& GetUnknownFields() const;

    /// @return first byte of the node that was read last, in the decompressed file
    uint64_t GetPosition() const;

  private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

/**
 * @ingroup proteus
 * Makes a graph of the files of a trace.
 * @param files by rank; one file stands for all ranks if the options ask for more
 * @param name of the trace, for messages
 * @param options what to make of it; groupFile is JSON {"name": [ranks], ...}, as ASTRA-sim has it
 * @param recording gets the durations of its collectives (duration_micros), unless it is null
 * @return the graph: the one that was written if WriteChakra() wrote it, else with one device per
 * rank and one phase
 * @throw std::invalid_argument as ChakraReader, and if ranks do not fit together
 */
ExecutionGraph ReadChakra(const std::vector<TraceFile>& files,
                          const std::string& name,
                          const TraceOptions& options = {},
                          Recording* recording = nullptr);

/**
 * @ingroup proteus
 * Writes what a device does as the file of a Chakra trace. So that other simulators run it, every
 * task is there once per micro-batch, with control dependencies for the order of its streams and
 * for the gates of its micro-batches. What Chakra has no word for is in attributes whose names
 * begin with "proteus_", so that ReadChakra() makes the same graph of all files together.
 * @param graph the graph
 * @param device whose file
 * @param out where to, a binary stream
 * @throw std::invalid_argument if the stream fails, or the graph has more micro-batches of its
 * tasks than a file has room for
 */
void WriteChakra(const ExecutionGraph& graph, DeviceId device, std::ostream& out);

/**
 * @ingroup proteus
 * Writes a graph as a Chakra trace: files PREFIX.RANK.et.
 * @param graph the graph
 * @param prefix of the files, e.g. "traces/gpt3"; the folder must be there
 * @throw std::invalid_argument as WriteChakra(), or if a file cannot be written
 */
void SaveChakra(const ExecutionGraph& graph, const std::string& prefix);

/**
 * @ingroup proteus
 * Writes a graph as a Chakra trace of its own folder, which is made if need be: files
 * trace.RANK.et. Files of that name from a larger trace before are removed.
 * @param graph the graph
 * @param folder where to
 * @throw std::invalid_argument as SaveChakra(), or if the folder cannot be made
 */
void SaveChakraFolder(const ExecutionGraph& graph, const std::string& folder);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CHAKRA_H
