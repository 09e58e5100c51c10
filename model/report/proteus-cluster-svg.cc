/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-cluster-svg.h"

#include "proteus-tables.h"

#include "ns3/proteus-markup.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double WIDTH = 1200;
constexpr double ROW = 130; //!< from level to level
constexpr double MARGIN = 30;
constexpr double BOX = 34;       //!< height of a box
constexpr double WIDEST = 110;   //!< width of a box
constexpr double NARROWEST = 34; //!< that a name fits into
constexpr double LETTER = 6.2;   //!< width of one
constexpr double GIGA = 1e9;

/// A box: a server or a switch.
struct Box
{
    std::string name;
    std::string text; //!< shown when it is pointed at
    uint32_t level{0};
    double x{0};
    double y{0};
    double width{0};
};

std::string
Coordinate(double value)
{
    return FormatNumber(value, 1);
}

/// A cluster as boxes and lines.
class Drawing
{
  public:
    explicit Drawing(const Cluster& cluster)
        : m_cluster(cluster),
          m_boxOf(cluster.GetVertices().size(), NO_BOX)
    {
        AddServers();
        AddSwitches();
        Place();
        AddLines();
    }

    void Write(std::ostream& out) const
    {
        const double height = 2 * MARGIN + BOX + m_levels * ROW + 20;
        out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << WIDTH << ' ' << height
            << "\">\n<title>" << EscapeMarkup(m_cluster.GetName()) << "</title>\n<style>\n"
            << "svg { --ink: #1f2328; --line: #57606a; --paper: #ffffff; --box: #dbe9f9; "
               "--switch: #fde3c8; }\n@media (prefers-color-scheme: dark) { svg { --ink: #f0f6fc; "
               "--line: #9198a1; --paper: #0d1117; --box: #23405f; --switch: #5f3b1c; } }\n"
               ".paper { fill: var(--paper); } text { font: 11px sans-serif; fill: var(--ink); "
               "text-anchor: middle; }\nrect.server { fill: var(--box); stroke: var(--line); } "
               "rect.switch { fill: var(--switch); stroke: var(--line); }\nline { stroke: "
               "var(--line); opacity: 0.6; }\n</style>\n<rect class=\"paper\" width=\"100%\" "
               "height=\"100%\"/>\n";
        for (const auto& [ends, rate] : m_lines)
        {
            WriteLine(m_boxes[ends.first], m_boxes[ends.second], rate, out);
        }
        for (std::size_t i = 0; i < m_boxes.size(); ++i)
        {
            WriteBox(m_boxes[i], i < m_nServers, out);
        }
        out << "<text x=\"" << WIDTH / 2 << "\" y=\"" << height - 8 << "\">"
            << EscapeMarkup(m_cluster.GetName()) << "</text>\n</svg>\n";
    }

  private:
    static constexpr std::size_t NO_BOX = static_cast<std::size_t>(-1);

    void AddServers()
    {
        std::map<int32_t, std::map<std::string, uint32_t>> contents;
        for (VertexId id = 0; id < m_boxOf.size(); ++id)
        {
            const Vertex& vertex = m_cluster.GetVertices()[id];
            if (vertex.server >= 0)
            {
                m_boxOf[id] = static_cast<std::size_t>(vertex.server);
                ++contents[vertex.server]
                          [vertex.kind == VertexKind::GPU ? vertex.model : ToString(vertex.kind)];
            }
        }
        for (const auto& [server, kinds] : contents)
        {
            Box box{"n" + std::to_string(server), "server " + std::to_string(server) + ":"};
            for (const auto& [kind, count] : kinds)
            {
                box.text += " " + std::to_string(count) + " " + kind;
            }
            m_boxes.push_back(box);
        }
        m_nServers = m_boxes.size();
    }

