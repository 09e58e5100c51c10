/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-parameter-servers.h"

#include "proteus-window-number.h"

#include "ns3/proteus-graph-head.h"
#include "ns3/proteus-server-hosts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double PS_PER_S = 1e12;

/// The steps of one communication on one host.
struct HostSteps
{
    uint32_t host{0};              //!< which
    std::vector<DeviceId> devices; //!< of the communication that are there
    std::vector<TaskId> first;     //!< by device: what waits for its gradients
    TaskId local{NO_ID};           //!< what the host has added up; NO_ID: nothing
    TaskId sum{NO_ID};             //!< at the present server, of its push
    std::vector<TaskId> pulled;    //!< what brings it the results
    std::vector<TaskId> last;      //!< by device: what has the result
};

/// What one server has of a communication.
struct Slice
{
    uint32_t server{0};
    uint64_t bytes{0};
};

/// Makes the graph.
class Server
{
  public:
    Server(const ScheduledGraph& scheduled,
           const std::vector<uint32_t>& iterationOf,
           const ParameterServers& servers,
           const std::vector<Parallelism>& kinds)
        : m_scheduled(scheduled),
          m_graph(scheduled.graph),
          m_iterationOf(iterationOf),
          m_servers(servers),
          m_hosts(servers.GetHosts()),
          m_builder(m_graph.GetNDevices() + servers.GetDevices()),
          m_made(m_graph.GetNTasks(), NO_ID)
    {
        CopyHead(m_graph, m_builder);
        m_sumStream = m_builder.AddStream("sums of a parameter server", StreamOrder::READY, true);
        m_served.serverOf.assign(m_graph.GetNTasks(), NO_ID);
        FindPlaces(kinds);
    }

    ServedGraph Make()
    {
        for (TaskId id = 0; id < m_graph.GetNTasks(); ++id)
        {
            if (m_served.serverOf[id] == NO_ID)
            {
                m_made[id] =
                    Add(id, m_graph.GetTask(id), m_graph.GetName(m_graph.GetTask(id)), {}, NO_ID);
                continue;
            }
            AddSteps(id);
        }
        for (TaskId after = 0; after < m_graph.GetNTasks(); ++after)
        {
            for (const TaskId before : m_graph.GetDependencies(after))
            {
                Link(before, after);
            }
        }
        m_served.graph = m_builder.Build();
        return std::move(m_served);
    }

  private:
    /// Which part of a tensor, in any iteration, on which server.
    using Part = std::tuple<std::string, uint32_t, uint32_t>;

    /// Gives every communication a server, and a GPU of every host. @param kinds that have them
    void FindPlaces(const std::vector<Parallelism>& kinds)
    {
        std::map<uint32_t, std::vector<TaskId>> iterations;
        for (TaskId id = 0; id < m_graph.GetNTasks(); ++id)
        {
            const Task& task = m_graph.GetTask(id);
            if (task.kind != TaskKind::COMMUNICATION ||
                std::find(kinds.begin(), kinds.end(), task.parallelism) == kinds.end())
            {
                continue;
            }
            if (task.collective != Collective::ALL_REDUCE)
            {
                throw std::invalid_argument("parameter servers: '" + m_graph.GetName(task) +
                                            "' is a " + ToString(task.collective) +
                                            ", and servers take the place of all-reduces alone; "
                                            "use a strategy without ZeRO");
            }
            iterations[m_iterationOf[task.phase]].push_back(id);
        }
        m_place.assign(m_graph.GetNTasks(), 0);
        for (const auto& [iteration, tasks] : iterations)
        {
            std::vector<uint64_t> bytes;
            for (const TaskId id : tasks)
            {
                bytes.push_back(m_graph.GetTask(id).bytes);
            }
            const std::vector<uint32_t> servers = SpreadBySize(bytes, m_servers.servers);
            // GPUs take turns among what one server has, so that all of them talk to all servers.
            std::vector<uint32_t> turns(m_servers.servers, 0);
            for (std::size_t i = 0; i < tasks.size(); ++i)
            {
                m_served.serverOf[tasks[i]] = servers[i];
                m_place[tasks[i]] = turns[servers[i]]++;
            }
        }
    }

