/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FABRIC_ENDPOINT_H
#define PROTEUS_FABRIC_ENDPOINT_H

#include "proteus-packet.h"

#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Whom a queue pair joins, for those who name it in traces.
struct QueuePairEnds
{
    VertexId source{Cluster::NO_VERTEX};             //!< sends data; NO_VERTEX: not known
    VertexId destination{Cluster::NO_VERTEX};        //!< receives data
    const std::vector<VertexId>* waypoints{nullptr}; //!< between them; null: none
};

/**
 * @ingroup proteus
 * What stands at the ends of the fabric: the transport. Its functions are called at the fabric's
 * time, Fabric::GetTimePs(); Simulator::Now() may be earlier.
 */
class FabricEndpoint
{
  public:
    virtual ~FabricEndpoint() = default;

    /// Deliver(): the packet ends here, or is kept until Fabric::Send() is called with it.
    static constexpr VertexId CONSUMED = Cluster::NO_VERTEX;
    /// Deliver(): the packet goes on as the copies that Replicate() names.
    static constexpr VertexId REPLICATED = Cluster::NO_VERTEX - 1;

    /**
     * A port of an endpoint is free, and Fabric::Offer() was called for it.
     * @param port the port
     * @param classes bit c: traffic class c may be sent now (it is neither paused nor out of
     * credits)
     * @param record to fill with the next unit to send; ingress is the fabric's
     * @param nextPs set to when there may be another unit of these classes: present or earlier for
     * at once, INT64_MAX for not before the next Offer(). If not all classes could be sent, the
     * fabric also asks when another one can
     * @return whether there is a unit
     */
    virtual bool Pull(PortId port, uint32_t classes, PacketRecord& record, int64_t& nextPs) = 0;

    /**
     * The last byte of a packet has reached its destination.
     * @param record the packet
     * @param at its destination
     * @return the next waypoint, CONSUMED, or REPLICATED
     */
    virtual VertexId Deliver(const PacketRecord& record, VertexId at) = 0;

    /// Deliver() will be called with a packet soon: brings what that needs nearer to the processor.
    /// @param record the packet
    virtual void Prepare(const PacketRecord& record) const
    {
        static_cast<void>(record);
    }

    /**
     * Deliver() has returned REPLICATED.
     * @param record the packet
     * @param at where it is
     * @param copies to append the packets to that go on from there
     */
    virtual void Replicate(const PacketRecord& record,
                           VertexId at,
                           std::vector<PacketRecord>& copies)
    {
        static_cast<void>(record);
        static_cast<void>(at);
        static_cast<void>(copies);
    }

    /// @param queuePair a queue pair @return the hash that picks its path among equals
    virtual uint64_t GetFlowHash(uint32_t queuePair) const = 0;

    /// The time given to Fabric::SetTimer() has come.
    virtual void HandleTimer()
    {
    }

    /**
     * A data packet leaves a NIC that it has entered from inside its server.
     * @param record the packet
     * @param timePs when its last byte leaves
     */
    virtual void LeaveNic(const PacketRecord& record, int64_t timePs)
    {
        static_cast<void>(record);
        static_cast<void>(timePs);
    }

    /// A data packet or control unit is lost. @param record the packet
    virtual void Lose(const PacketRecord& record)
    {
        static_cast<void>(record);
    }

    /**
     * A data packet leaves a network switch, and Fabric::SetTelemetry() is on.
     * @param record the packet
     * @param hop what the port says
     */
    virtual void CollectTelemetry(const PacketRecord& record, const HopTelemetry& hop)
    {
        static_cast<void>(record);
        static_cast<void>(hop);
    }

    /// @param queuePair a queue pair @return whom it joins
    virtual QueuePairEnds GetEnds(uint32_t queuePair) const
    {
        static_cast<void>(queuePair);
        return {};
    }

    /**
     * @param queuePair a queue pair
     * @param sequence of a data packet that its sender has not finished with
     * @return bytes of its message, 0 if that is not known any more
     */
    virtual uint64_t GetMessageBytes(uint32_t queuePair, uint32_t sequence) const
    {
        static_cast<void>(queuePair);
        static_cast<void>(sequence);
        return 0;
    }

    /**
     * An endpoint of another rank has said something by Fabric::TellRank().
     * @param kind from USER_WORD on
     * @param data of the word, not aligned
     */
    virtual void HandleRankWord(uint32_t kind, const uint8_t* data)
    {
        static_cast<void>(kind);
        static_cast<void>(data);
    }

    /// Links have failed or been repaired, and Fabric::GetPaths() has changed.
    virtual void HandleTopologyChange()
    {
    }
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FABRIC_ENDPOINT_H
