/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PUBLISHED_ERRORS_H
#define PROTEUS_PUBLISHED_ERRORS_H

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * How far computed iterations are from published ones.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Errors of the times that flows compute, of published iterations of one kind. The error of a row
/// is computed over published, less 1.
struct PublishedErrors
{
    std::string framework;         //!< that trained
    std::string gpu;               //!< what the GPUs are, e.g. "A100"
    std::vector<std::string> gpus; //!< names of their data sheets
    std::string what;              //!< models among them
    uint32_t rows{0};              //!< iterations that were compared
    double halfWithin{0};          //!< size of the error that half of them do not exceed
    double nineOfTenWithin{0};     //!< the same for nine of ten
    double mean{0};                //!< mean error; below 0: computed times are too short
};

/**
 * @ingroup proteus
 * Reads "errors", a list of what PublishedErrors has.
 * @param input the file
 * @param fileName for errors
 * @return one of each framework and GPU at most
 * @throw std::invalid_argument of one line, "FILE: /errors/0/rows: cause"
 */
std::vector<PublishedErrors> ReadPublishedErrors(std::istream& input, const std::string& fileName);

/**
 * @ingroup proteus
 * @param errors of all kinds
 * @param framework by which a job is timed
 * @param gpu name of a data sheet
 * @return a sentence that says how far times of such jobs are off, or that too few were compared
 * @throw std::invalid_argument if there is no such data sheet
 */
std::string DescribePublishedErrors(const std::vector<PublishedErrors>& errors,
                                    const std::string& framework,
                                    const std::string& gpu);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PUBLISHED_ERRORS_H
