/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// What a FlowNetwork says of itself: the use of links, and what is under way.

#include "proteus-congested-flows.h"
#include "proteus-flow-network.h"
#include "proteus-meeting-replays.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace proteus
{

namespace
{

/// Picoseconds in a second.
constexpr double PS_PER_SECOND = 1e12;

} // namespace

void
FlowNetwork::RecordSeries()
{
    m_series =
        std::make_unique<FlowSeries>(m_profiles.GetResources().size(),
                                     LinkSeries::GetMostBins(2 * m_cluster.GetLinks().size()));
}

LinkSeries
FlowNetwork::GetSeries() const
{
    return m_series
               ? m_series->MakeLinkSeries(m_profiles.GetResources(), m_cluster, m_clock.GetTimePs())
               : LinkSeries();
}

void
FlowNetwork::Record(const LiveClass& live)
{
    if (m_series)
    {
        m_series->Add(live.flows->uses, live.rate, live.sincePs, m_clock.GetTimePs());
    }
}

std::string
FlowNetwork::DescribeWait(DeviceId device, TaskId task, uint32_t microBatch) const
{
    const auto found = m_index.find({task, microBatch});
    if (found == m_index.end())
    {
        return "";
    }
    const Communication& communication = m_communications[found->second];
    std::string missing;
    for (const DeviceId other : m_graph.GetGroup(m_graph.GetTask(task).place))
    {
        const auto& members = communication.members;
        if (other != device &&
            std::none_of(members.begin(), members.end(), [other](const auto& member) {
                return member.device == other;
            }))
        {
            missing += (missing.empty() ? "waits for device " : ", ") + std::to_string(other) +
                       " (" + m_cluster.GetVertices()[m_cluster.GetGpus()[other]].name + ")";
        }
    }
    return missing.empty() ? "is under way" : missing + " to join";
}

std::vector<LinkStatistics>
FlowNetwork::GetLinkStatistics() const
{
    const auto& links = m_cluster.GetLinks();
    std::vector<LinkStatistics> statistics(2 * links.size());
    for (uint32_t port = 0; port < statistics.size(); ++port)
    {
        statistics[port].link = port / 2;
        statistics[port].forward = port % 2 == 0;
    }
    for (uint32_t id = 0; id < m_profiles.GetResources().size(); ++id)
    {
        const FlowResource& resource = m_profiles.GetResources()[id];
        double rates = 0;
        for (const uint32_t port : resource.ports)
        {
            rates += links[port / 2].bytesPerSecond;
        }
        for (const uint32_t port : resource.ports)
        {
            const double share = links[port / 2].bytesPerSecond / rates;
            const double wire = m_wireBytes[id] * share;
            LinkStatistics& carried = statistics[port];
            carried.payloadBytes = std::llround(m_payloadBytes[id] * share);
            carried.receivedPayloadBytes = carried.payloadBytes;
            carried.wireBytes = std::llround(wire);
            carried.busyPs = std::llround(wire / links[port / 2].bytesPerSecond * PS_PER_SECOND);
        }
    }
    return statistics;
}

NetworkStatistics
FlowNetwork::GetStatistics() const
{
    NetworkStatistics statistics;
    statistics.messages = m_collectives;
    statistics.events = m_computations;
    return statistics;
}

std::string
FlowNetwork::CheckAtRest() const
{
    if (!m_index.empty())
    {
        return std::to_string(m_index.size()) + " communications under way";
    }
    const uint32_t used = m_shares.FindUsed();
    if (used != NO_ID)
    {
        return "resource " + std::to_string(used) + " is used by " +
               std::to_string(m_shares.GetNUsers(used)) + " flows";
    }
    return "";
}

} // namespace proteus
} // namespace ns3
