/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-gpt.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Bytes per element of parameters, activations and their gradients in 16-bit mixed precision.
constexpr uint64_t ELEMENT_BYTES = 2;
/// Bytes per element of what is kept in fp32: cross entropy, master weight, moments.
constexpr uint64_t FP32_BYTES = 4;
/// Master weight and two moments in fp32, per parameter.
constexpr uint64_t OPTIMIZER_STATE_BYTES = 3 * FP32_BYTES;

// Arithmetic operations per element of the operators outside the tensor cores, counted from their
// formulas (exp, tanh and square root as one). Such operators are limited by memory traffic on
// every GPU, so these do not decide a time; they keep reports of FLOPs complete.
constexpr double LAYER_NORM_FLOPS = 8;
constexpr double LAYER_NORM_BACKWARD_FLOPS = 14;
constexpr double DROPOUT_ADD_FLOPS = 4;
constexpr double DROPOUT_BACKWARD_FLOPS = 2;
constexpr double GELU_FLOPS = 9;
constexpr double GELU_BACKWARD_FLOPS = 16;
constexpr double ADAM_FLOPS = 15;

// Bytes that the unfused attention core moves per element of its s x s matrices. Forward: product
// writes 2, softmax reads 2 and writes 2, dropout reads 2 and writes 2 and a mask of 1, product
// reads
// 2. Backward: the two products of the values write 2 and read 2, dropout reads 2 and 1 and writes
// 2, softmax reads 2 and 2 and writes 2, the two products of the scores read 2 each.
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

/// Smallest bucket of the gradient reduction, and what each replica adds, in parameters
/// (megatron/core/distributed/distributed_data_parallel.py).
constexpr uint64_t BUCKET_PARAMETERS = 40000000;
constexpr uint64_t BUCKET_PARAMETERS_PER_REPLICA = 1000000;

/// Upper bound of the tasks of one layer on one device, with FULL recomputation.
constexpr uint64_t MAX_LAYER_TASKS = 64;
/// Upper bound of the other tasks of a device, its gradient buckets aside.
constexpr uint64_t MAX_OTHER_TASKS = 64;

void
Check(bool ok, const std::string& message)
{
    if (!ok)
    {
        throw std::invalid_argument(message);
    }
}

uint64_t
GetGradientBytes(DataType type)
{
    return type == DataType::FP32 ? FP32_BYTES : ELEMENT_BYTES;
}

/// One task per rank of a tensor-parallel group; a communication of the group stands in each.
using Row = std::vector<TaskId>;

/// The tensor-parallel group that computes one stage of one replica.
struct Team
{
    uint32_t stage{0};
    uint32_t replica{0};
    DeviceId first{0};
    GroupId group{0};
};

/// What the backward pass of a layer finds kept. An empty row: not kept.
struct LayerTensors
{
    Row normInput1;
    Row qkvInput;
    Row coreInput;
    Row scores;
    Row projectionInput;
    Row mask1;
    Row normInput2;
    Row fc1Input;
    Row geluInput;
    Row fc2Input;
    Row mask2;
};

/// What the backward pass of a team needs from its forward pass.
struct TeamState
{
    std::vector<LayerTensors> layers;
    Row embeddingMask;
    Row finalNormInput;
    Row outputInput;
    Row softmax;
    Row sent;                   //!< the forward send-receives to the next stage
    Row result;                 //!< the last forward tasks, then the last backward tasks
    uint32_t nGradients{0};     //!< parameters whose gradient has been produced
    std::vector<Row> readiness; //!< per closed bucket, the tasks that produce its last gradient
};

/// A run of parameters whose gradients are reduced together.
struct Bucket
{
    uint32_t end{0};         //!< parameters up to here, in the order in which gradients appear
    uint64_t nParameters{0}; //!< elements
};

