/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-operator-kinds.h"

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

Axes
Append(Axes axes, std::initializer_list<IterationAxis> more)
{
    axes.insert(axes.end(), more);
    return axes;
}

/// The two products of a backward pass y = x w.
void
AddProductGradients(OperatorDraft& draft,
                    const std::vector<DataReference>& gradients,
                    uint8_t x,
                    uint8_t weight,
                    const Work& flops)
{
    OperatorPart input;
    input.name = "input-gradient";
    input.reads = gradients;
    input.reads.push_back(ReadOf(weight));
    input.writes = {{x, input.reads, 1}};
    input.flops = {flops};
    input.isMatrixProduct = true;
    draft.Backward(input);

    OperatorPart part;
    part.name = "weight-gradient";
    part.reads = gradients;
    part.reads.push_back(ReadOf(x));
    part.writes = {{weight, part.reads, 1}};
    if (draft.Get().reads.size() > weight + 1U)
    {
        part.writes.push_back({static_cast<uint8_t>(weight + 1), gradients, 1}); // the bias
    }
    part.flops = {flops};
    part.isMatrixProduct = true;
    part.isWeightGradient = true;
    draft.Backward(part);
}

/// y[.., o] = x[.., i] w[o, i] + b[o]. Several outputs share the input: one weight, cut along o;
/// "groups" says into how many equal pieces o may be cut so that each output is cut alike.
void
MakeLinear(OperatorDraft& draft)
{
    draft.CheckInputs(1, 1);
    const ModelTensor x = draft.GetInput(0);
    const std::vector<uint64_t> outputs = draft.GetNumbers("outputs");
    if (outputs.empty() || x.shape.empty())
    {
        draft.Fail("needs an input with at least one dimension and attribute \"outputs\"");
    }
    uint64_t sum = 0;
    uint64_t divisor = 0;
    for (const uint64_t output : outputs)
    {
        sum += output;
        divisor = std::gcd(divisor, output);
    }
    const uint64_t groups = draft.GetNumber("groups", outputs.size() > 1 ? divisor : sum);
    if (groups == 0 || (outputs.size() > 1 ? divisor : sum) % groups != 0)
    {
        draft.Fail(std::to_string(groups) + " groups do not divide the outputs");
    }
    const Axes leading = draft.AddDimensionsOf(0, x.shape.size() - 1);
    const IterationAxis out = draft.AddDimension("out", groups);
    const IterationAxis in = draft.AddDimension("in", x.shape.back());
    const uint8_t input = draft.Read(Append(leading, {in}), true, true);
    const uint8_t weight = draft.ParameterOf("weight", {sum, x.shape.back()}, {out, in}, true);
    if (draft.IsOn("bias", true))
    {
        draft.ParameterOf("bias", {sum}, {out});
    }
    const Axes axes = Append(leading, {out});
    std::vector<DataReference> gradients;
    for (std::size_t i = 0; i < outputs.size(); ++i)
    {
        Shape shape(x.shape.begin(), x.shape.end() - 1);
        shape.push_back(outputs[i]);
        DimensionMap map;
        for (const IterationAxis axis : axes)
        {
            map.push_back({axis});
        }
        gradients.push_back(GradientOf(
            draft.Write(outputs.size() > 1 ? std::to_string(i) : "", shape, map, {input, weight})));
    }
    const Work flops{2.0 * static_cast<double>(sum / groups), draft.All()};
    draft.Get().forward.flops = {flops};
    draft.Get().forward.isMatrixProduct = true;
    AddProductGradients(draft, gradients, input, weight, flops);
}

