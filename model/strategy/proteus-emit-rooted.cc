/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-emit-rooted.h"

#include <algorithm>
#include <map>

namespace ns3
{
namespace proteus
{

/// Puts a scatter or a gather off until somebody reads its result.
/// @return whether this is one
bool
RootedEmitter::Defer(TensorId tensor, bool isGradient, const Value& made, const Cargo& cargo)
{
    const PlacedTensor& placed = m_context.placement.tensors[tensor];
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
RootedEmitter::EmitDeferred()
{
    if (!EmitAllToAll())
    {
        for (const Rooted& rooted : m_deferred)
        {
            m_tensors.Keep(rooted.tensor,
                           rooted.isGradient,
                           m_converter.EmitCollective(rooted.value, rooted.step, rooted.cargo));
        }
    }
    m_deferred.clear();
}

/// One all-to-all for scatters (or gathers) in one group whose roots are all its members, as
/// embedding tables spread over devices have them.
/// @return whether these are such
bool
RootedEmitter::EmitAllToAll()
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
    const TaskId id =
        m_context.builder.AddCommunication(first.sendPhase,
                                           m_context.builder.AddGroup(devices),
                                           m_context.streams.communication,
                                           first.name + ".all-to-all",
                                           Collective::ALL_TO_ALL,
                                           bytes,
                                           Converter::FindParallelism(m_deferred[0].step),
                                           ready);
    for (const Rooted& rooted : m_deferred)
    {
        const Layout& to = rooted.step.to;
        const Row row = m_context.EmitMemory(to,
                                             rooted.cargo.shape,
                                             rooted.cargo.elementBytes,
                                             rooted.cargo.receivePhase,
                                             rooted.cargo.name + ".all-to-all",
                                             Row(to.mesh->GetDevices().size(), id));
        m_tensors.Keep(rooted.tensor, rooted.isGradient, {to, {row}});
    }
    return true;
}

bool
RootedEmitter::IsDeferred(TensorId tensor, bool isGradient) const
{
    return std::any_of(m_deferred.begin(), m_deferred.end(), [&](const Rooted& rooted) {
        return rooted.tensor == tensor && rooted.isGradient == isGradient;
    });
}

} // namespace proteus
} // namespace ns3
