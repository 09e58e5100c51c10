/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FRAMEWORK_H
#define PROTEUS_FRAMEWORK_H

#include "proteus-kernel-cost.h"
#include "proteus-kernel-work.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What a training framework makes of operators: which kernels it issues, what they move, and what
 * time its host takes.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What the elements are in that a framework keeps.
enum class ElementFormat : uint8_t
{
    COMPUTE, //!< as activations
    FP32,    //!< 4 bytes
    /// 2 bytes more where activations have 16 bits, none where they have fp32: one of the elements
    /// that the operator's kind keeps is in fp32, as what autocast leaves in fp32.
    WIDER,
    /// 4 bytes where activations have 16 bits, none where they have fp32: what was cast to the
    /// element in 16 bits that is kept, too, as a softmax under autocast.
    FP32_OF_CAST,
};

/**
 * @ingroup proteus
 * The kernels, besides matrix products, that a framework issues for one pass of an operator, and
 * what they move per point of its iteration space. A point is an element of the input of a norm or
 * an activation, a logit of a loss, or a parameter of an update; of a router a probability, of
 * "weighted-bias" an element of the result of an expert's product (see
 * ModelOperator::hasWeightedBias), of "dispatch" and "combine" an element of what goes to experts
 * or comes back from them
 * ("flex-dispatch" and "flex-combine": where it goes once to a server). A rule for attention is one
 * that keeps its scores; "masked-attention": without dropout, "plain-attention": without a mask,
 * too.
 */
struct KernelRule
{
    uint32_t kernels{1};       //!< how many
    double computeElements{0}; //!< read and written in the format of activations
    double fp32Elements{0};    //!< read and written with 4 bytes
    double bytes{0};           //!< what else is, e.g. masks
    /// Kernels among them that only convert between the format of activations and fp32, an element
    /// of each per point. Where activations have fp32, there are none.
    uint32_t casts{0};
    /// What is kept for the backward pass besides what the operator's kind keeps: an element per
    /// point for each, in the format of activations or in fp32.
    std::vector<ElementFormat> kept;
    /// Held while the kernels of the pass run, where they hold most, besides what they read, keep
    /// and write: elements per point in the format of activations. Below 0 where the result is not
    /// there yet.
    double heldComputeElements{0};
    double heldFp32Elements{0}; //!< the same with 4 bytes
    /// Time of the host for each expert of the model besides that of the kernels, picoseconds:
    /// pieces of tokens that are split and listed expert by expert. Of "dispatch" and "combine".
    int64_t hostPerExpertPs{0};
    /// Time of the host for the whole operator in this pass where it was measured, in place of that
    /// of its kernels and of HostCost::operatorPs, picoseconds; below 0: as these are.
    int64_t hostPs{-1};
    /// Copies of queries, keys, values or the result, each read and written in the format of
    /// activations, e.g. to bring heads together. Of attention.
    uint32_t headCopies{0};
    /// Kernels for each expert of the device besides. Of "weighted-bias".
    uint32_t expertKernels{0};
    /// Whether the host waits in it until the GPU has done all that was issued, as a copy of a
    /// number to the GPU makes it.
    bool isAwaited{false};
    /// Read and written besides in a loop over equal blocks, to put what is kept for the backward
    /// pass into arrays of all blocks, or to take it out: elements per point in the format of
    /// activations. See StackCost.
    double stackedComputeElements{0};
    double stackedFp32Elements{0}; //!< the same with 4 bytes

    /// @param elementBytes of an activation @return bytes per point that are held
    double GetHeldBytes(uint32_t elementBytes) const
    {
        return heldComputeElements * elementBytes + heldFp32Elements * 4;
    }

    /// @param elementBytes of an activation @return bytes per point, if the operator is in a loop
    /// over equal blocks and is not computed again
    double GetStackedBytes(uint32_t elementBytes) const
    {
        return stackedComputeElements * elementBytes + stackedFp32Elements * 4;
    }

    /// @param elementBytes of an activation @return bytes per point
    double GetBytes(uint32_t elementBytes) const
    {
        const double converted = elementBytes == 4 ? casts : 0;
        return (computeElements - converted) * elementBytes + (fp32Elements - converted) * 4 +
               bytes;
    }

