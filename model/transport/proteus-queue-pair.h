/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_QUEUE_PAIR_H
#define PROTEUS_QUEUE_PAIR_H

#include "proteus-congestion-control.h"
#include "proteus-sequence.h"

#include "ns3/proteus-packet.h"
#include "ns3/proteus-ring-buffer.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The state of queue pairs. What is touched for every packet lies in cache lines of its own, two at
 * the sender and one at the receiver.
 */

namespace ns3
{
namespace proteus
{

class TransportUser;

/// @ingroup proteus
/// What CreateQueuePair() makes.
struct QueuePairOptions
{
    VertexId source{0};      //!< endpoint that sends messages
    VertexId destination{0}; //!< endpoint that receives them
    /// What units pass and are sent on from, in order: the NICs at both ends for GPUDirect RDMA, a
    /// CPU where a copy goes through host memory. All different.
    std::vector<VertexId> waypoints;
    uint64_t flow{0}; //!< names the flow; the path depends on it and on the random stream only
    uint32_t trafficClass{1};               //!< of the data
    CopyMethod copyMethod{CopyMethod::DMA}; //!< who moves the bytes at the source
    /// CopyMethod::SM: what the kernel moves, bytes per second; 0: Vertex::smCopyBytesPerSecond
    double copyBytesPerSecond{0};
    /// At which of the NVLinks that lead on it waits first where it is paced, counted round: what a
    /// GPU sends at a time should not all wait at the same one.
    uint32_t firstPort{0};
    std::string congestionControl; //!< empty: the transport's attribute decides
    TransportUser* user{nullptr};  //!< whom to tell; null: whom Transport::SetFabric() was given
};

/// @ingroup proteus
/// What a queue pair has done. What changes often comes first.
struct QueuePairStatistics
{
    uint64_t controlPackets{0};       //!< acknowledgements, notifications and control units
    int64_t lastRttPs{-1};            //!< round trip, -1 before the first
    int64_t minRttPs{-1};             //!< smallest round trip, -1 before the first
    uint64_t sentBytes{0};            //!< payload handed to the fabric, without repetition
    uint64_t receivedBytes{0};        //!< payload that has arrived, without repetition
    uint64_t acknowledgedBytes{0};    //!< payload that the sender knows to have arrived
    uint64_t messages{0};             //!< messages delivered
    uint64_t retransmittedPackets{0}; //!< packets sent again
    uint64_t duplicatePackets{0};     //!< packets that arrived again
    uint64_t droppedPackets{0}; //!< out of order under go-back-N, or beyond the reorder buffer
    uint64_t markedPackets{0};  //!< data packets that arrived with a congestion mark
    uint64_t notifications{0};  //!< congestion notifications received by the sender
    uint64_t timeouts{0};       //!< retransmission timeouts
    double bytesPerSecond{0};   //!< present rate limit on the wire, infinity for none
    uint64_t windowBytes{0};    //!< present window, CongestionControl::UNLIMITED for none
};

/// @ingroup proteus
/// What a queue pair did in a while, none of it more than once.
struct QueuePairWork
{
    uint64_t bytes{0};          //!< payload sent, received and acknowledged
    uint64_t packets{0};        //!< of data
    uint64_t messages{0};       //!< delivered
    uint64_t controlPackets{0}; //!< acknowledgements and control units
    uint64_t repairs{0};        //!< packets repeated or refused, timeouts
    int64_t lastRttPs{-1};      //!< last round trip, -1 for none
    int64_t minRttPs{-1};       //!< smallest round trip, -1 for none
};

/// @ingroup proteus
/// "No time".
constexpr int64_t NEVER_PS = std::numeric_limits<int64_t>::max();

/// @ingroup proteus
/// Bits of a fraction of a picosecond in SenderState::nextSend.
constexpr uint32_t PACING_BITS = 10;

/// @ingroup proteus
/// Bits of a fraction of a picosecond in SenderState::psPerByte.
constexpr uint32_t PACE_FRACTION_BITS = 24;

/// @ingroup proteus
/// @param nextSend SenderState::nextSend @return the first picosecond from then on
inline int64_t
GetSendPs(int64_t nextSend)
{
    return (nextSend + (int64_t{1} << PACING_BITS) - 1) >> PACING_BITS;
}

/// @ingroup proteus
/// @param psPerByte SenderState::psPerByte @param bytes of a packet, on the wire
/// @return time until the next packet, in ps x 2^PACING_BITS
inline int64_t
GetPaceInterval(uint64_t psPerByte, uint32_t bytes)
{
    return static_cast<int64_t>(bytes * psPerByte >> (PACE_FRACTION_BITS - PACING_BITS));
}

/**
 * @ingroup proteus
 * @param nextSend earliest time of a packet that is sent now, in ps x 2^PACING_BITS
 * @param psPerByte pace, fixed point with PACE_FRACTION_BITS
 * @param bytes of the packet, on the wire
 * @param nowPs present time
 * @return earliest time of the next packet; after a wait for something else than the pace, one
 * packet is caught up
 */
inline int64_t
PaceNext(int64_t nextSend, uint64_t psPerByte, uint32_t bytes, int64_t nowPs)
{
    const int64_t interval = GetPaceInterval(psPerByte, bytes);
    return std::max(nextSend, (nowPs << PACING_BITS) - interval) + interval;
}

/**
 * @ingroup proteus
 * What an acknowledgement says in 32 bits besides the sequence: how many marked packets the
 * receiver has seen since the last one, and which packet caused it.
 */
struct AckContent
{
    /// Offset that says that no packet has caused it, or an old one.
    static constexpr int32_t NO_OFFSET = -(1 << 19);

