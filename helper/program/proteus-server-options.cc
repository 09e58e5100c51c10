/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-server-options.h"

#include "proteus-collective-run.h"
#include "proteus-program-options.h"

#include "ns3/proteus-algorithms.h"
#include "ns3/proteus-first-way.h"
#include "ns3/proteus-paths.h"
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
/// Who adds up inside a host, by name.
constexpr const char* BY_HOST = "host";
constexpr const char* BY_GPU = "gpu";

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

/// @param cluster with the servers @param made these @param hosts that share a gradient
/// @param device of a worker @param server device of a server
/// @return what pushes take at least, of all tensors, seconds for each byte of a gradient
double
GetLeastNetworkTime(const Cluster& cluster,
                    const ParameterServers& made,
                    std::size_t hosts,
                    DeviceId device,
                    DeviceId server)
{
    if (made.isOnWorkers && hosts == 1)
    {
        return 0;
    }
    // Over all tensors, a server has an equal share of what all hosts push.
    const double share = 1.0 / made.servers;
    const double pushed = made.isOnWorkers ? 1 - share : 1;
    const double others = static_cast<double>(hosts) - (made.isOnWorkers ? 1 : 0);
    const double ofWorker = 1 / GetNetworkRate(cluster, cluster.GetServer(device));
    const double ofServer = 1 / GetNetworkRate(cluster, cluster.GetServer(server));
    return made.isOnWorkers ? (pushed + others * share) * ofServer // pushes and sends for pulls
                            : std::max(pushed * ofWorker, others * share * ofServer);
}

/// @param cluster with the memories of hosts @param made the servers
/// @param devices of one host @param memory of it @param sums of a server there, for each byte
/// @return what copies to the memory, and sums in it, take at least, seconds for each byte of a
/// gradient
double
GetLeastHostTime(const Cluster& cluster,
                 const Paths& paths,
                 const ParameterServers& made,
                 const std::vector<DeviceId>& devices,
                 DeviceId memory,
                 double sums)
{
    const auto& gpus = cluster.GetGpus();
    std::map<std::pair<LinkId, VertexId>, uint32_t> copies; // by link, and where it is entered
    for (const DeviceId device : devices)
    {
        VertexId at = gpus[device];
        for (const LinkId link : WalkFirst(paths, at, gpus[memory]))
        {
            ++copies[{link, at}];
            at = cluster.GetLinks()[link].Other(at);
        }
    }
    double least = 0;
    for (const auto& [way, count] : copies)
    {
        const Link& link = cluster.GetLinks()[way.first];
        const uint32_t unit = link.framing.unitBytes;
        least = std::max(least,
                         count * static_cast<double>(link.framing.WireBytes(unit)) / unit /
                             link.bytesPerSecond);
    }
    const auto addends = static_cast<uint32_t>(devices.size());
    const double added = addends > 1 ? CountHostTraffic(addends) / TRAFFIC_OF_SUM : 0;
    return std::max(least, (added + sums) / made.aggregatedBytesPerSecond);
}

/// @param cluster with the servers @param paths of it @param made the servers
/// @param graph of one iteration @param group that shares gradients
/// @return least time, seconds for each byte of a gradient
double
GetLeastTime(const Cluster& cluster,
             const Paths& paths,
             const ParameterServers& made,
             const ExecutionGraph& graph,
             GroupId group)
{
    std::map<uint32_t, std::vector<DeviceId>> hosts;
    for (const DeviceId device : graph.GetGroup(group))
    {
        hosts[made.hostOf[device]].push_back(device);
    }
    const DeviceId first = graph.GetNDevices();
    double least = GetLeastNetworkTime(cluster, made, hosts.size(), 0, first);
    if (made.aggregation == HostAggregation::HOST)
    {
        for (const auto& [host, devices] : hosts)
        {
            const bool isServer = made.isOnWorkers && hosts.size() > 1 && host < made.servers;
            const double sums = isServer ? static_cast<double>(hosts.size()) / made.servers : 0;
            least = std::max(least,
                             GetLeastHostTime(cluster,
                                              paths,
                                              made,
                                              devices,
                                              first + made.GetMemory(host),
                                              sums));
        }
    }
    return least;
}

} // namespace

