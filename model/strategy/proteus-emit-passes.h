/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_EMIT_PASSES_H
#define PROTEUS_EMIT_PASSES_H

#include "proteus-emit-conversion.h"
#include "proteus-emit-gradients.h"
#include "proteus-emit-kernels.h"
#include "proteus-emit-rooted.h"
#include "proteus-emit-units.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Internal to the room strategy/: forward and backward passes of operators, and what is computed
 * again.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Makes the forward pass and the backward pass of all operators.
class PassEmitter
{
  public:
    /// @param context of the compilation; outlives this object
    /// @param gradients gets those of parameters; outlives this object
    /// @param recent last kernels; outlive this object
    /// @param converter of layouts; outlives this object
    /// @param next what the next iteration waits for; outlives this object
    PassEmitter(EmitContext& context,
                GradientEmitter& gradients,
                RecentKernels& recent,
                Converter& converter,
                EmitNextIteration& next);

    /// Makes persistent memory and both passes.
    void Emit();

  private:
    /// Values that were brought to another layout, by tensor and whether it is its gradient.
    using Converted = std::map<std::pair<TensorId, bool>, std::vector<Value>>;

    /// One way through the operators.
    struct Pass
    {
        std::string suffix;  //!< of names
        Converted converted; //!< what was done already
        bool isBackward{false};
        bool isRecomputation{false};
        std::vector<Value> held; //!< what the next kernel lets go, beside what it reads
    };

    // ---- proteus-emit-passes.cc

    void EmitForward(OperatorId id, Pass& pass);
    void NoteReaders(const PlacedOperator& placed, const Row& kernel, const Pass& pass);
    void EmitLossGradients();
    void EmitBackward(OperatorId id, Pass& pass);
    void EmitBackwardPart(OperatorId id, const OperatorPart& part, Pass& pass);
    Value MakeResult(const PlacedOperator& placed,
                     const Access& write,
                     PhaseId phase,
                     const Pass& pass,
                     const Row& kernel);
    bool IsSum(const PlacedOperator& placed,
               const OperatorPart& part,
               const GradientWrite& write) const;
    uint32_t CountGradientPieces(const PlacedOperator& placed, const OperatorPart& part) const;
    static Layout FindGradientLayout(const PlacedOperator& placed, const GradientWrite& write);
    Value MakeGradient(const PlacedOperator& placed,
                       const OperatorPart& part,
                       const GradientWrite& write,
                       PhaseId phase,
                       const std::vector<Value>& reads,
                       const Row& kernel);
    void GatherSaved(OperatorId id, Pass& pass);
    void RecomputeFor(OperatorId id);
    static OperatorPart MergeBackward(const ModelOperator& op);
    void AddGradient(OperatorId id, const GradientWrite& write, const Value& made, Pass& pass);
    bool HasGradient(const Access& write) const;
    ExpertRouting FindRouting(OperatorId id) const;
    Value ReadFor(TensorId tensor,
                  bool isGradient,
                  const Layout& layout,
                  OperatorId id,
                  Pass& pass);
    void FindDepths();
    uint32_t CountWrittenPieces(const PlacedOperator& placed) const;

    // ---- proteus-emit-recomputation.cc

    void FindStops();
    bool RunsAgain(OperatorId id) const;
    void Recompute(OperatorId id);

    EmitContext& m_context;
    GradientEmitter& m_leaves;
    RecentKernels& m_recent;
    Converter& m_converter;
    EmitNextIteration& m_next;
    EmitTensors m_tensors;
    KernelEmitter m_kernels;
    RootedEmitter m_rooted;
    UnitGatherer m_units;
    std::set<TensorId> m_losses;                             //!< results that nobody reads
    std::vector<uint32_t> m_depths;                          //!< of the backward operators
    std::map<std::string, std::vector<OperatorId>> m_blocks; //!< to recompute
    std::set<OperatorId> m_stopped;           //!< behind what a block's backward pass needs
    std::set<std::string> m_recomputedBlocks; //!< those that have run again
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_EMIT_PASSES_H
