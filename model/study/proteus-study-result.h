/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STUDY_RESULT_H
#define PROTEUS_STUDY_RESULT_H

#include "proteus-study.h"

#include "ns3/proteus-note-counts.h"
#include "ns3/proteus-table.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What the points of a study came to, as one table.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// How a point ended.
struct StudyResult
{
    bool isDone{false};     //!< whether it has run, well or not
    std::string error;      //!< why it could not run; empty: it ran
    std::string output;     //!< JSON text that the program wrote, if it ran
    std::vector<Cell> bill; //!< what its network takes, see GetBillColumns(); empty: not known

    /// @return whether it has run well
    bool IsGood() const
    {
        return isDone && error.empty();
    }
};

/// @ingroup proteus
/// @return columns of what a network takes: switches, ports, cables, price, power
std::vector<Column> GetBillColumns();

/// @ingroup proteus
/// @return columns of a summary (--summary of proteus-run and proteus-gpt3)
std::vector<Column> GetSummaryColumns();

/**
 * @ingroup proteus
 * Makes the table of a study: a row per point and executor, sorted by point. Columns: point, the
 * axes by their names, executor, status, error, then those of the program.
 * @param study that was run
 * @param points to write
 * @param results of the points, by position; those that are not done are left out
 * @return the table
 * @throw std::invalid_argument if what a program wrote is not as expected: which point, and what is
 * wrong
 */
Table MakeStudyTable(const Study& study,
                     const std::vector<StudyPoint>& points,
                     const std::vector<StudyResult>& results);

/**
 * @ingroup proteus
 * @param results of points
 * @return what runs say beside their numbers, but for what kernels take beside communication, and
 * whether packets were lost or memory was too small
 */
NoteCounts CountNotes(const std::vector<StudyResult>& results);

/// @ingroup proteus
/// Column of a study's table that says whether a point ran: "ok" or "failed".
constexpr const char* STUDY_STATUS = "status";

/// @ingroup proteus
/// @param table any @param name of a column @return its position
/// @throw std::invalid_argument that names the columns there are
std::size_t FindColumn(const Table& table, const std::string& name);

/// @ingroup proteus
/// @param cell any @return the number in it, if it is one
std::optional<double> ToNumber(const Cell& cell);

/// @ingroup proteus
/// @param cell any @return its content as text: nothing, text as it is, numbers as JSON has them
std::string ToText(const Cell& cell);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STUDY_RESULT_H
