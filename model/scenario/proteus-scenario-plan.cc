/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-scenario-plan.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace proteus
{

namespace
{

/// @param kind of a change @return the part of a scenario that it belongs to
const char*
GetPart(LinkChange::Kind kind)
{
    switch (kind)
    {
    case LinkChange::Kind::DOWN:
    case LinkChange::Kind::UP:
        return "link failures";
    case LinkChange::Kind::RATE:
        return "link rates";
    case LinkChange::Kind::LOSS:
        return "link losses";
    case LinkChange::Kind::STORM_BEGIN:
    case LinkChange::Kind::STORM_END:
        break;
    }
    return "PFC storms";
}

} // namespace

std::vector<std::string>
ScenarioPlan::ListParts() const
{
    std::vector<std::string> parts;
    for (const LinkChange& change : changes)
    {
        const std::string part = GetPart(change.kind);
        if (std::find(parts.begin(), parts.end(), part) == parts.end())
        {
            parts.push_back(part);
        }
    }
    if (!traffic.empty())
    {
        parts.emplace_back("background traffic");
    }
    if (!slow.empty())
    {
        parts.emplace_back("slow devices");
    }
    return parts;
}

int64_t
ScenarioPlan::Stretch(DeviceId device, int64_t startPs, int64_t durationPs) const
{
    double factor = 1;
    int64_t leastPs = 0;
    for (const SlowDevice& entry : slow)
    {
        if (entry.device == device && startPs >= entry.fromPs && startPs < entry.untilPs)
        {
            factor *= entry.factor;
            leastPs = std::max(leastPs, entry.leastPs);
        }
    }
    const int64_t longer =
        factor == 1 ? durationPs : std::llround(factor * static_cast<double>(durationPs));
    return std::max(longer, leastPs);
}

} // namespace proteus
} // namespace ns3
