/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SERVER_PRESET_H
#define PROTEUS_SERVER_PRESET_H

#include "proteus-cluster.h"
#include "proteus-cpu-vendor.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What a server preset is made of. A new server is one file with a function that returns a
 * ServerPreset, its declaration here, and one line in the table of proteus-presets.cc.
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
    std::function<std::vector<VertexId>(Cluster& cluster, uint32_t server)> build;

    std::vector<std::string> otherNames{}; //!< of the same server
};

/// @ingroup proteus
/// @return preset "dgx1-v100"
ServerPreset MakeDgx1V100();
/// @ingroup proteus
/// @return preset "dgx2"
ServerPreset MakeDgx2();
/// @ingroup proteus
/// @return preset "dgx-a100"
ServerPreset MakeDgxA100();
/// @ingroup proteus
/// @return preset "hgx-a800"
ServerPreset MakeHgxA800();
/// @ingroup proteus
/// @return preset "dgx-h100"
ServerPreset MakeDgxH100();
/// @ingroup proteus
/// @return preset "hgx-h800"
ServerPreset MakeHgxH800();
/// @ingroup proteus
/// @return preset "dgx-h200"
ServerPreset MakeDgxH200();
/// @ingroup proteus
/// @return preset "hgx-b200"
ServerPreset MakeHgxB200();
/// @ingroup proteus
/// @return preset "hgx-b300"
ServerPreset MakeHgxB300();
/// @ingroup proteus
/// @return preset "gb200-nvl72"
ServerPreset MakeGb200Nvl72();
/// @ingroup proteus
/// @return preset "gb300-nvl72"
ServerPreset MakeGb300Nvl72();
/// @ingroup proteus
/// @return preset "hgx-a100-4gpu"
ServerPreset MakeHgxA100Of4();
/// @ingroup proteus
/// @return preset "quad-a100"
ServerPreset MakeQuadA100();
/// @ingroup proteus
/// @return preset "hgx-h100-4gpu"
ServerPreset MakeHgxH100Of4();
/// @ingroup proteus
/// @return preset "hgx-h200-4gpu"
ServerPreset MakeHgxH200Of4();
/// @ingroup proteus
/// @return preset "quad-gh200"
ServerPreset MakeQuadGh200();
/// @ingroup proteus
/// @return preset "dgx-spark"
ServerPreset MakeDgxSpark();
/// @ingroup proteus
/// @return preset "pcie-v100x4"
ServerPreset MakePcieV100x4();
/// @ingroup proteus
/// @return preset "pcie-v100x8"
ServerPreset MakePcieV100x8();
/// @ingroup proteus
/// @return preset "titanxp-pcie"
ServerPreset MakeTitanXpPcie();

/**
 * @ingroup proteus
 * A server of PCI Express cards by its name: how many at one CPU, "x", and the model, "8xL40S"; in
 * front of it sockets, "2x4xL40S". Each GPU has a slot of x16 at its CPU, each CPU a NIC.
 * @param name in any spelling of the model @return the name; empty if it is of no such server
 */
std::string FindCardServer(const std::string& name);

/// @ingroup proteus
/// What there is in a server of cards beside them.
struct CardLayout
{
    uint32_t nics{0};     //!< NICs of the server; if fewer than CPUs, one at each of these
    uint32_t switches{0}; //!< PCIe switches of the server, which have the cards and the NICs
    uint32_t bridged{1};  //!< so many neighbouring cards are joined by bridges of NVLink
};

/**
 * @ingroup proteus
 * @param name see FindCardServer()
 * @param layout what else there is. CPUs, switches and NICs have equal shares: of four cards at a
 * CPU with two switches, each switch has two. A switch is joined to its CPU by x16.
 * @return the server
 * @throw std::invalid_argument if it is of no such server, if switches do not get equal shares, or
 * if there is no such bridge for the card
 */
ServerPreset MakeCardServer(const std::string& name, const CardLayout& layout = CardLayout());

/// @ingroup proteus
/// @param preset of the servers @param servers how many @param fabric how they are joined
/// @return as MakeCluster() by name
/// @throw std::invalid_argument as that
Cluster MakeCluster(const ServerPreset& preset,
                    uint32_t servers,
                    const FabricOptions& fabric = FabricOptions());

/// @ingroup proteus
/// @param name in any spelling @return the preset, of a server of cards the usual one
/// @throw std::invalid_argument that lists the known names
ServerPreset GetServerPreset(const std::string& name);

/// @ingroup proteus
/// @param gpu name of a data sheet @return generation of its PCI Express: 3 up to Turing, 4 of
/// Ampere and Ada, 5 since (data sheets of NVIDIA); 0 of modules, which are no cards
uint32_t GetCardGeneration(const std::string& gpu);

/**
 * @ingroup proteus
 * What two CPUs carry to each other, by what there is around a card, whose name does not say which
 * CPUs these are: SocketRates of AMD's Zen 3 from Gen4 on and of Zen 2 before, of Intel's Sapphire
 * Rapids from Gen5 on and of Skylake before; for others those of Zen 2.
 * @param vendor of the CPUs @param generation of their PCI Express @return bytes per second
 */
