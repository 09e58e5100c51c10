/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-comparison.h"
#include "proteus-tables.h"

#include "ns3/proteus-markup.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

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

// No variables of CSS: converters to bitmaps do not know them.
const char* const STYLE =
    "<style>\n"
    "text { font: 12px sans-serif; fill: #59636e; }\n"
    ".title { font-size: 15px; font-weight: bold; fill: #1f2328; }\n"
    ".grid { stroke: #d8dee4; stroke-width: 1; }\n"
    ".axis { stroke: #59636e; stroke-width: 1; }\n"
    ".measured { fill: #ffffff; stroke: #1f2328; stroke-width: 1.6; }\n"
    ".simulated { fill: none; stroke: #0969da; stroke-width: 2; }\n"
    ".paper { fill: #ffffff; }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "text { fill: #9198a1; } .title { fill: #f0f6fc; } .grid { stroke: #30363d; }\n"
    ".axis { stroke: #9198a1; } .measured { fill: #0d1117; stroke: #f0f6fc; }\n"
    ".simulated { stroke: #58a6ff; } .paper { fill: #0d1117; } }\n"
    "</style>\n";

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
WriteText(std::ostream& out, double x, double y, const char* anchor, const std::string& text)
{
    out << "<text x=\"" << FormatNumber(x, 1) << "\" y=\"" << FormatNumber(y, 1)
        << "\" text-anchor=\"" << anchor << "\">" << EscapeMarkup(text) << "</text>\n";
}

void
WriteLine(std::ostream& out, const char* kind, double x1, double y1, double x2, double y2)
{
    out << "<line class=\"" << kind << "\" x1=\"" << FormatNumber(x1, 1) << "\" y1=\""
        << FormatNumber(y1, 1) << "\" x2=\"" << FormatNumber(x2, 1) << "\" y2=\""
        << FormatNumber(y2, 1) << "\"/>\n";
}

void
WriteAxes(const Scale& scale, std::ostream& out)
{
    const double step = ChooseStep(scale.most);
    for (double value = 0; value <= scale.most * 1.0001; value += step)
    {
        WriteLine(out, "grid", LEFT, scale.Y(value), RIGHT, scale.Y(value));
        WriteText(out,
                  LEFT - 8,
                  scale.Y(value) + 4,
                  "end",
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
        WriteLine(out, "grid", scale.X(bytes), TOP, scale.X(bytes), BOTTOM);
        WriteText(out, scale.X(bytes), BOTTOM + 18, "middle", FormatPower(bytes));
    }
    WriteLine(out, "axis", LEFT, BOTTOM, RIGHT, BOTTOM);
    WriteLine(out, "axis", LEFT, TOP, LEFT, BOTTOM);
    WriteText(out, (LEFT + RIGHT) / 2, BOTTOM + 42, "middle", "size");
    out << "<text transform=\"translate(18 " << (TOP + BOTTOM) / 2
        << ") rotate(-90)\" text-anchor=\"middle\">bus bandwidth (GB/s)</text>\n";
}

/// Draws the measured points, and the legend of both.
void
WriteMeasured(const CollectiveComparison& comparison, const Scale& scale, std::ostream& out)
{
    for (const ComparedSize& size : comparison.sizes)
    {
        out << "<circle class=\"measured\" r=\"3.5\" cx=\""
            << FormatNumber(scale.X(size.simulated.bytes), 1) << "\" cy=\""
            << FormatNumber(scale.Y(size.GetMeasuredBusbwGBps()), 1) << "\"/>\n";
    }
    out << "<circle class=\"measured\" r=\"3.5\" cx=\"" << RIGHT - 190 << "\" cy=\"42\"/>\n";
    WriteText(out, RIGHT - 180, 46, "start", "measured");
    WriteLine(out, "simulated", RIGHT - 100, 42, RIGHT - 76, 42);
    WriteText(out, RIGHT - 70, 46, "start", "simulated");
}

} // namespace

void
WriteComparisonSvg(const CollectiveComparison& comparison, std::ostream& out)
{
    const bool isMeasured = std::any_of(comparison.sizes.begin(),
                                        comparison.sizes.end(),
                                        [](const ComparedSize& s) { return s.measuredUs > 0; });
    out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << WIDTH << " " << HEIGHT
        << "\" role=\"img\">\n<title>" << EscapeMarkup(comparison.name)
        << (isMeasured ? ": measured and simulated" : ": simulated")
        << " bus bandwidth over size</title>\n"
        << STYLE << "<rect class=\"paper\" width=\"" << WIDTH << "\" height=\"" << HEIGHT
        << "\"/>\n<text class=\"title\" x=\"" << LEFT << "\" y=\"26\">" << EscapeMarkup(comparison.name)
        << "</text>\n";
    WriteText(out, LEFT, 46, "start", comparison.system);
    if (comparison.sizes.empty())
    {
        WriteText(out, (LEFT + RIGHT) / 2, (TOP + BOTTOM) / 2, "middle", "not simulated");
        out << "</svg>\n";
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
    WriteAxes(scale, out);
    out << "<polyline class=\"simulated\" points=\"";
    for (const ComparedSize& size : comparison.sizes)
    {
        out << FormatNumber(scale.X(size.simulated.bytes), 1) << ","
            << FormatNumber(scale.Y(size.simulated.GetBusbwGBps()), 1) << " ";
    }
    out << "\"/>\n";
    if (isMeasured)
    {
        WriteMeasured(comparison, scale, out);
    }
    out << "</svg>\n";
}

} // namespace proteus
} // namespace ns3
