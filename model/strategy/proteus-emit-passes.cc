/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-emit-passes.h"

#include "proteus-emit-replica-gathers.h"

#include <algorithm>
#include <iterator>

namespace ns3
{
namespace proteus
{

PassEmitter::PassEmitter(EmitContext& context,
                         GradientEmitter& gradients,
                         RecentKernels& recent,
                         Converter& converter,
                         EmitNextIteration& next)
    : m_context(context),
      m_leaves(gradients),
      m_recent(recent),
      m_converter(converter),
      m_next(next),
      m_kernels(context, m_tensors, recent),
      m_rooted(context, m_tensors, converter),
      m_units(context, m_tensors, recent, next)
{
    m_tensors.values.resize(context.placement.tensors.size());
    for (TensorId id = 0; id < context.placement.tensors.size(); ++id)
    {
        const PlacedTensor& tensor = context.placement.tensors[id];
        m_tensors.values[id].layout = tensor.home;
        if (tensor.tensor.role == TensorRole::ACTIVATION && tensor.readers.empty())
        {
            m_losses.insert(id);
        }
    }
    for (OperatorId id = 0; id < context.placement.operators.size(); ++id)
    {
        if (!context.placement.operators[id].recompute.empty())
        {
            m_blocks[context.placement.operators[id].recompute].push_back(id);
        }
    }
    FindDepths();
    FindStops();
}

/// Longest way from a loss to each backward operator.
void
PassEmitter::FindDepths()
{
    m_depths.assign(m_context.placement.operators.size(), 0);
    for (OperatorId id = static_cast<OperatorId>(m_depths.size()); id-- > 0;)
    {
        for (const Access& write : m_context.placement.operators[id].op.writes)
        {
            for (const OperatorId reader : m_context.placement.tensors[write.tensor].readers)
            {
                m_depths[id] = std::max(m_depths[id], m_depths[reader] + 1);
            }
        }
    }
}

void
PassEmitter::Emit()
{
    m_kernels.AddPersistentMemory(m_losses);
    const std::vector<TensorId> gathered = m_context.tree.optimizer.HasParameterPhase()
                                               ? EmitReplicaGathers(m_context, m_tensors, m_next)
                                               : std::vector<TensorId>();
    Pass forward;
    for (OperatorId id = 0; id < m_context.placement.operators.size(); ++id)
    {
        EmitForward(id, forward);
    }
    for (const TensorId parameter : gathered)
    {
        m_tensors.values[parameter].rows.pop_back(); // is there by the backward pass
    }
    m_rooted.EmitDeferred();
    m_recent.Clear();
    EmitLossGradients();
    Pass backward;
    backward.isBackward = true;
    for (auto id = static_cast<OperatorId>(m_context.placement.operators.size()); id-- > 0;)
    {
        EmitBackward(id, backward);
        for (const Access& write : m_context.placement.operators[id].op.writes)
        {
            // Nobody reads these any more.
            m_tensors.gradients.erase(write.tensor);
            m_tensors.recomputed.erase(write.tensor);
            backward.converted.erase({write.tensor, true});
            backward.converted.erase({write.tensor, false});
            m_tensors.values[write.tensor].rows.clear();
        }
    }
}

/// Where the backward pass starts: the gradient of a loss is a constant.
void
PassEmitter::EmitLossGradients()
{
    for (const TensorId loss : m_losses)
    {
        const PlacedTensor& tensor = m_context.placement.tensors[loss];
        if (tensor.needsGradient)
        {
            m_tensors.gradients[loss] = {
                tensor.home,
                {m_context.EmitMemory(tensor.home,
                                      tensor.tensor.shape,
                                      m_context.GetElementBytes(tensor.tensor.element),
                                      m_context.GetBackward(tensor.stage),
                                      tensor.tensor.name + ".gradient",
                                      m_tensors.values[loss].rows[0])}};
        }
    }
}

/// @return which experts tokens may get that an operator exchanges: what the last dispatch up to it
/// says
ExpertRouting
PassEmitter::FindRouting(OperatorId id) const
{
    const std::vector<PlacedOperator>& operators = m_context.placement.operators;
    for (OperatorId i = operators[id].op.isExchange ? id + 1 : 0; i-- > 0;)
    {
        if (operators[i].op.routing.experts > 0)
        {
            return operators[i].op.routing;
        }
    }
    return {};
}

/// @return a tensor, or its gradient, in the layout that an operator needs it in
Value
PassEmitter::ReadFor(TensorId tensor,
                     bool isGradient,
                     const Layout& layout,
                     OperatorId id,
                     Pass& pass)
{
    const PlacedTensor& placed = m_context.placement.tensors[tensor];
    const PlacedOperator& reader = m_context.placement.operators[id];
    if (m_rooted.IsDeferred(tensor, isGradient))
    {
        m_rooted.EmitDeferred();
    }
    const Value& value = isGradient ? m_tensors.gradients.at(tensor) : m_tensors.Fetch(tensor);
    if (value.layout == layout)
    {
        return value;
    }
    const bool isOfUnit = !isGradient && placed.tensor.role == TensorRole::PARAMETER &&
                          m_context.tree.optimizer.zero >= 3 &&
                          m_context.tree.optimizer.gathersUnits;
    if (const Value* gathered =
            isOfUnit ? m_units.Find(id, tensor, layout, pass.isBackward) : nullptr)
    {
        return *gathered;
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
    cargo.elementBytes = m_context.GetElementBytes(placed.tensor.element);
    const OperatorPhases& phases = m_context.phases.of[id];
    cargo.receivePhase = pass.isBackward ? phases.backward : phases.forward;
    cargo.sendPhase = !pass.isBackward && placed.stage != reader.stage
                          ? m_context.GetForward(placed.stage)
                          : cargo.receivePhase;
    if (placed.tensor.producer != NO_ID && !reader.isTransfer && (isGradient || !pass.isBackward))
    {
        const OperatorPhases& made = m_context.phases.of[placed.tensor.producer];
        cargo.exchange = isGradient ? made.gradientExchange : made.exchange;
    }
    cargo.isTransfer = reader.isTransfer;
    cargo.isExchange = reader.op.isExchange;
    cargo.routing = FindRouting(id);
    cargo.isParameter = placed.tensor.role == TensorRole::PARAMETER;
    cargo.isRead = true;
    const Value converted = m_converter.Convert(value, layout, cargo);
    known.push_back(converted.Whole()); // to later readers
    return converted;
}

/// @return in how many pieces the result of an operator is reduced and scattered
uint32_t
PassEmitter::CountWrittenPieces(const PlacedOperator& placed) const
{
    if (!placed.op.forward.isMatrixProduct || placed.op.writes.size() != 1)
    {
        return 1;
    }
    const Access& write = placed.op.writes[0];
    const PlacedTensor& tensor = m_context.placement.tensors[write.tensor];
    const std::vector<BoxingStep> steps =
        PlanBoxing(GetForwardWriteLayout(placed, write), tensor.home, tensor.tensor.shape);
    return steps.size() == 1 && steps[0].collective == Collective::REDUCE_SCATTER
               ? m_converter.CountPieces(steps[0], tensor.tensor.shape)
               : 1;
}

/// @return a result of an operator in the forward pass, as its kernel makes it
Value
PassEmitter::MakeResult(const PlacedOperator& placed,
                        const Access& write,
                        PhaseId phase,
                        const Pass& pass,
                        const Row& kernel)
{
    const PlacedTensor& tensor = m_context.placement.tensors[write.tensor];
    Value made;
    made.layout = GetForwardWriteLayout(placed, write);
    if (m_losses.count(write.tensor))
    {
        made.rows = {kernel}; // kept in persistent memory
        return made;
    }
    made.rows = {m_context.EmitMemory(made.layout,
                                      tensor.tensor.shape,
                                      m_context.GetElementBytes(tensor.tensor.element),
                                      phase,
                                      tensor.tensor.name + pass.suffix,
                                      kernel)};
    return made;
}

void
PassEmitter::EmitForward(OperatorId id, Pass& pass)
{
    const PlacedOperator& placed = m_context.placement.operators[id];
    const ModelOperator& op = placed.op;
    const OperatorPhases& phases = m_context.phases.of[id];
    const PhaseId phase = pass.isBackward ? phases.backward : phases.forward;
    std::vector<Value> reads;
    for (const Access& read : op.reads)
    {
        reads.push_back(ReadFor(read.tensor, false, GetForwardReadLayout(placed, read), id, pass));
    }
    Row kernel;
    KernelPieces written{op.isView ? 1 : CountWrittenPieces(placed), {}};
    if (!op.isView)
    {
        std::copy_if(pass.held.begin(),
                     pass.held.end(),
                     std::back_inserter(reads),
                     [&placed](const Value& value) { return value.layout.mesh == placed.mesh; });
        pass.held.clear();
        kernel = m_kernels.EmitKernel(id,
                                      op.forward,
                                      phase,
                                      op.name + pass.suffix,
                                      reads,
                                      written.pieces > 1 ? &written : nullptr);
        NoteReaders(placed, kernel, pass);
        if (m_context.options.gathersBehindDispatch && op.kind == "dispatch" && !pass.isBackward)
        {
            m_units.Wait();
        }
    }
    for (const Access& write : op.writes)
    {
        const PlacedTensor& tensor = m_context.placement.tensors[write.tensor];
        if (tensor.tensor.role == TensorRole::SAVED && !pass.isRecomputation && RunsAgain(id))
        {
            continue; // only what runs again is used
        }
        Value made = op.isView ? Value{GetForwardWriteLayout(placed, write), reads[0].rows, {}, 1}
                               : MakeResult(placed, write, phase, pass, kernel);
        if (written.pieces > 1)
        {
            made.pieces = written.pieces;
            made.early = {written.first};
        }
        Cargo cargo;
        cargo.name = tensor.tensor.name + pass.suffix;
        cargo.shape = tensor.tensor.shape;
        cargo.elementBytes = m_context.GetElementBytes(tensor.tensor.element);
        cargo.sendPhase = cargo.receivePhase = phase;
        cargo.exchange = pass.isBackward ? std::nullopt : phases.exchange;
        cargo.isExchange = op.isExchange;
        cargo.routing = FindRouting(id);
        if (pass.isRecomputation)
        {
            m_tensors.recomputed[write.tensor] = m_converter.Convert(made, tensor.home, cargo);
        }
        else if (!m_rooted.Defer(write.tensor, false, made, cargo))
        {
            m_tensors.values[write.tensor] = m_converter.Convert(made, tensor.home, cargo);
        }
    }
}

void
PassEmitter::EmitBackward(OperatorId id, Pass& pass)
{
    const PlacedOperator& placed = m_context.placement.operators[id];
    const ModelOperator& op = placed.op;
    const bool isAsked = std::any_of(op.writes.begin(), op.writes.end(), [&](const Access& write) {
        return HasGradient(write);
    });
    if (op.backward.empty() || !isAsked)
    {
        return;
    }
    RecomputeFor(id);
    if (m_context.tree.isSplitBackward)
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
PassEmitter::RecomputeFor(OperatorId id)
{
    const PlacedOperator& placed = m_context.placement.operators[id];
    bool isNeeded = RunsAgain(id);
    for (const OperatorPart& part : placed.op.backward)
    {
        for (const DataReference& reference : part.reads)
        {
            const ModelTensor& tensor =
                m_context.placement.tensors[FindAccess(placed.op, reference).tensor].tensor;
            isNeeded =
                isNeeded ||
                (reference.kind != DataReference::Kind::GRADIENT && tensor.producer != NO_ID &&
                 tensor.role != TensorRole::PARAMETER && tensor.role != TensorRole::INPUT &&
                 m_context.placement.operators[tensor.producer].recompute == placed.recompute &&
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
PassEmitter::MergeBackward(const ModelOperator& op)
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

/// Brings what the forward pass left to where the gradients of weights need it. This comes before
/// the gradient of the input, whose product hides it, and whose own communication it would
/// otherwise have to wait for (as Megatron-LM orders them under sequence parallelism).
void
PassEmitter::GatherSaved(OperatorId id, Pass& pass)
{
    const PlacedOperator& placed = m_context.placement.operators[id];
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
                m_context.placement.tensors[access.tensor].tensor.role != TensorRole::PARAMETER)
            {
                ReadFor(access.tensor, false, GetAccessLayout(placed, access), id, pass);
            }
        }
    }
}

/// @return in how many pieces gradients of keys and values are reduced and scattered beside
/// attention; those of products have the gradients of weights beside them
uint32_t
PassEmitter::CountGradientPieces(const PlacedOperator& placed, const OperatorPart& part) const
{
    uint32_t pieces = 1;
    for (const GradientWrite& write : part.writes)
    {
        const Access& target = placed.op.reads[write.read];
        if (placed.op.kind != "attention" || !target.isDifferentiable)
        {
            continue;
        }
        const PlacedTensor& tensor = m_context.placement.tensors[target.tensor];
        const std::vector<BoxingStep> steps =
            PlanBoxing(FindGradientLayout(placed, write), tensor.gradient, tensor.tensor.shape);
        if (steps.size() == 1 && steps[0].collective == Collective::REDUCE_SCATTER)
        {
            pieces = std::max(pieces, m_converter.CountPieces(steps[0], tensor.tensor.shape));
        }
    }
    return pieces;
}

/// @return how a gradient lies that an operator makes
Layout
PassEmitter::FindGradientLayout(const PlacedOperator& placed, const GradientWrite& write)
{
    std::vector<const Access*> summands;
    for (const DataReference& reference : write.summands)
    {
        summands.push_back(&FindAccess(placed.op, reference));
    }
    return GetResultLayout(placed, placed.op.reads[write.read], summands);
}

/// @return the gradient that a part of an operator makes
Value
PassEmitter::MakeGradient(const PlacedOperator& placed,
                          const OperatorPart& part,
                          const GradientWrite& write,
                          PhaseId phase,
                          const std::vector<Value>& reads,
                          const Row& kernel)
{
    const Access& target = placed.op.reads[write.read];
    const PlacedTensor& tensor = m_context.placement.tensors[target.tensor];
    Value made;
    made.layout = FindGradientLayout(placed, write);
    const bool isParameter = tensor.tensor.role == TensorRole::PARAMETER;
    if (part.isView)
    {
        made.rows = reads[0].rows;
    }
    else if (isParameter && m_context.isInPlace && !m_context.IsScattered(placed, write))
    {
        made.rows = {kernel};
    }
    else
    {
        made.rows = {m_context.EmitMemory(made.layout,
                                          tensor.tensor.shape,
                                          isParameter
                                              ? m_context.GetGradientBytes()
                                              : m_context.GetElementBytes(tensor.tensor.element),
                                          phase,
                                          tensor.tensor.name + ".gradient",
                                          kernel)};
    }
    return made;
}

/// Whether a kernel adds a gradient to the one that there is, and no communication is between.
bool
PassEmitter::IsSum(const PlacedOperator& placed,
                   const OperatorPart& part,
                   const GradientWrite& write) const
{
    const Access& target = placed.op.reads[write.read];
    const PlacedTensor& tensor = m_context.placement.tensors[target.tensor];
    const auto nWrites =
        std::count_if(part.writes.begin(), part.writes.end(), [&](const GradientWrite& other) {
            return placed.op.reads[other.read].tensor == target.tensor;
        });
    return target.isDifferentiable && tensor.tensor.role != TensorRole::PARAMETER && nWrites == 1 &&
           m_tensors.gradients.count(target.tensor) > 0 &&
           PlanBoxing(FindGradientLayout(placed, write), tensor.gradient, tensor.tensor.shape)
               .empty();
}

void
PassEmitter::EmitBackwardPart(OperatorId id, const OperatorPart& part, Pass& pass)
{
    const PlacedOperator& placed = m_context.placement.operators[id];
    const ModelOperator& op = placed.op;
    if (!IsNeeded(op, part))
    {
        return;
    }
    const OperatorPhases& phases = m_context.phases.of[id];
    const PhaseId phase = part.isWeightGradient ? phases.weight : phases.backward;
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
    KernelPieces written{part.isView ? 1 : CountGradientPieces(placed, part), {}};
    std::set<TensorId> sums; // what the kernel adds to: of these, its result alone goes on
    for (const GradientWrite& write : part.writes)
    {
        const TensorId target = op.reads[write.read].tensor;
        if (!part.isView && written.pieces == 1 && IsSum(placed, part, write))
        {
            reads.push_back(m_tensors.gradients.at(target).Whole());
            sums.insert(target);
        }
    }
    if (!part.isView)
    {
        kernel = m_kernels.EmitKernel(id,
                                      part,
                                      phase,
                                      op.name + "." + part.name,
                                      reads,
                                      written.pieces > 1 ? &written : nullptr);
    }
    for (const GradientWrite& write : part.writes)
    {
        const Access& target = op.reads[write.read];
        if (!target.isDifferentiable)
        {
            continue;
        }
        Value made = MakeGradient(placed, part, write, phase, reads, kernel);
        if (written.pieces > 1)
        {
            made.pieces = written.pieces;
            made.early = {written.first};
        }
        if (sums.count(target.tensor) > 0)
        {
            m_tensors.gradients.erase(target.tensor);
        }
        AddGradient(id, write, made, pass);
    }
}

/// Adds a gradient to what there is of it.
void
PassEmitter::AddGradient(OperatorId id, const GradientWrite& write, const Value& made, Pass& pass)
{
    const PlacedOperator& placed = m_context.placement.operators[id];
    const TensorId id2 = placed.op.reads[write.read].tensor;
    const PlacedTensor& tensor = m_context.placement.tensors[id2];
    if (tensor.tensor.role == TensorRole::PARAMETER)
    {
        m_leaves.Add({id2, placed.stage, made, {}, m_depths[id], id, write.read});
        return;
    }
    Cargo cargo;
    cargo.name = tensor.tensor.name + ".gradient" + pass.suffix;
    cargo.shape = tensor.tensor.shape;
    cargo.elementBytes = m_context.GetElementBytes(tensor.tensor.element);
    cargo.sendPhase = m_context.phases.of[id].backward;
    cargo.receivePhase =
        tensor.stage == placed.stage ? cargo.sendPhase : m_context.GetBackward(tensor.stage);
    cargo.exchange = tensor.tensor.producer == NO_ID || placed.isTransfer
                         ? std::nullopt
                         : m_context.phases.of[tensor.tensor.producer].gradientExchange;
    cargo.isTransfer = placed.isTransfer;
    cargo.isExchange = placed.op.isExchange;
    cargo.routing = FindRouting(id);
    pass.converted.erase({id2, true});
    if (!m_rooted.Defer(id2, true, made, cargo))
    {
        m_tensors.Keep(id2, true, m_converter.Convert(made, tensor.gradient, cargo));
    }
}

bool
PassEmitter::HasGradient(const Access& write) const
{
    return m_tensors.gradients.count(write.tensor) > 0 || m_rooted.IsDeferred(write.tensor, true);
}

/// Remembers who begins the next iteration, and which parameters it needs.
void
PassEmitter::NoteReaders(const PlacedOperator& placed, const Row& kernel, const Pass& pass)
{
    if (pass.isBackward)
    {
        return;
    }
    const std::vector<DeviceId>& devices = placed.mesh->GetDevices();
    for (uint32_t position = 0; position < devices.size(); ++position)
    {
        if (kernel[position] == NO_ID)
        {
            continue; // another device stands for it
        }
        m_next.firstKernels.emplace(devices[position], kernel[position]);
        for (const Access& read : placed.op.reads)
        {
            if (m_context.tree.optimizer.isImmediate &&
                m_context.placement.tensors[read.tensor].tensor.role == TensorRole::PARAMETER)
            {
                m_next.readers[{read.tensor, devices[position]}].push_back(kernel[position]);
            }
        }
    }
}

} // namespace proteus
} // namespace ns3
