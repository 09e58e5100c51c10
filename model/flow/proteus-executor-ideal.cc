/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flow-executor.h"

#include "ns3/proteus-device-runtimes.h"
#include "ns3/proteus-executor.h"
#include "ns3/proteus-task-instance.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/// Bytes that have to leave a part of a group's ranks, and to reach it.
struct CutBytes
{
    double out{0}; //!< leave it
    double in{0};  //!< reach it
};

/**
 * What has to cross between a part of the ranks of a collective and the others, whatever the
 * algorithm: who is outside depends on all that is inside, and the other way round.
 * @param task a communication
 * @param size ranks of its group
 * @param inside ranks of the part, fewer than all
 * @param hasRoot whether the root, or the sender, is one of them
 * @return bytes
 */
CutBytes
FindCut(const Task& task, std::size_t size, std::size_t inside, bool hasRoot)
{
    const auto bytes = static_cast<double>(task.bytes);
    const double part = static_cast<double>(inside) / static_cast<double>(size);
    switch (task.collective)
    {
    case Collective::ALL_REDUCE:
        return {bytes, bytes};
    case Collective::ALL_GATHER:
        return {part * bytes, (1 - part) * bytes};
    case Collective::REDUCE_SCATTER:
        return {(1 - part) * bytes, part * bytes};
    case Collective::ALL_TO_ALL: {
        const double crossing = part * static_cast<double>(size - inside) * bytes;
        return {crossing, crossing};
    }
    case Collective::BROADCAST:
    case Collective::SEND_RECV:
        return hasRoot ? CutBytes{bytes, 0} : CutBytes{0, bytes};
    case Collective::REDUCE:
        return hasRoot ? CutBytes{0, bytes} : CutBytes{bytes, 0};
    case Collective::GATHER:
        return hasRoot ? CutBytes{0, (1 - part) * bytes} : CutBytes{part * bytes, 0};
    case Collective::SCATTER:
        return hasRoot ? CutBytes{(1 - part) * bytes, 0} : CutBytes{0, part * bytes};
    }
    return {};
}

/// @param collective a kind @return whether no rank is done before all have what they need
bool
EndsTogether(Collective collective)
{
    return !HasRoot(collective);
}

/// Least times of communications by the rates of links, headers and latencies left out.
class BandwidthBounds
{
  public:
    /// @param graph with the communications @param cluster with the links
    BandwidthBounds(const ExecutionGraph& graph, const Cluster& cluster)
        : m_graph(graph),
          m_cluster(cluster),
          m_serverRates(cluster.GetNServers(), 0)
    {
        for (const Link& link : cluster.GetLinks())
        {
            const int32_t a = cluster.GetVertices()[link.a].server;
            const int32_t b = cluster.GetVertices()[link.b].server;
            for (const int32_t server : {a, b})
            {
                if (a != b && server >= 0)
                {
                    m_serverRates[server] += link.bytesPerSecond;
                }
            }
        }
        for (const Vertex& vertex : cluster.GetVertices())
        {
            m_hasReduction = m_hasReduction || vertex.reduction;
        }
    }

    /// @param id a communication @param rank of its group
    /// @return the least time from the first rank's start to the end of this one, picoseconds
    int64_t Get(TaskId id, std::size_t rank)
    {
        const auto [place, isNew] = m_times.emplace(id, std::vector<int64_t>());
        if (isNew)
        {
            for (const double seconds : Find(m_graph.GetTask(id)))
            {
                place->second.push_back(static_cast<int64_t>(seconds * 1e12));
            }
        }
        return place->second[rank];
    }

  private:
    /// @param vertex a GPU @return rate of all its links, bytes per second
    double GetRate(VertexId vertex) const
    {
        double rate = 0;
        for (const Port& port : m_cluster.GetPorts(vertex))
        {
            rate += m_cluster.GetLinks()[port.link].bytesPerSecond;
        }
        return rate;
    }

    /// @param task a communication @return seconds by rank
    std::vector<double> Find(const Task& task) const
    {
        const std::vector<DeviceId>& group = m_graph.GetGroup(task.place);
        std::vector<double> times(group.size(), 0);
        if (group.size() < 2)
        {
            return times;
        }
        const auto getTime = [&](std::size_t inside, bool hasRoot, double rate) {
            const CutBytes cut = FindCut(task, group.size(), inside, hasRoot);
            return std::max(cut.out, cut.in) / rate;
        };
        double rates = 0;
        std::map<int32_t, std::size_t> servers; // ranks
        for (std::size_t rank = 0; rank < group.size(); ++rank)
        {
            const VertexId vertex = m_cluster.GetGpus()[group[rank]];
            const double rate = GetRate(vertex);
            times[rank] = getTime(1, rank == task.root, rate);
            rates += rate;
            ++servers[m_cluster.GetVertices()[vertex].server];
        }
        const int32_t rootServer = m_cluster.GetServer(group[task.root]);
        double most = *std::max_element(times.begin(), times.end());
        double serverRates = 0;
        for (const auto& [server, ranks] : servers)
        {
            if (servers.size() > 1 && server >= 0)
            {
                const double time = getTime(ranks, server == rootServer, m_serverRates[server]);
                most = std::max(most, time);
                serverRates += m_serverRates[server];
                if (server == rootServer)
                {
                    times[task.root] = std::max(times[task.root], time);
                }
            }
        }
        if (task.collective == Collective::ALL_REDUCE && !m_hasReduction)
        {
            // Without switches that add up, a total takes n - 1 partial sums that are sent, and n -
            // 1 copies of it: Patarasuk and Yuan 2009, section 3.
            const double bytes = 2 * static_cast<double>(task.bytes);
            most = std::max(most, bytes * static_cast<double>(group.size() - 1) / rates);
            if (serverRates > 0)
            {
                most =
                    std::max(most, bytes * static_cast<double>(servers.size() - 1) / serverRates);
            }
        }
        return EndsTogether(task.collective) ? std::vector<double>(group.size(), most) : times;
    }

