/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-study-chart.h"

#include "ns3/proteus-markup.h"
#include "ns3/proteus-tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace ns3
{
namespace proteus
{

namespace
{

// Of a picture and of the part of it that the axes enclose.
constexpr double WIDTH = 720;
constexpr double HEIGHT = 320;
constexpr double LEFT = 92;
constexpr double RIGHT = 700;
constexpr double TOP = 30;
constexpr double BOTTOM = 264;
constexpr double BELOW = 20;      //!< from the axis to the labels below it
constexpr double CHARACTER = 6.8; //!< width of one, about

/// Colours of report.css, which do for light and dark.
constexpr std::array<const char*, 8> COLOURS{"--compute",
                                             "--tensor",
                                             "--pipeline",
                                             "--data",
                                             "--embedding",
                                             "--sequence",
                                             "--expert",
                                             "--waiting"};

/// @return the colour of a line
std::string
GetColour(std::size_t line)
{
    return std::string("var(") + COLOURS[line % COLOURS.size()] + ")";
}

/// Values between two ends, on a line of the picture.
struct Scale
{
    double least{0};
    double most{1};
    double from{0}; //!< coordinate of the least
    double to{1};   //!< coordinate of the most

    double At(double value) const
    {
        return from + (to - from) * (value - least) / (most - least);
    }
};

/// @return a scale from nothing, or from near the least where all are close together, to a little
/// above the most
Scale
MakeScale(double least, double most, double from, double to)
{
    const bool isNarrow = least > 0.5 * most;
    const double bottom = isNarrow ? least - 0.25 * (most - least) : std::min(0.0, least);
    const double room = most > bottom ? 0.08 * (most - bottom) : std::abs(most) + 1;
    return {isNarrow && most <= least ? 0.9 * least : bottom, most + room, from, to};
}

/// @return distance of the ticks of a scale
double
ChooseStep(const Scale& scale)
{
    const double raw = (scale.most - scale.least) / 5;
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

std::string
Coordinate(double value)
{
    return FormatNumber(value, 1);
}

void
WriteText(std::ostream& out, double x, double y, const char* anchor, const std::string& text)
{
    out << "<text x=\"" << Coordinate(x) << "\" y=\"" << Coordinate(y) << "\" text-anchor=\""
        << anchor << "\">" << EscapeMarkup(text) << "</text>\n";
}

void
WriteLine(std::ostream& out, double x1, double y1, double x2, double y2)
{
    out << "<line class=\"grid\" x1=\"" << Coordinate(x1) << "\" y1=\"" << Coordinate(y1)
        << "\" x2=\"" << Coordinate(x2) << "\" y2=\"" << Coordinate(y2) << "\"/>\n";
}

void
Open(std::ostream& out, const std::string& title)
{
    out << "<div class=\"scroll\"><svg class=\"chart\" viewBox=\"0 0 " << WIDTH << ' ' << HEIGHT
        << "\" role=\"img\"><title>" << EscapeMarkup(title) << "</title>\n";
}

void
Close(std::ostream& out)
{
    out << "</svg></div>\n";
}

/// @param labels below an axis @param every which of them are written: one in so many
/// @return whether none meets its neighbour
bool
FitBelow(const std::vector<std::string>& labels, std::size_t every)
{
    const double room =
        (RIGHT - LEFT) * static_cast<double>(every) / static_cast<double>(labels.size());
    return std::all_of(labels.begin(), labels.end(), [&](const std::string& label) {
        return (static_cast<double>(label.size()) + 1) * CHARACTER <= room;
    });
}

/// Draws the lines of the scale that goes up.
void
WriteUpward(const Scale& y, const std::string& name, const std::string& unit, std::ostream& out)
{
    const double step = ChooseStep(y);
    for (double tick = std::ceil(y.least / step) * step; tick <= y.most; tick += step)
    {
        WriteLine(out, LEFT, y.At(tick), RIGHT, y.At(tick));
        WriteText(out, LEFT - 8, y.At(tick) + 4, "end", FormatQuantity(tick, unit));
    }
    WriteText(out, LEFT, TOP - 12, "start", name);
}

/// Draws the band and the line of one series.
void
WriteSeries(const ChartLine& line, const Scale& x, const Scale& y, std::size_t i, std::ostream& out)
{
    std::string upper;
    std::string lower;
    std::string middle;
    for (std::size_t p = 0; p < line.values.size(); ++p)
    {
        if (!line.values[p])
        {
            continue;
        }
        const Spread& spread = *line.values[p];
        const std::string at = Coordinate(x.At(static_cast<double>(p)));
        upper += at + "," + Coordinate(y.At(spread.most)) + " ";
        lower = at + "," + Coordinate(y.At(spread.least)) + " " + lower;
        middle += at + "," + Coordinate(y.At(spread.median)) + " ";
        out << "<circle cx=\"" << at << "\" cy=\"" << Coordinate(y.At(spread.median))
            << "\" r=\"3.5\" fill=\"" << GetColour(i) << "\"/>\n";
        if (spread.most > spread.least)
        {
            out << "<line x1=\"" << at << "\" y1=\"" << Coordinate(y.At(spread.least)) << "\" x2=\""
                << at << "\" y2=\"" << Coordinate(y.At(spread.most)) << "\" stroke=\""
                << GetColour(i) << "\" stroke-width=\"1.5\"/>\n";
        }
    }
    out << "<polygon points=\"" << upper << lower << "\" fill=\"" << GetColour(i)
        << "\" opacity=\"0.15\"/>\n<polyline points=\"" << middle << "\" fill=\"none\" stroke=\""
        << GetColour(i) << "\" stroke-width=\"2\"/>\n";
}

} // namespace

std::string
FormatQuantity(double value, const std::string& unit)
{
    constexpr double GIGA = 1e9;
    if (unit == "s")
    {
        return value == 0 ? "0" : FormatTime(value);
    }
    if (unit == "B/s")
    {
        return FormatNumber(value / GIGA, 2) + " GB/s";
    }
    if (unit == "B")
    {
        return FormatBytes(value);
    }
    if (unit == "share")
    {
        return FormatPercent(value);
    }
    if (unit.empty() && value == std::floor(value) && value >= 0 && value < 1e15)
    {
        return FormatCount(static_cast<uint64_t>(value));
    }
    char text[32];
    std::snprintf(text, sizeof(text), "%.5g", value);
    return text + (unit.empty() ? "" : " " + unit);
}

void
WriteLineChart(const std::string& name,
               const std::vector<std::string>& labels,
               const std::string& measure,
               const std::string& unit,
               const std::vector<ChartLine>& lines,
               std::ostream& out)
{
    double least = HUGE_VAL;
    double most = -HUGE_VAL;
    for (const ChartLine& line : lines)
    {
        for (const auto& value : line.values)
        {
            least = value ? std::min(least, value->least) : least;
            most = value ? std::max(most, value->most) : most;
        }
    }
    const Scale y = MakeScale(least, most, BOTTOM, TOP);
    const double margin = (RIGHT - LEFT) / (2 * static_cast<double>(labels.size()));
    const Scale x{0,
                  std::max(1.0, static_cast<double>(labels.size()) - 1),
                  LEFT + margin,
                  labels.size() > 1 ? RIGHT - margin : RIGHT};
    Open(out, measure + " over " + name);
    WriteUpward(y, measure, unit, out);
    const std::size_t every = labels.size() / 12 + 1;
    const bool isNumbered = !FitBelow(labels, every);
    for (std::size_t i = 0; i < labels.size(); i += isNumbered ? 1 : every)
    {
        WriteText(out,
                  x.At(static_cast<double>(i)),
                  BOTTOM + BELOW,
                  "middle",
                  isNumbered ? std::to_string(i + 1) : labels[i]);
    }
    WriteText(out, (LEFT + RIGHT) / 2, BOTTOM + 2.2 * BELOW, "middle", name);
    for (std::size_t i = 0; i < lines.size(); ++i)
    {
        WriteSeries(lines[i], x, y, i, out);
    }
    Close(out);
    if (isNumbered)
    {
        out << "<ol class=\"labels\">";
        for (const std::string& label : labels)
        {
            out << "<li>" << EscapeMarkup(label) << "</li>";
        }
        out << "</ol>\n";
    }
    if (lines.size() > 1)
    {
        out << "<ul class=\"legend\">";
        for (std::size_t i = 0; i < lines.size(); ++i)
        {
            out << "<li style=\"--swatch: " << GetColour(i) << "\">" << EscapeMarkup(lines[i].name)
                << "</li>";
        }
        out << "</ul>\n";
    }
}

void
WriteDotChart(const std::string& xName,
              const std::string& xUnit,
              const std::string& yName,
              const std::string& yUnit,
              const std::vector<ChartDot>& dots,
              std::ostream& out)
{
    double least[2] = {HUGE_VAL, HUGE_VAL};
    double most[2] = {-HUGE_VAL, -HUGE_VAL};
    for (const ChartDot& dot : dots)
    {
        least[0] = std::min(least[0], dot.x);
        most[0] = std::max(most[0], dot.x);
        least[1] = std::min(least[1], dot.y.least);
        most[1] = std::max(most[1], dot.y.most);
    }
    const Scale x = MakeScale(least[0], most[0], LEFT, RIGHT);
    const Scale y = MakeScale(least[1], most[1], BOTTOM, TOP);
    Open(out, yName + " against " + xName);
    WriteUpward(y, yName, yUnit, out);
    const double step = ChooseStep(x);
    for (double tick = std::ceil(x.least / step) * step; tick <= x.most; tick += step)
    {
        WriteText(out, x.At(tick), BOTTOM + BELOW, "middle", FormatQuantity(tick, xUnit));
    }
    WriteText(out, (LEFT + RIGHT) / 2, BOTTOM + 2.2 * BELOW, "middle", xName);
    std::string front;
    for (const ChartDot& dot : dots)
    {
        const std::string place = Coordinate(x.At(dot.x)) + "," + Coordinate(y.At(dot.y.median));
        front += dot.isOnFront ? place + " " : "";
        const std::string colour = GetColour(dot.isOnFront ? 1 : 0);
        out << "<line x1=\"" << Coordinate(x.At(dot.x)) << "\" y1=\""
            << Coordinate(y.At(dot.y.least)) << "\" x2=\"" << Coordinate(x.At(dot.x)) << "\" y2=\""
            << Coordinate(y.At(dot.y.most)) << "\" stroke=\"" << colour << "\"/>\n<circle cx=\""
            << Coordinate(x.At(dot.x)) << "\" cy=\"" << Coordinate(y.At(dot.y.median))
            << "\" r=\"5\" fill=\"" << colour << "\"><title>"
            << EscapeMarkup(dot.name + ": " + FormatQuantity(dot.y.median, yUnit) + ", " +
                            FormatQuantity(dot.x, xUnit))
            << "</title></circle>\n";
    }
    out << "<polyline points=\"" << front << "\" fill=\"none\" stroke=\"" << GetColour(1)
        << "\" stroke-width=\"1.5\" stroke-dasharray=\"5 4\"/>\n";
    Close(out);
}

} // namespace proteus
} // namespace ns3
