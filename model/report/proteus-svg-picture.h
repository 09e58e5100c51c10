/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SVG_PICTURE_H
#define PROTEUS_SVG_PICTURE_H

#include <ostream>
#include <string>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * A picture as SVG, on paper that is light or dark as the reader's screen. Coordinates are pixels
 * from the upper left. Classes "title" and "name" of texts, and "grid" of lines, have a style;
 * others get theirs from the picture.
 */
class SvgPicture
{
  public:
    /**
     * Writes all that stands before the shapes.
     * @param out where to
     * @param width pixels
     * @param height pixels
     * @param title for those who hear it
     * @param style rules of CSS for classes of this picture, without variables, which converters to
     * bitmaps do not know
     */
    SvgPicture(std::ostream& out,
               double width,
               double height,
               const std::string& title,
               const std::string& style);

    /// Ends the picture.
    ~SvgPicture();

    SvgPicture(const SvgPicture&) = delete;
    SvgPicture& operator=(const SvgPicture&) = delete;

    /// Where a text stands at its coordinate.
    enum class Anchor
    {
        START,
        MIDDLE,
        END
    };

    /// @param x pixels @param y pixels, of the base line @param text as people read it
    /// @param anchor what of the text is at x @param kind class, may be empty
    void Write(double x,
               double y,
               const std::string& text,
               Anchor anchor = Anchor::START,
               const std::string& kind = "");

    /// @param kind class @param x1 pixels @param y1 pixels @param x2 pixels @param y2 pixels
    void DrawLine(const std::string& kind, double x1, double y1, double x2, double y2);

    /// Where a chart lies, pixels.
    struct Area
    {
        double left;
        double right;
        double top;
        double bottom;
    };

    /// Draws a line up a chart, with a text below it. @param area of the chart @param x pixels
    /// @param text as people read it
    void MarkX(const Area& area, double x, const std::string& text);

    /// Draws a line across a chart, with a text to the left of it. @param area of the chart
    /// @param y pixels @param text as people read it
    void MarkY(const Area& area, double y, const std::string& text);

    /// @param kind class @param x pixels, of the centre @param y pixels @param radius pixels
    void DrawCircle(const std::string& kind, double x, double y, double radius);

    /// @param fill attribute that says how it is filled, e.g. class="p0" @param x pixels, left
    /// @param y pixels, top @param width pixels @param height pixels
    void DrawBox(const std::string& fill, double x, double y, double width, double height);

    /// @return where to write what has no function here
    std::ostream& GetStream();

    /// @param pixels a coordinate @return it as pictures have it
    static std::string Coordinate(double pixels);

  private:
    std::ostream& m_out;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SVG_PICTURE_H
