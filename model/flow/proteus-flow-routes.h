/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_ROUTES_H
#define PROTEUS_FLOW_ROUTES_H

#include "proteus-cpu-queues.h"
#include "proteus-flow-route-table.h"
#include "proteus-replay-ways.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-connection.h"
#include "ns3/proteus-flow-parameters.h"
#include "ns3/proteus-paths.h"

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <optional>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// An operation that switches do for a group: a sum of what all members give, or a multicast.
struct GroupConnection
{
    std::vector<VertexId> members;         //!< GPUs
    VertexId sender{Cluster::NO_VERTEX};   //!< who multicasts; NO_VERTEX for a sum
    VertexId receiver{Cluster::NO_VERTEX}; //!< who gets the sum; NO_VERTEX for all members
    uint64_t flow{0};                      //!< GetGroupFlow()
};

/**
 * @ingroup proteus
 * Turns a cluster into resources, and connections into routes over them.
 *
 * A flow takes the path that the packet network gives it: the hash of the flow picks one of the
 * ports of equal cost. The NVLinks from a GPU to its NVSwitches are an exception: a flow uses all
 * of them in proportion to their rates, so they are one resource in each direction.
 *
 * What a byte of payload takes of resources: of a link, its share of a whole unit with all headers,
 * where the unit is the smallest of the path; of the opposite direction, what the data link layer
 * sends back; of the memory of both GPUs; of the copy engines of the source, if these move it; and
 * of every vertex that forwards it at a limited rate, such as a CPU.
 */
class FlowRoutes
{
  public:
    /**
     * @param cluster to send over; must outlive this object
     * @param paths of it, must outlive this object
     * @param parameters of the flow network
     */
    FlowRoutes(const Cluster& cluster, const Paths& paths, const FlowParameters& parameters);

    /// What Plan() has found.
    struct Planned
    {
        uint32_t route;    //!< id; connections with equal routes have the same
        bool isForAnyFlow; //!< whether it would be the same with another Connection::flow
    };

    /**
     * @param connection from GPU to GPU
     * @param flow on which its path depends, in the place of Connection::flow
     * @param messageBytes payload of its messages, in the mean: of short ones, headers and control
     * units are more of what links of a network carry; 0: long ones
     * @return its route
     * @throw std::invalid_argument if there is no path
     */
    Planned Plan(const Connection& connection, uint64_t flow, uint32_t messageBytes = 0);

    /// @param bytes payload of messages @return whether they are short for Plan()
    static bool IsShort(double bytes)
    {
        return bytes > 0 && bytes < SHORT_BYTES;
    }

    /**
     * The route of an operation inside switches: the links up from all who give to the root of the
     * group's tree, and down to all who get, each link once. Roots and ways are those of packets
     * (FindGroupRoots()). Members that NVLink joins use all their NVSwitches alike; others go
     * through their NICs.
     * @param connection which operation
     * @return id of its route
     * @throw std::invalid_argument if there is no path
     */
    uint32_t PlanGroup(const GroupConnection& connection);

    /// @param id a route @return the route
    const FlowRoute& GetRoute(uint32_t id) const
    {
        return m_routes.Get(id);
    }

    /// @return the first of the resources that stand for what waits before links
    uint32_t GetFirstQueue() const
    {
        return m_firstQueue;
    }

    /// @return where the messages of replays go; valid as long as this object
    ReplayWays GetWays() const
    {
        return {m_resources, m_routes, static_cast<double>(m_parameters.infinibandBufferBytes)};
    }

    /// @return the first resource behind these
    uint32_t GetEndOfQueues() const
    {
        return m_endOfQueues;
    }

    /// @return what there is to share
    const std::vector<FlowResource>& GetResources() const
    {
        return m_resources;
    }

  private:
    /// Below that, what comes with each message is more than half a percent of it.
    static constexpr double SHORT_BYTES = 65536;

    /// "No resource".
    static constexpr uint32_t NO_RESOURCE = NO_ID;

    /// Something of every link of a path, few of which have more.
    template <class T>
    using PerLink = boost::container::small_vector<T, 8>;

    /// A part of a flow on its way.
    struct Walker;
    /// The way of a group's operation.
    struct Tree;

