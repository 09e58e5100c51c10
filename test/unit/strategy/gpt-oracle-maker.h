/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GPT_ORACLE_MAKER_H
#define PROTEUS_GPT_ORACLE_MAKER_H

#include "gpt-oracle.h"

#include "ns3/proteus-graph.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What makes the graph of MakeGptGraph().
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Makes the graph of one training iteration. gpt-oracle.cc has the passes of layers and stages,
 * gpt-oracle-operators.cc the operators that they are made of, gpt-oracle-parameters.cc what
 * happens to parameters and their gradients.
 */
class GptGraphMaker
{
  public:
    /// Bytes per element of parameters, activations and their gradients in 16-bit mixed precision.
    static constexpr uint64_t ELEMENT_BYTES = 2;
    /// Bytes per element of what is kept in fp32: cross entropy, master weight, moments.
    static constexpr uint64_t FP32_BYTES = 4;
    /// Smallest bucket of the gradient reduction, in parameters
    /// (megatron/core/distributed/distributed_data_parallel.py).
    static constexpr uint64_t BUCKET_PARAMETERS = 40000000;
    /// Upper bound of the tasks of one layer on one device, with FULL recomputation.
    static constexpr uint64_t MAX_LAYER_TASKS = 64;
    /// Upper bound of the other tasks of a device, its gradient buckets aside.
    static constexpr uint64_t MAX_OTHER_TASKS = 64;

    /**
     * @param model what is trained, outlives this object
     * @param plan how, outlives this object; CheckGptPlan() has passed it
     */
    GptGraphMaker(const GptModel& model, const GptPlan& plan);

    /// @return the graph; to be called once
    ExecutionGraph Make();

  private:
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

    /// The weights of a linear layer: `in` inputs and `out` outputs on this device.
    struct Linear
    {
        uint64_t in{0};
        uint64_t out{0};
    };

    // ---- operators, one task per rank of the team: gpt-oracle-operators.cc

    /// @return the team, its group made if it has more than one device
    Team GetTeam(uint32_t stage, uint32_t replica);
    /// @param after what it waits for; empty rows do not count
    Row Compute(const Team& team,
                PhaseId phase,
                const std::string& name,
                double flops,
                uint64_t bytes,
                DataType type,
                std::initializer_list<const Row*> after);
    /// An operator outside the tensor cores.
    Row Elementwise(const Team& team,
                    PhaseId phase,
                    const std::string& name,
                    double flops,
                    uint64_t bytes,
                    std::initializer_list<const Row*> after);
    /// A linear layer.
    DataType GetLinearType(const std::string& name) const;
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
    /// Among the ranks of the team; nothing if it has one.
    Row AllReduce(const Team& team,
                  PhaseId phase,
                  const std::string& name,
                  uint64_t bytes,
                  const Row& after);
    /// @return the send-receives of an activation or its gradient to another stage
    Row Send(const Team& from, const Team& to, PhaseId phase, const std::string& what, Row after);
    /// A tensor on each rank.
    Row Memory(const Team& team,
               PhaseId phase,
               const std::string& name,
               uint64_t bytes,
               const Row& producers);

    // ---- layers and stages: gpt-oracle.cc

    /// The attention core's forward pass.
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
    void AddSchedules();

    // ---- parameters and gradients: gpt-oracle-parameters.cc

    std::vector<uint64_t> GetParameters(uint32_t stage) const;
    std::vector<Bucket> GetBuckets(uint32_t stage) const;
    void GradientsReady(const Team& team, uint32_t count, const Row& producers);
    void AddPersistentMemory();
    void AddGradientReduction();
    void AddOptimizer();

    DeviceId GetDevice(uint32_t tp, uint32_t replica, uint32_t stage) const
    {
        return tp + m_tp * (replica + m_plan.dataParallel * stage);
    }

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

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GPT_ORACLE_MAKER_H
