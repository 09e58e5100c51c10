/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GRAPH_KINDS_H
#define PROTEUS_GRAPH_KINDS_H

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Ids of an execution graph, and the kinds of its tasks.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Position of a task in its graph.
using TaskId = uint32_t;
/// @ingroup proteus
/// Global rank of a GPU: node * GPUs per node + local index.
using DeviceId = uint32_t;
/// @ingroup proteus
/// Position of a communication group in its graph.
using GroupId = uint32_t;
/// @ingroup proteus
/// Position of a phase in its graph.
using PhaseId = uint16_t;
/// @ingroup proteus
/// Position of a stream in its graph.
using StreamId = uint16_t;

/// @ingroup proteus
/// "No such id": the stream of a memory task, for instance.
constexpr uint32_t NO_ID = 0xffffffff;
/// @ingroup proteus
/// The StreamId of a task that occupies no stream.
constexpr StreamId NO_STREAM = 0xffff;
/// @ingroup proteus
/// Most devices of a graph, ten times those of the largest clusters. A wrong file cannot ask for
/// more.
constexpr uint32_t MAX_DEVICES = 1U << 20;
/// @ingroup proteus
/// Most micro-batches of a phase, for the same reason.
constexpr uint32_t MAX_MICRO_BATCHES = 1U << 20;

/// @ingroup proteus
/// What a task does.
enum class TaskKind : uint8_t
{
    COMPUTE,       //!< A kernel on one device.
    COMMUNICATION, //!< A collective, or a point-to-point transfer, among the devices of a group.
    MEMORY,        //!< A tensor on one device, alive from its producers to its last consumer.
};

/// @ingroup proteus
/// What a communication task computes. Sizes are counted as nccl-tests counts them.
enum class Collective : uint8_t
{
    ALL_REDUCE,     //!< bytes: the buffer of each rank.
    ALL_GATHER,     //!< bytes: the gathered buffer.
    REDUCE_SCATTER, //!< bytes: the buffer before it is scattered.
    BROADCAST,      //!< bytes: the buffer; the root is a position in the group.
    SEND_RECV,      //!< bytes: the message from the first device of the group to the second.
    REDUCE,         //!< bytes: the buffer of each rank; the root is a position in the group.
    GATHER,         //!< bytes: the gathered buffer, which the root has in the end.
    SCATTER,        //!< bytes: the buffer of the root before it is scattered.
    ALL_TO_ALL,     //!< bytes: the buffer of each rank, of which every rank gets an equal share.
};

/// @ingroup proteus
/// The parallelism that a communication serves; reports add exposed time up by it.
enum class Parallelism : uint8_t
{
    NONE,
    TENSOR,
    PIPELINE,
    DATA,
    EMBEDDING, //!< tied embeddings of the first and the last pipeline stage
    SEQUENCE,
    CONTEXT,
    EXPERT,
};

/// @ingroup proteus
/// Number format of an operator; decides which peak of a GPU's data sheet applies.
enum class DataType : uint8_t
{
    FP32,
    TF32,
    BF16,
    FP16,
    FP8,
    FP4, //!< NVFP4: blocks of 16 numbers have a scale of 8 bits
};

/// @ingroup proteus
/// @param type a number format @return whether products quantise what they multiply: fp8 and fp4
constexpr bool
IsQuantized(DataType type)
{
    return type == DataType::FP8 || type == DataType::FP4;
}

/// @ingroup proteus
/// @param kind a value @return its lower-case name as files and tables write it, e.g. "compute"
const char* ToString(TaskKind kind);
/// @ingroup proteus
/// @param collective a value @return its lower-case name as files write it, e.g. "all-reduce"
const char* ToString(Collective collective);
/// @ingroup proteus
/// @param parallelism a value @return its lower-case name as files and tables write it
const char* ToString(Parallelism parallelism);
/// @ingroup proteus
/// @param type a value @return its lower-case name as files and tables write it, e.g. "bf16"
const char* ToString(DataType type);

/// @ingroup proteus
/// @param collective a value @return whether one rank of it is special: broadcast, reduce, gather
/// and scatter
bool HasRoot(Collective collective);

/**
 * @ingroup proteus
 * Inverse of ToString().
 * @param text the name
 * @return the value
 * @throw std::invalid_argument that lists the known names
 */
TaskKind TaskKindFromString(const std::string& text);
/**
 * @ingroup proteus
 * Inverse of ToString().
 * @param text the name
 * @return the value
 * @throw std::invalid_argument that lists the known names
 */
Collective CollectiveFromString(const std::string& text);
/**
 * @ingroup proteus
 * Inverse of ToString().
 * @param text the name
 * @return the value
 * @throw std::invalid_argument that lists the known names
 */
Parallelism ParallelismFromString(const std::string& text);
/**
 * @ingroup proteus
 * Inverse of ToString().
 * @param text the name
 * @return the value
 * @throw std::invalid_argument that lists the known names
 */
DataType DataTypeFromString(const std::string& text);

/// @ingroup proteus
/// @return names that DataTypeFromString() takes
std::vector<std::string> GetDataTypeNames();

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GRAPH_KINDS_H
