/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-classic-ring.h"

#include "proteus-classic-server.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr uint32_t MOST_CHANNELS = 16; // MAXCHANNELS / 2
constexpr int64_t TIMEOUT = 1 << 14;   // NCCL_SEARCH_TIMEOUT
constexpr double LEAST_RATIO = 0.49;   // of the best speed, below which none is tried
constexpr std::array<NcclPath, 6> KINDS{NcclPath::NVL,
                                        NcclPath::NVB,
                                        NcclPath::PIX,
                                        NcclPath::PXB,
                                        NcclPath::PHB,
                                        NcclPath::SYS};

const std::vector<double> INTRA{44, 30, 22, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
const std::vector<double>
    INTER{48, 30, 24, 22, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, 0.24, 0.12};

/// The search in one server.
class RingSearch
{
  public:
    explicit RingSearch(const ClassicServer& server)
        : m_server(server)
    {
    }

    NcclPattern Find()
    {
        const std::vector<double>& speeds = m_server.CountNics() > 0 ? INTER : INTRA;
        const double most = m_server.GetMost();
        for (std::size_t i = 0; i < speeds.size() && !IsOptimal(); ++i)
        {
            if (speeds[i] > most + CLASSIC_RATE_SLACK && i + 1 < speeds.size())
            {
                continue;
            }
            if (m_best.channels > 0 && speeds[i] / m_best.interGBps <= LEAST_RATIO)
            {
                break;
            }
            TryKinds(speeds[i]);
        }
        if (m_best.channels == 0)
        {
            m_best.channels = 1; // NCCL's fall-back
            m_best.intraGBps = m_best.interGBps = 0.1;
            m_best.typeIntra = m_best.typeInter = NcclPath::SYS;
        }
        if (m_best.intraGBps >= 25) // ncclTopoDupChannels()
        {
            const uint32_t twice = std::min(2 * m_best.channels, MOST_CHANNELS);
            m_best.intraGBps /= (twice + m_best.channels - 1) / m_best.channels;
            m_best.channels = twice;
        }
        return m_best;
    }

  private:
    bool IsOptimal() const
    {
        return m_best.channels * m_best.interGBps >= m_server.GetTotal() - CLASSIC_RATE_SLACK;
    }

    /// From the best kinds of ways to the worst.
    void TryKinds(double speed)
    {
        const bool isAlone = m_server.CountNics() == 0;
        for (std::size_t inter = 2; inter < KINDS.size(); ++inter)
        {
            const std::size_t last = isAlone ? KINDS.size() - 1 : inter;
            for (std::size_t intra = 0; intra <= last && !IsOptimal(); ++intra)
            {
                const bool isWorse = m_best.channels > 0 && KINDS[intra] > m_best.typeIntra;
                if (isWorse && intra > 0)
                {
                    break;
                }
                m_typeIntra = m_server.CountGpus() == 1 ? NcclPath::LOC : KINDS[intra];
                m_typeInter = KINDS[inter];
                m_speed = speed;
                TrySpeed();
            }
            if (isAlone || (m_best.channels > 0 && m_best.typeInter <= KINDS[inter]))
            {
                break;
            }
        }
    }

    void TrySpeed()
    {
        for (const bool isSame : {true, false})
        {
            if (IsOptimal())
            {
                return;
            }
            m_isSame = isSame;
            m_budget = TIMEOUT;
            m_orders.clear();
            AddChannel(m_server.GetWidths());
        }
    }

    /// Begins a channel.
    void AddChannel(const std::vector<double>& left)
    {
        const uint32_t n = m_server.CountGpus();
        if (m_orders.size() == MOST_CHANNELS)
        {
            return;
        }
        std::vector<uint32_t> order;
        if (m_server.CountNics() == 0)
        {
            order = {0};
            Visit(order, NO_ID, left);
            return;
        }
        for (uint32_t i = 0; i < m_server.CountNics(); ++i)
        {
            const uint32_t nic =
                (i + static_cast<uint32_t>(m_orders.size())) % m_server.CountNics();
            double widest = 0;
            std::size_t fewest = SIZE_MAX;
            for (uint32_t gpu = 0; gpu < n; ++gpu)
            {
                const ClassicWay& way = m_server.GetWayIn(nic, gpu);
                if (way.width > widest || (way.width == widest && way.arcs.size() < fewest))
                {
                    widest = way.width;
                    fewest = way.arcs.size();
                }
            }
            for (uint32_t gpu = 0; gpu < n; ++gpu)
            {
                const ClassicWay& way = m_server.GetWayIn(nic, gpu);
                const bool isReplay = m_isSame && !m_orders.empty();
                if (way.type > m_typeInter || way.width != widest || way.arcs.size() != fewest ||
                    (isReplay && m_orders[0][0] != gpu))
                {
                    continue;
                }
                std::vector<double> now = left;
                if (m_server.Take(way, false, m_speed, now))
                {
                    order = {gpu};
                    Visit(order, nic, now);
                }
            }
        }
    }

    /// Goes on with a channel.
    void Visit(std::vector<uint32_t>& order, uint32_t nic, const std::vector<double>& left)
    {
        if (--m_budget <= 0 || IsOptimal())
        {
            return;
        }
        const uint32_t n = m_server.CountGpus();
        const uint32_t at = order.back();
        if (order.size() == n)
        {
            const ClassicWay& way =
                nic == NO_ID ? m_server.GetWay(at, order[0]) : m_server.GetWayOut(at, nic);
            std::vector<double> now = left;
            if (way.type <= (nic == NO_ID ? m_typeIntra : m_typeInter) && !way.arcs.empty() &&
                m_server.Take(way, true, m_speed, now))
            {
                Keep(order, now);
            }
            return;
        }
        for (const uint32_t next : GetCandidates(order))
        {
            const ClassicWay& way = m_server.GetWay(at, next);
            std::vector<double> now = left;
            if (m_server.Take(way, true, m_speed, now))
            {
                order.push_back(next);
                Visit(order, nic, now);
                order.pop_back();
            }
        }
    }

    /// @return the GPUs that may follow, those with the widest ways first
    std::vector<uint32_t> GetCandidates(const std::vector<uint32_t>& order) const
    {
        const uint32_t n = m_server.CountGpus();
        if (m_isSame && !m_orders.empty())
        {
            return {m_orders[0][order.size()]};
        }
        std::vector<uint32_t> candidates;
        for (uint32_t i = 1; i < n; ++i)
        {
            const uint32_t next = (order.back() + i) % n;
            const ClassicWay& way = m_server.GetWay(order.back(), next);
            if (std::find(order.begin(), order.end(), next) == order.end() && !way.arcs.empty() &&
                way.type <= m_typeIntra && way.width >= m_speed - CLASSIC_RATE_SLACK)
            {
                candidates.push_back(next);
            }
        }
        std::stable_sort(candidates.begin(), candidates.end(), [&](uint32_t a, uint32_t b) {
            return m_server.GetWay(order.back(), a).width > m_server.GetWay(order.back(), b).width;
        });
        return candidates;
    }

    /// A channel is complete: is it the best so far, and is there room for another?
    void Keep(const std::vector<uint32_t>& order, const std::vector<double>& left)
    {
        m_orders.push_back(order);
        const auto channels = static_cast<uint32_t>(m_orders.size());
        if (channels * m_speed > m_best.channels * m_best.interGBps + CLASSIC_RATE_SLACK)
        {
            m_best.channels = channels;
            m_best.intraGBps = m_best.interGBps = m_speed;
            m_best.typeIntra = m_typeIntra;
            m_best.typeInter = m_typeInter;
            m_best.sameChannels = m_isSame || channels == 1;
        }
        if (!IsOptimal())
        {
            AddChannel(left);
        }
        m_orders.pop_back();
    }

    const ClassicServer& m_server;
    NcclPattern m_best;
    double m_speed{0};
    NcclPath m_typeIntra{NcclPath::NVL};
    NcclPath m_typeInter{NcclPath::PIX};
    bool m_isSame{true};
    int64_t m_budget{0};
    std::vector<std::vector<uint32_t>> m_orders; //!< of the channels so far
};

} // namespace

