/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric-inline.h"
#include "proteus-required-arguments.h"

#include <algorithm>
#include <cmath>

/**
 * @file
 * @ingroup proteus
 * Where credits, shared buffers and PFC meet the way of a unit; losses.
 */

namespace ns3
{
namespace proteus
{

bool
Fabric::Admit(PortId id, const PacketRecord& record)
{
    PortState& port = m_ports[id];
    const uint32_t c = record.trafficClass;
    const std::size_t lane = m_ports.GetLane(id, c);
    const uint32_t wireBytes = port.GetWireBytes(record);
    SharedBuffers::Admission admission = SharedBuffers::Admission::REFUSED;
    if (m_buffers.IsLossless(c))
    {
        admission = m_buffers.Admit(port, lane, c, wireBytes);
    }
    else
    {
        const PortId out = Route(port.to, record);
        const uint64_t queued = out == NO_PORT ? 0 : GetQueueBytes(out, c);
        if (m_buffers.AdmitLossy(port, lane, queued, wireBytes))
        {
            admission = SharedBuffers::Admission::ADMITTED;
        }
    }
    if (admission == SharedBuffers::Admission::REFUSED)
    {
        ++port.statistics.droppedPackets;
        Drop(id, record);
        return false;
    }
    if (admission == SharedBuffers::Admission::PAUSE)
    {
        RequestPause(id, c);
    }
    return true;
}

void
Fabric::RequestPause(PortId id, uint32_t trafficClass)
{
    // What is due and not sent yet is taken back by its opposite.
    m_ports[id].pausing ^= 1u << trafficClass;
    PortState& port = m_ports[id ^ 1];
    port.pauseDue ^= 1u << trafficClass;
    RequestService(id ^ 1, std::max(port.freeAtPs, m_stepper.GetNowPs()));
}

void
Fabric::SendPause(PortId id)
{
    PortState& port = m_ports[id];
    const auto trafficClass = static_cast<uint32_t>(__builtin_ctz(port.pauseDue));
    port.pauseDue &= port.pauseDue - 1;
    PacketRecord record;
    record.kind = PacketKind::PAUSE;
    record.sequence = trafficClass;
    record.content = m_ports[id ^ 1].pausing >> trafficClass & 1;
    record.destination = port.to;
    record.timePs = m_stepper.GetNowPs();
    Transmit(id, record, port.sizes->controlWire);
}

void
Fabric::HandlePause(PortId id, const PacketRecord& record)
{
    const int64_t reactionPs = m_settings.buffers.pauseReaction.GetPicoSeconds();
    if (reactionPs == 0)
    {
        HeedPause(id, record.sequence, record.content != 0);
        return;
    }
    FabricCall call;
    call.timePs = m_stepper.GetNowPs() + reactionPs;
    call.order = 0;
    call.number = id;
    call.target = this;
    call.value = m_heedCalls.Add({id, m_ports[id].failures, record.sequence, record.content != 0});
    m_stepper.Call(call);
}

void
Fabric::HandleCall(uint32_t /* kind */, uint32_t value)
{
    const HeedCall heed = m_heedCalls[value];
    m_heedCalls.GiveBack(value);
    if (m_ports[heed.port].failures == heed.failures)
    {
        HeedPause(heed.port, heed.trafficClass, heed.pause);
    }
}

void
Fabric::HeedPause(PortId id, uint32_t trafficClass, bool pause)
{
    PortState& port = m_ports[id];
    const auto bit = static_cast<uint8_t>(1u << trafficClass);
    if (port.stormed && (!pause || (port.paused & bit) != 0))
    {
        return; // the next pause of the storm comes at once
    }
    if (pause)
    {
        ++port.statistics.pauses;
        if (port.paused == 0)
        {
            port.pausedSincePs = m_stepper.GetNowPs();
        }
        port.paused |= bit;
    }
    else
    {
        port.paused &= ~bit;
        if (port.paused == 0 && port.pausedSincePs >= 0)
        {
            port.statistics.pausedPs += m_stepper.GetNowPs() - port.pausedSincePs;
            port.pausedSincePs = -1;
        }
        RequestService(id, std::max(port.freeAtPs, m_stepper.GetNowPs()));
    }
    PacketRecord record;
    record.trafficClass = static_cast<uint8_t>(trafficClass);
    Trace(pause ? PortEvent::PAUSE : PortEvent::RESUME, id, record);
}

void
Fabric::SetPauseStorm(PortId id, bool on)
{
    RequireIndex(id, m_ports.GetSize(), "port", "the fabric");
    m_stepper.Synchronize();
    PortState& port = m_ports[id];
    for (uint32_t c = 0; c < m_ports.GetNClasses(); ++c)
    {
        const bool isPaused = IsPaused(id, c);
        const bool isWanted = (port.pausing >> c & 1) != 0; // by the end itself
        if (m_buffers.IsLossless(c) && isPaused != (on || isWanted))
        {
            port.stormed = false;
            HeedPause(id, c, on);
        }
    }
    port.stormed = on;
}

bool
Fabric::IsLost(PortId id, const PacketRecord& record) const
{
    if (record.kind == PacketKind::PAUSE)
    {
        return false; // real senders repeat them
    }
    const PortState& port = m_ports[id];
    const double intact = (1 - port.lossProbability) *
                          std::pow(1 - port.bitErrorRate, 8.0 * port.GetWireBytes(record));
    const uint64_t number = port.statistics.receivedPackets + port.statistics.lostPackets;
    return m_losses.Draw(*m_settings.forwarding.lossRandom, id, number) >= intact;
}

} // namespace proteus
} // namespace ns3
