/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-operator-kinds.h"

#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

using Axes = OperatorDraft::Axes;

// Arithmetic operations per element, counted from the formulas (exp, tanh and square root as one).
// Such operators are limited by memory traffic on every GPU, so these do not decide a time; they
// keep reports of FLOPs complete.
constexpr double NORM_FLOPS = 8;
constexpr double NORM_BACKWARD_FLOPS = 14;
constexpr double DROPOUT_ADD_FLOPS = 4;
constexpr double DROPOUT_BACKWARD_FLOPS = 2;
constexpr double GELU_FLOPS = 9;
constexpr double GELU_BACKWARD_FLOPS = 16;
constexpr double SILU_FLOPS = 5;
constexpr double SILU_BACKWARD_FLOPS = 9;

void
MakeRelu(OperatorDraft& draft)
{
    MakeUnary(draft, 1, 1, true);
}

/// Keeps its input, and what follows keeps the squares.
void
MakeSquaredRelu(OperatorDraft& draft)
{
    MakeUnary(draft, 2, 3, false);
}

/// Also "composed-gelu", which is written out in elementary operations: the same to whoever fuses
/// them, eight kernels to eager PyTorch.
void
MakeGelu(OperatorDraft& draft)
{
    MakeUnary(draft, GELU_FLOPS, GELU_BACKWARD_FLOPS, false);
}

void
MakeTanh(OperatorDraft& draft)
{
    MakeUnary(draft, 1, 3, true);
}

/// silu(gate) * up. Also "clamped-swiglu", which bounds both before, as gpt-oss does (arXiv
/// 2508.10925), and "composed-geglu", which has a GELU of elementary operations in the place of the
/// SiLU: the same to whoever fuses that.
void
MakeSwiglu(OperatorDraft& draft)
{
    draft.CheckInputs(2, 2);
    const Axes axes = draft.AddDimensionsOf(0, draft.GetInput(0).shape.size());
    const uint8_t gate = draft.Read(axes);
    const uint8_t up = draft.Read(axes);
    const uint8_t y = draft.WriteAxes(axes);
    draft.Get().forward.flops = {{SILU_FLOPS, axes}};
    draft.ElementwiseBackward(SILU_BACKWARD_FLOPS,
                              {GradientOf(y), ReadOf(gate), ReadOf(up)},
                              {gate, up});
}

/// The sum of two or more tensors; its gradient is theirs.
void
MakeAdd(OperatorDraft& draft)
{
    draft.CheckInputs(2, 255);
    const Axes axes = draft.AddDimensionsOf(0, draft.GetInput(0).shape.size());
    std::vector<uint8_t> reads;
    for (std::size_t i = 0; i < draft.GetNInputs(); ++i)
    {
        if (draft.GetInput(i).shape != draft.GetInput(0).shape)
        {
            draft.Fail("input \"" + draft.GetInput(i).name + "\" has another shape than \"" +
                       draft.GetInput(0).name + "\"");
        }
        reads.push_back(draft.Read(axes, true, true));
    }
    const uint8_t y = draft.WriteAxes(axes);
    draft.Get().forward.flops = {{static_cast<double>(reads.size() - 1), axes}};
    draft.PassGradient(y, reads);
}

/// result + scale * adapted, as a low-rank adapter adds what it makes. The gradient of the result
/// is that of the sum.
void
MakeAdapterAdd(OperatorDraft& draft)
{
    draft.CheckInputs(2, 2);
    const Axes axes = draft.AddDimensionsOf(0, draft.GetInput(0).shape.size());
    const uint8_t result = draft.Read(axes, true, true);
    const uint8_t adapted = draft.Read(axes, true, true);
    const uint8_t y = draft.WriteAxes(axes);
    draft.Get().forward.flops = {{2, axes}};
    draft.ElementwiseBackward(1, {GradientOf(y)}, {adapted});
    draft.PassGradient(y, {result});
}

/// What an adapter in fp32 reads, cast from 16 bits. Its result is counted in the format of
/// activations, as all tensors are; rules of frameworks say what is moved.
void
MakeWiden(OperatorDraft& draft)
{
    draft.CheckInputs(1, 1);
    const Axes axes = draft.AddDimensionsOf(0, draft.GetInput(0).shape.size());
    const uint8_t x = draft.Read(axes);
    const uint8_t y = draft.WriteAxes(axes);
    draft.Get().forward.flops = {{1, axes}};
    draft.ElementwiseBackward(1, {GradientOf(y)}, {x});
}

