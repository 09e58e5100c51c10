/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-svg-picture.h"

#include "proteus-tables.h"

#include "ns3/proteus-markup.h"

namespace ns3
{
namespace proteus
{

namespace
{

const char* const COMMON_STYLE =
    "text { font: 12px sans-serif; fill: #59636e; }\n"
    ".title { font-size: 15px; font-weight: bold; fill: #1f2328; } .name { fill: #1f2328; }\n"
    ".paper { fill: #ffffff; } .grid { stroke: #d8dee4; }\n"
    "@media (prefers-color-scheme: dark) { text { fill: #9198a1; } .title, .name { fill: #f0f6fc; "
    "} .paper { fill: #0d1117; } .grid { stroke: #30363d; } }\n";

} // namespace

SvgPicture::SvgPicture(std::ostream& out,
                       double width,
                       double height,
                       const std::string& title,
                       const std::string& style)
    : m_out(out)
{
    const std::string w = FormatNumber(width, 0);
    const std::string h = FormatNumber(height, 0);
    m_out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << w << ' ' << h
          << "\" width=\"" << w << "\" height=\"" << h << "\" role=\"img\">\n<title>"
          << EscapeMarkup(title) << "</title>\n<style>\n"
          << COMMON_STYLE << style
          << "</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n";
}

SvgPicture::~SvgPicture()
{
    m_out << "</svg>\n";
}

void
SvgPicture::Write(double x,
                  double y,
                  const std::string& text,
                  Anchor anchor,
                  const std::string& kind)
{
    m_out << "<text" << (kind.empty() ? "" : " class=\"" + kind + '"') << " x=\"" << Coordinate(x)
          << "\" y=\"" << Coordinate(y) << '"'
          << (anchor == Anchor::MIDDLE ? " text-anchor=\"middle\""
              : anchor == Anchor::END  ? " text-anchor=\"end\""
                                       : "")
          << '>' << EscapeMarkup(text) << "</text>\n";
}

void
SvgPicture::DrawLine(const std::string& kind, double x1, double y1, double x2, double y2)
{
    m_out << "<line class=\"" << kind << "\" x1=\"" << Coordinate(x1) << "\" y1=\""
          << Coordinate(y1) << "\" x2=\"" << Coordinate(x2) << "\" y2=\"" << Coordinate(y2)
          << "\"/>\n";
}

void
SvgPicture::MarkX(const Area& area, double x, const std::string& text)
{
    DrawLine("grid", x, area.top, x, area.bottom);
    Write(x, area.bottom + 18, text, Anchor::MIDDLE);
}

void
SvgPicture::MarkY(const Area& area, double y, const std::string& text)
{
    DrawLine("grid", area.left, y, area.right, y);
    Write(area.left - 8, y + 4, text, Anchor::END);
}

void
SvgPicture::DrawCircle(const std::string& kind, double x, double y, double radius)
{
    m_out << "<circle class=\"" << kind << "\" r=\"" << Coordinate(radius) << "\" cx=\""
          << Coordinate(x) << "\" cy=\"" << Coordinate(y) << "\"/>\n";
}

void
SvgPicture::DrawBox(const std::string& fill, double x, double y, double width, double height)
{
    m_out << "<rect " << fill << " x=\"" << Coordinate(x) << "\" y=\"" << Coordinate(y)
          << "\" width=\"" << Coordinate(width) << "\" height=\"" << Coordinate(height) << "\"/>\n";
}

std::ostream&
SvgPicture::GetStream()
{
    return m_out;
}

std::string
SvgPicture::Coordinate(double pixels)
{
    return FormatNumber(pixels, 1);
}

} // namespace proteus
} // namespace ns3
