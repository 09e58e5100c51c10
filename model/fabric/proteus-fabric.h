/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FABRIC_H
#define PROTEUS_FABRIC_H

#include "proteus-class-scheduler.h"
#include "proteus-credit-control.h"
#include "proteus-fabric-endpoint.h"
#include "proteus-fabric-ranks.h"
#include "proteus-fabric-settings.h"
#include "proteus-fabric-state.h"
#include "proteus-fabric-watch.h"
#include "proteus-input-queues.h"
#include "proteus-marker.h"
#include "proteus-packet.h"
#include "proteus-port-selector.h"
#include "proteus-port-tracer.h"
#include "proteus-port.h"
#include "proteus-shared-buffers.h"

#include "ns3/event-id.h"
#include "ns3/proteus-cluster.h"
#include "ns3/proteus-pool.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * The packet engine: every port, link and switch of a cluster.
 *
 * Links are full duplex with a rate and a delay. A switch (NVSwitch, PCIe switch, CPU, NIC, network
 * switch) looks up the next port of a unit and queues the unit there, by traffic class, when all of
 * it has arrived or, if it cuts through, when its head has. Traffic classes are served strictly in
 * order (0 first), or by weight.
 *
 * Flow control. On links with a receive buffer (attributes NvlinkBuffer, PcieBuffer,
 * InfinibandBuffer; per traffic class) a unit is sent only when the buffer at the other end has
 * room. The sender gets the room back when the unit has left that switch again, after the delay of
 * the link. Ethernet switches and NICs have one buffer for all ports instead. What a traffic class
 * of an ingress port occupies there is limited by a dynamic threshold, beyond which PFC pauses the
 * sender. Units without payload always have room.
 *
 * Time is kept in picoseconds. The fabric has its own event set, with at most two events per port
 * besides calls, and one event at a time in the simulator's queue. A HorizonScheduler tells it when
 * the next other event of the simulator is due; up to that time it goes on within its one event.
 * Without a HorizonScheduler, or while a per-packet trace sink is connected, each time step of the
 * fabric is a simulator event, so that Simulator::Now() is right in the sink. Simulator events that
 * are due at the same time run before the fabric's.
 *
 * The fabric has no memory: what happens to units depends neither on the time at which it happens
 * nor on what was carried before. Once a link has been idle for a moment, it is as new.
 */
class Fabric : public FabricState, private CallTarget
{
  public:
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

    /// @param endpoint what stands at the ends; must outlive the run
    void SetEndpoint(FabricEndpoint* endpoint);

    /// @return what stands at the ends, or null
    const FabricEndpoint* GetEndpoint() const
    {
        return m_endpoint;
    }

    /// @param link a link @return its framing, with BurstBytes and TrainPackets applied
    LinkFraming GetFraming(LinkId link) const;

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
     * Sends a unit without payload, or one that Deliver() was given at a CPU and has kept there.
     * @param from an endpoint, a NIC on the way, or the CPU
     * @param record kind, queue pair, destination, sequence, content and traffic class are set
     */
    void Send(VertexId from, PacketRecord record);

    /**
     * Sets the time of FabricEndpoint::HandleTimer(). There is one such time.
     * @param timePs when; not before now; EventTree::NEVER for not at all
     */
    void SetTimer(int64_t timePs);

    /// Packets of network links are longer by the attribute TelemetryBytes with it, so that it is
    /// set before the first. @param on whether FabricEndpoint::CollectTelemetry() is called
    void SetTelemetry(bool on);

    /**
     * Calls back as a simulator event at the fabric's present time, for what may look at
     * Simulator::Now() or start other events. While the fabric is behind the simulator's clock, it
     * is that time.
     * @param vertex in whose context
     * @param callback what to call
     */
    void CallAtPresent(VertexId vertex, std::function<void()> callback);

    /**
     * Calls back at a time of the fabric, GetTimePs(), before what is due at ports then.
     * @param call whom, when and in which order
     */
    void CallAt(const FabricCall& call)
    {
        m_stepper.Synchronize();
        m_stepper.Call(call);
    }

    /**
     * Calls back as a simulator event, when all else of that time has been handled in the fabric.
     * @param call whom, when and in which order
     */
    void CallFinally(const FabricCall& call)
    {
        m_stepper.Synchronize();
        m_stepper.CallFinally(call);
    }

