/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-bar-svg.h"

#include "proteus-svg-picture.h"
#include "proteus-tables.h"

#include <algorithm>
#include <numeric>

namespace ns3
{
namespace proteus
{

namespace
{

// Of the picture, in pixels.
constexpr double WIDTH = 860;
constexpr double LEFT = 260;
constexpr double RIGHT = 720;
constexpr double TOP = 84;
constexpr double BAR = 18;
constexpr double LINE = 14;
constexpr std::size_t LABEL_LETTERS = 38;
constexpr std::size_t PARTS = 5;

const char* const STYLE =
    ".mark { stroke: #b3261e; stroke-width: 1.5; stroke-dasharray: 5 3; }\n"
    ".p0 { fill: #4a6c94; } .p1 { fill: #d1590b; } .p2 { fill: #c9485b; } .p3 { fill: #8a9688; } "
    ".p4 { fill: #9a3f8a; }\n"
    "@media (prefers-color-scheme: dark) {\n"
    ".p0 { fill: #8fb0d6; } .p1 { fill: #ff9a52; } .p2 { fill: #f08494; } .p3 { fill: #66785f; } "
    ".p4 { fill: #dd8fd0; } }\n";
const char* const PATTERN =
    "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
    "<path d=\"M0 6L6 0\" stroke=\"#ffffff\" stroke-opacity=\"0.6\"/></pattern></defs>\n";

using Anchor = SvgPicture::Anchor;

/// @param text a label @return its lines, at most three, the last one cut
std::vector<std::string>
Wrap(const std::string& text)
{
    std::vector<std::string> lines;
    std::string line;
    const auto add = [&](const std::string& word) {
        if (!line.empty() && line.size() + word.size() > LABEL_LETTERS)
        {
            lines.push_back(line);
            line.clear();
        }
        line += word;
    };
    std::string word;
    for (const char c : text)
    {
        word += c;
        if (c == ' ' || c == ',' || c == '+' || word.size() >= LABEL_LETTERS)
        {
            add(word);
            word.clear();
        }
    }
    add(word);
    lines.push_back(line);
    return lines;
}

/// Draws a part of a bar; every second one has a texture, too.
void
DrawPart(SvgPicture& picture, double x, double y, double width, double height, std::size_t part)
{
    picture.DrawBox("class=\"p" + std::to_string(part) + '"', x, y, width, height);
    if (part % 2 == 1)
    {
        picture.DrawBox("fill=\"url(#hatch)\"", x, y, width, height);
    }
}

double
Sum(const std::vector<double>& parts)
{
    return std::accumulate(parts.begin(), parts.end(), 0.0);
}

} // namespace

void
WriteBarSvg(const BarChart& chart, std::ostream& out)
{
    double most = chart.mark;
    double height = TOP;
    std::vector<std::vector<std::string>> labels;
    for (const SvgBar& bar : chart.bars)
    {
        most = std::max(most, Sum(bar.parts));
        labels.push_back(Wrap(bar.label));
        height += std::max(BAR, LINE * static_cast<double>(labels.back().size())) + 10;
    }
    const double scale = most > 0 ? (RIGHT - LEFT) / most : 0;
    height += 14;
    SvgPicture picture(out, WIDTH, height, chart.title, STYLE);
    out << PATTERN;
    picture.Write(16, 26, chart.title, Anchor::START, "title");
    picture.Write(16, 46, chart.subtitle);
    double x = LEFT;
    for (std::size_t part = 0; part < std::min(chart.parts.size(), PARTS); ++part)
    {
        DrawPart(picture, x, 56, 12, 12, part);
        picture.Write(x + 17, 66, chart.parts[part]);
        x += 36 + 6.6 * static_cast<double>(chart.parts[part].size());
    }
    double y = TOP;
    for (std::size_t i = 0; i < chart.bars.size(); ++i)
    {
        for (std::size_t line = 0; line < labels[i].size(); ++line)
        {
            picture.Write(LEFT - 10,
                          y + 13 + LINE * static_cast<double>(line),
                          labels[i][line],
                          Anchor::END,
                          "name");
        }
        double at = LEFT;
        for (std::size_t part = 0; part < std::min(chart.bars[i].parts.size(), PARTS); ++part)
        {
            const double width = chart.bars[i].parts[part] * scale;
            DrawPart(picture, at, y, width, BAR, part);
            at += width;
        }
        picture.Write(at + 7, y + 13, chart.bars[i].text, Anchor::START, "name");
        y += std::max(BAR, LINE * static_cast<double>(labels[i].size())) + 10;
    }
    if (chart.mark > 0)
    {
        const double at = LEFT + chart.mark * scale;
        picture.DrawLine("mark", at, TOP - 4, at, y);
        picture.Write(at, y + 10, chart.markText, Anchor::MIDDLE);
    }
}

} // namespace proteus
} // namespace ns3