    /// Adds a task. @param origin that it is a step of @param task itself @param name of it
    /// @param dependencies of it @param window of credit @param isLocal whether it needs none
    TaskId Add(TaskId origin,
               const Task& task,
               const std::string& name,
               const std::vector<TaskId>& dependencies,
               uint32_t window,
               bool isLocal = false)
    {
        m_served.tasks.push_back({origin, window, isLocal});
        return m_builder.AddTask(task, name, dependencies);
    }

    /// @param name of a stream @return it, made on first use
    StreamId GetStream(const std::string& name)
    {
        const auto [place, isNew] = m_streams.emplace(name, NO_STREAM);
        if (isNew)
        {
            place->second = m_builder.AddStream(name);
        }
        return place->second;
    }

    /// @param origin a communication @param collective of a step @param devices of it
    /// @param stream of it @return the step
    Task MakeStep(TaskId origin,
                  Collective collective,
                  const std::vector<DeviceId>& devices,
                  const std::string& stream)
    {
        Task step = m_graph.GetTask(origin);
        step.collective = collective;
        step.place = m_builder.AddGroup(devices);
        step.stream = GetStream(stream);
        step.root = 0;
        return step;
    }

    /// @param id a communication @return its hosts
    std::vector<HostSteps> FindHosts(TaskId id) const
    {
        std::map<uint32_t, HostSteps> hosts;
        for (const DeviceId device : m_graph.GetGroup(m_graph.GetTask(id).place))
        {
            HostSteps& steps = hosts[m_servers.hostOf[device]];
            steps.host = m_servers.hostOf[device];
            steps.devices.push_back(device);
        }
        std::vector<HostSteps> list;
        for (auto& [host, steps] : hosts)
        {
            list.push_back(std::move(steps));
        }
        return list;
    }

    /// Windows behind those of the devices: pushes of a host, its pulls, and what is inside it.
    uint32_t GetWindow(uint32_t host, uint32_t which) const
    {
        return m_graph.GetNDevices() + m_servers.GetDevices() + which * m_hosts + host;
    }

    /// Windows of the copy engines of a GPU: to its host, and from there.
    uint32_t GetCopyWindow(DeviceId device, bool isToHost) const
    {
        return ONE_AT_A_TIME | (2 * device + (isToHost ? 0 : 1));
    }

    /// @return whether hosts add up in their memory
    bool HasMemories() const
    {
        return m_servers.aggregation == HostAggregation::HOST;
    }

    /// @param server its number @return its device
    DeviceId GetServer(uint32_t server) const
    {
        return m_graph.GetNDevices() + server;
    }

    /// @param id a communication @param host of it @return the device there that talks to servers
    DeviceId GetSpeaker(TaskId id, const HostSteps& host) const
    {
        return HasMemories() ? m_graph.GetNDevices() + m_servers.GetMemory(host.host)
                             : host.devices[m_place[id] % host.devices.size()];
    }

    /// @param id a communication @return what goes to which server
    std::vector<Slice> ListSlices(TaskId id) const
    {
        const uint64_t bytes = m_graph.GetTask(id).bytes;
        const uint32_t servers = m_servers.servers;
        if (!HasMemories() || bytes < m_servers.sliceBytes)
        {
            return {{m_served.serverOf[id], bytes}};
        }
        std::vector<Slice> slices;
        for (uint32_t server = 0; server < servers; ++server)
        {
            slices.push_back({server, bytes / servers + (server < bytes % servers ? 1 : 0)});
        }
        return slices;
    }

