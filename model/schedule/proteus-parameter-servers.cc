/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-parameter-servers.h"

#include "ns3/proteus-graph-head.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
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
    TaskId first{NO_ID};           //!< what waits for gradients
    TaskId sum{NO_ID};             //!< at the server, of its push
    TaskId last{NO_ID};            //!< what has the result
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
          m_hosts(*std::max_element(servers.hostOf.begin(), servers.hostOf.end()) + 1),
          m_builder(m_graph.GetNDevices() + servers.servers),
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
    /// Which part of a tensor, in any iteration.
    using Part = std::pair<std::string, uint32_t>;

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
        return m_graph.GetNDevices() + m_servers.servers + which * m_hosts + host;
    }

    /// Adds all steps of a communication.
    void AddSteps(TaskId id)
    {
        std::vector<HostSteps> hosts = FindHosts(id);
        for (HostSteps& host : hosts)
        {
            AddPush(id, host);
        }
        const TaskId total = AddTotal(id, hosts);
        for (HostSteps& host : hosts)
        {
            AddPull(id, host, total);
        }
        m_steps.emplace(id, std::move(hosts));
    }

    /// Adds what brings the gradients of a host to the server, and is added up there.
    void AddPush(TaskId id, HostSteps& host)
    {
        const std::string name = m_graph.GetName(m_graph.GetTask(id));
        const uint32_t server = m_served.serverOf[id];
        const auto root = static_cast<uint16_t>(m_place[id] % host.devices.size());
        const std::string to = " to server " + std::to_string(server);
        std::vector<TaskId> before;
        if (host.devices.size() > 1)
        {
            Task reduce = MakeStep(id, Collective::REDUCE, host.devices, "reduction in a host");
            reduce.root = root;
            host.first = Add(id, reduce, name + ".reduce", {}, GetWindow(host.host, 2), true);
            before.push_back(host.first);
        }
        const Task push = MakeStep(id,
                                   Collective::SEND_RECV,
                                   {host.devices[root], m_graph.GetNDevices() + server},
                                   "push" + to);
        const TaskId pushed = Add(id, push, name + ".push", before, GetWindow(host.host, 0));
        host.first = host.first == NO_ID ? pushed : host.first;
        host.sum = AddSum(
            id,
            name + ".sum",
            static_cast<int64_t>(std::llround(static_cast<double>(push.bytes) /
                                              m_servers.aggregatedBytesPerSecond * PS_PER_S)),
            {pushed});
    }

    /// Adds work of the server of a communication.
    TaskId AddSum(TaskId id,
                  const std::string& name,
                  int64_t durationPs,
                  const std::vector<TaskId>& before)
    {
        Task sum;
        sum.stream = m_sumStream;
        sum.phase = m_graph.GetTask(id).phase;
        sum.place = m_graph.GetNDevices() + m_served.serverOf[id];
        sum.durationPs = durationPs;
        return Add(id, sum, name, before, NO_ID);
    }

    /// Adds what stands for all pushes of a communication.
    /// @return what its pulls wait for, besides their own pushes: all pushes of an iteration that
    /// the staleness says; NO_ID for nothing
    TaskId AddTotal(TaskId id, const std::vector<HostSteps>& hosts)
    {
        if (m_servers.staleness == ParameterServers::ASYNCHRONOUS)
        {
            return NO_ID;
        }
        const Task& task = m_graph.GetTask(id);
        std::vector<TaskId> sums;
        for (const HostSteps& host : hosts)
        {
            sums.push_back(host.sum);
        }
        std::vector<TaskId>& totals =
            m_totals[{m_graph.GetName(task) + '/' + std::to_string(task.place),
                      m_scheduled.partOf[id]}];
        totals.push_back(AddSum(id, m_graph.GetName(task) + ".total", 0, sums));
        return totals.size() > m_servers.staleness ? totals[totals.size() - 1 - m_servers.staleness]
                                                   : NO_ID;
    }

    /// Adds what brings the result to a host.
    void AddPull(TaskId id, HostSteps& host, TaskId total)
    {
        const std::string name = m_graph.GetName(m_graph.GetTask(id));
        const uint32_t server = m_served.serverOf[id];
        const auto root = static_cast<uint16_t>(m_place[id] % host.devices.size());
        const Task pull = MakeStep(id,
                                   Collective::SEND_RECV,
                                   {m_graph.GetNDevices() + server, host.devices[root]},
                                   "pull of host " + std::to_string(host.host));
        std::vector<TaskId> before{host.sum};
        if (total != NO_ID)
        {
            before.push_back(total);
        }
        host.last = Add(id, pull, name + ".pull", before, GetWindow(host.host, 1));
        if (host.devices.size() > 1)
        {
            Task share = MakeStep(id,
                                  Collective::BROADCAST,
                                  host.devices,
                                  "results of server " + std::to_string(server));
            share.root = root;
            host.last = Add(id, share, name + ".share", {host.last}, GetWindow(host.host, 2), true);
        }
    }

    /// @param task of the graph before that has no server @param host one @return whether it is
    /// somewhere on that
    bool IsOn(const Task& task, const HostSteps& host) const
    {
        return HaveCommon(host.devices,
                          task.kind == TaskKind::COMMUNICATION ? m_graph.GetGroup(task.place)
                                                               : std::vector<DeviceId>{task.place});
    }

    /// @param a devices @param b devices @return whether there are some in both
    static bool HaveCommon(const std::vector<DeviceId>& a, const std::vector<DeviceId>& b)
    {
        return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
    }

    /// Links what stands for a task with what stands for one that needs it.
    void Link(TaskId before, TaskId after)
    {
        const auto from = m_steps.find(before);
        const auto to = m_steps.find(after);
        if (from == m_steps.end() && to == m_steps.end())
        {
            m_builder.AddDependency(m_made[before], m_made[after]);
            return;
        }
        if (from == m_steps.end())
        {
            const Task& task = m_graph.GetTask(before);
            for (const HostSteps& host : to->second)
            {
                if (IsOn(task, host))
                {
                    m_builder.AddDependency(m_made[before], host.first);
                    if (task.kind == TaskKind::MEMORY)
                    {
                        // A buffer is needed until the result is in it.
                        m_builder.AddDependency(m_made[before], host.last);
                    }
                }
            }
            return;
        }
        for (const HostSteps& host : from->second)
        {
            if (to == m_steps.end())
            {
                if (IsOn(m_graph.GetTask(after), host))
                {
                    m_builder.AddDependency(host.last, m_made[after]);
                }
                continue;
            }
            for (const HostSteps& other : to->second)
            {
                if (HaveCommon(host.devices, other.devices))
                {
                    m_builder.AddDependency(host.last, other.first);
                }
            }
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

std::vector<uint32_t>
SpreadBySize(const std::vector<uint64_t>& bytes, uint32_t places)
{
    std::vector<std::size_t> order(bytes.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&bytes](std::size_t a, std::size_t b) {
        return bytes[a] > bytes[b];
    });
    std::vector<uint64_t> load(places, 0);
    std::vector<uint32_t> place(bytes.size());
    for (const std::size_t i : order)
    {
        const auto least = std::min_element(load.begin(), load.end());
        place[i] = static_cast<uint32_t>(least - load.begin());
        *least += bytes[i];
    }
    return place;
}

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
    return Server(scheduled, iterationOf, servers, kinds).Make();
}

} // namespace proteus
} // namespace ns3