    void AddSwitches()
    {
        std::vector<VertexId> left;
        for (VertexId id = 0; id < m_boxOf.size(); ++id)
        {
            if (m_boxOf[id] == NO_BOX)
            {
                left.push_back(id);
            }
        }
        for (uint32_t level = 1; !left.empty(); ++level)
        {
            std::vector<VertexId> next;
            const std::size_t before = m_boxes.size();
            std::vector<std::pair<VertexId, std::size_t>> added;
            for (const VertexId id : left)
            {
                const auto& ports = m_cluster.GetPorts(id);
                const bool isHere = std::any_of(ports.begin(), ports.end(), [&](const Port& port) {
                    return m_boxOf[port.neighbor] != NO_BOX;
                });
                if (isHere || ports.empty())
                {
                    added.emplace_back(id, m_boxes.size());
                    m_boxes.push_back({m_cluster.GetVertices()[id].name,
                                       m_cluster.GetVertices()[id].name + ": " +
                                           std::to_string(ports.size()) + " links",
                                       level});
                    m_levels = level;
                }
                else
                {
                    next.push_back(id);
                }
            }
            for (const auto& [id, box] : added)
            {
                m_boxOf[id] = box;
            }
            if (m_boxes.size() == before)
            {
                break; // joined with nothing that is drawn
            }
            left = std::move(next);
        }
    }

    void Place()
    {
        std::map<uint32_t, uint32_t> counts;
        for (const Box& box : m_boxes)
        {
            ++counts[box.level];
        }
        std::map<uint32_t, uint32_t> next;
        for (Box& box : m_boxes)
        {
            const double room = (WIDTH - 2 * MARGIN) / counts[box.level];
            box.width = std::max(2.0, std::min(WIDEST, 0.85 * room));
            box.x = MARGIN + (next[box.level]++ + 0.5) * room;
            box.y = MARGIN + (m_levels - box.level) * ROW;
        }
    }

    void AddLines()
    {
        for (const Link& link : m_cluster.GetLinks())
        {
            const std::size_t a = m_boxOf[link.a];
            const std::size_t b = m_boxOf[link.b];
            if (a != b && a != NO_BOX && b != NO_BOX)
            {
                m_lines[{std::min(a, b), std::max(a, b)}] += link.bytesPerSecond;
            }
        }
        for (const auto& [ends, rate] : m_lines)
        {
            m_mostRate = std::max(m_mostRate, rate);
        }
    }

    void WriteLine(const Box& a, const Box& b, double rate, std::ostream& out) const
    {
        const double above = a.level == b.level ? 0 : BOX;
        const Box& lower = a.level < b.level ? a : b;
        const Box& upper = a.level < b.level ? b : a;
        out << "<line x1=\"" << Coordinate(lower.x) << "\" y1=\"" << Coordinate(lower.y)
            << "\" x2=\"" << Coordinate(upper.x) << "\" y2=\"" << Coordinate(upper.y + above)
            << "\" stroke-width=\"" << Coordinate(std::max(0.5, 5 * rate / m_mostRate))
            << "\"><title>" << EscapeMarkup(a.name + " - " + b.name) << ", "
            << FormatNumber(rate / GIGA, 1) << " GB/s</title></line>\n";
    }

    static void WriteBox(const Box& box, bool isServer, std::ostream& out)
    {
        out << "<rect class=\"" << (isServer ? "server" : "switch") << "\" x=\""
            << Coordinate(box.x - box.width / 2) << "\" y=\"" << Coordinate(box.y) << "\" width=\""
            << Coordinate(box.width) << "\" height=\"" << BOX << "\" rx=\"3\"><title>"
            << EscapeMarkup(box.text) << "</title></rect>\n";
        if (box.width >= NARROWEST || LETTER * static_cast<double>(box.name.size()) < box.width)
        {
            const auto room = static_cast<std::size_t>(box.width / LETTER);
            const std::string name =
                box.name.size() <= room ? box.name : box.name.substr(0, room - 1) + "…";
            out << "<text x=\"" << Coordinate(box.x) << "\" y=\"" << Coordinate(box.y + 21) << "\">"
                << EscapeMarkup(name) << "</text>\n";
        }
    }

    const Cluster& m_cluster;
    std::vector<std::size_t> m_boxOf; //!< by vertex
    std::vector<Box> m_boxes;         //!< servers, then switches
    std::size_t m_nServers{0};
    uint32_t m_levels{0};                                          //!< of switches
    std::map<std::pair<std::size_t, std::size_t>, double> m_lines; //!< rate by boxes
    double m_mostRate{1};
};

} // namespace

void
WriteClusterSvg(const Cluster& cluster, std::ostream& out)
{
    Drawing(cluster).Write(out);
}

} // namespace proteus
} // namespace ns3
