/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "gpt-oracle.h"

#include "gpt-oracle-maker.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

// Arithmetic operations per element of the operators outside the tensor cores, counted from their
// formulas (exp, tanh and square root as one). Such operators are limited by memory traffic on
// every GPU, so these do not decide a time; they keep reports of FLOPs complete.
constexpr double LAYER_NORM_FLOPS = 8;
constexpr double LAYER_NORM_BACKWARD_FLOPS = 14;
constexpr double DROPOUT_ADD_FLOPS = 4;
constexpr double DROPOUT_BACKWARD_FLOPS = 2;
constexpr double GELU_FLOPS = 9;
constexpr double GELU_BACKWARD_FLOPS = 16;

// Bytes that the unfused attention core moves per element of its s x s matrices. Forward: product
// writes 2, softmax reads 2 and writes 2, dropout reads 2 and writes 2 and a mask of 1, product
// reads 2. Backward: the two products of the values write 2 and read 2, dropout reads 2 and 1 and
// writes 2, softmax reads 2 and 2 and writes 2, the two products of the scores read 2 each.
constexpr uint64_t CORE_FORWARD_BYTES = 13;
constexpr uint64_t CORE_BACKWARD_BYTES = 19;
/// What the core keeps per element: softmax output 2, dropout mask 1, dropout output 2.
constexpr uint64_t CORE_KEPT_BYTES = 5;

// Bytes that the cross entropy moves per logit. Maximum: to fp32 (2 + 4), read 4. Sum: subtract
// 4 + 4, exp 4 + 4, sum 4. Loss: softmax by division 4 + 4. Backward: scale 4 + 4, to 16 bit 4 + 2.
constexpr uint64_t LOSS_MAXIMUM_BYTES = 10;
constexpr uint64_t LOSS_SUM_BYTES = 20;
constexpr uint64_t LOSS_DIVIDE_BYTES = 8;
constexpr uint64_t LOSS_BACKWARD_BYTES = 14;

} // namespace

GptGraphMaker::GptGraphMaker(const GptModel& model, const GptPlan& plan)
    : m_model(model),
      m_plan(plan),
      m_nDevices(static_cast<uint32_t>(plan.GetNDevices())),
      m_stageLayers(model.layers / plan.pipelineParallel),
      m_builder(m_nDevices)
{
    m_tp = plan.tensorParallel;
    m_hidden = model.hidden;
    m_vocabulary = PadGptVocabulary(model.vocabulary, plan.tensorParallel);
    m_tokens = uint64_t{plan.microBatch} * model.sequenceLength;
    m_elements = m_tokens * m_hidden;
    m_activation = m_elements * ELEMENT_BYTES;
    m_scores = m_tokens * model.sequenceLength * (model.heads / m_tp);
    m_logits = m_tokens * (m_vocabulary / m_tp);
    m_gradientBytes = plan.gradientType == DataType::FP32 ? FP32_BYTES : ELEMENT_BYTES;
    m_coreType = plan.dataType == DataType::FP8 ? DataType::BF16 : plan.dataType;
}

GptGraphMaker::Row
GptGraphMaker::Core(const Team& team,
                    PhaseId phase,
                    const std::string& name,
                    std::initializer_list<const Row*> after)
{
    const uint64_t width = m_hidden / m_tp;
    const double flops = 4.0 * m_tokens * m_model.sequenceLength * width;
    const uint64_t bytes = ELEMENT_BYTES * m_tokens * 4 * width + CORE_FORWARD_BYTES * m_scores;
    return Compute(team, phase, name, flops, bytes, m_coreType, after);
}

/**
 * The forward pass of a layer, or its repetition in the backward phase.
 * @param team who computes it
 * @param phase forward or backward
 * @param layer its number in the model
 * @param recompute what need not be kept, as the backward pass computes it again
 * @param after what its first operator waits for
 * @param kept takes the kept tensors; the layer's input only where it is not there yet
 * @return the layer's last operator
 */
