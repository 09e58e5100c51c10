/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-link-monitor.h"

#include "proteus-required-arguments.h"

#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/proteus-csv.h"

#include <algorithm>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

NS_LOG_COMPONENT_DEFINE("ProteusLinkMonitor");
NS_OBJECT_ENSURE_REGISTERED(LinkMonitor);

namespace
{

/// @param now present state @param last at the last sample @return whether anything has happened
bool
HasChanged(const LinkStatistics& now, const LinkStatistics& last)
{
    return now.packets != last.packets || now.receivedPackets != last.receivedPackets ||
           now.busyPs != last.busyPs || now.creditStallPs != last.creditStallPs ||
           now.pausedPs != last.pausedPs || now.pauses != last.pauses ||
           now.markedPackets != last.markedPackets || now.lostPackets != last.lostPackets ||
           now.droppedPackets != last.droppedPackets;
}

} // namespace

TypeId
LinkMonitor::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::proteus::LinkMonitor")
            .SetParent<Object>()
            .SetGroupName("Proteus")
            .AddConstructor<LinkMonitor>()
            .AddAttribute("Interval",
                          "Time between samples.",
                          TimeValue(MicroSeconds(10)),
                          MakeTimeAccessor(&LinkMonitor::m_interval),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("AllPorts",
                          "Whether there is a sample of every port in every interval, not only of "
                          "those where something happened or waits.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&LinkMonitor::m_allPorts),
                          MakeBooleanChecker())
            .AddTraceSource("Sample",
                            "What one direction of a link did in an interval.",
                            MakeTraceSourceAccessor(&LinkMonitor::m_sampleTrace),
                            "ns3::proteus::LinkMonitor::SampleTracedCallback");
    return tid;
}

LinkMonitor::LinkMonitor()
{
    NS_LOG_FUNCTION(this);
}

LinkMonitor::~LinkMonitor()
{
    NS_LOG_FUNCTION(this);
}

void
LinkMonitor::Start(Ptr<Fabric> fabric)
{
    NS_LOG_FUNCTION(this << fabric);
    if (m_fabric)
    {
        throw std::invalid_argument("LinkMonitor: it has been started already");
    }
    RequireThere(fabric, "the fabric");
    Begin();
    m_fabric = fabric;
    m_fabric->GetWatch().AddReader();
    m_last.clear();
    for (PortId port = 0; port < fabric->GetNPorts(); ++port)
    {
        m_last.push_back(fabric->GetStatisticsNow(port));
    }
}

bool
LinkMonitor::IsLooking() const
{
    return m_fabric != nullptr;
}

void
LinkMonitor::Release()
{
    m_fabric = nullptr;
}

void
LinkMonitor::TakeSample()
{
    LinkSample sample;
    EndInterval(sample);
    for (PortId port = 0; port < m_fabric->GetNPorts(); ++port)
    {
        LinkStatistics now = m_fabric->GetStatisticsNow(port);
        LinkStatistics& last = m_last[port];
        // A unit that is slowed down by the link it comes from occupies the port for longer than
        // it transmits: what is left of that is no unsent part of the past.
        now.busyPs = std::max(now.busyPs, last.busyPs);
        const uint64_t queueBytes = m_fabric->GetQueueBytes(port);
        if (!m_allPorts && queueBytes == 0 && !HasChanged(now, last))
        {
            continue;
        }
        sample.port = port;
        sample.did = GetDifference(now, last);
        sample.queueBytes = queueBytes;
        sample.pausedClasses = 0;
        for (uint32_t c = 0; c < m_fabric->GetNTrafficClasses(); ++c)
        {
            sample.pausedClasses |= m_fabric->IsPaused(port, c) ? 1u << c : 0;
        }
        last = now;
        m_sampleTrace(sample);
        WriteLine([&](std::ostream& out) { WriteCsvLine(m_fabric->GetCluster(), sample, out); });
    }
}

void
LinkMonitor::WriteHeader(std::ostream& out) const
{
    WriteCsvHeader(out);
}

void
LinkMonitor::WriteCsvHeader(std::ostream& out)
{
    out << "time_ns,interval_ns,from,to,technology,packets,payload_bytes,wire_bytes,utilization,"
           "queue_bytes,marked_packets,lost_packets,dropped_packets,pauses,paused_share,"
           "credit_stall_share\n";
}

void
LinkMonitor::WriteCsvLine(const Cluster& cluster, const LinkSample& sample, std::ostream& out)
{
    const Link& link = cluster.GetLinks()[sample.port / 2];
    const VertexId from = sample.did.forward ? link.a : link.b;
    const LinkStatistics& did = sample.did;
    out << CsvNanoseconds(sample.timePs) << ',' << CsvNanoseconds(sample.intervalPs) << ','
        << CsvText(cluster.GetVertices()[from].name) << ','
        << CsvText(cluster.GetVertices()[link.Other(from)].name) << ',' << ToString(link.technology)
        << ',' << did.packets << ',' << did.payloadBytes << ',' << did.wireBytes << ','
        << CsvReal(sample.GetUtilization()) << ',' << sample.queueBytes << ',' << did.markedPackets
        << ',' << did.lostPackets << ',' << did.droppedPackets << ',' << did.pauses << ','
        << CsvReal(sample.GetShare(did.pausedPs)) << ','
        << CsvReal(sample.GetShare(did.creditStallPs)) << '\n';
}

} // namespace proteus
} // namespace ns3
