/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLUID_QUEUES_H
#define PROTEUS_FLUID_QUEUES_H

#include "proteus-flow-profile.h"

#include "ns3/proteus-flow-congestion.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A queue pair with congestion control, for the whole run.
struct FluidPair
{
    std::unique_ptr<FlowRateControl> control;
    double line{0};                      //!< wire bytes per second at which it is not paced
    int64_t notifiedPs{0};               //!< when its receiver has sent the last notification
    std::deque<int64_t> goesPs;          //!< when notifications will leave the receiver
    std::deque<int64_t> notificationsPs; //!< when others will reach the sender
    double packets{0};                   //!< part of the next one that has passed a queue
    uint64_t key{0};                     //!< of its flow
    uint64_t draws{0};                   //!< so far
};

/// @ingroup proteus
/// What a queue pair sends over a port.
struct FluidHop
{
    uint32_t port{0};  //!< of the queues
    double wire{1};    //!< bytes for one of payload
    double waiting{0}; //!< payload in its queue
    double comes{0};   //!< payload that has come to it in the last step
    double out{0};     //!< payload that has left its queue in the last step
    double gone{0};    //!< payload that has left it and has not come to what is behind it: where
                       //!< ways go round in circles, not every port is before the next one
    uint32_t turn{0};  //!< where those that share the port take turns: who has come before
};

/// @ingroup proteus
/// What a queue pair sends at a time, on its way through the queues.
struct FluidStream
{
    FluidPair* pair{nullptr};
    const FlowPair* flow{nullptr};
    uint32_t owner{0};          //!< id of its class
    double sends{0};            //!< payload per second in this step
    double progress{0};         //!< payload per second of its class's largest flow, of late
    double fromS{0};            //!< from when on, in this step, it passes where it has got to, s
    double toS{0};              //!< until when
    int64_t handedPs{0};        //!< when it got that, if it had nothing to send; 0: it had
    std::vector<FluidHop> hops; //!< on its way: inside its server, out of the NIC, and switches
    uint32_t nic{0};            //!< which of them is out of the NIC
    std::vector<std::pair<uint32_t, double>> returns; //!< ports on the way of what is sent back,
                                                      //!< and picoseconds of a packet there
    bool isGone{false};                               //!< whether it leaves the ports now
    bool isQuiet{false};                              //!< whether it has nothing to send at present
    bool hasTurns{false};                             //!< see FluidQueues::StartTurns()

    /// @return whether the queue pair has not got its rate back
    bool IsPaced() const
    {
        return pair->control->GetRate() < pair->line;
    }

    /// @return payload per second that it may send
    double GetRate() const;
};

/**
 * @ingroup proteus
 * Ports of switches as queues of fluids. What queue pairs send comes out of NICs, where those of
 * one take turns, as they do at what is slower before that, and waits at the ports of switches,
 * first come, first served. A NIC that cannot write as fast as its port brings, because of what is
 * behind it on the way of what comes, holds that up to a limit (FlowCongestion::nicBytes) and then
 * pauses its switch, so that the rest waits there and gets marks. Packets get marks by the length
 * of a queue; a mark reaches the receiver when its packet does, and the sender hears of it as often
 * as receivers notify (Zhu et al., SIGCOMM 2015).
 */
class FluidQueues
{
  public:
    /// Says what others leave of a resource to classes with these FluidStream::owner.
    using FindLeft = std::function<double(uint32_t resource, const std::vector<uint32_t>& owners)>;

    /**
     * @param congestion what packets do; must outlive this object
     * @param resources of the flow network; must outlive this object
     * @param seed of the draws of marks
     * @param findLeft says what others leave of them next to NICs; null: all
     */
    FluidQueues(const FlowCongestion& congestion,
                const std::vector<FlowResource>& resources,
                uint32_t seed,
                FindLeft findLeft = nullptr);

    /**
     * A stream comes to the ports on its way.
     * @param stream which one; must stay where it is until it is removed
     * @param flow that it carries; must outlive it
     */
    void Add(FluidStream& stream, const FlowPair& flow);

