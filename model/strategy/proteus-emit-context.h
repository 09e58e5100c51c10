/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_EMIT_CONTEXT_H
#define PROTEUS_EMIT_CONTEXT_H

#include "proteus-boxing.h"
#include "proteus-compiler.h"
#include "proteus-placement.h"

#include "ns3/proteus-graph.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Internal to the room strategy/: what all that makes the graph of CompileModel() has in common.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// One task per position of a mesh; NO_ID where there is none.
using Row = std::vector<TaskId>;

/// @ingroup proteus
/// Where data are: who uses them on a device depends on that device's task of every row.
struct Value
{
    Layout layout;         //!< how they lie
    std::vector<Row> rows; //!< what has to be done before they can be used
    /// Where a collective of several pieces brings or takes them piece by piece: what has to be
    /// done before the first piece can be used. Empty: there are no pieces.
    std::vector<Row> early;
    uint32_t pieces{1}; //!< how many

    /// @return the same, all at once
    Value Whole() const
    {
        return {layout, rows, {}, 1};
    }
};

/// @ingroup proteus
/// @param value data @param position on the mesh of their layout
/// @return what has to be done before the device there can use them
std::vector<TaskId> GetReady(const Value& value, uint32_t position);

/// @ingroup proteus
/// @param op an operator @param reference to one of its tensors @return how it accesses it
const Access& FindAccess(const ModelOperator& op, const DataReference& reference);

/// @ingroup proteus
/// @param op an operator @param part of its backward pass @return whether somebody asks for a
/// gradient that it makes
bool IsNeeded(const ModelOperator& op, const OperatorPart& part);

/// @ingroup proteus
/// Phases around the exchange of a result that goes to the devices of other experts, or comes back.
struct ExchangePhases
{
    PhaseId before{0}; //!< of what is done with it ahead of the all-to-all
    PhaseId during{0}; //!< of the all-to-all
    PhaseId after{0};  //!< of what is done with it behind
};

/// @ingroup proteus
/// Phases of an operator.
struct OperatorPhases
{
    PhaseId forward{0};  //!< of its forward pass
    PhaseId backward{0}; //!< of its backward pass
    PhaseId weight{0};   //!< of gradients that nothing but the optimizer waits for
    /// Of the exchange of its result, if that has phases of its own.
    std::optional<ExchangePhases> exchange;
    /// Of the exchange of the result's gradient.
    std::optional<ExchangePhases> gradientExchange;
};

/// @ingroup proteus
/// Phases of the graph.
struct EmitPhases
{
    std::vector<OperatorPhases> of;    //!< by operator
    std::vector<uint32_t> chunkOf;     //!< by stage: how many stages of its devices come before it
    uint32_t nChunks{1};               //!< most stages of a device
    std::map<PhaseId, PhaseId> passOf; //!< of a phase that is a piece of a pass: the whole one
    std::vector<PhaseId> forward;      //!< by chunk
    std::vector<PhaseId> backward;     //!< by chunk
    std::vector<PhaseId> weight;       //!< by chunk, of the zero-bubble schedule
    std::vector<PhaseId> scatter; //!< by chunk: gradients scattered in every micro-batch, or none
    PhaseId parameters{0};        //!< gathering of updated ones, if before the forward pass
    PhaseId gradients{0};         //!< their reduction
    PhaseId optimizer{0};         //!< the update of parameters
};

/// @ingroup proteus
/// Streams of the graph.
struct EmitStreams
{
    StreamId compute{0};            //!< kernels
    StreamId communication{0};      //!< what operators need of each other
    StreamId experts{0};            //!< exchanges that have phases of their own
    StreamId forwarding{NO_STREAM}; //!< tokens inside servers, beside those that cross the network;
                                    //!< made when it is needed
    StreamId pipeline{0};           //!< between stages
    StreamId turnForward{0};        //!< when a stage takes activations of another
    StreamId turnBackward{0};       //!< when it takes gradients
    StreamId gradient{0};           //!< reduction of gradients, gathering of updated parameters
    StreamId repeating{NO_STREAM};  //!< reduction of shares of gradients among groups of replicas;
                                    //!< made when it is needed
    StreamId parameter{0};          //!< parameters gathered before their use
    StreamId optimizer{0};          //!< updates beside the compute stream
    StreamId toHost{0};             //!< offload: copies
    StreamId host{0};               //!< offload: updates
    StreamId fromHost{0};           //!< offload: copies
};

/// @ingroup proteus
/// The units of a model, in which FSDP gathers parameters and reduces gradients: its numbered
/// blocks, and what stands between two of them.
struct ModelUnits
{
    std::vector<uint32_t> ofOperator;               //!< by operator: its unit
    std::vector<std::vector<OperatorId>> operators; //!< by unit
    std::vector<std::string> names;                 //!< by unit
};

/// @ingroup proteus
/// @param placement of a model @return its units, in the order of their use
ModelUnits FindUnits(const Placement& placement);

/// @ingroup proteus
/// What replicas gather or scatter of a unit in its backward pass.
struct UnitCommunication
{
    uint32_t unit{0};     //!< its number
    bool isGather{false}; //!< parameters; else gradients
    GroupId group{0};     //!< the replicas
    TaskId task{0};       //!< that does it
};

/// @ingroup proteus
/// The compilation: what is compiled, the graph so far, its phases and streams.
struct EmitContext
{
    /**
     * @param trained what is trained; outlives this object
     * @param placed the model; outlives this object
     * @param strategy of it; outlives this object
     * @param compilation its options; outlive this object
     */
    EmitContext(const Model& trained,
                const Placement& placed,
                const StrategyTree& strategy,
                const CompileOptions& compilation);

