/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CLUSTER_FILE_H
#define PROTEUS_CLUSTER_FILE_H

#include "proteus-hpcc-topology.h"

#include "ns3/proteus-cluster.h"

#include <cstdint>
#include <string>

/**
 * @file
 * @ingroup proteus
 * Clusters by the name that a user types.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Makes the cluster that a user names on a command line.
 *
 * A file is read by its suffix, .json as ReadClusterJson() does, .xml as ReadNcclTopology(); with
 * any other suffix by its first character: '{' or '[' is JSON, '<' is XML, a digit is the text of
 * ReadHpccTopology(), and a first word as IsHtsimTopologyWord() knows it that of
 * ReadHtsimTopology(). Lines that begin with '#' may stand before.
 *
 * Behind the path of an XML file there may be what it does not say, see ParseNcclTopologyOptions():
 * `topo.xml:gpu=a100-sxm4-40gb,nvlink=nvswitch`.
 *
 * @param nameOrPath name of a server preset, otherwise path of a file
 * @param servers how many; 0 for what the file says, or one of a preset or an NCCL topology
 * @param fabric how servers of a preset or of an NCCL topology are joined; other files say so
 * themselves
 * @param hpcc what a text topology does not say
 * @return the cluster, validated
 * @throw std::invalid_argument if there is neither such a preset nor such a file, if something is
 * wrong with the file, or if it has another number of servers
 */
Cluster LoadCluster(const std::string& nameOrPath,
                    uint32_t servers = 0,
                    const FabricOptions& fabric = FabricOptions(),
                    const HpccTopologyOptions& hpcc = HpccTopologyOptions());

/// @ingroup proteus
/// @param nameOrPath as LoadCluster() takes it @return the path in it, if it is one: without what
/// may stand behind that of an XML file
std::string GetClusterPath(const std::string& nameOrPath);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CLUSTER_FILE_H
