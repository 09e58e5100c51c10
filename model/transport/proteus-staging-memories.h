/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STAGING_MEMORIES_H
#define PROTEUS_STAGING_MEMORIES_H

#include "proteus-queue-pair-timers.h"
#include "proteus-read-requests.h"
#include "proteus-transport-core.h"

#include <cstdint>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * The memories that messages pass on their way to a NIC: of a host, if the NIC does not reach it;
 * of the GPU next to the NIC, if the one that sends has another way there by NVLink (PXN). Two
 * things happen in them that know nothing of each other. The sender writes, which memory always
 * takes (posted writes wait for nothing behind them: PCI Express Base Specification, section 2.4,
 * transaction ordering). And the NIC reads, no more than it has room for (ReadRequests), and no
 * faster than the congestion control of the queue pair says, which is the NIC's. So no link waits,
 * with a unit in its receive buffer, for the NIC or the network behind it.
 */
class StagingMemories
{
  public:
    /// @param core of the transport @param reads of memories @param timers of queue pairs
    StagingMemories(TransportCore& core, ReadRequests& reads, QueuePairTimers& timers);

    /**
     * A unit of a queue pair with SenderState::STAGED has come to a waypoint.
     * @param record of it, with the link it came by
     * @param next waypoint
     * @return whether it goes on; otherwise it waits in memory for its NIC, its next waypoint
     */
    bool LetPass(const PacketRecord& record, VertexId next);

    /// The NIC of a queue pair has room for the first of its units that wait. @param id the queue
    /// pair @param timePs from when on
    void ReadAt(uint32_t id, int64_t timePs);

    /// @param id a queue pair that a timer is due for @param now present time
    /// @return whether its NIC has read a unit of it, and has room for one of another queue pair
    bool HandleTimer(uint32_t id, int64_t now);

  private:
    /// The NIC reads a unit, and sends it: round trips and timeouts count from then on.
    /// @param record of the unit @param now present time
    void Read(const PacketRecord& record, int64_t now);

    /// The first unit that waits waits for the pace, then for room. @param id its queue pair
    /// @param now present time
    void Wait(uint32_t id, int64_t now);

    TransportCore& m_core;     //!< of the transport
    ReadRequests& m_reads;     //!< of memories
    QueuePairTimers& m_timers; //!< of queue pairs
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STAGING_MEMORIES_H
