/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-emit-pieces.h"

#include "proteus-emit-kernels.h"
#include "proteus-emit-units.h"
#include "proteus-strategy-error.h"

#include <algorithm>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param placement of a model @return whether tokens go to the devices of other experts
bool
HasExchanges(const Placement& placement)
{
    return std::any_of(placement.operators.begin(),
                       placement.operators.end(),
                       [](const PlacedOperator& placed) {
                           return placed.op.kind == "dispatch" &&
                                  KernelEmitter::SharesExperts(*placed.mesh);
                       });
}

} // namespace

const char*
LayerPieces::GetName(Piece piece)
{
    switch (piece)
    {
    case Piece::ATTENTION:
        return "attention";
    case Piece::DISPATCH:
        return "dispatch";
    case Piece::EXPERTS:
        return "experts";
    case Piece::COMBINE:
        return "combine";
    case Piece::ATTENTION_WEIGHTS:
        return "attention-weights";
    case Piece::EXPERTS_WEIGHTS:
        return "experts-weights";
    }
    return "";
}

/// What Megatron-Core refuses (transformer_config.py), and what is not built.
void
LayerPieces::CheckStrategy() const
{
    const StrategyTree& tree = m_context.tree;
    const ScheduleKind kind = tree.schedule.kind;
    auto check = [&](bool ok, const std::string& message) {
        if (!ok)
        {
            throw StrategyError("strategy \"" + tree.name +
                                "\", overlapExpertCommunication: " + message);
        }
    };
    check(HasExchanges(m_context.placement),
          "no devices share experts, so that there is no communication of experts to hide (ep)");
    check(kind == ScheduleKind::INTERLEAVED ||
              (kind == ScheduleKind::ONE_FORWARD_ONE_BACKWARD && m_context.placement.nStages == 1),
          std::string("a pipeline needs the interleaved schedule (virtualStages), as in "
                      "Megatron-Core; here it is ") +
              ToString(kind));
    check(m_context.GetElementBytes(ElementKind::COMPUTE) == 2,
          "is for formats of 16 or 8 bits (dataType), as in Megatron-Core");
    check(tree.optimizer.zero <= 1, "is not built for ZeRO 2 and 3");
    check(!tree.schedule.delaysWeights || tree.isSplitBackward,
          "delayWeightGradients needs gradients of inputs and of weights in kernels of their own "
          "(splitBackward)");
}

/// What is computed again has to be in one piece, or a piece would wait for a later one.
void
LayerPieces::CheckRecomputation() const
{
    std::map<std::string, PhaseId> known;
    for (OperatorId id = 0; id < m_context.placement.operators.size(); ++id)
    {
        const PlacedOperator& placed = m_context.placement.operators[id];
        const PhaseId phase = m_context.phases.of[id].backward;
        if (!placed.recompute.empty() &&
            known.emplace(placed.recompute, phase).first->second != phase)
        {
            throw StrategyError("strategy \"" + m_context.tree.name +
                                "\", overlapExpertCommunication: " + placed.recompute +
                                " is computed again from attention to experts, which "
                                "Megatron-Core refuses; recompute what is in one of both");
        }
    }
}

/// Finds what the pieces of a layer are.
void
LayerPieces::Cut(const Placement& placement, Layer& layer)
{
    const std::vector<OperatorId>& ids = layer.operators;
    auto find = [&](std::size_t begin, const std::vector<std::string>& kinds) {
        const auto found = std::find_if(ids.begin() + begin, ids.end(), [&](OperatorId id) {
            return std::count(kinds.begin(), kinds.end(), placement.operators[id].op.kind) > 0;
        });
        return static_cast<std::size_t>(found - ids.begin());
    };
    const std::size_t dispatch = find(0, {"dispatch"});
    layer.isExchanged = dispatch < ids.size();
    if (layer.isExchanged)
    {
        layer.attention = dispatch + 1;
        layer.experts = find(dispatch, {"combine"}) - layer.attention;
        const std::size_t second = find(dispatch + 1, {"dispatch"});
        if (second < ids.size())
        {
            throw StrategyError("overlapExpertCommunication: block " +
                                FindBlock(placement.operators[ids[second]].op.name) +
                                " dispatches tokens twice");
        }
        return;
    }
    // The last operator, the second residual connection, goes with what comes next.
    const std::size_t last = ids.size() - 1;
    const std::size_t attention = std::min(last, find(0, {"attention", "softmax"}));
    layer.attention = std::min(last, find(attention, {"add", "dropout-add"}) + 1);
    layer.experts = last - layer.attention;
}

