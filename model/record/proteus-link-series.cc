/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-link-series.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param a a bin @param b the next one, as long as the first @return both as one
LinkBin
Merge(const LinkBin& a, const LinkBin& b)
{
    LinkBin both;
    both.busyShare = (a.busyShare + b.busyShare) / 2;
    both.stalledShare = (a.stalledShare + b.stalledShare) / 2;
    both.pausedShare = (a.pausedShare + b.pausedShare) / 2;
    both.queueBytes = std::max(a.queueBytes, b.queueBytes);
    return both;
}

} // namespace

LinkSeries::LinkSeries(std::size_t directions, int64_t binPs, std::size_t mostBins)
    : m_directions(directions),
      m_mostBins(mostBins / 2 * 2),
      m_binPs(binPs)
{
    if (binPs <= 0 || mostBins < 2)
    {
        throw std::invalid_argument("link series: bins of " + std::to_string(binPs) + " ps, " +
                                    std::to_string(mostBins) +
                                    " of them: must be longer than 0, and at least 2");
    }
}

std::size_t
LinkSeries::GetMostBins(std::size_t directions)
{
    constexpr std::size_t MOST = 512;
    constexpr std::size_t LEAST = 16;
    constexpr std::size_t MOST_CELLS = (64U << 20) / sizeof(LinkBin);
    return std::clamp(MOST_CELLS / std::max<std::size_t>(directions, 1), LEAST, MOST);
}

bool
LinkSeries::Append(int64_t endPs, const std::vector<LinkBin>& bins)
{
    const int64_t startPs = GetStartPs(m_nBins);
    if (endPs <= startPs || endPs > startPs + m_binPs || m_endPs != startPs)
    {
        throw std::invalid_argument("link series: a bin that ends at " + std::to_string(endPs) +
                                    " ps cannot follow what ends at " + std::to_string(m_endPs) +
                                    " ps in steps of " + std::to_string(m_binPs) + " ps");
    }
    if (bins.size() != m_directions)
    {
        throw std::invalid_argument("link series: a bin of " + std::to_string(bins.size()) +
                                    " directions, there are " + std::to_string(m_directions));
    }
    m_bins.insert(m_bins.end(), bins.begin(), bins.end());
    m_endPs = endPs;
    ++m_nBins;
    if (m_nBins < m_mostBins || endPs < startPs + m_binPs)
    {
        return false;
    }
    Coarsen();
    return true;
}

LinkDid
LinkSeries::Spread(std::size_t direction, int64_t startPs, int64_t endPs, const LinkDid& did)
{
    const double wholePs = static_cast<double>(endPs - startPs);
    const auto first = static_cast<std::size_t>(std::max<int64_t>(startPs, 0) / m_binPs);
    double left = 1;
    for (std::size_t bin = first; bin < m_nBins && GetStartPs(bin) < endPs; ++bin)
    {
        const int64_t fromPs = std::max(startPs, GetStartPs(bin));
        const double part =
            static_cast<double>(std::max<int64_t>(std::min(endPs, GetEndPs(bin)) - fromPs, 0)) /
            wholePs;
        const double binPs = static_cast<double>(GetEndPs(bin) - GetStartPs(bin));
        LinkBin& cell = m_bins[bin * m_directions + direction];
        cell.busyShare += static_cast<float>(did.busyPs * part / binPs);
        cell.stalledShare += static_cast<float>(did.stalledPs * part / binPs);
        cell.pausedShare += static_cast<float>(did.pausedPs * part / binPs);
        cell.queueBytes = std::max(cell.queueBytes, did.queueBytes);
        left -= part;
    }
    left = endPs > m_endPs ? std::max(left, 0.0) : 0;
    return {did.busyPs * left, did.stalledPs * left, did.pausedPs * left, did.queueBytes};
}

bool
LinkSeries::IsUsed(std::size_t direction) const
{
    for (std::size_t bin = 0; bin < m_nBins; ++bin)
    {
        const LinkBin& cell = Get(direction, bin);
        if (cell.busyShare > 0 || cell.stalledShare > 0 || cell.pausedShare > 0 ||
            cell.queueBytes > 0)
        {
            return true;
        }
    }
    return false;
}

void
LinkSeries::Coarsen()
{
    m_nBins /= 2;
    m_binPs *= 2;
    for (std::size_t bin = 0; bin < m_nBins; ++bin)
    {
        for (std::size_t direction = 0; direction < m_directions; ++direction)
        {
            const std::size_t from = 2 * bin * m_directions + direction;
            m_bins[bin * m_directions + direction] =
                Merge(m_bins[from], m_bins[from + m_directions]);
        }
    }
    m_bins.resize(m_nBins * m_directions);
}

} // namespace proteus
} // namespace ns3