    /// @param elementBytes of an activation @return how many kernels there are
    uint32_t GetNKernels(uint32_t elementBytes) const
    {
        return kernels - (elementBytes == 4 ? casts : 0);
    }
};

/// @ingroup proteus
/// The rules for an operator; a pass without one has the one kernel that the compiler counts.
struct OperatorRule
{
    std::optional<KernelRule> forward;  //!< of the forward pass
    std::optional<KernelRule> backward; //!< of the backward pass, all its parts together
};

/// @ingroup proteus
/// Time of the host, besides KernelCostParameters::hostPerKernelPs of each kernel.
struct HostCost
{
    /// Of a kernel of the backward pass, whose operators no interpreter calls, picoseconds; below
    /// 0: as of all others.
    int64_t backwardKernelPs{-1};
    int64_t operatorPs{0}; //!< of an operator and pass: modules and their hooks, picoseconds
    /// Of a block and pass: units of sharding and their hooks, picoseconds. Blocks that repeat are
    /// units (their names end with a number), and all else is one more.
    int64_t blockPs{0};
    /// The same in the backward pass, picoseconds; below 0: as forward.
    int64_t backwardBlockPs{-1};
    bool blocksOfZero3{false}; //!< whether blocks are units under ZeRO 3 only
    /// Of a tensor of parameters in an update and what precedes it, picoseconds.
    int64_t tensorPs{0};
    /// Whether the host issues kernels while the GPU is busy with earlier ones of the same pass;
    /// else an operator takes the longer of both times.
    bool isAhead{false};
    /// Whether it waits in the forward pass until the GPU has counted the tokens of each expert,
    /// before it issues what brings them there ("dispatch").
    bool waitsAtDispatch{false};
    /// Whether it does so only where tokens go to other devices: an exchange needs their numbers,
    /// while one kernel that has the products of all experts reads them itself.
    bool waitsAtExchange{false};
    /// Whether it issues what gathers the parameters of the next unit (ZeRO 3) behind that wait, so
    /// that the way of these parameters is hidden by the experts alone.
    bool gathersBehindDispatch{false};
    /// Whether each expert's product is issued as a kernel of its own; else one kernel has those of
    /// all experts of a GPU.
    bool issuesEveryExpert{false};
    /// Then the time of a product of each expert but the first, picoseconds; below 0: as of a
    /// kernel.
    int64_t expertKernelPs{-1};
    int64_t backwardExpertKernelPs{-1}; //!< the same in the backward pass
    /// Whether it waits for every kernel before it issues the next (CUDA_LAUNCH_BLOCKING): an
    /// operator takes the sum of both times.
    bool waitsForKernels{false};
    /// Whether the kernels of a stage wait until what it sends to a neighbour is there, and two
    /// stages have one message between them on its way at a time: the activations first, then the
    /// gradient (CompileOptions::waitsForTransfers).
    bool waitsForTransfers{false};
    /// Then whether activations and a gradient that cross go both ways at once
    /// (CompileOptions::exchangesTransfers).
    bool exchangesTransfers{false};
    /// How many times as long as said here the hosts of some GPUs take, by how the names of their
    /// data sheets begin: a GPU stands for the processors of its usual servers.
    std::map<std::string, double> paces;

    /// @param gpu name of its data sheet @return how many times as long its host takes: of the
    /// longest name that fits, 1 if none does
    double FindPace(const std::string& gpu) const;
};

/**
 * @ingroup proteus
 * What products in fp8 need besides: kernels that find scales and cast operands. Without them a
 * kernel casts each element of an input or of a result's gradient once, from 2 bytes into two
 * copies, and weights are moved as in 16 bits.
 */
struct Float8Rules
{
    std::optional<KernelRule> input;          //!< per element of a product's input
    std::optional<KernelRule> gradient;       //!< per element of the gradient of its result
    std::optional<KernelRule> weightForward;  //!< per weight, for Framework::weightForwardBytes
    std::optional<KernelRule> weightBackward; //!< per weight, for Framework::weightBackwardBytes
    /// Whether weights of such products are gathered in one byte where replicas share them (ZeRO
    /// 3).
    bool gathersWeights{false};
};

