/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_ROUTE_TABLE_H
#define PROTEUS_FLOW_ROUTE_TABLE_H

#include "ns3/proteus-graph-kinds.h"

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What a flow takes of a resource for every byte of its payload.
struct FlowUse
{
    uint32_t resource{0};   //!< which one
    double amount{0};       //!< of its capacity
    double payload{0};      //!< payload that crosses it; 0 for what flows against the payload
    bool comesFirst{false}; //!< whether others wait for it, as for acknowledgements of a link

    /// @param other a use @return whether this one comes first; equal ones do not
    bool operator<(const FlowUse& other) const
    {
        return std::tie(resource, amount, payload, comesFirst) <
               std::tie(other.resource, other.amount, other.payload, other.comesFirst);
    }

    /// @param other a use @return whether both are the same
    bool operator==(const FlowUse& other) const
    {
        return std::tie(resource, amount, payload, comesFirst) ==
               std::tie(other.resource, other.amount, other.payload, other.comesFirst);
    }
};

/// @ingroup proteus
/// A link out of a switch or bridge on the way of a flow, and the one by which it comes there.
/// Where a resource stands for several (ReplayPart), these have turns, and flows of one turn meet
/// others as all do.
struct FlowInput
{
    uint32_t resource{NO_ID}; //!< of the link out of it
    uint32_t from{NO_ID};     //!< of the link into it
    uint32_t turn{0};         //!< which one of those that the resource stands for
    uint32_t fromTurn{0};     //!< the same of the link into it
    uint32_t period{1};       //!< how many resources stand behind one

    /// @param other an input @return whether both are the same
    bool operator==(const FlowInput& other) const
    {
        return std::tie(resource, from, turn, fromTurn, period) ==
               std::tie(other.resource, other.from, other.turn, other.fromTurn, other.period);
    }
};

/// @ingroup proteus
/// How a NIC comes by what it sends of a flow, which it reads from a memory (NicQueues).
struct FlowReading
{
    uint32_t port{NO_ID}; //!< resource by which the bytes leave the NIC; NO_ID: there is none, or
                          //!< it is no slower than what brings them
    uint32_t from{NO_ID}; //!< resource that brings them, the slowest on the way there
    double comes{0};      //!< payload bytes per second of that
    double goes{0};       //!< payload bytes per second of the port
    double room{0};       //!< payload bytes that the NIC reads before it sends them

    /// @param other a reading @return whether both are the same
    bool operator==(const FlowReading& other) const
    {
        return std::tie(port, from, comes, goes, room) ==
               std::tie(other.port, other.from, other.comes, other.goes, other.room);
    }
};

/// @ingroup proteus
/// The way of a flow.
struct FlowRoute
{
    std::vector<FlowUse> uses; //!< by resource, ascending
    double limit{0};           //!< payload bytes per second of the thread block or copy engine;
                               //!< infinite for none
    int64_t latencyPs{0};      //!< from the first byte's start to the last one's arrival, besides
                               //!< the time that the bytes take at the flow's rate
    int64_t controlPs{0};      //!< of a clear-to-send, back
    int64_t ackPs{0};          //!< from the last byte's arrival to its acknowledgement, which is of
                               //!< the receiver's NIC if it passes one
    uint32_t unitBytes{1};     //!< payload that a link carries at once, without a break
    double unitPsPerByte{0};   //!< of a unit, on its slowest link; of a stripe, on one link of it
    uint32_t stripes{1};       //!< links that its units leave the sender by in turn
    bool isNetwork{false};     //!< whether it leaves the server by a NIC
    /// Where inputs with credits take turns on its way, in its order; none where it is striped.
    std::vector<FlowInput> inputs;
    /// Links over RoCE, if congestion control is modelled, in the order of its way; the first one
    /// is left by a NIC.
    std::vector<uint32_t> queues;
    /// Beside `queues`, in the order of its way: links and forwarding between the sender and the
    /// NIC that it leaves the first of them by.
    std::vector<uint32_t> reads;
    /// Beside `queues`, in the order of its way: links and forwarding between the NIC that they
    /// lead to and the first memory behind it.
    std::vector<uint32_t> writes;
    /// If congestion control is modelled: links inside servers that it comes to by another link,
    /// and that one, as the inputs of a link take turns.
    std::vector<std::pair<uint32_t, uint32_t>> turns;
    /// Links over RoCE that what the receiver's NIC sends back takes, in the order of its way.
    std::vector<uint32_t> returns;
    int64_t toNicPs{0};           //!< beside `queues`: of a packet from the first switch to the
                                  //!< receiver's NIC, when nothing queues
    int64_t returnPs{0};          //!< beside `returns`: to the sender's NIC
    FlowReading reading;          //!< at the NIC that sends it
    double alone{0};              //!< payload bytes per second that idle links allow; 0: what its
                                  //!< uses leave
    double lineBytesPerSecond{0}; //!< wire, of its slowest link
    double lineWire{1};           //!< bytes on that for one of payload

    /// @param other a route @return whether both are the same
    bool operator==(const FlowRoute& other) const
    {
        return std::tie(latencyPs,
                        controlPs,
                        ackPs,
                        unitBytes,
                        unitPsPerByte,
                        limit,
                        stripes,
                        isNetwork,
                        inputs,
                        queues,
                        reads,
                        writes,
                        turns,
                        returns,
                        toNicPs,
                        returnPs,
                        reading,
                        alone,
                        lineBytesPerSecond,
                        uses) == std::tie(other.latencyPs,
                                          other.controlPs,
                                          other.ackPs,
                                          other.unitBytes,
                                          other.unitPsPerByte,
                                          other.limit,
                                          other.stripes,
                                          other.isNetwork,
                                          other.inputs,
                                          other.queues,
                                          other.reads,
                                          other.writes,
                                          other.turns,
                                          other.returns,
                                          other.toNicPs,
                                          other.returnPs,
                                          other.reading,
                                          other.alone,
                                          other.lineBytesPerSecond,
                                          other.uses);
    }
};

/// @ingroup proteus
/// Routes by number; equal ones have one number.
class FlowRouteTable
{
  public:
    /// @param route whose uses are added up here, to one for each resource @return its number
    uint32_t Add(FlowRoute route);

    /// @param id a number @return the route
    const FlowRoute& Get(uint32_t id) const
    {
        return *m_routes[id];
    }

  private:
    /// Hashes a route.
    struct Hash
    {
        /// @param route to hash @return its hash
        std::size_t operator()(const FlowRoute& route) const;
    };

    std::unordered_map<FlowRoute, uint32_t, Hash> m_ids;
    std::vector<const FlowRoute*> m_routes; //!< by number, in m_ids
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_ROUTE_TABLE_H