    /// Adds all steps of a communication.
    void AddSteps(TaskId id)
    {
        std::vector<HostSteps> hosts = FindHosts(id);
        for (HostSteps& host : hosts)
        {
            if (HasMemories())
            {
                AddCopiesToHost(id, host);
            }
            else if (host.devices.size() > 1)
            {
                AddReduction(id, host);
            }
        }
        if (!m_servers.isOnWorkers || hosts.size() > 1)
        {
            for (const Slice& slice : ListSlices(id))
            {
                for (HostSteps& host : hosts)
                {
                    AddPush(id, slice, host);
                }
                const TaskId total = AddTotal(id, slice, hosts);
                for (HostSteps& host : hosts)
                {
                    AddPull(id, slice, host, total);
                }
            }
        }
        for (HostSteps& host : hosts)
        {
            AddResults(id, host);
        }
        m_steps.emplace(id, std::move(hosts));
    }

    /// Adds the reduction of a host to one of its GPUs.
    void AddReduction(TaskId id, HostSteps& host)
    {
        Task reduce = MakeStep(id, Collective::REDUCE, host.devices, "reduction in a host");
        reduce.root = GetRoot(id, host);
        host.local = Add(id, reduce, GetName(id) + ".reduce", {}, GetWindow(host.host, 2), true);
        host.first.assign(host.devices.size(), host.local);
    }

    /// Adds the copies of a host's GPUs to its memory, and the sum of them.
    void AddCopiesToHost(TaskId id, HostSteps& host)
    {
        const DeviceId memory = GetSpeaker(id, host);
        for (const DeviceId device : host.devices)
        {
            const Task copy =
                MakeStep(id, Collective::SEND_RECV, {device, memory}, "copies to the host");
            host.first.push_back(
                Add(id, copy, GetName(id) + ".to-host", {}, GetCopyWindow(device, true)));
        }
        const auto addends = static_cast<uint32_t>(host.devices.size());
        host.local =
            addends > 1 ? AddSum(id,
                                 memory,
                                 GetName(id) + ".add",
                                 GetTrafficPs(m_graph.GetTask(id).bytes, CountHostTraffic(addends)),
                                 host.first)
                        : host.first.front();
    }

    /// Adds what brings the gradients of a host to a server, and is added up there.
    void AddPush(TaskId id, const Slice& slice, HostSteps& host)
    {
        const DeviceId speaker = GetSpeaker(id, host);
        const DeviceId server = GetServer(slice.server);
        std::vector<TaskId> before;
        if (host.local != NO_ID)
        {
            before.push_back(host.local);
        }
        if (speaker != server)
        {
            Task push = MakeStep(id,
                                 Collective::SEND_RECV,
                                 {speaker, server},
                                 "push to server " + std::to_string(slice.server));
            push.bytes = slice.bytes;
            before = {Add(id, push, GetName(id) + ".push", before, GetWindow(host.host, 0))};
        }
        if (host.first.empty())
        {
            host.first = before;
        }
        host.sum = AddSum(id,
                          server,
                          GetName(id) + ".sum",
                          GetTrafficPs(slice.bytes, TRAFFIC_OF_SUM),
                          before);
    }

    /// @param bytes of gradients @param traffic of memory for each of them @return its time
    int64_t GetTrafficPs(uint64_t bytes, double traffic) const
    {
        return std::llround(static_cast<double>(bytes) * traffic / TRAFFIC_OF_SUM /
                            m_servers.aggregatedBytesPerSecond * PS_PER_S);
    }

    /// Adds work of a CPU for a communication. @param device of it
    TaskId AddSum(TaskId id,
                  DeviceId device,
                  const std::string& name,
                  int64_t durationPs,
                  const std::vector<TaskId>& before)
    {
        Task sum;
        sum.stream = m_sumStream;
        sum.phase = m_graph.GetTask(id).phase;
        sum.place = device;
        sum.durationPs = durationPs;
        return Add(id, sum, name, before, NO_ID);
    }

