/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SERVER_OPTIONS_H
#define PROTEUS_SERVER_OPTIONS_H

#include "proteus-option-list.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-executor.h"
#include "ns3/proteus-parameter-servers.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Options about what carries gradients: all-reduces, or parameter servers.
struct ServerOptions
{
    ServerOptions();

    std::string gradients;       //!< all-reduce or parameter-server
    int64_t servers;             //!< how many; 0: one on each host of the workers
    std::string serverHosts;     //!< workers or own
    std::string hostAggregation; //!< host or gpu
    double serverRate;           //!< gradients that a host adds up, two at a time, GB/s
    std::string staleness;       //!< iterations, or async

    /// @param command to add the options to
    void AddTo(OptionList& command);

    /// @param crossIteration what an iteration waits for of the one before
    /// @throw std::invalid_argument that names a wrong option
    void Check(const std::string& crossIteration) const;

    /// @return whether there are servers on hosts of their own
    bool HasOwnHosts() const;

    /// @return whether the memory of hosts holds the sums of their GPUs
    bool HasHostSums() const;

    /// @return whether communications become steps of their own: ParameterServers
    bool HasSteps() const;

    /**
     * Sets how gradients go over servers on the workers' hosts, if GPUs add them up there.
     * @param settings to change
     * @param cluster of the run; must outlive the settings
     */
    void ApplyTo(ExecutorSettings& settings, const Cluster& cluster) const;

    /**
     * Adds servers on hosts of their own, and memories of the workers' hosts, whose ranks are
     * behind the devices of a graph.
     * @param cluster to change
     * @param devices of the graph
     * @return the servers
     */
    ParameterServers AddHosts(Cluster& cluster, uint32_t devices) const;

    /// @param graph of one iteration @param cluster where it runs
    /// @return what is said of servers on workers' hosts that no gradient goes to, and why
    std::vector<std::string> ListIdle(const ExecutionGraph& graph, const Cluster& cluster) const;

    /**
     * How long a communication takes at least by such steps: what goes over the network link of a
     * host with a worker, or of a server, at its bandwidth; where hosts add up, also what goes over
     * each link between GPUs and their host's memory, and what its CPU adds.
     * @param graph of one iteration
     * @param cluster with the servers
     * @param servers of it
     * @param timesPs by task: as all-reduces; those of communications over servers are replaced
     */
    void SetLeastTimes(const ExecutionGraph& graph,
                       const Cluster& cluster,
                       const ParameterServers& servers,
                       std::vector<int64_t>& timesPs) const;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SERVER_OPTIONS_H