    /**
     * Whether calls may be set in the past, so that a communication can be executed late on links
     * that nothing has crossed since. That is so if what follows is what would have followed at
     * that time, and depends on nothing but those links.
     * @return an empty text, or why not
     */
    std::string FindObstacle() const;

    /// Handles all that lies before now, after calls have been set in the past.
    void CatchUp();

    /// @return who looks at it from outside, and who is told what
    FabricWatch& GetWatch()
    {
        return m_watch;
    }

    /// @return who looks at it from outside, and who is told what
    const FabricWatch& GetWatch() const
    {
        return m_watch;
    }

    /// @param port a port @param drawn new value @return whether chance has decided about a mark of
    /// a unit there since this was false
    bool ExchangeDrawn(PortId port, bool drawn);

    /// @param port a port @return whether chance has decided about a mark there, as above
    bool HasDrawn(PortId port) const
    {
        return m_ports[port].drawn;
    }

    /// @param port a port @return the shared buffer at its receiving end; 0: it has none
    uint32_t GetBuffer(PortId port) const
    {
        return m_ports[port].bufferAt;
    }

    /// @return the shared buffers of Ethernet switches and NICs
    const SharedBuffers& GetBuffers() const
    {
        return m_buffers;
    }

    /**
     * Forgets all that is pending, and does what is set by a function and all that follows,
     * whatever the simulator's time. For a process that does nothing else any more; without several
     * MPI ranks and the reference mode.
     * @param begin sets events and calls
     */
    void RunAlone(const std::function<void()>& begin);

    /// Gives what a unit says as words that do not depend on when it was sent.
    using GetContent = std::function<void(const PacketRecord&, std::vector<uint64_t>&)>;

    /**
     * @param link a link that IsSelfContained(), without HasInputQueue()
     * @param content of its units
     * @param words that get all of its state, times from now on: what will happen on it depends on
     * nothing else
     */
    void AppendState(LinkId link, const GetContent& content, std::vector<uint64_t>& words) const;

    /// @param link a link @return whether a device at one of its ends has a queue per input
    bool HasInputQueue(LinkId link) const;

    /// @param target of calls @return those of CallAt() that are pending, in their order
    std::vector<FabricCall> GetCalls(const CallTarget* target) const
    {
        return m_stepper.GetCalls(target);
    }

    /// Counts events that were handled elsewhere. @param events so many
    void AddEvents(uint64_t events)
    {
        m_otherEvents += events;
    }

    /**
     * @param link a link
     * @return whether what crosses it depends on nothing but the link: it works, loses nothing, and
     * tells no telemetry. As long as chance decides about no mark, and buffers are calm, see
     * FabricWatch::ChanceCallbacks
     */
    bool IsSelfContained(LinkId link) const;

    /**
     * @param link a link
     * @return the time from which on the link is as new if nothing else is sent: both directions
     * are idle, all credits are back, all debts of reverse bytes are paid; EventTree::NEVER while
     * something is under way
     */
    int64_t GetRestPs(LinkId link) const;

    /// @param link a link @param queuePairs ids, ascending @return whether a unit of one of them is
    /// on it, or waits at one of its ends
    bool Carries(LinkId link, const std::vector<uint32_t>& queuePairs) const;

    /**
     * Appends the ports on the way of a unit that has no choice between paths.
     * @param stops vertices that it passes, its first and last one included
     * @param first port by which it leaves the first vertex; NO_PORT for the one that its hash
     * picks
     * @param queuePair of the unit
     * @param ports to append to
     */
    void AppendWay(const std::vector<VertexId>& stops,
                   PortId first,
                   uint32_t queuePair,
                   std::vector<PortId>& ports);

    /// @param port a port @param bytes new value of LinkStatistics::maxQueueBytes @return the old
    uint64_t ExchangeMaxQueue(PortId port, uint64_t bytes);

    /// Adds what was not executed, and tells it. @param port a port @param more what it carried
    /// besides @param startPs since when @param endPs until when
    void AddStatistics(PortId port, const LinkStatistics& more, int64_t startPs, int64_t endPs);

    /// @return who simulates what, and the way to the others; null if there is one rank
    const FabricRanks* GetRanks() const
    {
        return m_ranks.get();
    }

    /// @param vertex a vertex @return whether this process (MPI rank) simulates it
    bool IsLocal(VertexId vertex) const
    {
        return !m_ranks || m_ranks->GetPartition().rankOf[vertex] == m_rank;
    }

