/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-front-svg.h"

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
constexpr double LEFT = 110;
constexpr double RIGHT = 800;
constexpr double TOP = 84;
constexpr double BOTTOM = 430;
constexpr SvgPicture::Area AREA{LEFT, RIGHT, TOP, BOTTOM};
constexpr double LINE = 18; //!< of a name

const char* const STYLE = ".dot { fill: #a6c4e0; stroke: #59636e; }\n"
                          ".front { fill: #b3261e; stroke: #b3261e; stroke-width: 1.5; }\n";

using Anchor = SvgPicture::Anchor;

/// An axis from a round number below all values to one above.
class Axis
{
  public:
    Axis(double least, double most, double from, double to)
        : m_from(from),
          m_to(to)
    {
        constexpr double MARKS = 6;
        const double range = most > least ? most - least : std::max(most, 1e-12);
        const double power = std::pow(10, std::floor(std::log10(range / MARKS)));
        for (const double factor : {1.0, 2.0, 5.0, 10.0})
        {
            m_step = factor * power;
            if (m_step * MARKS >= range)
            {
                break;
            }
        }
        m_first = std::floor(least / m_step);
        m_last = std::max(std::ceil(most / m_step), m_first + 1);
    }

    /// @param value any @return its pixel
    double At(double value) const
    {
        return m_from + (value / m_step - m_first) / (m_last - m_first) * (m_to - m_from);
    }

    /// @return values to write at the axis
    std::vector<double> GetMarks() const
    {
        std::vector<double> marks;
        for (double i = m_first; i <= m_last; ++i)
        {
            marks.push_back(i * m_step);
        }
        return marks;
    }

  private:
    double m_from;
    double m_to;
    double m_step{1};
    double m_first{0}; //!< in steps
    double m_last{1};  //!< in steps
};

void
DrawAxes(const Axis& x, const Axis& y, SvgPicture& picture)
{
    for (const double bytes : x.GetMarks())
    {
        picture.MarkX(AREA, x.At(bytes), FormatBytes(bytes));
    }
    for (const double seconds : y.GetMarks())
    {
        picture.MarkY(AREA, y.At(seconds), FormatTime(seconds));
    }
    picture.Write((LEFT + RIGHT) / 2,
                  BOTTOM + 40,
                  "memory of the fullest GPU",
                  Anchor::MIDDLE,
                  "name");
    picture.Write(16, TOP - 14, "iteration", Anchor::START, "name");
}

/// @return the dots on the front, by memory
std::vector<FrontDot>
ListFront(const FrontChart& chart)
{
    std::vector<FrontDot> front;
    std::copy_if(chart.dots.begin(),
                 chart.dots.end(),
                 std::back_inserter(front),
                 [](const FrontDot& dot) { return dot.isOnFront; });
    std::stable_sort(front.begin(), front.end(), [](const FrontDot& a, const FrontDot& b) {
        return a.bytes < b.bytes;
    });
    return front;
}

/// @param get a coordinate of dots @return the axis that has all of them
template <typename F>
Axis
MakeAxis(const FrontChart& chart, double from, double to, F get)
{
    const auto [least, most] = std::minmax_element(
        chart.dots.begin(),
        chart.dots.end(),
        [get](const FrontDot& a, const FrontDot& b) { return get(a) < get(b); });
    return Axis(get(*least), get(*most), from, to);
}

} // namespace

void
WriteFrontSvg(const FrontChart& chart, std::ostream& out)
{
    const Axis x = MakeAxis(chart, LEFT, RIGHT, [](const FrontDot& dot) { return dot.bytes; });
    const Axis y = MakeAxis(chart, BOTTOM, TOP, [](const FrontDot& dot) { return dot.seconds; });
    const std::vector<FrontDot> front = ListFront(chart);
    const double height = BOTTOM + 70 + LINE * static_cast<double>(front.size());
    SvgPicture picture(out, WIDTH, height, chart.title, STYLE);
    picture.Write(16, 26, chart.title, Anchor::START, "title");
    picture.Write(16, 46, chart.subtitle);
    DrawAxes(x, y, picture);
    for (const FrontDot& dot : chart.dots)
    {
        if (!dot.isOnFront)
        {
            picture.DrawCircle("dot", x.At(dot.bytes), y.At(dot.seconds), 5);
        }
    }
    for (std::size_t i = 0; i < front.size(); ++i)
    {
        const double atX = x.At(front[i].bytes);
        const double atY = y.At(front[i].seconds);
        if (i > 0)
        {
            picture.DrawLine("front",
                             x.At(front[i - 1].bytes),
                             y.At(front[i - 1].seconds),
                             atX,
                             atY);
        }
        picture.DrawCircle("front", atX, atY, 6);
        picture.Write(atX + 9, atY - 7, std::to_string(i + 1), Anchor::START, "name");
        picture.Write(16,
                      BOTTOM + 70 + LINE * static_cast<double>(i),
                      std::to_string(i + 1) + ": " + FormatTime(front[i].seconds) + ", " +
                          FormatBytes(front[i].bytes) + ": " + front[i].name);
    }
}

} // namespace proteus
} // namespace ns3