GptGraphMaker::Row
GptGraphMaker::LayerForward(const Team& team,
                            PhaseId phase,
                            uint32_t layer,
                            Recompute recompute,
                            std::initializer_list<const Row*> after,
                            LayerTensors& kept)
{
    const std::string prefix = "layer" + std::to_string(layer) + ".";
    const std::string suffix = phase == m_backward ? ".recompute" : "";
    const uint64_t h = m_hidden;
    const uint64_t shard = m_activation / m_tp; // bytes
    const double elements = static_cast<double>(m_elements);

    auto keep = [&](Row& row, const char* name, uint64_t bytes, const Row& producers) {
        if (recompute != Recompute::FULL)
        {
            row = Memory(team, phase, prefix + name + suffix, bytes, producers);
        }
    };
    auto dropoutAdd = [&](const char* name, const Row& x) {
        // Reads the sum and the residual, writes the result and the mask of one byte.
        return Elementwise(team,
                           phase,
                           prefix + name + suffix,
                           DROPOUT_ADD_FLOPS * elements,
                           3 * m_activation + m_elements,
                           {&x});
    };
    auto norm = [&](const char* name, std::initializer_list<const Row*> before) {
        return Elementwise(team,
                           phase,
                           prefix + name + suffix,
                           LAYER_NORM_FLOPS * elements,
                           2 * m_activation,
                           before);
    };

    Row x = norm("norm1", after);
    if (kept.normInput1.empty())
    {
        // What came from the stage before lay in the receive buffer until now.
        kept.normInput1 = Memory(team, phase, prefix + "norm1.input", m_activation, x);
    }
    keep(kept.qkvInput, "qkv.input", m_activation, x);
    x = Forward(team, phase, prefix + "qkv" + suffix, {h, 3 * h / m_tp}, {&x});
    keep(kept.coreInput, "attention.input", 3 * shard, x);
    x = Core(team, phase, prefix + "attention" + suffix, {&x});
    if (recompute == Recompute::NONE)
    {
        keep(kept.scores, "attention.scores", CORE_KEPT_BYTES * m_scores, x);
    }
    keep(kept.projectionInput, "projection.input", shard, x);
    x = Forward(team, phase, prefix + "projection" + suffix, {h / m_tp, h}, {&x});
    x = AllReduce(team, phase, prefix + "projection" + suffix, m_activation, x);
    x = dropoutAdd("bias-dropout-add1", x);
    keep(kept.mask1, "bias-dropout-add1.mask", m_elements, x);
    keep(kept.normInput2, "norm2.input", m_activation, x);
    x = norm("norm2", {&x});
    keep(kept.fc1Input, "fc1.input", m_activation, x);
    x = Forward(team, phase, prefix + "fc1" + suffix, {h, 4 * h / m_tp}, {&x});
    keep(kept.geluInput, "gelu.input", 4 * shard, x);
    x = Elementwise(team,
                    phase,
                    prefix + "gelu" + suffix,
                    GELU_FLOPS * 4 * elements / m_tp,
                    8 * shard,
                    {&x});
    keep(kept.fc2Input, "fc2.input", 4 * shard, x);
    x = Forward(team, phase, prefix + "fc2" + suffix, {4 * h / m_tp, h}, {&x});
    x = AllReduce(team, phase, prefix + "fc2" + suffix, m_activation, x);
    x = dropoutAdd("bias-dropout-add2", x);
    keep(kept.mask2, "bias-dropout-add2.mask", m_elements, x);
    return x;
}

/**
 * The backward pass of a layer.
 * @param team who computes it
 * @param layer its number in the model
 * @param kept what its forward pass kept
 * @param after what produces the gradient of the layer's output
 * @return what produces the gradient of the layer's input
 */