    /// Adds what stands for all pushes of a slice.
    /// @return what its pulls wait for, besides their own pushes: all pushes of an iteration that
    /// the staleness says; NO_ID for nothing
    TaskId AddTotal(TaskId id, const Slice& slice, const std::vector<HostSteps>& hosts)
    {
        if (m_servers.staleness == ParameterServers::ASYNCHRONOUS)
        {
            return NO_ID;
        }
        std::vector<TaskId> sums;
        for (const HostSteps& host : hosts)
        {
            sums.push_back(host.sum);
        }
        std::vector<TaskId>& totals =
            m_totals[{GetName(id) + '/' + std::to_string(m_graph.GetTask(id).place),
                      m_scheduled.partOf[id],
                      slice.server}];
        totals.push_back(AddSum(id, GetServer(slice.server), GetName(id) + ".total", 0, sums));
        return totals.size() > m_servers.staleness ? totals[totals.size() - 1 - m_servers.staleness]
                                                   : NO_ID;
    }

    /// Adds what brings the result of a slice to a host.
    void AddPull(TaskId id, const Slice& slice, HostSteps& host, TaskId total)
    {
        const DeviceId speaker = GetSpeaker(id, host);
        const DeviceId server = GetServer(slice.server);
        std::vector<TaskId> before{host.sum};
        if (total != NO_ID)
        {
            before.push_back(total);
        }
        if (speaker == server)
        {
            host.pulled.insert(host.pulled.end(), before.begin(), before.end());
            return;
        }
        Task pull = MakeStep(id,
                             Collective::SEND_RECV,
                             {server, speaker},
                             "pull of host " + std::to_string(host.host));
        pull.bytes = slice.bytes;
        host.pulled.push_back(
            Add(id, pull, GetName(id) + ".pull", before, GetWindow(host.host, 1)));
    }

    /// Adds what gives the result to the GPUs of a host.
    void AddResults(TaskId id, HostSteps& host)
    {
        if (HasMemories())
        {
            const std::vector<TaskId> before =
                host.pulled.empty() ? std::vector<TaskId>{host.local} : host.pulled;
            const DeviceId memory = GetSpeaker(id, host);
            for (const DeviceId device : host.devices)
            {
                const Task copy = MakeStep(id,
                                           Collective::SEND_RECV,
                                           {memory, device},
                                           "copies to GPU " + std::to_string(device));
                host.last.push_back(
                    Add(id, copy, GetName(id) + ".to-gpu", before, GetCopyWindow(device, false)));
            }
            return;
        }
        TaskId last = host.pulled.front();
        if (host.devices.size() > 1)
        {
            Task share = MakeStep(id,
                                  Collective::BROADCAST,
                                  host.devices,
                                  "results of server " + std::to_string(m_served.serverOf[id]));
            share.root = GetRoot(id, host);
            last = Add(id, share, GetName(id) + ".share", {last}, GetWindow(host.host, 2), true);
        }
        host.last.assign(host.devices.size(), last);
    }

    /// @param id a communication @param host of it @return place of its GPU that talks to servers
    uint16_t GetRoot(TaskId id, const HostSteps& host) const
    {
        return static_cast<uint16_t>(m_place[id] % host.devices.size());
    }

    /// @param id a task of the graph before @return its name
    const std::string& GetName(TaskId id) const
    {
        return m_graph.GetName(m_graph.GetTask(id));
    }

    /// @param task of the graph before @param device one @return whether it is there
    bool IsOn(const Task& task, DeviceId device) const
    {
        if (task.kind != TaskKind::COMMUNICATION)
        {
            return task.place == device;
        }
        const auto& group = m_graph.GetGroup(task.place);
        return std::find(group.begin(), group.end(), device) != group.end();
    }

    /// @param id a task of the graph before @return what of it waits for others, by device
    std::vector<std::pair<DeviceId, TaskId>> ListEnds(TaskId id, bool isFirst) const
    {
        std::vector<std::pair<DeviceId, TaskId>> ends;
        for (const HostSteps& host : m_steps.at(id))
        {
            for (std::size_t i = 0; i < host.devices.size(); ++i)
            {
                ends.emplace_back(host.devices[i], isFirst ? host.first[i] : host.last[i]);
            }
        }
        return ends;
    }

