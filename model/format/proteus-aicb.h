/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_AICB_H
#define PROTEUS_AICB_H

#include "proteus-trace-graph.h"

#include "ns3/proteus-graph.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Workloads of AICB, as SimAI runs them: text, one row for each layer.
 *
 * Line 1 says how the model is split (ASTRA-sim's text has DATA, replicas, and MODEL, all GPUs
 * share each layer), line 2 how many rows follow. A row has twelve fields: name, dependency (-1),
 * then time in nanoseconds, collective and bytes of the forward pass, of the gradient of the inputs
 * and of that of the weights, and the time of the weights' update.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Time and collective of one pass of a row.
struct AicbPass
{
    int64_t computePs{0};                          //!< before the collective
    bool hasCollective{false};                     //!< whether there is one
    Collective collective{Collective::ALL_REDUCE}; //!< which
    Parallelism parallelism{Parallelism::TENSOR};  //!< among whom
    bool isExpertData{false};                      //!< among the replicas of the experts
    uint64_t bytes{0};                             //!< as the Collective counts them
    bool hasIdleBytes{false};                      //!< bytes without a collective
    bool isEmpty{false};                           //!< a collective without bytes
};

/// @ingroup proteus
/// What passes are called, in the order of AicbRow::passes.
constexpr std::array<const char*, 3> AICB_PASSES{"forward", "input gradient", "weight gradient"};

/// @ingroup proteus
/// A row of a workload.
struct AicbRow
{
    std::string name;               //!< of the layer
    bool hasDependency{false};      //!< whether the second field is other than -1
    std::array<AicbPass, 3> passes; //!< forward, gradient of the inputs, gradient of the weights
    int64_t updatePs{0};            //!< after the collective of the weights' gradient
};

/// @ingroup proteus
/// A workload as it is in the file. Counts are 0 where the file does not say them.
struct AicbWorkload
{
    bool isMicro{false};               //!< rows are a benchmark: one after the other, all ranks
    bool isModelParallel{false};       //!< all GPUs share a layer, however many there are
    uint32_t tensorParallel{1};        //!< GPUs that share a layer
    uint32_t expertParallel{1};        //!< GPUs that share the experts
    uint32_t pipelineParallel{1};      //!< stages
    uint32_t virtualPipeline{1};       //!< chunks of a stage, as the file says it
    uint32_t gradientAccumulation{1};  //!< micro-batches of an iteration
    uint32_t gpus{0};                  //!< of the job
    uint64_t pipelineBytes{0};         //!< between two stages, one micro-batch
    std::vector<uint32_t> checkpoints; //!< rows whose input is kept
    std::vector<uint32_t> checkpointInitiates; //!< rows before which the pass back recomputes
    std::vector<AicbRow> rows;                 //!< the layers
};

/**
 * @ingroup proteus
 * Reads a workload.
 * @param in the file, compressed or not
 * @param fileName what messages call it
 * @return the workload
 * @throw std::invalid_argument "FILE:LINE: cause" if something is wrong
 */
AicbWorkload ParseAicb(std::istream& in, const std::string& fileName);

/// @ingroup proteus
/// Rows of the micro-batches of a stage, one after the other.
struct AicbMicroBatches
{
    std::size_t first{0};  //!< row
    std::size_t length{0}; //!< rows of each
};

/// @ingroup proteus
/// AICB writes the layers of a stage once for each micro-batch, one after the other, with rows
/// for the whole iteration before and behind them.
/// @param workload any @return where they are; nothing if they are not so
std::optional<AicbMicroBatches> FindMicroBatches(const AicbWorkload& workload);

/**
 * @ingroup proteus
 * Makes the graph of one iteration.
 *
 * Ranks are numbered as in Megatron-LM: first those that share a layer, then the replicas, then the
 * stages. The forward pass goes through the rows in order; the collective of a row ends before the
 * next row begins. The backward pass goes through them in reverse order: first the gradient of the
 * inputs, then its collective and, beside it, the gradient of the weights; the next row begins when
 * both are done. The collectives of the weights go on beside all that, one after the other, each
 * followed by the update. This is the order of SimAI.
 *
 * With several pipeline stages, the rows are those of one stage. (SimAI does not simulate stages;
 * it adds them to its result.) The rows from embedding_layer to cross_entropy repeat for each
 * micro-batch (ga). Every stage runs them as 1F1B and passes pp_comm bytes on to its neighbours.
 * The rows before and after them run once, before the first and after the last micro-batch. Chunks
 * of a stage (vpp) are not interleaved: AICB writes the number of layers there.
 *
 * @param workload to make it of
 * @param name of the workload, for messages and facts
 * @param options ranks, where the file does not say them
 * @return the graph
 * @throw std::invalid_argument if the ranks cannot be split so, or the rows into micro-batches
 */
ExecutionGraph MakeAicbGraph(const AicbWorkload& workload,
                             const std::string& name,
                             const TraceOptions& options = {});

/// @ingroup proteus
/// @param workload to look at @return what it says that its graph does not have, a line each
std::vector<std::string> FindAicbDoubts(const AicbWorkload& workload);

/// @ingroup proteus
/// @param files one @param name of the trace @param options ranks
/// @param recording gets nothing: a workload is no recording
/// @return its graph
/// @throw std::invalid_argument as ParseAicb() and MakeAicbGraph()
ExecutionGraph ReadAicb(const std::vector<TraceFile>& files,
                        const std::string& name,
                        const TraceOptions& options = {},
                        Recording* recording = nullptr);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_AICB_H
