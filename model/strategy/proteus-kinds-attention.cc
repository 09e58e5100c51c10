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

// Bytes that the unfused attention core moves per element of its s x s matrices, in 16 bit, besides
// q, k, v, the result and what is saved. Forward: product writes 2, softmax reads 2, dropout reads
// 2, product reads 2. Backward: the two products of the values write 2 and read 2, dropout writes
// 2, softmax reads 2 and writes 2, the two products of the scores read 2 each.
constexpr double CORE_FORWARD_BYTES = 8;
constexpr double CORE_BACKWARD_BYTES = 14;

/// The sizes of an attention.
struct AttentionSizes
{
    uint64_t heads;
    uint64_t groups; //!< heads of keys and values
    HeadWidths head;
    bool isFused;
    bool hasDropout;
    bool isCausal;      //!< see ModelOperator::isCausal
    uint64_t documents; //!< equal parts of a sequence that see only themselves
    uint64_t window;    //!< see ModelOperator::window
    double share;       //!< of the scores that there are
};

/// The dimensions of an attention.
struct AttentionAxes
{
    IterationAxis batch;
    IterationAxis head; //!< groups of heads
    IterationAxis row;
    IterationAxis column;

    Axes GetScores() const
    {
        return {batch, head, row, column};
    }
};

/// Reads which tokens a token sees, "documents" and "window".
/// @param draft of an attention @param queries tokens of a sequence @param keys that they look at
/// @param sizes get it
void
ReadSeen(OperatorDraft& draft, uint64_t queries, uint64_t keys, AttentionSizes& sizes)
{
    sizes.documents = draft.GetNumber("documents", 1);
    if (sizes.documents == 0 || queries % sizes.documents != 0 || keys % sizes.documents != 0)
    {
        draft.Fail(std::to_string(sizes.documents) + " documents do not divide the sequence");
    }
    if (sizes.documents > 1 && !sizes.isFused)
    {
        draft.Fail("documents are known of fused attention only; add \"fused\": 1");
    }
    sizes.share = 1 / static_cast<double>(sizes.documents);
    const uint64_t window = draft.GetNumber("window", 0);
    sizes.isCausal = draft.IsOn("causal", draft.IsOn("masked", true) && queries == keys);
    if (sizes.isCausal && (queries != keys || !draft.IsOn("masked", true)))
    {
        draft.Fail("causal attention is that of a sequence to its own tokens, and leaves scores "
                   "out; leave out \"causal\": 1");
    }
    if (window > 0 && !sizes.isCausal)
    {
        draft.Fail("a window is of the tokens before a token of the same sequence; leave out "
                   "\"masked\": 0, \"causal\": 0, and keys of another sequence");
    }
    const uint64_t tokens = keys / sizes.documents;
    if (window == 0 || window >= tokens || !sizes.isFused)
    {
        return; // attention that is not fused makes all scores, and leaves some out behind that
    }
    sizes.window = window;
    sizes.share *= GetWindowShare(window, tokens);
}

/// @return what the attributes say, which fits the inputs
AttentionSizes
ReadAttentionSizes(OperatorDraft& draft, const ModelTensor& q, const ModelTensor& k)
{
    AttentionSizes sizes{};
    sizes.heads = draft.GetNumber("heads");
    sizes.groups = draft.GetNumber("kvHeads", sizes.heads);
    sizes.isFused = draft.IsOn("fused", false);
    sizes.hasDropout = draft.IsOn("dropout", false);
    const ModelTensor& v = draft.GetInput(2);
    if (q.shape.size() != 3 || k.shape.size() != 3 || v.shape.size() != 3 ||
        k.shape[0] != v.shape[0] || k.shape[1] != v.shape[1])
    {
        draft.Fail("needs queries, keys and values of 3 dimensions: batch, sequence, features");
    }
    if (sizes.groups == 0 || sizes.heads % sizes.groups != 0 || q.shape[2] % sizes.heads != 0 ||
        k.shape[2] % sizes.groups != 0 || q.shape[2] / sizes.heads != k.shape[2] / sizes.groups)
    {
        draft.Fail(std::to_string(sizes.heads) + " heads and " + std::to_string(sizes.groups) +
                   " heads of keys and values do not make equal shares of the features of \"" +
                   q.name + "\" (" + std::to_string(q.shape[2]) + ") and \"" + k.name + "\" (" +
                   std::to_string(k.shape[2]) + ")");
    }
    if (v.shape[2] % sizes.groups != 0)
    {
        draft.Fail(std::to_string(sizes.groups) + " heads do not make equal shares of the " +
                   std::to_string(v.shape[2]) + " features of the values \"" + v.name + "\"");
    }
    sizes.head = {k.shape[2] / sizes.groups, v.shape[2] / sizes.groups};
    if (sizes.head.key != sizes.head.value && !sizes.isFused)
    {
        draft.Fail("heads of " + std::to_string(sizes.head.key) + " features for keys and of " +
                   std::to_string(sizes.head.value) +
                   " for values are known of fused attention only; add \"fused\": 1");
    }
    ReadSeen(draft, q.shape[1], k.shape[1], sizes);
    return sizes;
}