    const ExecutionGraph& m_graph;
    const Cluster& m_cluster;
    std::vector<double> m_serverRates; //!< by server: of its links to others, bytes per second
    bool m_hasReduction{false};        //!< whether any switch adds up
    std::unordered_map<TaskId, std::vector<int64_t>> m_times; //!< by rank
};

/// The network that carries every communication as if it were alone, at its bandwidth bound: a rank
/// is done that long after the first of its group has joined, and not before those whose data it
/// needs have joined.
class IdealNetwork : public Network
{
  public:
    /// @param graph whose communication is carried @param cluster that carries it
    /// @param clock of the run
    IdealNetwork(const ExecutionGraph& graph, const Cluster& cluster, Clock& clock)
        : m_graph(graph),
          m_clock(clock),
          m_bounds(graph, cluster)
    {
    }

    void Join(DeviceId device, TaskId id, uint32_t microBatch, std::function<void()> done) override
    {
        const Task& task = m_graph.GetTask(id);
        const std::vector<DeviceId>& group = m_graph.GetGroup(task.place);
        const auto [place, isNew] = m_open.emplace(TaskInstance{id, microBatch}, Open{});
        Open& open = place->second;
        if (isNew)
        {
            open.startPs = m_clock.GetTimePs();
        }
        ++open.joined;
        open.waiting.emplace_back(device, std::move(done));
        open.hasRoot = open.hasRoot || group[task.root] == device;
        const bool isComplete = open.joined == group.size();
        // A rank that gets data from the root waits for the root; the root of a sum waits for
        // everyone; a rank that only gives waits for nobody.
        const bool fromRoot =
            task.collective == Collective::BROADCAST || task.collective == Collective::SCATTER;
        std::vector<std::pair<DeviceId, std::function<void()>>> rest;
        for (auto& [member, callback] : open.waiting)
        {
            const bool takesAll =
                EndsTogether(task.collective) || (!fromRoot && member == group[task.root]);
            if (takesAll ? isComplete : !fromRoot || open.hasRoot)
            {
                const auto rank = static_cast<std::size_t>(
                    std::find(group.begin(), group.end(), member) - group.begin());
                const int64_t endPs = open.startPs + m_bounds.Get(id, rank);
                m_clock.Schedule(member,
                                 std::max<int64_t>(endPs - m_clock.GetTimePs(), 0),
                                 std::move(callback));
            }
            else
            {
                rest.emplace_back(member, std::move(callback));
            }
        }
        open.waiting = std::move(rest);
        if (isComplete)
        {
            m_open.erase(place);
        }
    }

    std::string DescribeWait(DeviceId /* device */, TaskId id, uint32_t microBatch) const override
    {
        const auto found = m_open.find({id, microBatch});
        return found == m_open.end()
                   ? "is under way"
                   : "waits for " +
                         std::to_string(m_graph.GetGroup(m_graph.GetTask(id).place).size() -
                                        found->second.joined) +
                         " others to join";
    }

  private:
    /// A communication that not all have joined.
    struct Open
    {
        int64_t startPs{0};    //!< when the first has joined
        std::size_t joined{0}; //!< ranks
        bool hasRoot{false};   //!< whether the root has joined
        std::vector<std::pair<DeviceId, std::function<void()>>> waiting; //!< who is not done
    };

    const ExecutionGraph& m_graph;
    Clock& m_clock;
    BandwidthBounds m_bounds;
    std::unordered_map<TaskInstance, Open> m_open;
};

/// @return what the executor is
ExecutorTraits
DescribeIdeal()
{
    ExecutorTraits traits;
    traits.name = "ideal";
    traits.description = "each communication alone at its bandwidth bound, a lower bound";
    traits.position = 9;
    traits.hasNetwork = false;
    traits.scenarioParts = {"slow devices"};
    return traits;
}

/// See IdealNetwork.
class IdealExecutor : public Executor
{
  public:
    IdealExecutor()
        : Executor(DescribeIdeal())
    {
    }

  private:
    RunRecord DoRun(const ExecutionGraph& graph,
                    const Cluster& cluster,
                    const ExecutorSettings& settings,
                    RunObserver& observer) const override
    {
        FlowClock clock;
        IdealNetwork network(graph, cluster, clock);
        FlowExecutor executor(graph, cluster, settings.runtime, clock, network);
        RunProgress progress;
        progress.totalTasks = CountSpans(graph);
        executor.SetSpanReport([&](uint64_t ended) {
            progress.tasks = ended;
            progress.timePs = clock.GetTimePs();
            observer.OnProgress(progress);
        });
        RunRecord record;
        record.timeline = executor.Run();
        return record;
    }
};

const ExecutorRegistration IDEAL(std::make_unique<IdealExecutor>());

} // namespace

} // namespace proteus
} // namespace ns3
