/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-operator-kinds.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

using Axes = OperatorDraft::Axes;

uint64_t
Product(Shape::const_iterator begin, Shape::const_iterator end)
{
    return std::accumulate(begin, end, uint64_t{1}, std::multiplies<>());
}

/**
 * Another shape for the same elements, without a kernel. One extent of "shape" may be 0, which
 * stands for what is left of the elements. Dimensions that are the same at the front or at the back
 * of both shapes keep an iteration dimension each. What lies between is one block, which devices
 * can share along its first dimension, in parts that divide that dimension in both shapes.
 */
void
MakeReshape(OperatorDraft& draft)
{
    draft.CheckInputs(1, 1);
    const ModelTensor x = draft.GetInput(0);
    Shape shape = draft.GetNumbers("shape");
    const uint64_t elements = Product(x.shape.begin(), x.shape.end());
    const auto open = std::find(shape.begin(), shape.end(), 0);
    if (open != shape.end())
    {
        *open = 1;
        const uint64_t others = Product(shape.begin(), shape.end());
        *open = others == 0 ? 0 : elements / others;
    }
    if (shape.empty() || Product(shape.begin(), shape.end()) != elements)
    {
        draft.Fail("the shape that it asks for has not the " + std::to_string(elements) +
                   " elements of \"" + x.name + "\"");
    }
    const std::size_t most = std::min(shape.size(), x.shape.size());
    std::size_t head = 0;
    while (head < most && shape[head] == x.shape[head])
    {
        ++head;
    }
    std::size_t tail = 0;
    while (tail < most - head &&
           shape[shape.size() - 1 - tail] == x.shape[x.shape.size() - 1 - tail])
    {
        ++tail;
    }
    DimensionMap from(x.shape.size());
    DimensionMap to(shape.size());
    for (std::size_t i = 0; i < head; ++i)
    {
        from[i] = to[i] = {draft.AddDimension(x.dimensions[i], x.shape[i])};
    }
    if (head + tail < x.shape.size() && head + tail < shape.size())
    {
        // A block of parts that divide the first dimension on both sides.
        const uint64_t common = std::gcd(x.shape[head], shape[head]);
        from[head] = to[head] = {draft.AddDimension(x.dimensions[head], common, common > 1)};
    }
    for (std::size_t i = 0; i < tail; ++i)
    {
        const std::size_t source = x.shape.size() - 1 - i;
        from[source] =
            to[shape.size() - 1 - i] = {draft.AddDimension(x.dimensions[source], x.shape[source])};
    }
    const uint8_t input = draft.ReadMap(from, true, true);
    const uint8_t y = draft.Write("", shape, to);
    draft.Get().isView = true;
    draft.PassGradient(y, {input});
}

/// "order": which dimension of the input stands at each place of the result. With "view" nothing
/// moves: whoever reads the result takes it as it lies (channels last of an image).
void
MakePermute(OperatorDraft& draft)
{
    draft.CheckInputs(1, 1);
    const ModelTensor x = draft.GetInput(0);
    const std::vector<uint64_t> order = draft.GetNumbers("order");
    if (order.size() != x.shape.size())
    {
        draft.Fail("attribute \"order\" must list each of the dimensions once");
    }
    const Axes axes = draft.AddDimensionsOf(0, x.shape.size());
    Axes result;
    for (const uint64_t source : order)
    {
        if (source >= axes.size() ||
            std::find(result.begin(), result.end(), axes[source]) != result.end())
        {
            draft.Fail("attribute \"order\" must list each of the dimensions once");
        }
        result.push_back(axes[source]);
    }
    const uint8_t input = draft.Read(axes, true, true);
    const uint8_t y = draft.WriteAxes(result);
    if (draft.IsOn("view", false))
    {
        draft.Get().isView = true;
        draft.PassGradient(y, {input});
        return;
    }
    draft.ElementwiseBackward(0, {GradientOf(y)}, {input});
}

