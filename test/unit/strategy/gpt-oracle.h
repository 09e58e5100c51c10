/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GPT_ORACLE_H
#define PROTEUS_GPT_ORACLE_H

#include "ns3/proteus-graph.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * One training iteration of a GPT-3 model as Megatron-LM runs it, as an execution graph.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Shape of a decoder-only transformer with learned positions and tied embeddings (GPT-2, GPT-3).
struct GptModel
{
    std::string name;           //!< e.g. "6.7B"
    uint32_t layers{0};         //!< transformer layers l
    uint32_t hidden{0};         //!< hidden size h; the MLP is 4 h wide
    uint32_t heads{0};          //!< attention heads a; divides hidden
    uint32_t sequenceLength{0}; //!< tokens per sequence s
    uint32_t vocabulary{0};     //!< tokens of the vocabulary, before padding
};

/**
 * @ingroup proteus
 * The GPT-3 family after Brown et al., "Language Models are Few-Shot Learners" (2020), Table 2.1:
 * 125M, 350M, 760M, 1.3B, 2.7B, 6.7B, 13B, 175B; 2048 tokens per sequence, 50257 in the vocabulary.
 *
 * Two rows of the table contradict themselves and are read as everybody reads them: "1.3B" has 24
 * heads of 128 there but a hidden size of 2048, so it gets the 16 heads of 128 that fill it; "13B"
 * has a hidden size of 5140 there but 40 heads of 128, so it gets 5120.
 *
 * @return all models, smallest first
 */
const std::vector<GptModel>& GetGptModels();

/**
 * @ingroup proteus
 * @param name a name of GetGptModels(), e.g. "6.7B"
 * @return the model
 * @throw std::invalid_argument that lists the known names
 */
const GptModel& FindGptModel(const std::string& name);

/**
 * @ingroup proteus
 * Megatron-LM pads the vocabulary to a multiple of 128 times the tensor-parallel size
 * (--make-vocab-size-divisible-by 128), so that every rank has the same, well aligned share.
 *
 * @param vocabulary tokens
 * @param tensorParallel ranks that share the embedding, at least 1
 * @return the padded number of tokens
 */
uint64_t PadGptVocabulary(uint32_t vocabulary, uint32_t tensorParallel);

/**
 * @ingroup proteus
 * Trainable parameters: 12 l h^2 + 13 l h + (V + s) h + 2 h; the output layer shares the word
 * embedding.
 *
 * @param model the model
 * @param paddedVocabulary V, from PadGptVocabulary(); the model's own vocabulary for published
 * counts
 * @return the number of parameters
 */
uint64_t CountParameters(const GptModel& model, uint64_t paddedVocabulary);

/// @ingroup proteus
/// What the backward pass computes again instead of keeping it.
enum class Recompute : uint8_t
{
    NONE,      //!< nothing
    SELECTIVE, //!< the attention core
    FULL,      //!< every layer, from its input
};

/// @ingroup proteus
/// @param recompute a value @return its name: "none", "selective" or "full"
const char* ToString(Recompute recompute);

/**
 * @ingroup proteus
 * Inverse of ToString(Recompute).
 * @param text the name
 * @return the value
 * @throw std::invalid_argument that lists the known names
 */
Recompute RecomputeFromString(const std::string& text);

/// @ingroup proteus
/// How a GPT is trained: parallel sizes, batch, and what is kept and overlapped.
struct GptPlan
{
    uint32_t tensorParallel{1};           //!< ranks t that share each layer
    uint32_t pipelineParallel{1};         //!< stages p
    uint32_t dataParallel{1};             //!< replicas d
    uint32_t globalBatch{1};              //!< sequences per iteration B
    uint32_t microBatch{1};               //!< sequences per micro-batch and replica b
    Recompute recompute{Recompute::NONE}; //!< what the backward pass computes again
    /// Order of the micro-batches on a stage.
    PipelineSchedule schedule{PipelineSchedule::ONE_FORWARD_ONE_BACKWARD};
    /// Whether gradients are reduced in buckets while the last backward pass still runs
    /// (Megatron-LM's --overlap-grad-reduce), or in one piece after it.
    bool overlapGradientReduction{false};
    /// Format of the GEMMs: bf16, fp16 or fp8. Parameters, activations and what is sent have 2
    /// bytes per element in each; with fp8 the attention core computes in bf16, as Transformer
    /// Engine does.
    DataType dataType{DataType::BF16};
    /// Format in which gradients are accumulated and reduced: fp32, bf16 or fp16.
    DataType gradientType{DataType::FP32};

