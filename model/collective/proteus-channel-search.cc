/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-channel-search.h"

#include "proteus-algorithms.h"
#include "proteus-ring-search.h"
#include "proteus-simple-tree.h"

#include "ns3/proteus-network-links.h"
#include "ns3/proteus-nvls-heads.h"

#include <algorithm>
#include <set>
#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr uint32_t MOST_CHANNELS = 32; // of a search: half of MAXCHANNELS

/// What a server has room for.
class ServerSearch
{
  public:
    ServerSearch(const Cluster& cluster,
                 const std::vector<VertexId>& gpus,
                 const ServerLinks& links,
                 const ServerRings& rings,
                 bool isAlone,
                 uint32_t computeCapability)
        : m_cluster(cluster),
          m_gpus(gpus),
          m_links(links),
          m_rings(rings),
          m_isAlone(isAlone),
          m_capability(computeCapability),
          m_speeds(GetChannelSpeeds(isAlone, computeCapability))
    {
    }

    /// @return the rings that were found
    ChannelPattern MakeRing() const
    {
        ChannelPattern ring;
        ring.channels = static_cast<uint32_t>(m_rings.orders.size());
        ring.intraGBps = ring.interGBps = m_rings.gigabytesPerSecond;
        std::set<std::vector<uint32_t>> orders(m_rings.orders.begin(), m_rings.orders.end());
        ring.sameChannels = orders.size() <= 1;
        for (uint32_t channel = 0; channel < ring.channels; ++channel)
        {
            const auto& order = m_rings.orders[channel];
            for (std::size_t i = 0; i + 1 < order.size(); ++i)
            {
                ring.typeIntra =
                    std::max(ring.typeIntra, m_links.Between(order[i], order[i + 1]).type);
            }
            if (!m_isAlone)
            {
                ring.typeInter = std::max({ring.typeInter,
                                           m_links.In(order.front(), channel).type,
                                           m_links.Out(order.back(), order.front(), channel).type});
            }
        }
        // Fast channels are made two (ncclTopoDupChannels()).
        if (ring.intraGBps >= 25 &&
            !(m_capability > 80 && ring.intraGBps < 50 && ring.channels > 4))
        {
            const uint32_t twice = std::min(2 * ring.channels, MOST_CHANNELS);
            const double parts = (twice + ring.channels - 1) / ring.channels;
            ring.channels = twice;
            ring.intraGBps /= parts;
            ring.interGBps /= parts;
        }
        return ring;
    }

    /// A tree has as many channels as the ring. It need not come back to where it began.
    ChannelPattern FindTree(const ChannelPattern& ring) const
    {
        ChannelPattern tree = ring;
        if (m_isAlone || m_gpus.size() < 2)
        {
            return tree;
        }
        for (std::size_t i = m_speeds.size(); i-- > 0;)
        {
            if (m_speeds[i] > tree.intraGBps && tree.intraGBps < 2 * tree.interGBps &&
                Fits(tree.channels, m_speeds[i], tree.interGBps))
            {
                tree.intraGBps = m_speeds[i];
            }
        }
        return tree;
    }

    /// Every GPU is the head of a channel, whose sum it gets and gives, beside all that it gives
    /// and gets itself. It has NICs of its own to the network.
    ChannelPattern FindNvls() const
    {
        ChannelPattern nvls;
        if (m_capability < 90 || m_gpus.size() < 2 || !m_links.HasNvswitch() ||
            !AreJoinedByReducingSwitches(m_cluster, m_gpus, VertexKind::NVSWITCH))
        {
            return nvls;
        }
        const double total = m_links.GetTotalGBps();
        const double most = m_links.GetMostGBps();
        for (uint32_t gpu = 0; gpu < m_gpus.size(); ++gpu)
        {
            for (uint32_t k = 0; !m_isAlone && k < m_links.CountNics(gpu); ++k)
            {
                nvls.typeInter = std::max(nvls.typeInter, m_links.In(gpu, k).type);
            }
        }
        const auto heads =
            static_cast<uint32_t>(std::min<std::size_t>(m_gpus.size(), MOST_NVLS_HEADS));
        std::size_t i = 0;
        while (i + 1 < m_speeds.size() && (m_speeds[i] > most || m_speeds[i] * heads > total))
        {
            ++i;
        }
        for (; i < m_speeds.size(); ++i)
        {
            if (m_speeds[i] * (heads + 1) <= total)
            {
                nvls.channels = heads;
                nvls.intraGBps = nvls.interGBps = m_speeds[i];
                while (i > 0 && nvls.interGBps < 2 * nvls.intraGBps &&
                       (m_isAlone || m_speeds[i - 1] <= most))
                {
                    nvls.interGBps = m_speeds[--i];
                }
                break;
            }
        }
        return nvls;
    }

