/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STALL_CIRCLE_H
#define PROTEUS_STALL_CIRCLE_H

#include "ns3/proteus-graph.h"
#include "ns3/proteus-timeline.h"

#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Why a job does not go on: devices that wait for each other in a circle.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A device that has joined a communication and waits for one that has joined another.
struct StallLink
{
    Span joined;          //!< what it has joined
    DeviceId waitsFor{0}; //!< who has not
};

/**
 * @ingroup proteus
 * Looks for devices that come to communications in different orders. Only those communications
 * count that no device leaves before all have come: all-reduce, all-gather, reduce-scatter,
 * all-to-all, and messages at their senders.
 * @param graph that is run
 * @param open what devices have joined and not ended, when nothing moves any more
 * @return a circle, each of whose devices waits for the next, the last for the first; of two if
 * there is such a one; empty if there is none
 */
std::vector<StallLink> FindStallCircle(const ExecutionGraph& graph, const std::vector<Span>& open);

/**
 * @ingroup proteus
 * @param graph that is run
 * @param circle of FindStallCircle()
 * @return what it is, a line for each device and how to mend it; empty for none
 */
std::string DescribeStallCircle(const ExecutionGraph& graph, const std::vector<StallLink>& circle);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STALL_CIRCLE_H
