/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-link-rate.h"

#include "proteus-port.h"

#include <cmath>
#include <sstream>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

void
RequireLinkRate(const Cluster& cluster,
                LinkId id,
                const LinkFraming& framing,
                double bytesPerSecond)
{
    constexpr double MOST_SECONDS = 0.1; // of a unit
    const uint32_t bytes = UnitSizes(framing).mostWire;
    if (bytes <= MOST_SECONDS * bytesPerSecond)
    {
        return;
    }
    const Link& link = cluster.GetLinks()[id];
    std::ostringstream message;
    message << "the link " << cluster.GetVertices()[link.a].name << " - "
            << cluster.GetVertices()[link.b].name << " is too slow for packets, " << bytesPerSecond
            << " bytes/s: a unit of " << bytes << " bytes may take 100 ms, so that the least is "
            << std::ceil(bytes / MOST_SECONDS) << " bytes/s";
    throw std::invalid_argument(message.str());
}

} // namespace proteus
} // namespace ns3
