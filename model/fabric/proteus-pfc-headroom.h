/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PFC_HEADROOM_H
#define PROTEUS_PFC_HEADROOM_H

#include <cstdint>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What decides how much may still arrive on a link after its receiver has decided to pause it.
struct PfcLink
{
    double bytesPerSecond{0};      //!< rate of either direction
    int64_t delayPs{0};            //!< from one end to the other
    uint32_t unitBytes{0};         //!< largest unit, on the wire
    uint32_t pauseBytes{0};        //!< a pause, on the wire
    uint32_t nPauses{1};           //!< traffic classes that may have to be paused at the same time
    int64_t oppositeHoldPs{0};     //!< longest time for which a unit occupies the other direction
    uint32_t oppositeDebtBytes{0}; //!< what a unit costs the other direction: ReverseBytes()
    int64_t reactionPs{0};         //!< from the arrival of a pause until the sender heeds it
};

/**
 * @ingroup proteus
 * The headroom of PFC (IEEE 802.1Qbb-2011, annex O; IEEE 802.1Q-2018, annex N): the room that one
 * traffic class of one direction of a link needs at its receiving end so that nothing is dropped,
 * counted from the unit that triggers the pause on. It is the sum of
 *
 * - that unit;
 * - what arrives at full rate until the sender reacts: while the pause waits for the unit that is
 *   under way on the other direction and for the pauses of other classes, while it is sent, while
 *   it crosses the cable, and during the sender's reaction;
 * - what is on the cable then;
 * - the unit that the sender is just sending.
 *
 * A unit that is cut through from a slower link occupies the other direction for longer than its
 * bytes take (PfcLink::oppositeHoldPs).
 *
 * @param link what decides
 * @return bytes
 */
uint64_t GetPfcHeadroom(const PfcLink& link);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PFC_HEADROOM_H
