/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TRANSPORT_H
#define PROTEUS_TRANSPORT_H

#include "proteus-active-queues.h"
#include "proteus-congestion-type.h"
#include "proteus-group.h"
#include "proteus-queue-pair.h"

#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/proteus-fabric.h"
#include "ns3/random-variable-stream.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Who uses queue pairs. Called at the fabric's time, Fabric::GetTimePs(), at which
 * Simulator::Now() may lag: send on from here as you like, but let what needs the simulator's
 * clock go through Fabric::CallAtPresent().
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

/// @ingroup proteus
/// How lost packets are sent again.
enum Reliability
{
    GO_BACK_N,        //!< all from the first that is missing on
    SELECTIVE_REPEAT, //!< those that are missing
};

/**
 * @ingroup proteus
 * Reliable-connection queue pairs between endpoints (GPUs, hosts).
 *
 * A queue pair cuts messages into packets of the smallest unit size on its path, numbers them, and
 * sends them in order, in turn with the other queue pairs of its port and traffic class, packet by
 * packet; lower traffic classes go first. A window limits its bytes in flight, pacing its rate; a
 * congestion control steers both. The receiver delivers messages exactly once and in order. It
 * acknowledges what the sender asks it to: every message, every so many packets, and the packet
 * that fills the window. What is lost is sent again after a negative acknowledgement (go-back-N or
 * selective repeat) or a timeout.
 *
 * A queue pair may name waypoints, such as the NICs at both ends, that its packets pass and where
 * they are sent on from. On NVLink, packets take whichever of the equal-cost connections of their
 * GPU is free next (NVSwitch systems interleave addresses over all of them), and packets that
 * overtake others are held until those have come; everywhere else a queue pair leaves its source by
 * one port, picked among equals by a hash.
 *
 * Groups do operations inside switches: see CreateGroup().
 */
class Transport : public Object, private FabricEndpoint
{
  public:
    /// @return the TypeId
    static TypeId GetTypeId();

    Transport();
    ~Transport() override;

    /**
     * @param fabric to send over
     * @param user whom to tell; must outlive the run
     * @throw std::invalid_argument for attributes that make no sense together
     */
    void SetFabric(Ptr<Fabric> fabric, TransportUser* user);

    /**
     * @param options what to make
     * @return id of the queue pair
     * @throw std::invalid_argument if there is no path, a waypoint stands twice, or the congestion
     * control is not known
     */
    uint32_t CreateQueuePair(const QueuePairOptions& options);

    /**
     * Appends a message.
     * @param queuePair on which
     * @param bytes its size, at least 1
     * @param tag goes with it
     */
    void Send(uint32_t queuePair, uint64_t bytes, uint64_t tag);

    /**
     * Sends a control unit from the receiver of a queue pair to its sender. Where the path crosses
     * a network, it is repeated until it is acknowledged; control units arrive once and in order.
     * @param queuePair on which
     * @param value what it says
     */
    void SendControl(uint32_t queuePair, uint32_t value);

    /**
     * Makes a group whose operations the switches do: multicast and reduction. There is a tree of
     * switches for every plane; units of an operation take the planes in turn.
     * @param options members and how they are reached
     * @return id of the group
     * @throw std::invalid_argument if the members cannot be joined by switches that do so, or
     * links between them lose units
     */
    uint32_t CreateGroup(const GroupOptions& options);

    /**
     * Begins a member's part of the group's next operation of its kind; every member begins every
     * reduction and all-reduction, in the same order and with the same size and root. A multicast
     * is begun by its sender alone.
     * @param group which one
     * @param operation what the switches do
     * @param member whose part; for MULTICAST the sender
     * @param bytes size of the operation: every member's contribution, or what is sent to all
     * @param tag for ReceiveGroupMessage()
     * @param root REDUCE: the member that gets the result
     * @throw std::invalid_argument if it differs from what another member said
     */
    void SendGroup(uint32_t group,
                   GroupOperation operation,
                   uint32_t member,
                   uint64_t bytes,
                   uint64_t tag,
                   uint32_t root = 0);

