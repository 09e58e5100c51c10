/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_ORDER_H
#define PROTEUS_FLOW_ORDER_H

#include "ns3/proteus-flow-list.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Sorts flows by what they are: ends, start, bytes, how many go before them one after the other,
 * and what these and those behind them are. Ids decide only where all of that is the same.
 * @param flows a list; `after` in it are positions of it, without a circle
 * @return their positions, in an order that is the same whatever the order of the list; those of
 * the same ends one after the other
 */
std::vector<uint32_t> SortFlows(const std::vector<FlowSpec>& flows);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_ORDER_H
