/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_MICRO_EXPERIMENT_H
#define PROTEUS_MICRO_EXPERIMENT_H

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Communications that begin at the same time on an idle cluster, to be run at packet level and at
/// flow level.
struct MicroExperiment
{
    std::string kind;      //!< of experiment, all sizes, e.g. "all-reduce, all"
    std::string name;      //!< e.g. "all-reduce 1048576 bytes, 8 ranks in one server"
    ExecutionGraph graph;  //!< the communications, each on a stream of its own
    bool isHeldOut{false}; //!< not for fitting, but for measuring the error of the fit
};

/**
 * @ingroup proteus
 * The experiments that show what the links of a cluster do to collectives, alone and when several
 * meet. Alone: every collective, in several sizes, over all GPUs of a server, one GPU of every
 * server, and all GPUs. Together: two or three messages or rings that share a resource: what leaves
 * a GPU, what enters it, a NIC, a PCIe switch, the link between sockets, or the uplinks of
 * switches, as far as the cluster has them.
 *
 * Every third experiment is held out.
 * @param cluster to explore
 * @param sizes in bytes
 * @return the experiments, always the same for the same cluster
 */
std::vector<MicroExperiment> DesignExperiments(const Cluster& cluster,
                                               const std::vector<uint64_t>& sizes);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_MICRO_EXPERIMENT_H
