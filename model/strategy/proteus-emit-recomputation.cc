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

/// What recomputation leaves out: what the backward pass of a block does not read, and nothing is
/// made of that it reads. So a block of a transformer stops before its last product, whose result
/// is only added, and does not make what only results that are kept are made of.
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
        for (auto id = operators.rbegin(); id != operators.rend(); ++id)
        {
            if (!isSaved(*id))
            {
                m_stopped.insert(*id);
                continue;
            }
            const auto& reads = m_context.placement.operators[*id].op.reads;
            for (const Access& read : RunsAgain(*id) ? reads : std::vector<Access>())
            {
                saved.insert(read.tensor);
            }
        }
    }
}

/// Whether the backward pass computes an operator again: it is in a block to recompute, its results
/// are not kept, and it makes something else than the block's results.
bool
PassEmitter::RunsAgain(OperatorId id) const
{
    const PlacedOperator& placed = m_context.placement.operators[id];
    if (placed.recompute.empty() || placed.keeps || placed.isTransfer || m_stopped.count(id) > 0)
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
        const PlacedOperator& kept = m_context.placement.operators[other];
        const bool isHeld = kept.keeps && !m_context.tree.schedule.stopsRecomputation;
        for (const Access& write : isHeld ? kept.op.writes : std::vector<Access>())
        {
            // A checkpoint that runs to its end asks for it, whoever reads it.
            pass.held.push_back(m_tensors.values[write.tensor].Whole());
        }
    }
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