    /// @param marks packets @param offset of the packet from the acknowledgement's sequence
    /// @return the content
    static uint32_t Make(uint32_t marks, int32_t offset)
    {
        const int32_t fitting = offset < NO_OFFSET || offset >= -NO_OFFSET ? NO_OFFSET : offset;
        return static_cast<uint32_t>(fitting) << 12 | std::min<uint32_t>(marks, 0xfff);
    }

    /// @param content of an acknowledgement @return marked packets, at most 4095
    static uint32_t GetMarks(uint32_t content)
    {
        return content & 0xfff;
    }

    /// @param content of an acknowledgement @return the offset
    static int32_t GetOffset(uint32_t content)
    {
        return static_cast<int32_t>(content) >> 12;
    }
};

/**
 * @ingroup proteus
 * Makes room in a table by packet number.
 * @param table a power of two of places, or empty
 * @param first oldest packet that is in it
 * @param packets that it has to hold from there on
 */
template <typename T>
void
GrowBySequence(std::vector<T>& table, uint32_t first, uint32_t packets)
{
    if (packets <= table.size())
    {
        return;
    }
    std::size_t size = table.empty() ? 16 : table.size();
    while (size < packets)
    {
        size *= 2;
    }
    std::vector<T> grown(size);
    for (uint32_t i = 0; i < table.size(); ++i)
    {
        const uint32_t number = first + i;
        grown[number & (size - 1)] = table[number & (table.size() - 1)];
    }
    table.swap(grown);
}

/// @ingroup proteus
/// A message between Send() and its acknowledgement.
struct QueuePairMessage
{
    uint64_t tag{0};      //!< of the user
    uint64_t bytes{0};    //!< payload
    uint64_t position{0}; //!< payload of the queue pair before it
    uint32_t first{0};    //!< number of its first packet
    uint32_t end{0};      //!< number after its last packet
};

/// @ingroup proteus
/// The half of a queue pair that sends data.
struct alignas(64) SenderState
{
    /// Bits of `flags`.
    enum Flag : uint16_t
    {
        LOST = 1,          //!< there are packets to be sent again
        TIMING = 2,        //!< the packet before `timedSequence` is being timed
        SEND_TIMES = 4,    //!< the time of every packet is kept
        TELEMETRY = 8,     //!< what every packet meets is kept
        GROUP = 16,        //!< lane of a group: no acknowledgements
        ACK_MESSAGES = 32, //!< every message asks for an acknowledgement
        WAITING = 64,      //!< something is to come that a timer watches over
        SELECTIVE = 128,   //!< repeats single packets
        COPY_ENGINE = 256, //!< moved by a copy engine of the source
        READ = 512,        //!< a device reads it: ReadRequests
        STAGED = 1024,     //!< a NIC reads it from a memory on its way: MemoryStage
    };

