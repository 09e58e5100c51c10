/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FABRIC_STATE_H
#define PROTEUS_FABRIC_STATE_H

#include "proteus-event-stepper.h"
#include "proteus-port.h"
#include "proteus-route-table.h"

#include "ns3/node-container.h"
#include "ns3/object.h"
#include "ns3/proteus-cluster.h"
#include "ns3/proteus-link-statistics.h"
#include "ns3/proteus-paths.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * What a Fabric is made of and how far it is: its cluster, nodes, ports, ways and clock, and all
 * that can be asked of them. The Fabric itself moves units on.
 */
class FabricState : public Object
{
  public:
    /// @return the cluster
    const Cluster& GetCluster() const
    {
        return *m_cluster;
    }

    /// @return shortest paths over the links that work
    const Paths& GetPaths() const
    {
        return m_routes.GetPaths();
    }

    /// @return the same paths, to be kept: they stay as they are when links fail later. NCCL makes
    /// rings and trees when it starts, and keeps them
    std::shared_ptr<const Paths> SharePaths() const
    {
        return m_routes.SharePaths();
    }

    /// @return shortest paths over all links, also those that have failed: what is connected when a
    /// job starts stays connected
    const Paths& GetWholePaths() const
    {
        return m_routes.GetWholePaths();
    }

    /// @return a node for every vertex of the cluster, by VertexId
    const NodeContainer& GetNodes() const
    {
        return m_nodes;
    }

    /// @return what the HorizonScheduler is to feed
    Ptr<EventHorizon> GetHorizon() const
    {
        return m_stepper.GetHorizon();
    }

    /// @return whether events of the simulator are left; false, too, without a HorizonScheduler
    bool HasSimulatorEvents() const;

    /**
     * The fabric's time: exact within a callback of the fabric, where Simulator::Now() may be
     * earlier; elsewhere it is Simulator::Now().
     * @return picoseconds
     */
    int64_t GetTimePs() const
    {
        return m_stepper.GetTimePs();
    }

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
    PortId GetPort(VertexId vertex, uint32_t index) const
    {
        return m_routes.GetOutPorts(vertex)[index];
    }

    /// @param port a port @return its link
    const Link& GetLink(PortId port) const
    {
        return m_cluster->GetLinks()[port / 2];
    }

    /// @return number of traffic classes
    uint32_t GetNTrafficClasses() const
    {
        return m_ports.GetNClasses();
    }

    /// @param vertex a vertex @return by what hashes of path choice know it, see GetFlowPlaces()
    uint32_t GetFlowPlace(VertexId vertex) const
    {
        return m_flowPlaces[vertex];
    }

    /// @return windows in which this rank had something to do
    uint64_t GetWindowCount() const
    {
        return m_stepper.GetWindowCount();
    }

    /// @param link a link @return whether it works
    bool IsLinkUp(LinkId link) const
    {
        return !m_ports[2 * link].down;
    }

    /// @param port a port @return what it carried
    const LinkStatistics& GetStatistics(PortId port) const
    {
        return m_ports[port].statistics;
    }

    /// @param port a port @param trafficClass of it @return wire bytes that wait for it
    uint64_t GetQueueBytes(PortId port, uint32_t trafficClass) const
    {
        return m_ports.Lane(port, trafficClass).queuedBytes;
    }

    /// @param port a port @return wire bytes that wait for it in all traffic classes
    uint64_t GetQueueBytes(PortId port) const;

    /// @param port a port @return wire bytes of each traffic class that there is room for at its
    /// other end; 0: it needs no credits
    uint64_t GetReceiveBuffer(PortId port) const
    {
        return m_ports[port].credited ? static_cast<uint64_t>(m_ports[port].bufferBytes) : 0;
    }

    /// @param port a port @param trafficClass of it @return whether PFC has paused it
    bool IsPaused(PortId port, uint32_t trafficClass) const
    {
        return (m_ports[port].paused >> trafficClass & 1) != 0;
    }

    /// @return events handled so far
    uint64_t GetEventCount() const
    {
        return m_stepper.GetEventCount() + m_otherEvents;
    }

    /// @return of these, those of the rank that has handled most, if there are several, when they
    /// are gathered
    uint64_t GetBusiestEvents() const
    {
        return m_busiestEvents;
    }

    /// @return link crossings so far
    uint64_t GetPacketHops() const
    {
        return m_packetHops;
    }

    /**
     * As GetStatistics(), but a transmission, a wait for credits or a pause that is under way
     * counts up to the present time; for samples taken while the fabric works.
     * @param port a port
     * @return what it has carried up to GetTimePs()
     */
    LinkStatistics GetStatisticsNow(PortId port) const;

    /// @return what every port carried, in the order of PortId
    std::vector<LinkStatistics> GetLinkStatistics() const;

    /// @param link a link @return its present rate in bytes per second, per direction
    double GetLinkRate(LinkId link) const;

    /// @param link a link @return the present probability that it loses a unit
    double GetLossProbability(LinkId link) const;

    /// @param link a link @return the present probability that it spoils a bit
    double GetBitErrorRate(LinkId link) const;

    /// @param port a port @return words that say all about it that a unit can meet
    std::vector<uint64_t> DescribePort(PortId port) const;

    /// Adds up what happened on all links. @param statistics gets hops, events, dropped, pauses
    /// and marked; the rest stays
    void AddTotals(NetworkStatistics& statistics) const;

  protected:
    std::shared_ptr<const Cluster> m_cluster; //!< what is built
    NodeContainer m_nodes;                    //!< by vertex
    PortTable m_ports;                        //!< by PortId; then those inside devices
    std::vector<PortId> m_internalPorts;      //!< by port that enters, then by vertex; maybe none
    std::vector<bool> m_isMemory;             //!< by vertex: it is the memory of a host
    std::vector<bool> m_absorbs;              //!< by vertex: Fabric::Absorb()
    std::vector<uint32_t> m_flowPlaces;       //!< by vertex: GetFlowPlace()
    EventStepper m_stepper;                   //!< clock and event set
    RouteTable m_routes;                      //!< ways to a destination
    uint64_t m_packetHops{0};                 //!< links crossed
    uint64_t m_otherEvents{0};                //!< handled in other processes
    uint64_t m_busiestEvents{0};              //!< see GetBusiestEvents()
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FABRIC_STATE_H