/// Finds the numbered blocks of the stages.
void
LayerPieces::FindLayers()
{
    const Placement& placement = m_context.placement;
    m_layers.resize(placement.nStages);
    std::vector<std::string> blocks(placement.nStages); // the last one of each stage
    for (OperatorId id = 0; id < placement.operators.size(); ++id)
    {
        const PlacedOperator& placed = placement.operators[id];
        std::vector<Layer>& layers = m_layers[placed.stage];
        const std::string block = placed.isTransfer ? "" : FindBlock(placed.op.name);
        m_before.push_back(layers.size());
        if (block.empty())
        {
            continue;
        }
        if (layers.empty() || block != blocks[placed.stage])
        {
            layers.emplace_back();
            blocks[placed.stage] = block;
        }
        layers.back().operators.push_back(id);
    }
    for (std::vector<Layer>& layers : m_layers)
    {
        for (Layer& layer : layers)
        {
            Cut(placement, layer);
        }
    }
}

/// A pass begins with the phase of the whole pass, and what it begins with is no piece of its own.
LayerPieces::Key
LayerPieces::MakeKey(uint32_t stage, bool isBackward, std::size_t layer, Piece piece) const
{
    const std::size_t nLayers = m_layers[stage].size();
    const bool isBetween = piece == Piece::ATTENTION || piece == Piece::ATTENTION_WEIGHTS;
    const std::size_t before = !isBackward ? layer : nLayers - layer - (isBetween ? 0 : 1);
    return {m_context.phases.chunkOf[stage], isBackward, before, piece};
}

/// @return the phase of a piece, which is added if it is new
PhaseId
LayerPieces::AddPhase(uint32_t stage, bool isBackward, std::size_t layer, Piece piece)
{
    const PhaseId whole = isBackward ? m_context.GetBackward(stage) : m_context.GetForward(stage);
    const Key key = MakeKey(stage, isBackward, layer, piece);
    const auto [chunk, direction, before, kind] = key;
    const bool isFirst = before == 0 && kind == Piece::ATTENTION;
    const auto found = m_phases.find(key);
    if (isFirst || found != m_phases.end())
    {
        return isFirst ? m_phases[key] = whole : found->second;
    }
    const std::string name = std::string(direction ? "backward" : "forward") +
                             (chunk == 0 ? "" : "." + std::to_string(chunk)) + "/" +
                             std::to_string(before) + "." + GetName(kind);
    const PhaseId phase = m_context.builder.AddPhase(name, m_context.tree.schedule.microBatches);
    m_phases[key] = phase;
    m_context.phases.passOf[phase] = whole;
    return phase;
}

/// Gives the operators of a stage their phases.
void
LayerPieces::AddPhases(uint32_t stage)
{
    const bool delays = m_context.tree.schedule.delaysWeights;
    std::vector<OperatorPhases>& of = m_context.phases.of;
    auto place = [&](OperatorId id, std::size_t layer, Piece piece, bool isDelayed) {
        of[id].forward = AddPhase(stage, false, layer, piece);
        of[id].backward = of[id].weight = AddPhase(stage, true, layer, piece);
        if (isDelayed)
        {
            of[id].weight = AddPhase(stage,
                                     true,
                                     layer,
                                     piece == Piece::ATTENTION ? Piece::ATTENTION_WEIGHTS
                                                               : Piece::EXPERTS_WEIGHTS);
        }
    };
    for (OperatorId id = 0; id < m_context.placement.operators.size(); ++id)
    {
        const PlacedOperator& placed = m_context.placement.operators[id];
        if (placed.stage == stage && !placed.isTransfer)
        {
            place(id, m_before[id], Piece::ATTENTION, false); // those outside of blocks stay there
        }
    }
    for (std::size_t number = 0; number < m_layers[stage].size(); ++number)
    {
        const Layer& layer = m_layers[stage][number];
        for (std::size_t i = 0; i < layer.operators.size(); ++i)
        {
            const OperatorId id = layer.operators[i];
            if (i < layer.attention)
            {
                place(id, number, Piece::ATTENTION, delays);
            }
            else if (i < layer.attention + layer.experts)
            {
                place(id, number, Piece::EXPERTS, delays);
            }
            else
            {
                place(id, number + 1, Piece::ATTENTION, false);
            }
        }
        if (layer.isExchanged)
        {
            AddExchanges(stage, number);
        }
    }
}

