/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NCCL_TOPOLOGY_H
#define PROTEUS_NCCL_TOPOLOGY_H

#include "ns3/proteus-cluster.h"

#include <cstdint>
#include <istream>
#include <string>

/**
 * @file
 * @ingroup proteus
 * The topology that NCCL dumps.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What a user says of a topology that does not say it.
struct NcclTopologyOptions
{
    std::string gpu;    //!< name of a data sheet, for all GPUs; empty: as the file says
    std::string nvlink; //!< "nvswitch": all GPUs are joined by one, with all NVLinks that they
                        //!< have; "none": there are none; empty: as the file says
    std::string gdr;   //!< "off": NICs reach no GPU (no GPUDirect RDMA); "on": they do; empty: they
                       //!< do, with a warning if the file says that some do not
    std::string peers; //!< "on": CPUs pass what one device writes to another; "off": not between
                       //!< GPUs; empty: see NcclServer::SetPeers()
};

/**
 * @ingroup proteus
 * @param text e.g. "gpu=a100-sxm4-40gb,nvlink=nvswitch", as it stands behind FILE.xml and a colon
 * @return what it says
 * @throw std::invalid_argument for anything else
 */
NcclTopologyOptions ParseNcclTopologyOptions(const std::string& text);

/**
 * @ingroup proteus
 * Reads the topology of one server in the XML format that NCCL writes to NCCL_TOPO_DUMP_FILE and
 * reads from NCCL_TOPO_FILE (NVIDIA/nccl v2.30.7, src/graph/xml.cc, topo.cc), and joins as many
 * such servers as asked for.
 *
 * - `cpu`: a socket or NUMA node. All of them are joined with each other, at the rate that NCCL
 *   counts for the vendor and model; an Intel CPU forwards what IntelForwardBytesPerSecond() says,
 *   one of AMD 16 GB/s, as measured. Which devices reach each other through it says
 *   NcclServer::SetPeers(); others go by way of the memory of the host, which their link limits.
 * - `pci`: a GPU (class 0x03.... or with a `gpu` inside), a NIC (class 0x02.... or with a `nic`
 *   inside) or, with something inside, a PCIe switch; others are skipped. The link upwards has
 *   link_width lanes of link_speed; as in NCCL, no speed means 8 GT/s and no width 16 lanes.
 * - `gpu`: ranked by `dev`. The data sheet is that of the options, or follows from the PCI
 * device id of a GPU of NVIDIA (GpuModel::pciDevices) or else from `sm`; where there is nothing, as
 * in files that cloud providers write by hand, from the PCIe generation: V100, A100 or H100, with a
 * warning.
 * - `nvlink`: `count` links to the device `target`; tclass tells a GPU (listed at both ends), an
 *   NVSwitch (one per target) or the CPU. Links to a GPU that the file does not have are skipped,
 *   as NCCL does. `gdr`: see NcclTopologyOptions. `c2c`: a link to the CPU, of
 * `count` x `bw` MB/s, in the place of the PCIe link if that, too, goes to the CPU, as NCCL's paths
 * take the faster one.
 * - `net`: a port of a NIC, `speed` in Mb/s, InfiniBand if the PCIe class is 0x0207, otherwise
 *   RoCE. The ports of one NIC are taken together. Where there is no `net`, the NIC has the speed
 *   that fits its PCIe generation: 100, 200 or 400 Gb/s. NICs that are slower than the fastest ones
 *   are for other purposes and are left out.
 *
 * Elements and attributes that have no meaning for bandwidth are skipped. A file without NVLinks
 * whose GPUs could have some gets a warning, see Warn().
 *
 * @param input the text
 * @param fileName for errors
 * @param servers how many, 1 to MAX_SERVERS
 * @param fabric how they are joined; not used for one
 * @param options what the file does not say
 * @return the cluster, validated
 * @throw std::invalid_argument of one line, "FILE:LINE: /system/cpu[0]: cause"
 */
Cluster ReadNcclTopology(std::istream& input,
                         const std::string& fileName,
                         uint32_t servers = 1,
                         const FabricOptions& fabric = FabricOptions(),
                         const NcclTopologyOptions& options = NcclTopologyOptions());

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NCCL_TOPOLOGY_H