GptGraphMaker::Row
GptGraphMaker::LayerBackward(const Team& team, uint32_t layer, LayerTensors kept, Row after)
{
    const std::string prefix = "layer" + std::to_string(layer) + ".";
    const uint64_t h = m_hidden;
    const uint64_t shard = m_activation / m_tp;
    const double elements = static_cast<double>(m_elements);

    auto dropout = [&](const char* name, const Row& gradient, const Row& mask) {
        return Elementwise(team,
                           m_backward,
                           prefix + name + ".backward",
                           DROPOUT_BACKWARD_FLOPS * elements,
                           2 * m_activation + m_elements,
                           {&gradient, &mask});
    };
    // A layer norm after a column-parallel linear layer: waits for the all-reduced gradient, and,
    // as autograd runs one operator after the other, for the weight gradient. Reads gradient, input
    // and the residual's gradient, writes the sum.
    auto norm = [&](const char* name, const Row& reduced, const Row& weight, const Row& input) {
        return Elementwise(team,
                           m_backward,
                           prefix + name + ".backward",
                           LAYER_NORM_BACKWARD_FLOPS * elements,
                           4 * m_activation,
                           {&reduced, &weight, &input});
    };

    Row x = after;
    if (m_plan.recompute == Recompute::FULL)
    {
        x = LayerForward(team,
                         m_backward,
                         layer,
                         Recompute::NONE,
                         {&after, &kept.normInput1},
                         kept);
    }
    x = dropout("bias-dropout-add2", x, kept.mask2);
    x = InputGradient(team, prefix + "fc2", {4 * h / m_tp, h}, {&x});
    x = WeightGradient(team, prefix + "fc2", {4 * h / m_tp, h}, {&x, &kept.fc2Input});
    GradientsReady(team, 2, x);
    x = Elementwise(team,
                    m_backward,
                    prefix + "gelu.backward",
                    GELU_BACKWARD_FLOPS * 4 * elements / m_tp,
                    12 * shard,
                    {&x, &kept.geluInput});
    x = InputGradient(team, prefix + "fc1", {h, 4 * h / m_tp}, {&x});
    Row reduced = AllReduce(team, m_backward, prefix + "fc1.input-gradient", m_activation, x);
    x = WeightGradient(team, prefix + "fc1", {h, 4 * h / m_tp}, {&x, &kept.fc1Input});
    GradientsReady(team, 2, x);
    x = norm("norm2", reduced, x, kept.normInput2);
    GradientsReady(team, 2, x);
    x = dropout("bias-dropout-add1", x, kept.mask1);
    x = InputGradient(team, prefix + "projection", {h / m_tp, h}, {&x});
    x = WeightGradient(team, prefix + "projection", {h / m_tp, h}, {&x, &kept.projectionInput});
    GradientsReady(team, 2, x);
    if (m_plan.recompute == Recompute::SELECTIVE)
    {
        x = Core(team, m_backward, prefix + "attention.recompute", {&x, &kept.coreInput});
        kept.scores = Memory(team,
                             m_backward,
                             prefix + "attention.scores.recompute",
                             CORE_KEPT_BYTES * m_scores,
                             x);
    }
    // Reads Q, K, V and, for two products, the output's gradient; writes three gradients.
    x = Compute(team,
                m_backward,
                prefix + "attention.backward",
                8.0 * m_tokens * m_model.sequenceLength * (h / m_tp),
                8 * shard + CORE_BACKWARD_BYTES * m_scores,
                m_coreType,
                {&x, &kept.coreInput, &kept.scores});
    x = InputGradient(team, prefix + "qkv", {h, 3 * h / m_tp}, {&x});
    reduced = AllReduce(team, m_backward, prefix + "qkv.input-gradient", m_activation, x);
    x = WeightGradient(team, prefix + "qkv", {h, 3 * h / m_tp}, {&x, &kept.qkvInput});
    GradientsReady(team, 2, x);
    x = norm("norm1", reduced, x, kept.normInput1);
    GradientsReady(team, 2, x);
    return x;
}

void
GptGraphMaker::StageForward(const Team& team)
{
    TeamState& state = GetState(team);
    const double elements = static_cast<double>(m_elements);
    Row x;
    Row producers; // of a layer's input; empty where it was received
    if (team.stage == 0)
    {
        x = Elementwise(team, m_forward, "embedding.word", 0, 2 * m_activation, {});
        x = AllReduce(team, m_forward, "embedding.word", m_activation, x);
        // Reads words and positions, writes the sum and a mask.
        x = Elementwise(team,
                        m_forward,
                        "embedding.position-dropout",
                        DROPOUT_ADD_FLOPS * elements,
                        2 * m_activation + ELEMENT_BYTES * m_model.sequenceLength * m_hidden +
                            m_elements,
                        {&x});
        state.embeddingMask = Memory(team, m_forward, "embedding.mask", m_elements, x);
        producers = x;
    }
    else
    {
        x = m_states[(team.stage - 1) * m_plan.dataParallel + team.replica].sent;
    }
    state.layers.resize(m_stageLayers);
    for (uint32_t i = 0; i < m_stageLayers; ++i)
    {
        const uint32_t layer = team.stage * m_stageLayers + i;
        LayerTensors& kept = state.layers[i];
        if (!producers.empty())
        {
            kept.normInput1 = Memory(team,
                                     m_forward,
                                     "layer" + std::to_string(layer) + ".norm1.input",
                                     m_activation,
                                     producers);
        }
        x = LayerForward(team, m_forward, layer, m_plan.recompute, {&x}, kept);
        producers = x;
    }
    if (!IsLast(team))
    {
        Team next = GetTeam(team.stage + 1, team.replica);
        state.sent = Send(team, next, m_forward, "activation", x);
        return;
    }
    LossForward(team, x);
}