/// Says when the tokens of a layer come and go.
void
LayerPieces::AddExchanges(uint32_t stage, std::size_t number)
{
    const Layer& layer = m_layers[stage][number];
    std::vector<OperatorPhases>& of = m_context.phases.of;
    auto set =
        [&](OperatorId made, std::size_t from, Piece piece, Piece by, std::size_t to, Piece next) {
            of[made].exchange = ExchangePhases{AddPhase(stage, false, from, piece),
                                               AddPhase(stage, false, number, by),
                                               AddPhase(stage, false, to, next)};
            of[made].gradientExchange = ExchangePhases{AddPhase(stage, true, to, next),
                                                       AddPhase(stage, true, number, by),
                                                       AddPhase(stage, true, from, piece)};
        };
    set(layer.operators[layer.attention - 1],
        number,
        Piece::ATTENTION,
        Piece::DISPATCH,
        number,
        Piece::EXPERTS);
    const std::size_t combine = layer.attention + layer.experts;
    if (combine == layer.operators.size())
    {
        return; // of another stage
    }
    const ModelOperator& op = m_context.placement.operators[layer.operators[combine]].op;
    const OperatorId result = m_context.placement.tensors[op.reads[0].tensor].tensor.producer;
    if (result != NO_ID)
    {
        set(result, number, Piece::EXPERTS, Piece::COMBINE, number + 1, Piece::ATTENTION);
    }
}

void
LayerPieces::AddPhases()
{
    CheckStrategy();
    FindLayers();
    for (uint32_t stage = 0; stage < m_context.placement.nStages; ++stage)
    {
        AddPhases(stage);
    }
    CheckRecomputation();
}

/// Adds a piece of a pass, if both exist.
void
LayerPieces::AddEntry(const std::optional<StagePass>& pass,
                      bool isBackward,
                      std::size_t layer,
                      Piece piece,
                      std::vector<ScheduleEntry>& entries) const
{
    if (!pass)
    {
        return;
    }
    const auto found = m_phases.find(MakeKey(pass->stage, isBackward, layer, piece));
    if (found != m_phases.end())
    {
        entries.push_back({found->second, pass->microBatch});
    }
}

std::vector<ScheduleEntry>
LayerPieces::MakeStep(const std::optional<StagePass>& forward,
                      const std::optional<StagePass>& backward) const
{
    const std::size_t nForward = forward ? m_layers[forward->stage].size() : 0;
    const std::size_t nBackward = backward ? m_layers[backward->stage].size() : 0;
    std::vector<ScheduleEntry> entries;
    AddEntry(backward, true, nBackward, Piece::ATTENTION, entries);
    auto addPair = [&](const std::optional<StagePass>& ahead,
                       const std::optional<StagePass>& back,
                       std::size_t i) {
        const std::size_t k = nBackward - i - 1; // of the backward pass
        AddEntry(back, true, k, Piece::COMBINE, entries);
        AddEntry(ahead, false, i, Piece::ATTENTION, entries);
        AddEntry(back, true, k, Piece::EXPERTS, entries);
        AddEntry(ahead, false, i, Piece::DISPATCH, entries);
        AddEntry(back, true, k, Piece::EXPERTS_WEIGHTS, entries);
        AddEntry(back, true, k, Piece::DISPATCH, entries);
        AddEntry(ahead, false, i, Piece::EXPERTS, entries);
        AddEntry(ahead, false, i, Piece::COMBINE, entries);
        AddEntry(back, true, k, Piece::ATTENTION, entries);
        if (k > 0) // else transfers to other stages go first
        {
            AddEntry(back, true, k, Piece::ATTENTION_WEIGHTS, entries);
        }
    };
    const std::size_t nPairs = std::min(nForward, nBackward);
    for (std::size_t i = 0; i < nPairs; ++i)
    {
        addPair(forward, backward, i);
    }
    for (std::size_t i = nPairs; i < nBackward; ++i)
    {
        addPair(std::nullopt, backward, i);
    }
    for (std::size_t i = nPairs; i < nForward; ++i)
    {
        addPair(forward, std::nullopt, i);
    }
    AddEntry(forward, false, nForward, Piece::ATTENTION, entries);
    AddEntry(backward, true, 0, Piece::ATTENTION_WEIGHTS, entries);
    return entries;
}

} // namespace proteus
} // namespace ns3
