/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-emit-optimizer.h"

#include "proteus-emit-orthogonal.h"
#include "proteus-strategy-error.h"

#include "ns3/proteus-sort-unique.h"

#include <cmath>
#include <map>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double PS_PER_SECOND = 1e12;

/// Operations per parameter, counted from the formulas.
double
GetFlops(OptimizerKind kind)
{
    switch (kind)
    {
    case OptimizerKind::ADAM:
    case OptimizerKind::ADAM_FUSED:
    case OptimizerKind::ADAM_FOREACH:
        return 15;
    case OptimizerKind::ADAM_8BIT:
        return 15 + 4; // two products with scales on the way there, two on the way back
    case OptimizerKind::ADAFACTOR:
        return 11;
    case OptimizerKind::LAMB:
        return 21;
    case OptimizerKind::LARS:
        return 4 + 4; // two sums of squares besides
    case OptimizerKind::MUON:
    case OptimizerKind::MOMENTUM:
        return 4;
    case OptimizerKind::SGD:
        return 2;
    }
    return 0;
}

/// Bytes that an update moves besides gradient, parameter and state, per parameter. LAMB writes its
/// update, reads it and the parameter for their norms, and reads the update and the parameter again
/// to apply it (apex, csrc/multi_tensor_lamb.cu: stage 1 and 2), all in fp32. LARS reads parameter
/// and gradient for their norms (MXNet, multi_sum_sq). Adafactor is a loop of elementary operations
/// on each parameter (Adafactor.step() of transformers, optimization.py): the gradient and the
/// parameter are cast (2 written in fp32), the parameter's size found (1), the square (2), a small
/// number added (2), means of rows and columns (2), the factors multiplied (1), and the gradient
/// with that (3), the size of the update found (1), two factors (4), its sign turned (2), the
/// update added (3) and copied back (1 read): 24 in fp32. Muon writes and reads the orthogonal
/// update in 16 bits. Adam over lists of parameters (_multi_tensor_adamw() of PyTorch,
/// torch/optim/adamw.py) decays parameters (2), mixes the first moment with the gradient (3),
/// scales the second (2), adds the square of the gradient (3), writes its root to memory of its own
/// (2), divides that (2), adds a small number (2), and adds the quotient of moment and root (4): 20
/// in what moments have, 13 more than one kernel reads and writes.
/// @param kind of the optimizer @param moment bytes of a number of its moments
uint64_t
GetExtraBytes(OptimizerKind kind, uint64_t moment)
{
    return kind == OptimizerKind::ADAM_FOREACH ? 13 * moment
           : kind == OptimizerKind::LAMB       ? 5 * 4
           : kind == OptimizerKind::LARS       ? 2 * 4
           : kind == OptimizerKind::ADAFACTOR  ? 24 * 4
           : kind == OptimizerKind::MUON       ? 2 * 2
                                               : 0;
}

} // namespace

/// @return elements of a parameter that a device updates: of a sparse gradient those that it has
uint64_t
OptimizerEmitter::CountUpdated(TensorId parameter, uint32_t position) const
{
    const PlacedTensor& tensor = m_context.placement.tensors[parameter];
    const auto local =
        static_cast<double>(tensor.optimizer.CountLocal(tensor.tensor.shape, position));
    return static_cast<uint64_t>(std::llround(local * m_context.GetGradientShare(parameter)));
}

/// @return what the update of a parameter is about at a position of its mesh
OptimizerEmitter::Updated
OptimizerEmitter::CountUpdate(TensorId parameter, uint32_t position, uint64_t devices) const
{
    Updated updated;
    updated.elements = CountUpdated(parameter, position);
    updated.tensors = 1;
    updated.devices = devices;
    updated.stateBytes = static_cast<double>(updated.elements) *
                         m_context.GetStateBytes(m_context.placement.tensors[parameter].tensor);
    return updated;
}

/// @return devices of a mesh whose kernels are in the graph
uint64_t
OptimizerEmitter::CountEmitted(const DeviceMesh& mesh) const
{
    return m_context.tree.hasRepresentative ? 1 : mesh.GetDevices().size();
}