/// Makes one graph.
class GptGraphMaker
{
  public:
    GptGraphMaker(const GptModel& model, const GptPlan& plan)
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
        m_gradientBytes = GetGradientBytes(plan.gradientType);
        m_coreType = plan.dataType == DataType::FP8 ? DataType::BF16 : plan.dataType;
    }

    ExecutionGraph Make();

  private:
    /// The weights of a linear layer: `in` inputs and `out` outputs on this device.
    struct Linear
    {
        uint64_t in{0};
        uint64_t out{0};
    };

    Row Compute(const Team& team,
                PhaseId phase,
                const std::string& name,
                double flops,
                uint64_t bytes,
                DataType type,
                std::initializer_list<const Row*> after);
    Row Elementwise(const Team& team,
                    PhaseId phase,
                    const std::string& name,
                    double flops,
                    uint64_t bytes,
                    std::initializer_list<const Row*> after);
    Row Forward(const Team& team,
                PhaseId phase,
                const std::string& name,
                Linear linear,
                std::initializer_list<const Row*> after);
    Row InputGradient(const Team& team,
                      const std::string& name,
                      Linear linear,
                      std::initializer_list<const Row*> after);
    Row WeightGradient(const Team& team,
                       const std::string& name,
                       Linear linear,
                       std::initializer_list<const Row*> after);
    Row AllReduce(const Team& team,
                  PhaseId phase,
                  const std::string& name,
                  uint64_t bytes,
                  const Row& after);
    Row Send(const Team& from, const Team& to, PhaseId phase, const std::string& what, Row after);
    Row Memory(const Team& team,
               PhaseId phase,
               const std::string& name,
               uint64_t bytes,
               const Row& producers);
    Row Core(const Team& team,
             PhaseId phase,
             const std::string& name,
             std::initializer_list<const Row*> after);

    Row LayerForward(const Team& team,
                     PhaseId phase,
                     uint32_t layer,
                     Recompute recompute,
                     std::initializer_list<const Row*> after,
                     LayerTensors& kept);
    Row LayerBackward(const Team& team, uint32_t layer, LayerTensors kept, Row after);
    void StageForward(const Team& team);
    void LossForward(const Team& team, Row x);
    Row LossBackward(const Team& team);
    void StageBackward(const Team& team);

    std::vector<uint64_t> GetParameters(uint32_t stage) const;
    std::vector<Bucket> GetBuckets(uint32_t stage) const;
    void GradientsReady(const Team& team, uint32_t count, const Row& producers);
    void AddPersistentMemory();
    void AddGradientReduction();
    void AddOptimizer();
    void AddSchedules();

    DeviceId GetDevice(uint32_t tp, uint32_t replica, uint32_t stage) const
    {
        return tp + m_tp * (replica + m_plan.dataParallel * stage);
    }

    Team GetTeam(uint32_t stage, uint32_t replica);

    TeamState& GetState(const Team& team)
    {
        return m_states[team.stage * m_plan.dataParallel + team.replica];
    }

    bool IsLast(const Team& team) const
    {
        return team.stage + 1 == m_plan.pipelineParallel;
    }

    const GptModel& m_model;
    const GptPlan& m_plan;
    uint32_t m_nDevices;
    uint32_t m_stageLayers; //!< layers per stage
    GraphBuilder m_builder;

    uint32_t m_tp{1};
    uint64_t m_hidden{0};
    uint64_t m_vocabulary{0};                   //!< padded
    uint64_t m_tokens{0};                       //!< of a micro-batch
    uint64_t m_elements{0};                     //!< of an activation
    uint64_t m_activation{0};                   //!< bytes of an activation
    uint64_t m_scores{0};                       //!< elements of the s x s matrices on a device
    uint64_t m_logits{0};                       //!< logits on a device
    uint64_t m_gradientBytes{0};                //!< per parameter
    DataType m_coreType{DataType::BF16};        //!< format of the attention core
    PhaseId m_forward{0};                       //!< once per micro-batch
    PhaseId m_backward{0};                      //!< once per micro-batch
    PhaseId m_gradients{0};                     //!< once
    PhaseId m_optimizer{0};                     //!< once
    StreamId m_compute{0};                      //!< kernels
    StreamId m_communication{0};                //!< tensor-parallel all-reduces
    StreamId m_pipeline{0};                     //!< sends between stages
    StreamId m_gradient{0};                     //!< reduction of gradients
    std::vector<std::vector<Bucket>> m_buckets; //!< per stage
    std::vector<TeamState> m_states;            //!< by stage and replica
    std::vector<std::vector<TaskId>> m_before;  //!< per device, what the optimizer waits for
};

