/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PORT_TRACER_H
#define PROTEUS_PORT_TRACER_H

#include "proteus-packet.h"

#include "ns3/traced-callback.h"

#include <cstdint>
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
 * The trace sources of a fabric's ports, and the observers of single ports. Once per step of the
 * fabric it is found out whether anybody looks, so that it costs next to nothing if nobody does.
 */
class PortTracer
{
  public:
    /// A trace source of units.
    using PacketTrace = TracedCallback<PortId, const PacketRecord&, int64_t>;
    /// A trace source of queues.
    using QueueTrace = TracedCallback<PortId, uint32_t, uint64_t, int64_t>;

    /// @param nPorts ports that may be watched: those of links; the others are silent
    void SetUp(uint32_t nPorts)
    {
        m_nPorts = nPorts;
    }

    /// Forgets all observers.
    void Dispose()
    {
        m_observers.clear();
    }

    /// @param port which one @param observer whom to tell, or null to stop
    void SetObserver(PortId port, PortObserver* observer);

    /// Finds out who looks. To be called before a step of the fabric.
    void Update();

    /// @return whether anybody looks, as of the last Update()
    bool IsOn() const
    {
        return m_on;
    }

    /// @param event what happens @param port where @param record the unit @param timePs when
    void Trace(PortEvent event, PortId port, const PacketRecord& record, int64_t timePs);

    /// @param port where @param trafficClass of it @param bytes that wait @param timePs when
    void TraceQueue(PortId port, uint32_t trafficClass, uint64_t bytes, int64_t timePs);

    PacketTrace sources[N_PORT_EVENTS]; //!< by PortEvent
    QueueTrace queueSource;             //!< the number of wire bytes that wait has changed

  private:
    std::vector<PortObserver*> m_observers; //!< by PortId; empty if there are none
    uint32_t m_nPorts{0};                   //!< ports of links
    bool m_on{false};                       //!< IsOn()
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PORT_TRACER_H