/// The update of one or more parameters on a device, on the device or on its host.
TaskId
OptimizerEmitter::EmitUpdate(DeviceId device,
                             const std::string& name,
                             const Updated& updated,
                             const std::vector<TaskId>& ready)
{
    const uint64_t elements = updated.elements;
    const OptimizerSpec& optimizer = m_context.tree.optimizer;
    const uint64_t parameterBytes = m_context.GetElementBytes(ElementKind::COMPUTE);
    const auto stateBytes = static_cast<uint64_t>(std::llround(2 * updated.stateBytes));
    if (optimizer.isOffloaded)
    {
        auto time = [](uint64_t bytes, double gigabytesPerSecond) -> int64_t {
            return std::llround(static_cast<double>(bytes) / (gigabytesPerSecond * 1e9) *
                                PS_PER_SECOND);
        };
        TaskId task = m_context.builder.AddCompute(
            m_context.phases.optimizer,
            device,
            m_context.streams.toHost,
            name + ".gradient-to-host",
            time(elements * m_context.GetGradientBytes(), optimizer.hostLinkGigabytesPerSecond),
            ready);
        // The host runs it at the speed of its memory.
        task = m_context.builder.AddCompute(
            m_context.phases.optimizer,
            device,
            m_context.streams.host,
            name + ".host",
            time(elements * (m_context.GetGradientBytes() + parameterBytes) + stateBytes,
                 optimizer.hostMemoryGigabytesPerSecond),
            {task});
        return m_context.builder.AddCompute(
            m_context.phases.optimizer,
            device,
            m_context.streams.fromHost,
            name + ".parameter-to-device",
            time(elements * parameterBytes, optimizer.hostLinkGigabytesPerSecond),
            {task});
    }
    Task task;
    task.kind = TaskKind::COMPUTE;
    task.phase = m_context.phases.optimizer;
    task.place = device;
    task.stream = optimizer.isImmediate ? m_context.streams.optimizer : m_context.streams.compute;
    task.dataType = DataType::FP32;
    task.flops = GetFlops(optimizer.kind) * static_cast<double>(elements);
    const bool hasMaster = m_context.tree.precision.hasMaster || parameterBytes == 4;
    task.bytes = elements * (m_context.GetGradientBytes() + parameterBytes +
                             GetExtraBytes(optimizer.kind, hasMaster ? 4 : 2)) +
                 stateBytes;
    KernelDescription kernel{name,
                             ToString(optimizer.kind),
                             "",
                             {elements},
                             task.flops,
                             task.bytes,
                             task.dataType,
                             uint64_t{device} << 32 | task.phase,
                             false,
                             updated.tensors};
    kernel.devices = updated.devices;
    kernel.hasMaster = hasMaster;
    m_context.TimeKernel(kernel, task);
    return m_context.builder.AddTask(task, name, ready);
}

void
OptimizerEmitter::EmitOptimizer()
{
    const OptimizerSpec& optimizer = m_context.tree.optimizer;
    if (optimizer.kind == OptimizerKind::MUON && (optimizer.isImmediate || optimizer.isOffloaded))
    {
        throw StrategyError("strategy \"" + m_context.tree.name +
                            "\": Muon makes the updates of matrices orthogonal on the devices, "
                            "before any of them; leave out immediate and offload");
    }
    if (optimizer.isImmediate && (optimizer.isFused || optimizer.isOffloaded || optimizer.zero > 0))
    {
        throw StrategyError("strategy \"" + m_context.tree.name +
                            "\": immediate updates are of one parameter each, on the "
                            "device and in every replica; leave out fused, offload and "
                            "zero");
    }
    if (optimizer.isImmediate)
    {
        EmitImmediateUpdates();
        return;
    }
    const std::map<DeviceId, TaskId> last = EmitUpdates(optimizer.isFused);
    for (const auto& [device, update] : last)
    {
        // The compute stream keeps kernels behind updates, if these are on it.
        const auto gather = m_next.firstGathers.find(device);
        if (gather != m_next.firstGathers.end())
        {
            m_next.carried.push_back({update, gather->second});
        }
        const auto kernel = m_next.firstKernels.find(device);
        if (optimizer.isOffloaded && kernel != m_next.firstKernels.end())
        {
            m_next.carried.push_back({update, kernel->second});
        }
    }
    if (!optimizer.HasParameterPhase())
    {
        EmitParameterGathers(last);
    }
}

/// Updates every parameter when its gradient is reduced; who reads it next waits for that.
void
OptimizerEmitter::EmitImmediateUpdates()
{
    const std::string kind = ToString(m_context.tree.optimizer.kind);
    m_gradientsOf.ForEachInOrder([&](const Leaf& leaf) {
        const PlacedTensor& tensor = m_context.placement.tensors[leaf.tensor];
        const std::vector<DeviceId>& devices = tensor.optimizer.mesh->GetDevices();
        for (uint32_t position = 0; position < devices.size(); ++position)
        {
            const DeviceId device = devices[position];
            const TaskId update =
                EmitUpdate(device,
                           tensor.tensor.name + "." + kind,
                           CountUpdate(leaf.tensor, position, devices.size()),
                           GetReady(leaf.reduced, leaf.reduced.layout.mesh->FindPosition(device)));
            const auto readers = m_next.readers.find({leaf.tensor, device});
            for (std::size_t i = 0; readers != m_next.readers.end() && i < readers->second.size();
                 ++i)
            {
                m_next.carried.push_back({update, readers->second[i]});
            }
        }
    });
}

