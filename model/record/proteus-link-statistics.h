/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_LINK_STATISTICS_H
#define PROTEUS_LINK_STATISTICS_H

#include "ns3/proteus-cluster.h"

#include <cstdint>

/**
 * @file
 * @ingroup proteus
 * What a run leaves behind of its network: counters of links and of the network as a whole.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What one direction of a link carried.
struct LinkStatistics
{
    LinkId link{0};                   //!< which link
    bool forward{true};               //!< from Link::a to Link::b
    uint64_t packets{0};              //!< units sent, control units included
    uint64_t payloadBytes{0};         //!< payload sent
    uint64_t wireBytes{0};            //!< sent, headers included
    uint64_t receivedPackets{0};      //!< units that have arrived
    uint64_t receivedPayloadBytes{0}; //!< payload that has arrived
    int64_t busyPs{0};                //!< time spent transmitting
    uint64_t maxQueueBytes{0};        //!< most wire bytes that waited for the link at once
    int64_t creditStallPs{0};         //!< time with a packet ready and the receiver's buffer full
    uint64_t lostPackets{0};          //!< units lost on the wire: bit errors, failure of the link
    uint64_t droppedPackets{0};       //!< units that found no room, or no way on, at its end
    uint64_t markedPackets{0};        //!< units marked by ECN while they waited for the link
    uint64_t pauses{0};               //!< PFC pauses received
    int64_t pausedPs{0};              //!< time with at least one traffic class paused
};

/**
 * @ingroup proteus
 * Names the members of LinkStatistics that add up, over time and over the processes of a run:
 * counters, and times in picoseconds. A new one is named here only.
 * @param function called with a pointer to each member
 */
template <typename F>
void
ForEachSum(F function)
{
    using S = LinkStatistics;
    function(&S::packets);
    function(&S::payloadBytes);
    function(&S::wireBytes);
    function(&S::receivedPackets);
    function(&S::receivedPayloadBytes);
    function(&S::busyPs);
    function(&S::creditStallPs);
    function(&S::lostPackets);
    function(&S::droppedPackets);
    function(&S::markedPackets);
    function(&S::pauses);
    function(&S::pausedPs);
}

/// @ingroup proteus
/// @param now a link's statistics @param before the same at an earlier time
/// @return what it carried in between; maxQueueBytes is that of now
LinkStatistics GetDifference(const LinkStatistics& now, const LinkStatistics& before);

/// @ingroup proteus
/// @param sum what a link carried, which grows; its longest queue is the longer one of both
/// @param more what it carried at another time
void AddTo(LinkStatistics& sum, const LinkStatistics& more);

/// @ingroup proteus
/// @param links what they carried @return those that carried something; a link that did both ways
/// is there twice
std::vector<LinkId> FindCrossedLinks(const std::vector<LinkStatistics>& links);

/// @ingroup proteus
/// Communications that a packet network did not execute, because an equal one was before. Their
/// packets and crossings count in NetworkStatistics as well.
struct RepetitionStatistics
{
    uint64_t communications{0}; //!< collectives and messages, over all micro-batches
    uint64_t repeated{0};       //!< of them, those that were not executed again
    uint64_t recorded{0};       //!< of them, those that were executed and recorded
    uint64_t postponed{0};      //!< those that waited, to be executed late and in one go
    uint64_t packets{0};        //!< data units that were not sent again
    uint64_t periodPackets{0};  //!< of them, those in periods that were left out of recorded ones
    uint64_t packetHops{0};     //!< link crossings that were not done again
    uint64_t vainHops{0};       //!< link crossings executed to no use: others were met, and all
                                //!< was executed with these
    uint64_t verified{0};       //!< communications that were executed and compared with a record
};

/// @ingroup proteus
/// Work of a packet network.
struct NetworkStatistics
{
    uint64_t packets{0};             //!< data units sent by endpoints
    uint64_t controlPackets{0};      //!< acknowledgements and clear-to-send units
    uint64_t packetHops{0};          //!< link crossings of all units
    uint64_t events{0};              //!< events that the packet engine handled
    uint64_t messages{0};            //!< messages delivered
    uint64_t queuePairs{0};          //!< queue pairs in use
    uint64_t dropped{0};             //!< units lost on the wire, or that found no room or no way on
    uint64_t repeated{0};            //!< data units sent again
    uint64_t pauses{0};              //!< PFC pauses received
    uint64_t marked{0};              //!< units marked by ECN
    uint64_t timeouts{0};            //!< of senders that heard no acknowledgement
    RepetitionStatistics repetition; //!< what was not done again
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_LINK_STATISTICS_H
