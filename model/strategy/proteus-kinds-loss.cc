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

// Bytes that the cross entropy moves per logit beyond reading the logits in 16 bit and writing what
// is listed as a result. Maximum: to fp32 4, read 4. Sum: subtract 4 + 4, exp 4 + 4, sum 4, less
// the logits. Loss: softmax by division reads 4. Backward: scale 4 + 4, to 16 bit 4, less the
// softmax.
constexpr double MAXIMUM_BYTES = 8;
constexpr double SUM_BYTES = 18;
constexpr double LOSS_BYTES = 2;
constexpr double LOSS_BACKWARD_BYTES = 8;

struct Logits
{
    Axes leading; //!< of the rows
    Axes all;     //!< and the classes
};

Logits
AddLogits(OperatorDraft& draft)
{
    const ModelTensor logits = draft.GetInput(0);
    if (logits.shape.size() < 2)
    {
        draft.Fail("input \"" + logits.name + "\" must have rows and classes");
    }
    Logits axes;
    axes.leading = draft.AddDimensionsOf(0, logits.shape.size() - 1);
    axes.all = axes.leading;
    axes.all.push_back(draft.AddDimension("classes", logits.shape.back()));
    return axes;
}

/// Shape and map of one number per row.
void
WriteRows(OperatorDraft& draft,
          const std::string& suffix,
          const Axes& leading,
          const std::vector<uint8_t>& summands)
{
    Shape shape;
    DimensionMap map;
    for (const IterationAxis axis : leading)
    {
        shape.push_back(draft.Get().dimensions[axis].extent);
        map.push_back({axis});
    }
    draft.Write(suffix, shape, map, summands, ElementKind::FP32);
}

/// Logits and labels to one loss per row, in one kernel.
void
MakeCrossEntropy(OperatorDraft& draft)
{
    draft.CheckInputs(2, 2);
    const Logits axes = AddLogits(draft);
    const uint8_t logits = draft.Read(axes.all);
    const uint8_t labels = draft.Read(axes.leading, false);
    WriteRows(draft, "", axes.leading, {logits});
    draft.Get().forward.flops = {{5, axes.all}};
    draft.ElementwiseBackward(2, {GradientOf(0), ReadOf(logits), ReadOf(labels)}, {logits});
}

// Megatron-LM's cross entropy over a vocabulary that devices share has three steps, each with a
// result that is summed (or its maximum taken) over them.

void
MakeVocabularyMaximum(OperatorDraft& draft)
{
    draft.CheckInputs(1, 1);
    const Logits axes = AddLogits(draft);
    const uint8_t logits = draft.Read(axes.all, false);
    WriteRows(draft, "", axes.leading, {logits});
    draft.Get().forward.flops = {{1, axes.all}};
    draft.Get().forward.bytes = {{MAXIMUM_BYTES, axes.all}};
}

/// The logit of the label, and the sum of the exponentials.
void
MakeVocabularySum(OperatorDraft& draft)
{
    draft.CheckInputs(3, 3);
    const Logits axes = AddLogits(draft);
    const uint8_t logits = draft.Read(axes.all, false);
    draft.Read(axes.leading, false);
    draft.Read(axes.leading, false);
    WriteRows(draft, "predicted-logit", axes.leading, {logits});
    WriteRows(draft, "sum", axes.leading, {logits});
    draft.Get().forward.flops = {{3, axes.all}};
    draft.Get().forward.bytes = {{SUM_BYTES, axes.all}};
}

void
MakeVocabularyLoss(OperatorDraft& draft)
{
    draft.CheckInputs(3, 3);
    const Logits axes = AddLogits(draft);
    const uint8_t logits = draft.Read(axes.all);
    draft.Read(axes.leading, false);
    draft.Read(axes.leading, false);
    WriteRows(draft, "", axes.leading, {});
    const uint8_t softmax = draft.Save("softmax", axes.all, ElementKind::FP32);
    draft.Get().forward.flops = {{1, axes.all}};
    draft.Get().forward.bytes = {{LOSS_BYTES, axes.all}};
    draft.ElementwiseBackward(2,
                              {GradientOf(0), WriteOf(softmax)},
                              {logits},
                              {{LOSS_BACKWARD_BYTES, axes.all}});
}

/// Mean squared error: prediction and target to one loss per sample.
void
MakeMeanSquaredError(OperatorDraft& draft)
{
    draft.CheckInputs(2, 2);
    const Axes axes = draft.AddDimensionsOf(0, draft.GetInput(0).shape.size());
    const uint8_t prediction = draft.Read(axes);
    const uint8_t target = draft.Read(axes, false);
    WriteRows(draft, "", {axes[0]}, {prediction, target});
    draft.Get().forward.flops = {{3, axes}};
    draft.ElementwiseBackward(3, {GradientOf(0), ReadOf(prediction), ReadOf(target)}, {prediction});
}

} // namespace

std::vector<OperatorKind>
GetLossKinds()
{
    return {
        {"cross-entropy", {}, MakeCrossEntropy, {"classes"}},
        {"vocabulary-maximum", {}, MakeVocabularyMaximum, {"classes"}},
        {"vocabulary-sum", {}, MakeVocabularySum, {"classes"}},
        {"vocabulary-loss", {}, MakeVocabularyLoss, {"classes"}},
        {"mean-squared-error", {}, MakeMeanSquaredError},
    };
}

} // namespace proteus
} // namespace ns3
