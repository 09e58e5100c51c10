/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-series.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr int64_t FIRST_BIN_PS = 1000000;
constexpr double S_PER_PS = 1e-12;

} // namespace

FlowSeries::FlowSeries(std::size_t resources, std::size_t mostBins)
    : m_resources(resources),
      m_mostBins(std::max<std::size_t>(mostBins / 2 * 2, 2)),
      m_binPs(FIRST_BIN_PS)
{
}

void
FlowSeries::Add(const std::vector<FlowUse>& uses, double rate, int64_t fromPs, int64_t toPs)
{
    if (toPs <= fromPs || rate <= 0)
    {
        return;
    }
    while (static_cast<std::size_t>((toPs - 1) / m_binPs) >= m_mostBins)
    {
        Coarsen();
    }
    const auto last = static_cast<std::size_t>((toPs - 1) / m_binPs);
    m_wireBytes.resize(std::max(m_wireBytes.size(), (last + 1) * m_resources), 0);
    for (auto bin = static_cast<std::size_t>(fromPs / m_binPs); bin <= last; ++bin)
    {
        const auto startPs = static_cast<int64_t>(bin) * m_binPs;
        const int64_t partPs = std::min(toPs, startPs + m_binPs) - std::max(fromPs, startPs);
        const double bytes = rate * static_cast<double>(partPs) * S_PER_PS;
        for (const FlowUse& use : uses)
        {
            m_wireBytes[bin * m_resources + use.resource] += use.amount * bytes;
        }
    }
}

void
FlowSeries::Coarsen()
{
    const std::size_t bins = m_wireBytes.size() / std::max<std::size_t>(m_resources, 1);
    const std::size_t half = (bins + 1) / 2;
    for (std::size_t bin = 0; bin < half; ++bin)
    {
        for (std::size_t i = 0; i < m_resources; ++i)
        {
            const std::size_t from = 2 * bin * m_resources + i;
            const double second = 2 * bin + 1 < bins ? m_wireBytes[from + m_resources] : 0;
            m_wireBytes[bin * m_resources + i] = m_wireBytes[from] + second;
        }
    }
    m_wireBytes.resize(half * m_resources);
    m_binPs *= 2;
}

LinkSeries
FlowSeries::MakeLinkSeries(const std::vector<FlowResource>& resources,
                           const Cluster& cluster,
                           int64_t endPs) const
{
    const auto& links = cluster.GetLinks();
    LinkSeries series(2 * links.size(), m_binPs, m_mostBins + 2); // does not get coarser any more
    const auto bins = static_cast<std::size_t>((endPs + m_binPs - 1) / m_binPs);
    for (std::size_t bin = 0; bin < std::min(bins, m_mostBins); ++bin)
    {
        const auto startPs = static_cast<int64_t>(bin) * m_binPs;
        const int64_t untilPs = std::min(startPs + m_binPs, endPs);
        const double lengthS = static_cast<double>(untilPs - startPs) * S_PER_PS;
        std::vector<LinkBin> cells(2 * links.size());
        for (std::size_t id = 0; id < m_resources; ++id)
        {
            const std::size_t at = bin * m_resources + id;
            double rates = 0;
            for (const uint32_t port : resources[id].ports)
            {
                rates += links[port / 2].bytesPerSecond;
            }
            for (const uint32_t port : resources[id].ports)
            {
                // All ports of a resource are busy for the same share of the time.
                const double wire = at < m_wireBytes.size() ? m_wireBytes[at] : 0;
                cells[port].busyShare +=
                    static_cast<float>(std::min(1.0, wire / (rates * lengthS)));
            }
        }
        series.Append(untilPs, cells);
    }
    return series;
}

} // namespace proteus
} // namespace ns3