Team
GptGraphMaker::GetTeam(uint32_t stage, uint32_t replica)
{
    Team team;
    team.stage = stage;
    team.replica = replica;
    team.first = GetDevice(0, replica, stage);
    if (m_tp > 1)
    {
        std::vector<DeviceId> devices(m_tp);
        std::iota(devices.begin(), devices.end(), team.first);
        team.group = m_builder.AddGroup(devices);
    }
    return team;
}

Row
GptGraphMaker::Compute(const Team& team,
                       PhaseId phase,
                       const std::string& name,
                       double flops,
                       uint64_t bytes,
                       DataType type,
                       std::initializer_list<const Row*> after)
{
    Row row(m_tp);
    std::vector<TaskId> dependencies;
    for (uint32_t tp = 0; tp < m_tp; ++tp)
    {
        dependencies.clear();
        for (const Row* before : after)
        {
            if (!before->empty())
            {
                dependencies.push_back((*before)[tp]);
            }
        }
        row[tp] = m_builder.AddCompute(phase,
                                       team.first + tp,
                                       m_compute,
                                       name,
                                       flops,
                                       bytes,
                                       type,
                                       dependencies);
    }
    return row;
}

Row
GptGraphMaker::Elementwise(const Team& team,
                           PhaseId phase,
                           const std::string& name,
                           double flops,
                           uint64_t bytes,
                           std::initializer_list<const Row*> after)
{
    return Compute(team, phase, name, flops, bytes, DataType::FP32, after);
}

Row
GptGraphMaker::Forward(const Team& team,
                       PhaseId phase,
                       const std::string& name,
                       Linear linear,
                       std::initializer_list<const Row*> after)
{
    const double flops = 2.0 * m_tokens * linear.in * linear.out;
    const uint64_t bytes =
        ELEMENT_BYTES * (m_tokens * (linear.in + linear.out) + linear.in * linear.out);
    return Compute(team, phase, name, flops, bytes, m_plan.dataType, after);
}

Row
GptGraphMaker::InputGradient(const Team& team,
                             const std::string& name,
                             Linear linear,
                             std::initializer_list<const Row*> after)
{
    return Forward(team, m_backward, name + ".input-gradient", linear, after);
}

Row
GptGraphMaker::WeightGradient(const Team& team,
                              const std::string& name,
                              Linear linear,
                              std::initializer_list<const Row*> after)
{
    const double flops = 2.0 * m_tokens * linear.in * linear.out;
    const uint64_t bytes = ELEMENT_BYTES * m_tokens * (linear.in + linear.out) +
                           2 * m_gradientBytes * linear.in * linear.out;
    return Compute(team,
                   m_backward,
                   name + ".weight-gradient",
                   flops,
                   bytes,
                   m_plan.dataType,
                   after);
}

Row
GptGraphMaker::AllReduce(const Team& team,
                         PhaseId phase,
                         const std::string& name,
                         uint64_t bytes,
                         const Row& after)
{
    if (m_tp == 1)
    {
        return after;
    }
    TaskId id = m_builder.AddCommunication(phase,
                                           team.group,
                                           m_communication,
                                           name + ".all-reduce",
                                           Collective::ALL_REDUCE,
                                           bytes,
                                           Parallelism::TENSOR,
                                           after);
    return Row(m_tp, id);
}

