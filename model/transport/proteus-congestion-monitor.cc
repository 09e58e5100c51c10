/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-congestion-monitor.h"

#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/proteus-csv.h"
#include "ns3/proteus-required-arguments.h"

#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

NS_LOG_COMPONENT_DEFINE("ProteusCongestionMonitor");
NS_OBJECT_ENSURE_REGISTERED(CongestionMonitor);

TypeId
CongestionMonitor::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::proteus::CongestionMonitor")
            .SetParent<Object>()
            .SetGroupName("Proteus")
            .AddConstructor<CongestionMonitor>()
            .AddAttribute("Interval",
                          "Time between samples.",
                          TimeValue(MicroSeconds(10)),
                          MakeTimeAccessor(&CongestionMonitor::m_interval),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("AllQueuePairs",
                          "Whether there is a sample of every queue pair in every interval, not "
                          "only of those that sent or have bytes in flight.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&CongestionMonitor::m_allQueuePairs),
                          MakeBooleanChecker())
            .AddTraceSource("Sample",
                            "What one queue pair did in an interval, and its congestion control.",
                            MakeTraceSourceAccessor(&CongestionMonitor::m_sampleTrace),
                            "ns3::proteus::CongestionMonitor::SampleTracedCallback");
    return tid;
}

CongestionMonitor::CongestionMonitor()
{
    NS_LOG_FUNCTION(this);
}

CongestionMonitor::~CongestionMonitor()
{
    NS_LOG_FUNCTION(this);
}

void
CongestionMonitor::Start(Ptr<Transport> transport)
{
    NS_LOG_FUNCTION(this << transport);
    if (m_transport)
    {
        throw std::invalid_argument("CongestionMonitor: it has been started already");
    }
    RequireThere(transport, "the transport");
    RequireThere(transport->GetFabric(), "the fabric of the transport");
    Begin();
    m_transport = transport;
    m_transport->GetFabric()->GetWatch().AddReader();
    m_last.clear();
    for (uint32_t id = 0; id < transport->GetNQueuePairs(); ++id)
    {
        m_last.push_back(transport->GetStatistics(id));
    }
}

bool
CongestionMonitor::IsLooking() const
{
    return m_transport != nullptr;
}

void
CongestionMonitor::Release()
{
    m_transport = nullptr;
}

void
CongestionMonitor::TakeSample()
{
    CongestionSample sample;
    EndInterval(sample);
    const std::size_t known = m_last.size();
    m_last.resize(m_transport->GetNQueuePairs());
    for (uint32_t id = 0; id < m_last.size(); ++id)
    {
        const QueuePairStatistics now = m_transport->GetStatistics(id);
        QueuePairStatistics& last = m_last[id];
        const bool active =
            now.sentBytes != last.sentBytes || now.acknowledgedBytes != last.acknowledgedBytes ||
            now.retransmittedPackets != last.retransmittedPackets ||
            now.notifications != last.notifications || now.timeouts != last.timeouts ||
            (id < known &&
             (now.bytesPerSecond != last.bytesPerSecond || now.windowBytes != last.windowBytes));
        if (!m_allQueuePairs && !active)
        {
            continue;
        }
        sample.queuePair = id;
        sample.did = now;
        sample.did.sentBytes -= last.sentBytes;
        sample.did.receivedBytes -= last.receivedBytes;
        sample.did.acknowledgedBytes -= last.acknowledgedBytes;
        sample.did.messages -= last.messages;
        sample.did.retransmittedPackets -= last.retransmittedPackets;
        sample.did.duplicatePackets -= last.duplicatePackets;
        sample.did.droppedPackets -= last.droppedPackets;
        sample.did.markedPackets -= last.markedPackets;
        sample.did.notifications -= last.notifications;
        sample.did.timeouts -= last.timeouts;
        last = now;
        m_sampleTrace(sample);
        WriteLine([&](std::ostream& out) { WriteCsvLine(sample, out); });
    }
}

void
CongestionMonitor::WriteHeader(std::ostream& out) const
{
    WriteCsvHeader(out);
}

void
CongestionMonitor::WriteCsvHeader(std::ostream& out)
{
    out << "time_ns,interval_ns,queue_pair,from,to,rate_bytes_per_s,window_bytes,rtt_ns,"
           "sent_bytes,acknowledged_bytes,retransmitted_packets,marked_packets,notifications,"
           "timeouts\n";
}

void
CongestionMonitor::WriteCsvLine(const CongestionSample& sample, std::ostream& out) const
{
    const auto& vertices = m_transport->GetFabric()->GetCluster().GetVertices();
    const QueuePairStatistics& did = sample.did;
    const bool limited = did.windowBytes != CongestionControl::UNLIMITED;
    out << CsvNanoseconds(sample.timePs) << ',' << CsvNanoseconds(sample.intervalPs) << ','
        << sample.queuePair << ','
        << CsvText(vertices[m_transport->GetSource(sample.queuePair)].name) << ','
        << CsvText(vertices[m_transport->GetDestination(sample.queuePair)].name) << ','
        << CsvReal(did.bytesPerSecond) << ',' << (limited ? std::to_string(did.windowBytes) : "")
        << ',' << (did.lastRttPs >= 0 ? CsvNanoseconds(did.lastRttPs) : "") << ',' << did.sentBytes
        << ',' << did.acknowledgedBytes << ',' << did.retransmittedPackets << ','
        << did.markedPackets << ',' << did.notifications << ',' << did.timeouts << '\n';
}

} // namespace proteus
} // namespace ns3
