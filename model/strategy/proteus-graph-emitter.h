/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GRAPH_EMITTER_H
#define PROTEUS_GRAPH_EMITTER_H

#include "proteus-boxing.h"
#include "proteus-compiler.h"
#include "proteus-placement.h"
#include "proteus-stage-schedule.h"

#include "ns3/proteus-graph-iterations.h"
#include "ns3/proteus-graph.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Internal to the room strategy/: what makes the graph of CompileModel().
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Makes the tasks of a placed model. proteus-graph-emitter.cc has the passes over the operators,
 * proteus-emit-recomputation.cc what is computed again, proteus-emit-kernels.cc kernels and memory,
 * proteus-emit-conversion.cc the communication between layouts, proteus-emit-gradients.cc the
 * reduction of gradients, proteus-emit-optimizer.cc the update of parameters, and
 * proteus-emit-schedule.cc phases and schedules.
 */
class GraphEmitter
{
  public:
    /**
     * @param model what is trained; outlives this object
     * @param placement of the model; outlives this object
     * @param tree the strategy; outlives this object
     * @param options of the compilation; outlive this object
     */
    GraphEmitter(const Model& model,
                 const Placement& placement,
                 const StrategyTree& tree,
                 const CompileOptions& options);

    /// @return the graph; to be called once
    ExecutionGraph Emit();

    /// @return what tasks of the graph need of the iteration before
    const std::vector<CarriedDependency>& GetCarriedDependencies() const
    {
        return m_carried;
    }

  private:
    /// Kernels that a parameter's gathering may run ahead of its use.
    static constexpr std::size_t PREFETCH_KERNELS = 2;

    /// One task per position of a mesh; NO_ID where there is none.
    using Row = std::vector<TaskId>;

    /// Where data are: who uses them on a device depends on that device's task of every row.
    struct Value
    {
        Layout layout;
        std::vector<Row> rows;
    };

    /// Values that were brought to another layout, by tensor and whether it is its gradient.
    using Converted = std::map<std::pair<TensorId, bool>, std::vector<Value>>;

    /// One way through the operators.
    struct Pass
    {
        std::string suffix;  //!< of names
        Converted converted; //!< what was done already
        bool isBackward{false};
        bool isRecomputation{false};
    };

    /// What a conversion is about, besides the layouts.
    struct Cargo
    {
        std::string name;
        Shape shape;
        uint64_t elementBytes{0};
        PhaseId sendPhase{0};    //!< of the communication
        PhaseId receivePhase{0}; //!< of the result
        bool isTransfer{false};  //!< between stages
        bool isExchange{false};  //!< always all-to-all
        bool isParameter{false}; //!< gathered ahead of its use
        bool isRead{false};      //!< for an operator that reads it
    };

    /// A scatter or a gather that waits for others which may make an all-to-all with it.
    struct Rooted
    {
        TensorId tensor{0};
        bool isGradient{false};
        Value value; //!< before
        BoxingStep step;
        Cargo cargo;
    };

    /// A gradient of a parameter, on its way to the optimizer.
    struct Leaf
    {
        TensorId tensor{0};
        uint32_t stage{0};
        Value made;             //!< by the backward pass, with partial sums
        Value reduced;          //!< as the optimizer finds it
        uint32_t depth{0};      //!< of the backward operator
        uint32_t operatorId{0}; //!< of it
        uint32_t read{0};       //!< which read it belongs to
    };

    /// Who reduces together, and how.
    using BucketKey = std::pair<Collective, std::vector<DeviceId>>;

    /// Gradients that are reduced together.
    struct Bucket
    {
        PhaseId phase{0};
        uint64_t bytes{0};
        Parallelism parallelism{Parallelism::DATA};
        std::vector<TaskId> ready;
        std::vector<uint32_t> leaves; //!< positions in m_leaves
    };

    // ---- proteus-graph-emitter.cc

    void EmitForward(OperatorId id, Pass& pass);
    void NoteReaders(const PlacedOperator& placed, const Row& kernel, const Pass& pass);
    void EmitBackward(OperatorId id, Pass& pass);
    void EmitBackwardPart(OperatorId id, const OperatorPart& part, Pass& pass);
    void GatherSaved(OperatorId id, Pass& pass);
    void RecomputeFor(OperatorId id);
    static OperatorPart MergeBackward(const ModelOperator& op);
    static bool IsNeeded(const ModelOperator& op, const OperatorPart& part);
    void AddGradient(OperatorId id, const GradientWrite& write, const Value& made, Pass& pass);
    bool HasGradient(const Access& write) const;
    const Value& Fetch(TensorId tensor) const;
    Value ReadFor(TensorId tensor,
                  bool isGradient,
                  const Layout& layout,
                  OperatorId id,
                  Pass& pass);
    void FindDepths();

    // ---- proteus-emit-recomputation.cc

    bool RunsAgain(OperatorId id) const;
    void Recompute(OperatorId id);

    // ---- proteus-emit-kernels.cc

    Row EmitKernel(OperatorId id,
                   const OperatorPart& part,
                   PhaseId phase,
                   const std::string& name,
                   const std::vector<Value>& reads);
    Row EmitMemory(const Layout& layout,
                   const Shape& shape,
                   uint64_t elementBytes,
                   PhaseId phase,
                   const std::string& name,
                   const Row& producers);
    uint64_t CountTraffic(const PlacedOperator& placed,
                          const OperatorPart& part,
                          uint32_t position,
                          const std::vector<uint64_t>& extents) const;
    const Access& FindAccess(const ModelOperator& op, const DataReference& reference) const;
    uint64_t GetElementBytes(ElementKind element) const;
    uint64_t GetGradientBytes() const;
    uint64_t GetStateBytes() const;
    void AddPersistentMemory();