NcclPattern
SearchClassicRing(const Cluster& cluster, const std::vector<VertexId>& gpus)
{
    if (gpus.size() < 2)
    {
        throw std::invalid_argument("classic rules: a ring of fewer than two GPUs");
    }
    std::map<int32_t, std::vector<VertexId>> byServer;
    for (const VertexId gpu : gpus)
    {
        byServer[cluster.GetVertices()[gpu].server].push_back(gpu);
    }
    std::map<std::vector<uint32_t>, NcclPattern> found; // servers with the same GPUs are alike
    std::optional<NcclPattern> least;
    for (auto& [number, members] : byServer)
    {
        std::sort(members.begin(), members.end());
        std::vector<uint32_t> indices;
        for (const VertexId gpu : members)
        {
            indices.push_back(cluster.GetVertices()[gpu].index);
        }
        if (!found.count(indices))
        {
            const ClassicServer server(cluster, members, byServer.size() == 1);
            found[indices] = RingSearch(server).Find();
        }
        const NcclPattern& pattern = found[indices];
        if (!least)
        {
            least = pattern;
            continue;
        }
        least->channels = std::min(least->channels, pattern.channels);
        least->intraGBps = std::min(least->intraGBps, pattern.intraGBps);
        least->interGBps = std::min(least->interGBps, pattern.interGBps);
        least->typeIntra = std::max(least->typeIntra, pattern.typeIntra);
        least->typeInter = std::max(least->typeInter, pattern.typeInter);
        least->sameChannels = least->sameChannels && pattern.sameChannels;
    }
    return *least;
}

} // namespace proteus
} // namespace ns3
