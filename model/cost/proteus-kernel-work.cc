/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-kernel-work.h"

#include "ns3/proteus-enum-names.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

struct ClassFacts
{
    KernelClass kernelClass;
    const char* name;
    std::size_t shapeSize;
};

constexpr ClassFacts CLASSES[] = {
    {KernelClass::GEMM, "gemm", 4},
    {KernelClass::CONVOLUTION, "convolution", 7},
    {KernelClass::ATTENTION, "attention", 4},
    {KernelClass::FUSED_ATTENTION, "fused-attention", 4},
    {KernelClass::NORMALIZATION, "normalization", 2},
    {KernelClass::SOFTMAX, "softmax", 2},
    {KernelClass::ELEMENTWISE, "elementwise", 1},
    {KernelClass::EMBEDDING, "embedding", 3},
    {KernelClass::OPTIMIZER, "optimizer", 1},
};

constexpr EnumNames<KernelPass, 4> PASSES{"pass of a kernel",
                                          {{KernelPass::FORWARD, "forward"},
                                           {KernelPass::BACKWARD, "backward"},
                                           {KernelPass::INPUT_GRADIENT, "input-gradient"},
                                           {KernelPass::WEIGHT_GRADIENT, "weight-gradient"}}};

// Bytes per element of the scores, in 16 bits, of the kernels between the products. Forward:
// softmax reads 2 and writes 2, dropout reads 2, writes 2 and a mask of 1. Backward: dropout reads
// 2 and 1 and writes 2, softmax reads gradient and output and writes, 2 each.
constexpr uint64_t SOFTMAX_FORWARD_BYTES = 4;
constexpr uint64_t DROPOUT_FORWARD_BYTES = 5;
constexpr uint64_t SOFTMAX_BACKWARD_BYTES = 6;
constexpr uint64_t DROPOUT_BACKWARD_BYTES = 5;

// The same where softmax is not one kernel (forward_torch_softmax() of Megatron-LM). Forward: to
// fp32 (2 + 4), scale (4 + 4), mask (4 + 4), softmax (4 + 4), to 16 bits (4 + 2). Backward: to fp32
// (2 + 4), softmax (4 + 4 + 4), mask (4 + 4), scale (4 + 4), to 16 bits (4 + 2).
constexpr uint64_t LONG_SOFTMAX_FORWARD_BYTES = 36;
constexpr uint64_t LONG_SOFTMAX_BACKWARD_BYTES = 40;
constexpr uint32_t LONG_SOFTMAX_KERNELS = 5;
// In fp32 nothing is converted.
constexpr uint64_t FP32_SOFTMAX_FORWARD_BYTES = 24;
constexpr uint64_t FP32_SOFTMAX_BACKWARD_BYTES = 28;
constexpr uint64_t FP32_DROPOUT_BYTES = 9;
constexpr uint32_t FP32_SOFTMAX_KERNELS = 3;

// embedding_dense_backward() of PyTorch: fill with zeros, sort the indices, add the rows; then the
// sum into the gradient buffer.
constexpr uint32_t EMBEDDING_BACKWARD_KERNELS = 4;

/// Products of fused attention's backward pass: scores once more and gradients of queries and keys;
/// those of the values, and of what was multiplied with them.
constexpr double FUSED_BACKWARD_KEYS = 3;
constexpr double FUSED_BACKWARD_VALUES = 2;

/// Activations and results have 16 bits where matrix products compute in fp8.
uint64_t
ActivationBytes(DataType type)
{
    return std::max<uint64_t>(2, GetElementBytes(type));
}

/// @throw std::invalid_argument if a size is 0 or the bytes of an operator of these sizes might not
/// fit into 64 bits; a product that is refused for its size would take days
void
CheckSizes(const char* what, std::initializer_list<uint64_t> sizes)
{
    constexpr double MOST = 1e17; // elements; an operator moves at most 41 bytes of each
    double product = 1;
    for (uint64_t size : sizes)
    {
        if (size == 0)
        {
            throw std::invalid_argument(std::string(what) + ": every size must be at least 1");
        }
        product *= static_cast<double>(size);
    }
    if (product > MOST)
    {
        throw std::invalid_argument(std::string(what) + ": its size does not fit");
    }
}

