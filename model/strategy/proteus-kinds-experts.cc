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

// A mixture of experts: tokens are sorted by expert ("dispatch"), each expert computes its own, and
// the results go back to the places of the tokens ("combine"). Experts get equally many tokens,
// "capacity" of them, or all get as many as those of the busiest device do, for which the others
// wait in every layer. Tokens of an expert are a set without order, so that devices may share it as
// they share the samples and the sequence that the tokens come from.

/// The probability of every expert for every token.
void
MakeRouter(OperatorDraft& draft)
{
    draft.CheckInputs(1, 1);
    const ModelTensor x = draft.GetInput(0);
    if (x.shape.size() < 2)
    {
        draft.Fail("needs an input of tokens and features");
    }
    const Axes leading = draft.AddDimensionsOf(0, x.shape.size() - 1);
    const IterationAxis expert = draft.AddDimension("experts", draft.GetNumber("experts"), false);
    const IterationAxis in = draft.AddDimension("in", x.shape.back(), false);
    Axes inputAxes = leading;
    inputAxes.push_back(in);
    Axes axes = leading;
    axes.push_back(expert);
    const uint8_t input = draft.Read(inputAxes, true, true);
    const uint8_t weight = draft.Parameter("weight", {expert, in}, true);
    const uint8_t y = draft.WriteAxes(axes, {input, weight});
    draft.Get().forward.flops = {{2, draft.All()}};
    draft.Get().forward.isMatrixProduct = true;
    OperatorPart part;
    part.name = "backward";
    part.reads = {GradientOf(y), WriteOf(y), ReadOf(input), ReadOf(weight)};
    part.writes = {{input, {GradientOf(y), ReadOf(weight)}, 1},
                   {weight, {GradientOf(y), ReadOf(input)}, 1}};
    part.flops = {{4, draft.All()}};
    part.isMatrixProduct = true;
    draft.Backward(part);
}

/// @param draft of a dispatch @param experts of the layer @return which of them tokens may get
ExpertRouting
ReadRouting(const OperatorDraft& draft, uint64_t experts)
{
    ExpertRouting routing;
    routing.experts = experts;
    routing.top = draft.GetNumber("top", 1);
    routing.groups = draft.GetNumber("groups", 1);
    routing.topGroups = draft.GetNumber("topGroups", routing.groups);
    if (routing.groups == 0 || experts % routing.groups != 0)
    {
        draft.Fail(std::to_string(experts) + " experts cannot make " +
                   std::to_string(routing.groups) + " equal groups");
    }
    if (routing.topGroups == 0 || routing.topGroups > routing.groups)
    {
        draft.Fail("topGroups = " + std::to_string(routing.topGroups) +
                   " is not 1 to groups = " + std::to_string(routing.groups));
    }
    const uint64_t eligible = routing.topGroups * (experts / routing.groups);
    if (routing.top == 0 || routing.top > eligible)
    {
        draft.Fail("top = " + std::to_string(routing.top) + " is not 1 to the " +
                   std::to_string(eligible) + " experts that a token may get");
    }
    return routing;
}

constexpr uint64_t MEAN = 100; //!< percent of the tokens of a mean expert

/// Devices share the tokens of an expert in equal parts, of which there are powers of two in most
/// jobs, so that what is more than the mean is rounded to a power of two.
/// @param mean tokens of an expert @param busiest percent of them
/// @return tokens of each expert, within 1 / 128 of that
uint64_t
FindCapacity(uint64_t mean, uint64_t busiest)
{
    constexpr uint64_t FINEST = 64; // parts of the mean
    uint64_t step = 1;
    while (mean % (2 * step) == 0 && 2 * step * FINEST <= mean)
    {
        step *= 2;
    }
    const uint64_t unit = MEAN * step;
    return (mean * busiest + unit / 2) / unit * step;
}

