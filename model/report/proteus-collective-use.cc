/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-use.h"

#include "proteus-report-input.h"

#include "ns3/proteus-first-way.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double PS_PER_S = 1e12;

/// One communication for one micro-batch.
struct Instance
{
    int64_t lastJoinPs{0};
    int64_t endPs{0};
    double sumOfJoinsPs{0};
    uint32_t joins{0}; //!< posted receives left out
};

/// What communications of one kind have in common.
using Kind = std::tuple<Collective, Parallelism, uint64_t, std::size_t, std::size_t>;

/// Sums of one kind.
struct Sums
{
    uint64_t count{0};
    uint64_t joins{0};
    double sumS{0};
    double leastS{std::numeric_limits<double>::infinity()};
    double mostS{0};
    double waitS{0};
    double idealBytesPerS{std::numeric_limits<double>::infinity()};
};

/// @param path links from a vertex on @param cluster of them @return the rate of the narrowest
double
GetNarrowest(const Cluster& cluster, const std::vector<LinkId>& path)
{
    double rate = std::numeric_limits<double>::infinity();
    for (LinkId link : path)
    {
        rate = std::min(rate, cluster.GetLinks()[link].bytesPerSecond);
    }
    return rate;
}

/// @return summed rate of the links of a GPU that lie on paths to other members, of the technology
/// that gives most
double
GetGpuRate(const Cluster& cluster,
           const Paths& paths,
           VertexId gpu,
           const std::vector<VertexId>& members)
{
    std::set<LinkId> links;
    for (VertexId member : members)
    {
        if (member != gpu)
        {
            for (uint16_t port : paths.NextPorts(gpu, member))
            {
                links.insert(cluster.GetPorts(gpu)[port].link);
            }
        }
    }
    std::map<LinkTechnology, double> rates;
    double best = 0;
    for (LinkId link : links)
    {
        double& rate = rates[cluster.GetLinks()[link].technology];
        rate += cluster.GetLinks()[link].bytesPerSecond;
        best = std::max(best, rate);
    }
    return best;
}

/// @return summed rate of the NICs that GPUs of one server use; 0 if one of them has none
double
GetServerRate(const Cluster& cluster, const Paths& paths, const std::vector<VertexId>& gpus)
{
    std::map<VertexId, double> nics;
    for (VertexId gpu : gpus)
    {
        const VertexId nic = cluster.GetNic(gpu);
        if (nic == Cluster::NO_VERTEX)
        {
            return 0;
        }
        double network = 0;
        for (const Port& port : cluster.GetPorts(nic))
        {
            const Vertex& neighbor = cluster.GetVertices()[port.neighbor];
            network += neighbor.server != cluster.GetVertices()[nic].server
                           ? cluster.GetLinks()[port.link].bytesPerSecond
                           : 0;
        }
        // A NIC is as fast for its GPUs as for the one that is nearest.
        const double rate = std::min(network, GetNarrowest(cluster, WalkFirst(paths, gpu, nic)));
        nics[nic] = std::max(nics[nic], rate);
    }
    double sum = 0;
    for (const auto& nic : nics)
    {
        sum += nic.second;
    }
    return sum;
}

/// A link, or several side by side, that all paths from some members to all others go through.
struct Bridge
{
    double rate{0};         //!< of its links together, and of the devices at its ends
    std::size_t sources{0}; //!< members on the side that it leads away from
    std::size_t targets{0}; //!< members on the other side, all others
};

/// Members between which paths go through a pair of vertices.
struct Crossing
{
    double rate{0};
    std::set<std::size_t> sources;
    std::set<std::size_t> targets;
    std::size_t pairs{0};
};

/// @return summed rate of some ports; not more than a CPU at one of their ends forwards
double
GetRate(const Cluster& cluster, VertexId from, const std::vector<uint16_t>& ports)
{
    double rate = 0;
    for (uint16_t port : ports)
    {
        rate += cluster.GetLinks()[cluster.GetPorts(from)[port].link].bytesPerSecond;
    }
    const VertexId to = cluster.GetPorts(from)[ports.front()].neighbor;
    for (VertexId end : {from, to})
    {
        const Vertex& vertex = cluster.GetVertices()[end];
        if (vertex.kind == VertexKind::CPU && vertex.forwardBytesPerSecond > 0)
        {
            rate = std::min(rate, vertex.forwardBytesPerSecond);
        }
    }
    return rate;
}

