/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-emit-conversion.h"

#include "proteus-compiler-streams.h"
#include "proteus-sequence-copy.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

/// Emits the copies that a framework makes of what is gathered or scattered along a sequence.
/// @param context of the compilation @param value that is copied @param cargo what it is
/// @param phase of the copies @return by position the copy; none if the framework makes none
Row
EmitSequenceCopies(EmitContext& context, const Value& value, const Cargo& cargo, PhaseId phase)
{
    Row copies;
    const std::vector<DeviceId>& devices = value.layout.mesh->GetDevices();
    for (uint32_t position = 0; position < devices.size(); ++position)
    {
        KernelDescription kernel;
        kernel.kind = SEQUENCE_COPY;
        kernel.extents = {value.layout.CountLocal(cargo.shape, position)};
        const int64_t copyPs = context.options.kernelUse(kernel).gpuPs;
        if (copyPs == 0)
        {
            return {};
        }
        copies.push_back(context.builder.AddCompute(phase,
                                                    devices[position],
                                                    context.streams.compute,
                                                    cargo.name + ".copy",
                                                    copyPs,
                                                    GetReady(value, position)));
    }
    return copies;
}

/// @param context of the compilation @param from a device @param to another
/// @return whether the stage of one comes behind that of the other
bool
AreNeighbours(const EmitContext& context, DeviceId from, DeviceId to)
{
    const auto find = [&context](DeviceId device) {
        const auto& stages = context.placement.stageDevices;
        return std::find_if(stages.begin(),
                            stages.end(),
                            [device](const std::vector<DeviceId>& devices) {
                                return std::binary_search(devices.begin(), devices.end(), device);
                            }) -
               stages.begin();
    };
    return std::abs(find(from) - find(to)) == 1;
}

} // namespace

