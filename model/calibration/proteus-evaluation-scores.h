/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_EVALUATION_SCORES_H
#define PROTEUS_EVALUATION_SCORES_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * How well other executors agree with the packet level, and how much faster they are.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What an executor says of a job, and what that took.
struct ExecutorTime
{
    double iterationS{0}; //!< simulated time of an iteration, seconds
    double cpuS{0};       //!< CPU time of the simulation, seconds
};

/// @ingroup proteus
/// A workload with one strategy, by all executors.
struct EvaluatedStrategy
{
    std::string workload;                      //!< e.g. "VGG-19 on 2 x dgx1-v100"
    std::string strategy;                      //!< e.g. "16 replicas, DDP"
    std::map<std::string, ExecutorTime> times; //!< by executor
    std::string job; //!< what was run, see DescribeEvaluated(); empty: not known
};

/// @ingroup proteus
/// How an executor does, against the packet level.
struct ExecutorScore
{
    std::string executor;       //!< which one
    uint32_t strategies{0};     //!< compared
    uint32_t workloads{0};      //!< whose order of strategies is compared
    double meanError{0};        //!< of the iteration time, mean of the absolute relative errors
    double maxError{0};         //!< the largest of those
    std::string worst;          //!< workload and strategy that has it
    double meanTau{1};          //!< Kendall's tau of the strategies, mean of the workloads
    double leastTau{1};         //!< smallest of those
    double geometricSpeedup{0}; //!< CPU time of the packet level over its own, geometric mean
    double leastSpeedup{0};     //!< smallest of those
};

/**
 * @ingroup proteus
 * Kendall's rank correlation, tau-b (Kendall, "The treatment of ties in ranking problems",
 * Biometrika 33(3), 1945).
 * @param a values
 * @param b as many values
 * @return 1 if all pairs are in the same order, -1 if all are in the opposite one; 1 if there is no
 * pair, or all values of both are equal; 0 if only those of one are
 * @throw std::invalid_argument if there are not as many
 */
double GetKendallTau(const std::vector<double>& a, const std::vector<double>& b);

/**
 * @ingroup proteus
 * @param strategies that were run; those of one workload follow each other
 * @param executor to compare with "packet"
 * @return how it does on the strategies that both have run
 */
ExecutorScore ScoreExecutor(const std::vector<EvaluatedStrategy>& strategies,
                            const std::string& executor);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_EVALUATION_SCORES_H
