/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TRIAL_SVG_H
#define PROTEUS_TRIAL_SVG_H

#include <ostream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Times over two sizes as a picture (SVG): what a search has tried.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A point of the picture.
struct SvgTrial
{
    double x{0};     //!< bytes, to the right, above 0
    double y{0};     //!< bytes, upwards, above 0
    double timeS{0}; //!< seconds, the colour
};

/// @ingroup proteus
/// A picture of trials.
struct TrialChart
{
    std::string title;            //!< above
    std::string subtitle;         //!< below it
    std::string xName;            //!< what goes to the right
    std::string yName;            //!< what goes up
    std::vector<SvgTrial> trials; //!< in the order in which they were made
};

/**
 * @ingroup proteus
 * Draws trials as dots over two logarithmic axes, darker the less time they took, each with its
 * time; the first of the best ones has a ring.
 * @param chart what to draw, with at least one trial
 * @param out where to
 */
void WriteTrialSvg(const TrialChart& chart, std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TRIAL_SVG_H
