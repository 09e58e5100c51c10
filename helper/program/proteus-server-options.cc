/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-server-options.h"

#include "proteus-program-options.h"

#include "ns3/proteus-program.h"
#include "ns3/proteus-server-hosts.h"
#include "ns3/proteus-whole-number.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// What carries gradients, by name.
constexpr const char* ALL_REDUCE = "all-reduce";
constexpr const char* PARAMETER_SERVER = "parameter-server";
/// Where servers are, by name.
constexpr const char* WORKER_HOSTS = "workers";
constexpr const char* OWN_HOSTS = "own";
constexpr const char* ASYNCHRONOUS = "async";

constexpr double BYTES_PER_GB = 1e9;
constexpr double PS_PER_S = 1e12;

/// @param text of the option @return ParameterServers::staleness
uint32_t
ParseStaleness(const std::string& text)
{
    if (text == ASYNCHRONOUS)
    {
        return ParameterServers::ASYNCHRONOUS;
    }
    const auto iterations = ParseWholeNumber<uint32_t>(text);
    if (!iterations)
    {
        throw std::invalid_argument("--staleness=" + text +
                                    ": must be a number of iterations, 0 for synchronous, or "
                                    "async");
    }
    return *iterations;
}

/// @param cluster to look at @param server of it @return payload that its NICs move between it and
/// the network, in one direction, bytes per second
double
GetNetworkRate(const Cluster& cluster, int32_t server)
{
    double bytesPerSecond = 0;
    for (const Link& link : cluster.GetLinks())
    {
        const Vertex& a = cluster.GetVertices()[link.a];
        const Vertex& b = cluster.GetVertices()[link.b];
        if ((a.kind == VertexKind::NIC && a.server == server && b.kind == VertexKind::SWITCH) ||
            (b.kind == VertexKind::NIC && b.server == server && a.kind == VertexKind::SWITCH))
        {
            const uint32_t unit = link.framing.unitBytes;
            bytesPerSecond +=
                link.bytesPerSecond * unit / static_cast<double>(link.framing.WireBytes(unit));
        }
    }
    return bytesPerSecond;
}

} // namespace

ServerOptions::ServerOptions()
    : gradients(ALL_REDUCE),
      servers(0),
      serverHosts(WORKER_HOSTS),
      serverRate(GetAggregationRate(DEFAULT_SERVER_CPU) / BYTES_PER_GB),
      staleness("0")
{
}

void
ServerOptions::AddTo(OptionList& command)
{
    command.AddValue("gradients",
                     "what carries them: all-reduce (as NCCL chooses), or parameter-server: the "
                     "GPUs of a host add up, and push to and pull from servers",
                     gradients);
    command.AddValue("servers",
                     "hosts with parameter servers: of the workers, from the first on (0: all), or "
                     "of their own",
                     servers);
    command.AddValue("serverHosts",
                     std::string("where servers are: workers (on their hosts), or own (hosts with "
                                 "a CPU ") +
                         DEFAULT_SERVER_CPU + " and a NIC)",
                     serverHosts);
    command.AddValue("serverRate",
                     "gradients that a server on a host of its own adds up, GB/s; the default is a "
                     "third of the rate of its memory: two reads, one write",
                     serverRate);
    command.AddValue("staleness",
                     "of servers on hosts of their own: iterations that a worker may be ahead of "
                     "what it has from the others, 0 (synchronous) or more, or async",
                     staleness);
}

void
ServerOptions::Check(const std::string& crossIteration) const
{
    if (gradients != ALL_REDUCE && gradients != PARAMETER_SERVER)
    {
        throw std::invalid_argument("--gradients=" + gradients +
                                    ": must be all-reduce or parameter-server");
    }
    const ServerOptions defaults;
    const bool ofOwnHosts = serverRate != defaults.serverRate || staleness != defaults.staleness;
    if (gradients == ALL_REDUCE &&
        (servers != defaults.servers || serverHosts != defaults.serverHosts || ofOwnHosts))
    {
        throw std::invalid_argument("--servers, --serverHosts, --serverRate and --staleness: an "
                                    "all-reduce has no servers; add --gradients=parameter-server");
    }
    if (serverHosts != WORKER_HOSTS && serverHosts != OWN_HOSTS)
    {
        throw std::invalid_argument("--serverHosts=" + serverHosts + ": must be workers or own");
    }
    if (HasOwnHosts() && servers < 1)
    {
        throw std::invalid_argument("--serverHosts=own: the servers have no host; say how many "
                                    "there are, e.g. --servers=2");
    }
    if (!HasOwnHosts() && ofOwnHosts)
    {
        throw std::invalid_argument("--serverRate and --staleness are of servers on hosts of their "
                                    "own; add --serverHosts=own --servers=N");
    }
    if (!(serverRate > 0))
    {
        throw std::invalid_argument("--serverRate: must be above 0 GB/s");
    }
    if (ParseStaleness(staleness) > 0 && crossIteration != "tensor")
    {
        throw std::invalid_argument("--staleness=" + staleness +
                                    ": --crossIteration=" + crossIteration +
                                    " makes workers wait for each other; take tensor");
    }
}