/// What a communication between layouts serves, from the names of the mesh axes.
Parallelism
Converter::FindParallelism(const BoxingStep& step)
{
    const DeviceMesh& mesh =
        *(step.collective == Collective::SCATTER ? step.to.mesh : step.from.mesh);
    for (const MeshAxis axis : step.axes)
    {
        const std::string& whole = mesh.GetNames()[axis];
        const std::string name = GetLayerRole(whole);
        if (name == "ep" || (IsExpertAxis(whole) && step.collective == Collective::ALL_TO_ALL))
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
Value
Converter::Convert(const Value& value, const Layout& target, const Cargo& cargo)
{
    BoxingOptions options;
    options.allToAllOfTwo = cargo.isExchange;
    options.isRooted = !cargo.isRead;
    Value now = value;
    const std::vector<BoxingStep> steps = PlanBoxing(value.layout, target, cargo.shape, options);
    const bool isStaged =
        cargo.exchange && std::any_of(steps.begin(), steps.end(), [](const BoxingStep& step) {
            return step.collective == Collective::ALL_TO_ALL;
        });
    Cargo staged = cargo; // with the phases of a step
    bool isThere = false; // at the devices of the experts, or back
    for (const BoxingStep& step : steps)
    {
        if (step.collective != Collective::REDUCE_SCATTER)
        {
            now = now.Whole();
        }
        const bool isExchanged = step.collective == Collective::ALL_TO_ALL;
        if (isStaged)
        {
            staged.sendPhase = staged.receivePhase = isExchanged ? cargo.exchange->during
                                                     : isThere   ? cargo.exchange->after
                                                                 : cargo.exchange->before;
            isThere = isThere || isExchanged;
        }
        const bool isDispatch =
            isExchanged && cargo.routing.experts > 0 &&
            m_context.tree.schedule.expertDispatch != ExpertDispatch::ALL_TO_ALL;
        now = step.collective == Collective::SEND_RECV ? EmitTransfers(now, step, staged)
              : isDispatch                             ? EmitDispatch(now, step, staged)
                                                       : EmitCollective(now, step, staged);
    }
    now.layout = target; // a slice of what a device has is free
    return now;
}

/// What a collective of some devices waits for.
std::vector<TaskId>
Converter::FindReady(const Value& value,
                     const BoxingStep& step,
                     const std::vector<DeviceId>& devices,
                     const Cargo& cargo) const
{
    std::vector<TaskId> ready;
    for (const DeviceId device : devices)
    {
        const uint32_t position = step.from.mesh->FindPosition(device);
        if (position == NO_ID)
        {
            continue;
        }
        const std::vector<TaskId> some =
            GetReady(value.early.empty() ? value : Value{value.layout, value.early, {}, 1},
                     position);
        ready.insert(ready.end(), some.begin(), some.end());
        // Parameters are there from the beginning; they are gathered shortly before their use.
        const TaskId trigger =
            cargo.isParameter ? m_recent.FindTrigger(step.from.mesh, position) : NO_ID;
        if (trigger != NO_ID)
        {
            ready.push_back(trigger);
        }
    }
    return ready;
}

/// The collective of one group.
TaskId
Converter::EmitGroup(const Value& value,
                     const BoxingStep& step,
                     const BoxingGroup& group,
                     const Cargo& cargo)
{
    Task task;
    task.kind = TaskKind::COMMUNICATION;
    task.collective = step.collective;
    task.parallelism = cargo.isParameter ? Parallelism::DATA : FindParallelism(step);
    const bool isOfExperts = cargo.exchange && step.collective == Collective::ALL_TO_ALL;
    task.stream = cargo.isParameter ? m_context.streams.parameter
                  : isOfExperts     ? m_context.streams.experts
                                    : m_context.streams.communication;
    task.phase = cargo.sendPhase;
    task.root = static_cast<uint16_t>(group.root);
    task.place = m_context.builder.AddGroup(group.devices);
    task.bytes = group.elements * cargo.elementBytes;
    return m_context.builder.AddTask(task,
                                     cargo.name + "." + ToString(step.collective),
                                     FindReady(value, step, group.devices, cargo));
}

/// The all-to-alls of a stage of a dispatch.
/// @param exchange what they have in common @param done by position of the target: gets them
void
Converter::EmitDispatchStage(const Value& value,
                             const BoxingStep& step,
                             const DispatchStage& stage,
                             Task exchange,
                             const Cargo& cargo,
                             Row& done)
{
    for (const std::vector<DeviceId>& devices : stage.groups)
    {
        exchange.place = m_context.builder.AddGroup(devices);
        const TaskId id = m_context.builder.AddTask(
            exchange,
            cargo.name + (exchange.stream == m_context.streams.forwarding ? ".inside" : ".network"),
            FindReady(value, step, devices, cargo));
        for (const DeviceId device : devices)
        {
            done[step.to.mesh->FindPosition(device)] = id;
        }
    }
}

/// The kernels forward what comes over the network chunk by chunk, and the way inside a server
/// begins with what stays in it, so that the all-to-alls of both stages run at the same time. Half
/// of the multiprocessors send over the network, half forward (DeepEP: is_forwarder).
Value
Converter::EmitDispatch(const Value& value, const BoxingStep& step, const Cargo& cargo)
{
    const ScheduleSpec& schedule = m_context.tree.schedule;
    if (m_context.streams.forwarding == NO_STREAM)
    {
        m_context.streams.forwarding =
            m_context.builder.AddStream(COMPILER_STREAMS.Get(CompilerStream::FORWARDING));
    }
    const std::size_t n = step.to.mesh->GetDevices().size();
    Row network(n, NO_ID);
    Row inside(n, NO_ID);
    for (const BoxingGroup& group : GetBoxingGroups(step, cargo.shape))
    {
        const DispatchPlan plan = PlanDispatch(cargo.routing, group.devices, schedule.expertDomain);
        const bool isBoth = !plan.network.groups.empty() && !plan.inside.groups.empty();
        for (const DispatchStage* stage : {&plan.network, &plan.inside})
        {
            if (stage->groups.empty())
            {
                continue;
            }
            // Elements are of a token for each of its experts; all ranks get equally many.
            const auto ranks = static_cast<uint64_t>(stage->groups.front().size());
            const double elements = static_cast<double>(group.elements) * stage->copies /
                                    static_cast<double>(cargo.routing.top);
            const auto share =
                static_cast<uint64_t>(std::llround(elements / static_cast<double>(ranks)));
            const bool isInside = stage == &plan.inside;
            Task exchange;
            exchange.kind = TaskKind::COMMUNICATION;
            exchange.collective = Collective::ALL_TO_ALL;
            exchange.parallelism = Parallelism::EXPERT;
            exchange.stream = isInside         ? m_context.streams.forwarding
                              : cargo.exchange ? m_context.streams.experts
                                               : m_context.streams.communication;
            exchange.phase = cargo.sendPhase;
            exchange.threadBlocks = GetMultiprocessors(schedule.expertDispatch) / (isBoth ? 2 : 1);
            exchange.bytes = std::max<uint64_t>(share, 1) * ranks * cargo.elementBytes;
            EmitDispatchStage(value, step, *stage, exchange, cargo, isInside ? inside : network);
        }
    }
    const bool isInside = inside.front() != NO_ID;
    Value result;
    result.layout = step.to;
    result.rows = {m_context.EmitMemory(step.to,
                                        cargo.shape,
                                        cargo.elementBytes,
                                        cargo.receivePhase,
                                        cargo.name + "." + ToString(step.collective),
                                        isInside ? inside : network)};
    for (std::size_t position = 0; isInside && position < n; ++position)
    {
        if (network[position] != NO_ID)
        {
            m_context.builder.AddDependency(network[position], result.rows[0][position]);
        }
    }
    return result;
}

Value
Converter::EmitCollective(const Value& value, const BoxingStep& step, const Cargo& cargo)
{
    const DeviceMesh& to = *step.to.mesh;
    Value result;
    result.layout = step.to;
    Row done(to.GetDevices().size(), NO_ID);
    // Products beside their collectives take them as they come.
    const bool isCopied = m_context.options.kernelUse && !cargo.isParameter &&
                          FindParallelism(step) == Parallelism::SEQUENCE &&
                          !m_context.tree.schedule.overlapsTensor;
    const bool isScattered = isCopied && step.collective == Collective::REDUCE_SCATTER;
    const Row before =
        isScattered ? EmitSequenceCopies(m_context, value, cargo, cargo.sendPhase) : Row();
    const Value sent = before.empty() ? value : Value{value.layout, {before}, {}, 1};
    for (const BoxingGroup& group : GetBoxingGroups(step, cargo.shape))
    {
        const TaskId id = EmitGroup(sent, step, group, cargo);
        for (const DeviceId device : group.devices)
        {
            if (cargo.isParameter)
            {
                m_next.firstGathers.emplace(device, id);
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
    if (isCopied && step.collective == Collective::ALL_GATHER)
    {
        const Value gathered{step.to, {done}, {}, 1};
        const Row after = EmitSequenceCopies(m_context, gathered, cargo, cargo.receivePhase);
        done = after.empty() ? done : after;
    }
    result.rows = {m_context.EmitMemory(step.to,
                                        cargo.shape,
                                        cargo.elementBytes,
                                        cargo.receivePhase,
                                        cargo.name + "." + ToString(step.collective),
                                        done)};
    if (!value.early.empty())
    {
        result.rows.insert(result.rows.end(), value.rows.begin(), value.rows.end());
    }
    else if (step.collective == Collective::ALL_GATHER && cargo.isRead && !cargo.isParameter &&
             step.from.mesh == step.to.mesh)
    {
        result.pieces = CountPieces(step, cargo.shape);
        result.early = result.pieces > 1 ? value.rows : std::vector<Row>();
    }
    return result;
}

uint32_t
Converter::CountPieces(const BoxingStep& step, const Shape& shape) const
{
    const Parallelism kind = FindParallelism(step);
    const bool isOverlapped =
        (kind == Parallelism::SEQUENCE && m_context.tree.schedule.overlapsTensor) ||
        (kind == Parallelism::CONTEXT && m_context.tree.schedule.overlapsContext);
    const auto groups = isOverlapped ? GetBoxingGroups(step, shape) : std::vector<BoxingGroup>();
    return groups.empty() ? 1 : static_cast<uint32_t>(groups[0].devices.size());
}

/// Where nothing arrives, a device's own value serves.
void
Converter::AddOwn(const std::vector<std::vector<TaskId>>& producers,
                  const std::vector<bool>& isReceiver,
                  Value& result)
{
    for (std::size_t i = 0;; ++i)
    {
        Row more(producers.size(), NO_ID);
        bool isUsed = false;
        for (uint32_t position = 0; position < producers.size(); ++position)
        {
            if (!isReceiver[position] && i < producers[position].size())
            {
                more[position] = producers[position][i];
                isUsed = true;
            }
        }
        if (!isUsed)
        {
            return;
        }
        result.rows.push_back(more);
    }
}

/// @return the axis of tensor parallelism along which all senders, and all receivers, have the same
/// data, and every receiver all of its data from one sender; NO_ID if there is none
uint32_t
Converter::FindScatterAxis(const BoxingStep& step, const std::vector<BoxingTransfer>& transfers)
{
    const DeviceMesh& from = *step.from.mesh;
    const DeviceMesh& to = *step.to.mesh;
    const uint32_t axis = to.FindAxis("tp");
    if (axis == NO_ID || axis != from.FindAxis("tp") || from.GetSizes() != to.GetSizes() ||
        to.GetSizes()[axis] == 1 || transfers.size() != to.GetDevices().size())
    {
        return NO_ID;
    }
    for (const Layout* layout : {&step.from, &step.to})
    {
        const std::vector<MeshAxis> replicated = layout->GetReplicated();
        if (std::count(replicated.begin(), replicated.end(), axis) == 0)
        {
            return NO_ID;
        }
    }
    for (uint32_t position = 0; position < transfers.size(); ++position)
    {
        const BoxingTransfer& transfer = transfers[position];
        if (transfer.to != position || transfer.from != position ||
            from.GetDevices()[position] == to.GetDevices()[position])
        {
            return NO_ID;
        }
    }
    return axis;
}

/// @param ready what the sender waits for @return the communication
TaskId
Converter::EmitSend(DeviceId from,
                    DeviceId to,
                    uint64_t bytes,
                    const std::vector<TaskId>& ready,
                    Parallelism parallelism,
                    const Cargo& cargo)
{
    const std::vector<PhaseId>& backward = m_context.phases.backward;
    const bool isGradient =
        cargo.isTransfer &&
        std::find(backward.begin(), backward.end(), cargo.sendPhase) != backward.end();
    const bool isAwaited =
        cargo.isTransfer && m_context.WaitsForTransfers() && AreNeighbours(m_context, from, to);
    const bool isExchanged = isAwaited && m_context.ExchangesTransfers();
    const EmitStreams& streams = m_context.streams;
    const auto addMark =
        [&](DeviceId device, StreamId stream, const char* name, const std::vector<TaskId>& needed) {
            return m_context.builder
                .AddCompute(cargo.sendPhase, device, stream, cargo.name + name, 0, needed);
        };
    // A receiver takes what comes in the direction of its pass before when it has sent all results
    // of that pass, and what crosses them when it has them, whatever it has sent by then.
    const StreamId along = isGradient ? streams.turnBackward : streams.turnForward;
    const StreamId across = isGradient ? streams.turnForward : streams.turnBackward;
    std::vector<TaskId> needed = ready;
    if (isExchanged)
    {
        const auto [passed, isFirst] = m_passed.try_emplace({from, cargo.sendPhase}, NO_ID);
        if (isFirst)
        {
            passed->second = addMark(from, streams.compute, ".passed", ready);
            addMark(from, across, ".crossing", {passed->second});
        }
        needed.insert(needed.end(), {passed->second, addMark(to, along, ".turn", {})});
    }
    else if (isAwaited && isGradient)
    {
        // The receiver's turn has come when its own activations are sent, on the same stream.
        needed.push_back(addMark(to, streams.compute, ".turn", {}));
    }
    const TaskId id = m_context.builder.AddCommunication(cargo.sendPhase,
                                                         m_context.builder.AddGroup({from, to}),
                                                         isAwaited && !isExchanged ? streams.compute
                                                         : cargo.isTransfer ? streams.pipeline
                                                                            : streams.communication,
                                                         cargo.name + ".send",
                                                         Collective::SEND_RECV,
                                                         bytes,
                                                         parallelism,
                                                         needed);
    if (isExchanged)
    {
        addMark(from, along, ".sent", {addMark(from, streams.compute, ".awaited", {id})});
    }
    if (isGradient)
    {
        m_context.backwardSends[from].push_back(id);
    }
    return id;
}

/// Every device sends a part of what all of its group have; the receivers gather the parts.
Value
Converter::EmitScatterGather(const Value& value,
                             const BoxingStep& step,
                             const std::vector<BoxingTransfer>& transfers,
                             MeshAxis axis,
                             const Cargo& cargo)
{
    const std::vector<DeviceId>& sources = step.from.mesh->GetDevices();
    const std::vector<DeviceId>& targets = step.to.mesh->GetDevices();
    const uint32_t size = step.to.mesh->GetSizes()[axis];
    const uint32_t stride = step.to.mesh->GetStride(axis);
    Row row(targets.size());
    for (uint32_t first = 0; first < targets.size(); ++first)
    {
        if (step.to.mesh->GetCoordinate(first, axis) != 0)
        {
            continue;
        }
        const uint64_t elements = transfers[first].elements;
        std::vector<TaskId> sends;
        std::vector<DeviceId> group;
        for (uint32_t i = 0; i < size; ++i)
        {
            const uint32_t position = first + i * stride;
            group.push_back(targets[position]);
            sends.push_back(EmitSend(sources[position],
                                     targets[position],
                                     (elements + size - 1) / size * cargo.elementBytes,
                                     GetReady(value, position),
                                     Parallelism::PIPELINE,
                                     cargo));
        }
        const TaskId gather = m_context.builder.AddCommunication(cargo.receivePhase,
                                                                 m_context.builder.AddGroup(group),
                                                                 m_context.streams.communication,
                                                                 cargo.name + ".all-gather",
                                                                 Collective::ALL_GATHER,
                                                                 elements * cargo.elementBytes,
                                                                 Parallelism::PIPELINE,
                                                                 sends);
        for (uint32_t i = 0; i < size; ++i)
        {
            const uint32_t position = first + i * stride;
            row[position] = m_context.builder.AddMemory(cargo.receivePhase,
                                                        targets[position],
                                                        cargo.name + ".received",
                                                        elements * cargo.elementBytes,
                                                        {gather});
        }
    }
    Value result;
    result.layout = step.to;
    result.rows = {row};
    return result;
}

/// Point to point, block by block; what a device has already stays where it is.
Value
Converter::EmitTransfers(const Value& value, const BoxingStep& step, const Cargo& cargo)
{
    const std::vector<DeviceId>& sources = step.from.mesh->GetDevices();
    const std::vector<DeviceId>& targets = step.to.mesh->GetDevices();
    const std::vector<BoxingTransfer> transfers = GetBoxingTransfers(step, cargo.shape);
    if (cargo.isTransfer && m_context.tree.schedule.isScatterGather)
    {
        const uint32_t axis = FindScatterAxis(step, transfers);
        if (axis != NO_ID)
        {
            return EmitScatterGather(value, step, transfers, static_cast<MeshAxis>(axis), cargo);
        }
    }
    std::vector<std::vector<TaskId>> producers(targets.size());
    std::vector<bool> isReceiver(targets.size());
    for (const BoxingTransfer& transfer : transfers)
    {
        const std::vector<TaskId> ready = GetReady(value, transfer.from);
        std::vector<TaskId>& here = producers[transfer.to];
        if (sources[transfer.from] == targets[transfer.to])
        {
            here.insert(here.end(), ready.begin(), ready.end());
            continue;
        }
        isReceiver[transfer.to] = true;
        here.push_back(EmitSend(sources[transfer.from],
                                targets[transfer.to],
                                transfer.elements * cargo.elementBytes,
                                ready,
                                cargo.isTransfer ? Parallelism::PIPELINE : FindParallelism(step),
                                cargo));
    }
    Value result;
    result.layout = step.to;
    Row row(targets.size(), NO_ID);
    for (uint32_t position = 0; position < targets.size(); ++position)
    {
        if (isReceiver[position])
        {
            row[position] = m_context.builder.AddMemory(cargo.receivePhase,
                                                        targets[position],
                                                        cargo.name + ".received",
                                                        step.to.CountLocal(cargo.shape, position) *
                                                            cargo.elementBytes,
                                                        producers[position]);
        }
    }
    result.rows = {row};
    AddOwn(producers, isReceiver, result);
    return result;
}

} // namespace proteus
} // namespace ns3
