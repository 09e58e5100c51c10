/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric-kind.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

/**
 * @param nServers how many routers there must be
 * @param given size of each dimension, 0 where it is free
 * @param kind of the fabric, for the message
 * @return size of each dimension; the free ones as equal as they can be
 */
std::vector<uint32_t>
ChooseSizes(uint32_t nServers, std::vector<uint32_t> given, const std::string& kind)
{
    uint64_t product = 1;
    std::size_t nFree = 0;
    std::string names;
    for (std::size_t i = 0; i < given.size(); ++i)
    {
        names += std::string(i == 0 ? "size_" : " x size_") + static_cast<char>('x' + i);
        nFree += given[i] == 0 ? 1 : 0;
        product = given[i] == 0 || product > nServers ? product : product * given[i];
    }
    if (nServers % product != 0 || (nFree == 0 && product != nServers))
    {
        throw std::invalid_argument(kind + ": " + names + " must be the number of servers, " +
                                    std::to_string(nServers));
    }
    auto rest = static_cast<uint32_t>(nServers / product);
    // The last dimension is the shortest.
    for (std::size_t i = given.size(); i-- > 0;)
    {
        if (given[i] == 0)
        {
            auto size = static_cast<uint32_t>(
                std::floor(std::pow(rest, 1.0 / static_cast<double>(nFree)) + 1e-9));
            size = std::max(size, 1u);
            while (rest % size != 0)
            {
                --size;
            }
            given[i] = size;
            rest /= size;
            --nFree;
        }
    }
    return given;
}

/**
 * @param cluster to add to
 * @param plugs what to join
 * @param options of the fabric
 * @param given size of each dimension, 0 where it is free
 */
void
JoinByTorus(Cluster& cluster,
            const FabricPlugs& plugs,
            const FabricOptions& options,
            const std::vector<uint32_t>& given)
{
    const auto nServers = static_cast<uint32_t>(plugs.servers.size());
    const std::vector<uint32_t> sizes = ChooseSizes(nServers, given, options.kind);
    const double rate = plugs.ServerBytesPerSecond() / options.oversubscription;
    std::vector<VertexId> routers;
    for (uint32_t server = 0; server < nServers; ++server)
    {
        std::string name = "router";
        uint32_t rest = server;
        for (std::size_t i = 0; i < sizes.size(); ++i)
        {
            name += (i == 0 ? "" : ".") + std::to_string(rest % sizes[i]);
            rest /= sizes[i];
        }
        routers.push_back(AddNetworkSwitch(cluster, name, plugs));
        for (VertexId plug : plugs.servers[server])
        {
            AddLinkLike(cluster, plug, routers.back(), plugs.access);
        }
    }
    uint32_t stride = 1;
    for (const uint32_t size : sizes)
    {
        for (uint32_t i = 0; size > 1 && i < nServers; ++i)
        {
            const uint32_t position = i / stride % size;
            if (size == 2 && position == 1)
            {
                continue; // the one link has been added
            }
            const uint32_t next =
                position + 1 < size ? i + stride : i - static_cast<uint32_t>(size - 1) * stride;
            AddLinkLike(cluster,
                        routers[i],
                        routers[next],
                        plugs.trunk,
                        size == 2 ? 2 * rate : rate);
        }
        stride *= size;
    }
}

/// @copydoc FabricKind::join
void
Join2d(Cluster& cluster, const FabricPlugs& plugs, const FabricOptions& options)
{
    JoinByTorus(cluster, plugs, options, {options.sizeX, options.sizeY});
}

/// @copydoc FabricKind::join
void
Join3d(Cluster& cluster, const FabricPlugs& plugs, const FabricOptions& options)
{
    JoinByTorus(cluster, plugs, options, {options.sizeX, options.sizeY, options.sizeZ});
}

constexpr const char* HELP = "routers in this dimension; 0: as even as can be";

} // namespace

FabricKind
MakeTorus2d()
{
    return {"torus-2d",
            {OversubscriptionField(),
             {"size_x", HELP, &FabricOptions::sizeX, nullptr, 0},
             {"size_y", HELP, &FabricOptions::sizeY, nullptr, 0}},
            &Join2d};
}

FabricKind
MakeTorus3d()
{
    return {"torus-3d",
            {OversubscriptionField(),
             {"size_x", HELP, &FabricOptions::sizeX, nullptr, 0},
             {"size_y", HELP, &FabricOptions::sizeY, nullptr, 0},
             {"size_z", HELP, &FabricOptions::sizeZ, nullptr, 0}},
            &Join3d};
}

} // namespace proteus
} // namespace ns3