/// Updates all parameters when all gradients are reduced.
/// @param isFused whether in one kernel
/// @return the last update by device
std::map<DeviceId, TaskId>
OptimizerEmitter::EmitUpdates(bool isFused)
{
    // A device updates nothing before all of its gradients are reduced, as an optimizer's step
    // follows the whole backward pass.
    std::vector<std::vector<TaskId>> ready(m_context.placement.nDevices);
    auto visit = [&](auto&& function) {
        m_gradientsOf.ForEachInOrder([&](const Leaf& leaf) {
            const PlacedTensor& tensor = m_context.placement.tensors[leaf.tensor];
            const std::vector<DeviceId>& devices = tensor.optimizer.mesh->GetDevices();
            for (uint32_t position = 0; position < devices.size(); ++position)
            {
                function(leaf, tensor, position, devices[position]);
            }
        });
    };
    std::vector<Updated> updated(m_context.placement.nDevices);
    visit([&](const Leaf& leaf, const PlacedTensor& tensor, uint32_t position, DeviceId device) {
        const Updated one =
            CountUpdate(leaf.tensor, position, CountEmitted(*tensor.optimizer.mesh));
        updated[device].elements += one.elements;
        updated[device].stateBytes += one.stateBytes;
        ++updated[device].tensors;
        updated[device].devices = one.devices;
        // The gradient lies on the same mesh, maybe less split: the rest is a slice.
        const std::vector<TaskId> some =
            GetReady(leaf.reduced, leaf.reduced.layout.mesh->FindPosition(device));
        ready[device].insert(ready[device].end(), some.begin(), some.end());
    });
    for (std::vector<TaskId>& tasks : ready)
    {
        SortUnique(tasks);
    }
    if (m_context.tree.optimizer.kind == OptimizerKind::MUON)
    {
        OrthogonalEmitter(m_context, m_gradientsOf).Emit(ready);
    }
    const std::string kind = ToString(m_context.tree.optimizer.kind);
    std::map<DeviceId, TaskId> last;
    if (isFused)
    {
        for (DeviceId device = 0; device < m_context.placement.nDevices; ++device)
        {
            if (updated[device].elements > 0 && m_context.IsEmitted(device))
            {
                last[device] = EmitUpdate(device, kind, updated[device], ready[device]);
            }
        }
    }
    else
    {
        visit(
            [&](const Leaf& leaf, const PlacedTensor& tensor, uint32_t position, DeviceId device) {
                if (!m_context.IsEmitted(device))
                {
                    return;
                }
                // The first update waits for all; its stream keeps the others behind it.
                std::vector<TaskId> before = std::exchange(ready[device], {});
                if (before.empty())
                {
                    before = GetReady(leaf.reduced, leaf.reduced.layout.mesh->FindPosition(device));
                }
                last[device] = EmitUpdate(
                    device,
                    tensor.tensor.name + "." + kind,
                    CountUpdate(leaf.tensor, position, CountEmitted(*tensor.optimizer.mesh)),
                    before);
            });
    }
    return last;
}

/// Replicas that updated a share of each parameter give it to the others, all parameters at once.
void
OptimizerEmitter::EmitParameterGathers(const std::map<DeviceId, TaskId>& updates)
{
    std::map<std::vector<DeviceId>, uint64_t> groups;
    for (const Leaf& leaf : m_gradientsOf.GetLeaves())
    {
        const PlacedTensor& tensor = m_context.placement.tensors[leaf.tensor];
        for (const BoxingStep& step :
             PlanBoxing(tensor.optimizer, tensor.home, tensor.tensor.shape))
        {
            for (const BoxingGroup& group : GetBoxingGroups(step, tensor.tensor.shape))
            {
                groups[group.devices] +=
                    group.elements * m_context.GetElementBytes(ElementKind::COMPUTE);
            }
        }
    }
    for (const auto& [devices, bytes] : groups)
    {
        std::vector<TaskId> ready;
        for (const DeviceId device : devices)
        {
            const auto found = updates.find(device);
            if (found != updates.end())
            {
                ready.push_back(found->second);
            }
        }
        const TaskId gather =
            m_context.builder.AddCommunication(m_context.phases.optimizer,
                                               m_context.builder.AddGroup(devices),
                                               m_context.streams.gradient,
                                               "parameters.all-gather",
                                               Collective::ALL_GATHER,
                                               bytes,
                                               Parallelism::DATA,
                                               ready);
        for (const DeviceId device : devices)
        {
            const auto kernel = m_next.firstKernels.find(device);
            if (kernel != m_next.firstKernels.end())
            {
                m_next.carried.push_back({gather, kernel->second});
            }
        }
    }
}

} // namespace proteus
} // namespace ns3