Row
GptGraphMaker::Send(const Team& from,
                    const Team& to,
                    PhaseId phase,
                    const std::string& what,
                    Row after)
{
    const std::string name = "stage" + std::to_string(from.stage) + "." + what;
    Row buffer = Memory(from, phase, name, m_activation, after);
    Row row(m_tp);
    for (uint32_t tp = 0; tp < m_tp; ++tp)
    {
        row[tp] = m_builder.AddCommunication(phase,
                                             m_builder.AddGroup({from.first + tp, to.first + tp}),
                                             m_pipeline,
                                             name + ".send",
                                             Collective::SEND_RECV,
                                             m_activation,
                                             Parallelism::PIPELINE,
                                             {after[tp], buffer[tp]});
    }
    return row;
}

Row
GptGraphMaker::Memory(const Team& team,
                      PhaseId phase,
                      const std::string& name,
                      uint64_t bytes,
                      const Row& producers)
{
    Row row(m_tp);
    for (uint32_t tp = 0; tp < m_tp; ++tp)
    {
        row[tp] = m_builder.AddMemory(phase, team.first + tp, name, bytes, {producers[tp]});
    }
    return row;
}

Row
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
Row
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
Row
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
Row
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

/// Elements of each parameter of a device of this stage, in the order of use.
std::vector<uint64_t>
GptGraphMaker::GetParameters(uint32_t stage) const
{
    const uint64_t h = m_hidden;
    std::vector<uint64_t> parameters;
    if (stage == 0)
    {
        parameters = {m_vocabulary / m_tp * h, m_model.sequenceLength * h};
    }
    // Weight (or scale) and bias of: norm1, qkv, projection, norm2, fc1, fc2.
    const uint64_t layer[][2] = {{h, h},
                                 {3 * h / m_tp * h, 3 * h / m_tp},
                                 {h / m_tp * h, h},
                                 {h, h},
                                 {4 * h / m_tp * h, 4 * h / m_tp},
                                 {4 * h / m_tp * h, h}};
    for (uint32_t i = 0; i < m_stageLayers; ++i)
    {
        for (const auto& tensors : layer)
        {
            parameters.insert(parameters.end(), std::begin(tensors), std::end(tensors));
        }
    }
    if (stage + 1 == m_plan.pipelineParallel)
    {
        parameters.insert(parameters.end(), {h, h});
        if (stage > 0)
        {
            parameters.push_back(m_vocabulary / m_tp * h);
        }
    }
    return parameters;
}

std::vector<Bucket>
GptGraphMaker::GetBuckets(uint32_t stage) const
{
    uint64_t limit = std::numeric_limits<uint64_t>::max();
    if (m_plan.overlapGradientReduction && stage == 0)
    {
        limit = std::max(BUCKET_PARAMETERS, BUCKET_PARAMETERS_PER_REPLICA * m_plan.dataParallel);
    }
    std::vector<uint64_t> parameters = GetParameters(stage);
    std::vector<Bucket> buckets;
    Bucket open;
    for (auto size = parameters.rbegin(); size != parameters.rend(); ++size)
    {
        ++open.end;
        open.nParameters += *size;
        if (open.nParameters >= limit)
        {
            buckets.push_back(open);
            open.nParameters = 0;
        }
    }
    if (open.nParameters > 0)
    {
        buckets.push_back(open);
    }
    return buckets;
}

/// Notes that the backward pass has produced the gradients of the next `count` parameters.
void
GptGraphMaker::GradientsReady(const Team& team, uint32_t count, const Row& producers)
{
    TeamState& state = GetState(team);
    const std::vector<Bucket>& buckets = m_buckets[team.stage];
    state.nGradients += count;
    while (state.readiness.size() < buckets.size() &&
           buckets[state.readiness.size()].end <= state.nGradients)
    {
        state.readiness.push_back(producers);
    }
}