ServerOptions::ServerOptions()
    : gradients(ALL_REDUCE),
      servers(0),
      serverHosts(WORKER_HOSTS),
      hostAggregation(BY_HOST),
      serverRate(GetAggregationRate(DEFAULT_SERVER_CPU) / BYTES_PER_GB),
      staleness("0")
{
}

void
ServerOptions::AddTo(OptionList& command)
{
    command.AddValue("gradients",
                     "what carries them: all-reduce (as NCCL chooses), or parameter-server: hosts "
                     "add up, and push to and pull from servers",
                     gradients);
    command.AddNames("gradients", {ALL_REDUCE, PARAMETER_SERVER});
    command.AddValue("servers",
                     "hosts with parameter servers: of the workers, from the first on (0: all), or "
                     "of their own",
                     servers);
    command.AddValue("serverHosts",
                     std::string("where servers are: workers (on their hosts), or own (hosts with "
                                 "a CPU ") +
                         DEFAULT_SERVER_CPU + " and a NIC)",
                     serverHosts);
    command.AddNames("serverHosts", {WORKER_HOSTS, OWN_HOSTS});
    command.AddValue(
        "hostAggregation",
        "who adds up the GPUs of a host before they go to servers: host (copies to its "
        "memory, sums by its CPU; MXNet's dist_sync), or gpu (kernels of NCCL; "
        "dist_device_sync)",
        hostAggregation);
    command.AddNames("hostAggregation", {BY_HOST, BY_GPU});
    command.AddValue(
        "serverRate",
        "gradients that the CPU of a server, or of a host that adds up, adds to a sum, "
        "GB/s; the default is a third of the rate of its memory: two reads, one write",
        serverRate);
    command.AddValue("staleness",
                     "iterations that a worker may be ahead of what it has from the others, 0 "
                     "(synchronous) or more, or async; not of servers on workers' hosts with "
                     "--hostAggregation=gpu",
                     staleness);
    command.AddNames("staleness", {ASYNCHRONOUS}, NameUse::OPEN);
}

