/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-order.h"

#include "ns3/proteus-flow-hash.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace ns3
{
namespace proteus
{

namespace
{

/// Where a flow stands among those that it waits for, and that wait for it.
struct Place
{
    uint32_t depth{0};  //!< flows before it, one after the other, at most
    uint64_t before{0}; //!< hash of it and of those before it
    uint64_t behind{0}; //!< hash of it and of those behind it
};

/// @param flows a list @return the place of each
std::vector<Place>
FindPlaces(const std::vector<FlowSpec>& flows)
{
    std::vector<Place> places(flows.size());
    for (std::size_t i = 0; i < flows.size(); ++i)
    {
        const FlowSpec& flow = flows[i];
        const uint64_t own = MixHash(MixHash(flow.source, flow.destination),
                                     MixHash(static_cast<uint64_t>(flow.startPs), flow.bytes));
        places[i].before = own;
        places[i].behind = own;
    }
    // Sums, so that the order of what a flow waits for is without meaning.
    constexpr uint64_t BEFORE = 1;
    constexpr uint64_t BEHIND = 2;
    const std::vector<uint32_t> turn = ListInTurn(flows);
    for (const uint32_t i : turn)
    {
        for (const uint32_t before : flows[i].after)
        {
            places[i].depth = std::max(places[i].depth, places[before].depth + 1);
            places[i].before += MixHash(places[before].before, BEFORE);
        }
    }
    for (auto i = turn.rbegin(); i != turn.rend(); ++i)
    {
        for (const uint32_t before : flows[*i].after)
        {
            places[before].behind += MixHash(places[*i].behind, BEHIND);
        }
    }
    return places;
}

} // namespace

std::vector<uint32_t>
SortFlows(const std::vector<FlowSpec>& flows)
{
    std::vector<uint32_t> order(flows.size());
    std::iota(order.begin(), order.end(), 0);
    const std::vector<Place> places = FindPlaces(flows);
    const auto key = [&](uint32_t i) {
        const FlowSpec& flow = flows[i];
        const Place& place = places[i];
        return std::tie(flow.source,
                        flow.destination,
                        flow.startPs,
                        flow.bytes,
                        place.depth,
                        place.before,
                        place.behind,
                        flow.id);
    };
    std::stable_sort(order.begin(), order.end(), [&key](uint32_t a, uint32_t b) {
        return key(a) < key(b);
    });
    return order;
}

} // namespace proteus
} // namespace ns3
