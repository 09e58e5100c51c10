/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PROGRAM_REPLAY_H
#define PROTEUS_PROGRAM_REPLAY_H

#include "proteus-flow-routes.h"
#include "proteus-program-flows.h"

#include "ns3/proteus-block-cost.h"
#include "ns3/proteus-program.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// When the parts of a collective are done, from the first step of any rank on. Picoseconds.
struct ReplayTimes
{
    std::vector<int64_t> sentPs;         //!< by flow: the sender has the last acknowledgement
    std::vector<int64_t> receivedPs;     //!< by flow: the last byte has arrived
    std::vector<int64_t> senderStepPs;   //!< by flow: its sender has done its last step of it
    std::vector<int64_t> receiverStepPs; //!< by flow: its receiver has done its last step of it
    std::vector<int64_t> stepsPs;        //!< by rank: its last step is done
    int64_t endPs{0};                    //!< all of them
};

/// @ingroup proteus
/// What the steps of a program cost, besides the links. Empty lists: nothing.
struct ReplayCosts
{
    std::vector<std::vector<BlockCost>> blocks; //!< by rank and block
    std::vector<double> limits;                 //!< by flow: bytes per second of its sender
    std::vector<bool> sendsWhole;               //!< by flow: a step's bytes leave when it is done
    int64_t groupLatencyPs{0};                  //!< from the arrival of a group's result to its use
};

/**
 * @ingroup proteus
 * Executes the program of a collective, alone on idle links, message by message: what the packet
 * network does packet by packet.
 *
 * Steps, grants (clear-to-send), slots and acknowledgements are those of the packet network. The
 * messages under way share the resources of their routes by max-min fairness. Each moves its bytes
 * at its share, and arrives its route's latency later. The last unit of a message moves at the rate
 * of a link: it ends earlier than the flow would where a thread block paces the flow, and later
 * where several links carry it together. What happens within a nanosecond is taken together.
 *
 * An operation of a network group is a message that begins when all members have given to it and
 * that uses the links of all of them.
 *
 * @param program to execute
 * @param flows of it, FindFlows()
 * @param routes of the flows
 * @param all where the routes are
 * @param costs of the steps
 * @param isInstant whether bytes take no time, so that only latencies count
 * @param goOn called often; ends the replay by throwing; may be null
 * @param joinsPs by rank: when it begins, not before 0; empty: all at 0
 * @return the times
 * @throw std::invalid_argument if the program cannot come to its end
 */
ReplayTimes ReplayProgram(const CollectiveProgram& program,
                          const std::vector<ProgramFlow>& flows,
                          const std::vector<uint32_t>& routes,
                          const FlowRoutes& all,
                          const ReplayCosts& costs = ReplayCosts(),
                          bool isInstant = false,
                          const std::function<void()>& goOn = nullptr,
                          const std::vector<int64_t>& joinsPs = {});

/// @ingroup proteus
/// All that a replay of a program needs, kept for as long as one is under way.
struct ReplayInput
{
    std::shared_ptr<const CollectiveProgram> program; //!< to execute
    std::vector<ProgramFlow> flows;                   //!< of it, FindFlows()
    std::vector<uint32_t> routes;                     //!< of the flows
    ReplayCosts costs;                                //!< of the steps
};

/// @ingroup proteus
/// A rank whose part of a program is done.
struct RankEnd
{
    uint32_t rank; //!< which one
    double endPs;  //!< when, picoseconds from the first step on; may be to come
};

/// @ingroup proteus
/// Called when a message of a flow leaves, after those before it of the same flow: bytes of it,
/// and when, picoseconds from the first step on.
using ReplayCarry = std::function<void(uint32_t flow, double bytes, double timePs)>;

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PROGRAM_REPLAY_H
