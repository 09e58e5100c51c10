/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MEETING_REPLAYS_H
#define PROTEUS_MEETING_REPLAYS_H

#include "proteus-live-replay.h"
#include "proteus-message-flows.h"
#include "proteus-replay-clock.h"

#include "ns3/proteus-graph.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Collectives that meet, message by message: the replay of each goes on beside the run, and the
 * messages of all share the resources of the flow network with what else flows there. So one waits
 * for the bursts of another, which mean rates do not know.
 */
class MeetingReplays
{
  public:
    /**
     * @param ways where messages go; what they stand for must outlive this object
     * @param shares the resources of the flow network, in bytes per second; must outlive this
     * object
     */
    MeetingReplays(const ReplayWays& ways, SharedResources& shares);

    /**
     * A collective goes on here.
     * @param id of it, of no other one that is here
     * @param group of it: messages of one group, channel and pair of ranks follow each other on one
     * connection, whichever collective they are of
     * @param input its program
     * @param replay of that, which has carried its messages alone until now
     * @param sincePs time of the run at which the replay was at 0
     * @param nowPs present time of the run, to which Advance() has been called
     */
    void Begin(uint32_t id,
               GroupId group,
               std::shared_ptr<const ReplayInput> input,
               std::unique_ptr<LiveReplay> replay,
               double sincePs,
               double nowPs);

    /// @param id of a collective that is gone
    void End(uint32_t id);

    /// @return whether there is any
    bool IsEmpty() const
    {
        return m_live.empty();
    }

    /// @return when something happens next, unless rates change; infinite: never
    double GetNextPs() const;

    /// Time goes on, but nothing happens. @param nowPs present time, before which rates changed
    void GoTo(double nowPs)
    {
        m_clock.GoTo(nowPs);
    }

    /**
     * Goes on in time.
     * @param untilPs what happens until then has happened
     * @param share has the rates computed that have changed, and calls TakeShare() with each
     */
    void Advance(double untilPs, const std::function<void()>& share);

    /// @param share a rate that was found @return whether it is of these messages
    bool TakeShare(const SharedResources::Share& share)
    {
        return m_messages.TakeShare(share);
    }

    /// A rank of a collective is done.
    struct Ended
    {
        uint32_t id;   //!< of the collective
        uint32_t rank; //!< of its program
        double endPs;  //!< when; may be to come
    };

    /// @return ranks that are done since the last call
    std::vector<Ended> TakeEnded();

  private:
    /// Names a connection: group, channel, sender and receiver; and, as protocols may differ in
    /// these, its route and its limit.
    using Name = std::tuple<GroupId, uint32_t, uint32_t, uint32_t, uint32_t, double>;

    /// A collective that moves.
    struct Live
    {
        std::shared_ptr<const ReplayInput> input;
        std::unique_ptr<LiveReplay> replay;
        double sincePs{0};           //!< time of the run at which the replay was at 0
        std::vector<uint32_t> flows; //!< of m_messages, by flow of the program
    };

    /// Whose message it is.
    struct Owner
    {
        uint32_t id{0};   //!< of the collective
        uint32_t flow{0}; //!< of its program
    };

    /// A connection.
    struct Carrier
    {
        uint32_t users{0};        //!< collectives that have it
        Name name;                //!< of it
        std::deque<Owner> owners; //!< of the messages that it has not sent, in their order
    };

    /// A message is sent. @param number of the connection @param behindPs see MessageFlows::Sent
    void NoteSent(uint32_t number, double behindPs);
    /// @param name of a connection @return its number, that of a flow of m_messages
    uint32_t TakeCarrier(const Name& name);

    ReplayClock m_clock; //!< in the time of the run
    MessageFlows m_messages;
    std::map<uint32_t, Live> m_live;    //!< by id
    std::map<Name, uint32_t> m_numbers; //!< of connections
    std::vector<Carrier> m_carriers;    //!< by number
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MEETING_REPLAYS_H