/// "axis": the dimension along which the inputs stand one behind the other.
void
MakeConcat(OperatorDraft& draft)
{
    draft.CheckInputs(2, 255);
    const ModelTensor first = draft.GetInput(0);
    const std::size_t rank = first.shape.size();
    const uint64_t axis = draft.GetNumber("axis", 1);
    if (axis >= rank)
    {
        draft.Fail("attribute \"axis\" is " + std::to_string(axis) + ", \"" + first.name +
                   "\" has " + std::to_string(rank) + " dimensions");
    }
    Shape shape = first.shape;
    shape[axis] = 0;
    for (std::size_t i = 0; i < draft.GetNInputs(); ++i)
    {
        Shape other = draft.GetInput(i).shape;
        if (other.size() != rank)
        {
            draft.Fail("input \"" + draft.GetInput(i).name + "\" has not the dimensions of \"" +
                       first.name + "\"");
        }
        const uint64_t extent = other[axis];
        other[axis] = first.shape[axis];
        if (other != first.shape)
        {
            draft.Fail("input \"" + draft.GetInput(i).name + "\" differs from \"" + first.name +
                       "\" in more than dimension " + std::to_string(axis));
        }
        shape[axis] += extent;
    }
    Axes axes;
    for (std::size_t i = 0; i < rank; ++i)
    {
        axes.push_back(draft.AddDimension(first.dimensions[i], shape[i], i != axis));
    }
    std::vector<uint8_t> reads;
    for (std::size_t i = 0; i < draft.GetNInputs(); ++i)
    {
        reads.push_back(draft.Read(axes, true, true));
    }
    const uint8_t y = draft.WriteAxes(axes);
    draft.ElementwiseBackward(0, {GradientOf(y)}, reads);
}

/// Parts of a tensor along a dimension: no kernel forward, backward their gradients side by side.
void
MakeSplit(OperatorDraft& draft)
{
    draft.CheckInputs(1, 1);
    const ModelTensor input = draft.GetInput(0);
    const std::size_t rank = input.shape.size();
    const uint64_t axis = draft.GetNumber("axis", rank - 1);
    const std::vector<uint64_t> sizes = draft.GetNumbers("sizes");
    if (axis >= rank)
    {
        draft.Fail("attribute \"axis\" is " + std::to_string(axis) + ", \"" + input.name +
                   "\" has " + std::to_string(rank) + " dimensions");
    }
    const uint64_t extent = input.shape[axis];
    uint64_t left = extent;
    for (const uint64_t size : sizes)
    {
        if (size == 0 || size > left)
        {
            left = extent + 1;
            break;
        }
        left -= size;
    }
    if (left != 0)
    {
        draft.Fail("attribute \"sizes\" must be at least 1 each and add up to the " +
                   std::to_string(extent) + " of dimension " + std::to_string(axis) + " of \"" +
                   input.name + "\"");
    }
    Axes axes;
    DimensionMap map;
    for (std::size_t i = 0; i < rank; ++i)
    {
        axes.push_back(draft.AddDimension(input.dimensions[i], input.shape[i], i != axis));
        map.push_back({axes.back()});
    }
    const uint8_t x = draft.Read(axes, true, true);
    std::vector<DataReference> gradients;
    for (std::size_t i = 0; i < sizes.size(); ++i)
    {
        Shape shape = input.shape;
        shape[axis] = sizes[i];
        gradients.push_back(GradientOf(draft.Write(std::to_string(i), shape, map)));
    }
    draft.Get().isView = true;
    draft.ElementwiseBackward(0, gradients, {x});
}

/// The products of all pairs of vectors of a sample, behind the first vector (DLRM).
void
MakeInteraction(OperatorDraft& draft)
{
    draft.CheckInputs(2, 255);
    const ModelTensor first = draft.GetInput(0);
    if (first.shape.size() != 2)
    {
        draft.Fail("needs inputs of 2 dimensions: batch, features");
    }
    const IterationAxis batch = draft.AddDimension(first.dimensions[0], first.shape[0]);
    const IterationAxis feature = draft.AddDimension("features", first.shape[1], false);
    const uint64_t n = draft.GetNInputs();
    const IterationAxis pairs = draft.AddDimension("pairs", n * (n - 1) / 2, false);
    std::vector<uint8_t> reads;
    std::vector<DataReference> references{GradientOf(0)};
    for (uint64_t i = 0; i < n; ++i)
    {
        if (draft.GetInput(i).shape != first.shape)
        {
            draft.Fail("input \"" + draft.GetInput(i).name + "\" has another shape than \"" +
                       first.name + "\"");
        }
        reads.push_back(draft.Read({batch, feature}));
        references.push_back(ReadOf(reads.back()));
    }
    draft.Write("", {first.shape[0], first.shape[1] + n * (n - 1) / 2}, {{batch}, {pairs}});
    draft.Get().forward.flops = {{2, draft.All()}};
    draft.Get().forward.isMatrixProduct = true;
    draft.ElementwiseBackward(4, references, reads);
    draft.Get().backward.back().isMatrixProduct = true;
}

} // namespace

std::vector<OperatorKind>
GetShapeKinds()
{
    return {
        {"reshape", {"shape"}, MakeReshape},
        {"permute", {"order", "view"}, MakePermute},
        {"concat", {"axis"}, MakeConcat},
        {"split", {"axis", "sizes"}, MakeSplit},
        {"interaction", {}, MakeInteraction, {"features", "pairs"}},
    };
}

} // namespace proteus
} // namespace ns3