/// Final norm, output layer and vocabulary-parallel cross entropy.
void
GptGraphMaker::LossForward(const Team& team, Row x)
{
    TeamState& state = GetState(team);
    const double elements = static_cast<double>(m_elements);
    state.finalNormInput = Memory(team, m_forward, "final-norm.input", m_activation, x);
    x = Elementwise(team,
                    m_forward,
                    "final-norm",
                    LAYER_NORM_FLOPS * elements,
                    2 * m_activation,
                    {&x});
    state.outputInput = Memory(team, m_forward, "output.input", m_activation, x);
    x = Forward(team, m_forward, "output", {m_hidden, m_vocabulary / m_tp}, {&x});
    Row logits = Memory(team, m_forward, "logits", ELEMENT_BYTES * m_logits, x);
    const double logitFlops = static_cast<double>(m_logits);
    const uint64_t scalars = FP32_BYTES * m_tokens;
    x = Elementwise(team,
                    m_forward,
                    "loss.maximum",
                    logitFlops,
                    LOSS_MAXIMUM_BYTES * m_logits,
                    {&x, &logits});
    state.softmax = Memory(team, m_forward, "loss.softmax", FP32_BYTES * m_logits, x);
    x = AllReduce(team, m_forward, "loss.maximum", scalars, x);
    x = Elementwise(team, m_forward, "loss.sum", 3 * logitFlops, LOSS_SUM_BYTES * m_logits, {&x});
    Row predicted = AllReduce(team, m_forward, "loss.predicted-logit", scalars, x);
    x = AllReduce(team, m_forward, "loss.sum", scalars, x);
    state.result = Elementwise(team,
                               m_forward,
                               "loss",
                               logitFlops,
                               LOSS_DIVIDE_BYTES * m_logits,
                               {&x, &predicted});
}

/// @return what produces the gradient of the last layer's output
GptGraphMaker::Row
GptGraphMaker::LossBackward(const Team& team)
{
    TeamState& state = GetState(team);
    const double elements = static_cast<double>(m_elements);
    const Linear output{m_hidden, m_vocabulary / m_tp};
    Row x = Elementwise(team,
                        m_backward,
                        "loss.backward",
                        2.0 * m_logits,
                        LOSS_BACKWARD_BYTES * m_logits,
                        {&state.result, &state.softmax});
    Row gradient = Memory(team, m_backward, "logits.gradient", ELEMENT_BYTES * m_logits, x);
    x = InputGradient(team, "output", output, {&x});
    Row reduced = AllReduce(team, m_backward, "output.input-gradient", m_activation, x);
    x = WeightGradient(team, "output", output, {&x, &gradient, &state.outputInput});
    // On a stage with the embedding, the output layer adds to the embedding's gradient.
    GradientsReady(team, team.stage == 0 ? 0 : 1, x);
    x = Elementwise(team,
                    m_backward,
                    "final-norm.backward",
                    LAYER_NORM_BACKWARD_FLOPS * elements,
                    3 * m_activation,
                    {&reduced, &x, &state.finalNormInput});
    GradientsReady(team, 2, x);
    return x;
}

