/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MESSAGE_FLOWS_H
#define PROTEUS_MESSAGE_FLOWS_H

#include "proteus-nic-queues.h"
#include "proteus-replay-clock.h"
#include "proteus-replay-ways.h"
#include "proteus-shared-resources.h"

#include "ns3/proteus-ring-buffer.h"

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Flows that carry one message after the other, and share the resources of their routes by max-min
 * fairness while they do. A message moves at the share of its flow; its last unit moves at the rate
 * of a link. Flows with the same route and limit are of one kind and have equal rates.
 *
 * Fair shares do not know who comes first. So messages of one unit or two arrive when their units
 * have passed the links of their way one after the other, first come, first served, unless longer
 * ones are under way there. Those arrive no sooner than what was there when they began has passed.
 */
class MessageFlows
{
  public:
    /// Called when a flow has sent a message, with how much later than the flow would bring it, in
    /// picoseconds, its last unit goes.
    using Sent = std::function<void(uint32_t flow, double behindPs)>;

    /**
     * @param ways where the flows go; what they stand for must outlive this object
     * @param clock of the replay; must outlive this object
     * @param isInstant whether bytes take no time
     * @param sent whom to tell
     */
    MessageFlows(const ReplayWays& ways, ReplayClock& clock, bool isInstant, Sent sent);

    /**
     * The same, on resources that they share with other users, of whose rates the owner tells them
     * (TakeShare()). Bytes take time.
     * @param ways where the flows go; what they stand for must outlive this object
     * @param clock of the flows; must outlive this object
     * @param shares the resources, numbered as those of the ways, in bytes per second; must outlive
     * this object
     * @param sent whom to tell
     */
    MessageFlows(const ReplayWays& ways, ReplayClock& clock, SharedResources& shares, Sent sent);

    /// @param flows of them will be added; makes room
    void Reserve(std::size_t flows)
    {
        m_flows.reserve(flows);
    }

    /**
     * @param route of the flow
     * @param limit bytes per second of its sender; 0: none besides that of the route
     * @return the flow, numbered from 0
     */
    uint32_t AddFlow(uint32_t route, double limit);

    /// A flow that others carry takes a number, and no more.
    void AddPlace()
    {
        m_flows.emplace_back();
    }

    /// @param flow that is gone, with all that it has not sent; its number is used again
    void RemoveFlow(uint32_t flow);

    /// @param flow a flow @return its route
    const FlowRoute& GetRoute(uint32_t flow) const
    {
        return m_ways.GetRoute(m_kinds[m_flows[flow].kind].route);
    }

    /// Called with a flow and bytes of a message that it has not sent.
    using Left = std::function<void(uint32_t flow, double bytes)>;

    /// Messages of which something is to be sent go on elsewhere, and nothing moves here any more.
    /// @param left is called with them, by flow, those of a flow in their order
    void HandOver(const Left& left);

    /// @param flow that carries one more message, when those before are sent @param bytes of it
    void Send(uint32_t flow, double bytes);

    /// The first byte of what a flow has begun to send leaves its NIC. @param flow which one
    void Leave(uint32_t flow)
    {
        if (std::exchange(m_flows[flow].isReading, false))
        {
            Begin(flow, m_flows[flow].bytes);
        }
    }

    /// Computes the rates of what sends now, if that has changed.
    void Share();

    /// @param share a rate that the owner of the resources has found @return whether it is of these
    /// flows
    bool TakeShare(const SharedResources::Share& share);

    /// A message of a kind is sent, as was foretold. @param kind which one
    void Finish(uint32_t kind);

  private:
    /// What passes a resource unit by unit.
    struct Passing
    {
        double untilPs{0}; //!< when all that has come so far has passed
        uint32_t nLong{0}; //!< messages under way of more than two units, or striped
    };

    /// A connection.
    struct Flow
    {
        uint32_t kind{NO_ID};       //!< flows with one route share a rate
        bool isReading{false};      //!< whether its NIC reads others before the one under way
        bool isLong{false};         //!< whether the one under way is more than two units, or
                                    //!< striped
        double pacedPs{-1e12};      //!< when the next message may begin
        double bytes{0};            //!< of the message under way; 0: there is none
        RingBuffer<double> waiting; //!< bytes of those behind it
        double leadPs{0};           //!< by which the last unit of the one under way goes before
                                    //!< the fluid ends, alone
        double creditPs{0};         //!< by which its pace lets the next one begin before that
        double leastPs{0};          //!< before which the last unit of the one under way does not
                                    //!< go, as links carry what came before it
        double rest{0};             //!< bytes of a second unit, which has not come to its turn
        double restPs{0};           //!< when it does
        SharedResources::Places places; //!< of the one under way
    };

    /// Where a flow ends, on the scale of its kind.
    struct Target
    {
        double bytes; //!< that its kind has moved then, each of its flows
        uint32_t flow;

        bool operator<(const Target& other) const
        {
            return bytes != other.bytes ? bytes > other.bytes : flow > other.flow;
        }
    };

