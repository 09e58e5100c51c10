/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CONTROL_UNITS_H
#define PROTEUS_CONTROL_UNITS_H

#include "proteus-queue-pair-timers.h"
#include "proteus-return-path.h"
#include "proteus-transport-core.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Control units: one word from the receiver of a queue pair to its sender, such as a clear-to-send.
 * Where their path crosses a network they arrive once and in order, and are repeated until they are
 * acknowledged. Inside a server nobody acknowledges them, but a link sees what it loses, as PCI
 * Express and NVLink do: that is sent again after Transport::RetransmissionTimeout, at most
 * RetryLimit times in a row, and may come behind what was sent meanwhile.
 */
class ControlUnits
{
  public:
    /// @param core of the transport @param timers of queue pairs @param back way to the senders
    ControlUnits(TransportCore& core, QueuePairTimers& timers, ReturnPath& back);

    /// @param id a queue pair @param value what to say
    void Send(uint32_t id, uint32_t value);

    /// @param record a control unit that has come to the sender
    void Receive(const PacketRecord& record);

    /// @param record acknowledgement of control units that has come to the receiver
    void ReceiveAcknowledgement(const PacketRecord& record);

    /// @param record a control unit that a link has lost
    void NoteLost(const PacketRecord& record);

    /**
     * Repeats control units whose acknowledgement is overdue, or that a link has lost.
     * @param id a queue pair
     * @param now present time
     * @throw std::runtime_error if that has been tried too often
     */
    void HandleTimer(uint32_t id, int64_t now);

    /// @return timeouts of all queue pairs so far
    uint64_t GetTimeouts() const
    {
        return m_timeouts;
    }

    /// @return units sent again by all queue pairs so far
    uint64_t GetRepeated() const
    {
        return m_repeated;
    }

  private:
    /// @param record a control unit that has come @param values appended with what is in order now
    void PutInOrder(const PacketRecord& record, std::vector<uint32_t>& values);

    TransportCore& m_core;     //!< of the transport
    QueuePairTimers& m_timers; //!< of queue pairs
    ReturnPath& m_back;        //!< way to the senders
    uint64_t m_timeouts{0};    //!< of all queue pairs
    uint64_t m_repeated{0};    //!< units of all queue pairs
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CONTROL_UNITS_H
