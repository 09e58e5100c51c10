/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PACKET_RECEIVER_H
#define PROTEUS_PACKET_RECEIVER_H

#include "proteus-copy-limiters.h"
#include "proteus-queue-pair-timers.h"
#include "proteus-return-path.h"
#include "proteus-transport-core.h"

#include <cstdint>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Takes data packets, puts them into order, delivers messages, and acknowledges.
 */
class PacketReceiver
{
  public:
    /// @param core of the transport @param limiters of copies @param timers of queue pairs
    /// @param back way to the senders
    PacketReceiver(TransportCore& core,
                   CopyLimiters& limiters,
                   QueuePairTimers& timers,
                   ReturnPath& back);

    /// @param record data @param receiver where it has arrived
    void Receive(const PacketRecord& record, ReceiverState& receiver);

    /// @param record data of a queue pair with a NicEnd @param at where it is now
    /// @return whether it goes on: not if that is the NIC, and has it already or cannot take it
    bool PassNic(const PacketRecord& record, VertexId at);

    /// @param record data of a queue pair with a NicEnd, which is lost: if that was behind the NIC,
    /// the NIC sends it again
    void Lose(const PacketRecord& record);

    /// A message is on its way from another rank. @param id its queue pair @param message what it
    /// is
    void Expect(uint32_t id, const QueuePairMessage& message);

    /// @param id a queue pair @param now present time: sends a delayed acknowledgement that is due,
    /// and again what was lost behind the NIC
    void HandleTimer(uint32_t id, int64_t now);

  private:
    /// @param record data @param receiver where it has arrived @param held packets ahead there
    /// @return whether it is taken
    bool Take(const PacketRecord& record, ReceiverState& receiver, SequenceSet& held);
    /// @param record data that has been taken @param receiver that acknowledges it, if asked
    void Answer(const PacketRecord& record, ReceiverState& receiver);
    /// @param record data that is not the expected packet @param receiver where it has arrived
    /// @param held packets ahead there @return whether it is taken
    bool TakeOutOfOrder(const PacketRecord& record, ReceiverState& receiver, SequenceSet& held);
    /// @param record a packet that has arrived before @param receiver where
    /// @param held packets ahead there @return whether that is so
    bool IsDuplicate(const PacketRecord& record,
                     const ReceiverState& receiver,
                     const SequenceSet& held) const;
    /// @param receiver that has got the packet it missed @param held packets ahead there
    static void CloseGap(ReceiverState& receiver, SequenceSet& held);
    /// @param record data that the NIC has taken @param receiver where it has arrived
    void PutInOrder(const PacketRecord& record, ReceiverState& receiver);
    /// @param id a queue pair that takes packets in order only, and misses one
    /// @param receiver its receiver
    void AskAgain(uint32_t id, ReceiverState& receiver);
    /// @param record marked data @param receiver where it has arrived
    void NoteMark(const PacketRecord& record, ReceiverState& receiver);
    /// Notifies the sender of congestion, if that was not done a moment ago. @param id a queue pair
    /// @param receiver where the mark has arrived
    void Notify(uint32_t id, ReceiverState& receiver);
    /// @param id a queue pair at whose receiver messages have become complete
    void DeliverMessages(uint32_t id);
    /// @param id a queue pair @param kind ACKNOWLEDGE or NEGATIVE_ACKNOWLEDGE
    /// @param offset of the packet that causes it from the expected one; NO_OFFSET if none does
    void SendAcknowledgement(uint32_t id, PacketKind kind, int32_t offset);

    TransportCore& m_core;     //!< of the transport
    CopyLimiters& m_limiters;  //!< of copies
    QueuePairTimers& m_timers; //!< of queue pairs
    ReturnPath& m_back;        //!< way to the senders
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PACKET_RECEIVER_H
