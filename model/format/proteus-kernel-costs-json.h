/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_KERNEL_COSTS_JSON_H
#define PROTEUS_KERNEL_COSTS_JSON_H

#include "ns3/proteus-collective-cost-table.h"

#include <istream>
#include <ostream>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Costs of NCCL's kernels as a JSON file.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Reads costs of kernels, each with its source:
 * @code{.json}
 * {"format": "proteus-kernel-costs", "version": 1,
 *  "description": "how the numbers were found",
 *  "generations": {"A100": {"startUs": {"LL": {"value": 6, "source": "fitted"}}}},
 *  "launch": {"kernelUs": {"value": 4, "source": "measured"}}}
 * @endcode
 * CollectiveGeneration and CollectiveLaunch have the names and units. What the file leaves out is
 * as it is built in. Rates of 0 are no limit.
 *
 * @param input the text
 * @param fileName for errors
 * @return all numbers
 * @throw std::invalid_argument of one line: "FILE:LINE:COLUMN: cause" for syntax, "FILE:
 * /generations/A100: cause" for content; a key that is not known is an error, as is a file that
 * has no number
 */
CollectiveCostTable ReadKernelCostsJson(std::istream& input, const std::string& fileName);

/**
 * @ingroup proteus
 * Writes all numbers, one a line; reads back to the same.
 * @param table of the numbers
 * @param description of the file
 * @param output where to
 */
void WriteKernelCostsJson(const CollectiveCostTable& table,
                          const std::string& description,
                          std::ostream& output);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_KERNEL_COSTS_JSON_H