bool
ServerOptions::HasOwnHosts() const
{
    return serverHosts == OWN_HOSTS;
}

void
ServerOptions::ApplyTo(ExecutorSettings& settings, const Cluster& cluster) const
{
    if (gradients == ALL_REDUCE || HasOwnHosts())
    {
        return;
    }
    settings.collectives.algorithm = "host-parameter-server";
    settings.collectives.maker = [&cluster,
                                  paths = std::make_shared<const Paths>(cluster),
                                  wanted =
                                      ToCount(servers, "servers", 0)](CollectiveRequest request) {
        std::set<int32_t> hosts;
        for (const VertexId vertex : request.vertices)
        {
            hosts.insert(cluster.GetVertices()[vertex].server);
        }
        if (wanted > hosts.size())
        {
            throw std::invalid_argument(
                "--servers=" + std::to_string(wanted) + ": workers that share gradients are on " +
                std::to_string(hosts.size()) + (hosts.size() == 1 ? " host" : " hosts") +
                "; take no more servers, or --serverHosts=own");
        }
        request.parameterServers = wanted == 0 ? static_cast<uint32_t>(hosts.size()) : wanted;
        return MakeProgram(cluster, *paths, request);
    };
}

ParameterServers
ServerOptions::AddHosts(Cluster& cluster, uint32_t devices) const
{
    ParameterServers made;
    made.servers = ToCount(servers, "servers", 1);
    made.aggregatedBytesPerSecond = serverRate * BYTES_PER_GB;
    made.staleness = ParseStaleness(staleness);
    std::map<int32_t, uint32_t> hosts; // numbered as they appear
    for (DeviceId device = 0; device < devices; ++device)
    {
        const int32_t server = cluster.GetVertices()[cluster.GetGpus()[device]].server;
        made.hostOf.push_back(
            hosts.emplace(server, static_cast<uint32_t>(hosts.size())).first->second);
    }
    const std::vector<VertexId> gpus = cluster.GetGpus();
    AddServerHosts(cluster, made.servers);
    std::vector<VertexId> ranks(gpus.begin(), gpus.begin() + devices);
    ranks.insert(ranks.end(),
                 cluster.GetGpus().begin() + static_cast<std::ptrdiff_t>(gpus.size()),
                 cluster.GetGpus().end());
    cluster.RankGpus(ranks);
    cluster.Validate();
    return made;
}

void
ServerOptions::SetLeastTimes(const ExecutionGraph& graph,
                             const Cluster& cluster,
                             const ParameterServers& made,
                             std::vector<int64_t>& timesPs) const
{
    const auto serverOf = [&cluster](DeviceId device) {
        return cluster.GetVertices()[cluster.GetGpus()[device]].server;
    };
    const double serverBytesPerSecond = GetNetworkRate(cluster, serverOf(graph.GetNDevices()));
    const double workerBytesPerSecond = GetNetworkRate(cluster, serverOf(0));
    const std::vector<Parallelism> kinds = ScheduleSettings().kinds;
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        if (task.kind != TaskKind::COMMUNICATION ||
            std::find(kinds.begin(), kinds.end(), task.parallelism) == kinds.end())
        {
            continue;
        }
        std::set<int32_t> hosts;
        for (const DeviceId device : graph.GetGroup(task.place))
        {
            hosts.insert(serverOf(device));
        }
        // Over all tensors, a server has an equal share of what all hosts push.
        const double leastS =
            static_cast<double>(task.bytes) *
            std::max(1 / workerBytesPerSecond,
                     static_cast<double>(hosts.size()) / made.servers / serverBytesPerSecond);
        timesPs[id] = static_cast<int64_t>(leastS * PS_PER_S);
    }
}

} // namespace proteus
} // namespace ns3
