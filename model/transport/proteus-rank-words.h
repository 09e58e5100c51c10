/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_RANK_WORDS_H
#define PROTEUS_RANK_WORDS_H

#include "proteus-queue-pair.h"

#include "ns3/proteus-fabric.h"

#include <cstdint>

/**
 * @file
 * @ingroup proteus
 * What the two halves of a queue pair tell each other where different processes (MPI ranks)
 * simulate them, besides what their packets say. It arrives before the packets that it is about.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Kinds of these words.
enum TransportWordKind : uint32_t
{
    MESSAGE_WORD = USER_WORD, //!< a message has been appended
    TELEMETRY_WORD,           //!< a packet has met a switch
    TRANSPORT_USER_WORD,      //!< first one of TransportUser::HandleRankWord()
};

/// @ingroup proteus
/// A message that the sender of a queue pair has appended, for its receiver.
struct MessageWord
{
    QueuePairMessage message; //!< what and where
    uint32_t queuePair;       //!< of it
};

/// @ingroup proteus
/// What a packet has met on its way, for its sender.
struct TelemetryWord
{
    HopTelemetry hop;   //!< what the switch says
    uint32_t queuePair; //!< of the packet
    uint32_t sequence;  //!< of the packet
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_RANK_WORDS_H