/// Lets the backward pass of fused attention read its result and one number per row and head.
void
SaveStatistics(OperatorDraft& draft,
               const AttentionSizes& sizes,
               const AttentionAxes& axes,
               const Shape& queries,
               uint8_t result,
               OperatorPart& backward)
{
    backward.reads.push_back(WriteOf(result));
    backward.reads.push_back(WriteOf(draft.Write("statistics",
                                                 {queries[0], sizes.heads, queries[1]},
                                                 {{axes.batch}, {axes.head}, {axes.row}},
                                                 {},
                                                 ElementKind::FP32,
                                                 TensorRole::SAVED)));
}

/// Lets the backward pass of attention that is not fused read its matrices.
void
SaveScores(OperatorDraft& draft,
           const AttentionSizes& sizes,
           const AttentionAxes& axes,
           const Shape& queries,
           const Shape& keys,
           OperatorPart& backward)
{
    const auto save = [&](const char* name, uint64_t heads, ElementKind element) {
        backward.reads.push_back(
            WriteOf(draft.Write(name,
                                {queries[0], heads, queries[1], keys[1]},
                                {{axes.batch}, {axes.head}, {axes.row}, {axes.column}},
                                {},
                                element,
                                TensorRole::SAVED)));
    };
    save("scores", sizes.heads * (sizes.hasDropout ? 2 : 1), ElementKind::COMPUTE);
    if (sizes.hasDropout)
    {
        save("mask", sizes.heads, ElementKind::MASK);
    }
}

/**
 * softmax(q k^T) v with q[b, s, heads * d], k[b, t, kvHeads * d] and v[b, t, kvHeads * e]; where e
 * is not d (multi-head latent attention), it is fused.
 *
 * "fused" attention (FlashAttention) keeps one number per row and head and computes the scores
 * again in its backward pass. The other one keeps the s x t matrices: the softmax, and under
 * "dropout" its mask and its result. "biasBuckets" adds a trained bias of that many distances.
 * "masked" is 0 where every position sees all others, as those of an image do. "causal" is 1, the
 * default of masked attention of a sequence to itself, where tokens see only themselves and those
 * before: half of the scores, which fused attention leaves out. An encoder of sentences is masked,
 * as these are filled up to one length, but not causal. "documents" is how
 * many equal parts of a sequence see only themselves, as packed samples do; such attention is
 * fused. "window" is how many tokens a token sees, itself and those before it (Beltagy et al. 2020,
 * Jiang et al. 2023): of n tokens a share of 1 - (1 - window / n)^2 of the scores of causal
 * attention. Attention that is not fused makes all scores.
 */