/// Inputs: tokens[b, s, h], probabilities[b, s, e]. Result: [e, capacity, h], where the capacity is
/// the number of tokens times "top" over the number of experts, and of that "busiest" percent. The
/// experts of a token are in "topGroups" of the "groups" of experts.
void
MakeDispatch(OperatorDraft& draft)
{
    draft.CheckInputs(2, 2);
    const ModelTensor x = draft.GetInput(0);
    const ModelTensor p = draft.GetInput(1);
    if (x.shape.size() != 3 || p.shape.size() != 3)
    {
        draft.Fail("needs tokens and probabilities of 3 dimensions: batch, sequence, features");
    }
    const Axes tokens = draft.AddDimensionsOf(0, 2);
    const IterationAxis expert = draft.AddDimension("experts", p.shape[2], false);
    const IterationAxis feature = draft.AddDimension("features", x.shape[2]);
    draft.Get().routing = ReadRouting(draft, p.shape[2]);
    const uint64_t top = draft.Get().routing.top;
    const uint64_t all = x.shape[0] * x.shape[1] * top;
    if (all % p.shape[2] != 0)
    {
        draft.Fail(std::to_string(all) + " = tokens x " + std::to_string(top) +
                   " cannot be shared out evenly to " + std::to_string(p.shape[2]) +
                   " experts: tokens must be a multiple of " +
                   std::to_string(p.shape[2] / std::gcd(p.shape[2], top)) +
                   ", so take another sequence or batch");
    }
    const uint64_t busiest = draft.GetNumber("busiest", MEAN);
    const uint64_t most = MEAN * p.shape[2] / top; // one device has all tokens of a choice
    if (busiest < MEAN || busiest > most)
    {
        draft.Fail("busiest = " + std::to_string(busiest) +
                   " percent of the tokens of a mean expert are not " + std::to_string(MEAN) +
                   " to " + std::to_string(most));
    }
    const uint64_t capacity = FindCapacity(all / p.shape[2], busiest);
    const uint8_t input = draft.Read({tokens[0], tokens[1], feature}, true, true);
    const uint8_t weights = draft.Read({tokens[0], tokens[1], expert}, false);
    const uint8_t y = draft.Write("",
                                  {p.shape[2], capacity, x.shape[2]},
                                  {{expert}, {tokens[0], tokens[1]}, {feature}});
    draft.Get().isExchange = true;
    draft.ElementwiseBackward(0, {GradientOf(y), ReadOf(weights)}, {input});
}

/// Inputs: results[e, capacity, h], probabilities[b, s, e]. Result: [b, s, h].
void
MakeCombine(OperatorDraft& draft)
{
    draft.CheckInputs(2, 2);
    const ModelTensor x = draft.GetInput(0);
    const ModelTensor p = draft.GetInput(1);
    if (x.shape.size() != 3 || p.shape.size() != 3 || p.shape[2] != x.shape[0])
    {
        draft.Fail("needs results of 3 dimensions (experts, tokens, features), and probabilities "
                   "(batch, sequence, experts)");
    }
    const Axes tokens{draft.AddDimension(p.dimensions[0], p.shape[0]),
                      draft.AddDimension(p.dimensions[1], p.shape[1])};
    const IterationAxis expert = draft.AddDimension("experts", p.shape[2], false);
    const IterationAxis feature = draft.AddDimension("features", x.shape[2]);
    const uint8_t input = draft.ReadMap({{expert}, {tokens[0], tokens[1]}, {feature}}, true, true);
    const uint8_t weights = draft.Read({tokens[0], tokens[1], expert});
    const uint8_t y = draft.WriteAxes({tokens[0], tokens[1], feature});
    draft.Get().isExchange = true;
    draft.Get().forward.flops = {{2, {tokens[0], tokens[1], feature}}};
    OperatorPart part;
    part.name = "backward";
    part.reads = {GradientOf(y), ReadOf(input), ReadOf(weights)};
    part.writes = {{input, {GradientOf(y), ReadOf(weights)}, 1},
                   {weights, {GradientOf(y), ReadOf(input)}, 1}};
    part.flops = {{4, {tokens[0], tokens[1], feature}}};
    draft.Backward(part);
}

} // namespace

std::vector<OperatorKind>
GetExpertKinds()
{
    return {
        {"router", {"experts"}, MakeRouter, {"experts", "in"}},
        {"dispatch",
         {"top", "groups", "topGroups", "busiest"},
         MakeDispatch,
         {"experts", "features"}},
        {"combine", {}, MakeCombine, {"experts", "features"}},
    };
}

} // namespace proteus
} // namespace ns3
