/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_HPCC_TOPOLOGY_H
#define PROTEUS_HPCC_TOPOLOGY_H

#include "ns3/proteus-cluster.h"

#include <cstdint>
#include <istream>
#include <string>

/**
 * @file
 * @ingroup proteus
 * The text topology of the HPCC family of simulators.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What a text topology does not say.
struct HpccTopologyOptions
{
    uint32_t payloadBytes{1000}; //!< of a full packet
    /// Of every packet, beside the payload. The HPCC simulator counts 48, the ns-3 backend of
    /// ASTRA-sim 36; RoCEv2 over Ethernet has 82, see DefaultFraming().
    uint32_t overheadBytes{48};
    uint32_t controlBytes{64};           //!< of an acknowledgement: the smallest Ethernet frame
    std::string model{"A100-SXM4-80GB"}; //!< data sheet of the GPUs, if the file names none
};

/// @ingroup proteus
/// @param options of packets @return how links between switches and hosts frame them
LinkFraming MakeNetworkFraming(const HpccTopologyOptions& options);

/**
 * @ingroup proteus
 * Reads a text topology. Words are separated by white space; a "#" begins a comment.
 *
 *     nodes switches links                                       nodes and switches count
 *     4                                                          ids of the switches
 *     0 4 100Gbps 0.001ms 0                                      one line per link:
 *     1 4 100Gbps 0.001ms 0                                      a b rate delay error
 *     ...
 *
 * PowerTCP and Reverie (inet-tub/ns3-datacenter) have `nodes switches tors links` in the first
 * line, Reverie with two rates behind, which are named and not read. ASTRA-sim and SimAI have
 * `nodes gpus_per_server nvswitches switches links gpu_type` in the first line; the second one has
 * the ids of the NVSwitches and then those of the switches. The first line tells the two apart by
 * its number of words.
 *
 * Vertex ids are the ids of the file, so that traffic files fit; vertices are called "node(id)".
 * Nodes that are no switches are hosts: GPUs, ranked by id, one per server, or gpus_per_server of
 * consecutive hosts. Links are RoCE with the framing of the options; those of an NVSwitch are
 * NVLink with the framing of its default generation. Rates are those of ns-3 (400Gbps, 50GB/s,
 * 1e9bps; bits per second without a unit), delays have a unit (0.0005ms, 500ns) or are seconds, and
 * "error" is the probability that a packet is lost. What follows the counted links is ignored, as
 * the HPCC simulator does.
 *
 * @param input the text
 * @param fileName for errors
 * @param options what the file does not say
 * @return the cluster, validated
 * @throw std::invalid_argument of one line, "FILE:LINE: cause"
 */
Cluster ReadHpccTopology(std::istream& input,
                         const std::string& fileName,
                         const HpccTopologyOptions& options = HpccTopologyOptions());

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_HPCC_TOPOLOGY_H