void
ServerOptions::Check(const std::string& crossIteration) const
{
    if (gradients != ALL_REDUCE && gradients != PARAMETER_SERVER)
    {
        throw std::invalid_argument("--gradients=" + gradients +
                                    ": must be all-reduce or parameter-server");
    }
    if (hostAggregation != BY_HOST && hostAggregation != BY_GPU)
    {
        throw std::invalid_argument("--hostAggregation=" + hostAggregation +
                                    ": must be host or gpu");
    }
    const ServerOptions defaults;
    for (const auto& [name, isUsual] :
         {std::pair("servers", servers == defaults.servers),
          std::pair("serverHosts", serverHosts == defaults.serverHosts),
          std::pair("hostAggregation", hostAggregation == defaults.hostAggregation),
          std::pair("serverRate", serverRate == defaults.serverRate),
          std::pair("staleness", staleness == defaults.staleness)})
    {
        if (gradients == ALL_REDUCE && !isUsual)
        {
            throw std::invalid_argument(std::string("--") + name +
                                        ": an all-reduce has no servers; add "
                                        "--gradients=parameter-server");
        }
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
    const bool ofSteps = serverRate != defaults.serverRate || staleness != defaults.staleness;
    if (!HasSteps() && ofSteps)
    {
        throw std::invalid_argument(
            "--serverRate and --staleness: no CPU adds up on workers' hosts "
            "with --hostAggregation=gpu; leave that out, or add "
            "--serverHosts=own --servers=N");
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

bool
ServerOptions::HasHostSums() const
{
    return gradients == PARAMETER_SERVER && hostAggregation == BY_HOST;
}

bool
ServerOptions::HasSteps() const
{
    return HasOwnHosts() || HasHostSums();
}

void
ServerOptions::ApplyTo(ExecutorSettings& settings, const Cluster& cluster) const
{
    if (gradients == ALL_REDUCE || HasSteps())
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
    made.aggregatedBytesPerSecond = serverRate * BYTES_PER_GB;
    made.staleness = ParseStaleness(staleness);
    made.aggregation = HasHostSums() ? HostAggregation::HOST : HostAggregation::GPU;
    made.isOnWorkers = !HasOwnHosts();
    std::map<int32_t, uint32_t> hosts; // numbered as they appear
    std::vector<int32_t> hostServers;  // by that number
    for (DeviceId device = 0; device < devices; ++device)
    {
        const int32_t server = cluster.GetServer(device);
        const auto [place, isNew] = hosts.emplace(server, static_cast<uint32_t>(hosts.size()));
        made.hostOf.push_back(place->second);
        if (isNew)
        {
            hostServers.push_back(server);
        }
    }
    made.servers = made.isOnWorkers && servers == 0 ? static_cast<uint32_t>(hosts.size())
                                                    : ToCount(servers, "servers", 1);
    const std::vector<VertexId> gpus = cluster.GetGpus();
    if (HasOwnHosts())
    {
        AddServerHosts(cluster, made.servers);
    }
    if (HasHostSums())
    {
        AddHostMemories(cluster, hostServers);
    }
    std::vector<VertexId> ranks(gpus.begin(), gpus.begin() + devices);
    ranks.insert(ranks.end(),
                 cluster.GetGpus().begin() + static_cast<std::ptrdiff_t>(gpus.size()),
                 cluster.GetGpus().end());
    cluster.RankGpus(ranks);
    cluster.Validate();
    return made;
}

std::vector<std::string>
ServerOptions::ListIdle(const ExecutionGraph& graph, const Cluster& cluster) const
{
    const ServerOptions defaults;
    const bool isSaid = servers != defaults.servers || staleness != defaults.staleness;
    if (gradients == ALL_REDUCE || HasOwnHosts() || !isSaid)
    {
        return {};
    }
    const std::vector<Parallelism> kinds = ScheduleSettings().kinds;
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        if (task.kind == TaskKind::COMMUNICATION &&
            std::find(kinds.begin(), kinds.end(), task.parallelism) != kinds.end() &&
            GroupByServer(cluster, GetVertices(cluster, graph.GetGroup(task.place))).size() > 1)
        {
            return {};
        }
    }
    std::vector<std::string> lines;
    const std::string why =
        " has no effect: no gradient is shared by GPUs of several hosts, so that none goes to a "
        "server; --serverHosts=own has servers all the same";
    if (servers != defaults.servers)
    {
        lines.push_back("--servers=" + std::to_string(servers) + why);
    }
    if (staleness != defaults.staleness)
    {
        lines.push_back("--staleness=" + staleness + why);
    }
    return lines;
}

void
ServerOptions::SetLeastTimes(const ExecutionGraph& graph,
                             const Cluster& cluster,
                             const ParameterServers& made,
                             std::vector<int64_t>& timesPs) const
{
    const Paths paths(cluster);
    const std::vector<Parallelism> kinds = ScheduleSettings().kinds;
    std::map<GroupId, double> ofGroups; // seconds for each byte
    for (TaskId id = 0; id < graph.GetNTasks(); ++id)
    {
        const Task& task = graph.GetTask(id);
        if (task.kind != TaskKind::COMMUNICATION ||
            std::find(kinds.begin(), kinds.end(), task.parallelism) == kinds.end())
        {
            continue;
        }
        const auto [place, isNew] = ofGroups.emplace(task.place, 0);
        if (isNew)
        {
            place->second = GetLeastTime(cluster, paths, made, graph, task.place);
        }
        timesPs[id] =
            static_cast<int64_t>(static_cast<double>(task.bytes) * place->second * PS_PER_S);
    }
}

} // namespace proteus
} // namespace ns3