/// @return the bridges between members, which lie in one server
std::vector<Bridge>
FindBridges(const Cluster& cluster, const Paths& paths, const std::vector<VertexId>& members)
{
    std::map<std::pair<VertexId, VertexId>, Crossing> crossings;
    for (std::size_t source = 0; source < members.size(); ++source)
    {
        for (std::size_t target = 0; target < members.size(); ++target)
        {
            for (VertexId at = members[source]; at != members[target];)
            {
                const auto& ports = paths.NextPorts(at, members[target]);
                const auto& all = cluster.GetPorts(at);
                const bool isOne =
                    !ports.empty() && std::all_of(ports.begin(), ports.end(), [&](uint16_t port) {
                        return all[port].neighbor == all[ports.front()].neighbor;
                    });
                if (!isOne)
                {
                    break; // several ways: no bridge from here on
                }
                const VertexId next = all[ports.front()].neighbor;
                Crossing& crossing = crossings[{at, next}];
                crossing.rate = GetRate(cluster, at, ports);
                crossing.sources.insert(source);
                crossing.targets.insert(target);
                ++crossing.pairs;
                at = next;
            }
        }
    }
    std::vector<Bridge> bridges;
    for (const auto& entry : crossings)
    {
        const Crossing& crossing = entry.second;
        const std::size_t sources = crossing.sources.size();
        const std::size_t targets = crossing.targets.size();
        if (sources + targets == members.size() && crossing.pairs == sources * targets)
        {
            bridges.push_back({crossing.rate, sources, targets});
        }
    }
    return bridges;
}

/// @param bridge that a collective must cross @return the bus bandwidth that it allows
double
GetBridgeLimit(const Bridge& bridge, Collective collective)
{
    const auto sources = static_cast<double>(bridge.sources);
    const auto targets = static_cast<double>(bridge.targets);
    const double others = sources + targets - 1;
    switch (collective)
    {
    case Collective::ALL_TO_ALL:
        return bridge.rate * others / (sources * targets);
    case Collective::GATHER:
    case Collective::SCATTER:
        return bridge.rate * others / std::min(sources, targets); // the root is where more are
    default:
        return bridge.rate;
    }
}

/// @return by server, the members in it
std::map<int32_t, std::vector<VertexId>>
GroupByServer(const Cluster& cluster, const std::vector<VertexId>& vertices)
{
    std::map<int32_t, std::vector<VertexId>> servers;
    for (VertexId vertex : vertices)
    {
        servers[cluster.GetVertices()[vertex].server].push_back(vertex);
    }
    return servers;
}

/// Finds the ideal bandwidth of groups, each once.
class Ideals
{
  public:
    Ideals(const ExecutionGraph& graph, const Cluster& cluster)
        : m_graph(graph),
          m_cluster(cluster),
          m_paths(cluster)
    {
    }

    /// @param task a communication @return of its group
    double Get(const Task& task)
    {
        const auto [place, isNew] = m_known.emplace(std::make_pair(task.collective, task.place), 0);
        if (isNew)
        {
            place->second =
                GetIdealBusBandwidth(m_cluster, m_paths, task.collective, GetVertices(task.place));
        }
        return place->second;
    }

    /// @param group a group @return how many servers it is spread over
    std::size_t CountServers(GroupId group)
    {
        const auto [place, isNew] = m_servers.emplace(group, 0);
        if (isNew)
        {
            place->second = GroupByServer(m_cluster, GetVertices(group)).size();
        }
        return place->second;
    }

  private:
    std::vector<VertexId> GetVertices(GroupId group) const
    {
        std::vector<VertexId> vertices;
        for (DeviceId device : m_graph.GetGroup(group))
        {
            vertices.push_back(m_cluster.GetGpus()[device]);
        }
        return vertices;
    }

    const ExecutionGraph& m_graph;
    const Cluster& m_cluster;
    Paths m_paths;
    std::map<std::pair<Collective, GroupId>, double> m_known;
    std::map<GroupId, std::size_t> m_servers;
};

/// @return communications by task and micro-batch, in order
std::vector<std::pair<TaskInstance, Instance>>
FindInstances(const ExecutionGraph& graph, const Timeline& timeline)
{
    std::unordered_map<TaskInstance, Instance> instances;
    for (const Span& span : timeline.spans)
    {
        if (graph.GetTask(span.task).kind != TaskKind::COMMUNICATION)
        {
            continue;
        }
        Instance& instance = instances[span.GetInstance()];
        instance.lastJoinPs = std::max(instance.lastJoinPs, span.startPs);
        instance.endPs = std::max(instance.endPs, span.endPs);
        if (!IsReceive(graph, span))
        {
            instance.sumOfJoinsPs += static_cast<double>(span.startPs);
            ++instance.joins;
        }
    }
    std::vector<std::pair<TaskInstance, Instance>> sorted(instances.begin(), instances.end());
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
        return a.first < b.first;
    });
    return sorted; // so that sums do not depend on a hash
}

