/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-kernel-times.h"

#include "proteus-newton-schulz.h"
#include "proteus-operator-kinds.h"
#include "proteus-sequence-copy.h"

#include "ns3/proteus-convolution-cost.h"
#include "ns3/proteus-shown-name.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

using Describe = KernelWork (*)(const KernelDescription& kernel,
                                DataType activation,
                                uint32_t gradientBytes);

/// @return product of the extents from `begin` on, without the last `without`
uint64_t
Points(const KernelDescription& kernel, std::size_t begin, std::size_t without)
{
    const auto& extents = kernel.extents;
    return std::accumulate(extents.begin() + static_cast<std::ptrdiff_t>(begin),
                           extents.end() - static_cast<std::ptrdiff_t>(without),
                           uint64_t{1},
                           std::multiplies<>());
}

KernelPass
GetPass(const KernelDescription& kernel)
{
    return kernel.part.empty()                    ? KernelPass::FORWARD
           : kernel.part == "input-gradient"      ? KernelPass::INPUT_GRADIENT
           : kernel.part.rfind("weight-", 0) == 0 ? KernelPass::WEIGHT_GRADIENT
                                                  : KernelPass::BACKWARD;
}

/// The traffic is what the compiler counted; in fp8 the operands have half of it.
void
SetTraffic(KernelWork& work, const KernelDescription& kernel)
{
    if (!IsQuantized(work.type))
    {
        work.products.front().bytes = kernel.bytes;
    }
}

/// A backward pass whose two products the compiler made one kernel of: each has half of the work.
KernelWork
DescribeBoth(Describe describe,
             const char* first,
             const char* second,
             const KernelDescription& kernel,
             DataType activation,
             uint32_t gradientBytes)
{
    KernelDescription half = kernel;
    half.flops /= 2;
    half.bytes /= 2;
    half.part = first;
    KernelWork work = describe(half, activation, gradientBytes);
    half.part = second;
    const KernelWork other = describe(half, activation, gradientBytes);
    work.products.insert(work.products.end(), other.products.begin(), other.products.end());
    work.bytes += other.bytes;
    work.otherKernels += other.otherKernels;
    work.pass = KernelPass::BACKWARD;
    return work;
}

/// x[.., in] w[out, in]; the extent of "out" may count groups of outputs.
KernelWork
DescribeLinear(const KernelDescription& kernel, DataType /* activation */, uint32_t gradientBytes)
{
    const uint64_t in = kernel.extents.back();
    const uint64_t rows = Points(kernel, 0, 2);
    const auto out = static_cast<uint64_t>(
        std::llround(kernel.flops / (2.0 * static_cast<double>(rows) * static_cast<double>(in))));
    KernelWork work;
    switch (GetPass(kernel))
    {
    case KernelPass::INPUT_GRADIENT:
        work = MakeLinearInputGradientWork(rows, in, out, kernel.dataType);
        break;
    case KernelPass::WEIGHT_GRADIENT:
        work = MakeLinearWeightGradientWork(rows, in, out, kernel.dataType, gradientBytes);
        break;
    default:
        work = MakeLinearForwardWork(rows, in, out, kernel.dataType);
        break;
    }
    SetTraffic(work, kernel);
    return work;
}

/// experts, tokens, out, in: a product per expert.
KernelWork
DescribeExpertLinear(const KernelDescription& kernel, DataType activation, uint32_t gradientBytes)
{
    KernelDescription one = kernel;
    const uint64_t experts = kernel.extents.front();
    one.extents.erase(one.extents.begin());
    one.flops /= static_cast<double>(experts);
    KernelWork work = DescribeLinear(one, activation, gradientBytes);
    work.shape[0] = work.products.front().batch = experts;
    work.products.front().bytes *= experts;
    work.bytes *= experts;
    work.isGrouped = true;
    SetTraffic(work, kernel);
    return work;
}

/// .., experts, in: a narrow product, and the softmax.
KernelWork
DescribeRouter(const KernelDescription& kernel, DataType /* activation */, uint32_t)
{
    const uint64_t in = kernel.extents.back();
    const uint64_t experts = kernel.extents[kernel.extents.size() - 2];
    const uint64_t rows = Points(kernel, 0, 2);
    KernelWork work = MakeLinearForwardWork(rows, in, experts, kernel.dataType);
    if (!kernel.part.empty())
    {
        const KernelWork weight = MakeLinearWeightGradientWork(rows, in, experts, kernel.dataType);
        work = MakeLinearInputGradientWork(rows, in, experts, kernel.dataType);
        work.products.push_back(weight.products.front());
        work.pass = KernelPass::BACKWARD;
    }
    work.bytes += 2 * GetElementBytes(DataType::FP32) * rows * experts;
    ++work.otherKernels;
    return work;
}

