/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-classic-cost.h"

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <set>
#include <stdexcept>
#include <string>

namespace ns3
{
namespace proteus
{

namespace
{

// NVIDIA/nccl v2.10.3-1, src/graph/tuning.cc: Ring with Simple.
constexpr double BASE_US = 8.4;
constexpr double NVLINK_US = 3.4;
constexpr double PCI_US = 5.7;
constexpr double NETWORK_US = 9.6;
constexpr double MIXED_CHANNELS_US = 28;     // per rank of a chain over channels of several orders
constexpr double PLATEAU = 1.9;              // of large rings across servers
constexpr double PLATEAU_BYTES = 65536 / 16; // per rank
// Of Proteus.
constexpr double FOUR_RANKS = 0.7;   // of the bandwidth, as its NCCL is patched
constexpr double EIGHT_TITANS = 4.2; // GB/s

/// The levels of the walk through a server: NCCL 2.10's numbers of kinds of ways.
uint32_t
LevelOf(NcclPath type)
{
    switch (type)
    {
    case NcclPath::LOC:
        return 0;
    case NcclPath::NVL:
        return 1;
    case NcclPath::NVB:
        return 2;
    case NcclPath::PIX:
        return 3;
    case NcclPath::PXB:
        return 4;
    case NcclPath::PHB:
        return 5;
    default:
        return 6;
    }
}

constexpr uint32_t LEVEL_NVLINK = 2; // the last that is not PCI Express
constexpr uint32_t LEVEL_SWITCH = 3;
constexpr uint32_t LEVEL_CPU = 5;
constexpr uint32_t LEVEL_SOCKET = 6;

/// Where members of a communication are.
struct Part
{
    uint32_t flow{0};
    uint32_t level{0};
    std::vector<int64_t> ranks;
};

/// The walk down one server.
class TreeWalk
{
  public:
    explicit TreeWalk(std::vector<double>& sharers)
        : m_sharers(sharers)
    {
    }

    void Walk(uint32_t level, const std::vector<Part>& parts, int64_t middle, int64_t size)
    {
        if (level <= LEVEL_NVLINK || parts.empty())
        {
            return;
        }
        std::vector<Part> halves[2];
        std::set<uint32_t> users[2];
        for (const Part& part : parts)
        {
            Part sides[2];
            for (const int64_t rank : part.ranks)
            {
                sides[rank < middle ? 0 : 1].ranks.push_back(rank);
            }
            for (int side = 0; side < 2; ++side)
            {
                if (part.level == level || (part.level > level && !sides[side].ranks.empty()))
                {
                    users[side].insert(part.flow);
                }
                if (!sides[side].ranks.empty())
                {
                    sides[side].flow = part.flow;
                    sides[side].level = part.level;
                    halves[side].push_back(sides[side]);
                }
            }
        }
        const uint32_t next = level == LEVEL_CPU && size <= 2 ? LEVEL_SWITCH : level - 1;
        for (int side = 0; side < 2; ++side)
        {
            for (const uint32_t flow : users[side])
            {
                m_sharers[flow] =
                    std::max(m_sharers[flow], static_cast<double>(users[side].size()));
            }
            Walk(next, halves[side], side == 0 ? middle - size / 2 : middle + size / 2, size / 2);
        }
    }

