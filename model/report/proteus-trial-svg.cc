/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-trial-svg.h"

#include "proteus-svg-picture.h"
#include "proteus-tables.h"

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
constexpr SvgPicture::Area AREA{LEFT, RIGHT, TOP, BOTTOM};
/// Steps of colour, from the least time to the most.
constexpr int COLOURS = 5;

const char* const STYLE =
    ".best { fill: none; stroke: #b3261e; stroke-width: 2; }\n"
    ".c0 { fill: #173a5e; } .c1 { fill: #3a6a99; } .c2 { fill: #6f9bc4; } .c3 { fill: #a6c4e0; } "
    ".c4 { fill: #d6e4f2; } circle { stroke: #59636e; }\n";

using Anchor = SvgPicture::Anchor;

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
DrawAxes(const TrialChart& chart, const Axis& x, const Axis& y, SvgPicture& picture)
{
    for (const double bytes : x.GetMarks())
    {
        picture.MarkX(AREA, x.At(bytes), FormatBytes(bytes));
    }
    for (const double bytes : y.GetMarks())
    {
        picture.MarkY(AREA, y.At(bytes), FormatBytes(bytes));
    }
    picture.Write((LEFT + RIGHT) / 2, BOTTOM + 42, chart.xName, Anchor::MIDDLE, "name");
    picture.Write(LEFT - 94, TOP - 14, chart.yName, Anchor::START, "name");
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
    SvgPicture picture(out, WIDTH, HEIGHT, chart.title, STYLE);
    picture.Write(16, 26, chart.title, Anchor::START, "title");
    picture.Write(16, 46, chart.subtitle);
    DrawAxes(chart, x, y, picture);
    bool isBestDrawn = false;
    for (const SvgTrial& trial : chart.trials)
    {
        const double share = times.second > times.first
                                 ? (trial.timeS - times.first) / (times.second - times.first)
                                 : 0;
        const int colour = std::min(COLOURS - 1, static_cast<int>(share * COLOURS));
        const double atX = x.At(trial.x);
        const double atY = y.At(trial.y);
        picture.DrawCircle("c" + std::to_string(colour), atX, atY, 7);
        if (trial.timeS == times.first && !isBestDrawn)
        {
            picture.DrawCircle("best", atX, atY, 11);
            isBestDrawn = true;
        }
        picture.Write(atX + 13, atY + 4, FormatTime(trial.timeS), Anchor::START, "name");
    }
}

} // namespace proteus
} // namespace ns3
