/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CALIBRATION_RUN_H
#define PROTEUS_CALIBRATION_RUN_H

#include "proteus-program-options.h"

#include "ns3/proteus-flow-calibration.h"

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Runs the micro-experiments of a calibration packet by packet, and fits the flow network to them.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param step what goes on now @param done share of the work that is done
/// @param elapsedS that it has taken, seconds @return the step with the time that is left
std::string DescribeStep(const std::string& step, double done, double elapsedS);

/// @ingroup proteus
/// @param isQuick whether the time is to be short rather than the errors small
/// @return sizes of the communications of a calibration, bytes
std::vector<uint64_t> GetCalibrationSizes(bool isQuick);

/**
 * @ingroup proteus
 * Calibrates the flow network for a cluster. Unless options.quiet, says on stderr how far it is and
 * about how long the rest will take.
 * @param options stream, launch interval, how the program was called
 * @param cluster to calibrate for
 * @param sizes of the communications, bytes
 * @param maxRounds of the fit, at most; 0: no fit
 * @return the calibration with its provenance
 * @throw std::invalid_argument if the cluster has no two GPUs that communicate
 */
FlowCalibration RunCalibration(const ProgramOptions& options,
                               const Cluster& cluster,
                               const std::vector<uint64_t>& sizes,
                               uint32_t maxRounds = MAX_FIT_ROUNDS);

/**
 * @ingroup proteus
 * Prints the fitted parameters, the errors before and after, of what was fitted and what was held
 * out, by kind of experiment, and the worst communications.
 * @param calibration made by RunCalibration()
 * @param cluster that it is of
 * @param out where to
 */
void PrintCalibration(const FlowCalibration& calibration,
                      const Cluster& cluster,
                      std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CALIBRATION_RUN_H
