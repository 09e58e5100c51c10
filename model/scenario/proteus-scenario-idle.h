/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SCENARIO_IDLE_H
#define PROTEUS_SCENARIO_IDLE_H

#include "proteus-scenario.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Events of a scenario that change nothing.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Finds events without which the same happens to links and GPUs, such as a failure while another
 * one keeps the link down, or a rate that is the link's own; and slow GPUs that are there twice.
 * Of events that stand for each other the first one counts. An event without links and GPUs is
 * passed over.
 * @param scenario of which MakeScenarioPlan() can make a plan
 * @param cluster as there
 * @param nDevices as there
 * @param alonePs as there
 * @return a line for each, e.g. "/events/1: has no effect: ..."
 */
std::vector<std::string> FindIdleEvents(const Scenario& scenario,
                                        const Cluster& cluster,
                                        uint32_t nDevices,
                                        int64_t alonePs);

/**
 * @ingroup proteus
 * Finds placements without which all jobs are on the same GPUs, such as that which is the default,
 * or servers of different leaves where there is one; of others the fields that do nothing. Of
 * placements that stand for each other the first one counts. Looks at small scenarios only: the
 * work is that of a placement for each field of each job.
 * @param cluster with the GPUs
 * @param requests that PlaceJobs() takes: the job of the program, then its neighbours
 * @param seed as there
 * @param places what it gives them
 * @return a line for each, e.g. "/jobs/0/placement: has no effect: ..."
 */
std::vector<std::string> FindIdlePlacements(const Cluster& cluster,
                                            std::vector<PlacementRequest> requests,
                                            uint64_t seed,
                                            const std::vector<std::vector<VertexId>>& places);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SCENARIO_IDLE_H
