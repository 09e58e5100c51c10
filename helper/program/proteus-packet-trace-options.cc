/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-packet-trace-options.h"

#include "ns3/proteus-output-file.h"

#include <algorithm>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

void
PacketTraceOptions::AddTo(OptionList& command)
{
    command.AddOutput("pcap",
                      "write captures of InfiniBand and RoCE links for Wireshark, one per device, "
                      "to files with this prefix; slow and large",
                      pcap);
    command.AddParts("pcap", R"(-\d+-\d+\.pcap)");
    command.AddOutput(
        "ascii",
        "write a line for every unit that is queued, sent, received or dropped on any "
        "link to this file; slow and large",
        ascii,
        ".tr"); // as ns-3 calls them
    command.AddOutput("linkSeries",
                      "write utilization, queues, marks and pauses of links over time to this file",
                      linkSeries,
                      ".csv");
    command.AddOutput(
        "congestionSeries",
        "write rate, window and round-trip time of queue pairs over time to this file",
        congestionSeries,
        ".csv");
    command.AddValue("seriesInterval",
                     "time between two samples of --linkSeries and --congestionSeries",
                     seriesInterval);
    command.AddTimeRange("seriesInterval", NanoSeconds(1), Seconds(1000));
    command.AddIdle("seriesInterval", [this]() {
        return linkSeries.empty() && congestionSeries.empty()
                   ? "there is no --linkSeries and no --congestionSeries"
                   : "";
    });
}

void
PacketTraceOptions::Check() const
{
    for (const std::string& path : {ascii, linkSeries, congestionSeries})
    {
        if (!path.empty())
        {
            CheckWritable(path);
        }
    }
    if (!pcap.empty())
    {
        CheckWritable(pcap + "-0-0.pcap");
    }
}

FabricHelper
PacketTraceOptions::Enable(Ptr<Fabric> fabric, Ptr<Transport> transport) const
{
    Check();
    FabricHelper helper;
    helper.HoldNames();
    if (!pcap.empty())
    {
        const auto& links = fabric->GetCluster().GetLinks();
        if (std::none_of(links.begin(), links.end(), [](const Link& link) {
                return FrameWriter::GetLinkType(link.technology) != 0;
            }))
        {
            throw std::invalid_argument("--pcap: the cluster has no InfiniBand or RoCE link, and "
                                        "there is no capture format for the others; use --ascii");
        }
        helper.InstallDevices(fabric);
        helper.EnablePcapAll(pcap);
    }
    if (!ascii.empty())
    {
        helper.InstallDevices(fabric);
        helper.EnableAsciiFile(ascii);
    }
    if (!linkSeries.empty())
    {
        helper.EnableLinkSeries(fabric, linkSeries, seriesInterval);
    }
    if (!congestionSeries.empty())
    {
        helper.EnableCongestionSeries(transport, congestionSeries, seriesInterval);
    }
    return helper;
}

} // namespace proteus
} // namespace ns3