    // ---- proteus-emit-conversion.cc

    Value Convert(const Value& value, const Layout& target, const Cargo& cargo);
    Value EmitCollective(const Value& value, const BoxingStep& step, const Cargo& cargo);
    Value EmitTransfers(const Value& value, const BoxingStep& step, const Cargo& cargo);
    Parallelism FindParallelism(const BoxingStep& step) const;
    bool Defer(TensorId tensor, bool isGradient, const Value& made, const Cargo& cargo);
    void EmitDeferred();
    bool EmitAllToAll();
    void Keep(TensorId tensor, bool isGradient, Value value);
    static std::vector<TaskId> GetReady(const Value& value, uint32_t position);

    // ---- proteus-emit-gradients.cc

    void EmitGradients();
    bool IsScattered(const PlacedOperator& placed, const GradientWrite& write) const;
    bool HasScattered() const;
    bool EmitReduction(const std::vector<uint32_t>& order, uint32_t stage, bool isFirst);
    bool IsFull(const BucketKey& key, const Bucket& bucket, uint32_t stage) const;
    void Flush(const BucketKey& key, Bucket& bucket);
    void EmitTies();

    // ---- proteus-emit-optimizer.cc

    TaskId EmitUpdate(DeviceId device,
                      const std::string& name,
                      uint64_t elements,
                      const std::vector<TaskId>& ready);
    void EmitOptimizer();
    std::map<DeviceId, TaskId> EmitUpdates(bool isFused);
    void EmitImmediateUpdates();
    void EmitParameterGathers(const std::map<DeviceId, TaskId>& updates);

    // ---- proteus-emit-schedule.cc

    void AddPhases();
    void CheckSchedule() const;
    std::vector<ScheduleEntry> MakePasses(
        uint32_t rank,
        const std::vector<std::vector<StageEntry>>& limited) const;
    uint32_t GetLimit(uint32_t rank) const;
    void AddSchedules();
    void AddFacts();

    PhaseId GetForward(uint32_t stage) const
    {
        return m_forward[m_chunkOf[stage]];
    }

    PhaseId GetBackward(uint32_t stage) const
    {
        return m_backward[m_chunkOf[stage]];
    }

    const Model& m_model;
    const Placement& m_placement;
    const StrategyTree& m_tree;
    const CompileOptions& m_options;
    GraphBuilder m_builder;

    std::vector<uint32_t> m_chunkOf; //!< by stage: how many stages of its devices come before it
    uint32_t m_nChunks{1};           //!< most stages of a device
    std::vector<PhaseId> m_forward;  //!< by chunk
    std::vector<PhaseId> m_backward; //!< by chunk
    std::vector<PhaseId> m_weight;   //!< by chunk, of the zero-bubble schedule
    std::vector<PhaseId> m_scatter; //!< by chunk: gradients scattered in every micro-batch, or none
    PhaseId m_gradientPhase{0};
    PhaseId m_optimizerPhase{0};
    StreamId m_compute{0};
    StreamId m_communication{0};
    StreamId m_pipeline{0};
    StreamId m_gradientStream{0};
    StreamId m_parameterStream{0};
    StreamId m_optimizerStream{0}; //!< updates beside the compute stream
    StreamId m_toHostStream{0};    //!< offload: copies
    StreamId m_hostStream{0};      //!< offload: updates
    StreamId m_fromHostStream{0};  //!< offload: copies

    bool m_isInPlace{false};                  //!< gradients of parameters add up in a buffer
    std::vector<Value> m_values;              //!< by tensor, of the forward pass
    std::map<TensorId, Value> m_recomputed;   //!< in place of them, in the backward pass
    std::map<TensorId, Value> m_gradients;    //!< by tensor, so far
    std::set<std::string> m_recomputedBlocks; //!< those that have run again
    std::set<TensorId> m_losses;              //!< results that nobody reads
    std::vector<uint32_t> m_depths;           //!< of the backward operators
    std::map<std::string, std::vector<OperatorId>> m_blocks; //!< to recompute
    Row m_trigger;                                           //!< what a recomputation waits for
    MeshPtr m_triggerMesh;                                   //!< where
    std::deque<std::pair<MeshPtr, Row>> m_recent;            //!< the last kernels
    std::vector<Rooted> m_deferred;                          //!< of one kind and group
    std::vector<Leaf> m_leaves;                              //!< in the order of their making
    std::map<TensorId, uint32_t> m_leafOf;                   //!< by tensor
    std::vector<uint32_t> m_leavesInOrder;                //!< by stage, in the order of reduction
    std::map<std::vector<DeviceId>, uint32_t> m_nFlushed; //!< buckets of the stage, by group

    // What an update lets go on in the next iteration.
    std::vector<CarriedDependency> m_carried;                               //!< so far
    std::map<DeviceId, TaskId> m_firstKernels;                              //!< of the forward pass
    std::map<DeviceId, TaskId> m_firstGathers;                              //!< of parameters
    std::map<std::pair<TensorId, DeviceId>, std::vector<TaskId>> m_readers; //!< of a parameter, if
                                                                            //!< updates are
                                                                            //!< immediate
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GRAPH_EMITTER_H
