/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_COLLECTIVE_COMPARISON_H
#define PROTEUS_COLLECTIVE_COMPARISON_H

#include "proteus-collective-table.h"

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Measured times of a collective beside simulated ones, and beside those of NCCL's own cost model.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// One size of a table.
struct ComparedSize
{
    CollectiveRow simulated; //!< with the size as it was run
    double measuredUs{0};    //!< microseconds
    double modelUs{0};       //!< of NCCL's cost model, its own choice; 0: it has none

    /// @return simulated time over measured time, less one
    double GetError() const;
    /// @return the same of NCCL's cost model
    double GetModelError() const;
    /// @return measured bus bandwidth
    double GetMeasuredBusbwGBps() const;
};

/// @ingroup proteus
/// A table.
struct CollectiveComparison
{
    std::string name;                //!< of the file, without its suffix
    std::string system;              //!< what was measured
    std::string note;                //!< why the simulation may differ
    std::vector<ComparedSize> sizes; //!< ascending
};

/// @ingroup proteus
/// Errors of a table. What no size falls into is negative.
struct ComparisonErrors
{
    double measuredPeakGBps{0};  //!< highest bus bandwidth
    double simulatedPeakGBps{0}; //!< of the same sizes
    double small{-1};            //!< median of the absolute errors of time, 1 KiB to below 1 MiB
    double large{-1};            //!< median from 1 MiB on
    double middle{-1};           //!< median from 256 KiB to 64 MiB
    double model{-1};            //!< of NCCL's cost model, of the same sizes as `middle`

    /// @return error of the highest bus bandwidth
    double GetPeakError() const
    {
        return measuredPeakGBps > 0 ? simulatedPeakGBps / measuredPeakGBps - 1 : 0;
    }
};

/// @ingroup proteus
/// @param comparison a table @return its errors
ComparisonErrors GetErrors(const CollectiveComparison& comparison);

/// @ingroup proteus
/// Prints a table, size by size. @param comparison of it @param out where to
void PrintComparison(const CollectiveComparison& comparison, std::ostream& out);

/// @ingroup proteus
/// Prints one line for each table, with the goals that it misses marked.
/// @param comparisons all tables @param out where to
void PrintComparisonSummary(const std::vector<CollectiveComparison>& comparisons,
                            std::ostream& out);

/**
 * @ingroup proteus
 * Writes table,size_bytes,measured_us,simulated_us,error,measured_busbw_GBps,simulated_busbw_GBps,
 * nccl_model_us,algorithm,protocol,channels.
 * @param comparisons tables
 * @param out where to
 */
void WriteComparisonCsv(const std::vector<CollectiveComparison>& comparisons, std::ostream& out);

/**
 * @ingroup proteus
 * Draws measured and simulated bus bandwidth over size as SVG, for light and dark surroundings.
 * @param comparison a table
 * @param out where to
 */
void WriteComparisonSvg(const CollectiveComparison& comparison, std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_COLLECTIVE_COMPARISON_H
