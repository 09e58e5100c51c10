/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CLUSTER_JSON_H
#define PROTEUS_CLUSTER_JSON_H

#include "ns3/proteus-cluster.h"

#include <cstdint>
#include <istream>
#include <ostream>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Clusters as JSON files.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Reads a cluster.
 *
 * Every file has "format": "proteus-cluster" and "version": 1. The short form names a preset:
 * @code{.json}
 * {"format": "proteus-cluster", "version": 1,
 *  "server": "dgx-a100", "servers": 8,
 *  "fabric": {"kind": "leaf-spine", "oversubscription": 2, "servers_per_leaf": 4, "spines": 4}}
 * @endcode
 * A fabric has the options that GetFabricOptionFields() lists for its kind. Plain hosts, see
 * MakeHostCluster(), stand in place of a server:
 * @code{.json}
 * {"format": "proteus-cluster", "version": 1,
 *  "hosts": 128, "link": {"technology": "roce", "rate_gbytes_per_s": 50, "delay_ns": 500},
 *  "fabric": {"kind": "fat-tree", "switch_ports": 8}}
 * @endcode
 * The explicit form lists everything; what is left out of a link is the default of its technology
 * (DefaultDelayPs(), DefaultCost(), DefaultFraming(), for NVLink and PCIe of a "generation"), each
 * field of the framing on its own, and what is left out of a vertex is no limit and no capability:
 * @code{.json}
 * {"format": "proteus-cluster", "version": 1, "name": "pair",
 *  "vertices": [{"name": "n0.gpu0", "kind": "gpu", "server": 0, "model": "A100-SXM4-80GB",
 *                "memory_gbytes_per_s": 2039, "copy_engines": 5, "copy_engine_gbytes_per_s": 280,
 *                "sm_copy_gbytes_per_s": 24},
 *               {"name": "n0.pcie0", "kind": "pcie-switch", "server": 0, "peer_to_peer": false,
 *                "forward_gbytes_per_s": 100},
 *               {"name": "n0.gpu1", "kind": "gpu", "server": 0, "model": "A100-SXM4-80GB"}],
 *  "links": [{"a": "n0.gpu0", "b": "n0.pcie0", "technology": "pcie", "rate_gbytes_per_s": 31.5},
 *            {"a": "n0.gpu1", "b": "n0.pcie0", "technology": "pcie", "rate_gbytes_per_s": 31.5,
 *             "generation": 4, "delay_ns": 300, "cost": 5,
 *             "loss_probability": 0, "bit_error_rate": 1e-15,
 *             "framing": {"unit_bytes": 4096, "unit_header_bytes": 0, "packet_bytes": 128,
 *                         "packet_header_bytes": 24, "control_bytes": 32, "reverse_bytes": 8,
 *                         "sm_packet_header_bytes": 0, "sm_reverse_bytes": 0,
 *                         "multimem_packet_bytes": 0, "reduce_header_bytes": 0,
 *                         "reduce_reverse_bytes": 0, "multicast_header_bytes": 0,
 *                         "multicast_reverse_bytes": 0}}]}
 * @endcode
 * Switches of a network, "switch", may have "buffer_bytes"; these and "nvswitch" may have
 * "multicast" and "reduction". A "cpu" may have a "vendor", see CpuVendor, "memory_gbytes_per_s"
 * and, as a "nic", "gpu_direct_rdma"; what one of them says as "peer_to_peer" alone holds for both,
 * and of a NIC it means the same.
 *
 * Rates are 1e9 bytes per second and direction, read to the nearest byte per second; delays are
 * read to the nearest picosecond. GPUs are ranked in the order of "vertices".
 *
 * @param input the text
 * @param fileName for errors
 * @return the cluster, validated
 * @throw std::invalid_argument of one line: "FILE:LINE:COLUMN: cause" for syntax, "FILE:
 * /links/3/a: cause" for content; a key that is not known is an error
 */
Cluster ReadClusterJson(std::istream& input, const std::string& fileName);

/**
 * @ingroup proteus
 * Writes a cluster in the explicit form, without what is the default of a link's technology. Reads
 * back to the same cluster if its rates are whole bytes per second.
 * @param cluster to write
 * @param output where to
 */
void WriteClusterJson(const Cluster& cluster, std::ostream& output);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CLUSTER_JSON_H
