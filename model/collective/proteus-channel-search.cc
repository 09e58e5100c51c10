/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-channel-search.h"

#include "proteus-algorithms.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr uint32_t MOST_CHANNELS = 32;      // of a search: half of MAXCHANNELS
constexpr uint32_t MOST_NVLS_CHANNELS = 32; // NCCL_MAX_NVLS_ARITY
constexpr double LEAST_RATIO = 0.49;        // of the best speed, below which none is tried

const std::vector<double> INTRA{40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
const std::vector<double> INTRA_SM90{60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
const std::vector<double> INTRA_SM100{90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18};
const std::vector<double>
    INTER{48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, 0.24, 0.12};
const std::vector<double>
    INTER_SM90{48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12};
const std::vector<double> INTER_SM100{96, 86,   80, 48, 45.1, 42, 40,  30,  24,   22,
                                      20, 17.5, 15, 12, 6,    3,  2.4, 1.2, 0.24, 0.12};

/// What is left of the links, in 1e9 bytes per second, by link and direction.
class Capacities
{
  public:
    Capacities(const Cluster& cluster, const Paths& paths, uint32_t computeCapability)
        : m_cluster(&cluster),
          m_paths(&paths)
    {
        // What NCCL counts of the raw rate: NVLink 18 of 20 (Pascal), 20 of 25, 20.6 of 25
        // (Hopper), 40.1 of 50 (Blackwell); PCIe 12 of 15.75 (Gen3 x16).
        m_nvlink = computeCapability >= 100  ? 40.1 / 50
                   : computeCapability >= 90 ? 20.6 / 25
                   : computeCapability >= 70 ? 20.0 / 25
                                             : 18.0 / 20;
    }

    /// @param a a device @param b another one @return rate of the way between them
    double PathRate(VertexId a, VertexId b) const
    {
        double rate = 1e9;
        for (const LinkId link : Walk(a, b))
        {
            rate = std::min(rate, Rate(link));
        }
        return rate;
    }

    /// @param gpu a GPU @return rate of all its NVLinks, or of its PCIe link
    double TotalRate(VertexId gpu) const
    {
        double nvlink = 0;
        double other = 0;
        for (const Port& port : m_cluster->GetPorts(gpu))
        {
            const bool isNvlink =
                m_cluster->GetLinks()[port.link].technology == LinkTechnology::NVLINK;
            (isNvlink ? nvlink : other) += LinkRate(port.link);
        }
        return std::max(nvlink, other);
    }

    /**
     * Takes a rate from all links of a way.
     * @param a first device
     * @param b last device
     * @param rate to take
     * @return whether there was room
     */
    bool Take(VertexId a, VertexId b, double rate)
    {
        // Writes between GPUs cost a CPU of Intel's more: INTEL_P2P_OVERHEAD.
        const bool areGpus = m_cluster->GetVertices()[a].kind == VertexKind::GPU &&
                             m_cluster->GetVertices()[b].kind == VertexKind::GPU;
        if (areGpus && FindPathType(*m_cluster, *m_paths, a, b) == PathType::PHB)
        {
            rate *= 6.0 / 5;
        }
        VertexId at = a;
        bool fits = true;
        for (const LinkId link : Walk(a, b))
        {
            fits = TakeLink(link, at, rate) && fits;
            at = m_cluster->GetLinks()[link].Other(at);
        }
        return fits;
    }

    /**
     * Takes a rate from the link of a NIC to the network.
     * @param nic a NIC
     * @param outwards the direction
     * @param rate to take
     * @return whether there was room
     */
    bool TakeNetwork(VertexId nic, bool outwards, double rate)
    {
        for (const Port& port : m_cluster->GetPorts(nic))
        {
            const LinkTechnology technology = m_cluster->GetLinks()[port.link].technology;
            if (technology == LinkTechnology::INFINIBAND || technology == LinkTechnology::ROCE)
            {
                return TakeLink(port.link, outwards ? nic : port.neighbor, rate);
            }
        }
        return true;
    }

    /// Gives everything back.
    void Reset()
    {
        m_left.clear();
    }

  private:
    /// @param id a link @return its rate
    double LinkRate(LinkId id) const
    {
        const Link& link = m_cluster->GetLinks()[id];
        const double raw = link.bytesPerSecond / 1e9;
        return link.technology == LinkTechnology::NVLINK ? raw * m_nvlink
               : link.technology == LinkTechnology::PCIE ? raw * 12 / 15.75
                                                         : raw;
    }

    /// @param id a link @return its rate; where a GPU spreads over several NVSwitches, that of all
    double Rate(LinkId id) const
    {
        const Link& link = m_cluster->GetLinks()[id];
        const auto kind = [&](VertexId vertex) { return m_cluster->GetVertices()[vertex].kind; };
        const VertexId gpu = kind(link.a) == VertexKind::GPU ? link.a : link.b;
        if (kind(gpu) != VertexKind::GPU || kind(link.Other(gpu)) != VertexKind::NVSWITCH)
        {
            return LinkRate(id);
        }
        double sum = 0;
        for (const Port& port : m_cluster->GetPorts(gpu))
        {
            sum += kind(port.neighbor) == VertexKind::NVSWITCH ? LinkRate(port.link) : 0;
        }
        return sum;
    }

    /// Takes a rate from one direction of a link. @return whether there was room
    bool TakeLink(LinkId link, VertexId from, double rate)
    {
        const auto place = m_left.emplace(std::make_pair(link, from), Rate(link)).first;
        place->second -= rate;
        return place->second > -1e-6;
    }

    std::vector<LinkId> Walk(VertexId a, VertexId b) const
    {
        return m_paths->Walk(a, b, [](VertexId, std::size_t) { return std::size_t{0}; });
    }

    const Cluster* m_cluster;
    const Paths* m_paths;
    double m_nvlink;
    std::map<std::pair<LinkId, VertexId>, double> m_left;
};

/// Everything about the search of one server.
class ServerSearch
{
  public:
    ServerSearch(const Cluster& cluster,
                 const Paths& paths,
                 const std::vector<VertexId>& gpus,
                 const std::vector<std::vector<uint32_t>>& ways,
                 bool isAlone,
                 uint32_t computeCapability)
        : m_cluster(cluster),
          m_paths(paths),
          m_gpus(gpus),
          m_isAlone(isAlone),
          m_capability(computeCapability),
          m_capacities(cluster, paths, computeCapability),
          m_orders(ways)
    {
        for (const VertexId gpu : gpus)
        {
            m_total = std::max(m_total, m_capacities.TotalRate(gpu));
            if (!isAlone)
            {
                m_most = std::max(m_most, m_capacities.PathRate(gpu, cluster.GetNic(gpu)));
            }
            for (const VertexId other : gpus)
            {
                if (isAlone && other != gpu)
                {
                    m_most = std::max(m_most, m_capacities.PathRate(gpu, other));
                }
            }
        }
    }

    ChannelPattern FindRing()
    {
        ChannelPattern best;
        const auto& speeds = Speeds();
        for (std::size_t i = First(m_total, 1); i < speeds.size(); ++i)
        {
            if (best.channels > 0 && speeds[i] / best.interGBps <= LEAST_RATIO)
            {
                break;
            }
            const uint32_t channels = CountRings(speeds[i]);
            if (channels * speeds[i] > best.channels * best.interGBps)
            {
                best.channels = channels;
                best.intraGBps = best.interGBps = speeds[i];
            }
            if (best.channels * best.interGBps >= m_total)
            {
                break;
            }
        }
        if (best.channels == 0)
        {
            best.channels = 1; // NCCL's fall-back
            best.intraGBps = best.interGBps = 0.1;
        }
        Describe(best);
        // Fast channels are made two (ncclTopoDupChannels()).
        if (best.intraGBps >= 25 &&
            !(m_capability > 80 && best.intraGBps < 50 && best.channels > 4))
        {
            const uint32_t twice = std::min(2 * best.channels, MOST_CHANNELS);
            const double parts = (twice + best.channels - 1) / best.channels;
            best.channels = twice;
            best.intraGBps /= parts;
            best.interGBps /= parts;
        }
        return best;
    }

    /// A tree has as many channels as the ring. It need not come back to where it began.
    ChannelPattern FindTree(const ChannelPattern& ring)
    {
        ChannelPattern tree = ring;
        if (m_isAlone || m_gpus.size() < 2)
        {
            return tree;
        }
        const auto& speeds = Speeds();
        for (std::size_t i = speeds.size(); i-- > 0;)
        {
            if (speeds[i] > tree.intraGBps && tree.intraGBps < 2 * tree.interGBps &&
                Fits(tree.channels, speeds[i], tree.interGBps))
            {
                tree.intraGBps = speeds[i];
            }
        }
        return tree;
    }

    /// Every GPU is the head of a channel, whose sum it gets and gives, beside all that it gives
    /// and gets itself.
    ChannelPattern FindNvls() const
    {
        ChannelPattern nvls;
        if (m_capability < 90 || m_gpus.size() < 2 ||
            !AreJoinedByReducingSwitches(m_cluster, m_gpus, VertexKind::NVSWITCH))
        {
            return nvls;
        }
        const auto& speeds = Speeds();
        const auto heads =
            static_cast<uint32_t>(std::min<std::size_t>(m_gpus.size(), MOST_NVLS_CHANNELS));
        for (std::size_t i = First(m_total, heads); i < speeds.size(); ++i)
        {
            if (speeds[i] * (heads + 1) <= m_total)
            {
                nvls.channels = heads;
                nvls.intraGBps = nvls.interGBps = speeds[i];
                while (i > 0 && nvls.interGBps < 2 * nvls.intraGBps &&
                       (m_isAlone || speeds[i - 1] <= m_most))
                {
                    nvls.interGBps = speeds[--i];
                }
                break;
            }
        }
        return nvls;
    }

  private:
    const std::vector<double>& Speeds() const
    {
        return m_isAlone             ? m_capability >= 100  ? INTRA_SM100
                                       : m_capability >= 90 ? INTRA_SM90
                                                            : INTRA
               : m_capability >= 100 ? INTER_SM100
               : m_capability >= 90  ? INTER_SM90
                                     : INTER;
    }

    /// @param total rate of a GPU @param channels at least @return index of the first speed to try
    std::size_t First(double total, uint32_t channels) const
    {
        const auto& speeds = Speeds();
        std::size_t i = 0;
        while (i + 1 < speeds.size() && (speeds[i] > m_most || speeds[i] * channels > total))
        {
            ++i;
        }
        return i;
    }

    /// @param channels how many @param intra speed in the server @param inter speed of the NICs
    /// @return whether the links have room for them
    bool Fits(uint32_t channels, double intra, double inter)
    {
        m_capacities.Reset();
        bool fits = true;
        for (uint32_t channel = 0; channel < channels; ++channel)
        {
            fits = fits && TakeRing(m_orders[channel % m_orders.size()], intra, inter);
        }
        return fits;
    }

    /// @param speed of every channel @return how many the links have room for
    uint32_t CountRings(double speed)
    {
        m_capacities.Reset();
        uint32_t misses = 0;
        uint32_t channels = 0;
        for (uint32_t i = 0; channels < MOST_CHANNELS && misses < m_orders.size(); ++i)
        {
            if (TakeRing(m_orders[i % m_orders.size()], speed, speed))
            {
                ++channels;
                misses = 0;
            }
            else
            {
                ++misses;
            }
        }
        return channels;
    }

    /// Takes the first hops of a ring, by way of other GPUs where it is so. @return whether there
    /// was room
    bool TakeHops(Capacities& left,
                  const std::vector<uint32_t>& order,
                  std::size_t hops,
                  double speed) const
    {
        const auto relays = FindRingRelays(m_cluster, m_gpus, order);
        bool fits = true;
        for (std::size_t i = 0; i < hops; ++i)
        {
            const VertexId from = m_gpus[order[i]];
            const VertexId to = m_gpus[order[(i + 1) % order.size()]];
            const VertexId via = relays[i] == NO_RANK ? to : m_gpus[relays[i]];
            fits = fits && left.Take(from, via, speed) && (via == to || left.Take(via, to, speed));
        }
        return fits;
    }

    /// Takes the way of one channel through the server, or nothing. @return whether there was room
    bool TakeRing(const std::vector<uint32_t>& order, double intra, double inter)
    {
        Capacities left = m_capacities;
        bool fits = true;
        const std::size_t n = order.size();
        if (m_isAlone)
        {
            fits = TakeHops(left, order, n > 1 ? n : 0, intra);
        }
        else
        {
            const VertexId first = m_gpus[order.front()];
            const VertexId last = m_gpus[order.back()];
            const VertexId in = m_cluster.GetNic(first);
            const VertexId out = m_cluster.GetNic(last);
            fits = left.TakeNetwork(in, false, inter) && left.TakeNetwork(out, true, inter) &&
                   left.Take(in, first, inter) && left.Take(last, out, inter);
            fits = fits && TakeHops(left, order, n - 1, intra);
        }
        if (fits)
        {
            m_capacities = left;
        }
        return fits;
    }

    /// Fills in the kinds of ways.
    void Describe(ChannelPattern& pattern) const
    {
        std::set<std::vector<uint32_t>> orders;
        for (const auto& order : m_orders)
        {
            orders.insert(order);
            const auto relays = FindRingRelays(m_cluster, m_gpus, order);
            for (std::size_t i = 0; i + 1 < order.size(); ++i)
            {
                pattern.typeIntra = std::max(
                    pattern.typeIntra,
                    relays[i] != NO_RANK
                        ? PathType::NVB
                        : FindPathType(m_cluster, m_paths, m_gpus[order[i]], m_gpus[order[i + 1]]));
            }
        }
        pattern.sameChannels = orders.size() <= 1;
        if (!m_isAlone)
        {
            for (const VertexId gpu : m_gpus)
            {
                pattern.typeInter =
                    std::max(pattern.typeInter,
                             FindPathType(m_cluster, m_paths, gpu, m_cluster.GetNic(gpu)));
            }
        }
    }

    const Cluster& m_cluster;
    const Paths& m_paths;
    const std::vector<VertexId>& m_gpus;
    bool m_isAlone;
    uint32_t m_capability;
    Capacities m_capacities;
    double m_total{0};                                  //!< most that a GPU sends
    double m_most{0};                                   //!< most of one way
    const std::vector<std::vector<uint32_t>>& m_orders; //!< of channels, in turn
};

/// The lesser of what two servers have.
ChannelPattern
Least(const ChannelPattern& a, const ChannelPattern& b)
{
    return {std::min(a.channels, b.channels),
            std::min(a.intraGBps, b.intraGBps),
            std::min(a.interGBps, b.interGBps),
            std::max(a.typeIntra, b.typeIntra),
            std::max(a.typeInter, b.typeInter),
            a.sameChannels && b.sameChannels};
}

} // namespace

PathType
FindPathType(const Cluster& cluster, const Paths& paths, VertexId a, VertexId b)
{
    const auto links = paths.Walk(a, b, [](VertexId, std::size_t) { return std::size_t{0}; });
    bool isNvlink = true;
    bool hasCpu = false;
    bool hasInterconnect = false;
    uint32_t switches = 0;
    VertexId at = a;
    for (const LinkId id : links)
    {
        const Link& link = cluster.GetLinks()[id];
        at = link.Other(at);
        const VertexKind kind = cluster.GetVertices()[at].kind;
        isNvlink = isNvlink && link.technology == LinkTechnology::NVLINK;
        hasCpu = hasCpu || kind == VertexKind::CPU;
        hasInterconnect = hasInterconnect || link.technology == LinkTechnology::CPU_INTERCONNECT;
        switches += kind == VertexKind::PCIE_SWITCH;
    }
    return isNvlink          ? PathType::NVL
           : hasInterconnect ? PathType::SYS
           : hasCpu          ? PathType::PHB
           : switches > 1    ? PathType::PXB
                             : PathType::PIX;
}

namespace
{

/**
 * @param rings over all ranks
 * @param members ranks of a server
 * @param isBackwards whether the rings walk the server against the direction of the first one
 * @return the parts of the rings inside the server, by position in `members`, in the direction of
 * the first server
 */
std::vector<std::vector<uint32_t>>
FindWays(const std::vector<std::vector<uint32_t>>& rings,
         const std::vector<uint32_t>& members,
         bool isBackwards)
{
    std::vector<std::vector<uint32_t>> ways;
    for (const auto& ring : rings)
    {
        ways.emplace_back();
        for (const uint32_t rank : ring)
        {
            const auto found = std::find(members.begin(), members.end(), rank);
            if (found != members.end())
            {
                ways.back().push_back(static_cast<uint32_t>(found - members.begin()));
            }
        }
        if (isBackwards)
        {
            std::reverse(ways.back().begin(), ways.back().end());
        }
    }
    return ways;
}

} // namespace

ChannelSearch
SearchChannels(const Cluster& cluster,
               const Paths& paths,
               const std::vector<VertexId>& vertices,
               uint32_t computeCapability)
{
    const auto servers = GroupByServer(cluster, vertices);
    ChannelSearch result;
    std::set<std::vector<uint32_t>> seen; // servers are alike if the same GPUs of them take part
    std::size_t most = 0;
    const bool hasNetwork =
        servers.size() > 1 && cluster.GetNic(vertices.front()) != Cluster::NO_VERTEX;
    const auto rings = MakeRingOrders(cluster, paths, vertices, hasNetwork ? MOST_CHANNELS : 0);
    for (std::size_t server = 0; server < servers.size(); ++server)
    {
        const auto& members = servers[server];
        std::vector<VertexId> gpus;
        std::vector<uint32_t> places;
        for (const uint32_t rank : members)
        {
            gpus.push_back(vertices[rank]);
            places.push_back(cluster.GetVertices()[vertices[rank]].index);
        }
        most = std::max(most, gpus.size());
        if (!seen.insert(places).second)
        {
            continue;
        }
        const auto ways = FindWays(rings, members, server % 2 == 1);
        ServerSearch search(cluster, paths, gpus, ways, !hasNetwork, computeCapability);
        const ChannelPattern ring = search.FindRing();
        const ChannelPattern tree = search.FindTree(ring);
        const ChannelPattern nvls = search.FindNvls();
        const bool isFirst = seen.size() == 1;
        result.ring = isFirst ? ring : Least(result.ring, ring);
        result.tree = isFirst ? tree : Least(result.tree, tree);
        result.nvls = isFirst ? nvls : Least(result.nvls, nvls);
    }
    result.workingChannels = std::min(2 * result.ring.channels, 2 * MOST_CHANNELS);
    if (computeCapability >= 90 && servers.size() > 1 && result.ring.intraGBps > 45 &&
        result.workingChannels < 16)
    {
        result.workingChannels *= 2;
    }
    if (result.nvls.channels > 0)
    {
        result.nvlsChannels = computeCapability < 100 ? 16 : most > 8 ? 24 : 32;
    }
    return result;
}

} // namespace proteus
} // namespace ns3