/// a[.., m, k] b[.., k, n]
void
MakeMatmul(OperatorDraft& draft)
{
    draft.CheckInputs(2, 2);
    const ModelTensor a = draft.GetInput(0);
    const ModelTensor b = draft.GetInput(1);
    const std::size_t rank = a.shape.size();
    if (rank < 2 || b.shape.size() != rank || a.shape[rank - 1] != b.shape[rank - 2])
    {
        draft.Fail("\"" + a.name + "\" and \"" + b.name +
                   "\" are no factors of a product: the last dimension of the first must be the "
                   "last but one of the second");
    }
    const Axes leading = draft.AddDimensionsOf(0, rank - 2);
    const IterationAxis m = draft.AddDimension("m", a.shape[rank - 2]);
    const IterationAxis k = draft.AddDimension("k", a.shape[rank - 1]);
    const IterationAxis n = draft.AddDimension("n", b.shape[rank - 1]);
    const uint8_t left = draft.Read(Append(leading, {m, k}), true, true);
    const uint8_t right = draft.Read(Append(leading, {k, n}), true, true);
    const uint8_t result = draft.WriteAxes(Append(leading, {m, n}), {left, right});
    const Work flops{2, draft.All()};
    draft.Get().forward.flops = {flops};
    draft.Get().forward.isMatrixProduct = true;
    for (const auto& [target, other] : {std::pair{left, right}, std::pair{right, left}})
    {
        OperatorPart part;
        part.name = target == left ? "left-gradient" : "right-gradient";
        part.reads = {GradientOf(result), ReadOf(other)};
        part.writes = {{target, part.reads, 1}};
        part.flops = {flops};
        part.isMatrixProduct = true;
        draft.Backward(part);
    }
}

/// x[n, c, h, w], kernel and padding of one number or two (height, width). Of several "groups" each
/// makes an equal share of the outputs from an equal share of the channels; devices share groups.
void
MakeConvolution(OperatorDraft& draft)
{
    draft.CheckInputs(1, 1);
    const ModelTensor x = draft.GetInput(0);
    if (x.shape.size() != 4)
    {
        draft.Fail("input \"" + x.name +
                   "\" must have 4 dimensions: batch, channels, height, "
                   "width");
    }
    auto pair = [&](const char* name, uint64_t otherwise) {
        std::vector<uint64_t> values = draft.GetNumbers(name);
        values = values.empty() ? std::vector<uint64_t>{otherwise} : values;
        return std::vector<uint64_t>{values.front(), values.back()};
    };
    const std::vector<uint64_t> kernel = pair("kernel", 1);
    const std::vector<uint64_t> stride = pair("stride", 1);
    const std::vector<uint64_t> padding = pair("padding", 0);
    Shape size(2);
    for (std::size_t i = 0; i < 2; ++i)
    {
        if (stride[i] == 0 || x.shape[2 + i] + 2 * padding[i] < kernel[i])
        {
            draft.Fail("the kernel is larger than the " + x.dimensions[2 + i] + " of \"" + x.name +
                       "\", or its stride is 0");
        }
        size[i] = (x.shape[2 + i] + 2 * padding[i] - kernel[i]) / stride[i] + 1;
    }
    const uint64_t outputs = draft.GetNumber("outputs");
    const uint64_t groups = draft.GetNumber("groups", 1);
    if (groups == 0 || outputs % groups != 0 || x.shape[1] % groups != 0)
    {
        draft.Fail(std::to_string(groups) + " groups do not divide the " +
                   std::to_string(x.shape[1]) + " channels of \"" + x.name + "\" and the " +
                   std::to_string(outputs) + " outputs");
    }
    const bool isGrouped = groups > 1;
    const IterationAxis n = draft.AddDimension(x.dimensions[0], x.shape[0]);
    const IterationAxis group = isGrouped ? draft.AddDimension("group", groups) : IterationAxis{0};
    const IterationAxis out = draft.AddDimension("out", outputs / groups, !isGrouped);
    const IterationAxis in = draft.AddDimension("in", x.shape[1] / groups, !isGrouped);
    const IterationAxis h = draft.AddDimension("height", size[0], false);
    const IterationAxis w = draft.AddDimension("width", size[1], false);
    const IterationAxis kh = draft.AddDimension("kernel-height", kernel[0], false);
    const IterationAxis kw = draft.AddDimension("kernel-width", kernel[1], false);
    // Channels of a group are next to each other.
    const auto channels = [&](IterationAxis axis) {
        return isGrouped ? std::vector<IterationAxis>{group, axis}
                         : std::vector<IterationAxis>{axis};
    };
    const uint8_t input = draft.ReadMap({{n}, channels(in), {h}, {w}}, true, true);
    Axes ofWeight = channels(out);
    ofWeight.insert(ofWeight.end(), {in, kh, kw});
    const uint8_t weight = draft.Parameter("weight", ofWeight, true);
    if (draft.IsOn("bias", true))
    {
        draft.Parameter("bias", channels(out));
    }
    const uint8_t result = draft.Write("",
                                       {x.shape[0], outputs, size[0], size[1]},
                                       {{n}, channels(out), {h}, {w}},
                                       {input, weight});
    const Work flops{2, draft.All()};
    draft.Get().forward.flops = {flops};
    draft.Get().forward.isMatrixProduct = true;
    AddProductGradients(draft, {GradientOf(result)}, input, weight, flops);
}

