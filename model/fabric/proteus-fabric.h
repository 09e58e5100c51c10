/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FABRIC_H
#define PROTEUS_FABRIC_H

#include "proteus-event-tree.h"
#include "proteus-horizon-scheduler.h"
#include "proteus-packet.h"
#include "proteus-ring.h"

#include "ns3/event-impl.h"
#include "ns3/node-container.h"
#include "ns3/object.h"
#include "ns3/proteus-cluster.h"
#include "ns3/proteus-timeline.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * What stands at the ends of the fabric: the transport. It is called at the fabric's time,
 * Fabric::GetTimePs(), at which Simulator::Now() may lag.
 */
class FabricEndpoint
{
  public:
    virtual ~FabricEndpoint() = default;

    /**
     * A port of an endpoint is free, and Fabric::Offer() was called for it.
     * @param port the port
     * @param record to fill with the next unit to send; hops and ingress are the fabric's
     * @param more set to whether another unit will be waiting behind it
     * @return whether there is a unit
     */
    virtual bool Pull(PortId port, PacketRecord& record, bool& more) = 0;

    /**
     * A packet has reached its destination.
     * @param record the packet
     * @param at its destination
     * @return the next waypoint, or Cluster::NO_VERTEX if the packet ends here
     */
    virtual VertexId Deliver(const PacketRecord& record, VertexId at) = 0;

    /// @param queuePair a queue pair @return the hash that picks its path among equals
    virtual uint64_t GetFlowHash(uint32_t queuePair) const = 0;
};

/**
 * @ingroup proteus
 * The packet engine: every port, link and switch of a cluster.
 *
 * Links are full duplex with a rate and a delay. A switch (NVSwitch, PCIe switch, CPU, NIC,
 * network switch) stores a unit, looks its next port up, and queues it there; ports serve control
 * units first. Equal-cost alternatives are taken per flow. On links with a receive buffer
 * (attributes NvlinkBuffer, PcieBuffer, InfinibandBuffer) a unit is sent only when the buffer at
 * the other end has room, which it gets back, after the link's delay, when the unit has left that
 * switch again: nothing is ever dropped. Control units have a virtual channel of their own, with
 * room always.
 *
 * Time is kept in picoseconds. The fabric has its own event set, with at most two events per
 * port, and stands in the simulator's queue with one event at a time. While its own next event is
 * earlier than any other simulator event, which it learns from a HorizonScheduler, it goes on
 * within that one event; without a HorizonScheduler, or while a per-packet trace sink is
 * connected, each time step of the fabric is a simulator event, so that Simulator::Now() is right
 * in the sink. Simulator events that are due at the same time run before the fabric's.
 */
class Fabric : public Object
{
  public:
    /// @return the TypeId
    static TypeId GetTypeId();

    Fabric();
    ~Fabric() override;

    /**
     * Builds ports for every link, and a Node for every vertex.
     * @param cluster to build; kept
     */
    void SetCluster(std::shared_ptr<const Cluster> cluster);

    /// @return the cluster
    const Cluster& GetCluster() const
    {
        return *m_cluster;
    }

    /// @return shortest paths of the cluster
    const Paths& GetPaths() const
    {
        return *m_paths;
    }

    /// @return a node for every vertex of the cluster, by VertexId
    const NodeContainer& GetNodes() const
    {
        return m_nodes;
    }

    /// @return what the HorizonScheduler is to feed
    Ptr<EventHorizon> GetHorizon() const
    {
        return m_horizon;
    }

    /// @param endpoint what stands at the ends; must outlive the run
    void SetEndpoint(FabricEndpoint* endpoint);

    /**
     * The fabric's time. Within a callback of the fabric it is exact, and Simulator::Now() may
     * lag; elsewhere it is Simulator::Now().
     * @return picoseconds
     */
    int64_t GetTimePs() const;

    /// @param port a port @return the vertex that sends on it
    VertexId GetFrom(PortId port) const
    {
        return m_ports[port].from;
    }

    /// @param vertex a vertex @param index in Cluster::GetPorts() @return the port
    PortId GetPort(VertexId vertex, uint32_t index) const;

    /// @param port a port @return its link
    const Link& GetLink(PortId port) const
    {
        return m_cluster->GetLinks()[port / 2];
    }

    /// @param port of an endpoint that now has units to send; the fabric pulls them
    void Offer(PortId port);

    /**
     * Sends a control unit.
     * @param from an endpoint
     * @param record kind, queue pair, destination and message are set
     */
    void SendControl(VertexId from, PacketRecord record);

    /**
     * Calls back as a simulator event at the fabric's present time, for what may look at
     * Simulator::Now() or start other events.
     * @param vertex in whose context
     * @param callback what to call
     */
    void CallAtPresent(VertexId vertex, std::function<void()> callback);

    /// @return what every port carried, in the order of PortId
    std::vector<LinkStatistics> GetLinkStatistics() const;

    /// @return events handled so far
    uint64_t GetEventCount() const
    {
        return m_events;
    }

    /// @return link crossings so far
    uint64_t GetPacketHops() const
    {
        return m_packetHops;
    }

    /**
     * Checks that the fabric is at rest: queues empty, nothing in flight, every credit home, and
     * as much received as sent on every link.
     * @return an empty text, or the first port at which it is not so and why
     */
    std::string CheckAtRest() const;

    /**
     * The signature of the trace sources.
     * @param port which direction of which link
     * @param record the packet
     * @param timePs picoseconds: first byte sent ("Transmit"), last byte received ("Receive")
     */
    typedef void (*PacketTracedCallback)(PortId port, const PacketRecord& record, int64_t timePs);