    /// @return the fabric that is sent over
    Ptr<Fabric> GetFabric() const
    {
        return m_fabric;
    }

    /// @return number of queue pairs, the lanes of groups included
    uint32_t GetNQueuePairs() const
    {
        return static_cast<uint32_t>(m_senders.size());
    }

    /// @param queuePair a queue pair @return the endpoint that sends its messages
    VertexId GetSource(uint32_t queuePair) const
    {
        return m_states[queuePair].source;
    }

    /// @param queuePair a queue pair @return the endpoint that receives its messages
    VertexId GetDestination(uint32_t queuePair) const
    {
        return m_states[queuePair].destination;
    }

    /// @param queuePair a queue pair @return what is known of its path
    const CongestionPath& GetPath(uint32_t queuePair) const
    {
        return m_states[queuePair].path;
    }

    /// @param queuePair a queue pair @return its congestion control, or null
    const CongestionControl* GetCongestionControl(uint32_t queuePair) const
    {
        return m_states[queuePair].control.get();
    }

    /// @param queuePair a queue pair @return what it has done
    QueuePairStatistics GetStatistics(uint32_t queuePair) const;

    /// @return data packets sent by all queue pairs, repeated ones included
    uint64_t GetPackets() const
    {
        return m_packets;
    }

    /// @return data packets sent again by all queue pairs
    uint64_t GetRetransmittedPackets() const
    {
        return m_retransmitted;
    }

    /// @return payload sent by all queue pairs, without repetition
    uint64_t GetSentBytes() const
    {
        return m_sentBytes;
    }

    /// @return acknowledgements, notifications and control units sent by all queue pairs
    uint64_t GetControlPackets() const
    {
        return m_controlPackets;
    }

    /**
     * Checks that nothing is under way.
     * @return an empty text, or the first queue pair that has something left, and what
     */
    std::string CheckAtRest() const;

    /**
     * Fixes the random stream that path choice draws from; before SetFabric().
     * @param stream number of the stream
     * @return streams used: 1
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * The signature of "CongestionState".
     * @param queuePair whose rate or window has changed
     * @param bytesPerSecond rate limit on the wire, infinity for none
     * @param windowBytes window, CongestionControl::UNLIMITED for none
     * @param timePs when, of the fabric
     */
    typedef void (*CongestionTracedCallback)(uint32_t queuePair,
                                             double bytesPerSecond,
                                             uint64_t windowBytes,
                                             int64_t timePs);

  protected:
    void DoDispose() override;

  private:
    /// What the path of a queue pair crosses.
    enum class PathKind
    {
        LOCAL,      //!< links inside servers only
        INFINIBAND, //!< an InfiniBand network
        ROCE,       //!< an Ethernet network
    };

    // Inherited from FabricEndpoint
    bool Pull(PortId port, uint32_t classes, PacketRecord& record, int64_t& nextPs) override;
    VertexId Deliver(const PacketRecord& record, VertexId at) override;
    void Replicate(const PacketRecord& record,
                   VertexId at,
                   std::vector<PacketRecord>& copies) override;
    uint64_t GetFlowHash(uint32_t queuePair) const override;
    void HandleTimer() override;
    void CollectTelemetry(const PacketRecord& record, const HopTelemetry& hop) override;
    void HandleTopologyChange() override;
    QueuePairEnds GetEnds(uint32_t queuePair) const override;
    uint64_t GetMessageBytes(uint32_t queuePair, uint32_t sequence) const override;

    // proteus-transport-set-up.cc
    /// @param options of a new queue pair @return its id, without ports and control
    uint32_t AddQueuePair(const QueuePairOptions& options);
    /// @param id a queue pair whose path is to be measured @return what it crosses
    PathKind MeasurePath(uint32_t id);
    /// @param id a queue pair @param kind of its path @param name of its congestion control
    void SetUpControl(uint32_t id, PathKind kind, const std::string& name);
    /// @param name of a congestion control @return its kind
    Ptr<CongestionType> GetCongestionType(const std::string& name);
    /// @param id a queue pair that gets the ports that lead to its first waypoint
    void AssignPorts(uint32_t id);
    /// Prepares what limits the copies of GPUs.
    void SetUpLimiters();

