/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_BAR_SVG_H
#define PROTEUS_BAR_SVG_H

#include <ostream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Bars of times as a picture (SVG).
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A bar of several parts.
struct SvgBar
{
    std::string label;         //!< on the left; long ones wrap
    std::vector<double> parts; //!< seconds, as many as there are names of parts
    std::string text;          //!< behind it
};

/// @ingroup proteus
/// A picture of bars.
struct BarChart
{
    std::string title;              //!< above
    std::string subtitle;           //!< below it
    std::vector<std::string> parts; //!< what the parts of a bar are, at most five
    std::vector<SvgBar> bars;       //!< from top to bottom
    double mark{0};                 //!< seconds at which a line stands across; 0: none
    std::string markText;           //!< what it is
};

/**
 * @ingroup proteus
 * Draws bars: parts differ in colour and texture, in light and in dark.
 * @param chart what to draw
 * @param out where to
 */
void WriteBarSvg(const BarChart& chart, std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_BAR_SVG_H
