/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flows-options.h"

#include "proteus-name-lists.h"
#include "proteus-option-meanings.h"
#include "proteus-outer-links.h"
#include "proteus-program-options.h"

#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/nstime.h"
#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-congestion-type.h"
#include "ns3/proteus-network-links.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param name of a congestion control @return whether its window begins with the bandwidth-delay
/// product of the path, and never exceeds it: those that know the path's round-trip time (HPCC,
/// PowerTCP), unless they are told another one
bool
HasWindowOfPath(const std::string& name)
{
    TimeValue roundTrip;
    return !name.empty() && name != "auto" &&
           MakeCongestionType(name)->GetAttributeFailSafe("BaseRtt", roundTrip) &&
           roundTrip.Get().IsZero();
}

/// @param trigger as typed, not empty @return value of the attribute of the player
std::string
ParseTrigger(const std::string& trigger)
{
    if (trigger == "receive")
    {
        return "Receive";
    }
    if (trigger == "ack")
    {
        return "Acknowledgement";
    }
    throw std::invalid_argument("--trigger=" + trigger + ": known are receive and ack");
}

/// @param cluster to copy @param options with payload and overhead @return it, with the packets of
/// its network as the options say
Cluster
WithPackets(const Cluster& cluster, const FlowsOptions& options)
{
    Cluster changed(cluster.GetName());
    for (const Vertex& vertex : cluster.GetVertices())
    {
        changed.AddVertex(vertex);
    }
    for (Link link : cluster.GetLinks())
    {
        if (IsOfNetwork(link))
        {
            if (options.payload > 0)
            {
                link.framing.unitBytes = static_cast<uint32_t>(options.payload);
                link.framing.packetBytes = link.framing.unitBytes;
            }
            if (options.overhead >= 0)
            {
                link.framing.unitHeaderBytes = 0;
                link.framing.packetHeaderBytes = static_cast<uint32_t>(options.overhead);
            }
            if (options.ackBytes > 0)
            {
                link.framing.controlBytes = static_cast<uint32_t>(options.ackBytes);
            }
        }
        changed.AddLink(link);
    }
    return changed;
}

/// @param flows of a list @return whether it says of all that others wait for what starts those
bool
AreReleasesSaid(const std::vector<FlowSpec>& flows)
{
    return std::all_of(flows.begin(), flows.end(), [&flows](const FlowSpec& flow) {
        return std::all_of(flow.after.begin(), flow.after.end(), [&flows](uint32_t before) {
            return flows[before].release != FlowRelease::OF_PLAYER;
        });
    });
}

} // namespace

void
FlowsOptions::AddTo(OptionList& command)
{
    command.AddValue("cluster",
                     "a cluster JSON file, an NCCL topology XML, a text topology as the HPCC "
                     "simulator or htsim has it, or a server preset",
                     cluster);
    command.AddMeaning("cluster", GetClusterMeaning);
    command.AddValue("nodes", "servers of a preset (0: what the file says, or one)", nodes);
    fabric.AddTo(command, [this](const FabricOptions& between) {
        return DescribeNetwork(MakeCluster(between));
    });
    command.AddValue(
        "flows",
        "list of flows: a CSV file, a list of the HPCC simulator, or a connection matrix of "
        "htsim",
        flows);
    command.AddInput("flows");
    command.AddValue("transport",
                     "how lost packets come again: go-back-n, selective-repeat, or tcp, which is a "
                     "congestion control, too",
                     transport);
    command.AddNames("transport", {"go-back-n", "selective-repeat", "tcp"});
    command.AddValue("payload",
                     "payload bytes of a packet of the network (0: what the cluster says; 1000 for "
                     "a text topology)",
                     payload);
    command.AddValue("overhead",
                     "header bytes of such a packet (-1: what the cluster says; 48 for a text "
                     "topology, as the HPCC simulator; ASTRA-sim's has 36)",
                     overhead);
    command.AddValue("ackBytes",
                     "bytes on the wire of an acknowledgement or another control packet of the "
                     "network (0: what the cluster says; 64 for a text topology)",
                     ackBytes);
    command.AddValue("trigger",
                     "what of a flow starts those that depend on it: receive, its last byte has "
                     "arrived (the default), or ack, its sender has the acknowledgement",
                     trigger);
    command.AddNames("trigger", {"receive", "ack"});
    command.AddValue("window",
                     "payload bytes in flight per flow, or bdp for a bandwidth-delay product of "
                     "its path",
                     window);
    command.AddNames("window", {"bdp"}, NameUse::OPEN);
    command.AddIdle("window", [this]() -> std::string {
        return window == "bdp" && HasWindowOfPath(congestionControl)
                   ? "the window of " + congestionControl + " is never larger"
                   : "";
    });
    command.AddValue("congestionControl",
                     "auto, or one of: " + ListCongestionNames(),
                     congestionControl);
    std::vector<std::string> controls = GetCongestionNames();
    controls.emplace_back("auto");
    command.AddNames("congestionControl", controls, NameUse::OPEN); // a TypeId is as good
    command.AddCheck("congestionControl", [](const std::string& name) {
        if (name != "auto")
        {
            MakeCongestionType(name);
        }
    });
    command.AddValue("stream",
                     "random stream of paths among equals, marks and losses, from 1 on",
                     stream);
    command.AddOutput("csv",
                      "write id,src,dst,bytes,start_ns,rx_done_ns,ack_done_ns to this file",
                      csv,
                      ".csv");
    tables.AddTo(command);
    traces.AddTo(command);
    command.AddValue("quiet", "no progress line", quiet);
}

