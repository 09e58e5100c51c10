/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_ERRORS_H
#define PROTEUS_FLOW_ERRORS_H

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * How far an executor without packets is from packets.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Differences of an executor from packets, over random work of a kind on random clusters of a
/// kind. All are sizes, as shares of the time by packets.
struct FlowErrors
{
    std::string executor;      //!< whose they are, e.g. "flow"
    std::string work;          //!< what was run: "models", "collectives" or "groups of collectives"
    std::string setting;       //!< what it was run on: FindFlowSetting()
    uint32_t jobs{0};          //!< how many
    double halfWithin{0};      //!< what half of them do not exceed
    double nineOfTenWithin{0}; //!< what nine of ten do not exceed
    double most{0};            //!< the largest
};

/**
 * @ingroup proteus
 * Reads "errors", a list of what FlowErrors has; workloads/evaluation/flow-errors.py writes it.
 * @param input the file
 * @param fileName for errors
 * @return one of each executor, work and setting at most
 * @throw std::invalid_argument of one line, "FILE: /errors/0/jobs: cause"
 */
std::vector<FlowErrors> ReadFlowErrors(std::istream& input, const std::string& fileName);

/**
 * @ingroup proteus
 * @param errors of all kinds
 * @param executor that has run
 * @param work that it ran
 * @param setting that it ran on
 * @return a sentence that says how far it is from packets, or that too few were compared; empty if
 * nothing is known of the executor
 */
std::string DescribeFlowErrors(const std::vector<FlowErrors>& errors,
                               const std::string& executor,
                               const std::string& work,
                               const std::string& setting);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_ERRORS_H
