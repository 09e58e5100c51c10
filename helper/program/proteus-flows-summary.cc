/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flows-summary.h"

#include "proteus-stop-signals.h"
#include "proteus-table-options.h"

#include "ns3/proteus-rank-work.h"
#include "ns3/proteus-ranks.h"
#include "ns3/proteus-warning.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <iomanip>
#include <iostream>

namespace ns3
{
namespace proteus
{

namespace
{

/// @return seconds; nothing for a time that never came
Cell
ToSeconds(int64_t ps)
{
    return ps < 0 ? Cell() : Cell(static_cast<double>(ps) * 1e-12);
}

} // namespace

FlowsSummary
Summarize(const FlowPlayer& player, Ptr<Fabric> fabric, double wallS)
{
    constexpr double PS = 1e-12;
    const auto& flows = player.GetFlows();
    const auto& times = player.GetTimes();
    FlowsSummary summary;
    summary.flows = flows.size();
    summary.endS = static_cast<double>(player.GetEndPs()) * PS;
    const auto arrived = static_cast<std::size_t>(player.GetNReceived());
    for (std::size_t i = 0; i < flows.size(); ++i)
    {
        summary.bytes += flows[i].bytes;
        if (times[i].receivedPs >= 0) // a run that was ended leaves some behind
        {
            const double tookS = static_cast<double>(times[i].receivedPs - times[i].startPs) * PS;
            summary.meanS += tookS / static_cast<double>(arrived);
            summary.longestS = std::max(summary.longestS, tookS);
        }
    }
    summary.partial = DescribeStop(arrived, flows.size(), "flows have arrived");
    summary.work = player.GetStatistics();
    for (const LinkStatistics& link : fabric->GetLinkStatistics())
    {
        AddTo(summary.links, link);
    }
    summary.wallS = wallS;
    UintegerValue train;
    fabric->GetAttribute("TrainPackets", train);
    summary.train = train.Get();
    if (fabric->GetRanks())
    {
        summary.ranks = std::to_string(GetNRanks()) + ", " + DescribeRankWork(fabric);
    }
    return summary;
}

void
Print(const FlowsSummary& s)
{
    std::cout << std::fixed << std::setprecision(6) << "flows            " << s.flows << ", "
              << s.bytes << " bytes\n"
              << "last byte        " << s.endS * 1e3 << " ms\n"
              << "completion time  " << s.meanS * 1e3 << " ms mean, " << s.longestS * 1e3
              << " ms longest\n"
              << "packets          " << s.work.packets << " data (" << s.work.repeated
              << " repeated), " << s.work.controlPackets << " control, " << s.work.packetHops
              << " packet-hops\n"
              << "network          " << s.links.markedPackets << " marked, " << s.links.pauses
              << " pauses, " << s.links.droppedPackets << " dropped, " << s.links.lostPackets
              << " lost\n"
              << std::setprecision(3) << "run              " << s.wallS << " s, "
              << (s.wallS > 0 ? static_cast<double>(s.work.packetHops) / s.wallS * 1e-6 : 0)
              << " M packet-hops/s\n";
    if (!s.partial.empty())
    {
        std::cout << s.partial;
    }
    if (!s.ranks.empty())
    {
        std::cout << "ranks            " << s.ranks << '\n';
    }
    for (const std::string& line : s.idle)
    {
        Warn(line);
    }
    if (s.train > 1)
    {
        std::cout << "approximation    " << s.train << " packets of the network per event "
                  << "(TrainPackets); 1 is exact\n";
    }
}

Table
MakeSummaryTable(const FlowsSummary& s)
{
    Table table = MakeQuantityTable("summary",
                                    "Summary",
                                    "All flows together.",
                                    {{"flows", uint64_t{s.flows}, ""},
                                     {"payload", s.bytes, "B"},
                                     {"last byte", s.endS, "s"},
                                     {"mean completion time", s.meanS, "s"},
                                     {"longest completion time", s.longestS, "s"},
                                     {"data packets", s.work.packets, ""},
                                     {"repeated packets", s.work.repeated, ""},
                                     {"timeouts", s.work.timeouts, ""},
                                     {"control packets", s.work.controlPackets, ""},
                                     {"packet-hops", s.work.packetHops, ""},
                                     {"marked packets", s.links.markedPackets, ""},
                                     {"pauses", s.links.pauses, ""},
                                     {"dropped packets", s.links.droppedPackets, ""},
                                     {"lost packets", s.links.lostPackets, ""},
                                     {"packets per event", s.train, ""},
                                     {"wall time", s.wallS, "s"}});
    if (!s.ranks.empty())
    {
        table.rows.push_back({std::string("ranks"), s.ranks, std::string()});
    }
    for (const std::string& line : s.idle)
    {
        table.rows.push_back({std::string("note"), line, std::string()});
    }
    if (!s.partial.empty())
    {
        table.rows.push_back(
            {std::string("partial"), s.partial.substr(0, s.partial.size() - 1), std::string()});
    }
    return table;
}

Table
MakeFlowTable(const std::vector<PlayedFlow>& flows)
{
    using F = PlayedFlow;
    const TableLayout<F> layout{
        "flows",
        "Flows",
        "A row per flow, in the order of the list.",
        {{"id", "", "of the list", [](const F& f) { return f.flow.id; }},
         {"src", "", "rank that sends", [](const F& f) { return uint64_t{f.flow.source}; }},
         {"dst", "", "rank that receives", [](const F& f) { return uint64_t{f.flow.destination}; }},
         {"bytes", "B", "payload", [](const F& f) { return f.flow.bytes; }},
         {"start_s",
          "s",
          "handed to the transport",
          [](const F& f) { return ToSeconds(f.times.startPs); }},
         {"received_s",
          "s",
          "the last byte has arrived",
          [](const F& f) { return ToSeconds(f.times.receivedPs); }},
         {"acknowledged_s", "s", "the sender knows", [](const F& f) {
              return ToSeconds(f.times.acknowledgedPs);
          }}}};
    return layout.Make(flows);
}

std::vector<PlayedFlow>
ListFlows(const FlowPlayer& player)
{
    std::vector<PlayedFlow> flows;
    for (std::size_t i = 0; i < player.GetFlows().size(); ++i)
    {
        flows.push_back({player.GetFlows()[i], player.GetTimes()[i]});
    }
    return flows;
}

} // namespace proteus
} // namespace ns3
