/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TRANSPORT_H
#define PROTEUS_TRANSPORT_H

#include "proteus-acknowledgements.h"
#include "proteus-control-units.h"
#include "proteus-copy-limiters.h"
#include "proteus-group-operations.h"
#include "proteus-loss-recovery.h"
#include "proteus-packet-receiver.h"
#include "proteus-packet-sender.h"
#include "proteus-queue-pair-maker.h"
#include "proteus-queue-pair-timers.h"
#include "proteus-rate-control.h"
#include "proteus-return-path.h"
#include "proteus-send-ports.h"
#include "proteus-staging-memories.h"
#include "proteus-transport-core.h"
#include "proteus-transport-settings.h"
#include "proteus-transport-user.h"

#include "ns3/object.h"
#include "ns3/proteus-fabric.h"
#include "ns3/proteus-required-arguments.h"
#include "ns3/random-variable-stream.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Reliable-connection queue pairs between endpoints (GPUs, hosts).
 *
 * A queue pair cuts messages into packets of the smallest unit size on its path, numbers them, and
 * sends them in order. The queue pairs of a port and traffic class take turns packet by packet;
 * lower traffic classes go first. A window limits the bytes in flight, pacing the rate; a
 * congestion control steers both. The receiver delivers messages exactly once and in order, and
 * acknowledges what the sender asks it to: every message, every so many packets, and the packet
 * that fills the window. Lost packets are sent again after a negative acknowledgement (go-back-N or
 * selective repeat) or a timeout.
 *
 * A queue pair may name waypoints, such as the NICs at both ends, where its packets are received
 * and sent on. On NVLink, a packet takes whichever of the equal-cost connections of its GPU is free
 * next (NVSwitch systems interleave addresses over all of them), and packets that overtake others
 * are held until those have come. Everywhere else a queue pair leaves its source by one port, which
 * a hash picks among equals.
 *
 * Groups do operations inside switches: see CreateGroup().
 */
