/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_EMIT_PIECES_H
#define PROTEUS_EMIT_PIECES_H

#include "proteus-emit-context.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Internal to the room strategy/: passes in pieces, of which those of two micro-batches take turns.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A pass of a micro-batch through a stage.
struct StagePass
{
    uint32_t stage{0};      //!< which stage
    uint32_t microBatch{0}; //!< which micro-batch
};

/**
 * @ingroup proteus
 * Cuts the passes of a stage at the exchanges of experts' tokens, so that those of a micro-batch
 * run beside the kernels of another one, as Megatron-Core has them with
 * --overlap-moe-expert-parallel-comm (TransformerLayerSchedulePlan.run() in
 * megatron/core/models/common/model_chunk_schedule_plan.py).
 *
 * What runs between two exchanges is a piece, and so is an exchange; each has a phase of its own.
 * A numbered block has "attention", which ends with the dispatch of its tokens, "dispatch",
 * "experts" and "combine". What joins the experts' results again stands in "attention" of the next
 * block. (Megatron-Core has it in the stream of the exchanges, where it takes the same share of the
 * GPU.) A block without experts has no exchanges, and is cut behind its first residual connection.
 * What is behind the last block ends a forward pass, and begins a backward pass, whose phases are
 * numbered from there. What a pass begins with and transfers between stages are in the phase of the
 * whole pass, so that what arrives is posted with the first piece.
 */
class LayerPieces
{
  public:
    /// @param context of the compilation; outlives this object
    explicit LayerPieces(EmitContext& context)
        : m_context(context)
    {
    }

    /// Adds the phases, and says which are those of the operators. @throw std::invalid_argument for
    /// a strategy whose passes cannot take turns
    void AddPhases();

    /**
     * The order of the pieces. Of each pair of layers, from the first one forward and the last one
     * backward: combine, attention, experts, dispatch, gradients of the experts' weights, dispatch,
     * experts, combine, attention, gradients of its weights; of the backward pass the first, third,
     * fifth, sixth, ninth and tenth.
     * @param forward a pass, if there is one
     * @param backward a pass of another micro-batch, if there is one
     * @return entries of the schedule
     */
    std::vector<ScheduleEntry> MakeStep(const std::optional<StagePass>& forward,
                                        const std::optional<StagePass>& backward) const;

  private:
    /// A piece of a layer.
    enum class Piece : uint8_t
    {
        ATTENTION,
        DISPATCH,
        EXPERTS,
        COMBINE,
        ATTENTION_WEIGHTS, //!< backward only
        EXPERTS_WEIGHTS,   //!< backward only
    };

    /// A numbered block on a stage.
    struct Layer
    {
        std::vector<OperatorId> operators; //!< in order
        std::size_t attention{0};          //!< how many of them are in the first piece
        std::size_t experts{0};            //!< how many in the next; the rest is behind both
        bool isExchanged{false};           //!< whether tokens come and go in between
    };

    /// Chunk, whether backward, how many layers of the pass come before, and piece.
    using Key = std::tuple<uint32_t, bool, std::size_t, Piece>;

    static const char* GetName(Piece piece);
    static void Cut(const Placement& placement, Layer& layer);
    void CheckStrategy() const;
    void CheckRecomputation() const;
    void FindLayers();
    void AddPhases(uint32_t stage);
    void AddExchanges(uint32_t stage, std::size_t number);
    Key MakeKey(uint32_t stage, bool isBackward, std::size_t layer, Piece piece) const;
    PhaseId AddPhase(uint32_t stage, bool isBackward, std::size_t layer, Piece piece);
    void AddEntry(const std::optional<StagePass>& pass,
                  bool isBackward,
                  std::size_t layer,
                  Piece piece,
                  std::vector<ScheduleEntry>& entries) const;

    EmitContext& m_context;
    std::vector<std::vector<Layer>> m_layers; //!< by stage
    std::vector<std::size_t> m_before;        //!< by operator: layers of its stage before it
    std::map<Key, PhaseId> m_phases;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_EMIT_PIECES_H
