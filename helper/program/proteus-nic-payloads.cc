/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nic-payloads.h"

#include "proteus-outer-links.h"

#include "ns3/proteus-network-links.h"

#include <iomanip>
#include <sstream>

namespace ns3
{
namespace proteus
{

void
NicPayloads::Add(const Cluster& cluster)
{
    for (const Link& link : cluster.GetLinks())
    {
        if (IsOfNetwork(link) && LeavesServer(cluster, link) && !JoinsSwitches(cluster, link))
        {
            const uint64_t unit = link.framing.unitBytes;
            const double share =
                static_cast<double>(unit) / static_cast<double>(link.framing.WireBytes(unit));
            m_rates[link.bytesPerSecond].try_emplace(link.technology, link.bytesPerSecond * share);
        }
    }
}

std::string
NicPayloads::Describe() const
{
    constexpr double ALIKE = 0.99;
    constexpr double GBYTE = 1e9;
    for (const auto& [rate, payloads] : m_rates)
    {
        const auto infiniBand = payloads.find(LinkTechnology::INFINIBAND);
        const auto roce = payloads.find(LinkTechnology::ROCE);
        if (infiniBand == payloads.end() || roce == payloads.end() ||
            infiniBand->second > ALIKE * roce->second)
        {
            continue;
        }
        std::ostringstream text;
        text << std::fixed << std::setprecision(1) << "NICs of " << rate / GBYTE << " GB/s carry "
             << infiniBand->second / GBYTE << " of payload by InfiniBand, which is calibrated to "
             << "measured writes, and " << roce->second / GBYTE
             << " by RoCE, which is not: such rows differ by that, too (doc/cluster.rst, "
                "Comparing fabrics)";
        return text.str();
    }
    return "";
}

} // namespace proteus
} // namespace ns3
