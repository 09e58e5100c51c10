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
 * Gradients that go over parameter servers on hosts of their own, in place of all-reduces.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Parameter servers. They are devices, behind those of the graph.
struct ParameterServers
{
    /// Workers never wait for each other.
    static constexpr uint32_t ASYNCHRONOUS = UINT32_MAX;

    uint32_t servers{1};                     //!< how many, at least 1
    std::vector<uint32_t> hostOf;            //!< by device of the graph: the worker's host
    double aggregatedBytesPerSecond{25.6e9}; //!< that a server adds to its sums, above 0
    /// What a worker pulls in an iteration has in it what all workers pushed up to so many
    /// iterations before (stale synchronous parallel; Ho et al., NIPS 2013); 0: synchronous.
    uint32_t staleness{0};
};

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
 * What the servers do besides sums (the update of parameters) takes no time: workers update, as
 * the graph has it.
 *
 * @param scheduled a graph, its communications cut or merged
 * @param iterationOf by phase: which iteration it belongs to
 * @param servers of it
 * @param kinds of communication that go over servers
 * @return the graph
 * @throw std::invalid_argument if there is no server, a rate that is not positive, or one of these
 * communications is no all-reduce
 */
ServedGraph ServeCommunications(const ScheduledGraph& scheduled,
                                const std::vector<uint32_t>& iterationOf,
                                const ParameterServers& servers,
                                const std::vector<Parallelism>& kinds);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PARAMETER_SERVERS_H