/// Rows of a table, one per id, or the sum of the rows of the last dimension of the ids.
void
MakeTable(OperatorDraft& draft, bool isBag)
{
    draft.CheckInputs(1, 1);
    const ModelTensor ids = draft.GetInput(0);
    const std::size_t rank = ids.shape.size() - (isBag ? 1 : 0);
    const Axes leading = draft.AddDimensionsOf(0, rank);
    Axes all = leading;
    if (isBag)
    {
        all.push_back(draft.AddDimension("lookups", ids.shape.back(), false));
    }
    const IterationAxis rows = draft.AddDimension("rows", draft.GetNumber("rows"));
    const IterationAxis width = draft.AddDimension("width", draft.GetNumber("width"));
    const uint8_t input = draft.Read(all, false);
    const uint8_t weight = draft.Parameter("weight", {rows, width}, true);
    const uint8_t result = draft.WriteAxes(Append(leading, {width}), {input, weight});
    // Of the table only the rows that are asked for move; they are as large as the result, or as
    // many times that as there are lookups.
    ModelOperator& op = draft.Get();
    const bool isSparse = draft.IsOn("sparse", false);
    op.reads[weight].traffic = 0;
    op.writes[result].traffic = 1 + (isBag ? static_cast<double>(ids.shape.back()) : 1);
    OperatorPart part;
    part.name = isSparse ? SPARSE_BACKWARD : "backward";
    part.reads = {GradientOf(result), ReadOf(input)};
    const Axes points = Append(all, {width});
    part.writes = {{weight, part.reads, 0, isSparse ? points : Axes{}}};
    part.flops = {{1, points}};
    part.bytes = {{8, points}}; // read and written in the gradient buffer, or twice in a list
    draft.Backward(part);
}

void
MakeEmbedding(OperatorDraft& draft)
{
    MakeTable(draft, false);
}

void
MakeEmbeddingBag(OperatorDraft& draft)
{
    MakeTable(draft, true);
}

/// x[b, s, h] + p[s, h], with dropout if the attribute says so.
void
MakePositionEmbedding(OperatorDraft& draft)
{
    draft.CheckInputs(1, 1);
    const std::size_t rank = draft.GetInput(0).shape.size();
    if (rank < 2)
    {
        draft.Fail("needs an input with a sequence and a feature dimension");
    }
    const Axes axes = draft.AddDimensionsOf(0, rank);
    const uint8_t x = draft.Read(axes);
    // A model may have more positions than a sample uses; the table's rows beyond are never read.
    const uint64_t positions = draft.GetNumber("positions", draft.GetInput(0).shape[rank - 2]);
    const uint8_t table = draft.ParameterOf("weight",
                                            {positions, draft.GetInput(0).shape[rank - 1]},
                                            {axes[rank - 2], axes[rank - 1]});
    const uint8_t y = draft.WriteAxes(axes);
    std::vector<DataReference> reads{GradientOf(y)};
    if (draft.IsOn("dropout", false))
    {
        reads.push_back(WriteOf(draft.Save("mask", axes, ElementKind::MASK)));
    }
    draft.Get().forward.flops = {{4, axes}}; // a sum, a random number, a comparison, a product
    draft.ElementwiseBackward(3, reads, {x, table});
}

