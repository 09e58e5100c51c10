/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_HELPER_H
#define PROTEUS_FLOW_HELPER_H

#include "ns3/proteus-flow-run.h"

#include <cstdint>

/**
 * @file
 * @ingroup proteus
 * What the flow level takes over from the packet level, so that both run the same thing.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @return what the attributes of PacketNetwork say about the programs of collectives
ProgramSettings GetPacketProgramSettings();

/**
 * @ingroup proteus
 * Makes the flow network launch collectives, and choose paths, as a packet network does that is
 * made with the present defaults of its attributes.
 * @param parameters to change
 * @param stream random stream of path choice, as ProteusHelper::AssignStreams() takes it
 */
void FollowPacketNetwork(FlowParameters& parameters, int64_t stream);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_HELPER_H
