/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-parameter-servers.h"

#include <algorithm>
#include <numeric>

namespace ns3
{
namespace proteus
{

uint32_t
ParameterServers::GetHosts() const
{
    return *std::max_element(hostOf.begin(), hostOf.end()) + 1;
}

uint32_t
ParameterServers::GetDevices() const
{
    const uint32_t memories = aggregation == HostAggregation::HOST ? GetHosts() : 0;
    return isOnWorkers ? memories : servers + memories;
}

uint32_t
ParameterServers::GetMemory(uint32_t host) const
{
    return isOnWorkers ? host : servers + host;
}

uint32_t
CountHostTraffic(uint32_t addends)
{
    constexpr uint32_t AT_ONCE = 4;
    const uint32_t others = addends - 1;
    return others + 2 * ((others + AT_ONCE - 1) / AT_ONCE);
}

std::vector<uint32_t>
SpreadBySize(const std::vector<uint64_t>& bytes, uint32_t places)
{
    std::vector<std::size_t> order(bytes.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&bytes](std::size_t a, std::size_t b) {
        return bytes[a] > bytes[b];
    });
    std::vector<uint64_t> load(places, 0);
    std::vector<uint32_t> place(bytes.size());
    for (const std::size_t i : order)
    {
        const auto least = std::min_element(load.begin(), load.end());
        place[i] = static_cast<uint32_t>(least - load.begin());
        *least += bytes[i];
    }
    return place;
}

} // namespace proteus
} // namespace ns3