    /// @return channels of a message that the ways between GPUs have room for
    uint32_t CountMessageChannels() const
    {
        uint32_t least = 2 * MOST_CHANNELS;
        for (uint32_t a = 0; a < m_gpus.size(); ++a)
        {
            for (uint32_t b = 0; b < m_gpus.size(); ++b)
            {
                if (a != b)
                {
                    const ServerWay& way = m_links.Between(a, b);
                    const bool isNvlink = way.type <= PathType::NVB;
                    const double links =
                        isNvlink ? way.gigabytesPerSecond / m_links.GetNvlinkGBps() + 1e-6 : 1;
                    least = std::min(least, 2 * std::max(static_cast<uint32_t>(links), 1u));
                }
            }
        }
        return least;
    }

  private:
    /// @param channels how many @param intra speed in the server @param inter speed of the NICs
    /// @return whether the links have room for them
    bool Fits(uint32_t channels, double intra, double inter) const
    {
        std::vector<double> left = m_links.GetRates();
        bool fits = true;
        const auto take = [&](const ServerWay& way, double speed) {
            for (const ServerWay::Use& use : way.uses)
            {
                left[use.link] -= use.times * speed;
                fits = fits && left[use.link] > -1e-6;
            }
        };
        for (uint32_t channel = 0; channel < channels; ++channel)
        {
            const auto& order = m_rings.orders[channel % m_rings.orders.size()];
            take(m_links.In(order.front(), channel), inter);
            take(m_links.Out(order.back(), order.front(), channel), inter);
            for (std::size_t i = 0; i + 1 < order.size(); ++i)
            {
                take(m_links.Between(order[i], order[i + 1]), intra);
            }
        }
        return fits;
    }

    const Cluster& m_cluster;
    const std::vector<VertexId>& m_gpus;
    const ServerLinks& m_links;
    const ServerRings& m_rings;
    const bool m_isAlone;
    const uint32_t m_capability;
    const std::vector<double>& m_speeds;
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

/// @param cluster with the NIC @param nic a NIC @return rate of its network, 1e9 bytes per second
double
FindNicGBps(const Cluster& cluster, VertexId nic)
{
    double rate = 0;
    for (const Port& port : cluster.GetPorts(nic))
    {
        const Link& link = cluster.GetLinks()[port.link];
        if (IsOfNetwork(link))
        {
            rate += link.bytesPerSecond / 1e9;
        }
    }
    return rate;
}

} // namespace

ChannelSearch
SearchChannels(const Cluster& cluster,
               const Paths& paths,
               const std::vector<VertexId>& vertices,
               uint32_t computeCapability,
               CpuVendor cpu,
               const TransportRules& rules)
{
    const auto servers = GroupByServer(cluster, vertices);
    ChannelSearch result;
    std::set<std::vector<uint32_t>> seen; // servers are alike if the same GPUs of them take part
    std::size_t least = vertices.size();
    const NicTable nics(cluster, rules.pxn);
    const bool hasNetwork =
        servers.size() > 1 && nics.Get(vertices.front(), 0) != Cluster::NO_VERTEX;
    for (const auto& members : servers)
    {
        std::vector<VertexId> gpus;
        std::vector<uint32_t> places;
        for (const uint32_t rank : members)
        {
            gpus.push_back(vertices[rank]);
            places.push_back(cluster.GetVertices()[vertices[rank]].index);
        }
        least = std::min(least, gpus.size());
        if (!seen.insert(places).second)
        {
            continue;
        }
        const ServerLinks links(cluster, paths, gpus, hasNetwork, computeCapability, cpu, rules);
        const ServerRings rings = SearchRings(links, !hasNetwork, computeCapability);
        const ServerSearch search(cluster, gpus, links, rings, !hasNetwork, computeCapability);
        const ChannelPattern ring = search.MakeRing();
        const ChannelPattern tree = search.FindTree(ring);
        const ChannelPattern nvls = search.FindNvls();
        const uint32_t messages = search.CountMessageChannels();
        const bool isFirst = seen.size() == 1;
        result.ring = isFirst ? ring : Least(result.ring, ring);
        result.tree = isFirst ? tree : Least(result.tree, tree);
        result.nvls = isFirst ? nvls : Least(result.nvls, nvls);
        result.messageChannels = isFirst ? messages : std::min(result.messageChannels, messages);
    }
    result.hasSimpleTree = HasSimpleTree(cluster, paths, vertices, rules.pxn);
    result.leastRanks = static_cast<uint32_t>(least);
    if (nics.Get(vertices.front(), 0) != Cluster::NO_VERTEX)
    {
        result.networkCards = nics.CountNics(vertices.front());
        for (uint32_t k = 0; k < result.networkCards; ++k)
        {
            result.networkGBps += FindNicGBps(cluster, nics.Get(vertices.front(), k));
        }
    }
    result.workingChannels = std::min(2 * result.ring.channels, 2 * MOST_CHANNELS);
    if (computeCapability >= 90 && servers.size() > 1 && result.ring.intraGBps > 45 &&
        result.workingChannels < 16)
    {
        result.workingChannels *= 2;
    }
    return result;
}

} // namespace proteus
} // namespace ns3