    /**
     * Tells the endpoint's part in the rank of a vertex something, which comes in time for whatever
     * this rank does now to have an effect there.
     * @param vertex of another rank
     * @param kind from USER_WORD on
     * @param word a plain record
     */
    template <typename T>
    void TellRank(VertexId vertex, uint32_t kind, const T& word)
    {
        m_ranks->Tell(m_ranks->GetPartition().rankOf[vertex], kind, word);
        FlushRanks();
    }

    /// Adds up what links have carried, and the totals, over all ranks, which have to call it when
    /// the run is over.
    void GatherStatistics();

    /**
     * Fails or repairs a link, now, in both directions. What is on the wire is lost. After
     * RerouteDelay paths are computed anew: units that wait for a failed link take another way, or
     * are dropped if there is none.
     * @param link which one
     * @param up whether it works from now on
     */
    void SetLinkUp(LinkId link, bool up);

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

    /**
     * Begins or ends a storm of PFC pauses: the device at the end of a port repeats pauses of all
     * lossless traffic classes, so that the port sends none of them until the storm is over.
     * @param port that is paused, of a RoCE link
     * @param on whether the storm goes on from now on
     */
    void SetPauseStorm(PortId port, bool on);

    /**
     * Checks that the fabric is at rest: queues empty, nothing in flight, every credit home, no
     * buffer occupied, and on every link as much received as sent and not lost.
     * @return an empty text, or the first port at which it is not so and why
     */
    std::string CheckAtRest() const;

