/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-graph-emitter.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace proteus
{

GraphEmitter::GraphEmitter(const Model& model,
                           const Placement& placement,
                           const StrategyTree& tree,
                           const CompileOptions& options)
    : m_model(model),
      m_placement(placement),
      m_tree(tree),
      m_options(options),
      m_builder(placement.nDevices)
{
}

const GraphEmitter::Value&
GraphEmitter::Fetch(TensorId tensor) const
{
    const auto again = m_recomputed.find(tensor);
    return again == m_recomputed.end() ? m_values[tensor] : again->second;
}

/// @return a tensor, or its gradient, in the layout that an operator needs it in
GraphEmitter::Value
GraphEmitter::ReadFor(TensorId tensor,
                      bool isGradient,
                      const Layout& layout,
                      OperatorId id,
                      Pass& pass)
{
    const PlacedTensor& placed = m_placement.tensors[tensor];
    const PlacedOperator& reader = m_placement.operators[id];
    for (const Rooted& rooted : m_deferred)
    {
        if (rooted.tensor == tensor && rooted.isGradient == isGradient)
        {
            EmitDeferred();
            break;
        }
    }
    const Value& value = isGradient ? m_gradients.at(tensor) : Fetch(tensor);
    if (value.layout == layout)
    {
        return value;
    }
    std::vector<Value>& known = pass.converted[{tensor, isGradient}];
    for (const Value& other : known)
    {
        if (other.layout == layout)
        {
            return other;
        }
    }
    Cargo cargo;
    cargo.name = placed.tensor.name + (isGradient ? ".gradient" : "") + pass.suffix;
    cargo.shape = placed.tensor.shape;
    cargo.elementBytes = GetElementBytes(placed.tensor.element);
    cargo.sendPhase = pass.isBackward ? GetBackward(reader.stage) : GetForward(placed.stage);
    cargo.receivePhase = pass.isBackward ? GetBackward(reader.stage) : GetForward(reader.stage);
    cargo.isTransfer = reader.isTransfer;
    cargo.isExchange = reader.op.isExchange;
    cargo.isParameter = placed.tensor.role == TensorRole::PARAMETER;
    cargo.isRead = true;
    known.push_back(Convert(value, layout, cargo));
    return known.back();
}

void
GraphEmitter::EmitForward(OperatorId id, Pass& pass)
{
    const PlacedOperator& placed = m_placement.operators[id];
    const ModelOperator& op = placed.op;
    const PhaseId phase = pass.isBackward ? GetBackward(placed.stage) : GetForward(placed.stage);
    std::vector<Value> reads;
    for (const Access& read : op.reads)
    {
        reads.push_back(ReadFor(read.tensor, false, GetForwardReadLayout(placed, read), id, pass));
    }
    Row kernel;
    if (!op.isView)
    {
        kernel = EmitKernel(id, op.forward, phase, op.name + pass.suffix, reads);
        NoteReaders(placed, kernel, pass);
    }
    for (const Access& write : op.writes)
    {
        const PlacedTensor& tensor = m_placement.tensors[write.tensor];
        if (tensor.tensor.role == TensorRole::SAVED && !pass.isRecomputation && RunsAgain(id))
        {
            continue; // only what runs again is used
        }
        Value made;
        made.layout = GetForwardWriteLayout(placed, write);
        if (op.isView)
        {
            made.rows = reads[0].rows;
        }
        else if (m_losses.count(write.tensor))
        {
            made.rows = {kernel}; // kept in persistent memory
        }
        else
        {
            made.rows = {EmitMemory(made.layout,
                                    tensor.tensor.shape,
                                    GetElementBytes(tensor.tensor.element),
                                    phase,
                                    tensor.tensor.name + pass.suffix,
                                    kernel)};
        }
        Cargo cargo;
        cargo.name = tensor.tensor.name + pass.suffix;
        cargo.shape = tensor.tensor.shape;
        cargo.elementBytes = GetElementBytes(tensor.tensor.element);
        cargo.sendPhase = cargo.receivePhase = phase;
        cargo.isExchange = op.isExchange;
        if (pass.isRecomputation)
        {
            m_recomputed[write.tensor] = Convert(made, tensor.home, cargo);
        }
        else if (!Defer(write.tensor, false, made, cargo))
        {
            m_values[write.tensor] = Convert(made, tensor.home, cargo);
        }
    }
}

/// Remembers who begins the next iteration, and which parameters it needs.
void
GraphEmitter::NoteReaders(const PlacedOperator& placed, const Row& kernel, const Pass& pass)
{
    if (pass.isBackward)
    {
        return;
    }
    const std::vector<DeviceId>& devices = placed.mesh->GetDevices();
    for (uint32_t position = 0; position < devices.size(); ++position)
    {
        m_firstKernels.emplace(devices[position], kernel[position]);
        for (const Access& read : placed.op.reads)
        {
            if (m_tree.optimizer.isImmediate &&
                m_placement.tensors[read.tensor].tensor.role == TensorRole::PARAMETER)
            {
                m_readers[{read.tensor, devices[position]}].push_back(kernel[position]);
            }
        }
    }
}

bool
GraphEmitter::HasGradient(const Access& write) const
{
    return m_gradients.count(write.tensor) > 0 ||
           std::any_of(m_deferred.begin(), m_deferred.end(), [&](const Rooted& rooted) {
               return rooted.isGradient && rooted.tensor == write.tensor;
           });
}

void
GraphEmitter::EmitBackward(OperatorId id, Pass& pass)
{
    const PlacedOperator& placed = m_placement.operators[id];
    const ModelOperator& op = placed.op;
    const bool isAsked = std::any_of(op.writes.begin(), op.writes.end(), [&](const Access& write) {
        return HasGradient(write);
    });
    if (op.backward.empty() || !isAsked)
    {
        return;
    }
    RecomputeFor(id);
    if (m_tree.isSplitBackward)
    {
        GatherSaved(id, pass);
        for (const OperatorPart& part : op.backward)
        {
            EmitBackwardPart(id, part, pass);
        }
        return;
    }
    for (const OperatorPart& part : op.backward)
    {
        if (part.isView)
        {
            EmitBackwardPart(id, part, pass);
        }
    }
    const OperatorPart whole = MergeBackward(op);
    if (!whole.writes.empty())
    {
        EmitBackwardPart(id, whole, pass);
    }
}

/// Before the first backward operator that needs something of a block, the block runs again.
void
GraphEmitter::RecomputeFor(OperatorId id)
{
    const PlacedOperator& placed = m_placement.operators[id];
    bool isNeeded = RunsAgain(id);
    for (const OperatorPart& part : placed.op.backward)
    {
        for (const DataReference& reference : part.reads)
        {
            const ModelTensor& tensor =
                m_placement.tensors[FindAccess(placed.op, reference).tensor].tensor;
            isNeeded =
                isNeeded ||
                (reference.kind != DataReference::Kind::GRADIENT && tensor.producer != NO_ID &&
                 tensor.role != TensorRole::PARAMETER && tensor.role != TensorRole::INPUT &&
                 m_placement.operators[tensor.producer].recompute == placed.recompute &&
                 RunsAgain(tensor.producer));
        }
    }
    if (isNeeded)
    {
        Recompute(id);
    }
}

/// @return the backward pass of an operator in one kernel, without what needs none
OperatorPart
GraphEmitter::MergeBackward(const ModelOperator& op)
{
    OperatorPart whole;
    whole.name = "backward";
    for (const OperatorPart& part : op.backward)
    {
        if (part.isView)
        {
            continue;
        }
        whole.isMatrixProduct = whole.isMatrixProduct || part.isMatrixProduct;
        whole.flops.insert(whole.flops.end(), part.flops.begin(), part.flops.end());
        whole.bytes.insert(whole.bytes.end(), part.bytes.begin(), part.bytes.end());
        whole.writes.insert(whole.writes.end(), part.writes.begin(), part.writes.end());
        for (const DataReference& reference : part.reads)
        {
            const bool isKnown = std::any_of(whole.reads.begin(),
                                             whole.reads.end(),
                                             [&](const DataReference& other) {
                                                 return other.kind == reference.kind &&
                                                        other.index == reference.index;
                                             });
            if (!isKnown)
            {
                whole.reads.push_back(reference);
            }
        }
    }
    return whole;
}

bool
GraphEmitter::IsNeeded(const ModelOperator& op, const OperatorPart& part)
{
    return std::any_of(part.writes.begin(), part.writes.end(), [&](const GradientWrite& write) {
        return op.reads[write.read].isDifferentiable;
    });
}

/// Brings what the forward pass left to where the gradients of weights need it. This comes before
/// the gradient of the input, whose product hides it, and whose own communication it would
/// otherwise have to wait for (as Megatron-LM orders them under sequence parallelism).
void
GraphEmitter::GatherSaved(OperatorId id, Pass& pass)
{
    const PlacedOperator& placed = m_placement.operators[id];
    for (const OperatorPart& part : placed.op.backward)
    {
        if (!part.isWeightGradient || !IsNeeded(placed.op, part))
        {
            continue;
        }
        for (const DataReference& reference : part.reads)
        {
            const Access& access = FindAccess(placed.op, reference);
            if (reference.kind != DataReference::Kind::GRADIENT &&
                m_placement.tensors[access.tensor].tensor.role != TensorRole::PARAMETER)
            {
                ReadFor(access.tensor, false, GetAccessLayout(placed, access), id, pass);
            }
        }
    }
}

void
GraphEmitter::EmitBackwardPart(OperatorId id, const OperatorPart& part, Pass& pass)
{
    const PlacedOperator& placed = m_placement.operators[id];
    const ModelOperator& op = placed.op;
    if (!IsNeeded(op, part))
    {
        return;
    }
    const bool isDeferred = part.isWeightGradient && !m_weight.empty();
    const PhaseId phase =
        isDeferred ? m_weight[m_chunkOf[placed.stage]] : GetBackward(placed.stage);
    std::vector<Value> reads;
    for (const DataReference& reference : part.reads)
    {
        const Access& access = FindAccess(op, reference);
        const bool isGradient = reference.kind == DataReference::Kind::GRADIENT;
        if (!isGradient || HasGradient(access))
        {
            reads.push_back(
                ReadFor(access.tensor, isGradient, GetAccessLayout(placed, access), id, pass));
        }
    }
    Row kernel;
    if (!part.isView)
    {
        kernel = EmitKernel(id, part, phase, op.name + "." + part.name, reads);
    }
    for (const GradientWrite& write : part.writes)
    {
        const Access& target = op.reads[write.read];
        if (!target.isDifferentiable)
        {
            continue;
        }
        std::vector<const Access*> summands;
        for (const DataReference& reference : write.summands)
        {
            summands.push_back(&FindAccess(op, reference));
        }
        const PlacedTensor& tensor = m_placement.tensors[target.tensor];
        Value made;
        made.layout = GetResultLayout(placed, target, summands);
        const bool isParameter = tensor.tensor.role == TensorRole::PARAMETER;
        if (part.isView)
        {
            made.rows = reads[0].rows;
        }
        else if (isParameter && m_isInPlace && !IsScattered(placed, write))
        {
            made.rows = {kernel};
        }
        else
        {
            made.rows = {EmitMemory(made.layout,
                                    tensor.tensor.shape,
                                    isParameter ? GetGradientBytes()
                                                : GetElementBytes(tensor.tensor.element),
                                    phase,
                                    tensor.tensor.name + ".gradient",
                                    kernel)};
        }
        AddGradient(id, write, made, pass);
    }
}

/// Adds a gradient to what there is of it.
void
GraphEmitter::AddGradient(OperatorId id, const GradientWrite& write, const Value& made, Pass& pass)
{
    const PlacedOperator& placed = m_placement.operators[id];
    const TensorId id2 = placed.op.reads[write.read].tensor;
    const PlacedTensor& tensor = m_placement.tensors[id2];
    if (tensor.tensor.role == TensorRole::PARAMETER)
    {
        const auto found = m_leafOf.find(id2);
        if (found != m_leafOf.end() && m_leaves[found->second].made.layout == made.layout)
        {
            // Used twice: the sums add up on the device.
            Leaf& leaf = m_leaves[found->second];
            leaf.made.rows.insert(leaf.made.rows.end(), made.rows.begin(), made.rows.end());
            leaf.depth = std::max(leaf.depth, m_depths[id]);
            leaf.operatorId = id;
            leaf.read = write.read;
            return;
        }
        m_leafOf[id2] = static_cast<uint32_t>(m_leaves.size());
        m_leaves.push_back({id2, placed.stage, made, {}, m_depths[id], id, write.read});
        return;
    }
    Cargo cargo;
    cargo.name = tensor.tensor.name + ".gradient" + pass.suffix;
    cargo.shape = tensor.tensor.shape;
    cargo.elementBytes = GetElementBytes(tensor.tensor.element);
    cargo.sendPhase = GetBackward(placed.stage);
    cargo.receivePhase = GetBackward(tensor.stage);
    cargo.isTransfer = placed.isTransfer;
    cargo.isExchange = placed.op.isExchange;
    pass.converted.erase({id2, true});
    if (!Defer(id2, true, made, cargo))
    {
        Keep(id2, true, Convert(made, tensor.gradient, cargo));
    }
}

/// Notes where a tensor is, or adds a gradient to what there is of it.
void
GraphEmitter::Keep(TensorId tensor, bool isGradient, Value value)
{
    if (!isGradient)
    {
        m_values[tensor] = std::move(value);
        return;
    }
    const auto found = m_gradients.find(tensor);
    if (found == m_gradients.end())
    {
        m_gradients[tensor] = std::move(value);
        return;
    }
    std::vector<Row>& rows = found->second.rows;
    rows.insert(rows.end(), value.rows.begin(), value.rows.end());
}

/// Longest way from a loss to each backward operator.
void
GraphEmitter::FindDepths()
{
    m_depths.assign(m_placement.operators.size(), 0);
    for (OperatorId id = static_cast<OperatorId>(m_depths.size()); id-- > 0;)
    {
        for (const Access& write : m_placement.operators[id].op.writes)
        {
            for (const OperatorId reader : m_placement.tensors[write.tensor].readers)
            {
                m_depths[id] = std::max(m_depths[id], m_depths[reader] + 1);
            }
        }
    }
}

ExecutionGraph
GraphEmitter::Emit()
{
    m_isInPlace = m_tree.gradients.isInPlace || m_tree.schedule.microBatches > 1;
    AddFacts();
    AddPhases();
    FindDepths();
    m_values.resize(m_placement.tensors.size());
    for (TensorId id = 0; id < m_placement.tensors.size(); ++id)
    {
        const PlacedTensor& tensor = m_placement.tensors[id];
        m_values[id].layout = tensor.home;
        if (tensor.tensor.role == TensorRole::ACTIVATION && tensor.readers.empty())
        {
            m_losses.insert(id);
        }
    }
    for (OperatorId id = 0; id < m_placement.operators.size(); ++id)
    {
        if (!m_placement.operators[id].recompute.empty())
        {
            m_blocks[m_placement.operators[id].recompute].push_back(id);
        }
    }
    AddPersistentMemory();
    Pass forward;
    for (OperatorId id = 0; id < m_placement.operators.size(); ++id)
    {
        EmitForward(id, forward);
    }
    EmitDeferred();
    forward.converted.clear();
    m_recent.clear();
    // Where the backward pass starts: the gradient of a loss is a constant.
    for (const TensorId loss : m_losses)
    {
        const PlacedTensor& tensor = m_placement.tensors[loss];
        if (tensor.needsGradient)
        {
            m_gradients[loss] = {tensor.home,
                                 {EmitMemory(tensor.home,
                                             tensor.tensor.shape,
                                             GetElementBytes(tensor.tensor.element),
                                             GetBackward(tensor.stage),
                                             tensor.tensor.name + ".gradient",
                                             m_values[loss].rows[0])}};
        }
    }
    Pass backward;
    backward.isBackward = true;
    for (auto id = static_cast<OperatorId>(m_placement.operators.size()); id-- > 0;)
    {
        EmitBackward(id, backward);
        for (const Access& write : m_placement.operators[id].op.writes)
        {
            // Nobody reads these any more.
            m_gradients.erase(write.tensor);
            m_recomputed.erase(write.tensor);
            backward.converted.erase({write.tensor, true});
            backward.converted.erase({write.tensor, false});
            m_values[write.tensor].rows.clear();
        }
    }
    EmitGradients();
    EmitTies();
    EmitOptimizer();
    AddSchedules();
    return m_builder.Build();
}

ExecutionGraph
CompileModel(const Model& model, const StrategyTree& tree, const CompileOptions& options)
{
    const Placement placement = PlaceModel(model, tree);
    GraphEmitter emitter(model, placement, tree, options);
    ExecutionGraph graph = emitter.Emit();
    if (options.carried)
    {
        *options.carried = emitter.GetCarriedDependencies();
    }
    return graph;
}

} // namespace proteus
} // namespace ns3