/// .., m, k, n
KernelWork
DescribeMatmul(const KernelDescription& kernel, DataType /* activation */, uint32_t)
{
    const std::size_t rank = kernel.extents.size();
    const uint64_t batch = Points(kernel, 0, 3);
    uint64_t m = kernel.extents[rank - 3];
    uint64_t k = kernel.extents[rank - 2];
    uint64_t n = kernel.extents[rank - 1];
    if (kernel.part == "left-gradient")
    {
        std::swap(k, n);
    }
    else if (kernel.part == "right-gradient")
    {
        std::swap(m, k);
    }
    KernelWork work = MakeGemmWork(batch, m, n, k, kernel.dataType);
    SetTraffic(work, kernel);
    return work;
}

/// n, [group], out, in, height, width, kernel height, kernel width, of a group if there are
/// several. The compiler knows the output's size.
KernelWork
DescribeConvolution(const KernelDescription& kernel, DataType activation, uint32_t)
{
    std::vector<uint64_t> extents = kernel.extents;
    constexpr std::size_t GROUPED = 8; // dimensions
    const uint64_t groups = extents.size() == GROUPED ? extents[1] : 1;
    if (extents.size() == GROUPED)
    {
        extents.erase(extents.begin() + 1);
    }
    const uint64_t pixels = extents[0] * extents[3] * extents[4];
    const uint64_t filters = extents[1];
    const uint64_t window = extents[2] * extents[5] * extents[6];
    KernelWork work;
    work.kernelClass = KernelClass::CONVOLUTION;
    work.pass = GetPass(kernel);
    work.type = kernel.dataType;
    work.shape = extents;
    // What moves besides the output and the weights is the input; a stride makes it larger.
    const uint64_t others = groups * (pixels * filters + window * filters);
    const uint64_t all = kernel.bytes / GetElementBytes(activation);
    work.convolutionInput =
        std::max(all > others ? all - others : 0, groups * extents[0] * extents[2]);
    if (groups > 1)
    {
        MakeGrouped(work, groups, kernel.bytes);
        return work;
    }
    work.products = {work.pass == KernelPass::INPUT_GRADIENT
                         ? MatrixProduct{1, pixels, window, filters, kernel.bytes}
                     : work.pass == KernelPass::WEIGHT_GRADIENT
                         ? MatrixProduct{1, filters, window, pixels, kernel.bytes}
                         : MatrixProduct{1, pixels, filters, window, kernel.bytes}};
    return work;
}

/// Makes of an attention to the keys of one device those to the keys of all devices of a ring, as
/// the device sees them that has the end of the sequence: of causal attention it uses half of the
/// keys of each other one, for all of its queries, and the others wait for it. What it does besides
/// is what Transformer Engine does (d0067d0d, context_parallel.py, AttnFuncWithCPAndKVP2P): forward
/// keys and values are joined, the first result is scaled, and every further one scaled and added;
/// backward gradients of queries, keys and values are copied, and every further one added. The
/// logarithms of sums, an element per row, need a kernel for each device.
/// @param queries elements of the device's queries @param keys elements of its keys and values
/// @param isCausal whether it is causal attention
void
MakeRing(KernelWork& work, uint32_t ring, uint64_t queries, uint64_t keys, bool isCausal)
{
    constexpr uint64_t COPY = 2; // elements: one read, one written
    constexpr uint64_t SUM = 3;  // two read, one written
    const uint64_t others = ring - 1;
    const bool isForward = work.pass == KernelPass::FORWARD;
    work.parts = ring;
    work.fusedFlops *= ring;
    // Of keys and values that others have, half get gradients from this device, or all.
    const uint64_t used = isCausal ? 2 : 1;
    const uint64_t elements =
        (COPY + SUM * others) * queries +
        (isForward ? COPY * keys : (COPY + SUM) * keys + (COPY + SUM * (others - 1)) * keys / used);
    work.mergedBytes = GetElementBytes(work.type) * elements;
    const uint32_t merging = isForward ? 1 + 2 * ring : 1 + 3 * ring;
    work.otherKernels = ring * work.otherKernels + merging;
}