void
MakeDropout(OperatorDraft& draft)
{
    draft.CheckInputs(1, 1);
    const Axes axes = draft.AddDimensionsOf(0, draft.GetInput(0).shape.size());
    const uint8_t x = draft.Read(axes);
    const uint8_t y = draft.WriteAxes(axes);
    const uint8_t mask = draft.Save("mask", axes, ElementKind::MASK);
    draft.Get().forward.flops = {{DROPOUT_ADD_FLOPS - 1, axes}};
    draft.ElementwiseBackward(DROPOUT_BACKWARD_FLOPS, {GradientOf(y), WriteOf(mask)}, {x});
}

/// dropout(x) + residual; the bias of x belongs to the linear layer before it.
void
MakeDropoutAdd(OperatorDraft& draft)
{
    draft.CheckInputs(2, 2);
    const Axes axes = draft.AddDimensionsOf(0, draft.GetInput(0).shape.size());
    const uint8_t x = draft.Read(axes);
    const uint8_t residual = draft.Read(axes);
    const uint8_t y = draft.WriteAxes(axes);
    const uint8_t mask = draft.Save("mask", axes, ElementKind::MASK);
    draft.Get().forward.flops = {{DROPOUT_ADD_FLOPS, axes}};
    draft.ElementwiseBackward(DROPOUT_BACKWARD_FLOPS, {GradientOf(y), WriteOf(mask)}, {x});
    draft.PassGradient(y, {residual});
}

/// Over the last dimension, which devices cannot share; with "heads" over that part of it which a
/// head has, and devices share the heads.
void
MakeNorm(OperatorDraft& draft, bool hasBias)
{
    draft.CheckInputs(1, 1);
    const ModelTensor input = draft.GetInput(0);
    if (input.shape.empty())
    {
        draft.Fail("needs an input with at least one dimension");
    }
    const uint64_t heads = draft.GetNumber("heads", 1);
    if (heads == 0 || input.shape.back() % heads != 0)
    {
        draft.Fail("needs an input whose last dimension is a multiple of its heads");
    }
    Axes axes = draft.AddDimensionsOf(0, input.shape.size() - 1);
    const bool hasHeads = heads > 1;
    const IterationAxis last = hasHeads ? draft.AddDimension("heads", heads) : IterationAxis{0};
    const IterationAxis feature =
        draft.AddDimension(input.dimensions.back(), input.shape.back() / heads, false);
    DimensionMap map;
    for (const IterationAxis axis : axes)
    {
        map.push_back({axis});
    }
    map.push_back({hasHeads ? last : feature});
    axes = draft.All();
    const uint8_t x = draft.ReadMap(map);
    const uint8_t weight = draft.Parameter("weight", {feature});
    if (hasBias)
    {
        draft.Parameter("bias", {feature});
    }
    const uint8_t y = draft.Write("", input.shape, map);
    draft.Get().forward.flops = {{NORM_FLOPS, axes}};
    std::vector<uint8_t> reads{x, weight};
    if (hasBias)
    {
        reads.push_back(static_cast<uint8_t>(weight + 1));
    }
    draft.ElementwiseBackward(NORM_BACKWARD_FLOPS,
                              {GradientOf(y), ReadOf(x), ReadOf(weight)},
                              reads);
}

void
MakeLayerNorm(OperatorDraft& draft)
{
    MakeNorm(draft, true);
}

void
MakeRmsNorm(OperatorDraft& draft)
{
    MakeNorm(draft, false);
}

