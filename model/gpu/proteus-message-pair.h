/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MESSAGE_PAIR_H
#define PROTEUS_MESSAGE_PAIR_H

#include "ns3/proteus-fabric.h"
#include "ns3/proteus-queue-pair.h"

#include <cstdint>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Describes a queue pair for messages from one GPU to another. If only the network joins the two,
 * it goes through the NICs of Cluster::GetNic().
 * @param fabric that they cross
 * @param source vertex of the GPU that sends
 * @param destination vertex of the GPU that receives
 * @param flow names the queue pair, see QueuePairOptions
 * @return options of a queue pair
 */
QueuePairOptions MakeMessagePair(Ptr<Fabric> fabric,
                                 VertexId source,
                                 VertexId destination,
                                 uint64_t flow);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MESSAGE_PAIR_H
