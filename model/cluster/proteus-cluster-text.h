/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CLUSTER_TEXT_H
#define PROTEUS_CLUSTER_TEXT_H

#include "proteus-cluster.h"

#include <cstdint>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Short forms: presets with changes in a few words.
 */

namespace ns3
{
namespace proteus
{

struct FabricVariant;

/// @ingroup proteus
/// @param text any @return whether it is the name of a server preset, ":" and something
bool IsClusterText(const std::string& text);

/// @ingroup proteus
/// @param text for which IsClusterText() holds @return the name of the preset
std::string GetTextPreset(const std::string& text);

/// @ingroup proteus
/// @param text for which IsClusterText() holds @return whether it says how many servers there are
bool SaysServers(const std::string& text);

/// @ingroup proteus
/// @param key of such a text @return whether it says what is inside a server of cards
bool IsCardKey(const std::string& key);

/**
 * @ingroup proteus
 * Makes a cluster of a preset with changes: "PRESET:KEY=VALUE,...", e.g.
 * "dgx-h100:nodes=8,nic=4x200G-roce,leafs=2". Keys:
 *
 * - nodes: servers;
 * - nic: NICs of a server that are plugged in, "x", their rate in Gb/s, "G", and, behind "-",
 *   roce or infiniband; each part may be left out: "4x", "200G", "roce", "200G-roce";
 * - gpu: model of all GPUs, a name that FindGpuModel() knows, at the preset's links; e.g. a DGX
 * A100 with A100-SXM4-40GB;
 * - fabric: one of GetFabricKinds(), but for nvlink-domain, which joins no NICs;
 * - leafs: switches of a leaf-spine fabric, among which the servers are divided; means leaf-spine
 *   where no fabric is named;
 * - any option of the fabric, as files or command lines write it (servers_per_leaf,
 *   serversPerLeaf);
 * - bundles: whole or cables, see SplitBundles();
 * - of a server of cards, see FindCardServer(): pcie, generation and lanes of its slots ("4x8",
 *   "5"); cpu, the vendor; p2p, on or off: whether GPUs reach each other through CPUs; memory, the
 *   channels of each CPU and their DDR ("12xDDR5-4800"), see GetStagingRate();
 * - mtu: most payload of a packet of the network, bytes: one of InfiniBand's and RoCE's, 256 to
 * 4096.
 *
 * @param text see above
 * @param servers how many, if the text does not say; 0: two, or one where only what IsCardKey()
 * knows is said
 * @param base options of the fabric, where the text says nothing else
 * @return the cluster, validated
 * @throw std::invalid_argument of one line that says which key or value is wrong
 */
Cluster MakeTextCluster(const std::string& text, uint32_t servers, const FabricOptions& base);

/**
 * @ingroup proteus
 * Joins servers that differ from a preset by a variant of a network.
 * @param text a server preset, or one with changes of its servers: nic, gpu, mtu, and what
 * IsCardKey() knows; of nic, the technology and the number of NICs must not contradict the
 * variant's, where it has one
 * @param servers how many, two or more
 * @param variant how they are joined
 * @return the cluster, validated
 * @throw std::invalid_argument as MakeTextCluster() and MakeVariantCluster()
 */
Cluster MakeTextVariant(const std::string& text, uint32_t servers, const FabricVariant& variant);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CLUSTER_TEXT_H