void
CheckForwardOrBackward(const char* what, KernelPass pass)
{
    if (pass != KernelPass::FORWARD && pass != KernelPass::BACKWARD)
    {
        throw std::invalid_argument(std::string(what) + ": there is no pass \"" + ToString(pass) +
                                    "\", only \"forward\" and \"backward\"");
    }
}

/// A linear layer's product, in fp8 with the kernel that quantises `quantized` elements.
KernelWork
MakeLinear(KernelPass pass, DataType type, const MatrixProduct& product, uint64_t quantized)
{
    CheckSizes("linear layer", {product.m, product.n, product.k});
    KernelWork work;
    work.kernelClass = KernelClass::GEMM;
    work.pass = pass;
    work.type = type;
    work.shape = {1, product.m, product.n, product.k};
    work.products = {product};
    if (type == DataType::FP8 && quantized > 0)
    {
        work.bytes = 4 * quantized;
        work.otherKernels = 1;
    }
    else if (type == DataType::FP4 && quantized > 0)
    {
        work.bytes =
            static_cast<uint64_t>(std::llround(FP4_OPERAND_BYTES * static_cast<double>(quantized)));
        work.otherKernels = FP4_OPERAND_KERNELS;
    }
    return work;
}

} // namespace

const char*
ToString(KernelClass kernelClass)
{
    for (const ClassFacts& facts : CLASSES)
    {
        if (facts.kernelClass == kernelClass)
        {
            return facts.name;
        }
    }
    throw std::invalid_argument("kernel class out of range");
}

const char*
ToString(KernelPass pass)
{
    return PASSES.Get(pass);
}

KernelClass
KernelClassFromString(const std::string& text)
{
    std::vector<std::string> known;
    for (const ClassFacts& facts : CLASSES)
    {
        if (text == facts.name)
        {
            return facts.kernelClass;
        }
        known.emplace_back(facts.name);
    }
    FailUnknownName("kernel class", text, known);
}

KernelPass
KernelPassFromString(const std::string& text)
{
    return PASSES.Parse(text);
}

std::size_t
GetShapeSize(KernelClass kernelClass)
{
    for (const ClassFacts& facts : CLASSES)
    {
        if (facts.kernelClass == kernelClass)
        {
            return facts.shapeSize;
        }
    }
    throw std::invalid_argument("kernel class out of range");
}

uint32_t
GetElementBytes(DataType type)
{
    switch (type)
    {
    case DataType::FP32:
    case DataType::TF32:
        return 4;
    case DataType::BF16:
    case DataType::FP16:
        return 2;
    case DataType::FP8:
    case DataType::FP4:
        return 1;
    }
    throw std::invalid_argument("data type out of range");
}

double
KernelWork::GetFlops() const
{
    double flops = fusedFlops;
    for (const MatrixProduct& product : products)
    {
        flops += product.GetFlops();
    }
    return flops;
}

uint64_t
KernelWork::GetBytes() const
{
    uint64_t sum = bytes + mergedBytes;
    for (const MatrixProduct& product : products)
    {
        sum += product.bytes;
    }
    return sum;
}

uint32_t
KernelWork::GetNKernels() const
{
    return static_cast<uint32_t>(products.size()) + otherKernels;
}

KernelWork
MakeGemmWork(uint64_t batch, uint64_t m, uint64_t n, uint64_t k, DataType type)
{
    CheckSizes("matrix product", {batch, m, n, k});
    KernelWork work;
    work.kernelClass = KernelClass::GEMM;
    work.type = type;
    work.shape = {batch, m, n, k};
    const uint64_t element = GetElementBytes(type);
    work.products = {
        {batch, m, n, k, batch * (element * (m * k + k * n) + ActivationBytes(type) * m * n)}};
    return work;
}

