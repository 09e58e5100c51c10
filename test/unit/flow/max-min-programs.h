/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MAX_MIN_PROGRAMS_H
#define PROTEUS_MAX_MIN_PROGRAMS_H

#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * Max-min fair rates by the flow network's solver, and by linear programs, which share nothing with
 * it.
 */

/// @ingroup proteus-tests
/// Flows that share resources, in plain form.
struct MaxMinProblem
{
    std::vector<double> capacities;           //!< by resource
    std::vector<double> limits;               //!< by flow, may be infinite
    std::vector<std::vector<double>> amounts; //!< by flow and resource
};

/**
 * @ingroup proteus-tests
 * @param problem to solve by MaxMinSolver
 * @return the rates, by flow
 * @throw std::invalid_argument as MaxMinSolver::Solve()
 */
std::vector<double> SolveByFilling(const MaxMinProblem& problem);

/**
 * @ingroup proteus-tests
 * The lexicographically largest sorted rates by linear programs: the largest common level of the
 * flows that are not fixed; then every flow that cannot exceed it while the others keep it is
 * fixed there; and again.
 * @param problem to solve
 * @return the rates, by flow
 */
std::vector<double> SolveByPrograms(const MaxMinProblem& problem);

#endif // PROTEUS_MAX_MIN_PROGRAMS_H
