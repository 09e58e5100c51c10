/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FABRIC_H
#define PROTEUS_FABRIC_H

#include "proteus-event-tree.h"
#include "proteus-fabric-endpoint.h"
#include "proteus-horizon-scheduler.h"
#include "proteus-packet.h"
#include "proteus-port.h"

#include "ns3/data-rate.h"
#include "ns3/event-id.h"
#include "ns3/event-impl.h"
#include "ns3/node-container.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/proteus-cluster.h"
#include "ns3/proteus-link-statistics.h"
#include "ns3/proteus-ring-buffer.h"
#include "ns3/random-variable-stream.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What may be observed at a port.
enum class PortEvent : uint8_t
{
    TRANSMIT,    //!< a unit starts on the link
    RECEIVE,     //!< the last byte of a unit has arrived at its end, or, cut through, its head
    ENQUEUE,     //!< a unit has to wait
    DEQUEUE,     //!< a unit has waited and now starts
    DROP,        //!< a unit is lost, or finds no room or no way on, at the end of the link
    MARK,        //!< a unit gets an ECN mark
    PAUSE,       //!< a traffic class is paused by PFC
    RESUME,      //!< and goes on
    CREDIT_STALL //!< the unit at the head has no credit
};

/// @ingroup proteus
/// Number of values of PortEvent.
constexpr uint32_t N_PORT_EVENTS = 9;

/**
 * @ingroup proteus
 * Who watches single ports. Called at Simulator::Now() as long as it watches.
 */
class PortObserver
{
  public:
    virtual ~PortObserver() = default;

    /**
     * @param event what happens
     * @param port where
     * @param record the unit; for PAUSE and RESUME only its trafficClass is set
     * @param timePs when, in picoseconds
     */
    virtual void Observe(PortEvent event,
                         PortId port,
                         const PacketRecord& record,
                         int64_t timePs) = 0;
};