    // proteus-transport-sender.cc
    /// @param id a queue pair that may have become able to send
    void Activate(uint32_t id);
    /// @param port of an endpoint @param now present time: moves slots whose time has come
    void ReleasePaced(ActiveQueues& port, int64_t now);
    /// @param port whose first slot is to wait @param trafficClass of its list
    void PaceFirst(ActiveQueues& port, uint32_t trafficClass);
    /// @param port of a limited endpoint @param now present time @param nextPs when its turn is
    /// @return whether its turn is now
    bool TakeTurn(ActiveQueues& port, int64_t now, int64_t& nextPs);
    /// @param port of a limited endpoint that sends @param sender of the copy
    /// @param now present time @param payloadBytes that it takes from the limit
    void CountCopy(ActiveQueues& port,
                   const SenderState& sender,
                   int64_t now,
                   uint32_t payloadBytes);
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
    /// @param id a queue pair @param sequence of the packet that is to be the next
    void MoveCursor(uint32_t id, uint32_t sequence);

    // proteus-transport-acknowledge.cc
    /// @param record an acknowledgement, positive or negative, that has come home
    void HandleAcknowledgement(const PacketRecord& record);
    /// @param id a queue pair @param sequence before which all has arrived
    /// @return payload newly acknowledged
    uint64_t AdvanceUnacked(uint32_t id, uint32_t sequence);
    /// @param id a queue pair @param sequence of a packet that has overtaken others
    /// @param now present time
    void NoteGap(uint32_t id, uint32_t sequence, int64_t now);
    /// @param id a queue pair @param limit packets before it that have not come are lost
    void RepeatBefore(uint32_t id, uint32_t limit);
    /// @param id a queue pair whose timeout has passed: repeats what the window lets it
    void RepeatWindow(uint32_t id);
    /// @param id a queue pair @param record acknowledgement @param ackedBytes newly
    /// @param ackedPackets newly @param now present time
    void TellControl(uint32_t id,
                     const PacketRecord& record,
                     uint64_t ackedBytes,
                     uint32_t ackedPackets,
                     int64_t now);
    /// @param id a queue pair whose congestion control may have changed its mind
    void ApplyControl(uint32_t id);

    // proteus-transport-receiver.cc
    /// @param record data @param receiver where it has arrived
    void ReceiveData(const PacketRecord& record, ReceiverState& receiver);
    /// @param record data that is not the expected packet @param receiver where it has arrived
    /// @return whether it is taken
    bool TakeOutOfOrder(const PacketRecord& record, ReceiverState& receiver);
    /// @param record marked data @param receiver where it has arrived
    void NoteMark(const PacketRecord& record, ReceiverState& receiver);
    /// @param id a queue pair at whose receiver messages have become complete
    void DeliverMessages(uint32_t id);
    /// @param id a queue pair @param kind ACKNOWLEDGE or NEGATIVE_ACKNOWLEDGE
    /// @param offset of the packet that causes it from the expected one; NO_OFFSET if none does
    void SendAcknowledgement(uint32_t id, PacketKind kind, int32_t offset);
    /// @param id a queue pair @param record for its sender, with kind, sequence and content
    void SendBack(uint32_t id, PacketRecord& record);
    /// @param record a control unit, or the acknowledgement of one, at its end
    void HandleControl(const PacketRecord& record);
    /// @param id a queue pair @param at a vertex that its units pass @param forward to the
    /// receiver @return where they go next
    VertexId GetNextWaypoint(uint32_t id, VertexId at, bool forward) const;

