/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PACKET_TEXT_H
#define PROTEUS_PACKET_TEXT_H

#include "proteus-packet.h"

#include <ostream>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param kind a value @return its lower-case name, e.g. "data"
const char* ToString(PacketKind kind);

/**
 * @ingroup proteus
 * Prints a unit as ascii traces show it, for example
 * "data class=1 qp=3 seq=17 to=5 bytes=4096 first last ce ack-request retransmission".
 * @param out to print to
 * @param record to print
 * @return out
 */
std::ostream& operator<<(std::ostream& out, const PacketRecord& record);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PACKET_TEXT_H
