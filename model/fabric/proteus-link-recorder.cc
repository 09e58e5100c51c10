/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-link-recorder.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr int64_t FIRST_BIN_PS = 1000000;

/// @param nowPs of a statistic that only grows @param lastPs at the last sample
/// @return the difference, which is none at least
double
GetGrowth(int64_t nowPs, int64_t lastPs)
{
    return static_cast<double>(std::max<int64_t>(nowPs - lastPs, 0));
}

} // namespace

LinkRecorder::LinkRecorder(Ptr<Fabric> fabric)
    : m_fabric(fabric),
      m_series(fabric->GetNPorts(), FIRST_BIN_PS, LinkSeries::GetMostBins(fabric->GetNPorts())),
      m_last(fabric->GetNPorts()),
      m_bins(fabric->GetNPorts()),
      m_repeated(fabric->GetNPorts())
{
    SampleClock::Add(this, PicoSeconds(m_series.GetBinPs()), nullptr);
    m_fabric->GetWatch().SetRepeatCallback(
        [this](PortId port, const LinkStatistics& did, int64_t startPs, int64_t endPs) {
            AddRepeated(port, did, startPs, endPs);
        });
}

LinkRecorder::~LinkRecorder()
{
    SampleClock::Remove(this);
    m_fabric->GetWatch().SetRepeatCallback(nullptr);
}

void
LinkRecorder::AddRepeated(PortId port, const LinkStatistics& did, int64_t startPs, int64_t endPs)
{
    LinkStatistics& last = m_last[port]; // the next sample is not to take it for its own
    last.busyPs += did.busyPs;
    last.creditStallPs += did.creditStallPs;
    last.pausedPs += did.pausedPs;
    const LinkDid later = m_series.Spread(port,
                                          startPs,
                                          endPs,
                                          {static_cast<double>(did.busyPs),
                                           static_cast<double>(did.creditStallPs),
                                           static_cast<double>(did.pausedPs),
                                           static_cast<float>(did.maxQueueBytes)});
    LinkDid& sum = m_repeated[port];
    sum.busyPs += later.busyPs;
    sum.stalledPs += later.stalledPs;
    sum.pausedPs += later.pausedPs;
    if (later.busyPs > 0)
    {
        sum.queueBytes = std::max(sum.queueBytes, later.queueBytes);
    }
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
    const auto interval = static_cast<double>(intervalPs);
    for (PortId port = 0; port < m_bins.size(); ++port)
    {
        LinkStatistics now = m_fabric->GetStatisticsNow(port);
        LinkStatistics& last = m_last[port];
        now.busyPs = std::max(now.busyPs, last.busyPs); // see LinkMonitor::TakeSample()
        LinkBin& bin = m_bins[port];
        const LinkDid more = std::exchange(m_repeated[port], {});
        const double busyPs = GetGrowth(now.busyPs, last.busyPs) + more.busyPs;
        const double stalledPs = GetGrowth(now.creditStallPs, last.creditStallPs) + more.stalledPs;
        const double pausedPs = GetGrowth(now.pausedPs, last.pausedPs) + more.pausedPs;
        const auto queued = static_cast<float>(m_fabric->GetQueueBytes(port));
        bin.busyShare = static_cast<float>(busyPs / interval);
        bin.stalledShare = static_cast<float>(stalledPs / interval);
        bin.pausedShare = static_cast<float>(pausedPs / interval);
        bin.queueBytes = std::max(queued, more.queueBytes);
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