    // proteus-transport-timers.cc
    /// @param id a queue pair @return when a timer of it is due
    int64_t GetDeadline(uint32_t id) const;
    /// @param id a queue pair for which a timer may have to be set
    void Watch(uint32_t id);
    /// @param id a queue pair for which perhaps nothing is to be watched any more
    void Unwatch(uint32_t id);
    /// @param id a queue pair @return whether something is to come
    bool IsWaiting(uint32_t id) const;
    /// Tells the fabric the time of the first timer.
    void SetFabricTimer();
    /// @param id a queue pair @param now present time: does what is due
    void HandleDeadline(uint32_t id, int64_t now);
    /// @param id a queue pair that has heard nothing for too long @param now present time
    void HandleTimeout(uint32_t id, int64_t now);
    /// @param id a queue pair @return its retransmission timeout, back-off included
    int64_t GetTimeoutPs(uint32_t id) const;
    /// @param id a queue pair that gives up @param what has had no answer
    void Fail(uint32_t id, const std::string& what) const;

    // proteus-transport-group.cc
    /// @param group whose lanes to make @param member whose @param multicast its own multicasts,
    /// or the reductions
    void AddLanes(uint32_t group, uint32_t member, bool multicast);
    /// @param record of a group @param at where it has arrived @return as Deliver()
    VertexId DeliverGroup(const PacketRecord& record, VertexId at);
    /// Links have failed or work again. @throw std::runtime_error if operations under way need them
    void CheckGroupLinks();
    /// @param group that is used @throw std::runtime_error if a link of it has failed
    void RequireLinks(uint32_t group);
    /// @param record of a group, the last of its lane's message, at the first switch of its way
    void AcknowledgeGroup(const PacketRecord& record);
    /// @param record of a group @param member that it has reached
    void ReceiveGroup(const PacketRecord& record, uint32_t member);

    Ptr<Fabric> m_fabric;                   //!< what is sent over
    TransportUser* m_user{nullptr};         //!< whom to tell
    std::vector<SenderState> m_senders;     //!< by id
    std::vector<ReceiverState> m_receivers; //!< by id
    std::vector<uint64_t> m_hashes;         //!< of flows, by id
    std::deque<QueuePairState> m_states;    //!< by id; stay where they are
    std::vector<ActiveQueues> m_active;     //!< by PortId
    std::vector<ActiveSlot> m_slots;        //!< of all queue pairs
    std::vector<CopyLimiter> m_limiters;    //!< of limited endpoints
    std::vector<uint32_t> m_limiterOf;      //!< by vertex; empty if there are none
    std::deque<Group> m_groups;             //!< by id
    std::map<std::string, Ptr<CongestionType>> m_congestionTypes; //!< used so far, by name
    TimeHeap m_timers;                                            //!< of queue pairs
    uint32_t m_waiting{0};             //!< queue pairs that timers watch over
    int64_t m_fabricTimerPs{NEVER_PS}; //!< what the fabric was told
    bool m_multipath{false};           //!< switches choose paths per packet
    uint64_t m_pathSeed{0};            //!< drawn from m_pathRandom once
    uint64_t m_packets{0};             //!< data packets
    uint64_t m_retransmitted{0};       //!< of them repeated
    uint64_t m_sentBytes{0};           //!< payload
    uint64_t m_controlPackets{0};      //!< other units

    Ptr<UniformRandomVariable> m_pathRandom; //!< attribute
    std::string m_congestionControl;         //!< attribute
    Reliability m_reliability;               //!< attribute
    uint64_t m_window;                       //!< attribute
    double m_windowProducts;                 //!< attribute
    uint32_t m_ackEveryPackets;              //!< attribute
    bool m_ackEveryMessage;                  //!< attribute
    Time m_ackDelay;                         //!< attribute
    uint32_t m_ackClass;                     //!< attribute
    uint32_t m_reorderingDistance;           //!< attribute
    uint32_t m_reorderBuffer;                //!< attribute
    Time m_nakInterval;                      //!< attribute
    Time m_retransmissionTimeout;            //!< attribute
    uint32_t m_retryLimit;                   //!< attribute
    uint32_t m_firstSequence;                //!< attribute

    /// The rate or window of a queue pair has changed.
    TracedCallback<uint32_t, double, uint64_t, int64_t> m_congestionTrace;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TRANSPORT_H