void
MakeAttention(OperatorDraft& draft)
{
    draft.CheckInputs(3, 3);
    const ModelTensor q = draft.GetInput(0);
    const ModelTensor k = draft.GetInput(1);
    const AttentionSizes sizes = ReadAttentionSizes(draft, q, k);
    AttentionAxes axes{};
    axes.batch = draft.AddDimension(q.dimensions[0], q.shape[0]);
    axes.head = draft.AddDimension("heads", sizes.groups);
    axes.row = draft.AddDimension(q.dimensions[1], q.shape[1]);
    axes.column = draft.AddDimension("keys", k.shape[1], false);
    const uint8_t query = draft.Read({axes.batch, axes.row, axes.head}, true, false);
    const uint8_t key = draft.Read({axes.batch, axes.column, axes.head}, true, false);
    const uint8_t value = draft.Read({axes.batch, axes.column, axes.head}, true, true);
    const uint64_t buckets = draft.GetNumber("biasBuckets", 0);
    std::vector<uint8_t> gradients{query, key, value};
    if (buckets > 0)
    {
        // A number for every head and class of distances is added to the scores (T5).
        const IterationAxis bucket = draft.AddDimension("buckets", buckets, false);
        gradients.push_back(draft.ParameterOf("bias", {buckets, sizes.heads}, {bucket, axes.head}));
    }
    const uint8_t y = draft.Write("",
                                  {q.shape[0], q.shape[1], sizes.heads * sizes.head.value},
                                  {{axes.batch}, {axes.row}, {axes.head}},
                                  {query, key, value});
    const double perGroup = static_cast<double>(sizes.heads) / static_cast<double>(sizes.groups);
    // Of all heads of a group, for one score: q k^T, and the product with the values.
    const double keys = perGroup * 2 * static_cast<double>(sizes.head.key);
    const double values = perGroup * 2 * static_cast<double>(sizes.head.value);

    ModelOperator& op = draft.Get();
    op.documents = sizes.documents;
    op.window = sizes.window;
    op.head = sizes.head;
    op.hasDropout = sizes.hasDropout && !sizes.isFused;
    op.hasMask = draft.IsOn("masked", true);
    op.isCausal = sizes.isCausal;
    op.forward.flops = {{sizes.share * (keys + values), axes.GetScores()}};
    op.forward.isMatrixProduct = true;
    OperatorPart part;
    part.name = "backward";
    part.reads = {GradientOf(y), ReadOf(query), ReadOf(key), ReadOf(value)};
    // Two products each, and fused q k^T once more.
    part.flops = {{sizes.share * ((sizes.isFused ? 3 : 2) * keys + 2 * values), axes.GetScores()}};
    part.isMatrixProduct = true;
    for (const uint8_t read : gradients)
    {
        part.writes.push_back({read, part.reads, 1});
    }
    if (sizes.isFused)
    {
        SaveStatistics(draft, sizes, axes, q.shape, y, part);
    }
    else
    {
        SaveScores(draft, sizes, axes, q.shape, k.shape, part);
        op.forward.bytes = {{CORE_FORWARD_BYTES * perGroup, axes.GetScores()}};
        part.bytes = {{CORE_BACKWARD_BYTES * perGroup, axes.GetScores()}};
    }
    draft.Backward(part);
}

/// Over the last dimension, which devices cannot share.
void
MakeSoftmax(OperatorDraft& draft)
{
    draft.CheckInputs(1, 1);
    const ModelTensor input = draft.GetInput(0);
    Axes axes = draft.AddDimensionsOf(0, input.shape.size() - 1);
    axes.push_back(draft.AddDimension(input.dimensions.back(), input.shape.back(), false));
    const uint8_t x = draft.Read(axes);
    const uint8_t y = draft.WriteAxes(axes);
    draft.Get().forward.flops = {{5, axes}};
    draft.ElementwiseBackward(4, {GradientOf(y), WriteOf(y)}, {x});
}

/// Turns the pairs of features of queries or keys by their positions; "rotated" says how many
/// features of a head, if not all.
void
MakeRotary(OperatorDraft& draft)
{
    draft.CheckInputs(1, 1);
    const ModelTensor input = draft.GetInput(0);
    const uint64_t heads = draft.GetNumber("heads");
    if (input.shape.size() != 3 || heads == 0 || input.shape[2] % heads != 0)
    {
        draft.Fail("needs an input of 3 dimensions whose last is a multiple of its heads");
    }
    const IterationAxis batch = draft.AddDimension(input.dimensions[0], input.shape[0]);
    const IterationAxis row = draft.AddDimension(input.dimensions[1], input.shape[1]);
    const IterationAxis head = draft.AddDimension("heads", heads);
    const uint8_t x = draft.Read({batch, row, head}, true, true);
    const uint8_t y = draft.Write("", input.shape, {{batch}, {row}, {head}});
    const uint64_t width = input.shape[2] / heads;
    const uint64_t rotated = draft.GetNumber("rotated", width);
    if (rotated == 0 || rotated > width)
    {
        draft.Fail("cannot turn " + std::to_string(rotated) + " of the " + std::to_string(width) +
                   " features of a head");
    }
    const double flops = 3.0 * static_cast<double>(rotated);
    draft.Get().forward.flops = {{flops, draft.All()}};
    draft.ElementwiseBackward(flops, {GradientOf(y)}, {x});
}

