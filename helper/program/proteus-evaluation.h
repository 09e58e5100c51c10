/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_EVALUATION_H
#define PROTEUS_EVALUATION_H

#include "proteus-program-options.h"

#include "ns3/proteus-evaluation-scores.h"

#include <cstdint>
#include <istream>
#include <ostream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Lists of workloads, and what all executors say about them.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A model on a cluster with several strategies to compare.
struct EvaluationWorkload
{
    std::string name;                    //!< e.g. "VGG-19"
    std::string model;                   //!< name in workloads/models, or file
    std::string variables;               //!< of the model, "NAME=NUMBER,..."
    std::string cluster;                 //!< preset
    uint32_t nodes{1};                   //!< servers
    std::vector<std::string> strategies; //!< short forms, each with a name

    /// @return e.g. "VGG-19 on 2 x dgx1-v100"
    std::string GetTitle() const;
};

/**
 * @ingroup proteus
 * @param input list of workloads, see ReadEvaluation()
 * @param fileName for errors
 * @return what was published of such workloads: [published], a list of sentences
 * @throw std::invalid_argument of one line that says where the file is wrong
 */
std::vector<std::string> ReadPublished(std::istream& input, const std::string& fileName);

/**
 * @ingroup proteus
 * Reads a list of workloads: an object with format "proteus-evaluation", version 1, [source],
 * [published: list of sentences to compare the results with] and workloads, a list of objects with
 * name, model, [variables: object of numbers], cluster, [nodes 1] and strategies, a list of short
 * forms of strategies (see ReadStrategyJson()), each with a name of its own, or of objects with a
 * name and the file of workloads/strategies that has the strategy.
 * @param input the text
 * @param fileName for errors
 * @return the workloads
 * @throw std::invalid_argument of one line that says where the file is wrong
 */
std::vector<EvaluationWorkload> ReadEvaluation(std::istream& input, const std::string& fileName);

/**
 * @ingroup proteus
 * @param workload a workload
 * @param strategy which of its strategies
 * @param typed options of the program
 * @param files that the job is read from: of the model, the strategy, the cluster, the framework
 * @return what times by packets depend on, as JSON: model, variables, strategy, the options that
 * change results, and digits that tell the content of the files. Equal jobs have equal texts,
 * whatever they are called.
 */
std::string DescribeEvaluated(const EvaluationWorkload& workload,
                              std::size_t strategy,
                              const Configuration& typed,
                              const std::vector<std::string>& files);

/**
 * @ingroup proteus
 * Makes sure that a strategy can be run, so that a mistake in it is known before others have run,
 * and names what of it changes nothing.
 * @param workload a workload
 * @param strategy which of its strategies
 * @param folder with models
 * @param options of the runs
 * @return the job as DescribeEvaluated() has it
 * @throw std::invalid_argument as CompileForCluster(), or that it does not fit into memory
 */
std::string CheckEvaluated(const EvaluationWorkload& workload,
                           std::size_t strategy,
                           const std::string& folder,
                           const ProgramOptions& options);

/**
 * @ingroup proteus
 * Runs a workload by one executor after the other.
 * @param workload what is run
 * @param strategy which of its strategies
 * @param folder with models
 * @param executors names, as ParseExecutors() has them
 * @param options stream, launch interval and the calibration file of this cluster
 * @return what they say; the job is left out
 * @throw std::invalid_argument, std::runtime_error as RunExecutor() and CompileForCluster()
 */
EvaluatedStrategy Evaluate(const EvaluationWorkload& workload,
                           std::size_t strategy,
                           const std::string& folder,
                           const std::vector<std::string>& executors,
                           const ProgramOptions& options);

/// @ingroup proteus
/// @param workload a workload @param strategy which of its strategies @return its name
std::string GetStrategyName(const EvaluationWorkload& workload, std::size_t strategy);

/// @ingroup proteus
/// Writes what was found as JSON, exactly. @param runs what was found @param out where to
void WriteEvaluationJson(const std::vector<EvaluatedStrategy>& runs, std::ostream& out);

/// @ingroup proteus
/// @param input written by WriteEvaluationJson() @param fileName for errors @return what was found
/// @throw std::invalid_argument of one line that says where the file is wrong
std::vector<EvaluatedStrategy> ReadEvaluationJson(std::istream& input, const std::string& fileName);

/**
 * @ingroup proteus
 * Writes what was found as comma-separated values, a line per workload, strategy and executor:
 * `workload,strategy,executor,iteration_s,error,cpu_s,speedup`, the error and the speed-up against
 * the executor packet.
 * @param runs what was found
 * @param out where to
 */
void WriteEvaluationCsv(const std::vector<EvaluatedStrategy>& runs, std::ostream& out);

/// @ingroup proteus
/// Prints a table of all runs, and one of the scores. @param runs what was found
/// @param executors columns, in this order @param out where to
void PrintEvaluation(const std::vector<EvaluatedStrategy>& runs,
                     const std::vector<std::string>& executors,
                     std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_EVALUATION_H
