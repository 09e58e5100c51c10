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
/// Equal matrices.
struct Matrices
{
    uint64_t number{1};  //!< how many: the experts of a layer
    uint64_t rows{0};    //!< of each
    uint64_t columns{0}; //!< of each
};

/// @ingroup proteus
/// Steps in which Muon makes an update orthogonal (Jordan et al. 2024: ns_steps 5).
constexpr uint32_t MUON_STEPS = 5;

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
    bool hasBias{false}; //!< whether a product or convolution adds a bias
    uint64_t tensors{0}; //!< parameters that an optimizer updates at once, each a tensor
    /// Of an update: devices of its stage, each of which asks for its own. Of all else one asks.
    uint64_t devices{1};
    HeadWidths head{};     //!< of an attention; 0: a head for each group, as wide as its operations
    bool hasMask{true};    //!< of an attention: whether some scores are left out
    bool isCausal{true};   //!< of an attention: see ModelOperator::isCausal
    bool hasDropout{true}; //!< of an attention: whether scores are dropped
    uint64_t documents{1}; //!< of an attention: see ModelOperator::documents
    uint64_t window{0};    //!< of an attention: see ModelOperator::window
    uint32_t ring{1};      //!< of an attention: devices whose keys and values come one by one
    uint32_t pieces{1};    //!< of a product: equal ones like this that one call issues, in turn
    bool isFlex{false};    //!< whether experts' tokens go once to a server, see ExpertDispatch
    bool isExchanged{false};     //!< whether devices share the experts of its layer
    bool isRecomputation{false}; //!< whether the backward pass runs it, though it is of the forward
    /// Whether it belongs to a numbered block of the model, and what it makes is kept for the
    /// backward pass, in which it is not computed again.
    bool isKept{false};
    bool isDeferred{false}; //!< whether a pass behind the backward pass runs it (ZB-H1)
    /// Of a product: whether its weights are cast or copied before it as the framework does it; not
    /// where they are frozen, or have no master copy, and lie there whole.
    bool movesWeights{true};
    uint32_t gradients{0};    //!< trained parameters, each a tensor, whose gradients it makes
    bool isInFourBits{false}; //!< of a product: whether its weights are kept in four bits
    bool hasMaster{true};     //!< of an update: PrecisionSpec::hasMaster
    std::vector<Matrices> orthogonal; //!< of Muon: those that become orthogonal
    /// Of a product: of an iteration. The first quantises the weights for fp4 (is_first_microbatch
    /// of Transformer Engine's modules).
    uint64_t microBatches{1};
    bool hasWeightedBias{false}; //!< of a product: see ModelOperator::hasWeightedBias
};

/// @ingroup proteus
/// @param op an operator @return whether it is a product with weights, or a convolution, and adds
/// a bias
bool HasBias(const ModelOperator& op);

/// @ingroup proteus
/// What a kernel takes of a GPU, for Task::threadBlocks and Task::hostPercent. It decides how much
/// what runs beside the kernel slows it.
struct KernelUse
{
    uint32_t threadBlocks{0}; //!< that its time is made of in waves; 0: not known
    int64_t gpuPs{0};         //!< without waits for the host, picoseconds
    int64_t productPs{0};     //!< of these, see KernelTime::productPs
    uint64_t heldBytes{0};    //!< memory while it runs, besides what it reads and writes
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
    /// Whether weights of products in fp8 are gathered in one byte (ZeRO 3).
    bool gathersFloat8{false};
    /// Whether what a unit shares with other replicas (ZeRO 3) is gathered for the forward pass
    /// when the tokens of the unit before have been sorted by expert, not when that unit begins.
    bool gathersBehindDispatch{false};
    /// Whether the kernels of a stage wait until what it sends to a neighbour is there, and a stage
    /// takes a gradient when it has sent the activations that go the other way: PyTorch's
    /// dist.send() and dist.recv(), which run in one stream for two ranks, whichever way they go.
    /// With 1F1B and GPipe, whose stages then pass each other a message each way between two
    /// passes; other schedules have their transfers beside kernels.
    bool waitsForTransfers{false};
    /// Then whether what two stages send each other between the same two passes goes both ways at
    /// once, when both have computed it: PyTorch's batch_isend_irecv() of a send and a receive,
    /// which are one kernel. What a stage receives between two passes of one kind comes when it
    /// has sent what it has.
    bool exchangesTransfers{false};
    /// Where to what tasks need of the iteration before, for RepeatGraph(); none: nowhere.
    std::vector<CarriedDependency>* carried{nullptr};
};

/**
 * @ingroup proteus
 * Compiles one training iteration.
 *
 * **Order.** Operators run in the order of the model, backward passes in the reverse order. Phases
 * "forward" and "backward" run once per micro-batch (of several stages also "forward.1" and so on;
 * of the zero-bubble schedule also "weight-gradient"; with ScheduleSpec::overlapsExperts in pieces,
 * "forward/0.dispatch" and so on); "gradients" and "optimizer" run once.
 *
 * **Streams.** "compute"; "communication" for what operators need of each other; "experts" for what
 * of it is in such pieces; "forwarding" for tokens inside servers (ExpertDispatch); "pipeline" for
 * sends between stages; "gradient" for reducing gradients and gathering updated parameters;
 * "parameter" for parameters that are gathered before they are used; "optimizer" for updates that
 * run as soon as a gradient is reduced (OptimizerSpec::isImmediate). Streams of the host are
 * "data-loading", where the input pipeline has a rate, and "device-to-host", "host" and
 * "host-to-device", where the optimizer is offloaded.
 *
 * **Communication** follows from layouts (PlanBoxing()). What an operator writes is brought from
 * the layout in which it computes it to the one in which the tensor is kept; what it reads, from
 * there to the layout that it needs. This is done once per pass (forward, recomputation, backward),
 * tensor and layout; so what is gathered for the forward pass is gathered again for the backward
 * pass. A result is a partial sum only over axes that split a dimension over which it was summed: a
 * replicated operator makes complete sums, which are not reduced again.
 *
 * **Gradients of parameters** are reduced after the last micro-batch, in buckets (BucketPolicy).
 * Under ZeRO 1 they are added up whole, and scattered when they are reduced. Under ZeRO 2 and 3 a
 * device keeps only its share, so they are scattered in every micro-batch, in phases
 * "gradient-scatter", "gradient-scatter.1", ... Parameters that replicas share are gathered in one
 * piece per group of devices: after the update, or under ZeRO 3 in each pass, block by block, while
 * the block before is computed.
 *
 * **Recomputation.** In the backward phase, once the gradient of a block's result is there, the
 * operators of the block run again, communication included, but for those that make nothing else
 * than the block's result.
 *
 * **Memory.** There is one memory task per tensor and device, from its producer to its last reader.
 * An all-reduce works in place. Parameters, optimizer state, samples, labels and losses are
 * persistent. Gradients of parameters are persistent with GradientSpec::isInPlace or several
 * micro-batches; otherwise they exist twice while they are reduced.
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
