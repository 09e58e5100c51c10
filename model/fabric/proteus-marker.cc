/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-marker.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

void
Marker::SetUp(const MarkSettings& settings)
{
    if (settings.maxBytes < settings.minBytes)
    {
        throw std::invalid_argument("ns3::proteus::Fabric::EcnMaxBytes is below EcnMinBytes");
    }
    m_settings = &settings;
}

void
Marker::SetUpPort(PortState& port, const Link& link) const
{
    const bool marks = link.technology == LinkTechnology::ROCE         ? m_settings->ethernet
                       : link.technology == LinkTechnology::INFINIBAND ? m_settings->infiniband
                                                                       : false;
    if (!marks)
    {
        return;
    }
    const double scale =
        link.bytesPerSecond * 8 / static_cast<double>(m_settings->referenceRate.GetBitRate());
    port.markBytes = static_cast<uint32_t>(
        std::min(4e9,
                 std::max(1.0, std::round(static_cast<double>(m_settings->minBytes) * scale))));
    port.markAllBytes = static_cast<uint32_t>(
        std::min(4e9,
                 std::max(1.0, std::round(static_cast<double>(m_settings->maxBytes) * scale))));
}

bool
Marker::DrawBetween(const PortState& port,
                    uint64_t queuedBytes,
                    uint64_t lane,
                    uint32_t number) const
{
    const double probability = m_settings->maxProbability *
                               static_cast<double>(queuedBytes - port.markBytes) /
                               static_cast<double>(port.markAllBytes - port.markBytes);
    return m_random.Draw(*m_settings->random, lane, number) < probability;
}

} // namespace proteus
} // namespace ns3
