/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TRACE_DOUBTS_H
#define PROTEUS_TRACE_DOUBTS_H

#include "proteus-trace-graph.h"

#include "ns3/proteus-graph.h"

#include <set>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What makes a trace doubtful, though it can be run.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Looks for signs that a trace lacks something:
 *
 * - at least half of the bytes of its collectives wait for no kernel, directly or through others,
 * in a trace that has kernels: they start with the iteration, and look hidden behind computation.
 *   Converters that drop the dependencies of gradients make such traces;
 * - collectives of groups of one rank, which move nothing: the job has more ranks than were asked
 *   for.
 *
 * @param graph made of a trace
 * @return sentences, each on one line, that say how to mend it; none if there is no doubt
 */
std::vector<std::string> FindTraceDoubts(const ExecutionGraph& graph);

/**
 * @ingroup proteus
 * @param name of an event @return whether it is a step of PyTorch's profiler, ProfilerStep#7
 */
bool IsProfilerStep(const std::string& name);

/**
 * @ingroup proteus
 * @param names that a trace of PyTorch has
 * @return a sentence, if several of them are steps of its profiler: they all run as one iteration;
 * otherwise empty
 */
std::string DescribeProfilerSteps(const std::set<std::string>& names);

/**
 * @ingroup proteus
 * @param name of a trace that records no time of communication
 * @param options that it is loaded with
 * @throw std::invalid_argument if communication is to last as it was recorded
 */
void CheckIsRecording(const std::string& name, const TraceOptions& options);

/**
 * @ingroup proteus
 * Says so, see Warn(), if communication is to last as it was recorded, and there is none.
 * @param name of a trace @param options that it is loaded with @param recorded communications
 */
void WarnOfNoRecorded(const std::string& name, const TraceOptions& options, uint64_t recorded);

/**
 * @ingroup proteus
 * Takes every GPU for a rank, where neither a trace nor the user says how many there are, and says
 * so, see Warn(), if it is known how many GPUs there are.
 * @param options of the user @param name of the trace @param least ranks, of which a job has a
 * multiple
 * @return how many ranks that are, at least as many
 */
uint64_t GuessRanks(const TraceOptions& options, const std::string& name, uint64_t least = 1);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TRACE_DOUBTS_H
