/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_CLASSES_H
#define PROTEUS_FLOW_CLASSES_H

#include "proteus-flow-profile.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Classes of the flows of a program, and how long they take. Internal to FlowProfiles.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * @param flows of a program
 * @return how many messages they have together
 */
uint64_t CountMessages(const std::vector<ProgramFlow>& flows);

/**
 * @ingroup proteus
 * Finds the ranks of a class that end while its bytes move.
 * @param rankEnds by rank: end of its part, picoseconds; others than those above 0 do not count
 * @param beginPs when the bytes begin to move
 * @param endPs when they have moved
 * @param bytes of the largest flow
 * @return them, the first to end first
 */
std::vector<EarlyRank> FindEarlyRanks(const std::vector<double>& rankEnds,
                                      double beginPs,
                                      double endPs,
                                      double bytes);

/**
 * @ingroup proteus
 * Divides flows into classes: those whose components (flows that depend on each other) stay inside
 * servers, and those whose components leave them; all in one class if there is only one of the two
 * kinds.
 * @param flows of a program
 * @param routes of the flows
 * @param all the routes that there are
 * @return by flow: its class
 */
std::vector<uint32_t> ClassifyFlows(const std::vector<ProgramFlow>& flows,
                                    const std::vector<uint32_t>& routes,
                                    const FlowRoutes& all);

/**
 * @ingroup proteus
 * Adds up what the flows of every class take.
 * @param flows of a program
 * @param routes of the flows
 * @param classOf by flow: its class
 * @param limits by flow: bytes per second that its sender makes at most, 0 for any number; empty
 * for none
 * @param all the routes that there are
 * @return the classes with bytes, link rates and uses
 */
std::vector<FlowClass> MakeFlowClasses(const std::vector<ProgramFlow>& flows,
                                       const std::vector<uint32_t>& routes,
                                       const std::vector<uint32_t>& classOf,
                                       const std::vector<double>& limits,
                                       const FlowRoutes& all);

/**
 * @ingroup proteus
 * @param times of the flows and steps of a replayed program
 * @param flows of the program
 * @param classOf by flow: its class
 * @param nClasses how many classes there are
 * @param ranks of the group
 * @return when the classes end
 */
ClassTimes AddUpClasses(const ReplayTimes& times,
                        const std::vector<ProgramFlow>& flows,
                        const std::vector<uint32_t>& classOf,
                        uint32_t nClasses,
                        uint32_t ranks);

/**
 * @ingroup proteus
 * Sets the times of a class.
 * @param alone when it ends, on idle links
 * @param end of what was replayed, which may be shorter
 * @param latency of the steps that depend on each other, with one chunk in each flow
 * @param rankEnds of that, by rank
 * @param flowClass with its uses
 */
void SetClassTimes(double alone,
                   double end,
                   double latency,
                   const std::vector<double>& rankEnds,
                   FlowClass& flowClass);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_CLASSES_H
