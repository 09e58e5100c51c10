/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-bar-svg.h"

#include "ns3/proteus-markup.h"
#include "proteus-tables.h"

#include <algorithm>
#include <numeric>
#include <sstream>

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

// No variables of CSS: converters to bitmaps do not know them.
const char* const STYLE =
    "<style>\n"
    "text { font: 12px sans-serif; fill: #59636e; } .title { font-size: 15px; font-weight: bold; "
    "fill: #1f2328; }\n"
    ".name { fill: #1f2328; } .paper { fill: #ffffff; } .mark { stroke: #b3261e; stroke-width: "
    "1.5; "
    "stroke-dasharray: 5 3; }\n"
    ".p0 { fill: #4a6c94; } .p1 { fill: #d1590b; } .p2 { fill: #c9485b; } .p3 { fill: #8a9688; } "
    ".p4 { fill: #9a3f8a; }\n"
    "@media (prefers-color-scheme: dark) { text { fill: #9198a1; } .title, .name { fill: #f0f6fc; "
    "} .paper { fill: #0d1117; }\n"
    ".p0 { fill: #8fb0d6; } .p1 { fill: #ff9a52; } .p2 { fill: #f08494; } .p3 { fill: #66785f; } "
    ".p4 { fill: #dd8fd0; } }\n"
    "</style>\n"
    "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
    "<path d=\"M0 6L6 0\" stroke=\"#ffffff\" stroke-opacity=\"0.6\"/></pattern></defs>\n";

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
WriteBox(std::ostream& out, double x, double y, double width, double height, std::size_t part)
{
    for (const bool isTexture : {false, true})
    {
        if (isTexture && part % 2 == 0)
        {
            continue;
        }
        out << "<rect x=\"" << FormatNumber(x, 1) << "\" y=\"" << FormatNumber(y, 1)
            << "\" width=\"" << FormatNumber(width, 1) << "\" height=\"" << FormatNumber(height, 1)
            << (isTexture ? "\" fill=\"url(#hatch)\"/>\n"
                          : "\" class=\"p" + std::to_string(part) + "\"/>\n");
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
    out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << WIDTH << ' '
        << FormatNumber(height, 0) << "\" width=\"" << WIDTH << "\" height=\""
        << FormatNumber(height, 0) << "\" role=\"img\">\n<title>" << EscapeMarkup(chart.title)
        << "</title>\n"
        << STYLE << "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n";
    WriteText(out, 16, 26, "class=\"title\"", chart.title);
    WriteText(out, 16, 46, "", chart.subtitle);
    double x = LEFT;
    for (std::size_t part = 0; part < std::min(chart.parts.size(), PARTS); ++part)
    {
        WriteBox(out, x, 56, 12, 12, part);
        WriteText(out, x + 17, 66, "", chart.parts[part]);
        x += 36 + 6.6 * static_cast<double>(chart.parts[part].size());
    }
    double y = TOP;
    for (std::size_t i = 0; i < chart.bars.size(); ++i)
    {
        for (std::size_t line = 0; line < labels[i].size(); ++line)
        {
            WriteText(out,
                      LEFT - 10,
                      y + 13 + LINE * static_cast<double>(line),
                      "class=\"name\" text-anchor=\"end\"",
                      labels[i][line]);
        }
        double at = LEFT;
        for (std::size_t part = 0; part < std::min(chart.bars[i].parts.size(), PARTS); ++part)
        {
            const double width = chart.bars[i].parts[part] * scale;
            WriteBox(out, at, y, width, BAR, part);
            at += width;
        }
        WriteText(out, at + 7, y + 13, "class=\"name\"", chart.bars[i].text);
        y += std::max(BAR, LINE * static_cast<double>(labels[i].size())) + 10;
    }
    if (chart.mark > 0)
    {
        const std::string at = FormatNumber(LEFT + chart.mark * scale, 1);
        out << "<line class=\"mark\" x1=\"" << at << "\" x2=\"" << at << "\" y1=\"" << TOP - 4
            << "\" y2=\"" << FormatNumber(y, 1) << "\"/>\n";
        WriteText(out, LEFT + chart.mark * scale, y + 10, "text-anchor=\"middle\"", chart.markText);
    }
    out << "</svg>\n";
}

} // namespace proteus
} // namespace ns3