    static constexpr uint32_t METHOD_SHIFT = 14; //!< of the CopyMethod, behind `flags`

    // Read and written for every packet.
    uint64_t totalBytes{0};                             //!< payload of all messages so far
    uint64_t nextBytes{0};                              //!< payload before packet `next`
    uint64_t ackedBytes{0};                             //!< payload before packet `unacked`
    uint64_t windowBytes{CongestionControl::UNLIMITED}; //!< bytes in flight that stop sending
    int64_t nextSend{0};     //!< pacing: earliest next packet, in ps x 2^PACING_BITS
    uint64_t psPerByte{0};   //!< pacing, fixed point with 24 bits; 0 for none
    uint64_t messageLeft{0}; //!< of message `sending`; 0: all of it
    uint32_t next{0};        //!< number of the next packet
    uint32_t unacked{0};     //!< number of the oldest packet not acknowledged

    int64_t activePs{0};                             //!< when the timeout began to run
    int64_t armedPs{NEVER_PS};                       //!< its earliest entry among the timers
    uint64_t byteMark{CongestionControl::UNLIMITED}; //!< nextBytes at which the control is called
    uint32_t highest{0};                             //!< number after the last packet ever sent
    uint32_t headEnd{0};       //!< number after the last packet of the oldest message
    uint32_t sending{0};       //!< number of the message being cut into packets
    uint32_t unitBytes{0};     //!< most payload of a packet
    VertexId firstWaypoint{0}; //!< where packets are sent to first
    uint32_t firstSlot{0};     //!< of its places in the lists of ports
    uint32_t timedSequence{0}; //!< number after the packet being timed
    uint16_t ackEvery{0};      //!< packets per acknowledgement; 0: only messages ask
    uint16_t sinceRequest{0};  //!< packets since the last that asked
    uint16_t paceHeader{0};    //!< bytes that pacing adds to the payload of a packet
    uint16_t flags{0};         //!< of Flag, and a CopyMethod
    uint8_t nSlots{0};         //!< ports it may leave the source by
    uint8_t nTurns{0};         //!< turns at them, which repeat: SendPorts::Assign()
    uint8_t trafficClass{1};   //!< of its data
    uint8_t turn{0};           //!< at whose port it waits for its pace

    /// @return who moves its data
    CopyMethod GetCopyMethod() const
    {
        return static_cast<CopyMethod>(flags >> METHOD_SHIFT);
    }

    /// @param method who moves its data
    void SetCopyMethod(CopyMethod method)
    {
        static_assert(COPY_METHODS <= 1 << (16 - METHOD_SHIFT), "methods have two bits");
        flags = static_cast<uint16_t>((flags & ((1 << METHOD_SHIFT) - 1)) |
                                      static_cast<uint32_t>(method) << METHOD_SHIFT);
    }

    /// @return payload sent and not acknowledged
    uint64_t GetInFlight() const
    {
        return nextBytes - ackedBytes;
    }