CollectiveUse
MakeUse(const Kind& kind, const Sums& sums)
{
    CollectiveUse use;
    use.collective = std::get<0>(kind);
    use.parallelism = std::get<1>(kind);
    use.bytes = std::get<2>(kind);
    use.ranks = static_cast<uint32_t>(std::get<3>(kind));
    use.servers = static_cast<uint32_t>(std::get<4>(kind));
    use.count = sums.count;
    use.meanS = sums.sumS / static_cast<double>(sums.count);
    use.leastS = sums.leastS;
    use.mostS = sums.mostS;
    use.waitS = sums.joins > 0 ? sums.waitS / static_cast<double>(sums.joins) : 0;
    use.idealBytesPerS = sums.idealBytesPerS;
    if (use.meanS > 0)
    {
        use.algorithmBytesPerS = static_cast<double>(use.bytes) / use.meanS;
        use.busBytesPerS =
            use.algorithmBytesPerS * GetBusBandwidthFactor(use.collective, use.ranks);
    }
    return use;
}

} // namespace

double
GetBusBandwidthFactor(Collective collective, std::size_t ranks)
{
    const auto n = static_cast<double>(ranks);
    switch (collective)
    {
    case Collective::ALL_REDUCE:
        return 2 * (n - 1) / n;
    case Collective::ALL_GATHER:
    case Collective::REDUCE_SCATTER:
    case Collective::ALL_TO_ALL:
    case Collective::GATHER:
    case Collective::SCATTER:
        return (n - 1) / n;
    case Collective::BROADCAST:
    case Collective::REDUCE:
    case Collective::SEND_RECV:
        break;
    }
    return 1;
}

double
GetIdealBusBandwidth(const Cluster& cluster,
                     const Paths& paths,
                     Collective collective,
                     const std::vector<VertexId>& vertices)
{
    const auto servers = GroupByServer(cluster, vertices);
    const auto n = static_cast<double>(vertices.size());
    const bool isPersonal = collective == Collective::ALL_TO_ALL ||
                            collective == Collective::GATHER || collective == Collective::SCATTER;
    double ideal = std::numeric_limits<double>::infinity();
    for (const auto& server : servers)
    {
        const auto& members = server.second;
        const auto inside = static_cast<double>(members.size());
        const double serverRate = servers.size() > 1 ? GetServerRate(cluster, paths, members) : 0;
        const bool usesNics = serverRate > 0;
        if (usesNics)
        {
            // What crosses, as a share of what the bus bandwidth counts, for all members together.
            double share = isPersonal ? (n - inside) / (n - 1) : 1;
            share *= collective == Collective::ALL_TO_ALL ? inside : 1;
            ideal = std::min(ideal, serverRate / share);
        }
        for (VertexId gpu : members)
        {
            const double rate = GetGpuRate(cluster, paths, gpu, usesNics ? members : vertices);
            ideal = rate > 0 ? std::min(ideal, rate) : ideal;
        }
        if (servers.size() == 1)
        {
            for (const Bridge& bridge : FindBridges(cluster, paths, members))
            {
                ideal = std::min(ideal, GetBridgeLimit(bridge, collective));
            }
        }
    }
    return vertices.size() > 1 ? ideal : 0;
}

std::vector<CollectiveUse>
SummarizeCollectives(const ExecutionGraph& graph,
                     const Cluster& cluster,
                     const Timeline& timeline,
                     const std::function<bool(PhaseId)>& isCounted)
{
    RequireGpuPerDevice(graph, cluster);
    RequireTimelineOf(graph, timeline);
    Ideals ideals(graph, cluster);
    std::map<Kind, Sums> kinds;
    for (const auto& entry : FindInstances(graph, timeline))
    {
        const Task& task = graph.GetTask(entry.first.task);
        if (isCounted && !isCounted(task.phase))
        {
            continue;
        }
        const Instance& instance = entry.second;
        Sums& sums = kinds[Kind{task.collective,
                                task.parallelism,
                                task.bytes,
                                graph.GetGroup(task.place).size(),
                                ideals.CountServers(task.place)}];
        const double s = static_cast<double>(instance.endPs - instance.lastJoinPs) / PS_PER_S;
        ++sums.count;
        sums.joins += instance.joins;
        sums.sumS += s;
        sums.leastS = std::min(sums.leastS, s);
        sums.mostS = std::max(sums.mostS, s);
        sums.waitS +=
            (static_cast<double>(instance.lastJoinPs) * instance.joins - instance.sumOfJoinsPs) /
            PS_PER_S;
        sums.idealBytesPerS = std::min(sums.idealBytesPerS, ideals.Get(task));
    }
    std::vector<CollectiveUse> uses;
    for (const auto& kind : kinds)
    {
        uses.push_back(MakeUse(kind.first, kind.second));
    }
    const auto spent = [](const CollectiveUse& use) {
        return static_cast<double>(use.count) * use.ranks * use.meanS;
    };
    std::stable_sort(uses.begin(), uses.end(), [&](const CollectiveUse& a, const CollectiveUse& b) {
        return spent(a) > spent(b);
    });
    return uses;
}

} // namespace proteus
} // namespace ns3
