/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PACKET_SENDER_H
#define PROTEUS_PACKET_SENDER_H

#include "proteus-loss-recovery.h"
#include "proteus-queue-pair-timers.h"
#include "proteus-rate-control.h"
#include "proteus-send-ports.h"
#include "proteus-transport-core.h"

#include <cstdint>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What all senders of a transport have sent.
struct SenderTotals
{
    uint64_t packets{0};       //!< data packets, repeated ones included
    uint64_t retransmitted{0}; //!< of them repeated
    uint64_t bytes{0};         //!< payload, without repetition
};

/**
 * @ingroup proteus
 * Cuts messages into packets, and fills the records of those that are sent: new ones, and repeated
 * ones.
 */
class PacketSender
{
  public:
    /// @param core of the transport @param ports queue pairs take turns on
    /// @param timers of queue pairs @param rates of queue pairs @param recovery of lost packets
    PacketSender(TransportCore& core,
                 SendPorts& ports,
                 QueuePairTimers& timers,
                 RateControl& rates,
                 LossRecovery& recovery);

    /// Appends a message. @param id a queue pair @param bytes its size, at least 1
    /// @param tag goes with it
    void Append(uint32_t id, uint64_t bytes, uint64_t tag);

    /**
     * A port is free.
     * @param port of an endpoint
     * @param classes bits of the traffic classes that may send
     * @param record filled with the next packet
     * @param nextPs set to the time to ask again
     * @return whether there is a packet
     */
    bool Pull(PortId port, uint32_t classes, PacketRecord& record, int64_t& nextPs);

    /// @param id a queue pair with SenderState::SEND_TIMES @param sequence of a packet of it
    /// @param timePs when it leaves, which counts until it is called again
    void NoteSendTime(uint32_t id, uint32_t sequence, int64_t timePs);

    /// @return what has been sent
    const SenderTotals& GetTotals() const
    {
        return m_totals;
    }

    /// @param packets that count as sent, besides @param bytes their payload
    void AddTotals(uint64_t packets, uint64_t bytes)
    {
        m_totals.packets += packets;
        m_totals.bytes += bytes;
    }

  private:
    /// @param sender that has sent a packet @param now present time @param payloadBytes of it
    static void Pace(SenderState& sender, int64_t now, uint32_t payloadBytes);
    /// @param id a queue pair @param sender its sender @param now present time
    /// @param record filled with its next new packet
    void FillNext(uint32_t id, SenderState& sender, int64_t now, PacketRecord& record);
    /// @param id a queue pair @param sender its sender @param now present time
    /// @param record filled with the next packet to repeat @return whether there was one
    bool FillLost(uint32_t id, SenderState& sender, int64_t now, PacketRecord& record);
    /// What is rarely needed of a packet that is about to be sent. @param id a queue pair
    /// @param sender its sender @param now present time @param record the packet
    void WatchPacket(uint32_t id, SenderState& sender, int64_t now, const PacketRecord& record);

    TransportCore& m_core;     //!< of the transport
    SendPorts& m_ports;        //!< they take turns on
    QueuePairTimers& m_timers; //!< of queue pairs
    RateControl& m_rates;      //!< of queue pairs
    LossRecovery& m_recovery;  //!< of lost packets
    SenderTotals m_totals;     //!< what has been sent
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PACKET_SENDER_H
