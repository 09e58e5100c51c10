/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-graph-emitter.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ns3
{
namespace proteus
{

/// @return what has to be done before a device can use a value
std::vector<TaskId>
GraphEmitter::GetReady(const Value& value, uint32_t position)
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

/// What a communication between layouts serves, from the names of the mesh axes.
Parallelism
GraphEmitter::FindParallelism(const BoxingStep& step) const
{
    const DeviceMesh& mesh =
        *(step.collective == Collective::SCATTER ? step.to.mesh : step.from.mesh);
    for (const MeshAxis axis : step.axes)
    {
        const std::string& name = mesh.GetNames()[axis];
        if (name == "ep")
        {
            return Parallelism::EXPERT;
        }
        if (name == "cp")
        {
            return Parallelism::CONTEXT;
        }
        if (name == "dp" || name == "edp")
        {
            return Parallelism::DATA;
        }
        if (name == "tp" && step.collective != Collective::ALL_REDUCE)
        {
            return Parallelism::SEQUENCE;
        }
    }
    return Parallelism::TENSOR;
}

/// Brings a value from the layout that it has to another.
GraphEmitter::Value
GraphEmitter::Convert(const Value& value, const Layout& target, const Cargo& cargo)
{
    BoxingOptions options;
    options.allToAllOfTwo = cargo.isExchange;
    options.isRooted = !cargo.isRead;
    Value now = value;
    for (const BoxingStep& step : PlanBoxing(value.layout, target, cargo.shape, options))
    {
        now = step.collective == Collective::SEND_RECV ? EmitTransfers(now, step, cargo)
                                                       : EmitCollective(now, step, cargo);
    }
    now.layout = target; // a slice of what a device has is free
    return now;
}

/// Puts a scatter or a gather off until somebody reads its result.
/// @return whether this is one
bool
GraphEmitter::Defer(TensorId tensor, bool isGradient, const Value& made, const Cargo& cargo)
{
    const PlacedTensor& placed = m_placement.tensors[tensor];
    const Layout& target = isGradient ? placed.gradient : placed.home;
    const std::vector<BoxingStep> steps = PlanBoxing(made.layout, target, cargo.shape);
    if (steps.size() != 1 ||
        (steps[0].collective != Collective::SCATTER && steps[0].collective != Collective::GATHER))
    {
        return false;
    }
    if (!m_deferred.empty() && (m_deferred[0].step.collective != steps[0].collective ||
                                m_deferred[0].cargo.sendPhase != cargo.sendPhase))
    {
        EmitDeferred();
    }
    m_deferred.push_back({tensor, isGradient, made, steps[0], cargo});
    return true;
}

void
GraphEmitter::EmitDeferred()
{
    if (!EmitAllToAll())
    {
        for (const Rooted& rooted : m_deferred)
        {
            Keep(rooted.tensor,
                 rooted.isGradient,
                 EmitCollective(rooted.value, rooted.step, rooted.cargo));
        }
    }
    m_deferred.clear();
}

/// One all-to-all for scatters (or gathers) in one group whose roots are all its members, as
/// embedding tables spread over devices have them.
/// @return whether these are such
bool
GraphEmitter::EmitAllToAll()
{
    std::map<uint32_t, uint64_t> bytesOf; // by root
    std::vector<DeviceId> devices;
    std::vector<TaskId> ready;
    for (const Rooted& rooted : m_deferred)
    {
        const BoxingGroup group = GetBoxingGroups(rooted.step, rooted.cargo.shape)[0];
        devices = devices.empty() ? group.devices : devices;
        if (group.devices != devices)
        {
            return false;
        }
        bytesOf[group.root] += group.elements * rooted.cargo.elementBytes;
        const auto nSources = static_cast<uint32_t>(rooted.step.from.mesh->GetDevices().size());
        for (uint32_t position = 0; position < nSources; ++position)
        {
            const std::vector<TaskId> some = GetReady(rooted.value, position);
            ready.insert(ready.end(), some.begin(), some.end());
        }
    }
    if (m_deferred.empty() || bytesOf.size() != devices.size())
    {
        return false;
    }
    uint64_t bytes = 0;
    for (const auto& [root, sum] : bytesOf)
    {
        bytes = std::max(bytes, sum);
    }
    const Cargo& first = m_deferred[0].cargo;
    const TaskId id = m_builder.AddCommunication(first.sendPhase,
                                                 m_builder.AddGroup(devices),
                                                 m_communication,
                                                 first.name + ".all-to-all",
                                                 Collective::ALL_TO_ALL,
                                                 bytes,
                                                 FindParallelism(m_deferred[0].step),
                                                 ready);
    for (const Rooted& rooted : m_deferred)
    {
        const Layout& to = rooted.step.to;
        const Row row = EmitMemory(to,
                                   rooted.cargo.shape,
                                   rooted.cargo.elementBytes,
                                   rooted.cargo.receivePhase,
                                   rooted.cargo.name + ".all-to-all",
                                   Row(to.mesh->GetDevices().size(), id));
        Keep(rooted.tensor, rooted.isGradient, {to, {row}});
    }
    return true;
}

GraphEmitter::Value
GraphEmitter::EmitCollective(const Value& value, const BoxingStep& step, const Cargo& cargo)
{
    const DeviceMesh& from = *step.from.mesh;
    const DeviceMesh& to = *step.to.mesh;
    Value result;
    result.layout = step.to;
    Row done(to.GetDevices().size(), NO_ID);
    Row left(from.GetDevices().size(), NO_ID);
    Parallelism parallelism = FindParallelism(step);
    if (cargo.isParameter)
    {
        parallelism = Parallelism::DATA;
    }
    for (const BoxingGroup& group : GetBoxingGroups(step, cargo.shape))
    {
        std::vector<TaskId> ready;
        for (const DeviceId device : group.devices)
        {
            const uint32_t position = from.FindPosition(device);
            if (position == NO_ID)
            {
                continue;
            }
            const std::vector<TaskId> some = GetReady(value, position);
            ready.insert(ready.end(), some.begin(), some.end());
            // Parameters are there from the beginning; they are gathered shortly before their use.
            if (cargo.isParameter && m_recent.size() == PREFETCH_KERNELS &&
                m_recent.front().first == step.from.mesh)
            {
                ready.push_back(m_recent.front().second[position]);
            }
        }
        Task task;
        task.kind = TaskKind::COMMUNICATION;
        task.collective = step.collective;
        task.parallelism = parallelism;
        task.stream = cargo.isParameter ? m_parameterStream : m_communication;
        task.phase = cargo.sendPhase;
        task.root = static_cast<uint16_t>(group.root);
        task.place = m_builder.AddGroup(group.devices);
        task.bytes = group.elements * cargo.elementBytes;
        const TaskId id =
            m_builder.AddTask(task, cargo.name + "." + ToString(step.collective), ready);
        for (const DeviceId device : group.devices)
        {
            if (cargo.isParameter)
            {
                m_firstGathers.emplace(device, id);
            }
            const uint32_t position = to.FindPosition(device);
            if (position != NO_ID)
            {
                done[position] = id;
            }
        }
    }
    if (step.collective == Collective::ALL_REDUCE)
    {
        // In place: who uses the sum needs the buffer as well.
        result.rows = value.rows;
        result.rows.push_back(done);
        return result;
    }
    result.rows = {EmitMemory(step.to,
                              cargo.shape,
                              cargo.elementBytes,
                              cargo.receivePhase,
                              cargo.name + "." + ToString(step.collective),
                              done)};
    return result;
}

/// Point to point, block by block; what a device has already stays where it is.
GraphEmitter::Value
GraphEmitter::EmitTransfers(const Value& value, const BoxingStep& step, const Cargo& cargo)
{
    const std::vector<DeviceId>& sources = step.from.mesh->GetDevices();
    const std::vector<DeviceId>& targets = step.to.mesh->GetDevices();
    std::vector<std::vector<TaskId>> producers(targets.size());
    std::vector<bool> isReceiver(targets.size());
    for (const BoxingTransfer& transfer : GetBoxingTransfers(step, cargo.shape))
    {
        const std::vector<TaskId> ready = GetReady(value, transfer.from);
        std::vector<TaskId>& here = producers[transfer.to];
        if (sources[transfer.from] == targets[transfer.to])
        {
            here.insert(here.end(), ready.begin(), ready.end());
            continue;
        }
        isReceiver[transfer.to] = true;
        here.push_back(m_builder.AddCommunication(
            cargo.sendPhase,
            m_builder.AddGroup({sources[transfer.from], targets[transfer.to]}),
            cargo.isTransfer ? m_pipeline : m_communication,
            cargo.name + ".send",
            Collective::SEND_RECV,
            transfer.elements * cargo.elementBytes,
            cargo.isTransfer ? Parallelism::PIPELINE : FindParallelism(step),
            ready));
    }
    Value result;
    result.layout = step.to;
    Row row(targets.size(), NO_ID);
    for (uint32_t position = 0; position < targets.size(); ++position)
    {
        if (isReceiver[position])
        {
            row[position] =
                m_builder.AddMemory(cargo.receivePhase,
                                    targets[position],
                                    cargo.name + ".received",
                                    step.to.CountLocal(cargo.shape, position) * cargo.elementBytes,
                                    producers[position]);
        }
    }
    result.rows = {row};
    // Where nothing arrived, the device's own value serves.
    for (std::size_t i = 0;; ++i)
    {
        Row more(targets.size(), NO_ID);
        bool isUsed = false;
        for (uint32_t position = 0; position < targets.size(); ++position)
        {
            if (!isReceiver[position] && i < producers[position].size())
            {
                more[position] = producers[position][i];
                isUsed = true;
            }
        }
        if (!isUsed)
        {
            return result;
        }
        result.rows.push_back(more);
    }
}

} // namespace proteus
} // namespace ns3
