/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-trial-svg.h"

#include "proteus-tables.h"

#include "ns3/proteus-markup.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace proteus
{

namespace
{

// Of the picture, in pixels.
constexpr double WIDTH = 860;
constexpr double HEIGHT = 560;
constexpr double LEFT = 110;
constexpr double RIGHT = 800;
constexpr double TOP = 84;
constexpr double BOTTOM = 490;
/// Steps of colour, from the least time to the most.
constexpr int COLOURS = 5;

// No variables of CSS: converters to bitmaps do not know them.
const char* const STYLE =
    "<style>\n"
    "text { font: 12px sans-serif; fill: #59636e; } .title { font-size: 15px; font-weight: bold; "
    "fill: #1f2328; }\n"
    ".name { fill: #1f2328; } .paper { fill: #ffffff; } .grid { stroke: #d1d9e0; } .best { fill: "
    "none; stroke: #b3261e; stroke-width: 2; }\n"
    ".c0 { fill: #173a5e; } .c1 { fill: #3a6a99; } .c2 { fill: #6f9bc4; } .c3 { fill: #a6c4e0; } "
    ".c4 { fill: #d6e4f2; } circle { stroke: #59636e; }\n"
    "@media (prefers-color-scheme: dark) { text { fill: #9198a1; } .title, .name { fill: #f0f6fc; "
    "} .paper { fill: #0d1117; } .grid { stroke: #3d444d; } }\n"
    "</style>\n";

/// A logarithmic axis of bytes.
class Axis
{
  public:
    /// @param least bytes @param most bytes @param from pixel of the least @param to of the most
    Axis(double least, double most, double from, double to)
        : m_first(std::floor(std::log2(least))),
          m_last(std::max(std::ceil(std::log2(most)), m_first + 1)),
          m_from(from),
          m_to(to)
    {
    }

    /// @param bytes a value @return its pixel
    double At(double bytes) const
    {
        return m_from + (std::log2(bytes) - m_first) / (m_last - m_first) * (m_to - m_from);
    }

    /// @return powers of two to write at the axis, some eight at most
    std::vector<double> GetMarks() const
    {
        const double step = std::max(1.0, std::ceil((m_last - m_first) / 8));
        std::vector<double> marks;
        for (double power = m_first; power <= m_last; power += step)
        {
            marks.push_back(std::exp2(power));
        }
        return marks;
    }

  private:
    double m_first; //!< power of two
    double m_last;  //!< power of two
    double m_from;
    double m_to;
};

void
WriteText(std::ostream& out,
          double x,
          double y,
          const std::string& attributes,
          const std::string& text)
{
    out << "<text x=\"" << FormatNumber(x, 1) << "\" y=\"" << FormatNumber(y, 1) << "\" "
        << attributes << '>' << EscapeMarkup(text) << "</text>\n";
}

void
WriteLine(std::ostream& out, double x1, double y1, double x2, double y2)
{
    out << "<line class=\"grid\" x1=\"" << FormatNumber(x1, 1) << "\" y1=\"" << FormatNumber(y1, 1)
        << "\" x2=\"" << FormatNumber(x2, 1) << "\" y2=\"" << FormatNumber(y2, 1) << "\"/>\n";
}

void
WriteAxes(const TrialChart& chart, const Axis& x, const Axis& y, std::ostream& out)
{
    for (const double bytes : x.GetMarks())
    {
        WriteLine(out, x.At(bytes), TOP, x.At(bytes), BOTTOM);
        WriteText(out, x.At(bytes), BOTTOM + 18, "text-anchor=\"middle\"", FormatBytes(bytes));
    }
    for (const double bytes : y.GetMarks())
    {
        WriteLine(out, LEFT, y.At(bytes), RIGHT, y.At(bytes));
        WriteText(out, LEFT - 8, y.At(bytes) + 4, "text-anchor=\"end\"", FormatBytes(bytes));
    }
    WriteText(out,
              (LEFT + RIGHT) / 2,
              BOTTOM + 42,
              "class=\"name\" text-anchor=\"middle\"",
              chart.xName);
    WriteText(out, LEFT - 94, TOP - 14, "class=\"name\"", chart.yName);
}

/// @return the extremes of a coordinate of trials
template <typename F>
std::pair<double, double>
FindRange(const std::vector<SvgTrial>& trials, F get)
{
    const auto [least, most] = std::minmax_element(
        trials.begin(),
        trials.end(),
        [get](const SvgTrial& a, const SvgTrial& b) { return get(a) < get(b); });
    return {get(*least), get(*most)};
}

} // namespace

void
WriteTrialSvg(const TrialChart& chart, std::ostream& out)
{
    const auto xs = FindRange(chart.trials, [](const SvgTrial& trial) { return trial.x; });
    const auto ys = FindRange(chart.trials, [](const SvgTrial& trial) { return trial.y; });
    const auto times = FindRange(chart.trials, [](const SvgTrial& trial) { return trial.timeS; });
    const Axis x(xs.first, xs.second, LEFT, RIGHT);
    const Axis y(ys.first, ys.second, BOTTOM, TOP);
    out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << WIDTH << ' ' << HEIGHT
        << "\" width=\"" << WIDTH << "\" height=\"" << HEIGHT << "\" role=\"img\">\n<title>"
        << EscapeMarkup(chart.title) << "</title>\n"
        << STYLE << "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n";
    WriteText(out, 16, 26, "class=\"title\"", chart.title);
    WriteText(out, 16, 46, "", chart.subtitle);
    WriteAxes(chart, x, y, out);
    bool isBestDrawn = false;
    for (const SvgTrial& trial : chart.trials)
    {
        const double share = times.second > times.first
                                 ? (trial.timeS - times.first) / (times.second - times.first)
                                 : 0;
        const int colour = std::min(COLOURS - 1, static_cast<int>(share * COLOURS));
        const std::string centre = "cx=\"" + FormatNumber(x.At(trial.x), 1) + "\" cy=\"" +
                                   FormatNumber(y.At(trial.y), 1) + "\"";
        out << "<circle class=\"c" << colour << "\" " << centre << " r=\"7\"/>\n";
        if (trial.timeS == times.first && !isBestDrawn)
        {
            out << "<circle class=\"best\" " << centre << " r=\"11\"/>\n";
            isBestDrawn = true;
        }
        WriteText(out,
                  x.At(trial.x) + 13,
                  y.At(trial.y) + 4,
                  "class=\"name\"",
                  FormatTime(trial.timeS));
    }
    out << "</svg>\n";
}

} // namespace proteus
} // namespace ns3