void
GptGraphMaker::AddPersistentMemory()
{
    for (uint32_t stage = 0; stage < m_plan.pipelineParallel; ++stage)
    {
        uint64_t nParameters = 0;
        for (const Bucket& bucket : m_buckets[stage])
        {
            nParameters += bucket.nParameters;
        }
        std::vector<std::pair<const char*, uint64_t>> tensors{
            {"parameters", ELEMENT_BYTES * nParameters},
            {"gradients", m_gradientBytes * nParameters},
            {"optimizer-state", OPTIMIZER_STATE_BYTES * nParameters},
        };
        if (stage > 0)
        {
            tensors.emplace_back("receive-buffer.activation", m_activation);
        }
        if (stage + 1 < m_plan.pipelineParallel)
        {
            tensors.emplace_back("receive-buffer.gradient", m_activation);
        }
        const DeviceId first = GetDevice(0, 0, stage);
        for (DeviceId device = first; device < first + m_tp * m_plan.dataParallel; ++device)
        {
            for (const auto& [name, bytes] : tensors)
            {
                m_builder.AddMemory(m_optimizer, device, name, bytes, {}, true);
            }
        }
    }
}

void
GptGraphMaker::AddGradientReduction()
{
    const uint32_t dp = m_plan.dataParallel;
    const uint32_t lastStage = m_plan.pipelineParallel - 1;
    m_before.resize(m_nDevices);
    for (uint32_t stage = 0; stage <= lastStage; ++stage)
    {
        const std::vector<Bucket>& buckets = m_buckets[stage];
        for (uint32_t tp = 0; tp < m_tp; ++tp)
        {
            std::vector<DeviceId> devices(dp);
            for (uint32_t replica = 0; replica < dp; ++replica)
            {
                devices[replica] = GetDevice(tp, replica, stage);
                const TeamState& state = m_states[stage * dp + replica];
                m_before[devices[replica]].push_back(state.result[tp]);
            }
            if (dp == 1)
            {
                continue;
            }
            const GroupId group = m_builder.AddGroup(devices);
            for (uint32_t i = 0; i < buckets.size(); ++i)
            {
                std::vector<TaskId> ready(dp);
                for (uint32_t replica = 0; replica < dp; ++replica)
                {
                    ready[replica] = m_states[stage * dp + replica].readiness[i][tp];
                }
                const TaskId id = m_builder.AddCommunication(
                    m_gradients,
                    group,
                    m_gradient,
                    "gradients.bucket" + std::to_string(i) + ".all-reduce",
                    Collective::ALL_REDUCE,
                    m_gradientBytes * buckets[i].nParameters,
                    Parallelism::DATA,
                    ready);
                for (DeviceId device : devices)
                {
                    m_before[device].push_back(id);
                }
            }
        }
    }
    if (lastStage == 0)
    {
        return;
    }
    for (uint32_t replica = 0; replica < dp; ++replica)
    {
        for (uint32_t tp = 0; tp < m_tp; ++tp)
        {
            const DeviceId first = GetDevice(tp, replica, 0);
            const DeviceId last = GetDevice(tp, replica, lastStage);
            std::vector<TaskId> ready = m_before[first];
            ready.insert(ready.end(), m_before[last].begin(), m_before[last].end());
            const TaskId id =
                m_builder.AddCommunication(m_gradients,
                                           m_builder.AddGroup({first, last}),
                                           m_gradient,
                                           "embedding.word.gradient.all-reduce",
                                           Collective::ALL_REDUCE,
                                           m_gradientBytes * (m_vocabulary / m_tp) * m_hidden,
                                           Parallelism::EMBEDDING,
                                           ready);
            m_before[first].push_back(id);
            m_before[last].push_back(id);
        }
    }
}

