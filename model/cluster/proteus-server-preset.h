/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SERVER_PRESET_H
#define PROTEUS_SERVER_PRESET_H

#include "proteus-cluster.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What a server preset and a fabric are made of. A new server is one file with a function that
 * returns a ServerPreset, a new fabric one with a function that returns a FabricKind, and one line
 * in the tables of proteus-presets.cc.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A kind of server.
struct ServerPreset
{
    std::string name;                 //!< e.g. "dgx-a100"
    LinkTechnology networkTechnology; //!< of its NICs
    double nicBytesPerSecond;         //!< rate of one NIC

    /**
     * Adds one server to a cluster.
     * @param cluster to add to
     * @param server its number
     * @return its NICs, in order
     */
    std::vector<VertexId> (*build)(Cluster& cluster, uint32_t server);
};

/// @ingroup proteus
/// A way to join servers.
struct FabricKind
{
    std::string name; //!< e.g. "leaf-spine"

    /**
     * Adds the switches and links of the network.
     * @param cluster to add to
     * @param preset of the servers
     * @param nics of each server
     * @param options as the user gave them
     * @throw std::invalid_argument for an option that makes no sense
     */
    void (*join)(Cluster& cluster,
                 const ServerPreset& preset,
                 const std::vector<std::vector<VertexId>>& nics,
                 const FabricOptions& options);
};

/// @ingroup proteus
/// @return preset "dgx1-v100"
ServerPreset MakeDgx1V100();
/// @ingroup proteus
/// @return preset "dgx-a100"
ServerPreset MakeDgxA100();
/// @ingroup proteus
/// @return preset "dgx-h100"
ServerPreset MakeDgxH100();

/// @ingroup proteus
/// @return fabric "single-switch"
FabricKind MakeSingleSwitch();
/// @ingroup proteus
/// @return fabric "leaf-spine"
FabricKind MakeLeafSpine();

/**
 * @ingroup proteus
 * Raw rate of a PCI Express x16 link: 8, 16 and 32 GT/s per lane for generations 3 to 5, coded
 * 128b/130b (PCI Express Base Specification 3.0, 4.0, 5.0), to a whole byte per second.
 * @param generation 3, 4 or 5
 * @return bytes per second and direction
 */
double PcieX16BytesPerSecond(uint32_t generation);

/**
 * @ingroup proteus
 * Adds `count` vertices named by server, kind and index, e.g. "n0.gpu3".
 * @param cluster to add to
 * @param server its number
 * @param kind of the vertices
 * @param count how many
 * @param model for GPUs, name of the data sheet
 * @return the vertices
 */
std::vector<VertexId> AddServerVertices(Cluster& cluster,
                                        uint32_t server,
                                        VertexKind kind,
                                        uint32_t count,
                                        const std::string& model = "");

/**
 * @ingroup proteus
 * Adds a link with the delay, framing and cost that its technology has by default.
 * @param cluster to add to
 * @param a one end
 * @param b the other end
 * @param technology of the link
 * @param bytesPerSecond raw rate of one direction
 */
void AddDefaultLink(Cluster& cluster,
                    VertexId a,
                    VertexId b,
                    LinkTechnology technology,
                    double bytesPerSecond);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SERVER_PRESET_H