  private:
    std::vector<double>& m_sharers;
};

} // namespace

ClassicCostModel::ClassicCostModel(const Cluster& cluster)
    : m_cluster(cluster),
      m_gpusOf(cluster.GetNServers())
{
    for (const VertexId gpu : cluster.GetGpus())
    {
        ++m_gpusOf[cluster.GetVertices()[gpu].server];
    }
    const std::string name = boost::algorithm::to_lower_copy(cluster.GetName());
    m_isTitan = name.find("titan") != std::string::npos;
}

uint32_t
ClassicCostModel::GetServer(DeviceId device) const
{
    return m_cluster.GetServer(device);
}

uint32_t
ClassicCostModel::GetLocalRank(DeviceId device) const
{
    return m_cluster.GetVertices()[m_cluster.GetGpus().at(device)].index;
}

uint32_t
ClassicCostModel::CountGpus(uint32_t server) const
{
    return m_gpusOf[server];
}

namespace
{

/// @throw std::invalid_argument unless the cluster has all devices
void
RequireDevices(const Cluster& cluster, const std::vector<DeviceId>& devices)
{
    for (const DeviceId device : devices)
    {
        if (device >= cluster.GetGpus().size())
        {
            throw std::invalid_argument("classic rules: device " + std::to_string(device) +
                                        " of a cluster of " +
                                        std::to_string(cluster.GetGpus().size()) + " GPUs");
        }
    }
}

/// What is cut into shares of ranks: all-to-alls and their like.
/// @param collective any @param ranks of the group @param servers of it @param cost of a broadcast
void
SpreadOverRanks(Collective collective, double ranks, double servers, ClassicCost& cost)
{
    if (collective == Collective::GATHER || collective == Collective::SCATTER ||
        collective == Collective::ALL_TO_ALL)
    {
        cost.megabytes /= ranks; // the original counts the share of a rank
    }
    if (collective == Collective::ALL_TO_ALL)
    {
        cost.repetitions = ranks - 1;
        cost.latencyUs *= servers > 1 ? 0.5 : 0.1;
        cost.gigabytesPerSecond *= servers > 1 ? 0.5 / servers : 1;
    }
}

} // namespace

const NcclPattern&
ClassicCostModel::FindRing(const std::vector<DeviceId>& sorted) const
{
    auto found = m_patterns.find(sorted);
    if (found == m_patterns.end())
    {
        std::vector<VertexId> gpus;
        for (const DeviceId device : sorted)
        {
            gpus.push_back(m_cluster.GetGpus()[device]);
        }
        found = m_patterns.emplace(sorted, SearchClassicRing(m_cluster, gpus)).first;
    }
    return found->second;
}

ClassicCost
ClassicCostModel::GetCost(Collective collective,
                          uint64_t bytes,
                          const std::vector<DeviceId>& devices) const
{
    std::vector<DeviceId> sorted = devices;
    std::sort(sorted.begin(), sorted.end());
    RequireDevices(m_cluster, sorted);
    std::set<uint32_t> servers;
    for (const DeviceId device : sorted)
    {
        servers.insert(GetServer(device));
    }
    ClassicCost cost;
    cost.members = sorted;
    cost.megabytes = static_cast<double>(bytes) / 1e6;
    if (sorted.size() < 2)
    {
        cost.gigabytesPerSecond = 1;
        cost.repetitions = 0;
        return cost;
    }
    const NcclPattern& ring = FindRing(sorted);
    cost.type = ring.typeIntra;
    cost.crossesServers = servers.size() > 1;

    const auto n = static_cast<double>(sorted.size());
    const auto nServers = static_cast<double>(servers.size());
    double bus = ring.channels * (servers.size() <= 2 ? ring.intraGBps : ring.interGBps);
    bus *= sorted.size() == 4 && servers.size() == 1 ? FOUR_RANKS : 1;
    const double localUs = ring.typeIntra == NcclPath::NVL ? NVLINK_US : PCI_US;
    switch (collective)
    {
    case Collective::ALL_REDUCE:
        cost.gigabytesPerSecond = bus * n / (2 * (n - 1));
        if (sorted.size() == 8 && m_isTitan)
        {
            cost.gigabytesPerSecond = EIGHT_TITANS;
        }
        cost.latencyUs = BASE_US + 2 * (n - nServers) * localUs + 2 * (nServers - 1) * NETWORK_US;
        if (servers.size() > 1 && static_cast<double>(bytes) >= n * PLATEAU_BYTES)
        {
            cost.latencyUs *= PLATEAU;
        }
        break;
    case Collective::ALL_GATHER:
    case Collective::REDUCE_SCATTER:
        cost.gigabytesPerSecond = bus * n / (n - 1);
        cost.latencyUs = BASE_US + (n - nServers) * localUs + (nServers - 1) * NETWORK_US;
        break;
    default:
        cost.gigabytesPerSecond = bus;
        cost.latencyUs = BASE_US + (!ring.sameChannels    ? n * MIXED_CHANNELS_US
                                    : servers.size() == 1 ? localUs
                                                          : NETWORK_US);
        SpreadOverRanks(collective, n, nServers, cost);
    }
    return cost;
}

namespace
{

/// @return the members of communications, by server
std::map<uint32_t, std::vector<Part>>
GroupByServer(const ClassicCostModel& model,
              const std::vector<ClassicCost>& costs,
              bool isPublished)
{
    std::map<uint32_t, std::vector<Part>> byServer;
    for (uint32_t i = 0; i < costs.size(); ++i)
    {
        std::map<uint32_t, Part> parts;
        for (const DeviceId device : costs[i].members)
        {
            Part& part = parts[model.GetServer(device)];
            part.flow = i;
            part.level = LevelOf(costs[i].type);
            part.ranks.push_back(isPublished ? int64_t{device}
                                             : int64_t{model.GetLocalRank(device)});
        }
        for (auto& [server, part] : parts)
        {
            byServer[server].push_back(std::move(part));
        }
    }
    return byServer;
}

} // namespace

std::vector<double>
CountClassicSharers(const ClassicCostModel& model,
                    const std::vector<ClassicCost>& costs,
                    ClassicRules rules,
                    bool isMixed)
{
    const bool isPublished = rules == ClassicRules::PUBLISHED;
    std::vector<double> sharers(costs.size(), 1);
    for (const auto& [server, parts] : GroupByServer(model, costs, isPublished))
    {
        const auto crossing =
            static_cast<double>(std::count_if(parts.begin(), parts.end(), [&](const Part& part) {
                return costs[part.flow].crossesServers;
            }));
        std::vector<Part> tree;
        for (const Part& part : parts)
        {
            if (isPublished || costs[part.flow].crossesServers)
            {
                sharers[part.flow] = std::max(sharers[part.flow], crossing);
            }
            if (part.level > LEVEL_NVLINK)
            {
                tree.push_back(part);
            }
        }
        const int64_t half = model.CountGpus(server) / 2;
        TreeWalk(sharers).Walk(LEVEL_SOCKET, tree, half, half);
    }
    // Full duplex between sockets.
    const auto isBetweenSockets = [&](std::size_t i) {
        return LevelOf(costs[i].type) == LEVEL_SOCKET && !costs[i].crossesServers && sharers[i] > 1;
    };
    std::vector<bool> halved(costs.size());
    bool isAny = false;
    for (std::size_t i = 0; i < costs.size(); ++i)
    {
        halved[i] = isBetweenSockets(i);
        isAny = isAny || halved[i];
    }
    for (std::size_t i = 0; i < costs.size(); ++i)
    {
        sharers[i] /= halved[i] || (isMixed && isAny) ? 2 : 1;
    }
    return sharers;
}

std::vector<double>
ShareClassicBandwidth(const ClassicCostModel& model,
                      const std::vector<ClassicCost>& costs,
                      ClassicRules rules)
{
    const std::vector<double> sharers = CountClassicSharers(model, costs, rules);
    std::vector<double> rates;
    for (std::size_t i = 0; i < costs.size(); ++i)
    {
        rates.push_back(costs[i].gigabytesPerSecond / sharers[i]);
    }
    if (rules == ClassicRules::PUBLISHED && !rates.empty())
    {
        rates.assign(rates.size(), *std::max_element(rates.begin(), rates.end()));
    }
    return rates;
}

} // namespace proteus
} // namespace ns3
