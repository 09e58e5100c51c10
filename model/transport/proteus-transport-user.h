/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TRANSPORT_USER_H
#define PROTEUS_TRANSPORT_USER_H

#include <cstdint>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Who uses queue pairs. Its functions are called at the fabric's time, Fabric::GetTimePs();
 * Simulator::Now() may be earlier. From here one may send on at once, but what needs the
 * simulator's clock must go through Fabric::CallAtPresent().
 */
class TransportUser
{
  public:
    virtual ~TransportUser() = default;

    /**
     * The last byte of a message has arrived, and all before it. Messages of a queue pair arrive
     * exactly once and in the order sent.
     * @param queuePair on which
     * @param tag that the sender gave it
     * @param bytes its size
     */
    virtual void ReceiveMessage(uint32_t queuePair, uint64_t tag, uint64_t bytes) = 0;

    /**
     * The sender has the acknowledgement of a message's last byte.
     * @param queuePair on which
     * @param tag that the sender gave it
     */
    virtual void ReceiveAcknowledgement(uint32_t queuePair, uint64_t tag) = 0;

    /**
     * The receiver of a queue pair has sent its sender a control unit.
     * @param queuePair on which
     * @param value what it says
     */
    virtual void ReceiveControl(uint32_t queuePair, uint32_t value)
    {
        static_cast<void>(queuePair);
        static_cast<void>(value);
    }

    /// @param value of a control unit that is under way @return what it says, in words that do not
    /// depend on when it was sent
    virtual uint64_t GetControlWord(uint32_t value) const
    {
        return value;
    }

    /**
     * Whoever uses the transport in another process (MPI rank) has said something by
     * Fabric::TellRank().
     * @param kind of the word, from TRANSPORT_USER_WORD on
     * @param data of it, not aligned
     */
    virtual void HandleRankWord(uint32_t kind, const uint8_t* data)
    {
        static_cast<void>(kind);
        static_cast<void>(data);
    }

    /**
     * What an operation of a group gives a member has all arrived. Where there are several planes,
     * a short operation may overtake a longer one.
     * @param group of the transport
     * @param member position in GroupOptions::members
     * @param tag that the member gave the operation; of a multicast, its sender
     * @param bytes its size
     */
    virtual void ReceiveGroupMessage(uint32_t group, uint32_t member, uint64_t tag, uint64_t bytes)
    {
        static_cast<void>(group);
        static_cast<void>(member);
        static_cast<void>(tag);
        static_cast<void>(bytes);
    }

    /**
     * All that a member has given to an operation of a group has arrived at the switches next to
     * it. What the switches make of it may still be under way.
     * @param group of the transport
     * @param member position in GroupOptions::members
     * @param tag that the member gave the operation
     */
    virtual void ReceiveGroupAcknowledgement(uint32_t group, uint32_t member, uint64_t tag)
    {
        static_cast<void>(group);
        static_cast<void>(member);
        static_cast<void>(tag);
    }
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TRANSPORT_USER_H
