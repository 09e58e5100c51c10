/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_EXECUTORS_H
#define PROTEUS_EXECUTORS_H

#include "proteus-program-options.h"

#include "ns3/proteus-executor.h"
#include "ns3/proteus-flow-calibration.h"

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Executors as command lines name them.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * @param text of --executor: names of executors, separated by commas; "both" is packet and flow
 * @param htae of --htae: which executor HTAE stands for. If it is another one than flow, it takes
 * the place of flow, and of the default of `text`
 * @param calibration of --calibration: with a file, the calibrated form of an executor takes its
 * place if the executor is the only one, and stands beside it otherwise
 * @param option that gives `calibration`, as it is typed, for messages
 * @return the executors, each once, in the given order
 * @throw std::invalid_argument for another name, or a calibration that nothing uses
 */
std::vector<std::string> ParseExecutors(const std::string& text,
                                        const std::string& htae,
                                        const std::string& calibration = "",
                                        const std::string& option = "--calibration=FILE");

/// @ingroup proteus
/// @param executors that were chosen @param has what is asked of their traits
/// @return whether it holds for one of them
template <typename F>
bool
HasExecutor(const std::vector<std::string>& executors, F has)
{
    return std::any_of(executors.begin(), executors.end(), [&has](const std::string& name) {
        return has(FindExecutor(name).GetTraits());
    });
}

/// @ingroup proteus
/// @return what --htae may be
std::vector<std::string> ListHtae();

/// @ingroup proteus
/// @param command whose option --executor takes several of the executors, or both
void AddExecutorNames(OptionList& command);

/// @ingroup proteus
/// @param command that gets --executor of collectives that are run by themselves
/// @param executor its value: one that makes programs of what NCCL chooses
void AddTestExecutors(OptionList& command, CommandLineText& executor);

/// @ingroup proteus
/// @param executor of such a collective @return what stands behind its name, where it is not exact;
/// else empty
std::string DescribeApproximation(const std::string& executor);

/// @ingroup proteus
/// @param executor of such a collective @return why no packets are sent; empty: some are
std::string FindNoPackets(const std::string& executor);

/// @ingroup proteus
/// @return what --executor may be, with descriptions, for help
std::string DescribeExecutors();

/**
 * @ingroup proteus
 * @param options of a program
 * @return them as settings of executors, together with the attributes of ns-3
 * @throw std::invalid_argument, std::runtime_error if an option makes no sense, or the calibration
 * cannot be read
 */
ExecutorSettings MakeExecutorSettings(const ProgramOptions& options);

/// @ingroup proteus
/// @param made a calibration @param server what a cluster is made of, as --cluster
/// @param cluster to run on @return whether the calibration is of another one: of other servers or,
/// where both are of several, of another network between them
bool IsFittedElsewhere(const FlowCalibration& made,
                       const std::string& server,
                       const Cluster& cluster);

/**
 * @ingroup proteus
 * Runs a graph by an executor, with progress.
 * @param options of the program
 * @param executor one of ParseExecutors()
 * @param cluster to run on
 * @param graph to run
 * @param out where to what an executor has to say besides its result
 * @return what the run leaves behind
 * @throw std::invalid_argument, std::runtime_error as Executor::Run()
 */
RunRecord RunExecutor(const ProgramOptions& options,
                      const std::string& executor,
                      const Cluster& cluster,
                      const ExecutionGraph& graph,
                      std::ostream& out);

/**
 * @ingroup proteus
 * RunExecutor() for programs with many runs, to which a part of a run is of no use.
 * @param options of the program
 * @param executor one of ParseExecutors()
 * @param cluster to run on
 * @param graph to run
 * @param out where to what an executor has to say besides its result
 * @return what the run leaves behind
 * @throw RunStopped if a signal came before its end
 * @throw std::invalid_argument, std::runtime_error as Executor::Run()
 */
RunRecord RunWhole(const ProgramOptions& options,
                   const std::string& executor,
                   const Cluster& cluster,
                   const ExecutionGraph& graph,
                   std::ostream& out);

/**
 * @ingroup proteus
 * Says what contention costs: how far a replay of communications that were timed alone is from a
 * run of everything together.
 * @param replay by an executor with ExecutorTraits::repeats
 * @param whole of the same graph, by that executor
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