void
GptGraphMaker::AddOptimizer()
{
    const uint64_t perParameter = m_gradientBytes + 2 * OPTIMIZER_STATE_BYTES + ELEMENT_BYTES;
    for (DeviceId device = 0; device < m_nDevices; ++device)
    {
        uint64_t nParameters = 0;
        for (const Bucket& bucket : m_buckets[device / (m_tp * m_plan.dataParallel)])
        {
            nParameters += bucket.nParameters;
        }
        m_builder.AddCompute(m_optimizer,
                             device,
                             m_compute,
                             "adam",
                             ADAM_FLOPS * static_cast<double>(nParameters),
                             perParameter * nParameters,
                             DataType::FP32,
                             m_before[device]);
    }
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

} // namespace

const std::vector<GptModel>&
GetGptModels()
{
    static const std::vector<GptModel> models{
        {"125M", 12, 768, 12, 2048, 50257},
        {"350M", 24, 1024, 16, 2048, 50257},
        {"760M", 24, 1536, 16, 2048, 50257},
        {"1.3B", 24, 2048, 16, 2048, 50257},
        {"2.7B", 32, 2560, 32, 2048, 50257},
        {"6.7B", 32, 4096, 32, 2048, 50257},
        {"13B", 40, 5120, 40, 2048, 50257},
        {"175B", 96, 12288, 96, 2048, 50257},
    };
    return models;
}

const GptModel&
FindGptModel(const std::string& name)
{
    std::string known;
    for (const GptModel& model : GetGptModels())
    {
        if (model.name == name)
        {
            return model;
        }
        known += (known.empty() ? "" : ", ") + model.name;
    }
    throw std::invalid_argument("unknown GPT-3 model \"" + name + "\": choose one of " + known);
}

uint64_t
PadGptVocabulary(uint32_t vocabulary, uint32_t tensorParallel)
{
    const uint64_t multiple = uint64_t{128} * tensorParallel;
    return (vocabulary + multiple - 1) / multiple * multiple;
}

uint64_t
CountParameters(const GptModel& model, uint64_t paddedVocabulary)
{
    const uint64_t h = model.hidden;
    return model.layers * (12 * h * h + 13 * h) + (paddedVocabulary + model.sequenceLength) * h +
           2 * h;
}

const char*
ToString(Recompute recompute)
{
    switch (recompute)
    {
    case Recompute::NONE:
        return "none";
    case Recompute::SELECTIVE:
        return "selective";
    case Recompute::FULL:
        return "full";
    }
    throw std::invalid_argument("a value that is no Recompute");
}

Recompute
RecomputeFromString(const std::string& text)
{
    for (Recompute recompute : {Recompute::NONE, Recompute::SELECTIVE, Recompute::FULL})
    {
        if (text == ToString(recompute))
        {
            return recompute;
        }
    }
    throw std::invalid_argument("unknown recomputation \"" + text +
                                "\": choose one of none, selective, full");
}