/// Keys and values of multi-head latent attention, of k[b, t, heads * d], v[b, t, heads * e] and
/// r[b, t, p], which all heads share: r is turned by its positions and put behind the keys of every
/// head. Results: keys[b, t, heads * (d + p)], and the values, copied as the kernel that makes the
/// keys does (Megatron-Core, fused_apply_mla_rope_for_kv()), since both come in one tensor.
void
MakeSharedRotary(OperatorDraft& draft)
{
    draft.CheckInputs(3, 3);
    const ModelTensor k = draft.GetInput(0);
    const ModelTensor v = draft.GetInput(1);
    const ModelTensor r = draft.GetInput(2);
    const uint64_t heads = draft.GetNumber("heads");
    const auto isAlike = [&](const ModelTensor& other) {
        return other.shape.size() == 3 && other.shape[0] == k.shape[0] &&
               other.shape[1] == k.shape[1];
    };
    if (k.shape.size() != 3 || !isAlike(v) || !isAlike(r) || heads == 0 ||
        k.shape[2] % heads != 0 || v.shape[2] % heads != 0)
    {
        draft.Fail("needs keys, values and what heads share, each batch, sequence and features, "
                   "those of keys and values multiples of its heads");
    }
    const IterationAxis batch = draft.AddDimension(k.dimensions[0], k.shape[0]);
    const IterationAxis row = draft.AddDimension(k.dimensions[1], k.shape[1]);
    const IterationAxis head = draft.AddDimension("heads", heads);
    const IterationAxis part = draft.AddDimension("shared", r.shape[2], false);
    const uint8_t key = draft.Read({batch, row, head}, true, true);
    const uint8_t value = draft.Read({batch, row, head}, true, true);
    const uint8_t shared = draft.Read({batch, row, part}, true, true);
    const DimensionMap map{{batch}, {row}, {head}};
    const uint8_t keys =
        draft.Write("0", {k.shape[0], k.shape[1], k.shape[2] + heads * r.shape[2]}, map);
    const uint8_t values = draft.Write("1", v.shape, map);
    const double flops = 3; // of an element that is turned
    draft.Get().forward.flops = {{flops, {batch, row, part}}};
    draft.ElementwiseBackward(flops, {GradientOf(keys), GradientOf(values)}, {key, value, shared});
}

/// Queries, keys and values of x[b, s, (heads + 2 kvHeads) * d], one product of which devices have
/// equal parts, for "parts" devices, more than there are heads of keys and values: each needs the
/// queries of its heads, and the keys and values of one head that parts / kvHeads devices have in
/// common. So all of x is brought to all of them, of which they take views, as Megatron-Core does
/// (SelfAttention.get_query_key_value_tensors()). Results: queries[b, s, heads * d], keys and
/// values[b, s, parts * d]. Backward a gradient of all of x, zero but for these views, is made.
void
MakeSharedHeads(OperatorDraft& draft)
{
    draft.CheckInputs(1, 1);
    const ModelTensor x = draft.GetInput(0);
    const uint64_t heads = draft.GetNumber("heads");
    const uint64_t groups = draft.GetNumber("kvHeads");
    const uint64_t parts = draft.GetNumber("parts");
    if (x.shape.size() != 3 || groups == 0 || x.shape[2] % (heads + 2 * groups) != 0)
    {
        draft.Fail("needs an input of 3 dimensions whose last is that of its heads");
    }
    if (parts % groups != 0 || heads % parts != 0)
    {
        draft.Fail(std::to_string(parts) + " devices cannot share " + std::to_string(heads) +
                   " heads with " + std::to_string(groups) +
                   " heads of keys and values: they must be a multiple of these, and divide those");
    }
    const uint64_t width = x.shape[2] / (heads + 2 * groups);
    const IterationAxis batch = draft.AddDimension(x.dimensions[0], x.shape[0]);
    const IterationAxis row = draft.AddDimension(x.dimensions[1], x.shape[1]);
    const IterationAxis head = draft.AddDimension("heads", parts);
    const IterationAxis all = draft.AddDimension("features", x.shape[2], false);
    const uint8_t input = draft.Read({batch, row, all}, true, true);
    std::vector<DataReference> gradients;
    for (const uint64_t features : {heads * width, parts * width, parts * width})
    {
        gradients.push_back(GradientOf(draft.Write(std::to_string(gradients.size()),
                                                   {x.shape[0], x.shape[1], features},
                                                   {{batch}, {row}, {head}})));
    }
    draft.Get().isView = true;
    draft.ElementwiseBackward(0, gradients, {input});
}

} // namespace

std::vector<OperatorKind>
GetAttentionKinds()
{
    return {
        {"attention",
         {"heads",
          "kvHeads",
          "fused",
          "dropout",
          "biasBuckets",
          "masked",
          "causal",
          "documents",
          "window"},
         MakeAttention,
         {"heads", "keys", "buckets"}},
        {"softmax", {}, MakeSoftmax},
        {"rotary", {"heads", "rotated"}, MakeRotary, {"heads"}},
        {"scaled-rotary", {"heads", "rotated"}, MakeRotary, {"heads"}},
        {"shared-rotary", {"heads"}, MakeSharedRotary, {"heads", "shared"}},
        {"shared-heads", {"heads", "kvHeads", "parts"}, MakeSharedHeads, {"heads", "features"}},
    };
}

} // namespace proteus
} // namespace ns3
