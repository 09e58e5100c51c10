/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SAME_CHOICES_H
#define PROTEUS_SAME_CHOICES_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-collective-settings.h"
#include "ns3/proteus-executor.h"
#include "ns3/proteus-graph.h"
#include "ns3/proteus-program.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Whether two ways to set up NCCL end in the same collectives.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param a complete request @param b the same, completed otherwise @return whether algorithm,
/// protocol, channels and chunks are the same
bool AreChosenAlike(const CollectiveRequest& a, const CollectiveRequest& b);

/// @ingroup proteus
/// @param graph of a job @param cluster where it runs @param a how it communicates
/// @param b another way, of the same cost of kernels @return whether that is the same for every
/// communication of the job: choices, who sends to whom, and by which ways
/// @throw std::invalid_argument if one of the ways cannot be gone
bool CommunicateAlike(const ExecutionGraph& graph,
                      const Cluster& cluster,
                      const CollectiveSettings& a,
                      const CollectiveSettings& b);

/// @ingroup proteus
/// @param graph of a job @param cluster where it runs @param other a cluster that differs from it
/// in what its CPUs are and allow @param settings how it communicates
/// @return whether that is the same on both for every communication of the job: links, choices, who
/// sends to whom, by which ways, and the memories on these; of more than 64 ranks it is not known,
/// and is not
/// @throw std::invalid_argument if one of the ways cannot be gone
bool CommunicateAlike(const ExecutionGraph& graph,
                      const Cluster& cluster,
                      const Cluster& other,
                      const CollectiveSettings& settings);

/**
 * @ingroup proteus
 * Of an executor that times communications by latencies and bandwidths alone (AlphaBetaNetwork),
 * says what CommunicateAlike() cannot, such as that chunks make no difference.
 * @param traits of the executor
 * @param settings of a run of it
 * @param without how it would communicate otherwise
 * @param cluster where it runs
 * @param graph of the job
 * @param slowsKernels whether kernels run beside communication, which slows them
 * @return whether it is such an executor, and both take the same for every communication
 * @throw std::invalid_argument if one of them has no program
 */
bool TimeAlike(const ExecutorTraits& traits,
               const ExecutorSettings& settings,
               const CollectiveSettings& without,
               const Cluster& cluster,
               const ExecutionGraph& graph,
               bool slowsKernels);

/// @ingroup proteus
/// @param settings of collectives: algorithm and protocol that were asked for, version, plug-in
/// @param release as it was typed, or empty @param cluster that communicates
/// @return a line for each thing that this version does not do, which is carried out all the same;
/// and for a release that is simulated as another one, and a plug-in of other machines
std::vector<std::string> FindUnlikeNccl(const CollectiveSettings& settings,
                                        const std::string& release,
                                        const Cluster& cluster);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SAME_CHOICES_H
