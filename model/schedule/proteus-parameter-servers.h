/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PARAMETER_SERVERS_H
#define PROTEUS_PARAMETER_SERVERS_H

#include "proteus-communication-scheduler.h"

#include "ns3/proteus-graph-iterations.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Gradients that go over parameter servers by steps, in place of all-reduces.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Who adds up the gradients of the GPUs of a host, before they go to servers.
enum class HostAggregation : uint8_t
{
    /// One of the GPUs, by a REDUCE and a BROADCAST (MXNet's kvstore "dist_device_sync").
    GPU,
    /// The CPU, in the memory of the host, to and from which every GPU copies ("dist_sync").
    HOST,
};

/// @ingroup proteus
/// Parameter servers. They are devices behind those of the graph, as are the memories of hosts,
/// see GetMemory().
struct ParameterServers
{
    /// Workers never wait for each other.
    static constexpr uint32_t ASYNCHRONOUS = UINT32_MAX;

    uint32_t servers{1};                     //!< how many, at least 1
    std::vector<uint32_t> hostOf;            //!< by device of the graph: the worker's host
    double aggregatedBytesPerSecond{25.6e9}; //!< that a server adds to its sums, above 0: a third
                                             //!< of the rate of its memory, or of a host's
    /// What a worker pulls in an iteration has in it what all workers pushed up to so many
    /// iterations before (stale synchronous parallel; Ho et al., NIPS 2013); 0: synchronous.
    uint32_t staleness{0};
    HostAggregation aggregation{HostAggregation::GPU}; //!< of hosts with several GPUs
    /// Whether servers are the memories of the first hosts of the workers, not hosts of their own;
    /// only with HostAggregation::HOST.
    bool isOnWorkers{false};
    /// HOST: what is at least so long goes in equal slices to all servers (MXNet's
    /// MXNET_KVSTORE_BIGARRAY_BOUND, a million numbers), what is shorter to one.
    uint64_t sliceBytes{4000000};

    /// @return hosts with workers
    uint32_t GetHosts() const;

    /// @return devices behind those of the graph
    uint32_t GetDevices() const;

    /// @param host with workers @return the device that is its memory, counted from the first
    /// behind those of the graph; only with HostAggregation::HOST
    uint32_t GetMemory(uint32_t host) const;
};

/**
 * @ingroup proteus
 * What the CPU of a host passes to and from memory to add up. Up to four are added to the sum at a
 * time (apache/mxnet, src/kvstore/comm.h, CommCPU): each is read, and the sum is read and written.
 * @param addends how many, at least 1
 * @return bytes for each byte of one addend
 */
uint32_t CountHostTraffic(uint32_t addends);

/// @ingroup proteus
/// Who decides when a communication starts, and what it counts.
struct ServedTask
{
    TaskId origin{0};       //!< task that it is a step of, or the task itself
    uint32_t window{NO_ID}; //!< of credit; NO_ID: that of the first rank
    bool isLocal{false};    //!< inside a host: it counts no credit
};

/// @ingroup proteus
/// A graph with its servers.
struct ServedGraph
{
    ExecutionGraph graph;           //!< with a device more for each server
    std::vector<ServedTask> tasks;  //!< by task of it
    std::vector<uint32_t> serverOf; //!< by task of the graph before: its server; NO_ID: it has none
};

/**
 * @ingroup proteus
 * Spreads things over places: the largest first, each where there is least so far.
 * @param bytes their sizes
 * @param places how many, at least 1
 * @return by thing, its place
 */
std::vector<uint32_t> SpreadBySize(const std::vector<uint64_t>& bytes, uint32_t places);

/**
 * @ingroup proteus
 * Puts servers in the place of all-reduces. Each all-reduce, or part of one, has one server, and
 * on every host one GPU that talks to it (SpreadBySize() of an iteration for both). Its steps are
 * tasks of their own, named after it: "NAME.reduce" to that GPU (hosts with several GPUs),
 * "NAME.push" of every host, "NAME.sum" on the server for every push, at its rate; then
 * "NAME.pull" and "NAME.share". A server sums up one push after the other, as they come. A pull
 * waits for the sums that ParameterServers::staleness says. Pushes of a host share a credit window,
 * its pulls another one; steps inside a host need none. All of them keep the kind of parallelism.
 *
 * With HostAggregation::HOST there is "NAME.to-host" of every GPU to the memory of its host and
 * "NAME.add" there (CountHostTraffic()) in the place of the reduction, pushes and pulls are of that
 * memory, and "NAME.to-gpu" to every GPU follows them. A GPU copies one after the other in each
 * direction (ONE_AT_A_TIME). A server on a worker's host takes what that host has added up
 * from its memory. What is on one host alone and has its server there needs none.
 *
 * What the servers do besides sums (the update of parameters) takes no time: workers update, as
 * the graph has it.
 *
 * @param scheduled a graph, its communications cut or merged
 * @param iterationOf by phase: which iteration it belongs to
 * @param servers of it
 * @param kinds of communication that go over servers
 * @return the graph
 * @throw std::invalid_argument if there is no server, or more on workers' hosts than there are of
 * these, a rate that is not positive, or one of these communications is no all-reduce
 */
ServedGraph ServeCommunications(const ScheduledGraph& scheduled,
                                const std::vector<uint32_t>& iterationOf,
                                const ParameterServers& servers,
                                const std::vector<Parallelism>& kinds);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PARAMETER_SERVERS_H
