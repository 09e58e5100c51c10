/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-series-monitor.h"

#include "ns3/log.h"
#include "ns3/proteus-output-file.h"
#include "ns3/simulator.h"

namespace ns3
{
namespace proteus
{

NS_LOG_COMPONENT_DEFINE("ProteusSeriesMonitor");

SeriesMonitor::SeriesMonitor()
{
    NS_LOG_FUNCTION(this);
}

SeriesMonitor::~SeriesMonitor()
{
    NS_LOG_FUNCTION(this);
    SampleClock::Remove(this);
}

void
SeriesMonitor::DoDispose()
{
    NS_LOG_FUNCTION(this);
    SampleClock::Remove(this);
    Release();
    m_stream = nullptr;
    Object::DoDispose();
}

void
SeriesMonitor::SetStream(Ptr<OutputStreamWrapper> stream, const std::string& name)
{
    NS_LOG_FUNCTION(this << stream << name);
    m_stream = stream;
    m_streamName = name;
    WriteHeader(*stream->GetStream());
}

void
SeriesMonitor::Stop()
{
    NS_LOG_FUNCTION(this);
    SampleClock::Remove(this);
    if (IsLooking() && GetNowPs() > m_lastPs)
    {
        TakeSample();
    }
    Release();
}

void
SeriesMonitor::Begin()
{
    m_lastPs = GetNowPs();
    SampleClock::Add(this, m_interval, this);
}

void
SeriesMonitor::WriteLine(const std::function<void(std::ostream&)>& line)
{
    if (m_stream)
    {
        line(*m_stream->GetStream());
        RequireWritten(*m_stream->GetStream(), m_streamName);
    }
}

int64_t
SeriesMonitor::GetNowPs()
{
    return Simulator::Now().GetPicoSeconds();
}

} // namespace proteus
} // namespace ns3
