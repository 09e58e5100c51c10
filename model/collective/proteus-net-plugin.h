/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NET_PLUGIN_H
#define PROTEUS_NET_PLUGIN_H

#include "proteus-nccl-variables.h"
#include "proteus-protocol.h"

#include "ns3/proteus-registry.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Plug-ins by which NCCL uses a network.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What a plug-in costs, compared with NCCL's own for InfiniBand and RoCE.
struct NetPlugin
{
    double chunkUs{0};    //!< that a chunk takes longer, microseconds
    double reportedUs{0}; //!< latency that it tells NCCL's tuner (ncclNetProperties::latency)
    /// What NCCL may choose from unless the user names a protocol (NCCL_PROTO), in all
    /// communicators of a process. LL and LL128 need a network that delivers bytes in order.
    std::set<Protocol> protocols{Protocol::LL, Protocol::LL128, Protocol::SIMPLE};
    bool nvls{true}; //!< whether NCCL may choose NVLS and NVLSTree (NCCL_NVLS_ENABLE)
    /// What else it sets for all communicators of a process, see ParseNcclVariables(); what the
    /// user says counts more.
    const char* variables{""};
    /// Whether a chunk leaves only when its receiver has said that it has room for it. Proxies
    /// begin with a collective when that before it is done on their connection (ProxyAppend() and
    /// progressOps() in src/proxy.cc of NVIDIA/nccl, v2.12.7 to v2.30.7), so that nothing is sent
    /// ahead of a receiver that is in an earlier one.
    bool asksForRoom{true};
    std::optional<SocketRules> sockets; //!< how it uses sockets; none: it does not
    bool sharesCore{false}; //!< whether one core runs the proxies of all ranks of a server

    /// @return that a chunk takes longer, picoseconds
    int64_t GetChunkPs() const
    {
        return static_cast<int64_t>(chunkUs * 1e6);
    }
};

/// @ingroup proteus
/// The plug-ins by their names; each registers itself, with its sources.
using NetPluginRegistry = Registry<NetPlugin>;

/**
 * @ingroup proteus
 * @param name of a plug-in; empty: that of NCCL itself
 * @return what it costs
 * @throw std::invalid_argument that lists the known names
 */
const NetPlugin& FindNetPlugin(const std::string& name);

/// @ingroup proteus
/// @param plugin of the network, by its name @param text of the user, see ParseNcclVariables()
/// @param version of NCCL @return what both say
NcclVariables GetNcclVariables(const std::string& plugin,
                               const std::string& text,
                               uint32_t version);

/// @ingroup proteus
/// @return the names of all plug-ins, with commas between them
std::string ListNetPlugins();

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NET_PLUGIN_H
