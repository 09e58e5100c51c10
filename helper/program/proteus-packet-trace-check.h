/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PACKET_TRACE_CHECK_H
#define PROTEUS_PACKET_TRACE_CHECK_H

#include "proteus-packet-trace-options.h"

/**
 * @file
 * @ingroup proteus
 * What is wrong with options of captures and series, before anything runs.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param options as they were typed
/// @throw std::invalid_argument if one makes no sense, or a file cannot be written
void CheckPacketTraces(const PacketTraceOptions& options);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PACKET_TRACE_CHECK_H
