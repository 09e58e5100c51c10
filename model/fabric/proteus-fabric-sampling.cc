/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric.h"

#include <algorithm>
#include <cmath>

/**
 * @file
 * @ingroup proteus
 * What the fabric says about a link while it works.
 */

namespace ns3
{
namespace proteus
{

double
Fabric::GetLinkRate(LinkId link) const
{
    // The cluster's figure, which has no rounding, unless SetLinkRate() has replaced it.
    const double original = m_cluster->GetLinks()[link].bytesPerSecond;
    const uint64_t present = m_ports[2 * link].psPerByte;
    const double fixed = std::ldexp(1e12 / original, TIME_FRACTION_BITS);
    return static_cast<uint64_t>(std::llround(fixed)) == present
               ? original
               : std::ldexp(1e12, TIME_FRACTION_BITS) / static_cast<double>(present);
}

double
Fabric::GetLossProbability(LinkId link) const
{
    return m_ports[2 * link].lossProbability;
}

double
Fabric::GetBitErrorRate(LinkId link) const
{
    return m_ports[2 * link].bitErrorRate;
}

LinkStatistics
Fabric::GetStatisticsNow(PortId id) const
{
    const PortState& port = m_ports[id];
    const int64_t now = GetTimePs();
    LinkStatistics statistics = port.statistics;
    statistics.busyPs -= std::clamp<int64_t>(port.freeAtPs - now, 0, statistics.busyPs);
    if (port.stalledSincePs >= 0)
    {
        statistics.creditStallPs += now - port.stalledSincePs;
    }
    if (port.pausedSincePs >= 0)
    {
        statistics.pausedPs += now - port.pausedSincePs;
    }
    return statistics;
}

} // namespace proteus
} // namespace ns3
