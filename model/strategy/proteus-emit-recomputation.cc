/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-emit-passes.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

/// Where recomputation stops early: the operators of a block behind the last one whose result its
/// backward pass reads. So does a block of a transformer before its last product, whose result is
/// only added.
void
PassEmitter::FindStops()
{
    if (!m_context.tree.schedule.stopsRecomputation)
    {
        return;
    }
    for (const auto& [block, operators] : m_blocks)
    {
        std::set<TensorId> saved;
        for (const OperatorId id : operators)
        {
            const ModelOperator& op = m_context.placement.operators[id].op;
            for (const OperatorPart& part : op.backward)
            {
                for (const DataReference& reference : part.reads)
                {
                    if (reference.kind != DataReference::Kind::GRADIENT)
                    {
                        saved.insert(FindAccess(op, reference).tensor);
                    }
                }
            }
        }
        const auto isSaved = [&](OperatorId id) {
            const auto& writes = m_context.placement.operators[id].op.writes;
            return std::any_of(writes.begin(), writes.end(), [&](const Access& write) {
                return saved.count(write.tensor) > 0;
            });
        };
        for (auto id = operators.rbegin(); id != operators.rend() && !isSaved(*id); ++id)
        {
            m_stopped.insert(*id);
        }
    }
}

/// Whether the backward pass computes an operator again: it is in a block to recompute and makes
/// something else than the block's results.
bool
PassEmitter::RunsAgain(OperatorId id) const
{
    const PlacedOperator& placed = m_context.placement.operators[id];
    if (placed.recompute.empty() || placed.isTransfer || m_stopped.count(id) > 0)
    {
        return false;
    }
    return !MakesResultsOnly(m_context.placement, placed);
}

/// Runs the block of an operator again.
void
PassEmitter::Recompute(OperatorId id)
{
    const std::string& block = m_context.placement.operators[id].recompute;
    if (!m_recomputedBlocks.insert(block).second)
    {
        return;
    }
    // It starts when the gradient that the operator waits for is there.
    Row trigger;
    MeshPtr mesh;
    for (const Access& write : m_context.placement.operators[id].op.writes)
    {
        const auto gradient = m_tensors.gradients.find(write.tensor);
        if (gradient != m_tensors.gradients.end() && !gradient->second.rows.empty())
        {
            trigger = gradient->second.rows.back();
            mesh = gradient->second.layout.mesh;
        }
    }
    m_kernels.SetTrigger(mesh, trigger);
    Pass pass;
    pass.suffix = ".recompute";
    pass.isBackward = true;
    pass.isRecomputation = true;
    for (const OperatorId other : m_blocks[block])
    {
        if (RunsAgain(other))
        {
            EmitForward(other, pass);
        }
    }
    m_kernels.SetTrigger(nullptr, {});
}

} // namespace proteus
} // namespace ns3
