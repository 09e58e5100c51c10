/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_RETURN_PATH_H
#define PROTEUS_RETURN_PATH_H

#include "proteus-transport-core.h"

#include <cstdint>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Sends what is no data: acknowledgements, notifications and control units from the receiver of a
 * queue pair to its sender, and the answers to control units the other way.
 */
class ReturnPath
{
  public:
    /// @param core of the transport
    explicit ReturnPath(TransportCore& core)
        : m_core(core)
    {
    }

    /// @param id a queue pair @param record for its sender, with kind, sequence and content
    void SendBack(uint32_t id, PacketRecord& record)
    {
        const QueuePairState& state = m_core.pairs.GetState(id);
        const VertexId first = state.waypoints.empty() ? state.source : state.waypoints.back();
        Send(id, state.destination, first, record);
    }

    /// The same from a stop on the way. @param from the receiver or a waypoint @param id a queue
    /// pair @param record for its sender, with kind
    void SendBackFrom(VertexId from, uint32_t id, PacketRecord& record)
    {
        if (from == m_core.pairs.GetState(id).destination)
        {
            SendBack(id, record);
        }
        else
        {
            Send(id, from, m_core.pairs.GetNextWaypoint(id, from, false), record);
        }
    }

    /// @param id a queue pair @param record for its receiver, with kind, sequence and content
    void SendForward(uint32_t id, PacketRecord& record)
    {
        record.flags |= PacketRecord::TURNED;
        Send(id,
             m_core.pairs.GetState(id).source,
             m_core.pairs.GetSender(id).firstWaypoint,
             record);
    }

    /// @return units sent
    uint64_t GetUnits() const
    {
        return m_units;
    }

    /// @param units that count as sent, besides
    void AddUnits(uint64_t units)
    {
        m_units += units;
    }

  private:
    /// @param id a queue pair @param from end that sends @param to first stop on the way
    /// @param record to send
    void Send(uint32_t id, VertexId from, VertexId to, PacketRecord& record)
    {
        record.queuePair = id;
        record.trafficClass = m_core.pairs.GetReceiver(id).trafficClass;
        record.destination = to;
        ++m_units;
        ++m_core.pairs.GetState(id).statistics.controlPackets;
        m_core.fabric->Send(from, record);
    }

    TransportCore& m_core; //!< of the transport
    uint64_t m_units{0};   //!< sent
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RETURN_PATH_H
