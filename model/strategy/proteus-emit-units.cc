/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-emit-units.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>
#include <utility>

namespace ns3
{
namespace proteus
{

std::string
FindBlock(const std::string& path)
{
    const std::size_t dot = path.find('.');
    const bool isNumbered = dot != std::string::npos && dot > 0 &&
                            std::isdigit(static_cast<unsigned char>(path[dot - 1]));
    return isNumbered ? path.substr(0, dot) : "";
}

bool
HasExpertBiases(const std::string& name)
{
    constexpr std::string_view SUFFIX = ".biases";
    return name.size() > SUFFIX.size() &&
           name.compare(name.size() - SUFFIX.size(), SUFFIX.size(), SUFFIX) == 0;
}

bool
IsMuonMatrix(const std::string& name, const std::vector<uint64_t>& shape)
{
    return shape.size() >= 2 && !HasExpertBiases(name) && !FindBlock(name).empty();
}

ModelUnits
FindUnits(const Placement& placement)
{
    ModelUnits units;
    std::pair<std::string, uint32_t> last;
    for (OperatorId id = 0; id < placement.operators.size(); ++id)
    {
        const PlacedOperator& placed = placement.operators[id];
        const std::pair<std::string, uint32_t> key{FindBlock(placed.op.name), placed.stage};
        if (units.operators.empty() || key != last)
        {
            units.operators.emplace_back();
            units.names.push_back(key.first.empty() ? placed.op.name : key.first);
            last = key;
        }
        units.ofOperator.push_back(static_cast<uint32_t>(units.operators.size() - 1));
        units.operators.back().push_back(id);
    }
    return units;
}

void
OrderUnits(EmitContext& context)
{
    const ScheduleSpec& schedule = context.tree.schedule;
    const bool addsUp = schedule.microBatches > 1 && context.phases.scatter.empty();
    if (addsUp || !context.phases.weight.empty() || schedule.delaysWeights)
    {
        return; // gradients come behind the whole pass, or behind kernels of other units
    }
    // By group: what it does, by place. A unit's parameters are asked for before the unit after it
    // is computed, its gradients behind its own kernels.
    std::map<GroupId, std::map<std::pair<int64_t, TaskId>, TaskId>> byGroup;
    for (const UnitCommunication& one : context.unitCommunications)
    {
        const int64_t computed = -2 * static_cast<int64_t>(one.unit);
        byGroup[one.group][{one.isGather ? computed - 2 : computed + 1, one.task}] = one.task;
    }
    for (const auto& [group, ordered] : byGroup)
    {
        TaskId before = NO_ID;
        for (const auto& [place, task] : ordered)
        {
            if (before != NO_ID)
            {
                context.builder.AddDependency(before, task);
            }
            before = task;
        }
    }
}

UnitGatherer::UnitGatherer(EmitContext& context,
                           const EmitTensors& tensors,
                           const RecentKernels& recent,
                           EmitNextIteration& next)
    : m_context(context),
      m_tensors(tensors),
      m_recent(recent),
      m_next(next)
{
    FindGatheredBytes();
}

double
UnitGatherer::FindWeightBytes(const ModelTensor& tensor) const
{
    if (m_context.tree.precision.hasFrozenInFourBits && !tensor.needsGradient)
    {
        return FOUR_BIT_BYTES;
    }
    const bool isFloat8 =
        m_context.options.gathersFloat8 && m_context.tree.precision.compute == DataType::FP8;
    return isFloat8 ? 1 : static_cast<double>(m_context.GetElementBytes(tensor.element));
}

void
UnitGatherer::FindGatheredBytes()
{
    const auto& operators = m_context.placement.operators;
    const auto& tensors = m_context.placement.tensors;
    const bool hasBlocks =
        std::any_of(operators.begin(), operators.end(), [](const PlacedOperator& placed) {
            return !FindBlock(placed.op.name).empty();
        });
    std::vector<bool> isWeight(tensors.size(), false);
    std::vector<bool> isWide(tensors.size(), false); // another operator reads it in 16 bits
    for (const PlacedOperator& placed : operators)
    {
        const bool isProduct = (placed.op.kind == "linear" || placed.op.kind == "expert-linear") &&
                               (!hasBlocks || !FindBlock(placed.op.name).empty());
        for (const Access& read : placed.op.reads)
        {
            const ModelTensor& tensor = tensors[read.tensor].tensor;
            isWeight[read.tensor] =
                isProduct && tensor.shape.size() > 1 && !HasExpertBiases(tensor.name);
            isWide[read.tensor] = isWide[read.tensor] || !isWeight[read.tensor];
        }
    }
    m_bytes.resize(tensors.size());
    for (TensorId id = 0; id < tensors.size(); ++id)
    {
        const ModelTensor& tensor = tensors[id].tensor;
        m_bytes[id] = isWeight[id] && !isWide[id]
                          ? FindWeightBytes(tensor)
                          : static_cast<double>(m_context.GetElementBytes(tensor.element));
    }
}

const Value*
UnitGatherer::Find(OperatorId id, TensorId tensor, const Layout& layout, bool isBackward)
{
    const uint32_t number = m_context.units.ofOperator[id];
    Unit& unit = m_units[{number, isBackward}];
    if (!unit.isGathered)
    {
        unit.isGathered = true;
        Gather(number, isBackward, unit);
    }
    for (const Part& part : unit.parts)
    {
        if (part.tensor == tensor && part.value.layout == layout)
        {
            return &part.value;
        }
    }
    return nullptr;
}

void
UnitGatherer::AddPart(TensorId tensor, const Layout& layout, std::vector<Part>& parts) const
{
    const PlacedTensor& placed = m_context.placement.tensors[tensor];
    const bool isKnown = std::any_of(parts.begin(), parts.end(), [&](const Part& part) {
        return part.tensor == tensor && part.value.layout == layout;
    });
    if (placed.tensor.role != TensorRole::PARAMETER || isKnown)
    {
        return;
    }
    BoxingOptions options;
    options.isRooted = false;
    const std::vector<BoxingStep> steps =
        PlanBoxing(m_tensors.Fetch(tensor).layout, layout, placed.tensor.shape, options);
    if (steps.size() == 1 && steps[0].collective == Collective::ALL_GATHER)
    {
        Part part;
        part.tensor = tensor;
        part.value.layout = layout;
        part.step = steps[0];
        part.groups = GetBoxingGroups(steps[0], placed.tensor.shape);
        parts.push_back(part);
    }
}

std::vector<UnitGatherer::Part>
UnitGatherer::FindParts(uint32_t unit, bool isBackward) const
{
    std::vector<Part> parts;
    for (const OperatorId id : m_context.units.operators[unit])
    {
        const PlacedOperator& placed = m_context.placement.operators[id];
        for (const Access& read : placed.op.reads)
        {
            if (!isBackward || (!placed.recompute.empty() && !placed.keeps))
            {
                AddPart(read.tensor, GetForwardReadLayout(placed, read), parts);
            }
        }
        for (const OperatorPart& part : placed.op.backward)
        {
            if (!isBackward || !IsNeeded(placed.op, part))
            {
                continue;
            }
            for (const DataReference& reference : part.reads)
            {
                if (reference.kind != DataReference::Kind::GRADIENT)
                {
                    const Access& access = FindAccess(placed.op, reference);
                    AddPart(access.tensor, GetAccessLayout(placed, access), parts);
                }
            }
        }
    }
    return parts;
}

void
UnitGatherer::AddToBuckets(const Part& part, std::vector<Bucket>& buckets) const
{
    const DeviceMesh& from = *part.step.from.mesh;
    for (const BoxingGroup& group : part.groups)
    {
        auto bucket = std::find_if(buckets.begin(), buckets.end(), [&](const Bucket& other) {
            return other.devices == group.devices;
        });
        if (bucket == buckets.end())
        {
            bucket = buckets.insert(buckets.end(), Bucket());
            bucket->devices = group.devices;
        }
        bucket->bytes += static_cast<uint64_t>(
            std::llround(m_bytes[part.tensor] * static_cast<double>(group.elements)));
        for (const DeviceId device : group.devices)
        {
            const uint32_t position = from.FindPosition(device);
            std::vector<TaskId> ready = GetReady(m_tensors.Fetch(part.tensor), position);
            const uint32_t begin = m_begin.first ? m_begin.first->FindPosition(device) : NO_ID;
            if (begin != NO_ID && m_begin.second[begin] != NO_ID)
            {
                ready.push_back(m_begin.second[begin]);
            }
            for (const TaskId task : ready)
            {
                if (std::find(bucket->ready.begin(), bucket->ready.end(), task) ==
                    bucket->ready.end())
                {
                    bucket->ready.push_back(task);
                }
            }
        }
    }
}

void
UnitGatherer::Gather(uint32_t unit, bool isBackward, Unit& gathered)
{
    gathered.parts = FindParts(unit, isBackward);
    std::vector<Bucket> buckets;
    for (const Part& part : gathered.parts)
    {
        AddToBuckets(part, buckets);
    }
    const uint32_t stage =
        m_context.placement.operators[m_context.units.operators[unit].front()].stage;
    const PhaseId phase = isBackward ? m_context.GetBackward(stage) : m_context.GetForward(stage);
    for (Bucket& bucket : buckets)
    {
        bucket.task = m_context.builder.AddCommunication(phase,
                                                         m_context.builder.AddGroup(bucket.devices),
                                                         m_context.streams.parameter,
                                                         m_context.units.names[unit] +
                                                             ".parameters.all-gather",
                                                         Collective::ALL_GATHER,
                                                         bucket.bytes,
                                                         Parallelism::DATA,
                                                         bucket.ready);
        if (isBackward)
        {
            m_context.unitCommunications.push_back(
                {unit, true, m_context.builder.AddGroup(bucket.devices), bucket.task});
        }
        for (const DeviceId device : bucket.devices)
        {
            m_next.firstGathers.emplace(device, bucket.task);
        }
    }
    for (Part& part : gathered.parts)
    {
        const DeviceMesh& to = *part.step.to.mesh;
        const PlacedTensor& tensor = m_context.placement.tensors[part.tensor];
        Row done(to.GetDevices().size(), NO_ID);
        for (const BoxingGroup& group : part.groups)
        {
            const auto bucket = std::find_if(buckets.begin(), buckets.end(), [&](const Bucket& b) {
                return b.devices == group.devices;
            });
            for (const DeviceId device : group.devices)
            {
                done[to.FindPosition(device)] = bucket->task;
            }
        }
        part.value.rows = {m_context.EmitMemory(part.step.to,
                                                tensor.tensor.shape,
                                                m_bytes[part.tensor],
                                                phase,
                                                tensor.tensor.name + ".all-gather",
                                                done)};
    }
    const auto last = m_recent.GetLast();
    m_begin = last.first ? last : m_begin; // the first of a pass begins with the one before it
}

} // namespace proteus
} // namespace ns3