    /// @param capacity of a new resource @param sharing of it @return its number
    uint32_t AddResource(double capacity, double sharing);
    /// Makes the resources of links, NVLinks to NVSwitches together.
    void AddLinkResources();
    /// Makes the resources of CPUs' inputs, see CpuQueues.
    void AddQueues();
    /// @param walker that has come to the end @param route that gets the inputs on its way
    void AddInputs(const Walker& walker, FlowRoute& route) const;
    /// @param at a vertex @param positions some of its ports @return whether it makes no difference
    /// to a route which of them is taken
    bool AreAlike(VertexId at, const std::vector<uint16_t>& positions) const;
    /// @param walker to bring @param to the next vertex where the flow is sent on
    void Walk(Walker& walker, VertexId to) const;
    /// @param walker on its way @param nChoices links that lead on @return the one that a flow of
    /// its hash takes
    std::size_t Pick(const Walker& walker, std::size_t nChoices) const;
    /// A walker takes a link. @param walker which one @param position of the link at its vertex
    void Take(Walker& walker, std::size_t position) const;
    /// @param walker that is on its way @param to the next stop @return its choices of links
    /// @throw std::invalid_argument if there are none
    const std::vector<uint16_t>& FindChoices(const Walker& walker, VertexId to) const;
    /// The same where packets take all equal ways: walkers become more at switches of the network.
    /// @param walkers to bring @param to the next vertex where the flow is sent on
    void WalkAll(std::vector<Walker>& walkers, VertexId to) const;
    /// @param walker with its links, which have its share of the flow @param unitBytes of the flow
    /// @param route to add to
    void AddUses(const Walker& walker, uint32_t unitBytes, FlowRoute& route);
    /// @param link that a unit crosses @param unitBytes payload of that @return bytes that
    /// congestion control adds to it there
    double FindTelemetry(const Link& link, uint32_t unitBytes) const;
    /// @param walker that has come to the end @return how many of its links lead to the NIC that
    /// receives; all of them if there is none
    std::size_t CountLinksToNic(const Walker& walker) const;
    /// What acknowledges packets, where one for every message is not enough. @param walker with its
    /// links @param share of the flow that it carries @param unitBytes of the flow @param route to
    /// add to
    void AddAcknowledgements(const Walker& walker,
                             double share,
                             uint32_t unitBytes,
                             FlowRoute& route) const;
    /// What short messages take of a network's links besides. @param walker with its share
    /// @param messageBytes of the flow @param unitBytes of it @param route to add to
    void AddShortUses(const Walker& walker,
                      uint32_t messageBytes,
                      uint32_t unitBytes,
                      FlowRoute& route) const;
    /**
     * @param walker with its links
     * @param position of one that enters a CPU
     * @param slowness by link: seconds that a byte takes of it
     * @return seconds that the queue takes for a byte, see CpuQueues
     */
    double FindQueueing(const Walker& walker,
                        std::size_t position,
                        const PerLink<double>& slowness);
    /// @param walker a part of a flow @param position of a link of it, not the last one
    /// @return resource of the device behind the link, by which it forwards the flow; NO_RESOURCE
    /// if it does so at the rates of its links
    uint32_t FindForward(const Walker& walker, std::size_t position) const;
    /// @param walkers of the flow, with their links @param unitBytes of it @return how the NIC that
    /// sends it comes by it
    FlowReading FindReading(const std::vector<Walker>& walkers, uint32_t unitBytes) const;
    /// @param walker with its links @param unitBytes of the flow @param route whose times are set
    void SetTimes(const Walker& walker, uint32_t unitBytes, FlowRoute& route) const;

    /// @param connection to plan @param flow of it @param firstStop where it goes first
    /// @return who carries it: all NVLinks of the source together, or one walker
    std::vector<Walker> StartWalkers(const Connection& connection,
                                     uint64_t flow,
                                     VertexId firstStop) const;
    /// @param walker with its links @return the smallest unit of them
    uint32_t FindUnitBytes(const Walker& walker) const;
    /// Notes where packets may get marks: on what all go by, as equal ways have queues of their
    /// own. @param walkers of the flow @param unitBytes of the flow
    /// @param route to complete
    void FindMarkers(const std::vector<Walker>& walkers,
                     uint32_t unitBytes,
                     FlowRoute& route) const;
    /// @param walker that has arrived @param route with FlowRoute::queues, which gets what is
    /// before and behind them
    void FindHosts(const Walker& walker, FlowRoute& route) const;
    /// @param walker that has arrived @param route that gets FlowRoute::turns
    void FindTurns(const Walker& walker, FlowRoute& route) const;
    /// @param walker that has arrived @param route that gets the way of what is sent back
    void FindReturns(const Walker& walker, FlowRoute& route) const;
    /// @param connection of the route @param route gets what the GPUs at its ends take and allow
    void LimitByEnds(const Connection& connection, FlowRoute& route) const;
    /// @param connection an operation @return whether NVLink joins its members
    bool IsInOneDomain(const GroupConnection& connection) const;
    /// @param connection an operation @param member of it @param root of the tree
    /// @param hasNics whether ways pass the members' NICs
    /// @return where the member's way to the root passes: its NIC, if it does, and the switches
    /// that combine and copy, up to the root
    PerLink<VertexId> FindStops(const GroupConnection& connection,
                                VertexId member,
                                VertexId root,
                                bool hasNics) const;
    /// @param hash of the tree's flow @param member of a group @param stops FindStops()
    /// @param isUp to the root, or from it @param tree to add to
    void AddBranch(uint64_t hash,
                   VertexId member,
                   const PerLink<VertexId>& stops,
                   bool isUp,
                   Tree& tree) const;
    /// @param connection an operation @param root of the tree @param plane number of the tree
    /// @param hasNics see FindStops() @return the tree
    Tree MakeTree(const GroupConnection& connection,
                  VertexId root,
                  uint32_t plane,
                  bool hasNics) const;

    const Cluster& m_cluster;
    const Paths& m_paths;
    const FlowParameters m_parameters;
    const std::vector<uint32_t> m_flowPlaces; //!< by vertex: what hashes know it by
    std::vector<FlowResource> m_resources;
    std::vector<uint32_t> m_ofPort;    //!< resource of a direction of a link
    uint32_t m_firstQueue{0};          //!< see GetFirstQueue()
    uint32_t m_endOfQueues{0};         //!< see GetEndOfQueues()
    std::optional<CpuQueues> m_queues; //!< once there are links
    std::vector<uint32_t> m_ofQueue;   //!< by port that enters
    std::vector<uint32_t> m_ofMemory;  //!< by vertex
    std::vector<uint32_t> m_ofEngines; //!< by vertex
    std::vector<uint32_t> m_ofForward; //!< by port that enters
    FlowRouteTable m_routes;           //!< those that were planned
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_ROUTES_H
