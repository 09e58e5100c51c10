/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_ACKNOWLEDGEMENTS_H
#define PROTEUS_ACKNOWLEDGEMENTS_H

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

/**
 * @ingroup proteus
 * What a sender makes of acknowledgements, positive and negative, and of their absence.
 */
class Acknowledgements
{
  public:
    /// @param core of the transport @param ports queue pairs take turns on
    /// @param timers of queue pairs @param rates of queue pairs @param recovery of lost packets
    Acknowledgements(TransportCore& core,
                     SendPorts& ports,
                     QueuePairTimers& timers,
                     RateControl& rates,
                     LossRecovery& recovery);

    /// @param record an acknowledgement, positive or negative, that has come home
    void Handle(const PacketRecord& record);

    /**
     * Repeats what is under way if its acknowledgement is overdue.
     * @param id a queue pair
     * @param now present time
     * @throw std::runtime_error if that has been tried too often
     */
    void HandleTimer(uint32_t id, int64_t now);

    /// @return retransmission timeouts of all queue pairs so far
    uint64_t GetTimeouts() const
    {
        return m_timeouts;
    }

  private:
    /// @param id a queue pair @param sequence before which all has arrived
    /// @return payload newly acknowledged
    uint64_t AdvanceUnacked(uint32_t id, uint32_t sequence);
    /// @param id a queue pair @param sequence before which all has arrived @param now present time:
    /// takes the round trip of the packet that is being timed if it is among those
    void MeasureRoundTrip(uint32_t id, uint32_t sequence, int64_t now);

    TransportCore& m_core;     //!< of the transport
    SendPorts& m_ports;        //!< they take turns on
    QueuePairTimers& m_timers; //!< of queue pairs
    RateControl& m_rates;      //!< of queue pairs
    LossRecovery& m_recovery;  //!< of lost packets
    uint64_t m_timeouts{0};    //!< of all queue pairs
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_ACKNOWLEDGEMENTS_H
