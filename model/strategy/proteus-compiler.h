/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COMPILER_H
#define PROTEUS_COMPILER_H

#include "proteus-model.h"
#include "proteus-strategy-tree.h"

#include "ns3/proteus-graph-iterations.h"
#include "ns3/proteus-graph.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * From a model and a strategy to an execution graph.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A kernel on one device, for whoever knows how long it takes.
struct KernelDescription
{
    std::string name;              //!< of the operator, e.g. "layer3.qkv"
    std::string kind;              //!< of the operator, e.g. "linear"; "adam" for an optimizer
    std::string part;              //!< "" for the forward pass, "backward", "weight-gradient", ...
    std::vector<uint64_t> extents; //!< of the iteration space on the device
    double flops{0};               //!< floating point operations
    uint64_t bytes{0};             //!< traffic of the device memory
    DataType dataType{DataType::FP32}; //!< decides the peak rate
    /// Kernels of one stage and phase, which the host issues one after the other, have the same.
    uint64_t pass{0};
};

/// @ingroup proteus
/// What a kernel takes of a GPU, which decides by how much what runs beside it slows it:
/// Task::threadBlocks and Task::hostPercent.
struct KernelUse
{
    uint32_t threadBlocks{0}; //!< that its time is made of in waves; 0: not known
    int64_t gpuPs{0};         //!< without waits for the host, picoseconds
};

/// @ingroup proteus
/// What a compilation depends on besides model and strategy.
struct CompileOptions
{
    /// Asked for the time of every kernel in picoseconds; a negative answer leaves it to the cost
    /// model of the run. None: all are left to it.
    std::function<int64_t(const KernelDescription&)> kernelTime;
    /// Asked for what every kernel takes of the GPU that kernelTime has timed. None: nothing is
    /// known of that.
    std::function<KernelUse(const KernelDescription&)> kernelUse;
    /// Where to what tasks need of the iteration before, for RepeatGraph(); none: nowhere.
    std::vector<CarriedDependency>* carried{nullptr};
};

/**
 * @ingroup proteus
 * Compiles one training iteration.
 *
 * **Order.** Operators run in the order of the model, their backward passes in the reverse one.
 * Phases "forward" and "backward" (and, where a device has several stages, "forward.1" and so on;
 * under the zero-bubble schedule "weight-gradient") run once per micro-batch, "gradients" and
 * "optimizer" once. Streams: "compute"; "communication" for what operators need of each other;
 * "pipeline" for sends between stages; "gradient" for the reduction of gradients and the gathering
 * of updated parameters; "parameter" for parameters that are gathered before they are used; of the
 * host, where the optimizer is offloaded, "device-to-host", "host" and "host-to-device".
 *
 * **Communication** follows from layouts (PlanBoxing()): what an operator writes is brought from
 * how it computes it to how the tensor is kept, what it reads from how the tensor is kept to how it
 * needs it. Both are done once per pass (forward, recomputation, backward), tensor and layout; so
 * what is gathered for the forward pass is gathered again for the backward pass. A result is summed
 * only over the axes that split a dimension which it was summed over: a replicated operator makes
 * complete sums, which are not reduced again.
 *
 * **Gradients of parameters** are reduced after the last micro-batch, in buckets (BucketPolicy);
 * those of which a device keeps a share only (ZeRO 2 and 3) in every micro-batch, in phases
 * "gradient-scatter", ".1", ..., so that they do not have to be kept whole.
 * Under ZeRO 1 gradients are added up whole, and scattered in the end as they are reduced.
 * Parameters that replicas share (ZeRO) are gathered in one piece per group after the update, or
 * (ZeRO 3) in each pass, block by block, while the block before is computed.
 *
 * **Recomputation.** Of a block every operator that makes something other than the block's results
 * runs again in the backward phase, communication included, once the gradient of the block's
 * result is there.
 *
 * **Memory.** One memory task per tensor and device, from its producer to its last reader. An
 * all-reduce works in place. Parameters, optimizer state, samples, labels and losses are
 * persistent; gradients of parameters are so under GradientSpec::isInPlace or with
 * several micro-batches, else they exist twice while they are reduced.
 *
 * @param model what is trained; its batch is a micro-batch of all replicas together
 * @param tree how
 * @param options see there
 * @return the graph
 * @throw std::invalid_argument as PlaceModel(), or for a schedule that cannot run
 */
ExecutionGraph CompileModel(const Model& model,
                            const StrategyTree& tree,
                            const CompileOptions& options = {});

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COMPILER_H
