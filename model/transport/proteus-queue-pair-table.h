/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_QUEUE_PAIR_TABLE_H
#define PROTEUS_QUEUE_PAIR_TABLE_H

#include "proteus-queue-pair.h"

#include "ns3/proteus-fabric.h"
#include "ns3/proteus-huge-pages.h"

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * All queue pairs of a transport, and what can be asked about one of them. Ids count from 0.
 * Senders and receivers move when a queue pair is added; states stay where they are.
 */
class QueuePairTable
{
  public:
    /**
     * @param options of a new queue pair
     * @param flowHash from which its path is picked
     * @param firstSequence number of its first packet
     * @param ackClass traffic class of what its receiver sends
     * @return its id
     */
    uint32_t Add(const QueuePairOptions& options,
                 uint64_t flowHash,
                 uint32_t firstSequence,
                 uint32_t ackClass);

    /// @return number of queue pairs
    uint32_t GetN() const
    {
        return static_cast<uint32_t>(m_senders.size());
    }

    /// @param id a queue pair @return the half that sends
    SenderState& GetSender(uint32_t id)
    {
        return m_senders[id];
    }

    /// @copydoc GetSender
    const SenderState& GetSender(uint32_t id) const
    {
        return m_senders[id];
    }

    /// @param id a queue pair @return the half that receives
    ReceiverState& GetReceiver(uint32_t id)
    {
        return m_receivers[id];
    }

    /// @copydoc GetReceiver
    const ReceiverState& GetReceiver(uint32_t id) const
    {
        return m_receivers[id];
    }

    /// @param id a queue pair @return who acknowledges: the receiver, or its NIC
    ReceiverState& GetResponder(uint32_t id)
    {
        ReceiverState& receiver = m_receivers[id];
        return (receiver.flags & ReceiverState::NIC_ENDS) != 0 ? m_states[id].nicEnd->receiver
                                                               : receiver;
    }

    /// @copydoc GetResponder
    const ReceiverState& GetResponder(uint32_t id) const
    {
        const ReceiverState& receiver = m_receivers[id];
        return (receiver.flags & ReceiverState::NIC_ENDS) != 0 ? m_states[id].nicEnd->receiver
                                                               : receiver;
    }

    /// A message of a queue pair both of whose ends are in this process has been acknowledged, or
    /// delivered: those of which both is true are forgotten. @param id a queue pair
    void ForgetMessages(uint32_t id);

    /// @param id a queue pair @return the rest of it
    QueuePairState& GetState(uint32_t id)
    {
        return m_states[id];
    }

    /// @copydoc GetState
    const QueuePairState& GetState(uint32_t id) const
    {
        return m_states[id];
    }

    /// Brings a queue pair nearer to the processor. @param id a queue pair
    void Prefetch(uint32_t id) const
    {
        __builtin_prefetch(&m_receivers[id], 1);
        __builtin_prefetch(&m_states[id]);
        const char* sender = reinterpret_cast<const char*>(&m_senders[id]);
        __builtin_prefetch(sender, 1);
        __builtin_prefetch(sender + 64, 1);
    }

    /// @param id a queue pair @return what it carries for a group, if it does
    GroupLane& GetLane(uint32_t id)
    {
        return m_lanes[id];
    }

    /// @copydoc GetLane
    const GroupLane& GetLane(uint32_t id) const
    {
        return m_lanes[id];
    }

    /// @param id a queue pair @return hash of its flow, from which its path is picked
    uint64_t GetFlowHash(uint32_t id) const
    {
        return m_hashes[id];
    }

    /// @param id a queue pair @return what it has done
    QueuePairStatistics GetStatistics(uint32_t id) const;

    /// @param id a queue pair, or the id of none @return its ends, for captures
    QueuePairEnds GetEnds(uint32_t id) const;

    /// @param id a queue pair @param sequence a packet @return size of the message that the packet
    /// belongs to, 0 if that is acknowledged
    uint64_t GetMessageBytes(uint32_t id, uint32_t sequence) const;

    /// @param id a queue pair @param at a vertex that its units pass @param forward to the
    /// receiver @return where they go next
    VertexId GetNextWaypoint(uint32_t id, VertexId at, bool forward) const;

    /// @param id a queue pair @param sends whether its sender is in this process
    /// @param receives whether its receiver is @return an empty text, or what is under way on it
    std::string CheckAtRest(uint32_t id, bool sends, bool receives) const;

  private:
    std::vector<SenderState, HugePageAllocator<SenderState>> m_senders;       //!< by id
    std::vector<ReceiverState, HugePageAllocator<ReceiverState>> m_receivers; //!< by id
    std::vector<uint64_t, HugePageAllocator<uint64_t>> m_hashes;              //!< of flows, by id
    std::deque<QueuePairState> m_states;                                      //!< by id
    std::vector<GroupLane, HugePageAllocator<GroupLane>> m_lanes;             //!< by id
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_QUEUE_PAIR_TABLE_H
