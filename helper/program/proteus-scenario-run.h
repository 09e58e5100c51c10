/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SCENARIO_RUN_H
#define PROTEUS_SCENARIO_RUN_H

#include "proteus-program-options.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"

#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Finds what can be wrong with a scenario before a job is made for it.
 * @param options of the program, with a scenario or without
 * @param cluster to run on
 * @throw std::invalid_argument of one line, "FILE: PLACE: cause"; or if an executor does not model
 * what happens, unless that depends on how long the job takes alone
 */
void CheckScenario(const ProgramOptions& options, const Cluster& cluster);

/**
 * @ingroup proteus
 * @param options of the program, with a scenario or without
 * @param cluster to run on
 * @return whether the scenario has jobs beside the program's own, whose kernels are timed by the
 * same options
 * @throw std::invalid_argument if the scenario is wrong
 */
bool HasNeighbours(const ProgramOptions& options, const Cluster& cluster);

/**
 * @ingroup proteus
 * Runs a graph in the scenario of --scenario: its job and the neighbours on their GPUs, with what
 * happens meanwhile, and for comparison every job alone. Reports as RunAndReport() does without a
 * scenario.
 * @param options of the program, with a scenario
 * @param cluster to run on
 * @param graph of the program's job
 * @param dataType whose peak rate the model FLOP utilisation refers to
 * @param carried what tasks need of the iteration before, where that is known; may be null
 * @throw std::invalid_argument, std::runtime_error as RunAndReport(), and if the scenario is wrong
 */
void RunScenario(const ProgramOptions& options,
                 const Cluster& cluster,
                 const ExecutionGraph& graph,
                 DataType dataType,
                 const std::vector<CarriedDependency>* carried);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SCENARIO_RUN_H
