/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CONGESTED_FLOWS_H
#define PROTEUS_CONGESTED_FLOWS_H

#include "proteus-fluid-queues.h"
#include "proteus-nic-queues.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Classes of flows over RoCE while ports of switches are wanted for more than their rate: each of
 * their queue pairs has the rate that its congestion control gives it, the same code as in packets,
 * and what it sends is a fluid in the queues of ports (FluidQueues). Each has a state of its own,
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
     * @param findLeft says what others leave of a resource next to NICs to classes with these ids;
     * null: all
     */
    CongestedFlows(const FlowCongestion& congestion,
                   const std::vector<FlowResource>& resources,
                   uint32_t seed,
                   FluidQueues::FindLeft findLeft = nullptr);

    /// Makes the replay of a program; see LiveReplay.
    using MakeReplay =
        std::function<std::unique_ptr<LiveReplay>(std::vector<bool> isCarried, LiveReplay::Carry)>;

    /// @param flows with FlowClass::pairs that may begin now @return whether congestion control
    /// would, or may soon, hold them back
    bool IsWanted(const FlowClass& flows);

    /// Flows may begin at any time, with which IsWanted() of others reckons from now on.
    /// @param flows with FlowClass::pairs
    void Await(const FlowClass& flows)
    {
        m_queues.Await(flows.pairs);
    }

    /// Flows are awaited no longer. @param flows which Await() got
    void StopAwaiting(const FlowClass& flows)
    {
        m_queues.StopAwaiting(flows.pairs);
    }

    /**
     * Flows begin to move.
     * @param id of their class, below 2^32, of no other one that moves
     * @param flows with FlowClass::pairs
     * @param left payload of its largest flow that has not moved before
     * @param nowPs present time, to which Advance() has been called
     * @param make makes the replay of the program that they are of, whose first step is now: which
     * message leaves when is known from that; null: they leave as the receiver has room
     */
    void Begin(uint32_t id,
               const FlowClass& flows,
               double left,
               int64_t nowPs,
               const MakeReplay& make = nullptr);

    /**
     * A rank joins a class whose replay has begun without it.
     * @param id of the class
     * @param rank of its program
     * @param nowPs present time, to which Advance() has been called
     */
    void Join(uint32_t id, uint32_t rank, int64_t nowPs);

    /// Others have begun to use what is next to NICs, at the time to which Advance() has been
    /// called.
    void NoteOthers()
    {
        if (!m_isBusy)
        {
            Look();
        }
    }

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

    /// A rank of a class that is replayed is done.
    struct Ended
    {
        uint32_t id;   //!< of the class
        uint32_t rank; //!< of its program
        int64_t endPs; //!< when; may be to come
    };

    /// @return ranks that are done since the last call
    std::vector<Ended> TakeEnded()
    {
        return std::exchange(m_ended, {});
    }

    /// @return ids of the classes that move
    const std::vector<uint32_t>& GetLive() const
    {
        return m_live;
    }

    /// @return notifications of congestion that senders have got
    uint64_t GetNotifications() const
    {
        return m_queues.GetNotifications();
    }

  private:
    /// So little payload that is left has come.
    static constexpr double LAST_BYTES = 1;

    /// A message of a replay.
    struct Message
    {
        double end;  //!< payload of its queue pair that comes with its last unit, or before
        double last; //!< payload of that; 0: it has been sent
    };

    /// What a queue pair sends for a class.
    struct Stream : FluidStream
    {
        double lead{0};     //!< payload that has come before its class could go on with it
        double sent{0};     //!< payload
        double come{0};     //!< payload, to the receiver
        double arrives{0};  //!< payload, to the receiver, in the last step
        double whole{0};    //!< payload of a replay
        double handed{0};   //!< payload that a replay has given it to send
        uint32_t reader{0}; //!< its number among those that NICs read
        double read{0};     //!< payload that its NIC has read and not sent, if it is paced now
        std::deque<Message> messages; //!< of that, which have not come

        /// @return whether it has been given more than it has sent
        bool HasMore() const
        {
            return sent + LAST_BYTES < handed;
        }
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
        bool isQuiet{false};                //!< whether that waits for ranks that have not joined
        double leftPart{1};                 //!< of its bytes, that have not come by that
        std::vector<uint32_t> ofFlow;       //!< of that: stream, by flow
        std::vector<Stream> streams;
    };

    /// @param flows a class @return the ports that it uses, each once
    static std::vector<uint32_t> ListPorts(const Class& flows);
    /// @param live a class @param stream of it @param seconds of a step
    /// @return payload per second that the stream sends in it, if its NIC does not hold it back
    double FindSends(const Class& live, const Stream& stream, double seconds) const;
    /// @param stream of a replay @return payload per picosecond at which its NIC reads it
    static double GetReadRate(const Stream& stream);
    /// A NIC goes on to read: it is that what congestion control paces, not what has been read.
    /// @param stream of a replay @param nowPs present time @return payload of it that has been read
    /// and not sent, if it is paced now; else 0
    double FindRead(const Stream& stream, int64_t nowPs);
    /// A replay has a message sent. @param id of its class @param flow of the program
    /// @param bytes payload @param timePs when, from its begin
    void Take(uint32_t id, uint32_t flow, double bytes, double timePs);
    /// What has come goes on in the replay of a class. @param live with one @param seconds of the
    /// step @param nowPs its end
    void GoOn(Class& live, double seconds, int64_t nowPs);
    /// Finds ranks that are done. @param id of a class with a replay
    void FindEnded(uint32_t id);
    /// @param live a class with a replay: if nothing of it is left to carry, and all ranks have
    /// joined, it is known when it ends
    static void Conclude(Class& live);
    /// @param live a class @param seconds of the step @param nowPs its end @return payload per
    /// second with which its largest flow follows its queue pairs
    double FindCap(const Class& live, double seconds) const;
    /// What is between two ports comes to its end, before time goes on without steps.
    void Arrive();
    /// @param live a class with a replay, which waits for what others do if nothing of it moves:
    /// its queue pairs want nothing meanwhile
    static void FindQuiet(Class& live);
    /// Finds out whether all this is needed, and how long the next step may be.
    void Look();

    FluidQueues m_queues;
    NicQueues m_nics;             //!< what they have read of messages of replays
    uint32_t m_nReaders{0};       //!< numbers of streams that have been given out
    std::vector<Class> m_classes; //!< by id
    std::vector<uint32_t> m_live; //!< classes that move
    std::vector<Ended> m_ended;   //!< TakeEnded()
    int64_t m_lastPs{0};          //!< of the last step
    int64_t m_steps{1};           //!< shortest steps of the queues in the present one
    int64_t m_stepPs{0};          //!< until the next step
    bool m_isBusy{false};
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CONGESTED_FLOWS_H
