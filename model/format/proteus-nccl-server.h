/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NCCL_SERVER_H
#define PROTEUS_NCCL_SERVER_H

#include "ns3/proteus-cluster.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * One server of a topology of NCCL, and the clusters made of copies of it.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A device of the server; a vertex of every copy of it.
struct NcclDevice
{
    Vertex vertex;                                //!< without name and server
    uint64_t dev{0};                              //!< position among its kind that the file gives
    std::string id;                               //!< PCIe bus id; may be empty
    LinkTechnology network{LinkTechnology::ROCE}; //!< NICs
    double networkBytesPerSecond{0};              //!< NICs
    bool lacksRdma{false};                        //!< GPUs and NICs: no GPUDirect RDMA
    bool joinsGpus{false};                        //!< CPUs: by C2C or NVLink
};

/// @ingroup proteus
/// A link of the server. Its ends are positions of devices.
struct NcclLink
{
    std::size_t a{0};                                //!< one end
    std::size_t b{0};                                //!< the other
    LinkTechnology technology{LinkTechnology::PCIE}; //!< of the link
    double bytesPerSecond{0};                        //!< of a direction
    uint32_t generation{0};                          //!< of PCIe or NVLink
};

/// @ingroup proteus
/// A server as a topology of NCCL describes it.
class NcclServer
{
  public:
    /// @param device to add @return its position
    std::size_t Add(NcclDevice device);

    /// @param link to add
    void Add(const NcclLink& link)
    {
        m_links.push_back(link);
    }

    /// @return the devices, by position
    const std::vector<NcclDevice>& GetDevices() const
    {
        return m_devices;
    }

    /// @param position of a device @return it
    NcclDevice& GetDevice(std::size_t position)
    {
        return m_devices[position];
    }

    /// @param technology of links @return whether there is one
    bool HasLink(LinkTechnology technology) const;

    /// @return how many GPUs and NICs lack GPUDirect RDMA
    uint32_t CountWithoutRdma() const;

    /// @return how many NICs LeaveOutSlowNics() has left out
    uint32_t CountLeftOut() const;

    /**
     * Says who reaches whom through a CPU (Vertex::peerToPeer, and Vertex::gpuDirectRdma alike), as
     * NCCL does from 2.23 on: what is joined with it by C2C or NVLink, and two GPUs on AMD's
     * (NVIDIA/nccl v2.30.7, src/graph/paths.cc, ncclTopoCheckP2p()).
     * @param told NcclTopologyOptions::peers
     */
    void SetPeers(const std::string& told);

    /// Keeps the NICs of the highest rate, of the technology of the first of them.
    void LeaveOutSlowNics();

    /**
     * @param name of the topology
     * @param servers how many copies, 1 to MAX_SERVERS
     * @param fabric how they are joined; not used for one
     * @return the cluster, validated
     * @throw std::invalid_argument if there is no NIC to join servers by, or the cluster is not
     * valid
     */
    Cluster Build(const std::string& name, uint32_t servers, const FabricOptions& fabric) const;

  private:
    /// @return positions of the devices of a kind, in the order of their numbers
    std::vector<std::size_t> InOrder(VertexKind kind) const;

    /**
     * @param cluster to add a copy to
     * @param server which copy
     * @return NICs of the copy
     */
    std::vector<VertexId> AddCopy(Cluster& cluster, uint32_t server) const;

    std::vector<NcclDevice> m_devices;
    std::vector<NcclLink> m_links;
    std::vector<bool> m_isLeftOut; //!< by device
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NCCL_SERVER_H
