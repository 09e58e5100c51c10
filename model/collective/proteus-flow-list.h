/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_LIST_H
#define PROTEUS_FLOW_LIST_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Flows between ranks, with dependencies: the plainest kind of communication workload.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What of a flow starts those that depend on it.
enum class FlowRelease : uint8_t
{
    OF_PLAYER,       //!< as for all flows, see FlowPlayer::Trigger
    RECEIVE,         //!< its last byte has arrived
    ACKNOWLEDGEMENT, //!< its sender has the acknowledgement of its last byte
};

/// @ingroup proteus
/// One message from one rank to another.
struct FlowSpec
{
    std::string id;              //!< names it, unique in its list
    uint32_t source{0};          //!< rank that sends
    uint32_t destination{0};     //!< rank that receives, another one
    uint64_t bytes{0};           //!< payload, at least 1
    int64_t startPs{0};          //!< not before this time, in picoseconds
    std::vector<uint32_t> after; //!< positions of flows that have to be received in full before
    FlowRelease release{FlowRelease::OF_PLAYER}; //!< what of it counts for those after it
};

/// @ingroup proteus
/// When things happened to a flow, in picoseconds; -1: they did not.
struct FlowTimes
{
    int64_t startPs{-1};        //!< handed to the transport
    int64_t receivedPs{-1};     //!< its last byte, and all before it, have arrived
    int64_t acknowledgedPs{-1}; //!< the sender knows
};

/**
 * @ingroup proteus
 * @param flows whose dependencies are positions in the list
 * @return positions, each behind those that it waits for; without flows of circles and those that
 * wait for one
 */
std::vector<uint32_t> ListInTurn(const std::vector<FlowSpec>& flows);

/**
 * @ingroup proteus
 * Looks for flows that wait for each other.
 * @param flows whose dependencies are positions in the list
 * @return an empty list, or the positions of one circle: each has to wait for the next, and the
 * last for the first
 */
std::vector<uint32_t> FindFlowCycle(const std::vector<FlowSpec>& flows);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_LIST_H
