/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-link-recorder.h"

#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr int64_t FIRST_BIN_PS = 1000000;

/// @param nowPs of a statistic that only grows @param lastPs at the last sample
/// @param intervalPs between them @return share of the interval
float
GetShare(int64_t nowPs, int64_t lastPs, int64_t intervalPs)
{
    return static_cast<float>(static_cast<double>(std::max<int64_t>(nowPs - lastPs, 0)) /
                              static_cast<double>(intervalPs));
}

} // namespace

LinkRecorder::LinkRecorder(Ptr<Fabric> fabric)
    : m_fabric(fabric),
      m_series(fabric->GetNPorts(), FIRST_BIN_PS, LinkSeries::GetMostBins(fabric->GetNPorts())),
      m_last(fabric->GetNPorts()),
      m_bins(fabric->GetNPorts())
{
    m_fabric->AddReader();
    SampleClock::Add(this, PicoSeconds(m_series.GetBinPs()), nullptr);
}

LinkRecorder::~LinkRecorder()
{
    SampleClock::Remove(this);
}

void
LinkRecorder::TakeSample()
{
    const int64_t nowPs = Simulator::Now().GetPicoSeconds();
    const int64_t intervalPs = nowPs - m_lastPs;
    if (intervalPs <= 0)
    {
        return;
    }
    m_lastPs = nowPs;
    for (PortId port = 0; port < m_bins.size(); ++port)
    {
        LinkStatistics now = m_fabric->GetStatisticsNow(port);
        LinkStatistics& last = m_last[port];
        now.busyPs = std::max(now.busyPs, last.busyPs); // see LinkMonitor::TakeSample()
        LinkBin& bin = m_bins[port];
        bin.busyShare = GetShare(now.busyPs, last.busyPs, intervalPs);
        bin.stalledShare = GetShare(now.creditStallPs, last.creditStallPs, intervalPs);
        bin.pausedShare = GetShare(now.pausedPs, last.pausedPs, intervalPs);
        bin.queueBytes = static_cast<float>(m_fabric->GetQueueBytes(port));
        last = now;
    }
    const bool isCoarser = m_series.Append(nowPs, m_bins);
    if (isCoarser && !Simulator::IsFinished())
    {
        SampleClock::Remove(this);
        SampleClock::Add(this, PicoSeconds(m_series.GetBinPs()), nullptr);
    }
}

} // namespace proteus
} // namespace ns3
