/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-rank-work.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

std::string
DescribeRankWork(Ptr<Fabric> fabric)
{
    return Describe(fabric->GetRanks()->GetPartition(), fabric->GetCluster()) + ", " +
           std::to_string(fabric->GetWindowCount()) + " windows, " +
           std::to_string(100 * fabric->GetBusiestEvents() /
                          std::max<uint64_t>(1, fabric->GetEventCount())) +
           " % of the events in the busiest rank";
}

} // namespace proteus
} // namespace ns3
