/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_CALIBRATION_H
#define PROTEUS_FLOW_CALIBRATION_H

#include "proteus-micro-experiment.h"

#include "ns3/proteus-flow-parameters.h"
#include "ns3/proteus-program-cache.h"

#include <cstdint>
#include <functional>
#include <istream>
#include <ostream>
#include <set>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Rounds over all parameters that a fit takes at most.
constexpr uint32_t MAX_FIT_ROUNDS = 16;

/// @ingroup proteus
/// An experiment and what came out at packet level.
struct Measurement
{
    MicroExperiment experiment; //!< what was run
    std::vector<double> times;  //!< by task: until its last rank was done, seconds
};

/// @ingroup proteus
/// Relative errors of times at flow level against packet level.
struct CalibrationErrors
{
    double mean{0};      //!< mean of the absolute values
    double most{0};      //!< largest absolute value
    std::string worst;   //!< experiment that has it
    uint32_t samples{0}; //!< times compared
};

/// @ingroup proteus
/// A communication of an experiment, by all that is compared.
struct CalibrationSample
{
    std::string kind;       //!< MicroExperiment::kind
    std::string experiment; //!< MicroExperiment::name
    uint32_t task{0};       //!< which of its communications
    bool isHeldOut{false};  //!< not fitted
    double packetS{0};      //!< until its last rank was done, seconds
    double beforeS{0};      //!< the same by the uncalibrated flow network
    double afterS{0};       //!< the same by the calibrated one

    /// @param isCalibrated by which network @return relative error
    double GetError(bool isCalibrated) const
    {
        return (isCalibrated ? afterS : beforeS) / packetS - 1;
    }
};

/// @ingroup proteus
/// What calibration found out, with how well it fits and where it comes from.
struct FlowCalibration
{
    std::string cluster;                    //!< name of the cluster
    std::string server;                     //!< what it is made of, as --cluster; may be empty
    uint32_t servers{0};                    //!< how many of them; 0: an older file does not say it
    std::string provenance;                 //!< command, version
    FlowParameters parameters;              //!< fitted
    std::set<LinkTechnology> technologies;  //!< of which a file that was read says parameters
    std::vector<CalibrationSample> samples; //!< in the order of the experiments
    CalibrationErrors before;               //!< of the uncalibrated model, on all experiments
    CalibrationErrors fitted;               //!< on those that were fitted
    CalibrationErrors heldOut;              //!< on those that were not
    CalibrationErrors heldOutBefore;        //!< of the uncalibrated model, on those
};

/**
 * @ingroup proteus
 * @param measurements at packet level
 * @param cluster of them
 * @param parameters of the flow network
 * @param settings of the programs
 * @return by measurement and task, the time at flow level, seconds
 */
std::vector<std::vector<double>> RunAtFlowLevel(const std::vector<Measurement>& measurements,
                                                const Cluster& cluster,
                                                const FlowParameters& parameters,
                                                const ProgramSettings& settings);

/**
 * @ingroup proteus
 * Fits the link parameters of every technology of a cluster: efficiency from 0.8 to 1.05, sharing
 * from 0.7 to 1, latency from -1 to +5 us. It descends along one parameter at a time, with steps
 * that are halved three times. It minimises the mean of the squared relative errors of the
 * measurements that are not held out.
 * @param measurements at packet level
 * @param cluster of them
 * @param start parameters to begin with
 * @param settings of the programs
 * @param tell called after every round with the rounds so far, the most there can be, and the root
 * mean square error; may be empty
 * @param maxRounds at most; 0: no fit, but the errors of the start
 * @return the calibration, without provenance
 * @throw std::invalid_argument if there is nothing to fit, or nothing held out
 */
FlowCalibration FitFlow(const std::vector<Measurement>& measurements,
                        const Cluster& cluster,
                        const FlowParameters& start,
                        const ProgramSettings& settings,
                        const std::function<void(uint32_t, uint32_t, double)>& tell = {},
                        uint32_t maxRounds = MAX_FIT_ROUNDS);

/// @ingroup proteus
/// @param samples of a calibration @param isCalibrated errors of which network
/// @param counts which samples count @return their errors
CalibrationErrors AddUpErrors(const std::vector<CalibrationSample>& samples,
                              bool isCalibrated,
                              const std::function<bool(const CalibrationSample&)>& counts);

/// @ingroup proteus
/// @param calibration to write as JSON @param output where to
void WriteFlowCalibration(const FlowCalibration& calibration, std::ostream& output);

/**
 * @ingroup proteus
 * Reads what WriteFlowCalibration() has written; of the errors only those of what was held out, and
 * no samples. Links of which it says nothing are as without calibration.
 * @param input the text
 * @param fileName for errors
 * @return the calibration
 * @throw std::invalid_argument of one line that says where the file is wrong
 */
FlowCalibration ReadFlowCalibration(std::istream& input, const std::string& fileName);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_CALIBRATION_H