/// batch, heads (groups of them), rows, columns. Each document is a sequence of its own.
KernelWork
DescribeAttention(const KernelDescription& kernel, DataType activation, uint32_t)
{
    const auto& extents = kernel.extents;
    const bool forward = kernel.part.empty();
    const uint64_t matrices = extents[0] * extents[1] * kernel.documents;
    const uint64_t queries = std::max<uint64_t>(1, extents[2] / kernel.documents);
    const uint64_t keys = std::max<uint64_t>(1, extents[3] / kernel.documents);
    // A window leaves out some of the scores, see ModelOperator::window.
    const bool hasWindow = kernel.window > 0 && kernel.window < keys;
    const double seen = GetWindowShare(kernel.window, keys);
    const double scores = static_cast<double>(matrices) * static_cast<double>(queries) *
                          static_cast<double>(keys) * seen;
    const double element = std::max(2U, GetElementBytes(activation));
    // Fused or not, queries, keys, values and the result move once. If the scores are kept, they
    // move as well, at least 10 bytes for each: that tells unfused attention.
    auto vectors = [&](double width) {
        const double single = element * static_cast<double>(matrices) * width;
        const double both = static_cast<double>(queries) + static_cast<double>(keys);
        return (forward ? 2 : 4) * single * both;
    };
    const double perScore = kernel.flops / scores;
    const double unfusedWidth = perScore / (forward ? 4 : 8);
    const bool isFused = kernel.head.key != kernel.head.value ||
                         static_cast<double>(kernel.bytes) < vectors(unfusedWidth) + 5 * scores;
    const DataType type = kernel.dataType;
    const KernelPass pass = forward ? KernelPass::FORWARD : KernelPass::BACKWARD;
    if (isFused)
    {
        // The compiler counts groups of heads that share keys and values; operations tell how many
        // heads one has.
        HeadWidths head = kernel.head;
        if (head.key == 0)
        {
            head.key = head.value =
                static_cast<uint64_t>(std::llround(perScore / (forward ? 4 : 10)));
        }
        const auto perHead = static_cast<double>(forward ? 2 * (head.key + head.value)
                                                         : 6 * head.key + 4 * head.value);
        const auto heads = static_cast<uint64_t>(std::llround(perScore / perHead));
        const uint64_t own = std::max<uint64_t>(1, keys / kernel.ring);
        KernelWork work = MakeFusedAttentionWork(matrices * heads,
                                                 queries,
                                                 own,
                                                 head.key,
                                                 pass,
                                                 type,
                                                 kernel.isCausal,
                                                 head.value);
        work.bytes = kernel.bytes;
        work.fusedFlops *= seen;
        work.window = hasWindow ? kernel.window : 0;
        if (kernel.ring > 1)
        {
            MakeRing(work,
                     kernel.ring,
                     matrices * heads * queries * (forward ? head.value : head.key),
                     matrices * own * (head.key + head.value),
                     kernel.isCausal);
        }
        return work;
    }
    const double left = static_cast<double>(kernel.bytes) - vectors(unfusedWidth);
    const bool hasDropout = left > (forward ? 11.5 : 17.5) * scores;
    return MakeAttentionWork(matrices,
                             queries,
                             keys,
                             static_cast<uint64_t>(std::llround(unfusedWidth)),
                             pass,
                             type,
                             hasDropout);
}

/// .., columns
KernelWork
DescribeNorm(const KernelDescription& kernel, DataType activation, uint32_t)
{
    KernelWork work =
        MakeNormalizationWork(Points(kernel, 0, 1),
                              kernel.extents.back(),
                              kernel.part.empty() ? KernelPass::FORWARD : KernelPass::BACKWARD,
                              activation);
    work.bytes = kernel.bytes;
    return work;
}

KernelWork
DescribeElementwise(const KernelDescription& kernel, DataType activation, uint32_t)
{
    return MakeElementwiseWork(kernel.bytes, GetPass(kernel), activation);
}

/// A pool, whose operations are the elements in its windows.
KernelWork
DescribePool(const KernelDescription& kernel, DataType activation, uint32_t gradientBytes)
{
    KernelWork work = DescribeElementwise(kernel, activation, gradientBytes);
    work.windowElements = static_cast<uint64_t>(std::llround(kernel.flops));
    return work;
}

/// Reduces rows, as softmax does.
KernelWork
DescribeLoss(const KernelDescription& kernel, DataType activation, uint32_t gradientBytes)
{
    KernelWork work = DescribeElementwise(kernel, activation, gradientBytes);
    work.isRowWise = true;
    return work;
}

KernelWork
DescribeSoftmax(const KernelDescription& kernel, DataType activation, uint32_t)
{
    KernelWork work =
        MakeSoftmaxWork(Points(kernel, 0, 1),
                        kernel.extents.back(),
                        kernel.part.empty() ? KernelPass::FORWARD : KernelPass::BACKWARD,
                        activation);
    work.bytes = kernel.bytes;
    return work;
}

