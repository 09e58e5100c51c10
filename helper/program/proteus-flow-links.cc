/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-links.h"

#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// One direction of a link.
struct LinkRow
{
    std::string name;                 //!< "leaf0 -> spine1"
    const LinkStatistics& statistics; //!< what it has carried
};

/// @param member of LinkStatistics, a number @return its cell
template <auto MEMBER>
Cell
GetCount(const LinkRow& row)
{
    return row.statistics.*MEMBER;
}

/// @param member of LinkStatistics, picoseconds @return its cell in seconds
template <auto MEMBER>
Cell
GetSeconds(const LinkRow& row)
{
    return static_cast<double>(row.statistics.*MEMBER) * 1e-12;
}

} // namespace

Table
MakeFlowLinkTable(Ptr<Fabric> fabric)
{
    using S = LinkStatistics;
    const TableLayout<LinkRow> layout{
        "links",
        "Links",
        "A row for each direction of a link that has carried something.",
        {{"link", "", "from -> to", [](const LinkRow& row) { return row.name; }},
         {"packets", "", "units sent, control units included", GetCount<&S::packets>},
         {"received_packets",
          "",
          "of them, those that have arrived",
          GetCount<&S::receivedPackets>},
         {"payload_bytes", "B", "sent", GetCount<&S::payloadBytes>},
         {"wire_bytes",
          "B",
          "sent, headers included; without the acknowledgements and credits that units of the "
          "opposite direction take (reverse_bytes), which busy_s counts",
          GetCount<&S::wireBytes>},
         {"busy_s", "s", "transmitting", GetSeconds<&S::busyPs>},
         {"max_queue_bytes", "B", "most that waited at once", GetCount<&S::maxQueueBytes>},
         {"stalled_s",
          "s",
          "a unit ready, and the receiver's buffer full",
          GetSeconds<&S::creditStallPs>},
         {"pauses", "", "of PFC, received", GetCount<&S::pauses>},
         {"paused_s", "s", "at least one traffic class paused", GetSeconds<&S::pausedPs>},
         {"marked_packets", "", "by ECN", GetCount<&S::markedPackets>},
         {"lost_packets", "", "on the wire", GetCount<&S::lostPackets>},
         {"dropped_packets", "", "no room or no way on at its end", GetCount<&S::droppedPackets>}}};
    std::vector<LinkRow> rows;
    for (PortId port = 0; fabric && port < fabric->GetNPorts(); ++port)
    {
        const LinkStatistics& statistics = fabric->GetStatistics(port);
        if (statistics.packets > 0)
        {
            const auto& vertices = fabric->GetCluster().GetVertices();
            rows.push_back(
                {vertices[fabric->GetFrom(port)].name + " -> " + vertices[fabric->GetTo(port)].name,
                 statistics});
        }
    }
    return layout.Make(rows);
}

} // namespace proteus
} // namespace ns3
