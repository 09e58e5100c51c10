/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-link-statistics.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

LinkStatistics
GetDifference(const LinkStatistics& now, const LinkStatistics& before)
{
    LinkStatistics did = now;
    ForEachSum([&](auto member) { did.*member -= before.*member; });
    return did;
}

void
AddTo(LinkStatistics& sum, const LinkStatistics& more)
{
    ForEachSum([&](auto member) { sum.*member += more.*member; });
    sum.maxQueueBytes = std::max(sum.maxQueueBytes, more.maxQueueBytes);
}

std::vector<LinkId>
FindCrossedLinks(const std::vector<LinkStatistics>& links)
{
    std::vector<LinkId> crossed;
    for (const LinkStatistics& use : links)
    {
        if (use.wireBytes > 0)
        {
            crossed.push_back(use.link);
        }
    }
    return crossed;
}

} // namespace proteus
} // namespace ns3