    /// Links what stands for a task with what stands for one that needs it.
    void Link(TaskId before, TaskId after)
    {
        const bool isFromServed = m_steps.count(before) > 0;
        const bool isToServed = m_steps.count(after) > 0;
        std::set<std::pair<TaskId, TaskId>> links;
        if (!isFromServed && !isToServed)
        {
            links.emplace(m_made[before], m_made[after]);
        }
        else if (!isFromServed)
        {
            const Task& task = m_graph.GetTask(before);
            for (const bool isFirst : {true, false})
            {
                // A buffer is needed until the result is in it.
                const bool isNeeded = isFirst || task.kind == TaskKind::MEMORY;
                for (const auto& [device, end] : ListEnds(after, isFirst))
                {
                    if (isNeeded && IsOn(task, device))
                    {
                        links.emplace(m_made[before], end);
                    }
                }
            }
        }
        else
        {
            const auto starts =
                isToServed ? ListEnds(after, true) : decltype(ListEnds(after, true)){};
            for (const auto& [device, end] : ListEnds(before, false))
            {
                if (!isToServed && IsOn(m_graph.GetTask(after), device))
                {
                    links.emplace(end, m_made[after]);
                }
                for (const auto& [other, start] : starts)
                {
                    if (other == device)
                    {
                        links.emplace(end, start);
                    }
                }
            }
        }
        for (const auto& [from, to] : links)
        {
            m_builder.AddDependency(from, to);
        }
    }

    const ScheduledGraph& m_scheduled;
    const ExecutionGraph& m_graph;
    const std::vector<uint32_t>& m_iterationOf;
    const ParameterServers& m_servers;
    uint32_t m_hosts; //!< of workers
    GraphBuilder m_builder;
    ServedGraph m_served;
    StreamId m_sumStream{0};
    std::map<std::string, StreamId> m_streams;        //!< of steps, by name
    std::vector<uint32_t> m_place;                    //!< by task: which GPU of a host
    std::vector<TaskId> m_made;                       //!< by task without a server: its copy
    std::map<TaskId, std::vector<HostSteps>> m_steps; //!< by task with a server
    std::map<Part, std::vector<TaskId>> m_totals;     //!< by iteration
};

} // namespace

ServedGraph
ServeCommunications(const ScheduledGraph& scheduled,
                    const std::vector<uint32_t>& iterationOf,
                    const ParameterServers& servers,
                    const std::vector<Parallelism>& kinds)
{
    if (servers.servers == 0)
    {
        throw std::invalid_argument("parameter servers: there are none; give at least 1");
    }
    if (!(servers.aggregatedBytesPerSecond > 0))
    {
        throw std::invalid_argument("parameter servers: they must add up more than 0 bytes per "
                                    "second");
    }
    if (servers.hostOf.size() != scheduled.graph.GetNDevices())
    {
        throw std::logic_error("parameter servers: hosts of " +
                               std::to_string(servers.hostOf.size()) + " devices for a graph of " +
                               std::to_string(scheduled.graph.GetNDevices()));
    }
    if (servers.isOnWorkers && servers.aggregation != HostAggregation::HOST)
    {
        throw std::logic_error("parameter servers: on workers' hosts they are in their memory");
    }
    if (servers.isOnWorkers && servers.servers > servers.GetHosts())
    {
        throw std::invalid_argument("parameter servers: " + std::to_string(servers.servers) +
                                    " on the " + std::to_string(servers.GetHosts()) +
                                    " hosts of the workers; take no more servers, or "
                                    "--serverHosts=own");
    }
    return Server(scheduled, iterationOf, servers, kinds).Make();
}

} // namespace proteus
} // namespace ns3