    /// @return whether there is a packet to send, and the window lets it
    bool CanSend() const
    {
        return (nextBytes != totalBytes && nextBytes - ackedBytes < windowBytes) ||
               (flags & LOST) != 0;
    }
};

static_assert(sizeof(SenderState) == 128, "a sender is two cache lines");

/// @ingroup proteus
/// The half of a queue pair that receives data.
struct alignas(64) ReceiverState
{
    /// Bits of `flags`.
    enum Flag : uint16_t
    {
        REQUESTED = 1,   //!< packets before `requestEnd` are to be acknowledged when complete
        IN_ORDER = 2,    //!< takes packets in order only: go-back-N
        REPORT_GAPS = 4, //!< acknowledges packets out of order at once
        NOTIFY = 8,      //!< sends congestion notifications
        NAK_SENT = 16,   //!< has asked for packet `expected`
        LIMITED = 32,    //!< its GPU has a limited memory
        READ = 64,       //!< it reads it: ReadRequests
        NIC_ENDS = 128,  //!< a NIC of its server acknowledges and notifies: NicEnd
        DELAYS_ACK = 256 //!< acknowledges some time after a packet: QueuePairState::ackDelayPs
    };

    uint64_t receivedBytes{0};         //!< payload, without repetition
    int64_t notifiedPs{INT64_MIN / 2}; //!< last congestion notification
    int64_t ackDuePs{NEVER_PS};        //!< when a delayed acknowledgement is due
    int64_t nakPs{0};                  //!< last negative acknowledgement
    VertexId vertex{0};                //!< where it is
    uint32_t expected{0};              //!< number of the first packet it misses
    uint32_t messageEnd{0};            //!< number after the last packet of message `delivering`
    uint32_t delivering{0};            //!< number of the first message not delivered
    uint32_t held{0};                  //!< packets that came before their turn
    uint32_t requestEnd{0};            //!< see REQUESTED
    uint16_t marks{0};                 //!< marked packets since the last acknowledgement
    uint16_t flags{0};                 //!< of Flag
    uint8_t trafficClass{0};           //!< of its acknowledgements
};

static_assert(sizeof(ReceiverState) == 64, "a receiver is one cache line");

/// @ingroup proteus
/// What a packet met on its way.
struct HopStack
{
    /// Most hops kept.
    static constexpr uint32_t MAX_HOPS = 8;

    HopTelemetry hops[MAX_HOPS]; //!< in order
    uint32_t nHops{0};           //!< kept
};

/// @ingroup proteus
/// A control unit that has not been acknowledged.
struct PendingControl
{
    uint32_t sequence; //!< its number
    uint32_t value;    //!< what it says
};

/// @ingroup proteus
/// What the sender of a queue pair knows of lost packets.
struct RepeatState
{
    uint32_t nSelected{0};       //!< of them
    uint32_t highestSelected{0}; //!< number of the last of them
    uint32_t examined{0};        //!< gaps before this packet have been dealt with
    uint32_t repeatEnd{0};       //!< after a timeout, packets before this one are to be repeated
    uint32_t recoverEnd{0};      //!< recovery ends when this packet is the oldest
    bool recovering{false};      //!< packets have been lost
    SequenceSet selected;        //!< selective repeat: packets after `unacked` that have arrived
    RingBuffer<uint32_t> lost;   //!< to be sent again
};

/// @ingroup proteus
/// The control units of a queue pair, which go from its receiver to its sender.
struct ControlUnitState
{
    bool isReliable{false};             //!< they are acknowledged
    uint32_t next{0};                   //!< number of the next one
    uint32_t expected{0};               //!< number of the first one not received
    uint32_t retries{0};                //!< timeouts in a row
    int64_t activePs{0};                //!< when the timeout began to run
    RingBuffer<PendingControl> pending; //!< not acknowledged, or lost
    std::vector<PendingControl> ahead;  //!< received before their turn
};

/// @ingroup proteus
/// What a queue pair is that carries units of a group to its switches.
struct GroupLane
{
    uint32_t group{0};     //!< of the transport
    uint32_t member{0};    //!< who sends
    uint32_t plane{0};     //!< which tree
    bool multicast{false}; //!< its own multicasts, or its part of reductions
};

/// @ingroup proteus
/// Units of a queue pair that are in a memory on their way to a NIC, which reads them there:
/// StagingMemories.
struct MemoryStage
{
    VertexId holder{0};             //!< the CPU or GPU whose memory it is
    VertexId reader{0};             //!< the NIC
    RingBuffer<PacketRecord> units; //!< in the order in which they came
    int64_t duePs{NEVER_PS};        //!< when the NIC may read the first of them, if that is known
    int64_t nextSend{0};            //!< the NIC's pace: see SenderState::nextSend
    uint64_t psPerByte{0};          //!< the same: see SenderState::psPerByte
};

/// @ingroup proteus
/// The end of a queue pair in the NIC of the receiver's server: the NIC puts packets into order,
/// and acknowledges what it has, whatever that waits for on its way to the receiver (that a write
/// is acknowledged does not say that a memory has it: Talpey et al., draft-talpey-rdma-commit).
/// What links behind it lose it sends again, as the data link layer of PCI Express does.
struct NicEnd
{
    ReceiverState receiver;        //!< of the NIC; nothing of the delivery
    SequenceSet held;              //!< packets after the expected one that have come to the NIC
    RingBuffer<PacketRecord> lost; //!< behind the NIC, to be sent again
    int64_t duePs{NEVER_PS};       //!< when
    uint32_t retries{0};           //!< times in a row
    uint64_t receivedBytes{0};     //!< of the receiver, at the last time
};

/// @ingroup proteus
/// The rest of a queue pair. What messages and their acknowledgements need comes first.
struct alignas(64) QueuePairState
{
    TransportUser* user{nullptr};          //!< whom to tell; null: the transport's
    VertexId source{0};                    //!< endpoint that sends data
    VertexId destination{0};               //!< endpoint that receives it
    RingBuffer<QueuePairMessage> messages; //!< not acknowledged, or not delivered yet
    uint32_t acknowledged{0};              //!< number of the first message not acknowledged
    std::vector<VertexId> waypoints;       //!< between source and destination

