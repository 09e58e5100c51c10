/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-framework-kernels.h"

#include "proteus-issuing-host.h"
#include "proteus-kernel-times.h"
#include "proteus-sequence-copy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

namespace ns3
{
namespace proteus
{

namespace
{

/// The activation of gpt-oss, and the bias of its experts' second products.
constexpr const char* CLAMPED_SWIGLU = "clamped-swiglu";
constexpr const char* WEIGHTED_BIAS = "weighted-bias";
/// The activation of T5 1.1, whose GELU is written out.
constexpr const char* COMPOSED_GEGLU = "composed-geglu";
/// The rotation of gpt-oss, by sines and cosines times the factor of YaRN.
constexpr const char* SCALED_ROTARY = "scaled-rotary";

/**
 * Elements that a device sends to experts, or gets back from them: those of its tokens, as often as
 * each has experts. Tokens are known by the extents, the rest by the traffic that the compiler
 * counted.
 * @param kernel a "dispatch" or "combine", whose extents are batch, sequence, experts, features
 * @param elementBytes of an activation
 * @return how many
 */
double
CountDispatched(const KernelDescription& kernel, uint32_t elementBytes)
{
    const auto tokens = static_cast<double>(kernel.extents.at(0) * kernel.extents.at(1));
    const double probabilities = tokens * static_cast<double>(kernel.extents.at(2));
    const double features = tokens * static_cast<double>(kernel.extents.at(3));
    const double all = static_cast<double>(kernel.bytes) / elementBytes;
    // The backward pass of "combine" reads results and writes their gradients, and also reads
    // probabilities and writes theirs; all other passes move each once.
    const bool isBoth = kernel.kind == "combine" && !kernel.part.empty();
    const double moved = all - features - probabilities * (isBoth ? 2 : 1);
    return std::max(0.0, isBoth ? moved / 2 : moved);
}

/// @return what a rule of an operator is per: points of its iteration space, or what stands for
/// them
double
CountPoints(const KernelDescription& kernel, DataType activation)
{
    if (kernel.kind == "dispatch" || kernel.kind == "combine")
    {
        return CountDispatched(kernel, std::max(2U, GetElementBytes(activation)));
    }
    if (kernel.kind == "rotary" || kernel.kind == SCALED_ROTARY)
    {
        constexpr double FLOPS = 3; // of an element; its last dimension counts heads
        return kernel.flops / FLOPS;
    }
    // Of attention batch, heads, rows and columns: a trained bias has its classes of distances
    // behind them, of which every score has one. Of a router all but what is summed over.
    std::size_t nAxes = kernel.extents.size();
    nAxes = kernel.kind == "attention" ? std::min<std::size_t>(nAxes, 4) : nAxes;
    nAxes -= kernel.kind == "router" ? 1 : 0;
    return std::accumulate(
        kernel.extents.begin(),
        kernel.extents.begin() + static_cast<std::ptrdiff_t>(nAxes),
        1.0,
        [](double product, uint64_t extent) { return product * static_cast<double>(extent); });
}

/// @return the rule that a framework has for a kernel, null if it has none
const KernelRule*
FindRule(const Framework& framework, const KernelDescription& kernel, const KernelWork& work)
{
    return FindKernelRule(framework,
                          kernel.kind,
                          kernel.part.empty(),
                          {kernel.isFlex,
                           work.kernelClass == KernelClass::FUSED_ATTENTION,
                           kernel.hasMask,
                           kernel.hasDropout});
}

/// @return a rule of an update where parameters have no master copy in fp32: what it moves with 4
/// bytes has 16 bits, and nothing is copied into these
KernelRule
WithoutMaster(KernelRule rule)
{
    rule.computeElements = rule.fp32Elements;
    rule.fp32Elements = 0;
    return rule;
}

/// Puts a rule in the place of what there is besides matrix products.
void
ApplyRule(const KernelRule& rule, double points, DataType activation, KernelWork& work)
{
    const uint32_t element = std::max(2U, GetElementBytes(activation));
    work.bytes = static_cast<uint64_t>(std::llround(rule.GetBytes(element) * points));
    work.otherKernels = rule.GetNKernels(element);
}

/// @return bytes that copies of queries, keys, values and results move
uint64_t
CountCopiedBytes(const KernelRule& rule, const KernelDescription& kernel, DataType activation)
{
    if (rule.headCopies == 0)
    {
        return 0;
    }
    // Batch, heads, rows and columns: as many queries and results as rows, as many keys and values
    // as columns.
    const uint64_t positions = kernel.extents.at(2) + kernel.extents.at(3);
    const uint64_t both = kernel.extents.at(0) * kernel.extents.at(1) * kernel.head.key * positions;
    return std::max(2U, GetElementBytes(activation)) * both * rule.headCopies; // read and written
}

/// @return what the block of threads that has a channel reads and writes of it (channels first)
uint64_t
CountElementsOfChannel(const KernelRule& rule, const KernelDescription& kernel, double points)
{
    constexpr std::size_t CHANNELS = 1; // of images, channels, height, width
    const auto channels = static_cast<double>(kernel.extents.at(CHANNELS));
    return static_cast<uint64_t>(
        std::llround((rule.computeElements + rule.fp32Elements) * points / channels));
}

/// Adds the kernels of a bias. Its gradient is a sum over the rows of the result's. To the result
/// of a convolution a kernel of its own adds it (cudnn_convolution() of ATen has none).
void
AddBiasKernels(const Framework& framework, bool isForward, KernelWork& work)
{
    const uint64_t element = std::max(2U, GetElementBytes(work.type));
    const bool isWide = element == 4; // nothing is cast
    const uint32_t kernels = isForward ? framework.biasKernels : framework.biasBackwardKernels;
    if (kernels == 0)
    {
        return;
    }
    if (!isForward)
    {
        const MatrixProduct& product = work.products.back(); // {out, in, rows}
        work.otherKernels += isWide ? 1 : kernels;
        work.bytes += element * product.batch * product.m * product.k;
        return;
    }
    const bool isAdded = work.kernelClass == KernelClass::CONVOLUTION;
    const MatrixProduct& product = work.products.front(); // {rows, in, out}
    work.otherKernels += (isWide ? 0 : kernels) + (isAdded ? 1 : 0);
    work.bytes += isAdded ? 2 * element * product.batch * product.m * product.n : 0;
}

/// Adds the kernels of a bias that is multiplied by a probability for each row: behind the product
/// forward, before that of the input's gradient backward.
void
AddWeightedBias(const Framework& framework,
                const KernelDescription& kernel,
                DataType activation,
                KernelWork& work)
{
    if (!kernel.hasWeightedBias || work.pass == KernelPass::WEIGHT_GRADIENT)
    {
        return;
    }
    const bool isForward = kernel.part.empty();
    // Without a rule one kernel reads and writes the result, and one reads its gradient.
    KernelRule one;
    one.computeElements = isForward ? 2 : 1;
    const KernelRule* const found = framework.FindRule(WEIGHTED_BIAS, isForward);
    const KernelRule& rule = found ? *found : one;
    const MatrixProduct& product =
        work.products.front(); // {rows, out, in}; backward {rows, in, out}
    const uint64_t results = product.batch * product.m * (isForward ? product.n : product.k);
    const uint32_t element = std::max(2U, GetElementBytes(activation));
    work.bytes +=
        static_cast<uint64_t>(std::llround(rule.GetBytes(element) * static_cast<double>(results)));
    work.otherKernels += rule.GetNKernels(element) +
                         rule.expertKernels * static_cast<uint32_t>(kernel.extents.front());
}

/// Puts the framework's kernels that cast a product's operands to fp8 in the place of the one that
/// is counted without them.
void
CastOperands(const Float8Rules& rules,
             const KernelDescription& kernel,
             DataType activation,
             KernelWork& work)
{
    const bool isForward = kernel.part.empty();
    const std::optional<KernelRule>& rule = isForward ? rules.input : rules.gradient;
    const bool isLinear = kernel.kind == "linear" || kernel.kind == "expert-linear";
    if (!rule || !isLinear || work.type != DataType::FP8 || work.otherKernels == 0)
    {
        return; // products of weights' gradients use what was cast before
    }
    constexpr uint64_t COUNTED = 4;                       // bytes: read in 16 bits, written twice
    const MatrixProduct& product = work.products.front(); // {rows, .., what is summed over}
    const uint64_t elements = product.batch * product.m * product.k;
    const uint32_t element = std::max(2U, GetElementBytes(activation));
    work.bytes -= COUNTED * elements;
    work.bytes += static_cast<uint64_t>(
        std::llround(rule->GetBytes(element) * static_cast<double>(elements)));
    work.otherKernels += rule->GetNKernels(element) - 1;
}

/// The product of a pass that has weights for an operand or, in the backward pass, their gradient
/// for a result.
struct WeightPass
{
    bool isForward{false};   //!< x w
    bool hasGradient{false}; //!< the gradient of w; neither: that of x alone
    double weights{0};       //!< elements of w
    double results{0};       //!< elements of x w
};

/// @param kernel with products @param work of it @return which pass it is
WeightPass
FindWeightPass(const KernelDescription& kernel, const KernelWork& work)
{
    WeightPass pass;
    pass.isForward = kernel.part.empty();
    pass.hasGradient =
        work.pass == KernelPass::WEIGHT_GRADIENT || work.pass == KernelPass::BACKWARD;
    // x w of {rows, out, in} forward; the gradient of w is {out, in, rows}, the last product.
    const MatrixProduct& product = pass.isForward ? work.products.front() : work.products.back();
    const auto batch = static_cast<double>(product.batch);
    const auto m = static_cast<double>(product.m);
    const auto n = static_cast<double>(product.n);
    const auto k = static_cast<double>(product.k);
    pass.weights = batch * n * (pass.isForward ? k : m);
    pass.results = batch * m * (pass.isForward ? n : k);
    return pass;
}

/// Adds what a loop over equal blocks moves to keep what a product needs in the backward pass.
void
AddStacks(const StackCost& stacks,
          const KernelDescription& kernel,
          DataType activation,
          KernelWork& work)
{
    const bool isLinear = kernel.kind == "linear" || kernel.kind == "expert-linear";
    if (!isLinear || !kernel.isKept || work.kernelClass != KernelClass::GEMM)
    {
        return;
    }
    const WeightPass pass = FindWeightPass(kernel, work);
    const uint32_t element = std::max(2U, GetElementBytes(activation));
    const double bytes = pass.isForward ? stacks.weightForwardBytes * pass.weights +
                                              stacks.resultForwardElements * element * pass.results
                         : pass.hasGradient
                             ? stacks.weightBackwardBytes * pass.weights +
                                   stacks.resultBackwardElements * element * pass.results
                             : 0;
    if (bytes > 0)
    {
        work.bytes += static_cast<uint64_t>(std::llround(bytes));
        ++work.otherKernels;
    }
}

/// Adds what is done to weights and biases besides the products.
void
AddWeightTraffic(const Framework& framework, const KernelDescription& kernel, KernelWork& work)
{
    if (work.kernelClass != KernelClass::GEMM && work.kernelClass != KernelClass::CONVOLUTION)
    {
        return;
    }
    const WeightPass pass = FindWeightPass(kernel, work);
    if (kernel.hasBias && (pass.isForward || pass.hasGradient))
    {
        AddBiasKernels(framework, pass.isForward, work);
    }
    const bool isMoved = GetElementBytes(work.type) != 4 && kernel.movesWeights;
    double perWeight = !isMoved           ? 0 // nothing is cast or copied
                       : pass.isForward   ? framework.weightForwardBytes
                       : pass.hasGradient ? framework.weightBackwardBytes
                                          : 0;
    if (kernel.isInFourBits)
    {
        // dequantize_4bit() of bitsandbytes (functional.py): the scales, their mean, the weights.
        constexpr uint32_t KERNELS = 3;
        const double made = FOUR_BIT_BYTES + std::max(2U, GetElementBytes(work.type));
        work.bytes += static_cast<uint64_t>(std::llround(made * pass.weights));
        work.otherKernels += KERNELS;
        perWeight *= FOUR_BIT_BYTES / 2; // what is copied is in four bits
    }
    const std::optional<KernelRule>& rule =
        pass.isForward ? framework.float8.weightForward : framework.float8.weightBackward;
    if (work.type == DataType::FP4)
    {
        const double times = pass.isForward ? 1.0 / kernel.microBatches : 0;
        work.bytes += static_cast<uint64_t>(std::llround(FP4_WEIGHT_BYTES * times * pass.weights));
        work.otherKernels +=
            static_cast<uint32_t>(std::llround(times * static_cast<double>(FP4_WEIGHT_KERNELS)));
    }
    else if (rule && work.type == DataType::FP8)
    {
        constexpr uint32_t HALF = 2; // bytes of what is not in fp8
        const bool isCast = pass.isForward || pass.hasGradient;
        work.bytes +=
            isCast ? static_cast<uint64_t>(std::llround(rule->GetBytes(HALF) * pass.weights)) : 0;
        work.otherKernels += isCast ? rule->GetNKernels(HALF) : 0;
    }
    else if (perWeight > 0)
    {
        work.bytes += static_cast<uint64_t>(std::llround(perWeight * pass.weights));
        ++work.otherKernels;
    }
    if (pass.hasGradient && kernel.gradients > 0)
    {
        work.bytes += static_cast<uint64_t>(std::llround(framework.reducedBytes * pass.weights));
    }
}

} // namespace

const std::vector<RuledKind>&
GetRuledKinds()
{
    static const std::vector<RuledKind> kinds{{"adafactor", false, false, true},
                                              {"adam", false, false, true},
                                              {"adam-foreach", false, false, true},
                                              {"adam-fused", false, false, true},
                                              {"adam8bit", false, false, true},
                                              {"add"},
                                              {"adapter-add"},
                                              {"attention", false, true},
                                              {"batch-norm"},
                                              {CLAMPED_SWIGLU},
                                              {"combine", true},
                                              {COMPOSED_GEGLU},
                                              {"composed-gelu"},
                                              {"cross-entropy"},
                                              {"dispatch", true},
                                              {"dropout"},
                                              {"dropout-add"},
                                              {"flex-combine"},
                                              {"flex-dispatch"},
                                              {"gelu"},
                                              {"gradient-clipping", false, false, true},
                                              {"lamb", false, false, true},
                                              {"lars", false, false, true},
                                              {"layer-norm"},
                                              {"layer-scale"},
                                              {"masked-attention", false, true},
                                              {"momentum", false, false, true},
                                              {"muon", false, false, true},
                                              {"plain-attention", false, true},
                                              {"relu"},
                                              {"rms-norm"},
                                              {"rotary"},
                                              {"router"},
                                              {SCALED_ROTARY},
                                              {SEQUENCE_COPY},
                                              {"scale"},
                                              {"sgd", false, false, true},
                                              {"silu"},
                                              {"softmax"},
                                              {"squared-relu"},
                                              {"swiglu"},
                                              {"tanh"},
                                              {"vocabulary-loss"},
                                              {"vocabulary-maximum"},
                                              {"vocabulary-sum"},
                                              {WEIGHTED_BIAS, false, false, false, true},
                                              {"wide-adapter-add"},
                                              {"wide-dropout"},
                                              {"widen"}};
    return kinds;
}

const KernelRule*
FindKernelRule(const Framework& framework,
               const std::string& kind,
               bool isForward,
               const RuleVariant& variant)
{
    if (variant.isFused)
    {
        return nullptr; // a rule of attention is about scores, which it does not write
    }
    const bool isPlain = kind == "attention" && !variant.hasDropout;
    const std::string prefix = isPlain          ? variant.hasMask ? "masked-" : "plain-"
                               : variant.isFlex ? "flex-"
                                                : "";
    const KernelRule* rule =
        prefix.empty() ? nullptr : framework.FindRule(prefix + kind, isForward);
    rule = rule ? rule : framework.FindRule(kind, isForward);
    // Bounds, and what a GELU is made of, are in the kernels of the activation.
    if (!rule && (kind == CLAMPED_SWIGLU || kind == COMPOSED_GEGLU))
    {
        return framework.FindRule("swiglu", isForward);
    }
    return rule || kind != SCALED_ROTARY ? rule : framework.FindRule("rotary", isForward);
}

void
ApplyFramework(const Framework& framework,
               const KernelDescription& kernel,
               DataType activation,
               KernelWork& work)
{
    const double points = CountPoints(kernel, activation);
    if (const KernelRule* rule = FindRule(framework, kernel, work))
    {
        ApplyRule(kernel.hasMaster ? *rule : WithoutMaster(*rule), points, activation, work);
        work.bytes += CountCopiedBytes(*rule, kernel, activation);
        if (kernel.isKept)
        {
            const uint32_t element = std::max(2U, GetElementBytes(activation));
            work.bytes +=
                static_cast<uint64_t>(std::llround(rule->GetStackedBytes(element) * points));
        }
        if (kernel.kind == "batch-norm" && IsChannelsFirst(framework.kernels.images, activation))
        {
            work.blockElements = CountElementsOfChannel(*rule, kernel, points);
        }
    }
    if (kernel.tensors > 0)
    {
        if (const KernelRule* clip = framework.FindRule("gradient-clipping", true))
        {
            KernelWork clipping;
            ApplyRule(kernel.hasMaster ? *clip : WithoutMaster(*clip),
                      points,
                      activation,
                      clipping);
            work.bytes += clipping.bytes;
            work.otherKernels += clipping.otherKernels;
        }
    }
    CastOperands(framework.float8, kernel, activation, work);
    AddWeightedBias(framework, kernel, activation, work);
    AddWeightTraffic(framework, kernel, work);
    work.otherKernels += CountReplicaKernels(framework, kernel);
    AddStacks(framework.stacks, kernel, activation, work);
}

namespace
{

/**
 * Pieces of a product beside a collective run on three streams in turn (Transformer Engine,
 * NVTE_COMM_OVERLAP_MAX_STREAMS of comm_gemm_overlap.h; _stream_compute[i % size] of
 * comm_gemm_overlap.cpp): pieces that do not fill the GPU run beside each other.
 * @param model of kernels @param kernel a piece @param work of it
 * @return its time, of which that on the GPU is a share of that of as many as run at once
 */
KernelTime
GetTimeOfPiece(const KernelCostModel& model,
               const KernelDescription& kernel,
               const KernelWork& work)
{
    constexpr uint32_t STREAMS = 3;
    KernelTime time = model.GetTime(work);
    if (kernel.pieces < 2 || time.isMeasured)
    {
        return time;
    }
    const uint32_t beside = std::min(STREAMS, kernel.pieces);
    KernelWork all = work;
    for (MatrixProduct& product : all.products)
    {
        product.batch *= beside;
        product.bytes *= beside;
    }
    all.bytes *= beside;
    const KernelTime together = model.GetTime(all);
    if (together.gpuPs / beside < time.gpuPs)
    {
        time.gpuPs = together.gpuPs / beside;
        time.productPs = together.productPs / beside;
    }
    return time;
}

} // namespace

std::function<int64_t(const KernelDescription&)>
MakeFrameworkTimer(const KernelCostModel& model,
                   const Framework& framework,
                   DataType activation,
                   uint32_t gradientBytes,
                   StageHosts* stages)
{
    const auto host = std::make_shared<IssuingHost>(framework,
                                                    model.GetGpu().model,
                                                    stages); // functions are copied
    return [&model, &framework, host, activation, gradientBytes](
               const KernelDescription& kernel) -> int64_t {
        auto work = DescribeKernel(kernel, activation, gradientBytes);
        if (!work)
        {
            return -1;
        }
        ApplyFramework(framework, kernel, activation, *work);
        const KernelRule* rule = FindRule(framework, kernel, *work);
        return host->GetPs(kernel, *work, rule, GetTimeOfPiece(model, kernel, *work));
    };
}

std::function<KernelUse(const KernelDescription&)>
MakeFrameworkUse(const KernelCostModel& model,
                 const Framework& framework,
                 DataType activation,
                 uint32_t gradientBytes)
{
    return [&model, &framework, activation, gradientBytes](const KernelDescription& kernel) {
        KernelUse use;
        if (kernel.kind == SEQUENCE_COPY && !FindKernelRule(framework, kernel.kind, true, {}))
        {
            return use; // it makes none
        }
        if (auto work = DescribeKernel(kernel, activation, gradientBytes))
        {
            ApplyFramework(framework, kernel, activation, *work);
            const KernelTime time = GetTimeOfPiece(model, kernel, *work);
            use.threadBlocks = static_cast<uint32_t>(
                std::min<uint64_t>(time.threadBlocks, std::numeric_limits<uint32_t>::max()));
            use.gpuPs = time.gpuPs;
            use.productPs = time.productPs;
            if (const KernelRule* rule = FindRule(framework, kernel, *work))
            {
                const uint32_t element = std::max(2U, GetElementBytes(activation));
                use.heldBytes = static_cast<uint64_t>(
                    std::llround(rule->GetHeldBytes(element) * CountPoints(kernel, activation)));
            }
        }
        return use;
    };
}

} // namespace proteus
} // namespace ns3
