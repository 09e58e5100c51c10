/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_HOST_WAITS_H
#define PROTEUS_HOST_WAITS_H

#include "ns3/proteus-graph.h"

#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * How much of what counts as compute is the host's.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param graph of a job
/// @return part of the time of all its kernels in which they wait for the host that issues them, as
/// Task::hostPercent says, before anything runs beside them; 0 without kernels
double GetHostShare(const ExecutionGraph& graph);

/**
 * @ingroup proteus
 * Notes that kernels wait for their host, where that is a fifth of their time or more.
 * @param graph of a job
 * @param framework that it was compiled with, by name
 * @param notes about the job, which get a line without exact numbers, so that those of several jobs
 * can be counted
 */
void NoteHostWaits(const ExecutionGraph& graph,
                   const std::string& framework,
                   std::vector<std::string>& notes);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_HOST_WAITS_H