KernelWork
MakeLinearForwardWork(uint64_t rows, uint64_t in, uint64_t out, DataType type)
{
    const uint64_t element = GetElementBytes(type);
    return MakeLinear(
        KernelPass::FORWARD,
        type,
        {1, rows, out, in, element * (rows * in + in * out) + ActivationBytes(type) * rows * out},
        rows * in);
}

KernelWork
MakeLinearInputGradientWork(uint64_t rows, uint64_t in, uint64_t out, DataType type)
{
    const uint64_t element = GetElementBytes(type);
    return MakeLinear(
        KernelPass::INPUT_GRADIENT,
        type,
        {1, rows, in, out, element * (rows * out + in * out) + ActivationBytes(type) * rows * in},
        rows * out);
}

KernelWork
MakeLinearWeightGradientWork(uint64_t rows,
                             uint64_t in,
                             uint64_t out,
                             DataType type,
                             uint32_t gradientBytes)
{
    const uint64_t element = GetElementBytes(type);
    const uint64_t result = gradientBytes > 0 ? 2 * gradientBytes : ActivationBytes(type);
    return MakeLinear(KernelPass::WEIGHT_GRADIENT,
                      type,
                      {1, out, in, rows, element * rows * (in + out) + result * in * out},
                      0);
}

uint64_t
ConvolutionShape::GetOutputHeight() const
{
    return (height + 2 * paddingHeight - kernelHeight) / stride + 1;
}

uint64_t
ConvolutionShape::GetOutputWidth() const
{
    return (width + 2 * paddingWidth - kernelWidth) / stride + 1;
}

KernelWork
MakeConvolutionWork(const ConvolutionShape& shape, KernelPass pass, DataType type)
{
    const char* what = "convolution";
    CheckSizes(what,
               {shape.batch,
                shape.channels,
                shape.height,
                shape.width,
                shape.filters,
                shape.kernelHeight,
                shape.kernelWidth,
                shape.stride});
    if (shape.height + 2 * shape.paddingHeight < shape.kernelHeight ||
        shape.width + 2 * shape.paddingWidth < shape.kernelWidth)
    {
        throw std::invalid_argument("convolution: the window is larger than the padded input");
    }
    const uint64_t element = GetElementBytes(type);
    const uint64_t pixels = shape.batch * shape.GetOutputHeight() * shape.GetOutputWidth();
    const uint64_t window = shape.channels * shape.kernelHeight * shape.kernelWidth;
    const uint64_t input = shape.batch * shape.channels * shape.height * shape.width;
    MatrixProduct product;
    switch (pass)
    {
    case KernelPass::FORWARD:
        product = {1, pixels, shape.filters, window, 0};
        break;
    case KernelPass::INPUT_GRADIENT:
        product = {1, pixels, window, shape.filters, 0};
        break;
    case KernelPass::WEIGHT_GRADIENT:
        product = {1, shape.filters, window, pixels, 0};
        break;
    case KernelPass::BACKWARD:
        throw std::invalid_argument("convolution: its backward pass is two kernels, "
                                    "\"input-gradient\" and \"weight-gradient\"");
    }
    product.bytes = element * (input + pixels * shape.filters + window * shape.filters);
    KernelWork work;
    work.kernelClass = KernelClass::CONVOLUTION;
    work.pass = pass;
    work.type = type;
    work.shape = {shape.batch,
                  shape.filters,
                  shape.channels,
                  shape.GetOutputHeight(),
                  shape.GetOutputWidth(),
                  shape.kernelHeight,
                  shape.kernelWidth};
    work.products = {product};
    work.convolutionInput = input;
    return work;
}

