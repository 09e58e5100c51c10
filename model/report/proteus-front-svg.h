/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FRONT_SVG_H
#define PROTEUS_FRONT_SVG_H

#include <ostream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Time against memory, as a picture.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Something that takes time and memory.
struct FrontDot
{
    std::string name;      //!< said where it is on the front
    double bytes{0};       //!< memory, to the right
    double seconds{0};     //!< time, upwards
    bool isOnFront{false}; //!< whether nothing is better in both
};

/// @ingroup proteus
/// What is drawn.
struct FrontChart
{
    std::string title;          //!< at the top
    std::string subtitle;       //!< below it
    std::vector<FrontDot> dots; //!< at least one
};

/**
 * @ingroup proteus
 * Draws dots, those on the front joined by a line and numbered, with their names below.
 * @param chart to draw
 * @param out where to, as SVG
 */
void WriteFrontSvg(const FrontChart& chart, std::ostream& out);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FRONT_SVG_H
