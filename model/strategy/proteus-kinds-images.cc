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

// Arithmetic operations per element, see proteus-kinds-elementwise.cc.
constexpr double SIGMOID_FLOPS = 4;
constexpr double SIGMOID_BACKWARD_FLOPS = 3;
constexpr double SILU_FLOPS = 5;
constexpr double SILU_BACKWARD_FLOPS = 8;

void
MakeSigmoid(OperatorDraft& draft)
{
    MakeUnary(draft, SIGMOID_FLOPS, SIGMOID_BACKWARD_FLOPS, true);
}

/// x sigmoid(x), also with a sigmoid of straight lines ("hard-swish").
void
MakeSilu(OperatorDraft& draft)
{
    MakeUnary(draft, SILU_FLOPS, SILU_BACKWARD_FLOPS, false);
}

/// @return the dimensions of the images x[n, c, h, w]
Axes
AddImages(OperatorDraft& draft, const ModelTensor& x)
{
    return {draft.AddDimension(x.dimensions[0], x.shape[0]),
            draft.AddDimension(x.dimensions[1], x.shape[1]),
            draft.AddDimension("height", x.shape[2], false),
            draft.AddDimension("width", x.shape[3], false)};
}

/// The mean of each channel of x[n, c, h, w]: y[n, c].
void
MakeGlobalPool(OperatorDraft& draft)
{
    draft.CheckInputs(1, 1);
    const ModelTensor x = draft.GetInput(0);
    if (x.shape.size() != 4)
    {
        draft.Fail("input \"" + x.name + "\" must have 4 dimensions");
    }
    const Axes pixels = AddImages(draft, x);
    const uint8_t input = draft.Read(pixels, true, true);
    const uint8_t y =
        draft.Write("", {x.shape[0], x.shape[1]}, {{pixels[0]}, {pixels[1]}}, {input});
    draft.Get().forward.flops = {{1, pixels}};
    draft.ElementwiseBackward(1, {GradientOf(y)}, {input});
}

/// x[n, c, h, w] s[n, c], as squeeze-and-excitation scales channels.
void
MakeScale(OperatorDraft& draft)
{
    draft.CheckInputs(2, 2);
    const ModelTensor x = draft.GetInput(0);
    const ModelTensor s = draft.GetInput(1);
    if (x.shape.size() != 4 || s.shape != Shape{x.shape[0], x.shape[1]})
    {
        draft.Fail("\"" + s.name + "\" must have a number for each channel of the images \"" +
                   x.name + "\"");
    }
    const Axes axes = AddImages(draft, x);
    const uint8_t input = draft.Read(axes, true, true);
    const uint8_t scale = draft.ReadMap({{axes[0]}, {axes[1]}}, true, true);
    const uint8_t y = draft.WriteAxes(axes);
    draft.Get().forward.flops = {{1, axes}};
    draft.ElementwiseBackward(3, {GradientOf(y), ReadOf(input), ReadOf(scale)}, {input, scale});
}

/// x[.., c] w[c], whose w is trained (LayerScale).
void
MakeLayerScale(OperatorDraft& draft)
{
    draft.CheckInputs(1, 1);
    const Axes axes = draft.AddDimensionsOf(0, draft.GetInput(0).shape.size());
    const uint8_t x = draft.Read(axes, true, true);
    const uint8_t weight = draft.Parameter("weight", {axes.back()}, true);
    const uint8_t y = draft.WriteAxes(axes);
    draft.Get().forward.flops = {{1, axes}};
    draft.ElementwiseBackward(3, {GradientOf(y), ReadOf(x), ReadOf(weight)}, {x, weight});
}

} // namespace

std::vector<OperatorKind>
GetImageKinds()
{
    return {
        {"sigmoid", {}, MakeSigmoid},
        {"hard-sigmoid", {}, MakeSigmoid},
        {"silu", {}, MakeSilu},
        {"hard-swish", {}, MakeSilu},
        {"global-pool", {}, MakeGlobalPool, {"height", "width"}},
        {"scale", {}, MakeScale, {"height", "width"}},
        {"layer-scale", {}, MakeLayerScale},
    };
}

} // namespace proteus
} // namespace ns3