bool
HasFusedSoftmax(uint64_t matrices, uint64_t queries, uint64_t keys, DataType type)
{
    return GetElementBytes(type) == 2 && keys > 16 && keys <= 4096 && queries % 4 == 0 &&
           keys % 4 == 0 && matrices % 4 == 0;
}

KernelWork
MakeAttentionWork(uint64_t matrices,
                  uint64_t queries,
                  uint64_t keys,
                  uint64_t head,
                  KernelPass pass,
                  DataType type,
                  bool dropout)
{
    const char* what = "attention";
    CheckSizes(what, {matrices, queries, keys, head});
    CheckForwardOrBackward(what, pass);
    const DataType inner = IsQuantized(type) ? DataType::BF16 : type;
    const bool forward = pass == KernelPass::FORWARD;
    const bool fused = HasFusedSoftmax(matrices, queries, keys, inner);
    const uint64_t element = GetElementBytes(inner);
    const uint64_t scores = matrices * queries * keys;
    const uint64_t bytes = element * matrices * (queries * keys + head * queries + head * keys);
    KernelWork work;
    work.kernelClass = KernelClass::ATTENTION;
    work.pass = pass;
    work.type = inner;
    work.shape = {matrices, queries, keys, head};
    const MatrixProduct toScores{matrices, queries, keys, head, bytes};
    const MatrixProduct fromScores{matrices, queries, head, keys, bytes};
    const MatrixProduct fromScoresT{matrices, keys, head, queries, bytes};
    if (forward)
    {
        work.products = {toScores, fromScores};
    }
    else
    {
        work.products = {fromScoresT, toScores, fromScores, fromScoresT};
    }
    uint64_t perScore = 0;
    if (element == 4)
    {
        perScore = forward ? FP32_SOFTMAX_FORWARD_BYTES : FP32_SOFTMAX_BACKWARD_BYTES;
        perScore += dropout ? FP32_DROPOUT_BYTES : 0;
    }
    else if (forward)
    {
        perScore = fused ? SOFTMAX_FORWARD_BYTES : LONG_SOFTMAX_FORWARD_BYTES;
        perScore += dropout ? DROPOUT_FORWARD_BYTES : 0;
    }
    else
    {
        perScore = fused ? SOFTMAX_BACKWARD_BYTES : LONG_SOFTMAX_BACKWARD_BYTES;
        perScore += dropout ? DROPOUT_BACKWARD_BYTES : 0;
    }
    work.bytes = perScore * scores;
    work.isRowWise = true;
    const uint32_t softmaxKernels = element == 4 ? FP32_SOFTMAX_KERNELS
                                    : fused      ? 1
                                                 : LONG_SOFTMAX_KERNELS;
    work.otherKernels = softmaxKernels + (dropout ? 1 : 0);
    return work;
}

KernelWork
MakeFusedAttentionWork(uint64_t matrices,
                       uint64_t queries,
                       uint64_t keys,
                       uint64_t head,
                       KernelPass pass,
                       DataType type,
                       bool causal,
                       uint64_t value)
{
    const char* what = "fused attention";
    value = value == 0 ? head : value;
    CheckSizes(what, {matrices, queries, keys, head});
    CheckForwardOrBackward(what, pass);
    const bool forward = pass == KernelPass::FORWARD;
    KernelWork work;
    work.kernelClass = KernelClass::FUSED_ATTENTION;
    work.isCausal = causal;
    work.pass = pass;
    work.type = IsQuantized(type) ? DataType::BF16 : type;
    work.shape = {matrices, queries, keys, head};
    if (value != head)
    {
        work.shape.push_back(value);
    }
    const double ofKeys = MatrixProduct{matrices, queries, keys, head, 0}.GetFlops();
    const double ofValues = MatrixProduct{matrices, queries, keys, value, 0}.GetFlops();
    work.fusedFlops = (forward ? ofKeys + ofValues
                               : FUSED_BACKWARD_KEYS * ofKeys + FUSED_BACKWARD_VALUES * ofValues) *
                      (causal ? 0.5 : 1.0);
    // Forward: q, k, v, result. Backward: those, the result's gradient and three gradients.
    work.bytes = GetElementBytes(work.type) * matrices * (head + value) *
                 (forward ? queries + keys : 2 * queries + 2 * keys);
    work.otherKernels = 1;
    return work;
}

