/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STUDY_COMPARISON_H
#define PROTEUS_STUDY_COMPARISON_H

#include "proteus-study-result.h"
#include "proteus-study.h"

#include "ns3/proteus-spread.h"

#include <optional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The points of a study side by side.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Points that differ in nothing but axes of spread.
struct StudyGroup
{
    std::vector<std::string> labels; //!< by StudyComparison::axes
    Spread measure;                  //!< of the study's measure
    std::optional<double> cost;      //!< what it is weighed against; of several, the median
    std::size_t row{0};              //!< in the table, of the point whose measure is the median or,
                                     //!< of an even number, the one below
};

/// @ingroup proteus
/// The points of a study side by side.
struct StudyComparison
{
    std::vector<std::string> axes;   //!< that are compared; "executor" is one if there are several
    std::vector<StudyGroup> groups;  //!< best first; equals in order of the table
    std::vector<std::size_t> pareto; //!< groups than which no other is both better and cheaper, by
                                     //!< cost; of equals the first. Empty where no cost is known
};

/**
 * @ingroup proteus
 * @param study that was run
 * @param table of it, see MakeStudyTable(); rows without the measure do not count
 * @return the comparison
 * @throw std::invalid_argument if the table has no column of the measure or cost, or the measure is
 * no number
 */
StudyComparison CompareStudy(const Study& study, const Table& table);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STUDY_COMPARISON_H