/**
 * @ingroup proteus
 * What a loop over equal blocks moves besides, as a compiler runs it that turns a whole step into
 * one program (jax.lax.scan): what the blocks keep for the backward pass lies in arrays of all of
 * them, which are filled with zeros before, and is copied there and back. Of products; other
 * operators have KernelRule::stackedComputeElements. Blocks are a model's numbered ones; what is
 * computed again is not kept.
 */
struct StackCost
{
    double weightForwardBytes{0};     //!< per weight
    double weightBackwardBytes{0};    //!< the same behind the product of its gradient
    double resultForwardElements{0};  //!< per element of a product's result, as activations
    double resultBackwardElements{0}; //!< the same in the backward pass
};

/// @ingroup proteus
/// What a framework has where a strategy or a model says nothing.
struct FrameworkDefaults
{
    /// What a strategy's short form has, as "NAME" and the value as JSON.
    std::map<std::string, std::string> plan;
    /// Variables of every model, see LoadModel(): "fusesAttention", "fusesLoss", "sharesHeads".
    std::map<std::string, int64_t> variables;
};

/// @ingroup proteus
/// A training framework. The default one is megatron-2022, to which the operator cost was fitted.
struct Framework
{
    Framework() = default;

    /// @param cost of kernels, with nothing else said of the framework
    Framework(const KernelCostParameters& cost) // NOLINT: what compiles took parameters before
        : kernels(cost)
    {
    }

    std::string name{"megatron-2022"}; //!< as chosen
    std::string description;           //!< what it is, one sentence
    KernelCostParameters kernels;      //!< efficiencies and the host's time per kernel
    HostCost host;                     //!< other time of the host
    /// By kind of operator, e.g. "layer-norm"; "gradient-clipping" and "adam" per parameter.
    std::map<std::string, OperatorRule> operators;
    double weightForwardBytes{0};  //!< moved per weight before a product, e.g. to cast it
    double weightGatheredBytes{0}; //!< the same besides, where ZeRO 3 brings it from other devices
    double weightBackwardBytes{0}; //!< moved per weight after the product of its gradient
    /// Elements of a gradient that are read and written before it is reduced, per weight and in the
    /// format it is reduced in, where there are several GPUs, e.g. to divide it by their number.
    double reducedElements{0};
    /// Kernels of their own that do so, per tensor.
    double reducedKernels{0};
    /// Kernels that bring the running statistics of a batch norm from the first GPU before each
    /// forward pass, where there are several.
    uint32_t statisticsKernels{0};
    /// Bytes for each weight that these make in a job, which sets it.
    double reducedBytes{0};
    /// Whether gradients are cast to that format first, where it is another than that of
    /// activations.
    bool castsGradients{false};
    uint32_t biasKernels{0};         //!< before a product, for its bias, e.g. to cast it
    uint32_t biasBackwardKernels{0}; //!< after it: the sum over rows, and e.g. its cast
    Float8Rules float8;              //!< of products in fp8
    StackCost stacks;                //!< of products in a loop over blocks
    FrameworkDefaults defaults;      //!< of strategies and models

    /**
     * @param kind of an operator
     * @param isForward which pass
     * @return the rule, null if there is none
     */
    const KernelRule* FindRule(const std::string& kind, bool isForward) const;

    /// @param elementBytes of an activation @param gradientBytes of a gradient that is reduced
    /// @return what is moved per weight of 16 bits before its gradient is reduced, bytes
    double GetReductionBytes(uint32_t elementBytes, uint32_t gradientBytes) const;
};

/// @ingroup proteus
/// Where the host is against its GPU, kernel after kernel of one pass.
class HostLead
{
  public:
    /**
     * @param pass number of the pass; when it changes, the GPU is idle at first
     * @param hostPs what the host needs to issue an operator, picoseconds
     * @param gpuPs what the GPU needs to run it, picoseconds
     * @return what the operator adds to its stream, picoseconds: its own time, and how long the GPU
     * had to wait for the host
     */
    int64_t Add(uint64_t pass, int64_t hostPs, int64_t gpuPs);

    /// Lets the host wait until the GPU has done all that was issued.
    void Wait()
    {
        m_leadPs = 0;
    }

  private:
    uint64_t m_pass{~uint64_t{0}}; //!< the last one
    int64_t m_leadPs{0};           //!< how long the GPU is busy with what was issued
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FRAMEWORK_H
