/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-emit-context.h"

#include "proteus-emit-units.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Kernels that a parameter's gathering may run ahead of its use.
constexpr std::size_t PREFETCH_KERNELS = 2;

/// @param placed a model @param microBatches of an iteration @return by parameter with sparse
/// gradients: which part of its elements has one
std::map<TensorId, double>
FindGradientShares(const Placement& placed, uint32_t microBatches)
{
    std::map<TensorId, double> shares;
    for (const PlacedOperator& reader : placed.operators)
    {
        for (const OperatorPart& part : reader.op.backward)
        {
            for (const GradientWrite& write : part.writes)
            {
                const TensorId id = reader.op.reads[write.read].tensor;
                // Who makes a gradient of all elements makes that of the parameter whole.
                double made = 1;
                if (!write.listed.empty())
                {
                    made = microBatches;
                    for (const IterationAxis axis : write.listed)
                    {
                        made *= static_cast<double>(reader.op.dimensions[axis].extent);
                    }
                    for (const uint64_t extent : placed.tensors[id].tensor.shape)
                    {
                        made /= static_cast<double>(extent);
                    }
                }
                double& share = shares[id];
                share = std::min(1.0, share + made);
            }
        }
    }
    for (auto share = shares.begin(); share != shares.end();)
    {
        share = share->second < 1 ? std::next(share) : shares.erase(share);
    }
    return shares;
}

} // namespace

EmitContext::EmitContext(const Model& trained,
                         const Placement& placed,
                         const StrategyTree& strategy,
                         const CompileOptions& compilation)
    : model(trained),
      placement(placed),
      tree(strategy),
      options(compilation),
      builder(placed.nDevices),
      isInPlace(strategy.gradients.isInPlace || strategy.schedule.microBatches > 1),
      gradientShares(FindGradientShares(placed, strategy.schedule.microBatches)),
      units(FindUnits(placed))
{
}

uint64_t
EmitContext::GetElementBytes(ElementKind element) const
{
    switch (element)
    {
    case ElementKind::COMPUTE:
        return GetStoredBytes(tree.precision.compute);
    case ElementKind::MASK:
        return 1;
    case ElementKind::FP32:
    case ElementKind::INDEX:
        return 4;
    }
    return 4;
}

uint64_t
EmitContext::GetGradientBytes() const
{
    return GetStoredBytes(tree.precision.gradient);
}

double
EmitContext::GetStateBytes(const ModelTensor& parameter) const
{
    return GetOptimizerStateBytes(tree.optimizer.kind,
                                  tree.precision,
                                  parameter.shape,
                                  IsMuonMatrix(parameter.name, parameter.shape));
}

uint64_t
EmitContext::TimeKernel(const KernelDescription& kernel, Task& task) const
{
    if (options.kernelTime)
    {
        task.durationPs = options.kernelTime(kernel);
    }
    if (!options.kernelUse || task.durationPs < 0)
    {
        return 0;
    }
    const KernelUse use = options.kernelUse(kernel);
    task.threadBlocks = use.threadBlocks;
    if (task.durationPs > use.gpuPs)
    {
        const double waits = static_cast<double>(task.durationPs - use.gpuPs);
        task.hostPercent = static_cast<uint8_t>(100 * waits / static_cast<double>(task.durationPs));
    }
    return use.heldBytes;
}

double
EmitContext::GetGradientShare(TensorId parameter) const
{
    const auto found = gradientShares.find(parameter);
    return found == gradientShares.end() ? 1 : found->second;
}

/// Whether a gradient that would add up in place is scattered instead as soon as it is made, in
/// every micro-batch: the buffer in which it adds up has this device's share only (ZeRO 2 and 3).
bool
EmitContext::IsScattered(const PlacedOperator& placed, const GradientWrite& write) const
{
    const Access& target = placed.op.reads[write.read];
    const PlacedTensor& tensor = placement.tensors[target.tensor];
    if (!isInPlace || !target.isDifferentiable || tensor.tensor.role != TensorRole::PARAMETER)
    {
        return false;
    }
    std::vector<const Access*> summands;
    for (const DataReference& reference : write.summands)
    {
        summands.push_back(&FindAccess(placed.op, reference));
    }
    const std::vector<BoxingStep> steps =
        PlanBoxing(GetResultLayout(placed, target, summands), tensor.gradient, tensor.tensor.shape);
    return !steps.empty() && steps[0].collective == Collective::REDUCE_SCATTER;
}

Row
EmitContext::EmitMemory(const Layout& layout,
                        const Shape& shape,
                        double elementBytes,
                        PhaseId phase,
                        const std::string& name,
                        const Row& producers)
{
    const std::vector<DeviceId>& devices = layout.mesh->GetDevices();
    Row row(devices.size());
    for (uint32_t position = 0; position < devices.size(); ++position)
    {
        row[position] =
            IsEmitted(devices[position])
                ? builder.AddMemory(
                      phase,
                      devices[position],
                      name,
                      static_cast<uint64_t>(std::llround(
                          elementBytes * static_cast<double>(layout.CountLocal(shape, position)))),
                      {producers[position]})
                : NO_ID;
    }
    return row;
}

/// @return what has to be done before a device can use a value
std::vector<TaskId>
GetReady(const Value& value, uint32_t position)
{
    std::vector<TaskId> ready;
    for (const Row& row : value.rows)
    {
        if (row[position] != NO_ID)
        {
            ready.push_back(row[position]);
        }
    }
    return ready;
}

const Access&
FindAccess(const ModelOperator& op, const DataReference& reference)
{
    return reference.kind == DataReference::Kind::READ ? op.reads[reference.index]
                                                       : op.writes[reference.index];
}

bool
IsNeeded(const ModelOperator& op, const OperatorPart& part)
{
    return std::any_of(part.writes.begin(), part.writes.end(), [&](const GradientWrite& write) {
        return op.reads[write.read].isDifferentiable;
    });
}

const Value&
EmitTensors::Fetch(TensorId tensor) const
{
    const auto again = recomputed.find(tensor);
    return again == recomputed.end() ? values[tensor] : again->second;
}

void
EmitTensors::Keep(TensorId tensor, bool isGradient, Value value)
{
    if (!isGradient)
    {
        values[tensor] = std::move(value);
        return;
    }
    const auto found = gradients.find(tensor);
    if (found == gradients.end())
    {
        gradients[tensor] = std::move(value);
        return;
    }
    std::vector<Row>& rows = found->second.rows;
    rows.insert(rows.end(), value.rows.begin(), value.rows.end());
}

void
RecentKernels::Add(const MeshPtr& mesh, const Row& row)
{
    m_recent.emplace_back(mesh, row);
    if (m_recent.size() > PREFETCH_KERNELS)
    {
        m_recent.pop_front();
    }
}

TaskId
RecentKernels::FindTrigger(const MeshPtr& mesh, uint32_t position) const
{
    return m_recent.size() == PREFETCH_KERNELS && m_recent.front().first == mesh
               ? m_recent.front().second[position]
               : NO_ID;
}

} // namespace proteus
} // namespace ns3