void
CheckGptPlan(const GptModel& model, const GptPlan& plan)
{
    const std::string who = "GPT-3 " + model.name;
    const std::vector<std::pair<const char*, uint32_t>> positive{
        {"layers of the model", model.layers},
        {"hidden size of the model", model.hidden},
        {"heads of the model", model.heads},
        {"sequence length of the model", model.sequenceLength},
        {"vocabulary of the model", model.vocabulary},
        {"tensor-parallel size", plan.tensorParallel},
        {"pipeline-parallel size", plan.pipelineParallel},
        {"data-parallel size", plan.dataParallel},
        {"global batch", plan.globalBatch},
        {"micro-batch", plan.microBatch},
    };
    for (const auto& [name, value] : positive)
    {
        Check(value > 0, who + ": the " + name + " is 0, must be at least 1");
    }
    auto text = [](uint64_t value) { return std::to_string(value); };
    Check(model.hidden % model.heads == 0,
          who + ": " + text(model.heads) + " heads do not divide the hidden size " +
              text(model.hidden));
    // Heads divide the hidden size, so a divisor of the heads divides it, 4 h and 3 h; the padded
    // vocabulary is a multiple of the tensor-parallel size by its making.
    Check(model.heads % plan.tensorParallel == 0,
          who + ": tensor-parallel size " + text(plan.tensorParallel) + " does not divide the " +
              text(model.heads) + " attention heads, choose a divisor of " + text(model.heads));
    Check(model.layers % plan.pipelineParallel == 0,
          who + ": pipeline-parallel size " + text(plan.pipelineParallel) +
              " does not divide the " + text(model.layers) + " layers, choose a divisor of " +
              text(model.layers));
    const uint64_t step = uint64_t{plan.microBatch} * plan.dataParallel;
    Check(plan.globalBatch % step == 0,
          who + ": global batch " + text(plan.globalBatch) + " is not a multiple of " + text(step) +
              " = micro-batch " + text(plan.microBatch) + " x data-parallel size " +
              text(plan.dataParallel));
    Check(plan.dataType == DataType::BF16 || plan.dataType == DataType::FP16 ||
              plan.dataType == DataType::FP8,
          who + ": data type " + ToString(plan.dataType) +
              " is none of mixed precision, choose bf16, fp16 or fp8");
    Check(plan.gradientType == DataType::FP32 || plan.gradientType == DataType::BF16 ||
              plan.gradientType == DataType::FP16,
          who + ": gradients cannot be accumulated in " + ToString(plan.gradientType) +
              ", choose fp32, bf16 or fp16");

    // The largest counts: bytes of the core's s x s matrices, of the logits, of an activation's
    // traffic with its gradient, and of a device's optimizer step.
    const long double tokens = static_cast<long double>(plan.microBatch) * model.sequenceLength;
    const long double h = model.hidden;
    const long double vocabulary = PadGptVocabulary(model.vocabulary, plan.tensorParallel);
    const long double largest =
        tokens * (32.0L * h + 32.0L * vocabulary + 32.0L * model.heads * model.sequenceLength) +
        64.0L *
            (model.layers * (12 * h * h + 13 * h) + (2 * vocabulary + model.sequenceLength) * h);
    Check(largest < static_cast<long double>(std::numeric_limits<int64_t>::max()),
          who + ": micro-batch " + text(plan.microBatch) +
              " on this model needs more bytes than 63 bits can count, choose a smaller one");

    // t <= heads and p <= layers keep t * p below 2^64; a replica more may overflow.
    const uint64_t modelParallel = uint64_t{plan.tensorParallel} * plan.pipelineParallel;
    const std::string sizes = "tensor-parallel size " + text(plan.tensorParallel) +
                              " x pipeline-parallel size " + text(plan.pipelineParallel) +
                              " x data-parallel size " + text(plan.dataParallel);
    Check(modelParallel <= MAX_DEVICES && plan.dataParallel <= MAX_DEVICES / modelParallel,
          who + ": " + sizes + " needs more than the " + text(MAX_DEVICES) +
              " devices that a graph can have, choose smaller sizes");
    Check(plan.globalBatch / step <= MAX_MICRO_BATCHES,
          who + ": " + text(plan.globalBatch / step) + " micro-batches are more than the " +
              text(MAX_MICRO_BATCHES) + " that a graph can have, choose a larger micro-batch");
    const uint64_t tasks =
        plan.GetNDevices() *
        (MAX_LAYER_TASKS * (model.layers / plan.pipelineParallel) +
         CountParameters(model, model.vocabulary) / BUCKET_PARAMETERS + MAX_OTHER_TASKS);
    Check(tasks < NO_ID,
          who + ": " + sizes + " needs up to " + text(tasks) + " tasks, more than the " +
              text(NO_ID) + " that a graph can have, choose smaller sizes");
}

ExecutionGraph
MakeGptGraph(const GptModel& model, const GptPlan& plan)
{
    CheckGptPlan(model, plan);
    return GptGraphMaker(model, plan).Make();
}

} // namespace proteus
} // namespace ns3
