/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-comparison.h"
#include "proteus-svg-picture.h"
#include "proteus-tables.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ns3
{
namespace proteus
{

namespace
{

// Of the picture and of the part of it that the axes enclose.
constexpr double WIDTH = 760;
constexpr double HEIGHT = 440;
constexpr double LEFT = 72;
constexpr double RIGHT = 736;
constexpr double TOP = 64;
constexpr double BOTTOM = 384;
constexpr SvgPicture::Area AREA{LEFT, RIGHT, TOP, BOTTOM};

const char* const STYLE =
    ".axis { stroke: #59636e; stroke-width: 1; }\n"
    ".measured { fill: #ffffff; stroke: #1f2328; stroke-width: 1.6; }\n"
    ".simulated { fill: none; stroke: #0969da; stroke-width: 2; }\n"
    "@media (prefers-color-scheme: dark) { .axis { stroke: #9198a1; } .measured { fill: #0d1117; "
    "stroke: #f0f6fc; } .simulated { stroke: #58a6ff; } }\n";

using Anchor = SvgPicture::Anchor;

/// @param bytes a power of two @return with the unit that suits it
std::string
FormatPower(uint64_t bytes)
{
    const std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < units.size())
    {
        bytes /= 1024;
        ++unit;
    }
    return std::to_string(bytes) + " " + units[unit];
}

/// @param most to be shown @return distance of the lines of an axis from 0
double
ChooseStep(double most)
{
    const double raw = most / 5;
    const double power = std::pow(10, std::floor(std::log10(raw)));
    for (const double factor : {1.0, 2.0, 2.5, 5.0})
    {
        if (factor * power >= raw)
        {
            return factor * power;
        }
    }
    return 10 * power;
}

/// Where sizes and bandwidths lie in the picture.
struct Scale
{
    double firstLog{0};
    double lastLog{1};
    double most{1};

    double X(uint64_t bytes) const
    {
        return LEFT + (RIGHT - LEFT) * (std::log2(static_cast<double>(bytes)) - firstLog) /
                          (lastLog - firstLog);
    }

    double Y(double busbw) const
    {
        return BOTTOM - (BOTTOM - TOP) * busbw / most;
    }
};

void
DrawAxes(const Scale& scale, SvgPicture& picture)
{
    const double step = ChooseStep(scale.most);
    for (double value = 0; value <= scale.most * 1.0001; value += step)
    {
        picture.MarkY(AREA,
                      scale.Y(value),
                      FormatNumber(value, step < 1 ? (step < 0.1 ? 2 : 1) : 0));
    }
    // Lines 1, 2, 5 or 10 powers of two apart, so that 1 KiB, 1 MiB and 1 GiB always have one.
    int wide = 10;
    for (const int distance : {5, 2, 1})
    {
        wide = distance * 8 >= scale.lastLog - scale.firstLog ? distance : wide;
    }
    for (int log = static_cast<int>(std::ceil(scale.firstLog)); log <= scale.lastLog; ++log)
    {
        if (log % wide != 0)
        {
            continue;
        }
        const uint64_t bytes = uint64_t{1} << log;
        picture.MarkX(AREA, scale.X(bytes), FormatPower(bytes));
    }
    picture.DrawLine("axis", LEFT, BOTTOM, RIGHT, BOTTOM);
    picture.DrawLine("axis", LEFT, TOP, LEFT, BOTTOM);
    picture.Write((LEFT + RIGHT) / 2, BOTTOM + 42, "size", Anchor::MIDDLE);
    picture.GetStream() << "<text transform=\"translate(18 " << (TOP + BOTTOM) / 2
                        << ") rotate(-90)\" text-anchor=\"middle\">bus bandwidth (GB/s)</text>\n";
}

/// Draws the measured points, and the legend of both.
void
DrawMeasured(const CollectiveComparison& comparison, const Scale& scale, SvgPicture& picture)
{
    for (const ComparedSize& size : comparison.sizes)
    {
        picture.DrawCircle("measured",
                           scale.X(size.simulated.bytes),
                           scale.Y(size.GetMeasuredBusbwGBps()),
                           3.5);
    }
    picture.DrawCircle("measured", RIGHT - 190, 42, 3.5);
    picture.Write(RIGHT - 180, 46, "measured");
    picture.DrawLine("simulated", RIGHT - 100, 42, RIGHT - 76, 42);
    picture.Write(RIGHT - 70, 46, "simulated");
}

} // namespace

void
WriteComparisonSvg(const CollectiveComparison& comparison, std::ostream& out)
{
    const bool isMeasured = std::any_of(comparison.sizes.begin(),
                                        comparison.sizes.end(),
                                        [](const ComparedSize& s) { return s.measuredUs > 0; });
    SvgPicture picture(out,
                       WIDTH,
                       HEIGHT,
                       comparison.name + (isMeasured ? ": measured and simulated" : ": simulated") +
                           " bus bandwidth over size",
                       STYLE);
    picture.Write(LEFT, 26, comparison.name, Anchor::START, "title");
    picture.Write(LEFT, 46, comparison.system);
    if (comparison.sizes.empty())
    {
        picture.Write((LEFT + RIGHT) / 2, (TOP + BOTTOM) / 2, "not simulated", Anchor::MIDDLE);
        return;
    }
    Scale scale;
    scale.firstLog = std::log2(static_cast<double>(comparison.sizes.front().simulated.bytes));
    scale.lastLog =
        std::max(std::log2(static_cast<double>(comparison.sizes.back().simulated.bytes)),
                 scale.firstLog + 1);
    scale.most = 0;
    for (const ComparedSize& size : comparison.sizes)
    {
        scale.most =
            std::max({scale.most, size.GetMeasuredBusbwGBps(), size.simulated.GetBusbwGBps()});
    }
    const double step = ChooseStep(scale.most);
    scale.most = std::ceil(scale.most / step) * step;
    DrawAxes(scale, picture);
    out << "<polyline class=\"simulated\" points=\"";
    for (const ComparedSize& size : comparison.sizes)
    {
        out << FormatNumber(scale.X(size.simulated.bytes), 1) << ","
            << FormatNumber(scale.Y(size.simulated.GetBusbwGBps()), 1) << " ";
    }
    out << "\"/>\n";
    if (isMeasured)
    {
        DrawMeasured(comparison, scale, picture);
    }
}

} // namespace proteus
} // namespace ns3
