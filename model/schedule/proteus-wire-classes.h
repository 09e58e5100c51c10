/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_WIRE_CLASSES_H
#define PROTEUS_WIRE_CLASSES_H

#include "proteus-communication-scheduler.h"

#include "ns3/proteus-graph-iterations.h"
#include "ns3/proteus-wire-priority.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * From the urgency of communications to traffic classes of NICs and switches.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Most classes of communications: those of a fabric, without that of acknowledgements.
constexpr uint32_t MAX_WIRE_CLASSES = 7;

/// @ingroup proteus
/// How many classes there are, and how they share a link.
struct WireClasses
{
    uint32_t classes{4};           //!< 1 to MAX_WIRE_CLASSES
    std::vector<uint32_t> weights; //!< of every class; empty: each goes strictly before the next
};

/**
 * @ingroup proteus
 * Gives communications traffic classes by their urgency: of those of an iteration that are
 * scheduled, each class has an equal share of the bytes. All others have the first class.
 * @param repeated iterations, as PrepareSchedule() takes them
 * @param settings of the policy, which has to rank communications
 * @param classes that there are
 * @return classes of the graph that PrepareSchedule() makes of it
 * @throw std::invalid_argument if the policy has no order of its own, or for classes or weights
 * that there cannot be
 */
WirePriority MakeWirePriority(const RepeatedGraph& repeated,
                              const ScheduleSettings& settings,
                              const WireClasses& classes);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_WIRE_CLASSES_H