class Transport : public Object, private FabricEndpoint, private TransportSettings
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
     * Begins anew with the ports of the source: if nothing is under way on the queue pair, its
     * packets take these in turn from the first one on, as those of a new queue pair do. To be
     * called when a kernel begins to use the queue pair.
     * @param queuePair which one
     */
    void Restart(uint32_t queuePair);

    /**
     * Appends a message.
     * @param queuePair on which
     * @param bytes its size, at least 1
     * @param tag goes with it
     * @throw std::invalid_argument for a message without bytes, or of 2^30 packets and more
     * @throw std::logic_error after Dispose()
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
     * Makes the lanes of a group now, which otherwise are made when they are first used.
     * @param group which one
     * @param reductions whether members will give to sums
     * @param multicasts by member: whether it will multicast
     * @return all lanes of the group: queue pairs
     */
    std::vector<uint32_t> MakeLanes(uint32_t group,
                                    bool reductions,
                                    const std::vector<bool>& multicasts);

    /// The group's next operation takes the trees in turn from the first one on, as that of a new
    /// group does. @param group which one; nothing may be under way in it
    void RestartGroup(uint32_t group);

    /**
     * Begins a member's part of the group's next operation of its kind. Every member begins every
     * reduction and all-reduction, in the same order and with the same size and root. A multicast
     * is begun by its sender alone.
     * @param group which one
     * @param operation what the switches do
     * @param member whose part; for MULTICAST the sender
     * @param bytes size of the operation: every member's contribution, or what is sent to all
     * @param tag for ReceiveGroupMessage()
     * @param root REDUCE: the member that gets the result
     * @throw std::invalid_argument if it differs from what another member said, or has no bytes
     * @throw std::logic_error after Dispose()
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
        return m_core.fabric;
    }

    /// What all functions that are given a queue pair ask first.
    /// @param queuePair any number @throw std::invalid_argument if it is of no queue pair
    void RequirePair(uint32_t queuePair) const
    {
        RequireIndex(queuePair, m_core.pairs.GetN(), "queue pair", "the transport");
    }

    /// @return number of queue pairs, the lanes of groups included
    uint32_t GetNQueuePairs() const
    {
        return m_core.pairs.GetN();
    }

    /// @param queuePair a queue pair @return the endpoint that sends its messages
    VertexId GetSource(uint32_t queuePair) const
    {
        RequirePair(queuePair);
        return m_core.pairs.GetState(queuePair).source;
    }

    /// @param queuePair a queue pair @return the endpoint that receives its messages
    VertexId GetDestination(uint32_t queuePair) const
    {
        RequirePair(queuePair);
        return m_core.pairs.GetState(queuePair).destination;
    }

    /// @param queuePair a queue pair @return what is known of its path
    const CongestionPath& GetPath(uint32_t queuePair) const
    {
        RequirePair(queuePair);
        return m_core.pairs.GetState(queuePair).path;
    }

    /// @param queuePair a queue pair @return its congestion control, or null
    const CongestionControl* GetCongestionControl(uint32_t queuePair) const
    {
        RequirePair(queuePair);
        return m_core.pairs.GetState(queuePair).control.get();
    }

    /// @param queuePair a queue pair @return what it has done
    QueuePairStatistics GetStatistics(uint32_t queuePair) const
    {
        RequirePair(queuePair);
        return m_core.pairs.GetStatistics(queuePair);
    }

    /// @return data packets sent by all queue pairs, repeated ones included
    uint64_t GetPackets() const
    {
        return m_sender.GetTotals().packets;
    }

    /// @return data packets and control units sent again by all queue pairs
    uint64_t GetRetransmittedPackets() const
    {
        return m_sender.GetTotals().retransmitted + m_controlUnits.GetRepeated();
    }

    /// @return retransmission timeouts of all queue pairs, of packets and of control units
    uint64_t GetTimeouts() const
    {
        return m_acknowledgements.GetTimeouts() + m_controlUnits.GetTimeouts();
    }

    /// @return payload sent by all queue pairs, without repetition
    uint64_t GetSentBytes() const
    {
        return m_sender.GetTotals().bytes;
    }

    /// @return acknowledgements, notifications and control units sent by all queue pairs
    uint64_t GetControlPackets() const
    {
        return m_returnPath.GetUnits();
    }

    /**
     * @param queuePair a queue pair
     * @return whether what is sent on it depends on nothing but its ports: its congestion control,
     * if it has one, has seen nothing yet that changes it, and it has no delayed acknowledgements, no
     * limit that it shares, and one way for all packets
     */
    bool IsSelfContained(uint32_t queuePair) const;

    /// @param queuePair a queue pair @return whether PFC makes the class of its data lossless
    bool IsLossless(uint32_t queuePair) const;

    /// @param queuePair a queue pair @return from when on it is as new; NEVER_PS while something is
    /// under way
    int64_t GetRestPs(uint32_t queuePair) const;

    /**
     * @param queuePair a queue pair
     * @return all ports that its units may take: the ways of the data from each port of the source,
     * the way back, and the way of answers to control units; NO_PORT stands after each way
     */
    std::vector<PortId> GetWays(uint32_t queuePair) const;

    /// @param queuePair a queue pair @return words that say all about its ends that its packets
    /// depend on
    std::vector<uint64_t> Describe(uint32_t queuePair) const;

    /// @param queuePair a queue pair @return what it has done so far
    QueuePairWork GetWork(uint32_t queuePair) const;

    /// @param queuePair a queue pair @return the smallest round trip so far, which is forgotten, or
    /// -1 @param minRttPs new value of it
    int64_t ExchangeMinRtt(uint32_t queuePair, int64_t minRttPs);

    /// @param queuePair a queue pair @param work that it did besides
    void AddWork(uint32_t queuePair, const QueuePairWork& work);

    /// @param pair that IsSelfContained(), is no lane of a group, and has lost nothing
    /// @param words that get all of its state, times from now on and numbers from the oldest packet
    /// that is not acknowledged on: what will happen on it depends on nothing else
    void AppendState(uint32_t pair, std::vector<uint64_t>& words) const;

    /// @param record of a queue pair as above @param words that get its number and what it says
    void AppendContent(const PacketRecord& record, std::vector<uint64_t>& words) const;

    /// Has no timer go off for what is under way now. For a process that does nothing else any more
    /// than what begins now, see Fabric::RunAlone().
    void ForgetTimers()
    {
        m_timers.Clear();
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
    /// @param function that needs a fabric @throw std::logic_error if there is none (any more)
    void RequireAlive(const char* function) const;

    /// @param queuePair a queue pair @return from when on its pace is that of one that has rested
    int64_t GetPacedPs(uint32_t queuePair) const;

    // Inherited from FabricEndpoint
    bool Pull(PortId port, uint32_t classes, PacketRecord& record, int64_t& nextPs) override;
    VertexId Deliver(const PacketRecord& record, VertexId at) override;
    void Prepare(const PacketRecord& record) const override;
    void Replicate(const PacketRecord& record,
                   VertexId at,
                   std::vector<PacketRecord>& copies) override;
    uint64_t GetFlowHash(uint32_t queuePair) const override;
    void HandleTimer() override;
    void LeaveNic(const PacketRecord& record, int64_t timePs) override;
    void Lose(const PacketRecord& record) override;
    void CollectTelemetry(const PacketRecord& record, const HopTelemetry& hop) override;
    void HandleTopologyChange() override;
    QueuePairEnds GetEnds(uint32_t queuePair) const override;
    uint64_t GetMessageBytes(uint32_t queuePair, uint32_t sequence) const override;
    void HandleRankWord(uint32_t kind, const uint8_t* data) override;

    /// What the NIC of a sender has read of it is sent, or lost. @param queuePair of the sender
    /// @param timePs when
    void ReturnRead(uint32_t queuePair, int64_t timePs);

    /// @param queuePair a queue pair @param sequence of its packet @param hop that it has met
    void AddHop(uint32_t queuePair, uint32_t sequence, const HopTelemetry& hop);

    /// @param member of the settings @return it as a member of this class, through which attributes
    /// are set
    template <typename T>
    static T Transport::*Own(T TransportSettings::*member)
    {
        return member;
    }

    /// @param record an acknowledgement, notification or control unit at the end of its way
    /// @param forward that way leads to the receiver
    void TakeControl(const PacketRecord& record, bool forward);

    TransportCore m_core;                    //!< what the parts share
    CopyLimiters m_limiters;                 //!< what endpoints can copy
    ReadRequests m_reads;                    //!< what devices ask of memories
    QueuePairTimers m_timers;                //!< what is due
    StagingMemories m_memories;              //!< what NICs read on its way
    SendPorts m_ports;                       //!< who sends next
    RateControl m_rates;                     //!< how fast
    LossRecovery m_recovery;                 //!< what is sent again
    QueuePairMaker m_maker;                  //!< new queue pairs
    PacketSender m_sender;                   //!< messages become packets
    Acknowledgements m_acknowledgements;     //!< what has arrived
    ReturnPath m_returnPath;                 //!< from receivers to senders
    PacketReceiver m_receiver;               //!< packets become messages
    ControlUnits m_controlUnits;             //!< words of receivers to senders
    GroupOperations m_groups;                //!< what switches do
    Ptr<UniformRandomVariable> m_pathRandom; //!< attribute

    /// The rate or window of a queue pair has changed.
    RateControl::Trace m_congestionTrace;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TRANSPORT_H