/// x[n, c, h, w]; each device takes the statistics of its own samples.
void
MakeBatchNorm(OperatorDraft& draft)
{
    draft.CheckInputs(1, 1);
    const ModelTensor input = draft.GetInput(0);
    if (input.shape.size() != 4)
    {
        draft.Fail("input \"" + input.name + "\" must have 4 dimensions");
    }
    const Axes axes{draft.AddDimension(input.dimensions[0], input.shape[0]),
                    draft.AddDimension(input.dimensions[1], input.shape[1]),
                    draft.AddDimension("height", input.shape[2], false),
                    draft.AddDimension("width", input.shape[3], false)};
    const uint8_t x = draft.Read(axes);
    const uint8_t weight = draft.Parameter("weight", {axes[1]});
    const uint8_t bias = draft.Parameter("bias", {axes[1]});
    const uint8_t y = draft.WriteAxes(axes);
    draft.Get().forward.flops = {{NORM_FLOPS, axes}};
    draft.ElementwiseBackward(NORM_BACKWARD_FLOPS,
                              {GradientOf(y), ReadOf(x), ReadOf(weight)},
                              {x, weight, bias});
}

/// x[n, c, h, w]; "size" in place of kernel and stride asks for an adaptive pool of that size.
void
MakePool(OperatorDraft& draft)
{
    draft.CheckInputs(1, 1);
    const ModelTensor input = draft.GetInput(0);
    if (input.shape.size() != 4)
    {
        draft.Fail("input \"" + input.name + "\" must have 4 dimensions");
    }
    const uint64_t kernel = draft.GetNumber("kernel", 2);
    const uint64_t stride = draft.GetNumber("stride", kernel);
    const uint64_t padding = draft.GetNumber("padding", 0);
    uint64_t size[2];
    for (std::size_t i = 0; i < 2; ++i)
    {
        if (stride == 0 || input.shape[2 + i] + 2 * padding < kernel)
        {
            draft.Fail("the kernel is larger than the " + input.dimensions[2 + i] + " of \"" +
                       input.name + "\", or its stride is 0");
        }
        size[i] = draft.GetNumber("size", (input.shape[2 + i] + 2 * padding - kernel) / stride + 1);
    }
    const Axes axes{draft.AddDimension(input.dimensions[0], input.shape[0]),
                    draft.AddDimension(input.dimensions[1], input.shape[1]),
                    draft.AddDimension("height", size[0], false),
                    draft.AddDimension("width", size[1], false)};
    const uint8_t x = draft.Read(axes);
    const uint8_t y = draft.WriteAxes(axes);
    const auto window = static_cast<double>(kernel * kernel);
    draft.Get().forward.flops = {{window, axes}};
    draft.ElementwiseBackward(window, {GradientOf(y), ReadOf(x)}, {x});
}

} // namespace

void
MakeUnary(OperatorDraft& draft, double flops, double backwardFlops, bool readsResult)
{
    draft.CheckInputs(1, 1);
    const Axes axes = draft.AddDimensionsOf(0, draft.GetInput(0).shape.size());
    const uint8_t x = draft.Read(axes);
    const uint8_t y = draft.WriteAxes(axes);
    draft.Get().forward.flops = {{flops, axes}};
    draft.ElementwiseBackward(backwardFlops,
                              {GradientOf(y), readsResult ? WriteOf(y) : ReadOf(x)},
                              {x});
}

std::vector<OperatorKind>
GetElementwiseKinds()
{
    return {
        {"relu", {}, MakeRelu},
        {"squared-relu", {}, MakeSquaredRelu},
        {"gelu", {}, MakeGelu},
        {"composed-gelu", {}, MakeGelu},
        {"tanh", {}, MakeTanh},
        {"swiglu", {}, MakeSwiglu},
        {"clamped-swiglu", {}, MakeSwiglu},
        {"composed-geglu", {}, MakeSwiglu},
        {"add", {}, MakeAdd},
        {"adapter-add", {}, MakeAdapterAdd},
        {"wide-adapter-add", {}, MakeAdapterAdd},
        {"widen", {}, MakeWiden},
        {"dropout", {}, MakeDropout},
        {"wide-dropout", {}, MakeDropout},
        {"dropout-add", {}, MakeDropoutAdd},
        {"layer-norm", {"heads"}, MakeLayerNorm, {"heads"}},
        {"rms-norm", {"heads"}, MakeRmsNorm, {"heads"}},
        {"batch-norm", {}, MakeBatchNorm, {"height", "width"}},
        {"pool", {"kernel", "stride", "padding", "size"}, MakePool, {"height", "width"}},
    };
}

} // namespace proteus
} // namespace ns3
