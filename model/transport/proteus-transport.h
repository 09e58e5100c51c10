/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TRANSPORT_H
#define PROTEUS_TRANSPORT_H

#include "ns3/object.h"
#include "ns3/proteus-fabric.h"
#include "ns3/random-variable-stream.h"

#include <cstdint>
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
     * All of a message has arrived. Messages of a queue pair arrive in the order sent.
     * @param queuePair on which
     * @param tag that the sender gave it
     * @param bytes its size
     */
    virtual void ReceiveMessage(uint32_t queuePair, uint64_t tag, uint64_t bytes) = 0;

    /**
     * A message has been acknowledged.
     * @param queuePair on which
     * @param tag that the sender gave it
     */
    virtual void ReceiveAcknowledgement(uint32_t queuePair, uint64_t tag) = 0;

    /**
     * The receiver of a queue pair has sent its sender a control unit.
     * @param queuePair on which
     * @param value what it says
     */
    virtual void ReceiveControl(uint32_t queuePair, uint32_t value) = 0;
};

/// @ingroup proteus
/// What a queue pair has done.
struct QueuePairStatistics
{
    uint64_t sentBytes{0};     //!< payload handed to the fabric
    uint64_t receivedBytes{0}; //!< payload that has arrived
    uint64_t messages{0};      //!< messages delivered
};

/**
 * @ingroup proteus
 * Queue pairs between endpoints (GPUs): each cuts messages into units of the path's smallest unit
 * size and sends them in order, interleaved with the other queue pairs of its port unit by unit;
 * the receiver acknowledges each message as a whole, and it is complete at the sender then.
 * Nothing is lost in the fabrics served, so that nothing is retransmitted.
 *
 * A queue pair may name waypoints, the NICs at both ends, that its units pass and where they are
 * sent on from there, as GPUDirect RDMA does. On NVLink, units take whichever of the equal-cost
 * connections of their GPU is free next (NVSwitch systems interleave addresses over all of them);
 * everywhere else a queue pair keeps to one path, picked among equals by a hash.
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
     */
    void SetFabric(Ptr<Fabric> fabric, TransportUser* user);

    /**
     * @param source endpoint that sends messages
     * @param destination endpoint that receives them
     * @param sourceNic waypoint, or Cluster::NO_VERTEX
     * @param destinationNic waypoint, or Cluster::NO_VERTEX
     * @param flow names the flow; the path depends on it and on the random stream, and on
     * nothing else
     * @return id of the queue pair
     */
    uint32_t CreateQueuePair(VertexId source,
                             VertexId destination,
                             VertexId sourceNic,
                             VertexId destinationNic,
                             uint64_t flow);

    /**
     * Appends a message.
     * @param queuePair on which
     * @param bytes its size, at least 1
     * @param tag goes with it
     */
    void Send(uint32_t queuePair, uint64_t bytes, uint64_t tag);

    /**
     * Sends a control unit from the receiver of a queue pair to its sender.
     * @param queuePair on which
     * @param value what it says
     */
    void SendControl(uint32_t queuePair, uint32_t value);

    /// @return number of queue pairs
    uint32_t GetNQueuePairs() const
    {
        return static_cast<uint32_t>(m_queuePairs.size());
    }

    /// @param queuePair a queue pair @return the endpoint that sends its messages
    VertexId GetSource(uint32_t queuePair) const
    {
        return m_queuePairs[queuePair].source;
    }

    /// @param queuePair a queue pair @return what it has done
    const QueuePairStatistics& GetStatistics(uint32_t queuePair) const
    {
        return m_queuePairs[queuePair].statistics;
    }

    /// @return data units sent by all queue pairs
    uint64_t GetPackets() const
    {
        return m_packets;
    }

    /// @return payload sent by all queue pairs
    uint64_t GetSentBytes() const
    {
        return m_sentBytes;
    }

    /// @return acknowledgements and control units sent by all queue pairs
    uint64_t GetControlPackets() const
    {
        return m_controlPackets;
    }

    /**
     * Fixes the random stream that path choice draws from.
     * @param stream number of the stream
     * @return streams used: 1
     */
    int64_t AssignStreams(int64_t stream);

  protected:
    void DoDispose() override;

  private:
    /// A message between Send() and its acknowledgement.
    struct Message
    {
        uint64_t tag;
        uint64_t bytes;
        uint64_t unsent;     //!< bytes the sender has not handed to the fabric
        uint64_t unreceived; //!< bytes the receiver waits for
    };

    /// Both halves of a queue pair.
    struct QueuePair
    {
        VertexId source;
        VertexId destination;
        VertexId sourceNic;
        VertexId destinationNic;
        uint64_t hash;          //!< of its flow
        uint32_t unitBytes;     //!< most payload of a unit
        uint32_t firstPort;     //!< in m_candidatePorts
        uint32_t nPorts;        //!< ports it may leave the source by
        uint64_t listed{0};     //!< bit i: it stands in the list of its i-th port
        Ring<Message> messages; //!< not acknowledged yet
        uint32_t sending{0};    //!< number of the first message with unsent bytes
        uint32_t delivering{0}; //!< number of the first message not delivered
        QueuePairStatistics statistics;
    };

    /// Queue pairs that take turns on a port.
    struct ActiveList
    {
        std::vector<uint32_t> queuePairs; //!< in no particular order
        std::size_t next{0};              //!< whose turn it is
    };

    // Inherited from FabricEndpoint
    bool Pull(PortId port, PacketRecord& record, bool& more) override;
    VertexId Deliver(const PacketRecord& record, VertexId at) override;
    uint64_t GetFlowHash(uint32_t queuePair) const override;

    /// @param id a queue pair @param port one of its ports @return its bit in QueuePair::listed
    uint64_t GetPortBit(const QueuePair& id, PortId port) const;
    /// @param id a queue pair @param kind ACKNOWLEDGE or CONTROL @param message its content
    void SendBack(uint32_t id, PacketKind kind, uint32_t message);

    Ptr<Fabric> m_fabric;                    //!< what is sent over
    TransportUser* m_user{nullptr};          //!< whom to tell
    std::vector<QueuePair> m_queuePairs;     //!< by id
    std::vector<PortId> m_candidatePorts;    //!< of all queue pairs
    std::vector<ActiveList> m_active;        //!< by PortId
    Ptr<UniformRandomVariable> m_pathRandom; //!< attribute
    uint64_t m_pathSeed{0};                  //!< drawn from it once
    uint64_t m_packets{0};                   //!< data units
    uint64_t m_sentBytes{0};                 //!< payload
    uint64_t m_controlPackets{0};            //!< other units
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TRANSPORT_H