    std::unique_ptr<CongestionControl> control; //!< or null
    int64_t ackDelayPs{0};                      //!< of acknowledgements; 0: never
    int64_t timedPs{0};                         //!< when the packet being timed was sent
    uint32_t retries{0};                        //!< timeouts in a row
    uint32_t reorderingDistance{0};             //!< see Transport; UINT32_MAX: gaps prove nothing
    ControlUnitState controls;                  //!< from receiver to sender
    QueuePairStatistics statistics;             //!< what is not counted elsewhere
    RepeatState repeats;                        //!< sender: what is lost
    SequenceSet held;               //!< receiver: packets after the expected one that have arrived
    uint32_t byteEpoch{0};          //!< CongestionControl::GetByteEpoch() last seen
    int64_t notificationPs{0};      //!< least time between notifications
    std::vector<int64_t> sendTimes; //!< by packet number, a power of two of places
    std::vector<HopStack> stacks;   //!< by packet number, a power of two of places
    std::unique_ptr<MemoryStage> stage; //!< SenderState::STAGED; or null
    std::unique_ptr<NicEnd> nicEnd;     //!< ReceiverState::NIC_ENDS; or null

    uint64_t flow{0};                                   //!< of the options
    CongestionPath path;                                //!< what is known of its path
    uint64_t windowLimit{CongestionControl::UNLIMITED}; //!< whatever the control says
    const uint8_t* turns{nullptr}; //!< by SenderState::turn: which of its ports
    double copyBytesPerSecond{0};  //!< payload rate of its copies; 0: no limit
    uint32_t firstPort{0};         //!< of the options

    /// @param sequence a packet @return number of the first message that ends after the packet;
    /// the tail of `messages` if there is none
    uint32_t FindMessage(uint32_t sequence) const
    {
        uint32_t number = messages.GetHead();
        while (number != messages.GetTail() && !IsBefore(sequence, messages.At(number).end))
        {
            ++number;
        }
        return number;
    }
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_QUEUE_PAIR_H
