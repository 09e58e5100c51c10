/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CHANNEL_SPAN_H
#define PROTEUS_CHANNEL_SPAN_H

#include "ns3/proteus-graph.h"

#include <cstdint>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What one thread block of a rank did in a communication. Times are picoseconds from the start of
/// the run.
struct ChannelSpan
{
    DeviceId device{0};     //!< where
    TaskId task{0};         //!< of which communication
    uint32_t microBatch{0}; //!< for which micro-batch
    uint32_t channel{0};    //!< its channel
    uint32_t block{0};      //!< its number in the program of the rank
    int64_t startPs{0};     //!< it begins to look for work: the rank has joined
    int64_t endPs{0};       //!< its last step is done; what it sent may still be on its way
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CHANNEL_SPAN_H
