/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-page.h"

#include "proteus-resources.h"

#include "ns3/proteus-markup.h"

namespace ns3
{
namespace proteus
{

namespace
{

/// Of these pages alone, after the style of reports.
const char* const STYLE = R"(
svg.chart { width: 100%; min-width: 34rem; max-width: 60rem; height: auto; }
ol.labels { color: var(--quiet); font-size: .85rem; }
svg.chart text { font: 12px system-ui, sans-serif; fill: var(--quiet); }
svg.chart .grid { stroke: var(--line); stroke-width: 1; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: left; }
td:first-child { min-width: 8rem; }
)";

} // namespace

void
BeginPage(const std::string& title,
          const std::string& kind,
          const std::vector<std::string>& words,
          std::ostream& out)
{
    out << "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
           "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>"
        << EscapeMarkup(title) << "</title>\n<style>\n"
        << GetResource("report.css") << STYLE << "</style>\n</head>\n<body>\n<header><p "
        << "class=\"kind\">" << EscapeMarkup(kind) << "</p>\n<h1>" << EscapeMarkup(title)
        << "</h1></header>\n<main>\n";
    WriteSentences(words, out);
}

void
WriteSentences(const std::vector<std::string>& words, std::ostream& out)
{
    out << "<ul class=\"words\">\n";
    for (const std::string& sentence : words)
    {
        out << "<li>" << EscapeMarkup(sentence) << "</li>\n";
    }
    out << "</ul>\n";
}

void
WriteNotes(const std::vector<std::string>& notes, std::ostream& out)
{
    if (!notes.empty())
    {
        out << "<h2 id=\"notes\">Notes</h2>\n";
        WriteSentences(notes, out);
    }
}

void
EndPage(std::ostream& out)
{
    out << "</main>\n</body>\n</html>\n";
}

void
WriteMarkupTable(const std::vector<std::string>& head,
                 const std::vector<std::vector<std::string>>& rows,
                 std::ostream& out)
{
    out << "<div class=\"scroll\"><table><thead><tr>";
    for (const std::string& name : head)
    {
        out << "<th>" << EscapeMarkup(name) << "</th>";
    }
    out << "</tr></thead><tbody>\n";
    for (const auto& row : rows)
    {
        out << "<tr>";
        for (const std::string& cell : row)
        {
            out << "<td>" << EscapeMarkup(cell) << "</td>";
        }
        out << "</tr>\n";
    }
    out << "</tbody></table></div>\n";
}

} // namespace proteus
} // namespace ns3
