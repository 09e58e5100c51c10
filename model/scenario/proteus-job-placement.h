/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_JOB_PLACEMENT_H
#define PROTEUS_JOB_PLACEMENT_H

#include "ns3/proteus-cluster.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Which GPUs jobs get, and in which order.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Which servers a job gets.
enum class PlacementKind : uint8_t
{
    PACKED, //!< the first GPUs that are free, server by server
    SPREAD, //!< servers of different leaves in turn
    RANDOM, //!< any servers
    LIST,   //!< the GPUs that are named, in that order
};

/// @ingroup proteus
/// Which rank is where on the GPUs of a job.
enum class RankOrder : uint8_t
{
    RAIL_ALIGNED, //!< server by server; equal positions have the same NIC of their servers
    ROTATED,      //!< the same, in every server begun one GPU later: equal positions are on
                  //!< different rails
    ROUND_ROBIN,  //!< from server to server, as a scheduler deals ranks out
    RANDOM,       //!< any
};

/// @ingroup proteus
/// @param text "packed", "spread", "random" or "list" @return the kind
/// @throw std::invalid_argument for another text
PlacementKind PlacementKindFromString(const std::string& text);
/// @ingroup proteus
/// @param text "rail-aligned", "rotated", "round-robin" or "random" @return the order
/// @throw std::invalid_argument for another text
RankOrder RankOrderFromString(const std::string& text);

/// @ingroup proteus
/// Where a job wants to be.
struct JobPlacement
{
    PlacementKind kind{PlacementKind::PACKED}; //!< which servers
    RankOrder order{RankOrder::RAIL_ALIGNED};  //!< which rank is where; not of LIST
    std::vector<int32_t> servers;              //!< only these; empty: any
    std::vector<VertexId> gpus;                //!< LIST
    bool isAsked{false};                       //!< whether somebody has asked for it
};

/// @ingroup proteus
/// A job that needs GPUs.
struct PlacementRequest
{
    std::string name;       //!< for messages
    uint32_t nDevices{0};   //!< GPUs that it needs
    JobPlacement placement; //!< where
};

/**
 * @ingroup proteus
 * Places jobs. Those with lists of GPUs get them first. Then the others choose among what is left,
 * one after the other: packed ones GPU by GPU, spread and random ones whole servers.
 * @param cluster with the GPUs
 * @param requests the jobs
 * @param seed of random placement
 * @return of each job its GPUs, by device
 * @throw std::invalid_argument that names the job for which there is no room, or a GPU that two
 * want
 */
std::vector<std::vector<VertexId>> PlaceJobs(const Cluster& cluster,
                                             const std::vector<PlacementRequest>& requests,
                                             uint64_t seed);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_JOB_PLACEMENT_H
