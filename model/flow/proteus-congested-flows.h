/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CONGESTED_FLOWS_H
#define PROTEUS_CONGESTED_FLOWS_H

#include "proteus-flow-profile.h"

#include "ns3/proteus-flow-congestion.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Queue pairs over RoCE while ports of switches are wanted for more than their rate: each has the
 * rate that its congestion control gives it, the same code as in packets. What it sends is a
 * fluid that waits at the ports of switches, first come, first served. Packets get marks by the
 * length of a queue; a mark reaches the receiver when its packet does, and the sender hears of it
 * as often as receivers notify (Zhu et al., SIGCOMM 2015). Each queue pair has a state of its own,
 * since what DCQCN does to few of them is far from the mean of many: a fluid model of the mean
 * would have them all recover at once.
 *
 * A class of flows goes on as the last of its queue pairs does. Which message leaves when is known
 * from a replay of its program, in which what follows from a message waits until that has arrived:
 * so rings clock themselves. Without a replay, queue pairs may be ahead of the last one by what
 * receivers have room for.
 */
class CongestedFlows
{
  public:
    /**
     * @param congestion what packets do; must outlive this object
     * @param resources of the flow network; must outlive this object
     * @param seed of the draws of marks
     */
    CongestedFlows(const FlowCongestion& congestion,
                   const std::vector<FlowResource>& resources,
                   uint32_t seed);

    /// Makes the replay of a program; see LiveReplay.
    using MakeReplay =
        std::function<std::unique_ptr<LiveReplay>(std::vector<bool> isCarried, LiveReplay::Carry)>;

    /// @param flows with FlowClass::pairs that may begin now @return whether congestion control
    /// would, or may soon, hold them back
    bool IsWanted(const FlowClass& flows);

    /**
     * Flows begin to move.
     * @param id of their class, below 2^32, of no other one that moves
     * @param flows with FlowClass::pairs
     * @param nowPs present time, to which Advance() has been called
     * @param make makes the replay of the program that they are of, whose first step is now: which
     * message leaves when is known from that; null: they leave as the receiver has room
     */
    void Begin(uint32_t id,
               const FlowClass& flows,
               int64_t nowPs,
               const MakeReplay& make = nullptr);

    /// @param flows id of a class whose bytes have moved
    void End(uint32_t flows);

    /// @return whether some port is, or may soon be, wanted for more than it has, or a queue pair
    /// has not got its rate back: then Advance() has to be called
    bool IsBusy() const
    {
        return m_isBusy;
    }

    /// @return picoseconds after which Advance() is to be called again
    int64_t GetStepPs() const
    {
        return m_stepPs;
    }

    /**
     * Goes on in time.
     * @param nowPs present time
     * @param getLeft by class: payload that its largest flow has left
     */
    void Advance(int64_t nowPs, const std::function<double(uint32_t)>& getLeft);

    /// @param id of a class @return payload per second that its largest flow may have from now on;
    /// infinite while nothing holds it back
    double GetCap(uint32_t id) const;

    /// @param id of a class that is replayed @return when its bytes will have moved, as its replay
    /// says; negative while that is not known
    int64_t GetEndPs(uint32_t id) const
    {
        return m_classes[id].endPs;
    }

    /// @return ids of the classes that move
    const std::vector<uint32_t>& GetLive() const
    {
        return m_live;
    }

    /// @return notifications of congestion that senders have got
    uint64_t GetNotifications() const
    {
        return m_notifications;
    }

  private:
    /// A queue pair, for the whole run.
    struct Pair
    {
        std::unique_ptr<FlowRateControl> control;
        double line{0};                      //!< wire bytes per second at which it is not paced
        int64_t notifiedPs{0};               //!< when its receiver has sent the last notification
        std::deque<int64_t> notificationsPs; //!< when notifications will reach the sender
        double packets{0};                   //!< part of the next one that has passed a queue
        uint64_t key{0};                     //!< of its flow
        uint64_t draws{0};                   //!< so far
    };

    /// What a queue pair sends over a port.
    struct Hop
    {
        uint32_t port{0};  //!< in m_ports
        uint32_t back{0};  //!< the port against it, in m_ports
        double wire{1};    //!< bytes for one of payload
        double waiting{0}; //!< payload in its queue
        double comes{0};   //!< payload that has come to it in the last step
        double out{0};     //!< payload that has left its queue in the last step
        double gone{0}; //!< payload that has left it and has not come to what is behind it: where
                        //!< ways go round in circles, not every port is before the next one
    };

    /// What a queue pair sends for a class.
    struct Stream
    {
        Pair* pair{nullptr};
        const FlowPair* flow{nullptr};
        double lead{0};      //!< payload that has come before its class could go on with it
        double sends{0};     //!< payload per second in this step
        double sent{0};      //!< payload
        double come{0};      //!< payload, to the receiver
        double arrives{0};   //!< payload, to the receiver, in the last step
        double fromS{0};     //!< from when on, in this step, it passes where it has got to, seconds
        double toS{0};       //!< until when
        double whole{0};     //!< payload of a replay
        double handed{0};    //!< payload that a replay has given it to send
        int64_t handedPs{0}; //!< when it got that, if it had nothing to send; 0: it had
        std::deque<double> ends; //!< payload up to the ends of messages of that which have not come
        std::vector<Hop> hops;   //!< on its way, the first out of the NIC
    };