void
FlowsOptions::SetTransportDefaults() const
{
    const std::string prefix = "ns3::proteus::Transport::";
    if (transport == "go-back-n")
    {
        Config::SetDefault(prefix + "Reliability", StringValue("GoBackN"));
    }
    else if (transport == "selective-repeat")
    {
        Config::SetDefault(prefix + "Reliability", StringValue("SelectiveRepeat"));
    }
    else if (transport == "tcp")
    {
        if (!congestionControl.empty() && congestionControl != "tcp")
        {
            throw std::invalid_argument("--transport=tcp has its own congestion control: leave "
                                        "--congestionControl away");
        }
        Config::SetDefault(prefix + "CongestionControl", StringValue("tcp"));
    }
    else if (!transport.empty())
    {
        throw std::invalid_argument("--transport=" + transport +
                                    ": known are go-back-n, selective-repeat and tcp");
    }
    if (!congestionControl.empty())
    {
        if (congestionControl != "auto")
        {
            MakeCongestionType(congestionControl); // an error names the known ones
        }
        Config::SetDefault(prefix + "CongestionControl", StringValue(congestionControl));
    }
    if (!trigger.empty())
    {
        Config::SetDefault("ns3::proteus::FlowPlayer::Trigger", StringValue(ParseTrigger(trigger)));
    }
    if (window == "bdp")
    {
        Config::SetDefault(prefix + "WindowProducts", DoubleValue(1));
    }
    else if (!window.empty())
    {
        if (window.find_first_not_of("0123456789") != std::string::npos || window.size() > 15)
        {
            throw std::invalid_argument("--window=" + window +
                                        ": must be a number of bytes, or bdp for one "
                                        "bandwidth-delay product of the path");
        }
        Config::SetDefault(prefix + "Window", UintegerValue(std::stoull(window)));
    }
}

Cluster
FlowsOptions::MakeCluster(const FabricOptions& fabricOptions) const
{
    if (cluster.empty())
    {
        throw std::invalid_argument("--cluster is missing: a preset (dgx-h100, ...) or a file; "
                                    "workloads/flows/ has small ones");
    }
    const int64_t most = 1 << 20;
    if (payload < 0 || payload > most)
    {
        throw std::invalid_argument("--payload=" + std::to_string(payload) +
                                    ": must be a number of bytes from 1 to " +
                                    std::to_string(most));
    }
    if (overhead < -1 || overhead > most)
    {
        throw std::invalid_argument("--overhead=" + std::to_string(overhead) +
                                    ": must be a number of bytes from 0 to " +
                                    std::to_string(most));
    }
    if (ackBytes < 0 || ackBytes > most)
    {
        throw std::invalid_argument("--ackBytes=" + std::to_string(ackBytes) +
                                    ": must be a number of bytes from 1 to " +
                                    std::to_string(most));
    }
    HpccTopologyOptions hpcc;
    hpcc.payloadBytes = payload > 0 ? static_cast<uint32_t>(payload) : hpcc.payloadBytes;
    hpcc.overheadBytes = overhead >= 0 ? static_cast<uint32_t>(overhead) : hpcc.overheadBytes;
    const Cluster loaded = LoadCluster(FindClusterName(cluster),
                                       ToCount(nodes, "nodes", 0, MAX_SERVERS),
                                       fabricOptions,
                                       hpcc);
    return payload > 0 || overhead >= 0 || ackBytes > 0 ? WithPackets(loaded, *this) : loaded;
}

std::vector<std::string>
FlowsOptions::FindIdle(const FlowPlayer& player, Ptr<Fabric> played) const
{
    std::vector<std::string> idle;
    const auto add =
        [&idle](const std::string& name, const std::string& value, const std::string& reason) {
            idle.push_back("--" + name + "=" + value + " has no effect: " + reason);
        };
    const std::vector<LinkId> crossed = FindCrossedLinks(played->GetLinkStatistics());
    if (!CrossesNetwork(played->GetCluster(), crossed))
    {
        const std::string reason = "no flow has crossed InfiniBand or RoCE";
        if (payload > 0)
        {
            add("payload", std::to_string(payload), reason);
        }
        if (overhead >= 0)
        {
            add("overhead", std::to_string(overhead), reason);
        }
        if (ackBytes > 0)
        {
            add("ackBytes", std::to_string(ackBytes), reason);
        }
        if (!congestionControl.empty())
        {
            add("congestionControl", congestionControl, reason);
        }
    }
    const auto& specs = player.GetFlows();
    const bool areAlone = std::all_of(specs.begin(), specs.end(), [](const FlowSpec& flow) {
        return flow.after.empty();
    });
    if (!trigger.empty() && areAlone)
    {
        add("trigger", trigger, "no flow depends on another");
    }
    else if (!trigger.empty() && AreReleasesSaid(specs))
    {
        add("trigger", trigger, "the list says it of each flow");
    }
    return idle;
}

} // namespace proteus
} // namespace ns3
