/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SEND_PORTS_H
#define PROTEUS_SEND_PORTS_H

#include "proteus-active-queues.h"
#include "proteus-copy-limiters.h"
#include "proteus-read-requests.h"
#include "proteus-staging-memories.h"
#include "proteus-transport-core.h"

#include <cstdint>
#include <map>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Decides which queue pair sends next on a port of an endpoint. Lower traffic classes go first; in
 * a class, queue pairs take turns packet by packet. Queue pairs that are paced wait for their time,
 * and copies for the turn of their port at the memory.
 */
class SendPorts
{
  public:
    /// "No queue pair".
    static constexpr uint32_t NONE = ActiveSlot::NO_QUEUE_PAIR;

    /// @param core of the transport @param limiters of copies @param reads of memories
    /// @param memories of hosts that NICs read
    SendPorts(TransportCore& core,
              CopyLimiters& limiters,
              ReadRequests& reads,
              StagingMemories& memories);

    /// Makes room for the ports of the fabric; once.
    void SetUp();

    /// @param id a queue pair that gets the ports that lead to its first waypoint
    void Assign(uint32_t id);

    /// @param id a queue pair whose ports may lead elsewhere now
    void Reassign(uint32_t id);

    /// @param id a queue pair @return the ports that it may leave its source by
    std::vector<PortId> GetPorts(uint32_t id) const;

    /// @param id a queue pair that may have become able to send
    void Activate(uint32_t id);

    /**
     * @param id of a port
     * @param classes bits of the traffic classes that may send
     * @param now present time
     * @param nextPs if there is none: when to ask again
     * @return the queue pair whose turn it is, or NONE
     */
    uint32_t Choose(PortId id, uint32_t classes, int64_t now, int64_t& nextPs);

    /**
     * The queue pair that Choose() has returned has filled a packet.
     * @param id of the port
     * @param classes bits of the traffic classes that may send
     * @param pair the queue pair
     * @param payloadBytes of the packet
     * @param now present time
     * @return when to ask for the next packet
     */
    int64_t FinishTurn(PortId id,
                       uint32_t classes,
                       uint32_t pair,
                       uint32_t payloadBytes,
                       int64_t now);

    /// A reader has room again. @param pair a queue pair whose unit it had
    /// @param timePs from when on
    void ReturnRead(uint32_t pair, int64_t timePs);

    /// @param pair a queue pair whose reader has room for another unit @param timePs from when on
    void WakeReader(uint32_t pair, int64_t timePs);

    /// @param pair a queue pair @param nowPs present time @param words that get all that is known
    /// of its turns, times from now on
    void AppendState(uint32_t pair, int64_t nowPs, std::vector<uint64_t>& words) const;

  private:
    /// @param sender with several ports @return its slot at the port whose turn it is
    uint32_t GetTurnSlot(const SenderState& sender) const;
    /// @param slot that is to stand in the list of its port
    void List(uint32_t slot);
    /// @param port of an endpoint @param now present time: moves slots whose time has come
    void ReleasePaced(ActiveQueues& port, int64_t now);
    /// @param port whose first slot is to wait @param trafficClass of its list
    void PaceFirst(ActiveQueues& port, uint32_t trafficClass);

    /// @param rates of the ports of a queue pair, bytes per second @return the port of every turn,
    /// beginning with the first port; as long as this object
    const std::vector<uint8_t>& GetTurns(const std::vector<double>& rates);

    TransportCore& m_core;                                               //!< of the transport
    CopyLimiters& m_limiters;                                            //!< of copies
    ReadRequests& m_reads;                                               //!< of memories
    StagingMemories& m_memories;                                         //!< that NICs read
    std::vector<ActiveQueues, HugePageAllocator<ActiveQueues>> m_active; //!< by PortId
    ActiveSlots m_slots;                                                 //!< of all queue pairs
    std::map<std::vector<double>, std::vector<uint8_t>> m_turns;         //!< GetTurns()
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SEND_PORTS_H