void
GptGraphMaker::StageBackward(const Team& team)
{
    TeamState& state = GetState(team);
    const double elements = static_cast<double>(m_elements);
    Row x;
    if (IsLast(team))
    {
        x = LossBackward(team);
    }
    else
    {
        x = m_states[(team.stage + 1) * m_plan.dataParallel + team.replica].sent;
    }
    for (uint32_t i = m_stageLayers; i-- > 0;)
    {
        const uint32_t layer = team.stage * m_stageLayers + i;
        x = LayerBackward(team, layer, std::move(state.layers[i]), std::move(x));
    }
    if (team.stage == 0)
    {
        // Dropout reads the gradient and the mask and writes; positions and words are added into
        // the gradient buffer, words one row per token.
        x = Elementwise(team,
                        m_backward,
                        "embedding.backward",
                        (DROPOUT_BACKWARD_FLOPS + 2) * elements,
                        4 * m_activation + m_elements + 2 * m_gradientBytes * m_elements +
                            2 * m_gradientBytes * m_model.sequenceLength * m_hidden,
                        {&x, &state.embeddingMask});
        GradientsReady(team, 2, x);
    }
    else
    {
        Team previous = GetTeam(team.stage - 1, team.replica);
        state.sent = Send(team, previous, m_backward, "gradient", x);
    }
    state.result = std::move(x);
    state.layers.clear();
    state.layers.shrink_to_fit();
}

void
GptGraphMaker::AddSchedules()
{
    const uint32_t stages = m_plan.pipelineParallel;
    const uint32_t microBatches = m_plan.GetNMicroBatches();
    for (uint32_t stage = 0; stage < stages; ++stage)
    {
        std::vector<ScheduleEntry> schedule = MakePipelineSchedule(m_plan.schedule,
                                                                   stages,
                                                                   stage,
                                                                   microBatches,
                                                                   m_forward,
                                                                   m_backward);
        schedule.push_back({m_gradients, 0});
        schedule.push_back({m_optimizer, 0});
        MicroBatchGate gate;
        gate.acquire = m_forward;
        gate.release = m_backward;
        gate.limit = m_plan.schedule == PipelineSchedule::GPIPE
                         ? microBatches
                         : std::min(microBatches, stages - stage);
        std::vector<DeviceId> devices(m_tp * m_plan.dataParallel);
        std::iota(devices.begin(), devices.end(), GetDevice(0, 0, stage));
        m_builder.SetSchedule(devices, std::move(schedule));
        for (DeviceId device : devices)
        {
            gate.device = device;
            m_builder.AddGate(gate);
        }
    }
}

ExecutionGraph
GptGraphMaker::Make()
{
    const double batch = m_plan.globalBatch;
    const double s = m_model.sequenceLength;
    const double h = m_model.hidden;
    const double l = m_model.layers;
    WorkloadFacts facts;
    facts.name = "GPT-3 " + m_model.name;
    facts.modelFlopsPerIteration =
        batch * s * (72 * l * h * h + 12 * l * s * h + 6 * h * static_cast<double>(m_vocabulary));
    facts.samplesPerIteration = m_plan.globalBatch;
    facts.tokensPerIteration = uint64_t{m_plan.globalBatch} * m_model.sequenceLength;
    m_builder.SetFacts(facts);

    const uint32_t microBatches = m_plan.GetNMicroBatches();
    m_forward = m_builder.AddPhase("forward", microBatches);
    m_backward = m_builder.AddPhase("backward", microBatches);
    m_gradients = m_builder.AddPhase("gradients");
    m_optimizer = m_builder.AddPhase("optimizer");
    m_compute = m_builder.AddStream("compute");
    m_communication = m_builder.AddStream("communication");
    m_pipeline = m_builder.AddStream("pipeline");
    m_gradient = m_builder.AddStream("gradient");

    const uint32_t stages = m_plan.pipelineParallel;
    for (uint32_t stage = 0; stage < stages; ++stage)
    {
        m_buckets.push_back(GetBuckets(stage));
    }
    m_states.resize(uint64_t{stages} * m_plan.dataParallel);
    AddPersistentMemory();
    for (uint32_t replica = 0; replica < m_plan.dataParallel; ++replica)
    {
        for (uint32_t stage = 0; stage < stages; ++stage)
        {
            StageForward(GetTeam(stage, replica));
        }
        for (uint32_t stage = stages; stage-- > 0;)
        {
            StageBackward(GetTeam(stage, replica));
        }
    }
    AddGradientReduction();
    AddOptimizer();
    AddSchedules();
    return m_builder.Build();
}

ExecutionGraph
MakeGptGraph(const GptModel& model, const GptPlan& plan)
{
    CheckGptPlan(model, plan);
    return GptGraphMaker(model, plan).Make();
}

} // namespace proteus
} // namespace ns3