    /// @param element what is stored @return its bytes
    uint64_t GetElementBytes(ElementKind element) const;
    /// @return bytes of an element of a parameter's gradient
    uint64_t GetGradientBytes() const;
    /// @param parameter that is trained @return bytes of optimizer state for each of its numbers
    double GetStateBytes(const ModelTensor& parameter) const;

    /// @param device any @return whether its kernels and tensors are in the graph
    bool IsEmitted(DeviceId device) const
    {
        return !tree.hasRepresentative || device == 0;
    }

    /// @return whether CompileOptions::waitsForTransfers is so of this schedule
    bool WaitsForTransfers() const
    {
        const ScheduleSpec& schedule = tree.schedule;
        return options.waitsForTransfers && !schedule.overlapsExperts &&
               (schedule.kind == ScheduleKind::ONE_FORWARD_ONE_BACKWARD ||
                schedule.kind == ScheduleKind::GPIPE);
    }

    /// @return whether CompileOptions::exchangesTransfers is so of this schedule
    bool ExchangesTransfers() const
    {
        return options.exchangesTransfers && WaitsForTransfers();
    }

    /// @param stage a stage @return phase of its forward pass
    PhaseId GetForward(uint32_t stage) const
    {
        return phases.forward[phases.chunkOf[stage]];
    }

    /// @param stage a stage @return phase of its backward pass
    PhaseId GetBackward(uint32_t stage) const
    {
        return phases.backward[phases.chunkOf[stage]];
    }

    /// @param phase of a kernel @return of the pass that it is a piece of
    PhaseId GetPass(PhaseId phase) const
    {
        const auto found = phases.passOf.find(phase);
        return found == phases.passOf.end() ? phase : found->second;
    }

    /// Asks for the time of a kernel, and what it takes of the GPU. @param kernel to describe
    /// @param task of it, which gets both @return bytes of memory that it holds while it runs,
    /// besides what it reads and writes
    uint64_t TimeKernel(const KernelDescription& kernel, Task& task) const;

    /// @param parameter its tensor @return which part of its elements has a gradient after an
    /// iteration: less than 1 where that is sparse
    double GetGradientShare(TensorId parameter) const;

    /// @param placed an operator @param write gradient of a parameter that it makes
    /// @return whether that is scattered in every micro-batch
    bool IsScattered(const PlacedOperator& placed, const GradientWrite& write) const;

    /**
     * Adds a tensor on all devices of a mesh.
     * @param layout of the tensor
     * @param shape of the whole tensor
     * @param elementBytes bytes of an element
     * @param phase when it is made
     * @param name of it
     * @param producers by position: what makes it
     * @return the memory tasks
     */
    Row EmitMemory(const Layout& layout,
                   const Shape& shape,
                   double elementBytes,
                   PhaseId phase,
                   const std::string& name,
                   const Row& producers);

    const Model& model;            //!< what is trained
    const Placement& placement;    //!< where and how split
    const StrategyTree& tree;      //!< the strategy
    const CompileOptions& options; //!< of the compilation
    GraphBuilder builder;          //!< the graph so far
    const bool isInPlace;          //!< whether gradients of parameters add up in a buffer
    const std::map<TensorId, double> gradientShares; //!< see GetGradientShare()
    const ModelUnits units;                          //!< of the model
    EmitPhases phases;                               //!< of the graph
    EmitStreams streams;                             //!< of the graph
    /// By device: transfers of its backward passes to other stages.
    std::map<DeviceId, std::vector<TaskId>> backwardSends;
    std::vector<UnitCommunication> unitCommunications; //!< see OrderUnits()
};

/// @ingroup proteus
/// Where tensors are.
struct EmitTensors
{
    std::vector<Value> values;            //!< by tensor, of the forward pass
    std::map<TensorId, Value> recomputed; //!< in place of them, in the backward pass
    std::map<TensorId, Value> gradients;  //!< by tensor, so far

    /// @param tensor a tensor @return where the backward pass finds it
    const Value& Fetch(TensorId tensor) const;

    /// Notes where a tensor is, or adds a gradient to what there is of it.
    /// @param tensor a tensor @param isGradient whether it is its gradient @param value where
    void Keep(TensorId tensor, bool isGradient, Value value);
};

/// @ingroup proteus
/// The last kernels, ahead of which parameters are gathered.
class RecentKernels
{
  public:
    /// @param mesh of a kernel @param row its tasks
    void Add(const MeshPtr& mesh, const Row& row);

    /// @return the last kernel; nothing if there is none
    std::pair<MeshPtr, Row> GetLast() const
    {
        return m_recent.empty() ? std::pair<MeshPtr, Row>() : m_recent.back();
    }

    /// @param mesh of a kernel that reads a parameter @param position on it
    /// @return the task that its gathering waits for; NO_ID if it need not wait
    TaskId FindTrigger(const MeshPtr& mesh, uint32_t position) const;

    /// Forgets all.
    void Clear()
    {
        m_recent.clear();
    }

  private:
    std::deque<std::pair<MeshPtr, Row>> m_recent; //!< the oldest first
};

/// @ingroup proteus
/// What an update lets go on in the next iteration.
struct EmitNextIteration
{
    std::vector<CarriedDependency> carried;  //!< so far
    std::map<DeviceId, TaskId> firstKernels; //!< of the forward pass
    std::map<DeviceId, TaskId> firstGathers; //!< of parameters
    /// Of a parameter on a device, if updates are immediate.
    std::map<std::pair<TensorId, DeviceId>, std::vector<TaskId>> readers;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_EMIT_CONTEXT_H