KernelWork
MakeNormalizationWork(uint64_t rows,
                      uint64_t columns,
                      KernelPass pass,
                      DataType type,
                      bool residual)
{
    const char* what = "normalisation";
    CheckSizes(what, {rows, columns});
    CheckForwardOrBackward(what, pass);
    KernelWork work;
    work.kernelClass = KernelClass::NORMALIZATION;
    work.pass = pass;
    work.type = type;
    work.shape = {rows, columns};
    const uint64_t passes = pass == KernelPass::FORWARD ? 2 : 3 + (residual ? 1 : 0);
    work.bytes = passes * ActivationBytes(type) * rows * columns;
    work.otherKernels = 1;
    work.isRowWise = true;
    return work;
}

KernelWork
MakeSoftmaxWork(uint64_t rows, uint64_t columns, KernelPass pass, DataType type)
{
    const char* what = "softmax";
    CheckSizes(what, {rows, columns});
    CheckForwardOrBackward(what, pass);
    KernelWork work;
    work.kernelClass = KernelClass::SOFTMAX;
    work.pass = pass;
    work.type = type;
    work.shape = {rows, columns};
    // Backward, PyTorch multiplies gradient and result in a kernel of its own (softmax_backward in
    // ATen/native/cuda/SoftMax.cu).
    const bool forward = pass == KernelPass::FORWARD;
    work.bytes = (forward ? 2 : 6) * ActivationBytes(type) * rows * columns;
    work.otherKernels = forward ? 1 : 2;
    work.isRowWise = forward; // backward, half is elementwise
    return work;
}

KernelWork
MakeElementwiseWork(uint64_t bytes, KernelPass pass, DataType type, uint32_t kernels)
{
    KernelWork work;
    work.kernelClass = KernelClass::ELEMENTWISE;
    work.pass = pass;
    work.type = type;
    work.shape = {bytes};
    work.bytes = bytes;
    work.otherKernels = kernels;
    return work;
}

KernelWork
MakeEmbeddingWork(uint64_t tokens,
                  uint64_t columns,
                  uint64_t tableRows,
                  KernelPass pass,
                  DataType type,
                  uint32_t gradientBytes)
{
    const char* what = "embedding";
    CheckSizes(what, {tokens, columns});
    CheckSizes(what, {tableRows, columns});
    CheckForwardOrBackward(what, pass);
    const uint64_t element = ActivationBytes(type);
    KernelWork work;
    work.kernelClass = KernelClass::EMBEDDING;
    work.pass = pass;
    work.type = type;
    work.shape = {tokens, columns, tableRows};
    if (pass == KernelPass::FORWARD)
    {
        work.bytes = 2 * element * tokens * columns;
        work.otherKernels = 1;
    }
    else
    {
        // For each token, its gradient is read, and a row of the table's gradient read and written.
        // That gradient is filled with zeros before; after, it is added to the gradient buffer.
        work.bytes = 3 * element * tokens * columns + element * tableRows * columns;
        if (gradientBytes > 0)
        {
            work.bytes += (element + 2 * gradientBytes) * tableRows * columns;
        }
        work.otherKernels = EMBEDDING_BACKWARD_KERNELS;
    }
    return work;
}

KernelWork
MakeOptimizerWork(uint64_t bytes)
{
    KernelWork work;
    work.kernelClass = KernelClass::OPTIMIZER;
    work.type = DataType::FP32;
    work.shape = {bytes};
    work.bytes = bytes;
    work.otherKernels = 1;
    return work;
}

} // namespace proteus
} // namespace ns3