/// .., [lookups], rows, width
KernelWork
DescribeTable(const KernelDescription& kernel, DataType activation, uint32_t gradientBytes)
{
    const std::size_t rank = kernel.extents.size();
    KernelWork work =
        MakeEmbeddingWork(Points(kernel, 0, 2),
                          kernel.extents[rank - 1],
                          kernel.extents[rank - 2],
                          kernel.part.empty() ? KernelPass::FORWARD : KernelPass::BACKWARD,
                          activation,
                          gradientBytes);
    if (kernel.part.empty())
    {
        work.bytes = kernel.bytes;
    }
    else if (kernel.part == SPARSE_BACKWARD)
    {
        // A list of rows, a gradient each: no table is filled with zeros, and none is added to.
        const uint64_t bytes = GetElementBytes(activation) + gradientBytes;
        work.bytes = bytes * Points(kernel, 0, 2) * kernel.extents[rank - 1];
    }
    return work;
}

/// batch, features, pairs: the product of a sample's vectors with themselves.
KernelWork
DescribeInteraction(const KernelDescription& kernel, DataType /* activation */, uint32_t)
{
    const uint64_t features = kernel.extents[1];
    const auto vectors = static_cast<uint64_t>(
        std::llround((1 + std::sqrt(1 + 8 * static_cast<double>(kernel.extents[2]))) / 2));
    KernelWork work =
        kernel.part.empty()
            ? MakeGemmWork(kernel.extents[0], vectors, vectors, features, kernel.dataType)
            : MakeGemmWork(kernel.extents[0], vectors, features, vectors, kernel.dataType);
    work.pass = GetPass(kernel);
    work.products.front().bytes = kernel.bytes;
    return work;
}

KernelWork
DescribeOptimizer(const KernelDescription& kernel, DataType /* activation */, uint32_t)
{
    KernelWork work = MakeOptimizerWork(kernel.bytes);
    // bitsandbytes has a kernel for each parameter (Optimizer2State.update_step()), transformers'
    // Adafactor 25: see OptimizerEmitter, and some on rows and columns.
    constexpr uint32_t ADAFACTOR_KERNELS = 25;
    // Eight passes over lists, see OptimizerEmitter, each of kernels of up to 320 blocks, which
    // have 65,536 numbers of a tensor each (aten/src/ATen/native/cuda/MultiTensorApply.cuh,
    // kChunkSize and depth_to_max_blocks).
    constexpr uint32_t FOREACH_PASSES = 8;
    constexpr uint64_t OF_A_KERNEL = uint64_t{65536} * 320;
    const uint64_t elements = kernel.extents.empty() ? 0 : kernel.extents.front();
    const auto ofPass = static_cast<uint32_t>(elements / OF_A_KERNEL + 1);
    const auto tensors = static_cast<uint32_t>(std::max<uint64_t>(1, kernel.tensors));
    work.otherKernels = kernel.kind == "adam8bit"       ? tensors
                        : kernel.kind == "adafactor"    ? ADAFACTOR_KERNELS * tensors
                        : kernel.kind == "adam-foreach" ? FOREACH_PASSES * ofPass
                                                        : 1;
    return work;
}

/// MUON_STEPS steps of ListNewtonSchulzProducts(). Before, the momentum is cast (6 bytes), its norm
/// found (2), and divided (4); behind, the update is scaled (4).
KernelWork
DescribeNewtonSchulz(const KernelDescription& kernel, DataType /* activation */, uint32_t)
{
    constexpr uint64_t AROUND = 6 + 2 + 4 + 4;
    constexpr uint32_t KERNELS = 4;
    KernelWork work = MakeOptimizerWork(0);
    work.type = DataType::BF16;
    work.otherKernels = 0;
    for (const Matrices& matrices : kernel.orthogonal)
    {
        const auto products = ListNewtonSchulzProducts(matrices);
        for (uint32_t step = 0; step < MUON_STEPS; ++step)
        {
            work.products.insert(work.products.end(), products.begin(), products.end());
        }
        work.bytes += AROUND * matrices.number * matrices.rows * matrices.columns;
        work.otherKernels += KERNELS;
    }
    work.shape = {work.bytes};
    return work;
}

/// How a kind of operator is described.
struct Description
{
    Describe describe;  //!< of a kernel
    const char* first;  //!< product of a backward pass that has two; null: it has one
    const char* second; //!< the other one

    /// @param d kernels @param a the first product of the backward pass @param b the second
    Description(Describe d, const char* a = nullptr, const char* b = nullptr)
        : describe(d),
          first(a),
          second(b)
    {
    }
};

