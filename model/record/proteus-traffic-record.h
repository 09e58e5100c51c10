/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TRAFFIC_RECORD_H
#define PROTEUS_TRAFFIC_RECORD_H

#include <cstdint>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A message that shared the fabric with jobs. Times are picoseconds from the start of the run.
struct TrafficRecord
{
    uint32_t source{0};     //!< which of the scenario's sources of traffic
    uint32_t from{0};       //!< vertex of the GPU that sends
    uint32_t to{0};         //!< vertex of the GPU that receives
    uint64_t bytes{0};      //!< payload
    int64_t startPs{0};     //!< handed to the transport
    int64_t receivedPs{-1}; //!< the last byte has arrived; -1: it has not
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TRAFFIC_RECORD_H
