/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-run.h"

#include "ns3/proteus-comma-list.h"
#include "ns3/proteus-plural.h"
#include "ns3/proteus-warning.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

std::vector<std::vector<DeviceId>>
MakeTestGroups(const Cluster& cluster, uint32_t gpus, uint32_t groups, bool strided)
{
    const auto& all = cluster.GetGpus();
    gpus = gpus == 0 ? static_cast<uint32_t>(all.size()) : gpus;
    if (gpus < 2)
    {
        throw std::invalid_argument("--gpus=" + std::to_string(gpus) +
                                    ": a collective needs two GPUs or more");
    }
    if (gpus > all.size())
    {
        throw std::invalid_argument("--gpus=" + std::to_string(gpus) + ": cluster '" +
                                    cluster.GetName() + "' has " + std::to_string(all.size()) +
                                    "; add servers with --nodes");
    }
    if (groups == 0 || gpus % groups != 0 || gpus / groups < 2)
    {
        throw std::invalid_argument("--concurrent=" + std::to_string(groups) + ": " +
                                    std::to_string(gpus) +
                                    " GPUs cannot be shared evenly by so many groups of two or "
                                    "more");
    }
    std::map<int32_t, std::vector<DeviceId>> servers;
    for (DeviceId device = 0; device < all.size(); ++device)
    {
        servers[cluster.GetVertices()[all[device]].server].push_back(device);
    }
    std::vector<DeviceId> chosen;
    const bool isEven = gpus % servers.size() == 0;
    std::string shares;
    uint32_t nUsed = 0;
    for (const auto& [server, devices] : servers)
    {
        const std::size_t share =
            std::min(isEven ? gpus / servers.size() : gpus - chosen.size(), devices.size());
        chosen.insert(chosen.end(),
                      devices.begin(),
                      devices.begin() + static_cast<std::ptrdiff_t>(share));
        AppendName(shares, std::to_string(share));
        nUsed += share > 0 ? 1 : 0;
    }
    if (!isEven)
    {
        Warn("--gpus=" + std::to_string(gpus) + " is no multiple of " +
             FormatThings(servers.size(), "server") +
             ": servers are filled in turn, ranks per server " + shares +
             (nUsed == 1 ? "; nothing goes over the network" : ""));
    }
    if (chosen.size() != gpus)
    {
        throw std::invalid_argument("--gpus=" + std::to_string(gpus) +
                                    ": the servers have too few GPUs to share them evenly");
    }
    std::vector<std::vector<DeviceId>> result(groups);
    for (uint32_t i = 0; i < gpus; ++i)
    {
        result[strided ? i % groups : i / (gpus / groups)].push_back(chosen[i]);
    }
    return result;
}

} // namespace proteus
} // namespace ns3
