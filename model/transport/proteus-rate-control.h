/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_RATE_CONTROL_H
#define PROTEUS_RATE_CONTROL_H

#include "proteus-queue-pair-timers.h"
#include "proteus-transport-core.h"

#include "ns3/traced-callback.h"

#include <cstdint>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Tells the congestion controls of queue pairs what has happened, and makes rate and window of the
 * senders what they say.
 */
class RateControl
{
  public:
    /// What is called when the rate or window of a queue pair has changed; see
    /// Transport::CongestionTracedCallback.
    using Trace = TracedCallback<uint32_t, double, uint64_t, int64_t>;

    /// @param core of the transport @param timers of queue pairs @param trace called on changes
    RateControl(TransportCore& core, QueuePairTimers& timers, Trace& trace);

    /// @param id a queue pair whose congestion control may have changed its mind
    void Apply(uint32_t id);

    /**
     * An acknowledgement has come.
     * @param id a queue pair
     * @param record the acknowledgement
     * @param ackedBytes newly acknowledged
     * @param ackedPackets newly acknowledged
     * @param now present time
     */
    void OnAcknowledgement(uint32_t id,
                           const PacketRecord& record,
                           uint64_t ackedBytes,
                           uint32_t ackedPackets,
                           int64_t now);

    /// A congestion notification has come. @param id a queue pair
    void OnNotification(uint32_t id);

    /// So many bytes have been sent as the control wanted to know. @param id a queue pair
    /// @param now present time
    void OnBytesSent(uint32_t id, int64_t now);

    /// The retransmission timeout has passed. @param id a queue pair @param now present time
    void OnTimeout(uint32_t id, int64_t now);

    /// @param id a queue pair @param now present time @return whether the control's own timer was
    /// due; it has been called then
    bool HandleTimer(uint32_t id, int64_t now);

  private:
    TransportCore& m_core;     //!< of the transport
    QueuePairTimers& m_timers; //!< of queue pairs
    Trace& m_trace;            //!< a rate or window has changed
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RATE_CONTROL_H
