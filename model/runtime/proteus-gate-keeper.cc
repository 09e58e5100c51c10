/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-gate-keeper.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

GateKeeper::GateKeeper(const ExecutionGraph& graph, DeviceId device, const DeviceTasks& tasks)
{
    for (PhaseId phase = 0; phase < graph.GetPhases().size(); ++phase)
    {
        const auto& locals = tasks.GetPhaseTasks(phase);
        const auto compute = std::count_if(locals.begin(), locals.end(), [&](uint32_t local) {
            return tasks.GetTask(local).kind == TaskKind::COMPUTE;
        });
        m_computeUnfinished.emplace_back(graph.GetPhases()[phase].microBatches,
                                         static_cast<uint32_t>(compute));
    }
    for (const MicroBatchGate& gate : graph.GetGates())
    {
        if (gate.device == device)
        {
            const uint32_t n = graph.GetPhases()[gate.acquire].microBatches;
            m_gates.push_back({gate, 0, std::vector<bool>(n), std::vector<bool>(n)});
        }
    }
    m_peakInFlight.assign(m_gates.size(), 0);
}

bool
GateKeeper::IsHeldBack(PhaseId phase) const
{
    return std::any_of(m_gates.begin(), m_gates.end(), [phase](const Gate& gate) {
        return gate.gate.acquire == phase && gate.inFlight >= gate.gate.limit;
    });
}

void
GateKeeper::Release(Gate& gate, uint32_t microBatch)
{
    gate.inFlight -= gate.acquired[microBatch];
    gate.released[microBatch] = true;
}

void
GateKeeper::Admit(const ScheduleEntry& entry)
{
    for (std::size_t i = 0; i < m_gates.size(); ++i)
    {
        Gate& gate = m_gates[i];
        if (gate.gate.acquire == entry.phase)
        {
            gate.acquired[entry.microBatch] = true;
            if (!gate.released[entry.microBatch])
            {
                m_peakInFlight[i] = std::max(m_peakInFlight[i], ++gate.inFlight);
            }
        }
        if (gate.gate.release == entry.phase &&
            m_computeUnfinished[entry.phase][entry.microBatch] == 0)
        {
            Release(gate, entry.microBatch);
        }
    }
}

void
GateKeeper::FinishCompute(PhaseId phase, uint32_t microBatch)
{
    if (--m_computeUnfinished[phase][microBatch] > 0)
    {
        return;
    }
    for (Gate& gate : m_gates)
    {
        if (gate.gate.release == phase)
        {
            Release(gate, microBatch);
        }
    }
}

} // namespace proteus
} // namespace ns3
