/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STUDY_CHART_H
#define PROTEUS_STUDY_CHART_H

#include "ns3/proteus-spread.h"

#include <optional>
#include <ostream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Pictures of studies, as SVG inside a page.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A line of a chart: a value at every position, or none.
struct ChartLine
{
    std::string name;                          //!< for the legend
    std::vector<std::optional<Spread>> values; //!< by position; medians are joined, the band goes
                                               //!< from least to most
};

/// @ingroup proteus
/// A point of a chart of two quantities.
struct ChartDot
{
    std::string name;      //!< shown when it is pointed at
    double x{0};           //!< to the right
    Spread y;              //!< upwards
    bool isOnFront{false}; //!< whether nothing is better in both
};

/// @ingroup proteus
/// @param value a number @param unit of it, e.g. "s" @return as people read it
std::string FormatQuantity(double value, const std::string& unit);

/**
 * @ingroup proteus
 * Draws lines over the values of an axis, which stand at equal distances.
 * @param name of the axis
 * @param labels of its values
 * @param measure what goes up
 * @param unit of it
 * @param lines at least one
 * @param out where to
 */
void WriteLineChart(const std::string& name,
                    const std::vector<std::string>& labels,
                    const std::string& measure,
                    const std::string& unit,
                    const std::vector<ChartLine>& lines,
                    std::ostream& out);

/**
 * @ingroup proteus
 * Draws points of two quantities, and a line through those on the front.
 * @param xName what goes to the right @param xUnit of it
 * @param yName what goes up @param yUnit of it
 * @param dots at least one; those on the front in order of x
 * @param out where to
 */
void WriteDotChart(const std::string& xName,
                   const std::string& xUnit,
                   const std::string& yName,
                   const std::string& yUnit,
                   const std::vector<ChartDot>& dots,
                   std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STUDY_CHART_H