/// x[e, c, i] w[e, o, i] + b[e, o]: a linear layer per expert. With "weightedBias" each row's bias
/// is multiplied by the probability of its token, as what it is added to has been before.
void
MakeExpertLinear(OperatorDraft& draft)
{
    draft.CheckInputs(1, 1);
    const ModelTensor x = draft.GetInput(0);
    if (x.shape.size() != 3)
    {
        draft.Fail("input \"" + x.name + "\" must have 3 dimensions: experts, tokens, features");
    }
    const std::vector<uint64_t> outputs = draft.GetNumbers("outputs");
    uint64_t sum = 0;
    for (const uint64_t output : outputs)
    {
        sum += output;
    }
    if (outputs.empty() || sum % outputs[0] != 0 || sum / outputs[0] != outputs.size())
    {
        draft.Fail("attribute \"outputs\" must be one number, or several equal ones");
    }
    draft.Get().isExchange = true;
    const IterationAxis experts = draft.AddDimension("experts", x.shape[0]);
    const IterationAxis tokens = draft.AddDimension("tokens", x.shape[1]);
    const IterationAxis out = draft.AddDimension("out", outputs[0]);
    const IterationAxis in = draft.AddDimension("in", x.shape[2]);
    const uint8_t input = draft.Read({experts, tokens, in}, true, true);
    const uint8_t weight =
        draft.ParameterOf("weight", {x.shape[0], sum, x.shape[2]}, {experts, out, in}, true);
    const bool isWeighted = draft.IsOn("weightedBias", false);
    if (draft.IsOn("bias", isWeighted))
    {
        draft.ParameterOf("biases", {x.shape[0], sum}, {experts, out});
        draft.Get().hasWeightedBias = isWeighted;
    }
    else if (isWeighted)
    {
        draft.Fail("attribute \"weightedBias\" is of a bias, and \"bias\" says that there is none");
    }
    std::vector<DataReference> gradients;
    for (std::size_t i = 0; i < outputs.size(); ++i)
    {
        gradients.push_back(GradientOf(draft.Write(outputs.size() > 1 ? std::to_string(i) : "",
                                                   {x.shape[0], x.shape[1], outputs[i]},
                                                   {{experts}, {tokens}, {out}},
                                                   {input, weight})));
    }
    const Work flops{2.0 * static_cast<double>(outputs.size()), draft.All()};
    draft.Get().forward.flops = {flops};
    draft.Get().forward.isMatrixProduct = true;
    AddProductGradients(draft, gradients, input, weight, flops);
}

} // namespace

std::vector<OperatorKind>
GetDenseKinds()
{
    return {
        {"linear", {"outputs", "groups", "bias"}, MakeLinear, {"out", "in"}},
        {"matmul", {}, MakeMatmul, {"m", "k", "n"}},
        {"convolution",
         {"outputs", "groups", "kernel", "stride", "padding", "bias"},
         MakeConvolution,
         {"group", "out", "in", "height", "width", "kernel-height", "kernel-width"}},
        {"embedding", {"rows", "width", "sparse"}, MakeEmbedding, {"rows", "width"}},
        {"embedding-bag",
         {"rows", "width", "sparse"},
         MakeEmbeddingBag,
         {"lookups", "rows", "width"}},
        {"position-embedding", {"positions", "dropout"}, MakePositionEmbedding},
        {"expert-linear",
         {"outputs", "bias", "weightedBias"},
         MakeExpertLinear,
         {"experts", "tokens", "out", "in"}},
    };
}

} // namespace proteus
} // namespace ns3