    /// Flows with one route and one limit, a user of m_shares.
    struct Kind
    {
        uint32_t route{0};
        uint32_t user{0};                     //!< of m_shares
        uint32_t nFlows{0};                   //!< that there are
        double psPerByte{0};                  //!< of a unit, on its slowest link
        double unitBytes{0};                  //!< of the route
        bool isPaced{false};                  //!< by the thread block that sends
        double alone{0};                      //!< bytes per picosecond of one alone
        double limit{0};                      //!< the same, by its sender
        double rate{0};                       //!< of each, bytes per picosecond
        double moved{0};                      //!< bytes that each has moved since the beginning
        double sincePs{0};                    //!< when that was so
        double stripeBytes{0};                //!< one unit on each of its links
        double expected{-1};                  //!< time of its event; -1: none
        std::priority_queue<Target> messages; //!< of the flows that send
        std::priority_queue<Target> untold;   //!< of the long ones, those whose last unit has not
                                              //!< gone yet
        RingBuffer<Target> turns;             //!< of the others, those whose second unit has not
                                              //!< come to its turn yet
        RingBuffer<Target> units;             //!< the rest of them, in the order of their turns
    };

    /// @param queue of messages @param id of a flow, which goes @return whether it was there
    static bool Erase(RingBuffer<Target>& queue, uint32_t id);
    /// What a flow has under way ends without being sent. @param kind of it @param flow which one
    /// @param id of the flow
    void TakeAway(Kind& kind, const Flow& flow, uint32_t id);
    /// @param route of the flows @param limit of their senders @return number of their kind, new
    uint32_t AddKind(uint32_t route, double limit);
    /// @param route of the flows @param limit of their senders @return what their kind is
    Kind MakeKind(uint32_t route, double limit) const;
    /// @param kind a kind @return bytes that each flow of it has moved until now
    double GetMoved(const Kind& kind) const;
    /// @param kind a kind @param bytes of a message
    /// @return the time by which the message ends sooner than its flow would bring it
    static double GetAheadPs(const Kind& kind, double bytes);
    /// @param kind a kind @param bytes of a message
    /// @return the least time that its units are on their slowest link, or links of a stripe
    static double GetLeastPs(const Kind& kind, double bytes);
    /// @param kind a kind, with the rate that it has now @param target of one of its messages
    /// @return when all bytes of the message have moved at that rate, picoseconds
    static double GetMovedPs(const Kind& kind, const Target& target);
    /// @param kind a kind, with the rate that it has now @param target of one of its messages
    /// @return when the message is sent, picoseconds: what its queue pair has caught up, by sending
    /// at once, does not hold up the next one
    double GetEndPs(const Kind& kind, const Target& target) const;
    /// @param kind a kind @return whether its flows have the rate that each has alone
    static bool IsAtFullRate(const Kind& kind);
    /// @param kind a kind, with the rate that it has now @param target of one of its messages
    /// @return when the last unit of the message goes, picoseconds
    double GetLastTurnPs(const Kind& kind, const Target& target) const;
    /**
     * Messages that begin at a time may together be no more than a link can carry, and yet their
     * first units follow each other there.
     * @param kind of the flow
     * @param bytes that it sends at once, before it keeps its pace
     * @param fromPs when
     * @return how long the last of the links on its way carries what came there before
     */
    double PassAtOnce(const Kind& kind, double bytes, double fromPs);
    /**
     * Finds when the units of a message can pass their links.
     * @param flow whose message it is @param kind of it @param bytes of the message
     * @param fromPs when it begins @param creditPs what the pace of its sender has to catch up
     */
    void BeginUnits(Flow& flow, const Kind& kind, double bytes, double fromPs, double creditPs);
    /// The second unit of a message comes to its turn. @param flow of it @param kind of that
    void PassRest(Flow& flow, const Kind& kind);
    /// A message of more than two units begins, or ends. @param kind of the flow
    /// @param change by how many there are more on its way
    void CountLong(const Kind& kind, int change);
    /// @param kind of a flow @return whether all messages that move on its way are of one unit or
    /// two
    bool IsAmongShort(const Kind& kind) const;
    /// The next message of a flow begins. @param id of the flow @param bytes of the message
    void Begin(uint32_t id, double bytes);
    /// The last unit of the message of a flow that is under way has gone. @param id of the flow
    void Tell(uint32_t id);
    /// The message of a flow, which is sent, had better have gone. @param kind of the flow
    /// @param id of the flow
    void TellIfUntold(Kind& kind, uint32_t id);
    /// The message of a flow that is under way is sent. @param id of the flow
    void End(uint32_t id);
    /// A kind moves its bytes at a rate from now on. @param id of it @param rate of each flow
    void SetRate(uint32_t id, double rate);
    /// Sets the next event of a kind. @param id of it
    void Predict(uint32_t id);

    const ReplayWays m_ways;
    ReplayClock& m_clock;
    const bool m_isInstant;
    Sent m_sent;
    std::vector<Flow> m_flows;
    std::vector<uint32_t> m_freeFlows; //!< numbers of flows that are gone
    std::vector<Kind> m_kinds;
    std::vector<uint32_t> m_freeKinds;  //!< numbers of kinds without flows
    std::vector<uint32_t> m_kindOfUser; //!< by user of m_shares; NO_ID: it is none of these
    /// By route: limits, and the kinds that have them; of most routes there is one.
    std::unordered_map<uint32_t, boost::container::small_vector<std::pair<double, uint32_t>, 1>>
        m_kindsOf;
    std::unique_ptr<SharedResources> m_own; //!< null: they share those of others
    SharedResources& m_shares;              //!< some of whose users are kinds
    const double m_unit;                    //!< rate of these that is one byte per picosecond
    NicQueues m_nics;                       //!< what they have read of messages
    std::vector<Passing> m_passing;         //!< by resource
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MESSAGE_FLOWS_H
