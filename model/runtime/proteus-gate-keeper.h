/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GATE_KEEPER_H
#define PROTEUS_GATE_KEEPER_H

#include "proteus-device-tasks.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * The micro-batch gates of one device.
 */
class GateKeeper
{
  public:
    /// @param graph that is executed
    /// @param device whose gates
    /// @param tasks of the device
    GateKeeper(const ExecutionGraph& graph, DeviceId device, const DeviceTasks& tasks);

    /// @param phase of an entry of the schedule @return whether a gate holds it back
    bool IsHeldBack(PhaseId phase) const;

    /// @param entry that is admitted: it takes a place in the gates of its phase
    void Admit(const ScheduleEntry& entry);

    /// @param phase of a compute task that has ended @param microBatch of it
    void FinishCompute(PhaseId phase, uint32_t microBatch);

    /// @return most micro-batches admitted to a gate and not yet out of it, by gate
    const std::vector<uint32_t>& GetPeakInFlight() const
    {
        return m_peakInFlight;
    }

  private:
    /// A gate, and who is in it.
    struct Gate
    {
        MicroBatchGate gate;
        uint32_t inFlight{0};
        std::vector<bool> acquired; //!< by micro-batch
        std::vector<bool> released; //!< by micro-batch; one released before it is acquired never
                                    //!< counts
    };

    /// @param gate of this device @param microBatch that has gone through it
    static void Release(Gate& gate, uint32_t microBatch);

    std::vector<Gate> m_gates;
    std::vector<uint32_t> m_peakInFlight;                   //!< by gate
    std::vector<std::vector<uint32_t>> m_computeUnfinished; //!< by phase and micro-batch: tasks
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GATE_KEEPER_H