    /**
     * Looks for ports that wait for each other in a circle. Each waits for room in the buffer at
     * its end, which is full of units that wait for the next port of the circle.
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
    /// A pause, or its end, that a sender has been told and will heed.
    struct HeedCall
    {
        PortId port{NO_PORT};     //!< of the sender
        uint32_t failures{0};     //!< PortState::failures by then
        uint32_t trafficClass{0}; //!< that is paused
        bool pause{false};        //!< whether it is to pause, or to go on
    };

    /// Slots of the event set.
    enum Slot : uint32_t
    {
        ARRIVAL = 0,
        SERVICE = 1,
        SLOTS_PER_PORT = 2
    };

    // proteus-fabric-type.cc
    /// Finds a trace source of a fabric.
    template <typename FIND>
    class SourceAccessor;
    /// @param find a function from a fabric to one of its trace sources @return its accessor
    template <typename FIND>
    static Ptr<const TraceSourceAccessor> MakeSourceAccessor(FIND find);
    /// @param event what happens at a port @return accessor of its trace source
    static Ptr<const TraceSourceAccessor> MakePortSourceAccessor(PortEvent event);
    /// @return accessor of an attribute: MEMBER of the GROUP of FabricSettings
    template <auto GROUP, auto MEMBER>
    static Ptr<const AttributeAccessor> MakeSettingAccessor();
    /// @param value of an attribute: MEMBER of the GROUP of FabricSettings
    template <auto GROUP, auto MEMBER, typename T>
    void SetSetting(T value);
    /// @return value of an attribute: MEMBER of the GROUP of FabricSettings
    template <auto GROUP, auto MEMBER, typename T>
    T GetSetting() const;

    // proteus-fabric.cc: set-up and time
    /// @param technology of a link @return receive buffer in bytes, 0 for none
    uint64_t GetBufferBytes(LinkTechnology technology) const;
    /// @param id a port to set up @param link it belongs to
    void SetUpPort(PortId id, const Link& link);
    /// @param link that leads to a device @param kind of the device @param framing of the link
    /// @return bytes of a unit after which the device forwards it; 0: all
    uint32_t GetCutBytes(const Link& link, VertexKind kind, const LinkFraming& framing) const;
    /// Sets up the ports that lead to devices with one queue per input.
    void SetUpInputQueues();
    /// Numbers ports for the inside of devices that forward at a limited rate, behind those of the
    /// links. @return number of all ports
    PortId NumberInternalPorts();
    /// Sets them up, when those of the links are.
    void SetUpInternalPorts();
    /// Handles what is due, as far as the horizon allows.
    void Step();
    /// @param slot whose time has come
    void HandleEvent(uint32_t slot);

    /// Tells trace sinks and the port's observer. @param event what @param id where
    /// @param record the unit
    void Trace(PortEvent event, PortId id, const PacketRecord& record)
    {
        if (m_tracer.IsOn())
        {
            m_tracer.Trace(event, id, record, m_stepper.GetNowPs());
        }
    }

    /// Tells "QueueDepth". @param id where @param trafficClass of the queue
    void TraceQueue(PortId id, uint32_t trafficClass)
    {
        if (m_tracer.IsOn())
        {
            m_tracer.TraceQueue(id,
                                trafficClass,
                                GetQueueBytes(id, trafficClass),
                                m_stepper.GetNowPs());
        }
    }

    // proteus-fabric-forwarding.cc: from arrival to departure
    /// @param id a port whose next unit has arrived
    void HandleArrival(PortId id);
    /// A unit has come to the memory of a host, which has room for all of it, to be fetched there.
    /// @param id port that it came by @param record of it, with its next destination
    void Absorb(PortId id, PacketRecord& record);
    /// @param at a vertex @param id port that a unit came there by, NO_PORT if none
    /// @param record of it, which waits in no buffer
    void SendFrom(VertexId at, PortId id, const PacketRecord& record);
    /// @param at a vertex @param record that goes on from there as several
    void Replicate(VertexId at, const PacketRecord& record);
    /// @param at a vertex @param record a unit that goes on from there
    void Forward(VertexId at, const PacketRecord& record);
    /// @param at a vertex @param record a packet @return the port it takes, NO_PORT if there is
    /// none
    PortId Route(VertexId at, const PacketRecord& record);
    /// @param id a port @param record to queue there, or to send at once
    void Enqueue(PortId id, const PacketRecord& record);
    /// @param record that has no way on: links have failed
    void DropStray(const PacketRecord& record);
    /// @param record that is lost: tells the endpoint of data and control units
    void TellLoss(const PacketRecord& record);
    /// @param id a port that may send
    void Serve(PortId id);
    /// @param id a free port @return whether it has sent a unit
    bool SendNext(PortId id);
    /// @param id a free port with PortState::GetReady() @return whether it has sent a unit that
    /// waited
    bool SendQueued(PortId id);
    /// @param id a free port with PortState::offered @return whether it has sent a unit of the
    /// endpoint
    bool SendPulled(PortId id);
    /// @param id a free port @param classes that the endpoint may send @return whether it did
    bool PullFrom(PortId id, uint32_t classes);
    /// Asks the endpoint for a unit, class by class. @param id a port @param classes to ask for
    /// @param record as of FabricEndpoint::Pull() @param nextPs the same, for all that were asked
    /// @return the class that gave one, as a bit; 0 for none
    uint32_t PullByWeight(PortId id, uint32_t classes, PacketRecord& record, int64_t& nextPs);
    /// @param id a free port @param record to send on it @param wireBytes its size there
    void Transmit(PortId id, const PacketRecord& record, uint32_t wireBytes);
    /// @param id a port @param record that starts there
    void CollectTelemetry(PortId id, const PacketRecord& record);
    /// @param id of a port @param record a unit of its queue that gets a congestion mark
    void Mark(PortId id, PacketRecord& record);
    /// Chance is about to decide about a mark. @param id a port
    void NoteDraw(PortId id);

    // proteus-fabric-inline.h: what the compiler is to put where it is used
    /// @param id a port @param trafficClass of it @param wireBytes wanted
    /// @return whether they may be sent now
    bool TakeCredit(PortId id, uint32_t trafficClass, uint32_t wireBytes);
    /// @param record that leaves the receive buffer of a link with credits
    /// @param timePs when its last byte does
    void ReturnCredit(const PacketRecord& record, int64_t timePs);
    /// @param record that leaves the device it came to @param timePs when its last byte does
    void ReleaseIngress(const PacketRecord& record, int64_t timePs);
    /// @param id a port @param timePs when it is to be served, if not before
    void RequestService(PortId id, int64_t timePs);
    /// @return whether there are more ports than the processor is likely to have at hand
    bool IsBeyondCaches() const;
    /// Brings nearer to the processor what a unit meets first at the end of a link. @param port
    /// that has sent it @param record the unit
    void PrefetchEnd(const PortState& port, const PacketRecord& record) const;
    /// Brings a port nearer to the processor. @param id what may be one
    void PrefetchPort(PortId id) const;
    /// Brings what the events after the present one are likely to need nearer to the processor.
    void PrefetchAhead() const;
    /// Brings the end of a link that a unit came over nearer to the processor. @param record of it
    void PrefetchIngress(const PacketRecord& record) const;
    /// Brings what the next event needs nearer to the processor, where its port is there already.
    void PrefetchNext() const;

    /// @param id a port at the end of which a unit is lost @param record the unit
    void Drop(PortId id, const PacketRecord& record);

    // proteus-fabric-flow-control.cc
    /// @param id a port @param record that has arrived at its end @return whether there is room
    bool Admit(PortId id, const PacketRecord& record);
    /// Asks a sender to pause or, if it has been asked to, to go on. That goes before all other
    /// units, as soon as the present one is sent. @param id its port @param trafficClass which
    void RequestPause(PortId id, uint32_t trafficClass);
    /// @param id a free port whose PortState::pauseDue asks for a pause or its end
    void SendPause(PortId id);
    /// @param id a port that is told to pause or resume @param record that says so
    void HandlePause(PortId id, const PacketRecord& record);
    // Inherited from CallTarget: a sender heeds what it was told.
    void HandleCall(uint32_t kind, uint32_t value) override;
    /// @param id a port that pauses or goes on @param trafficClass which @param pause whether
    void HeedPause(PortId id, uint32_t trafficClass, bool pause);
    /// @param id a port @param record that has crossed it @return whether it is lost
    bool IsLost(PortId id, const PacketRecord& record) const;

    // proteus-fabric-across.cc: links between two ranks
    /// Finds out which links these are, if there are several ranks.
    void SetUpRanks();
    /// Makes a node for every vertex.
    void CreateNodes();
    /// @param id a port to another rank, on which the last unit in flight has just been sent
    void SendAcross(PortId id);
    /// @param record that leaves the receive buffer of a link from another rank
    /// @param timePs when its last byte does
    void ReturnCreditAcross(const PacketRecord& record, int64_t timePs);
    /// Sends what others are to know, unless a step is under way, which does so in the end.
    void FlushRanks();
    /// @param kind RankWordKind @param data of a word of another rank
    void TakeRankWord(uint32_t kind, const uint8_t* data);
    /// @param data of a UNIT_WORD
    void TakeUnit(const uint8_t* data);
    /// @param data of a CREDIT_WORD
    void TakeCreditReturn(const uint8_t* data);

    // proteus-fabric-links.cc
    /// The paths have changed: moves units that wait for failed links.
    void Reroute();
    /// @param id a port of a failed link, whose units take another way or are dropped
    void MoveWaiting(PortId id);
    /// @param id a port that has just failed: loses what is on the wire
    void Fail(PortId id);

    // What there is.
    FabricEndpoint* m_endpoint{nullptr}; //!< the transport
    FabricSettings m_settings;           //!< attributes

    // Who does what.
    PortSelector m_selector;    //!< one of several ways
    ClassScheduler m_scheduler; //!< which traffic class is next
    SharedBuffers m_buffers;    //!< of Ethernet switches and NICs
    InputQueues m_inputs;       //!< of devices that have them
    Marker m_marker;            //!< ECN
    PortTracer m_tracer;        //!< trace sources of ports
    PlaceRandom m_losses;       //!< which units are lost
    Pool<HeedCall> m_heedCalls; //!< pending

    std::unique_ptr<FabricRanks> m_ranks; //!< other processes; null if there are none
    uint32_t m_rank{0};                   //!< this process
    std::vector<int64_t> m_creditHomes;   //!< by lane from another rank: last credit; or empty

    FabricWatch m_watch;                //!< from outside
    bool m_isAlone{false};              //!< RunAlone()
    std::vector<PacketRecord> m_copies; //!< of FabricEndpoint::Replicate()
    PortId m_serving{NO_PORT};          //!< within Serve()
    uint32_t m_timerSlot{0};            //!< slot of SetTimer()
    uint32_t m_pullClasses{2};          //!< UseTrafficClass()
    bool m_telemetry{false};            //!< SetTelemetry()
    EventId m_rerouteEvent;             //!< pending Reroute()

    TracedCallback<uint64_t> m_progressTrace; //!< another 2^18 events have been handled
    TracedCallback<LinkId, bool> m_linkTrace; //!< a link has failed or been repaired
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FABRIC_H
