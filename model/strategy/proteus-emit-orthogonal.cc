/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-emit-orthogonal.h"

#include "proteus-emit-units.h"
#include "proteus-newton-schulz.h"

#include "ns3/proteus-sort-unique.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace proteus
{

/// @return how a parameter lies where replicas do not share its state
Layout
OrthogonalEmitter::GetWhole(const PlacedTensor& parameter) const
{
    const OptimizerSpec& optimizer = m_context.tree.optimizer;
    Layout whole = parameter.optimizer;
    const std::vector<std::string>& names = whole.mesh->GetNames();
    const auto isShared = [&](MeshAxis axis) {
        const auto isAmong = [&](const std::vector<std::string>& shared) {
            return std::find(shared.begin(), shared.end(), names[axis]) != shared.end();
        };
        return isAmong(optimizer.zeroAxes) || isAmong(optimizer.expertZeroAxes);
    };
    for (std::vector<MeshAxis>& axes : whole.split)
    {
        axes.erase(std::remove_if(axes.begin(), axes.end(), isShared), axes.end());
    }
    return whole;
}

/// @return the matrices whose updates become orthogonal, those with most work first
std::vector<OrthogonalEmitter::SharedMatrix>
OrthogonalEmitter::ListMatrices() const
{
    std::vector<SharedMatrix> matrices;
    m_gradientsOf.ForEachInOrder([&](const Leaf& leaf) {
        const PlacedTensor& tensor = m_context.placement.tensors[leaf.tensor];
        const Shape& shape = tensor.tensor.shape;
        if (!IsMuonMatrix(tensor.tensor.name, shape))
        {
            return;
        }
        const Layout whole = GetWhole(tensor);
        std::vector<std::vector<DeviceId>> groups;
        for (const BoxingStep& step : PlanBoxing(tensor.optimizer, whole, shape))
        {
            for (const BoxingGroup& group : GetBoxingGroups(step, shape))
            {
                groups.push_back(group.devices);
            }
        }
        if (groups.empty()) // nothing is shared
        {
            for (const DeviceId device : whole.mesh->GetDevices())
            {
                groups.push_back({device});
            }
        }
        for (const std::vector<DeviceId>& devices : groups)
        {
            const uint32_t position = whole.mesh->FindPosition(devices[0]);
            const std::size_t rank = shape.size();
            SharedMatrix matrix;
            matrix.devices = devices;
            matrix.elements = whole.CountLocal(shape, position);
            matrix.matrices.rows = shape[rank - 2] / whole.GetParts(rank - 2);
            matrix.matrices.columns = shape[rank - 1] / whole.GetParts(rank - 1);
            matrix.matrices.number =
                matrix.elements / (matrix.matrices.rows * matrix.matrices.columns);
            matrices.push_back(matrix);
        }
    });
    std::stable_sort(matrices.begin(),
                     matrices.end(),
                     [](const SharedMatrix& a, const SharedMatrix& b) {
                         return GetNewtonSchulzFlops(a.matrices) > GetNewtonSchulzFlops(b.matrices);
                     });
    return matrices;
}

/// Lets the devices of groups exchange what they have of matrices. @param ready what comes before,
/// and then what ends it
void
OrthogonalEmitter::EmitExchange(const Exchanged& bytes, const std::string& name, Ready& ready)
{
    std::map<DeviceId, std::vector<TaskId>> done;
    for (const auto& [devices, size] : bytes)
    {
        std::vector<TaskId> before;
        for (const DeviceId device : devices)
        {
            before.insert(before.end(), ready[device].begin(), ready[device].end());
        }
        SortUnique(before);
        const TaskId exchange =
            m_context.builder.AddCommunication(m_context.phases.optimizer,
                                               m_context.builder.AddGroup(devices),
                                               m_context.streams.gradient,
                                               name,
                                               Collective::ALL_TO_ALL,
                                               size,
                                               Parallelism::DATA,
                                               before);
        for (const DeviceId device : devices)
        {
            done[device].push_back(exchange);
        }
    }
    for (auto& [device, tasks] : done)
    {
        ready[device] = std::move(tasks);
    }
}

void
OrthogonalEmitter::Emit(Ready& ready)
{
    constexpr uint64_t HALF = 2; // bytes
    std::vector<std::vector<Matrices>> own(m_context.placement.nDevices);
    std::vector<double> flops(m_context.placement.nDevices, 0);
    Exchanged exchanged;
    for (const SharedMatrix& matrix : ListMatrices())
    {
        const DeviceId least =
            *std::min_element(matrix.devices.begin(),
                              matrix.devices.end(),
                              [&](DeviceId a, DeviceId b) { return flops[a] < flops[b]; });
        own[least].push_back(matrix.matrices);
        flops[least] += GetNewtonSchulzFlops(matrix.matrices);
        if (m_context.tree.optimizer.zero >= 3 && matrix.devices.size() > 1)
        {
            exchanged[matrix.devices] += HALF * matrix.elements / matrix.devices.size();
        }
    }
    EmitExchange(exchanged, "momenta.all-to-all", ready);
    for (DeviceId device = 0; device < m_context.placement.nDevices; ++device)
    {
        if (own[device].empty() || !m_context.IsEmitted(device))
        {
            continue;
        }
        Task task;
        task.kind = TaskKind::COMPUTE;
        task.phase = m_context.phases.optimizer;
        task.place = device;
        task.stream = m_context.streams.compute;
        task.dataType = DataType::BF16;
        task.flops = flops[device];
        KernelDescription kernel;
        kernel.name = "orthogonal";
        kernel.kind = "newton-schulz";
        kernel.extents = {own[device].size()};
        kernel.flops = task.flops;
        kernel.dataType = task.dataType;
        kernel.pass = uint64_t{device} << 32 | task.phase;
        kernel.orthogonal = own[device];
        m_context.TimeKernel(kernel, task);
        ready[device] = {m_context.builder.AddTask(task, kernel.name, ready[device])};
    }
    EmitExchange(exchanged, "updates.all-to-all", ready);
}

} // namespace proteus
} // namespace ns3