/// How each kind of operator is described.
const std::map<std::string, Description>&
GetDescriptions()
{
    static const std::map<std::string, Description> descriptions{
        {"linear", {DescribeLinear, "input-gradient", "weight-gradient"}},
        {"expert-linear", {DescribeExpertLinear, "input-gradient", "weight-gradient"}},
        {"router", DescribeRouter},
        {"matmul", {DescribeMatmul, "left-gradient", "right-gradient"}},
        {"convolution", {DescribeConvolution, "input-gradient", "weight-gradient"}},
        {"attention", DescribeAttention},
        {"layer-norm", DescribeNorm},
        {"rms-norm", DescribeNorm},
        // Its statistics are over rows, unlike those of the other norms: it is known by its
        // traffic.
        {"batch-norm", DescribeElementwise},
        {"softmax", DescribeSoftmax},
        {"embedding", DescribeTable},
        {"embedding-bag", DescribeTable},
        {"interaction", DescribeInteraction},
        {"position-embedding", DescribeElementwise},
        {"rotary", DescribeElementwise},
        {"scaled-rotary", DescribeElementwise},
        {"shared-rotary", DescribeElementwise},
        {"shared-heads", DescribeElementwise},
        {"relu", DescribeElementwise},
        {"squared-relu", DescribeElementwise},
        {"gelu", DescribeElementwise},
        {"composed-gelu", DescribeElementwise},
        {"tanh", DescribeElementwise},
        {"swiglu", DescribeElementwise},
        {"clamped-swiglu", DescribeElementwise},
        {"composed-geglu", DescribeElementwise},
        {"add", DescribeElementwise},
        {"adapter-add", DescribeElementwise},
        {"wide-adapter-add", DescribeElementwise},
        {"widen", DescribeElementwise},
        {"dropout", DescribeElementwise},
        {"wide-dropout", DescribeElementwise},
        {"dropout-add", DescribeElementwise},
        {"pool", DescribePool},
        {"global-pool", DescribeLoss},
        {"sigmoid", DescribeElementwise},
        {"hard-sigmoid", DescribeElementwise},
        {"silu", DescribeElementwise},
        {"hard-swish", DescribeElementwise},
        {"scale", DescribeElementwise},
        {"layer-scale", DescribeElementwise},
        {"permute", DescribeElementwise},
        {"concat", DescribeElementwise},
        {"split", DescribeElementwise},
        {"reshape", DescribeElementwise},
        {SEQUENCE_COPY, DescribeElementwise},
        {"dispatch", DescribeElementwise},
        {"combine", DescribeElementwise},
        {"cross-entropy", DescribeLoss},
        {"vocabulary-maximum", DescribeLoss},
        {"vocabulary-sum", DescribeLoss},
        {"vocabulary-loss", DescribeLoss},
        {"mean-squared-error", DescribeElementwise},
        {"adam", DescribeOptimizer},
        {"adam8bit", DescribeOptimizer},
        {"adam-foreach", DescribeOptimizer},
        {"adam-fused", DescribeOptimizer},
        {"adafactor", DescribeOptimizer},
        {"lamb", DescribeOptimizer},
        {"lars", DescribeOptimizer},
        {"muon", DescribeOptimizer},
        {"newton-schulz", DescribeNewtonSchulz},
        {"momentum", DescribeOptimizer},
        {"sgd", DescribeOptimizer},
    };
    return descriptions;
}

} // namespace

std::optional<KernelWork>
DescribeKernel(const KernelDescription& kernel, DataType activation, uint32_t gradientBytes)
{
    const auto found = GetDescriptions().find(kernel.kind);
    if (found == GetDescriptions().end())
    {
        return std::nullopt;
    }
    try
    {
        const auto& [describe, first, second] = found->second;
        return first != nullptr && kernel.part == "backward"
                   ? DescribeBoth(describe, first, second, kernel, activation, gradientBytes)
                   : describe(kernel, activation, gradientBytes);
    }
    catch (const std::invalid_argument& error)
    {
        std::string extents;
        for (const uint64_t extent : kernel.extents)
        {
            extents += (extents.empty() ? "" : " x ") + std::to_string(extent);
        }
        throw std::invalid_argument("operator " + QuotedText(kernel.name) + " of the size " +
                                    extents + ": " + error.what());
    }
}

std::function<int64_t(const KernelDescription&)>
MakeKernelTimer(const KernelCostModel& model, DataType activation, uint32_t gradientBytes)
{
    return [&model, activation, gradientBytes](const KernelDescription& kernel) -> int64_t {
        const auto work = DescribeKernel(kernel, activation, gradientBytes);
        return work ? model.GetTime(*work).GetPs() : -1;
    };
}

} // namespace proteus
} // namespace ns3
