/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COMMUNICATION_RANK_H
#define PROTEUS_COMMUNICATION_RANK_H

#include "proteus-communication-scheduler.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * How urgent communications are.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * By layer, nearest to the input first (ByteScheduler, P3): gradients become ready in the reverse
 * order of the layers, so that of two wholes the later in the graph is the more urgent.
 * @param scheduled a graph of one iteration
 * @return by task
 */
std::vector<uint32_t> RankByLayer(const ScheduledGraph& scheduled);

/**
 * @ingroup proteus
 * By the critical path, as TicTac does: the longer the computation in the graph that still depends
 * on a communication, the more urgent it is; those of equal length are ranked by layer. A task
 * without a fixed duration counts its FLOPs, at one per picosecond.
 * @param scheduled a graph of one iteration
 * @return by task
 */
std::vector<uint32_t> RankByCriticalPath(const ScheduledGraph& scheduled);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COMMUNICATION_RANK_H