    /**
     * The signature of "Progress".
     * @param events events handled so far
     */
    typedef void (*ProgressTracedCallback)(uint64_t events);

  protected:
    // Inherited from Object
    void DoDispose() override;

  private:
    /// A stretch of a receive buffer that becomes free.
    struct CreditReturn
    {
        int64_t timePs;
        int64_t bytes;
    };

    /// One direction of a link, at its sending end.
    struct PortState
    {
        int64_t freeAtPs{0};        //!< when the last byte of the last unit leaves
        int64_t serveAtPs{0};       //!< when the pending service is due
        bool servePending{false};   //!< whether a service is pending
        bool starved{false};        //!< waits for a credit that nobody has promised yet
        bool offered{false};        //!< the endpoint has units
        bool credited{false};       //!< the other end has a finite receive buffer
        uint32_t fullPayload{0};    //!< payload of a full unit
        uint32_t fullWire{0};       //!< its wire bytes
        int64_t fullTxPs{0};        //!< its transmission time
        int64_t delayPs{0};         //!< of the link
        uint64_t psPerByte{0};      //!< fixed point, 24 fractional bits
        int64_t creditBytes{0};     //!< free room at the other end, as far as known here
        int64_t bufferBytes{0};     //!< all room at the other end
        int64_t stalledSincePs{-1}; //!< first refusal of the unit at the head
        VertexId from{0};
        VertexId to{0};
        uint64_t queuedBytes{0};    //!< payload in `data`
        Ring<PacketRecord> flight;  //!< on the wire, by arrival
        Ring<PacketRecord> data;    //!< waiting
        Ring<PacketRecord> control; //!< waiting, served first
        Ring<CreditReturn> returns; //!< promised credits, by time
        LinkFraming framing;
        LinkStatistics statistics;
    };

    /// The pending event of the fabric in the simulator's queue.
    class StepEvent;

    /// Slots of the event set.
    enum Slot : uint32_t
    {
        ARRIVAL = 0,
        SERVICE = 1,
        SLOTS_PER_PORT = 2
    };

    /// @param port a port @param payload of a unit @return its bytes on the wire
    static uint32_t GetWireBytes(const PortState& port, uint32_t payload)
    {
        return payload == port.fullPayload ? port.fullWire
                                           : static_cast<uint32_t>(port.framing.WireBytes(payload));
    }

    /// Handles what is due, as far as the horizon allows.
    void Step();
    /// Makes sure that the simulator calls Step() when the next event is due.
    void Arm();
    /// Brings the fabric's clock to Simulator::Now() when called from outside.
    void Synchronize();
    /// @param slot of a port @param timePs when it is due
    void SetEvent(uint32_t slot, int64_t timePs);

    /// @param id a port whose next unit has arrived
    void HandleArrival(PortId id);
    /// @param id a port that may send
    void Serve(PortId id);
    /// @param id a port @param record to queue there, or to send at once
    void Enqueue(PortId id, const PacketRecord& record);
    /// @param id a free port @param record to send on it @param wireBytes its size there
    void Transmit(PortId id, const PacketRecord& record, uint32_t wireBytes);
    /// @param id a port @param timePs when it is to be served, if not before
    void RequestService(PortId id, int64_t timePs);
    /// @param id a port @param wireBytes wanted @return whether they may be sent now
    bool TakeCredit(PortId id, uint32_t wireBytes);
    /// @param id a port @param payload that has left its receive buffer @param timePs when
    void ReturnCredit(PortId id, uint32_t payload, int64_t timePs);
    /// @param at a vertex @param record a packet @return the port it takes
    PortId Route(VertexId at, const PacketRecord& record);
    /// @param technology of a link @return receive buffer in bytes, 0 for none
    uint64_t GetBufferBytes(LinkTechnology technology) const;

    std::shared_ptr<const Cluster> m_cluster;    //!< what is built
    std::unique_ptr<Paths> m_paths;              //!< its shortest paths
    NodeContainer m_nodes;                       //!< by vertex
    Ptr<EventHorizon> m_horizon;                 //!< time of the next simulator event
    FabricEndpoint* m_endpoint{nullptr};         //!< the transport
    std::vector<PortState> m_ports;              //!< by PortId
    EventTree m_tree;                            //!< pending events
    std::vector<std::vector<PortId>> m_outPorts; //!< by vertex, in the order of its ports
    std::vector<std::vector<uint32_t>> m_routes; //!< by vertex and destination, see Route()
    int64_t m_timePs{0};                         //!< the fabric's clock
    int64_t m_armedPs{EventTree::NEVER};         //!< when the simulator calls Step()
    bool m_running{false};                       //!< within Step()
    uint64_t m_events{0};                        //!< handled
    uint64_t m_packetHops{0};                    //!< links crossed
    uint64_t m_nvlinkBuffer;                     //!< attribute
    uint64_t m_pcieBuffer;                       //!< attribute
    uint64_t m_infinibandBuffer;                 //!< attribute
    Ptr<EventImpl> m_stepEvent;                  //!< pending call of Step(), or null

    /// Another 2^20 events have been handled.
    TracedCallback<uint64_t> m_progressTrace;
    /// A unit starts on a link.
    TracedCallback<PortId, const PacketRecord&, int64_t> m_transmitTrace;
    /// A unit has arrived at the end of a link.
    TracedCallback<PortId, const PacketRecord&, int64_t> m_receiveTrace;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FABRIC_H
