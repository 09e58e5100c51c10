/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-graph-emitter.h"

namespace ns3
{
namespace proteus
{

/// Whether the backward pass computes an operator again: it is in a block to recompute and makes
/// something else than the block's results.
bool
GraphEmitter::RunsAgain(OperatorId id) const
{
    const PlacedOperator& placed = m_placement.operators[id];
    if (placed.recompute.empty() || placed.isTransfer)
    {
        return false;
    }
    for (const Access& write : placed.op.writes)
    {
        const PlacedTensor& tensor = m_placement.tensors[write.tensor];
        bool isResult = tensor.readers.empty() && tensor.tensor.role == TensorRole::ACTIVATION;
        for (const OperatorId reader : tensor.readers)
        {
            isResult = isResult || m_placement.operators[reader].recompute != placed.recompute;
        }
        if (!isResult)
        {
            return true;
        }
    }
    return false;
}

/// Runs the block of an operator again.
void
GraphEmitter::Recompute(OperatorId id)
{
    const std::string& block = m_placement.operators[id].recompute;
    if (!m_recomputedBlocks.insert(block).second)
    {
        return;
    }
    // It starts when the gradient that the operator waits for is there.
    m_trigger.clear();
    for (const Access& write : m_placement.operators[id].op.writes)
    {
        const auto gradient = m_gradients.find(write.tensor);
        if (gradient != m_gradients.end() && !gradient->second.rows.empty())
        {
            m_trigger = gradient->second.rows.back();
            m_triggerMesh = gradient->second.layout.mesh;
        }
    }
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
    m_trigger.clear();
}

} // namespace proteus
} // namespace ns3