    /// Streams that have FluidStream::isGone leave. @param ports that they use, each once
    void Remove(const std::vector<uint32_t>& ports);

    /// @param port which one @return whether more may come to it than leaves it
    bool IsWanted(uint32_t port);

    /// @param pairs that would come @return whether one has not got its rate back, or ports would
    /// be wanted for more than they have, with what is awaited there
    bool IsWanted(const std::vector<FlowPair>& pairs);

    /// Queue pairs may come at any time, which IsWanted() of others counts from now on. @param
    /// pairs
    void Await(const std::vector<FlowPair>& pairs);

    /// Queue pairs are awaited no longer. @param pairs which Await() got
    void StopAwaiting(const std::vector<FlowPair>& pairs);

    /// @return whether some port is wanted for more than it has
    bool IsAnyWanted();

    /// Has the sender of a stream hear of notifications, and its timers go off.
    /// @param stream which one @param nowPs present time
    void Hear(FluidStream& stream, int64_t nowPs);

    /// What streams send goes on in a step. @param seconds its length @param nowPs its end
    void Pass(double seconds, int64_t nowPs);

    /// @return picoseconds of the shortest step
    int64_t GetStepPs() const
    {
        return m_stepPs;
    }

    /// A stream that had nothing to send has something now. @param stream which one
    void StartTurns(FluidStream& stream);

    /// The other way round. @param stream which one
    void StopTurns(FluidStream& stream);

    /**
     * Those that a NIC sends for take turns, in the order in which they have come, so that the last
     * units of messages that end together, as fluids, go one after the other.
     * @param stream one of them
     * @return part of these that have their turn after it, where what they share was full in the
     * last step; else 0
     */
    double GetPartBehind(const FluidStream& stream) const;

    /// @return notifications of congestion that senders have got
    uint64_t GetNotifications() const
    {
        return m_notifications;
    }

  private:
    /// A stream at a port.
    struct Place
    {
        FluidStream* stream;
        uint32_t hop; //!< of it
    };

    /// What a queue pair sends to a port, as fast as it may.
    struct Coming
    {
        uint32_t from{0};      //!< the port before
        double payload{0};     //!< per second
        double wire{1};        //!< bytes there for one of payload
        bool isFirst{false};   //!< whether the port before is that of a NIC
        bool isLast{false};    //!< whether a NIC is behind the port
        uint32_t owner{NO_ID}; //!< see FluidStream::owner; NO_ID: it has not come
        const FlowPair* flow{nullptr};

        /// @return what is before the port before, if that is of a NIC
        const std::vector<FlowHost>& GetReads() const;

        /// @param other what comes @return whether both are the same
        bool operator==(const Coming& other) const
        {
            return from == other.from && payload == other.payload && flow == other.flow;
        }
    };

    /// A direction of a link, or what is forwarded before a NIC.
    struct Port
    {
        double line{0};       //!< wire bytes per second of its link
        double queue{0};      //!< wire bytes
        double held{0};       //!< of these, what is in the NIC behind it
        double sincePs{0};    //!< since when it has been sending without a break
        double busy{0};       //!< part of the last step
        double idleS{0};      //!< at the end of the last step, seconds
        bool isUsed{false};   //!< whether it is in m_used
        uint32_t level{0};    //!< how many that are shared, or are not, may be before it
        bool isShared{false}; //!< whether those that use it take turns, and nothing waits there: a
                              //!< NIC, and what is before that
        uint32_t nSenders{0}; //!< streams that have something to send over it, if it is shared
        uint32_t arrivals{0}; //!< how often one of them has begun to
        std::vector<Place> places;   //!< what uses it
        std::vector<Coming> awaited; //!< what may come at any time
    };

    /// What several queue pairs want of what is next to a NIC.
    struct Load
    {
        uint32_t resource{0}; //!< of the flow network
        double amount{0};     //!< of it
        double beside{0};     //!< of it per second, that their classes take there
        double least{0};      //!< of it per second, that NICs have if no others want it
    };