/**
 * @ingroup proteus
 * The packet engine: every port, link and switch of a cluster.
 *
 * Links are full duplex with a rate and a delay. A switch (NVSwitch, PCIe switch, CPU, NIC,
 * network switch) looks the next port of a unit up and queues it there, by traffic class, when all
 * of it has arrived or, cutting through, when its head has. Traffic classes are served strictly in
 * order (0 first), or by weight.
 *
 * Flow control. On links with a receive buffer (attributes NvlinkBuffer, PcieBuffer,
 * InfinibandBuffer; per traffic class) a unit is sent only when the buffer at the other end has
 * room, which it gets back, after the link's delay, when the unit has left that switch again. RoCE
 * switches have one buffer for all ports; what a traffic class of an ingress port occupies there
 * is limited by a dynamic threshold, beyond which PFC pauses the sender. Units without payload have
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
    /// How a switch chooses among ports that lead to a destination.
    enum RoutingMode : uint8_t
    {
        ECMP,             //!< per flow, by a hash
        SPRAY,            //!< per packet, by a hash
        ADAPTIVE,         //!< per packet, the shortest queue; a hash among equals
        FORWARDING_TABLE, //!< per destination, as InfiniBand's linear forwarding tables do
        UP_DOWN,          //!< per flow, by a hash, among paths that never go up again after down
    };

    /// @return the TypeId
    static TypeId GetTypeId();

    Fabric();
    ~Fabric() override;

    /**
     * Builds ports for every link, and a Node for every vertex.
     * @param cluster to build; kept
     * @throw std::invalid_argument for attributes that make no sense together
     */
    void SetCluster(std::shared_ptr<const Cluster> cluster);

    /// @return the cluster
    const Cluster& GetCluster() const
    {
        return *m_cluster;
    }

    /// @return shortest paths over the links that work
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

    /// @return what stands at the ends, or null
    const FabricEndpoint* GetEndpoint() const
    {
        return m_endpoint;
    }

    /**
     * The fabric's time. Within a callback of the fabric it is exact, and Simulator::Now() may
     * lag; elsewhere it is Simulator::Now().
     * @return picoseconds
     */
    int64_t GetTimePs() const;

    /// @return number of ports: two per link
    uint32_t GetNPorts() const
    {
        return 2 * static_cast<uint32_t>(m_cluster->GetLinks().size());
    }

    /// @param port a port @return the vertex that sends on it
    VertexId GetFrom(PortId port) const
    {
        return m_ports[port].from;
    }

    /// @param port a port @return the vertex at the other end
    VertexId GetTo(PortId port) const
    {
        return m_ports[port].to;
    }

    /// @param vertex a vertex @param index in Cluster::GetPorts() @return the port
    PortId GetPort(VertexId vertex, uint32_t index) const;

    /// @param port a port @return its link
    const Link& GetLink(PortId port) const
    {
        return m_cluster->GetLinks()[port / 2];
    }

    /// @param link a link @return its framing, with BurstBytes and TrainPackets applied
    LinkFraming GetFraming(LinkId link) const;

    /// @return number of traffic classes
    uint32_t GetNTrafficClasses() const
    {
        return m_nClasses;
    }

    /**
     * Announces that endpoints will send units of a traffic class. Class 1 is announced always.
     * @param trafficClass a traffic class
     * @throw std::invalid_argument if the fabric has no such class
     */
    void UseTrafficClass(uint32_t trafficClass);

    /**
     * An endpoint has units to send; the fabric pulls them.
     * @param port of the endpoint
     * @param fromPs when there may be the first one; before now for at once
     */
    void Offer(PortId port, int64_t fromPs = 0);

    /**
     * Sends a unit without payload.
     * @param from an endpoint
     * @param record kind, queue pair, destination, sequence, content and traffic class are set
     */
    void SendControl(VertexId from, PacketRecord record);

    /**
     * Sets the time of FabricEndpoint::HandleTimer(). There is one such time.
     * @param timePs when; not before now; EventTree::NEVER for not at all
     */
    void SetTimer(int64_t timePs);

    /// @param on whether FabricEndpoint::CollectTelemetry() is called
    void SetTelemetry(bool on);

    /**
     * Calls back as a simulator event at the fabric's present time, for what may look at
     * Simulator::Now() or start other events.
     * @param vertex in whose context
     * @param callback what to call
     */
    void CallAtPresent(VertexId vertex, std::function<void()> callback);

    /**
     * Fails or repairs a link, now, in both directions. What is on the wire is lost. After
     * RerouteDelay the paths are computed anew, units that wait for a failed link take another
     * way, and those that have none are dropped.
     * @param link which one
     * @param up whether it works from now on
     */
    void SetLinkUp(LinkId link, bool up);

    /// @param link a link @return whether it works
    bool IsLinkUp(LinkId link) const
    {
        return !m_ports[2 * link].down;
    }

    /**
     * Changes the rate of both directions of a link, for units that start from now on.
     * @param link which one
     * @param bytesPerSecond new raw rate, above 0
     */
    void SetLinkRate(LinkId link, double bytesPerSecond);

    /**
     * Changes how many units a link loses.
     * @param link which one
     * @param lossProbability of a unit, 0 to 1
     * @param bitErrorRate of every bit, 0 to 1
     */
    void SetLinkLoss(LinkId link, double lossProbability, double bitErrorRate);

    /// @param link a link @return its present rate in bytes per second, per direction
    double GetLinkRate(LinkId link) const;

    /// @param link a link @return the present probability that it loses a unit
    double GetLossProbability(LinkId link) const;

    /// @param link a link @return the present probability that it spoils a bit
    double GetBitErrorRate(LinkId link) const;

    /**
     * As GetStatistics(), but a transmission, a wait for credits and a pause that are under way
     * count as far as they have come; for samples taken while the fabric works.
     * @param port a port
     * @return what it has carried up to GetTimePs()
     */
    LinkStatistics GetStatisticsNow(PortId port) const;

    /// @return what every port carried, in the order of PortId
    std::vector<LinkStatistics> GetLinkStatistics() const;

    /// @param port a port @return what it carried
    const LinkStatistics& GetStatistics(PortId port) const
    {
        return m_ports[port].statistics;
    }

    /// @param port a port @param trafficClass of it @return wire bytes that wait for it
    uint64_t GetQueueBytes(PortId port, uint32_t trafficClass) const
    {
        return m_lanes[(port << m_classShift) + trafficClass].queuedBytes;
    }

    /// @param port a port @return wire bytes that wait for it in all traffic classes
    uint64_t GetQueueBytes(PortId port) const;

    /// @param port a port @param trafficClass of it @return whether PFC has paused it
    bool IsPaused(PortId port, uint32_t trafficClass) const
    {
        return (m_ports[port].paused >> trafficClass & 1) != 0;
    }

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
     * Checks that the fabric is at rest: queues empty, nothing in flight, every credit home, no
     * buffer occupied, and on every link as much received as sent and not lost.
     * @return an empty text, or the first port at which it is not so and why
     */
    std::string CheckAtRest() const;

    /**
     * Looks for ports that wait for each other in a circle: each for room in the buffer at its
     * end, which is occupied by units that wait for the next.
     * @return an empty text, or the names of the ports of one circle
     */
    std::string FindDeadlock() const;

    /// @return the ports of such a circle, each of which waits for the next; empty if there is none
    std::vector<PortId> FindDeadlockPorts() const;

    /**
     * Watches a port. While any port is watched, Simulator::Now() is exact and the fabric slower.
     * @param port which one
     * @param observer whom to tell, or null to stop; must outlive the run
     */
    void SetObserver(PortId port, PortObserver* observer);

    /**
     * Fixes the random streams of ECN marks and losses.
     * @param stream number of the first stream
     * @return streams used: 2
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * The signature of the per-packet trace sources.
     * @param port which direction of which link
     * @param record the packet
     * @param timePs picoseconds
     */
    typedef void (*PacketTracedCallback)(PortId port, const PacketRecord& record, int64_t timePs);

    /**
     * The signature of "QueueDepth".
     * @param port which direction of which link
     * @param trafficClass of the queue
     * @param bytes wire bytes that wait
     * @param timePs picoseconds
     */
    typedef void (*QueueTracedCallback)(PortId port,
                                        uint32_t trafficClass,
                                        uint64_t bytes,
                                        int64_t timePs);

    /**
     * The signature of "Progress".
     * @param events events handled so far
     */
    typedef void (*ProgressTracedCallback)(uint64_t events);

    /**
     * The signature of "LinkState".
     * @param link which one
     * @param up whether it works now
     */
    typedef void (*LinkTracedCallback)(LinkId link, bool up);

  protected:
    // Inherited from Object
    void DoDispose() override;

  private:
    /// The pending event of the fabric in the simulator's queue.
    class StepEvent;

    /// Slots of the event set.
    enum Slot : uint32_t
    {
        ARRIVAL = 0,
        SERVICE = 1,
        SLOTS_PER_PORT = 2
    };

    // proteus-fabric.cc: set-up and time
    /// @param technology of a link @return receive buffer in bytes, 0 for none
    uint64_t GetBufferBytes(LinkTechnology technology) const;
    /// @param id a port to set up @param link it belongs to
    void SetUpPort(PortId id, const Link& link);
    /// @param port to set up @param framing of its link @param bytesPerSecond its rate
    void SetUpRate(PortState& port, const LinkFraming& framing, double bytesPerSecond);
    /// Sets up buffers, and ports for the inside of devices that forward at a limited rate.
    void SetUpDevices();
    /// Handles what is due, as far as the horizon allows.
    void Step();
    /// @param slot whose time has come
    void HandleEvent(uint32_t slot);
    /// Makes sure that the simulator calls Step() when the next event is due.
    void Arm();
    /// Brings the fabric's clock to Simulator::Now() when called from outside.
    void Synchronize();

    /// @param slot of a port @param timePs when it is due
    void SetEvent(uint32_t slot, int64_t timePs)
    {
        if (m_reference)
        {
            SetPlainEvent(slot, timePs);
            return;
        }
        m_tree.Set(slot, timePs);
        if (!m_running)
        {
            Arm();
        }
    }

    /// @param slot of a port without an event or with a later one @param timePs when it is due
    void SetEarlierEvent(uint32_t slot, int64_t timePs)
    {
        if (m_reference)
        {
            SetPlainEvent(slot, timePs);
            return;
        }
        m_tree.SetEarlier(slot, timePs);
        if (!m_running)
        {
            Arm();
        }
    }

    /// @param slot of a port in the reference mode @param timePs when it is due
    void SetPlainEvent(uint32_t slot, int64_t timePs);
    /// @return time of the next event
    int64_t GetNextTime() const;
    /// @return which per-packet traces have a sink: bit of PortEvent; bit N_PORT_EVENTS: queue
    /// depth
    uint32_t FindTraced() const;
    /// Tells trace sinks and the port's observer. @param event what @param id where
    /// @param record the unit
    void Trace(PortEvent event, PortId id, const PacketRecord& record);
    /// Tells "QueueDepth". @param id where @param trafficClass of the queue
    void TraceQueue(PortId id, uint32_t trafficClass);

    // proteus-fabric-forwarding.cc: from arrival to departure
    /// @param id a port whose next unit has arrived
    void HandleArrival(PortId id);
    /// @param at a vertex @param record a unit that goes on from there
    void Forward(VertexId at, const PacketRecord& record);
    /// @param id a port @param record to queue there, or to send at once
    void Enqueue(PortId id, const PacketRecord& record);
    /// @param id a port that may send
    void Serve(PortId id);
    /// @param id a free port @return whether it has sent a unit that waited
    bool SendQueued(PortId id);
    /// @param id a free port @return whether it has sent a unit of the endpoint
    bool SendPulled(PortId id);
    /// @param id a port @param classes bits of traffic classes, not 0 @return which one is next
    uint32_t PickClass(PortId id, uint32_t classes) const;
    /// @param id a port @param trafficClass that it serves by weight @param wireBytes that it sends
    void CountService(PortId id, uint32_t trafficClass, uint32_t wireBytes);
    /// @param id a free port @param record to send on it @param wireBytes its size there
    void Transmit(PortId id, const PacketRecord& record, uint32_t wireBytes);

    /// @param id a port @param timePs when it is to be served, if not before
    void RequestService(PortId id, int64_t timePs)
    {
        PortState& port = m_ports[id];
        if (timePs < port.serveAtPs)
        {
            port.serveAtPs = timePs;
            if (id != m_serving)
            {
                SetEarlierEvent(SLOTS_PER_PORT * id + SERVICE, timePs);
            }
        }
    }

    /// Brings what the next event needs nearer to the processor.
    void PrefetchNext() const
    {
        const PortId next = m_tree.GetSlot() / SLOTS_PER_PORT;
        if (next < m_ports.size())
        {
            const char* port = reinterpret_cast<const char*>(&m_ports[next]);
            __builtin_prefetch(port);
            __builtin_prefetch(port + 64);
            __builtin_prefetch(port + 128);
        }
    }

    /// @param id a port at the end of which a unit is lost @param record the unit
    void Drop(PortId id, const PacketRecord& record);

    // proteus-fabric-flow-control.cc
    /// @param id a port @param trafficClass of it @param wireBytes wanted
    /// @return whether they may be sent now
    bool TakeCredit(PortId id, uint32_t trafficClass, uint32_t wireBytes);
    /// @param record that leaves the receive buffer of a link with credits
    /// @param timePs when its last byte does
    void ReturnCredit(const PacketRecord& record, int64_t timePs);
    /// @param record that leaves the device it came to @param timePs when its last byte does
    void ReleaseIngress(const PacketRecord& record, int64_t timePs);
    /// @param id a port @param record that has arrived at its end @return whether there is room
    bool Admit(PortId id, const PacketRecord& record);
    /// @param id a port @param record that leaves the shared buffer at its end
    void Discharge(PortId id, const PacketRecord& record);
    /// @param buffer a shared buffer @return what one traffic class of a port may have of it
    uint64_t GetThreshold(const BufferState& buffer) const;
    /// @param id a port whose sender is to pause or resume @param trafficClass which
    /// @param pause whether to pause
    void SendPause(PortId id, uint32_t trafficClass, bool pause);
    /// @param id a port that is told to pause or resume @param record that says so
    void HandlePause(PortId id, const PacketRecord& record);
    /// @param id a port @param record about to wait there @return it, marked or not
    PacketRecord Mark(PortId id, const PacketRecord& record);
    /// @param port a port @param record that has crossed it @return whether it is lost
    bool IsLost(const PortState& port, const PacketRecord& record);

    // proteus-fabric-routing.cc
    /// @param at a vertex @param record a packet @return the port it takes, NO_PORT if there is
    /// none
    PortId Route(VertexId at, const PacketRecord& record);
    /// @param at a vertex @param record a packet @param choices several ports @return one of them
    PortId Choose(VertexId at,
                  const PacketRecord& record,
                  const std::vector<PortId>& choices) const;
    /// @param at a vertex @param to a vertex @param wentDown whether only down is legal
    /// @return entry of the route table
    uint16_t FindRoute(VertexId at, VertexId to, bool wentDown);
    /// Empties the route tables and computes paths over the links that work.
    void ResetRoutes();
    /// The paths have changed: moves units that wait for failed links.
    void Reroute();
    /// @param id a port that has just failed: loses what is on the wire
    void Fail(PortId id);

    std::shared_ptr<const Cluster> m_cluster; //!< what is built
    std::unique_ptr<Paths> m_paths;           //!< its shortest paths
    NodeContainer m_nodes;                    //!< by vertex
    Ptr<EventHorizon> m_horizon;              //!< time of the next simulator event
    FabricEndpoint* m_endpoint{nullptr};      //!< the transport

    std::vector<PortState> m_ports;      //!< by PortId; then those inside devices
    std::vector<LaneState> m_lanes;      //!< by port and traffic class
    std::vector<IngressState> m_ingress; //!< by port and traffic class; if there is PFC
    std::vector<BufferState> m_buffers;  //!< shared buffers
    std::vector<uint64_t> m_served;      //!< by port and traffic class, if weighted: virtual time
    std::vector<uint64_t> m_virtualNow;  //!< by port, if weighted: virtual time in service
    std::vector<RingBuffer<PacketRecord>> m_inputs; //!< by port and traffic class, if queued there
    EventTree m_tree;                               //!< pending events
    std::set<std::pair<int64_t, uint32_t>> m_plainEvents; //!< the same in the reference mode
    std::vector<int64_t> m_plainTimes;                    //!< by slot, in the reference mode

    std::vector<std::vector<PortId>> m_outPorts;       //!< by vertex, in the order of its ports
    std::vector<PortId> m_internalPorts;               //!< by vertex; empty if there are none
    std::vector<VertexId> m_anchors;                   //!< by vertex: its only neighbour, or itself
    std::vector<PortId> m_lastPorts;                   //!< by vertex: from its anchor to it
    std::vector<std::unique_ptr<uint16_t[]>> m_routes; //!< by vertex (and way) and anchor
    std::vector<std::vector<PortId>> m_choices; //!< several ports, as route table entries name them
    std::vector<PacketRecord> m_copies;         //!< of Replicate()
    std::vector<PortObserver*> m_observers;     //!< by PortId; empty if there are none

    int64_t m_timePs{0};                 //!< the fabric's clock
    int64_t m_armedPs{EventTree::NEVER}; //!< when the simulator calls Step()
    uint32_t m_timerSlot{0};             //!< slot of SetTimer()
    uint32_t m_traced{0};                //!< FindTraced(), as of the last Step()
    bool m_running{false};               //!< within Step()
    bool m_twoPhases{false};             //!< routes depend on how a unit arrived
    PortId m_serving{NO_PORT};           //!< within Serve()
    uint64_t m_events{0};                //!< handled
    uint64_t m_packetHops{0};            //!< links crossed
    uint32_t m_pullClasses{2};           //!< UseTrafficClass()
    uint32_t m_losslessClasses{2};       //!< attribute, as bits
    std::vector<uint32_t> m_weights;     //!< attribute; empty for strict priority
    bool m_telemetry{false};             //!< SetTelemetry()
    EventId m_rerouteEvent;              //!< pending Reroute()

    uint64_t m_nvlinkBuffer;                 //!< attribute
    uint64_t m_pcieBuffer;                   //!< attribute
    uint64_t m_infinibandBuffer;             //!< attribute
    bool m_infinibandCutThrough;             //!< attribute
    bool m_roceCutThrough;                   //!< attribute
    bool m_internalCutThrough;               //!< attribute
    uint32_t m_cutThroughBytes;              //!< attribute
    uint32_t m_burstBytes;                   //!< attribute
    uint32_t m_trainPackets;                 //!< attribute
    uint32_t m_classShift{0};                //!< lanes of a port: 1 << this
    uint32_t m_nClasses;                     //!< attribute
    std::string m_classWeights;              //!< attribute
    std::string m_inputQueuedKinds;          //!< attribute
    RoutingMode m_routing;                   //!< attribute
    Time m_rerouteDelay;                     //!< attribute
    bool m_pfc;                              //!< attribute
    std::string m_pfcClasses;                //!< attribute
    uint64_t m_switchBuffer;                 //!< attribute
    uint64_t m_nicBuffer;                    //!< attribute
    uint32_t m_bufferReserve;                //!< attribute
    uint32_t m_headroom;                     //!< attribute
    uint32_t m_thresholdShift;               //!< attribute
    uint32_t m_resumeOffset;                 //!< attribute
    bool m_ecn;                              //!< attribute
    bool m_infinibandEcn;                    //!< attribute
    uint64_t m_ecnMinBytes;                  //!< attribute
    uint64_t m_ecnMaxBytes;                  //!< attribute
    double m_ecnMaxProbability;              //!< attribute
    DataRate m_ecnReferenceRate;             //!< attribute
    bool m_reference;                        //!< attribute
    Ptr<UniformRandomVariable> m_markRandom; //!< attribute
    Ptr<UniformRandomVariable> m_lossRandom; //!< attribute
    Ptr<EventImpl> m_stepEvent;              //!< pending call of Step(), or null

    /// Another 2^20 events have been handled.
    TracedCallback<uint64_t> m_progressTrace;
    /// A link has failed or been repaired.
    TracedCallback<LinkId, bool> m_linkTrace;
    /// By PortEvent.
    TracedCallback<PortId, const PacketRecord&, int64_t> m_transmitTrace;
    TracedCallback<PortId, const PacketRecord&, int64_t> m_receiveTrace;
    TracedCallback<PortId, const PacketRecord&, int64_t> m_enqueueTrace;
    TracedCallback<PortId, const PacketRecord&, int64_t> m_dequeueTrace;
    TracedCallback<PortId, const PacketRecord&, int64_t> m_dropTrace;
    TracedCallback<PortId, const PacketRecord&, int64_t> m_markTrace;
    TracedCallback<PortId, const PacketRecord&, int64_t> m_pauseTrace;
    TracedCallback<PortId, const PacketRecord&, int64_t> m_resumeTrace;
    TracedCallback<PortId, const PacketRecord&, int64_t> m_creditStallTrace;
    /// The number of wire bytes that wait for a port has changed.
    TracedCallback<PortId, uint32_t, uint64_t, int64_t> m_queueTrace;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FABRIC_H