    /// @return t * p * d
    uint64_t GetNDevices() const
    {
        return uint64_t{tensorParallel} * pipelineParallel * dataParallel;
    }

    /// @return micro-batches per replica m = B / (b * d)
    uint32_t GetNMicroBatches() const
    {
        return static_cast<uint32_t>(globalBatch / (uint64_t{microBatch} * dataParallel));
    }
};

/**
 * @ingroup proteus
 * Checks a plan against a model; MakeGptGraph() does so first.
 *
 * @param model the model
 * @param plan the plan
 * @throw std::invalid_argument with one line that says what is wrong and how to mend it: a zero; t
 * that does not divide the heads, p that does not divide the layers, b * d that does not divide B;
 * heads that do not divide the hidden size; a format that the plan cannot use; more devices, tasks
 * or bytes than can be counted
 */
void CheckGptPlan(const GptModel& model, const GptPlan& plan);

/**
 * @ingroup proteus
 * Makes the execution graph of one iteration, with Megatron-LM's operators and communication:
 * Shoeybi et al. 2019 (tensor parallel), Narayanan et al. 2021 (pipeline), and the code of
 * megatron/core where those are silent.
 *
 * **Devices.** rank = tp + t * (dp + d * stage): tensor-parallel groups are neighbours, then come
 * the replicas, then the stages. Each stage has l / p layers. Nothing is communicated in a group of
 * one.
 *
 * **Phases** "forward" and "backward" run m times, "gradients" and "optimizer" once. **Streams**:
 * "compute", "communication" (tensor parallel), "pipeline" (sends) and "gradient" (data parallel
 * and tied embeddings). Device schedules are those of MakePipelineSchedule(), then gradients, then
 * optimizer; a MicroBatchGate bounds the micro-batches alive on stage s to min(m, p - s) (to m
 * under GPipe).
 *
 * **Communication**, per micro-batch unless said otherwise; A = 2 b s h bytes is one activation:
 *
 * | what | phase | collective | bytes | how often |
 * |---|---|---|---|---|
 * | output of projection and of FC2 | forward | all-reduce over t | A | 2 per layer |
 * | input gradient of QKV and of FC1 | backward | all-reduce over t | A | 2 per layer |
 * | layer recomputed (FULL) | backward | all-reduce over t | A | 2 per layer |
 * | word embedding | forward | all-reduce over t | A | 1, first stage |
 * | loss: maximum, predicted logit, sum | forward | all-reduce over t | 4 b s | 3, last stage |
 * | input gradient of output layer | backward | all-reduce over t | A | 1, last stage |
 * | activation to next stage | forward | send-recv | A | 1 per rank |
 * | gradient to previous stage | backward | send-recv | A | 1 per rank |
 * | gradients | gradients | all-reduce over d | bucket | once per bucket |
 * | tied word embedding (p > 1) | gradients | all-reduce over 2 | V h / t gradients | once |
 *
 * - The backward all-reduces of QKV, FC1 and the output layer start after the input-gradient GEMM
 *   and may overlap the weight-gradient GEMM, as Megatron-LM's asynchronous all-reduce does.
 * - FULL is Megatron-LM's "--recompute-granularity full --recompute-method uniform
 *   --recompute-num-layers 1": once the gradient of a layer's output is there, its whole forward
 *   pass runs again, with both all-reduces (projection and FC2). SELECTIVE runs the attention core
 *   again and communicates nothing. Embedding, final norm and output layer are never recomputed.
 * - Every tensor-parallel rank sends the whole activation to its peer: the scatter-gather
 *   optimisation of Narayanan et al. (section 4.1) is off. What is received depends on nothing at
 *   the receiver.
 * - overlapGradientReduction: buckets as megatron/core/distributed makes them. Parameters are taken
 *   in the reverse of their order of use, and a bucket is closed by the parameter with which it
 *   reaches max(40e6, 1e6 d) elements. Only the first stage has buckets; the others, whose
 *   reduction is hidden by the pipeline's drain, have one piece each. A bucket is reduced when the
 *   last micro-batch has produced its last gradient.
 * - The embedding all-reduce follows the gradient reduction of both stages. The optimizer follows
 *   all communication of the device. The scalar all-reduces of gradient clipping and of the loss
 *   that is logged are left out.
 *
 * **Compute.** One task per operator with FLOPs, bytes moved in device memory and format: layer
 * norm, QKV, attention core, projection, bias-dropout-add, layer norm, FC1, GELU, FC2,
 * bias-dropout-add; backward, each GEMM is an input-gradient and a weight-gradient task. GEMMs and
 * the attention core count the FLOPs of their matrix products alone (2 per multiply-add, no causal
 * saving, as in Narayanan et al.), so that these tasks add up to the model's FLOPs; all others are
 * tasks in fp32 whose bytes decide. The attention core is the unfused one of Megatron-LM (matrix
 * product, softmax, dropout, matrix product) in one task: its bytes hold the traffic of the s x s
 * matrices. Weight gradients are added into the gradient buffer by the GEMM. Adam reads the
 * gradient, reads and writes master weight and two moments, and writes the parameter.
 *
 * **Memory.** Persistent: parameters (2 B per element, on the last of several stages with a copy of
 * the word embedding), gradients, optimizer state (12 B: fp32 master weight and two moments), and a
 * receive buffer of A for each neighbour, which holds what arrives before it is used. Activations
 * follow Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models"
 * (2022), section 4, without flash attention, for each layer, from producer to backward consumer:
 *
 * | tensor | bytes / (s b h) | | tensor | bytes / (s b h) |
 * |---|---|---|---|---|
 * | norm1.input | 2 | | norm2.input | 2 |
 * | qkv.input | 2 | | fc1.input | 2 |
 * | attention.input (Q, K, V) | 6 / t | | gelu.input | 8 / t |
 * | attention.scores | 5 a s / (h t) | | fc2.input | 8 / t |
 * | projection.input | 2 / t | | bias-dropout-add2.mask | 1 |
 * | bias-dropout-add1.mask | 1 | | | |
 *
 * NONE keeps all: s b h (10 + 24 / t + 5 a s / (h t)). SELECTIVE keeps all but attention.scores
 * (softmax output 2, dropout mask 1, dropout output 2 bytes per element): s b h (10 + 24 / t). FULL
 * keeps norm1.input: 2 s b h. What is recomputed lives in the backward phase until it is used. The
 * first stage adds the embedding's dropout mask (s b h), the last one the inputs of final norm and
 * output layer (2 s b h each), the softmax in fp32 (4 s b V / t), and logits and their gradient in
 * 2 bytes while they are used. An activation or gradient to be sent stays (A) until it is sent.
 * Gradients of activations inside a stage, which live from one kernel to the next, are not counted,
 * as in the paper.
 *
 * **Facts.** Model FLOPs are equation (3) of Narayanan et al. 2021 without recomputation (72 for
 * 96): 72 B s l h^2 (1 + s / (6 h) + V / (12 l h)), with the padded vocabulary V, as Megatron-LM
 * counts.
 *
 * @param model the model
 * @param plan the plan
 * @return the graph
 * @throw std::invalid_argument as CheckGptPlan()
 */
ExecutionGraph MakeGptGraph(const GptModel& model, const GptPlan& plan);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GPT_ORACLE_H