    /// What passes a port in a step.
    struct Passage
    {
        double fromPs;   //!< begin of the step
        double perPs;    //!< its length
        double queuePs;  //!< queue of the switch at its begin, as time of the link
        double risePs;   //!< by which that changes
        double slowness; //!< how many times as long what waits takes
        double packets;  //!< of the stream
    };

    /// @param pairs queue pairs @param see called with each port of a switch on their ways, and
    /// what comes to it
    template <class See>
    void ListComing(const std::vector<FlowPair>& pairs, const See& see);
    /// @param flow of a queue pair @return that, which is made if there is none
    FluidPair& FindPair(const FlowPair& flow);
    /// @param resource of a link @return its port, in m_ports
    uint32_t FindPort(uint32_t resource);
    /// Brings m_used in order.
    void SortPorts();
    /// @param port of a switch @param more that comes to it @return whether more may come to it
    /// than leaves it
    bool IsWanted(const Port& port, const std::vector<Coming>& more);
    /// What comes from one NIC or port is no faster than that, and what is before it.
    /// @param first of it in m_coming @param last behind it
    void LimitComing(std::size_t first, std::size_t last);
    /// Adds to m_loads. @param host next to a NIC of a queue pair
    /// @param payload of that @param progress payload per second of its class's largest flow
    void AddLoad(const FlowHost& host, double payload, double progress);
    /// @param load one of m_loads, which are of m_owners @return of its resource per second, that
    /// others leave them
    double GetLeft(const Load& load) const;
    /// @param load see GetLeft() @return of its resource per second, that NICs have of it
    double GetRoom(const Load& load) const;
    /// What streams send passes a link inside a server, or leaves a NIC. @param port that is shared
    /// @param seconds of the step
    /// @param nowPs its end
    void SharePort(Port& port, double seconds, int64_t nowPs);
    /// @param port that is shared @return wire bytes per second that leave it in this step
    double FindCapacity(const Port& port);
    /// @param port of a switch, to which all has come in this step @param whole wire bytes that are
    /// there @return wire bytes per second that a NIC behind it can write of that
    double FindWriting(const Port& port, double whole);
    /// What comes to a port leaves it, or waits. @param port of a NIC or a switch
    /// @param seconds of the step @param nowPs its end
    void PassPort(Port& port, double seconds, int64_t nowPs);
    /// What began within the last step, and is passed in this one, had the port if that was idle.
    /// @param port with its places @param atNic whether what a NIC sends passes it
    /// @return seconds that are added to this step
    static double FindCredit(const Port& port, bool atNic);
    /// Draws which packets get marks, and has receivers notify. @param stream at a port
    /// @param passage what comes of it
    void Mark(FluidStream& stream, const Passage& passage);
    /// @param pair a queue pair @return between 0 and 1, another number each time
    double Draw(FluidPair& pair) const;
    /// @param stream whose notification goes back @param fromPs when
    /// @return picoseconds that it waits for packets which are being sent when it comes to a port
    double FindWait(const FluidStream& stream, double fromPs) const;

    const FlowCongestion& m_congestion;
    const std::vector<FlowResource>& m_resources;
    const uint32_t m_seed;
    const FindLeft m_findLeft;                           //!< null: others leave all
    std::unordered_map<uint64_t, FluidPair> m_pairs;     //!< by FlowPair::key
    std::unordered_map<uint32_t, uint32_t> m_ofResource; //!< in m_ports
    std::vector<Port> m_ports;
    bool m_isSorted{true};        //!< whether m_used is as it should be
    std::vector<uint32_t> m_used; //!< ports of what moves, in the order of their levels
    int64_t m_stepPs{std::numeric_limits<int64_t>::max()}; //!< see GetStepPs()
    std::vector<Coming> m_coming;                     //!< what comes to a port, by the port before
    std::vector<std::pair<uint32_t, double>> m_reads; //!< what that wants before a NIC, by resource
    std::vector<Load> m_loads;                        //!< next to a NIC, by resource
    std::vector<uint32_t> m_owners;                   //!< FluidStream::owner of what makes these
    uint64_t m_notifications{0};
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLUID_QUEUES_H