double GetSocketBytesPerSecond(CpuVendor vendor, uint32_t generation);

/**
 * @ingroup proteus
 * Refuses what would not fit into memory, and more NICs than a fabric can join, before the second
 * server is built.
 * @param cluster with the first server
 * @param servers how many there will be
 * @param nics of each server
 * @param fabric kind that joins several
 * @throw std::invalid_argument
 */
void CheckServersFit(const Cluster& cluster,
                     uint32_t servers,
                     uint64_t nics,
                     const std::string& fabric);

/**
 * @ingroup proteus
 * Raw rate of a PCI Express x16 link: 8, 16 and 32 GT/s per lane for generations 3 to 5, coded
 * 128b/130b, and 64 GT/s for generation 6, of whose flits of 256 bytes 14 are checks (PCI Express
 * Base Specification 3.0 to 6.0), to a whole byte per second.
 * @param generation 3 to 6
 * @return bytes per second and direction
 */
double PcieX16BytesPerSecond(uint32_t generation);

/**
 * @ingroup proteus
 * A GPU with what it can move, as GpuModel has it.
 * @param model name of a data sheet
 * @return the vertex, without name and server; a model that is not known has no limits
 */
Vertex MakeGpu(const std::string& model);

/**
 * @ingroup proteus
 * An NVSwitch. From the third generation on, that of H100 (NVLink 4), it copies units to several
 * ports and combines them (NVLink SHARP; NVIDIA, "The NVLink-Network Switch", Hot Chips 34, 2022).
 * @param nvlinkGeneration 2 to 5
 * @return the vertex, without name and server
 */
Vertex MakeNvSwitch(uint32_t nvlinkGeneration);

/**
 * @ingroup proteus
 * Root complex of a CPU.
 * @param forwardBytesPerSecond what it forwards between devices; 0 for no limit
 * @param peerToPeer whether devices below write to each other, GPUs and NICs
 * @param vendor who made it
 * @return the vertex, without name and server
 */
Vertex MakeCpu(double forwardBytesPerSecond,
               bool peerToPeer = true,
               CpuVendor vendor = CpuVendor::INTEL);

/**
 * @ingroup proteus
 * What the root complex of an Intel CPU forwards between devices. It splits writes into packets of
 * 64 bytes, so that they take 6/5 of the time (NVIDIA/nccl v2.30.7, src/graph/topo.h,
 * INTEL_P2P_OVERHEAD, on the 12 GB/s of a Gen3 x16 link, PCI_BW).
 * @param generation of its PCI Express
 * @return payload bytes per second
 */
double IntelForwardBytesPerSecond(uint32_t generation);

/**
 * @ingroup proteus
 * Adds `count` vertices named by server, kind and index, e.g. "n0.gpu3".
 * @param cluster to add to
 * @param server its number
 * @param like what they are
 * @param count how many
 * @return the vertices
 */
std::vector<VertexId> AddServerVertices(Cluster& cluster,
                                        uint32_t server,
                                        const Vertex& like,
                                        uint32_t count);

/**
 * @ingroup proteus
 * Adds `count` vertices named by server, kind and index, with nothing particular.
 * @param cluster to add to
 * @param server its number
 * @param kind of the vertices
 * @param count how many
 * @return the vertices
 */
std::vector<VertexId> AddServerVertices(Cluster& cluster,
                                        uint32_t server,
                                        VertexKind kind,
                                        uint32_t count);

/**
 * @ingroup proteus
 * Stores of kernels fill packets of PCI Express where they go to system memory. So do those to
 * peers that GPUs reach as such, through BAR1: GeForce has nothing else for it, and needs a changed
 * driver (tinygrad/open-gpu-kernel-modules, README: GMMU_APERTURE_SYS_NONCOH). Measured, NCCL on
 * four RTX 4090 of Gen4 x16 that write to each other: 25.3 of 31.5 GB/s, 80.3 % (a ring, both
 * ways); framing says 80 %.
 * @param technology of a link @param generation of it, 0 for the default one
 * @param a one end @param b the other end
 * @return the framing of the technology, with what the GPUs at the ends of the link do
 * @throw std::invalid_argument if the generation is not known
 */
LinkFraming DefaultFraming(LinkTechnology technology,
                           uint32_t generation,
                           const Vertex& a,
                           const Vertex& b);

/**
 * @ingroup proteus
 * Adds a link with the delay, framing and cost that its technology has by default.
 * @param cluster to add to
 * @param a one end
 * @param b the other end
 * @param technology of the link
 * @param bytesPerSecond raw rate of one direction
 * @param generation of NVLink or PCI Express; 0 for the default one
 */
void AddDefaultLink(Cluster& cluster,
                    VertexId a,
                    VertexId b,
                    LinkTechnology technology,
                    double bytesPerSecond,
                    uint32_t generation = 0);

/**
 * @ingroup proteus
 * Adds a PCI Express x16 link.
 * @param cluster to add to
 * @param a one end
 * @param b the other end
 * @param generation 3, 4 or 5
 */
void AddPcieLink(Cluster& cluster, VertexId a, VertexId b, uint32_t generation);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SERVER_PRESET_H