    /// A class that moves.
    struct Class
    {
        bool isLive{false};
        double bytes{0}; //!< payload of its largest flow
        double left{0};  //!< payload of its largest flow, at the last step
        double cap{0};
        int64_t beginPs{0};                 //!< time
        int64_t afterPs{0};                 //!< from its last byte to its end
        int64_t endPs{-1};                  //!< see GetEndPs()
        std::unique_ptr<LiveReplay> replay; //!< null: it has none
        double leftPart{1};                 //!< of its bytes, that have not come by that
        std::vector<uint32_t> ofFlow;       //!< of that: stream, by flow
        std::vector<Stream> streams;
    };

    /// Something of a stream at a port.
    struct Place
    {
        uint32_t flows;  //!< class
        uint32_t stream; //!< of it
        uint32_t hop;    //!< of that
    };

    /// A direction of a link.
    struct Port
    {
        double capacity{0};        //!< wire bytes per second
        double queue{0};           //!< wire bytes
        double busy{0};            //!< part of the last step
        double idleS{0};           //!< at the end of the last step, seconds
        bool isUsed{false};        //!< whether it is in m_used
        uint32_t level{0};         //!< how many ports may be before it
        std::vector<Place> places; //!< what uses it
    };

    /// What passes a port in a step.
    struct Passage
    {
        double fromPs;  //!< begin of the step
        double perPs;   //!< its length
        double queuePs; //!< queue at its begin, as time
        double risePs;  //!< by which that changes
        double packets; //!< of the stream
    };

    /// @param place of a stream at a port @return the stream
    Stream& Get(const Place& place)
    {
        return m_classes[place.flows].streams[place.stream];
    }

    /// @param resource of a link @return its port, in m_ports
    uint32_t FindPort(uint32_t resource);
    /// @param flows a class @return the ports that it uses, each once
    static std::vector<uint32_t> ListPorts(const Class& flows);
    /// Brings m_used in order.
    void SortPorts();
    /// @param live a class @param stream of it @param seconds of a step
    /// @return payload per second that the stream sends in it, if its NIC does not hold it back
    double FindSends(const Class& live, const Stream& stream, double seconds) const;
    /// A replay has a message sent. @param id of its class @param flow of the program
    /// @param bytes payload @param timePs when, from its begin
    void Take(uint32_t id, uint32_t flow, double bytes, double timePs);
    /// What has come goes on in the replay of a class. @param live with one @param seconds of the
    /// step @param nowPs its end
    void GoOn(Class& live, double seconds, int64_t nowPs);
    /// @param live a class @param seconds of the step @param nowPs its end @return payload per
    /// second with which its largest flow follows its queue pairs
    double FindCap(const Class& live, double seconds) const;
    /// @param stream of a queue pair @return payload per second that it may send
    static double GetRate(const Stream& stream);
    /// @param port of a switch @param more that comes to it: by the port before, wire bytes per
    /// second @return wire bytes per second that may come
    double GetWanted(const Port& port, const std::vector<std::pair<uint32_t, double>>& more = {});
    /// What streams send leaves a NIC. @param port of it @param seconds of the step
    /// @param nowPs its end
    void SharePort(Port& port, double seconds, int64_t nowPs);
    /// What comes to a port leaves it, or waits. @param port of a NIC or a switch
    /// @param seconds of the step @param nowPs its end
    void PassPort(Port& port, double seconds, int64_t nowPs);
    /// What began within the last step, and is passed in this one, had the port if that was idle.
    /// @param port with its places @param atNic whether what a NIC sends passes it
    /// @return seconds that are added to this step
    double FindCredit(const Port& port, bool atNic);
    /// Draws which packets get marks, and has receivers notify. @param stream at a port
    /// @param passage what comes of it
    void Mark(Stream& stream, const Passage& passage);
    /// @param pair a queue pair @return between 0 and 1, another number each time
    double Draw(Pair& pair) const;
    /// @param stream whose notification goes back @return picoseconds that it waits for packets
    /// which are being sent when it comes to a port
    double DrawWait(const Stream& stream) const;
    /// Has a sender hear of notifications, and its timers go off. @param pair which one
    /// @param nowPs present time
    void Hear(Pair& pair, int64_t nowPs);
    /// @param flow of a new queue pair, whose times a step must not be long against
    void SetStep(const FlowPair& flow);
    /// What is between two ports comes to its end, before time goes on without steps.
    void Arrive();
    /// Finds out whether all this is needed, and how long the next step may be.
    void Look();

    const FlowCongestion& m_congestion;
    const std::vector<FlowResource>& m_resources;
    const uint32_t m_seed;
    std::unordered_map<uint64_t, Pair> m_pairs;           //!< by FlowPair::key
    std::unordered_map<uint32_t, uint32_t> m_ofResource;  //!< in m_ports
    std::unordered_map<uint32_t, uint32_t> m_ofDirection; //!< resources of directions of links
    std::vector<Port> m_ports;
    bool m_isSorted{true};        //!< whether m_used is as it should be
    std::vector<uint32_t> m_used; //!< ports of what moves, in the order of their levels
    std::vector<Class> m_classes; //!< by id
    std::vector<uint32_t> m_live; //!< classes that move
    int64_t m_lastPs{0};          //!< of the last step
    int64_t m_basePs{std::numeric_limits<int64_t>::max()}; //!< of the shortest step
    int64_t m_steps{1};                                    //!< in that: the present step
    int64_t m_stepPs{0};                                   //!< until the next step
    std::vector<std::pair<uint32_t, double>> m_from; //!< what comes to a port, by the port before
    bool m_isBusy{false};
    uint64_t m_notifications{0};
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CONGESTED_FLOWS_H
