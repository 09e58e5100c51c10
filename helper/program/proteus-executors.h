/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_EXECUTORS_H
#define PROTEUS_EXECUTORS_H

#include "proteus-program-options.h"

#include "ns3/proteus-distsim.h"

#include <ostream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The executors by their names on command lines, those of published systems among them.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Runs a graph by the rules of the published Proteus: see RunClassic().
 * @param options of the program
 * @param cluster to run on
 * @param graph to run
 * @return what the run leaves behind; executor "classic"
 * @throw std::invalid_argument, std::runtime_error as RunClassic()
 */
RunRecord RunClassicLevel(const ProgramOptions& options,
                          const Cluster& cluster,
                          const ExecutionGraph& graph);

/**
 * @ingroup proteus
 * Runs a graph by DistSim: see RunDistSim(). Communications are timed alone, each in a fabric of
 * its own, with the attributes that are set for the whole run.
 * @param options of the program
 * @param cluster to run on
 * @param graph to run
 * @param isPacketLevel whether communications are timed at packet level, or at flow level
 * @param out where to say how many events there are and how many of them are unique
 * @return what the run leaves behind; executor "distsim" or "distsim-flow"; the network's work is
 * that of all runs
 * @throw std::invalid_argument, std::runtime_error as RunDistSim(), RunPacketLevel() and
 * RunFlowLevel()
 */
RunRecord RunDistSimLevel(const ProgramOptions& options,
                          const Cluster& cluster,
                          const ExecutionGraph& graph,
                          bool isPacketLevel,
                          std::ostream& out);

/**
 * @ingroup proteus
 * @param text of --executor: packet, flow, flow_calibrated, alpha-beta, classic, distsim and
 * distsim-flow, separated by commas; "both" is packet and flow
 * @param htae of --htae: "flow", or "classic" for the rules of the published Proteus in its place,
 * also where `text` is left at its default
 * @param calibration of --calibration: a file puts flow_calibrated in the place of flow where that
 * is alone, else beside it
 * @return the executors, each once, in the given order
 * @throw std::invalid_argument for another name, or a calibration that nothing uses
 */
std::vector<std::string> ParseExecutors(const std::string& text,
                                        const std::string& htae,
                                        const std::string& calibration = "");

/**
 * @ingroup proteus
 * Runs a graph by an executor.
 * @param options of the program
 * @param executor one of ParseExecutors()
 * @param cluster to run on
 * @param graph to run
 * @param out where to what an executor has to say besides its result
 * @return what the run leaves behind
 * @throw std::invalid_argument, std::runtime_error as the executors
 */
RunRecord RunExecutor(const ProgramOptions& options,
                      const std::string& executor,
                      const Cluster& cluster,
                      const ExecutionGraph& graph,
                      std::ostream& out);

/**
 * @ingroup proteus
 * Says what contention costs: how far DistSim's replay is from a run of everything together.
 * @param replay by RunDistSimLevel()
 * @param whole of the same graph, at the level at which the communications were timed
 * @param graph that was run
 * @param out where to
 */
void PrintContention(const RunRecord& replay,
                     const RunRecord& whole,
                     const ExecutionGraph& graph,
                     std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_EXECUTORS_H
