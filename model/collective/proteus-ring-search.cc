/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-ring-search.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace ns3
{
namespace proteus
{

namespace
{

constexpr uint32_t MOST_CHANNELS = 32;      // of a search: half of MAXCHANNELS
constexpr double LEAST_RATIO = 0.49;        // of the best speed, below which none is tried
constexpr int64_t STEPS = 1 << 14;          // NCCL_SEARCH_TIMEOUT
constexpr int64_t STEPS_SAME = 1 << 8;      // NCCL_SEARCH_TIMEOUT_SAMECHANNELS
constexpr int64_t STEPS_IN_ORDER = 1 << 10; // of the order of PCIe, which is tried first
constexpr double ROOM = 1e-6;               // of rounding

const std::vector<double> INTRA{40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
const std::vector<double> INTRA_SM90{60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
const std::vector<double> INTRA_SM100{90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18};
const std::vector<double>
    INTER{48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, 0.24, 0.12};
const std::vector<double>
    INTER_SM90{48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12};
const std::vector<double> INTER_SM100{96, 86,   80, 48, 45.1, 42, 40,  30,  24,   22,
                                      20, 17.5, 15, 12, 6,    3,  2.4, 1.2, 0.24, 0.12};

/// What ways a search may take, and how fast its channels are.
struct SearchLimits
{
    double gigabytesPerSecond{0};
    PathType typeIntra{PathType::NVL};
    PathType typeInter{PathType::PIX};
    bool isSame{true}; //!< all channels in one order
};

/// The search of one server.
class RingSearch
{
  public:
    RingSearch(const ServerLinks& links, bool isAlone)
        : m_links(links),
          m_isAlone(isAlone),
          m_n(links.CountGpus()),
          m_left(links.GetRates())
    {
        for (uint32_t gpu = 0; gpu < m_n; ++gpu)
        {
            for (uint32_t k = 0; !isAlone && k < links.CountNics(gpu); ++k)
            {
                m_rails.push_back(gpu);
            }
        }
    }

    /// Searches with some limits. @return whether there cannot be more channels
    bool Run(const SearchLimits& limits)
    {
        m_limits = limits;
        m_steps = limits.isSame ? STEPS_SAME : STEPS;
        m_orders.clear();
        m_hops = 0;
        NextChannel();
        return IsFull();
    }

    /// @return the best that was found
    const ServerRings& GetBest() const
    {
        return m_best;
    }

  private:
    /// How the next GPUs are chosen.
    enum class Order
    {
        ANY,      //!< the best first
        IN_ORDER, //!< as they are numbered
        REPLAY,   //!< as in the channel before
    };

    /// @return whether there cannot be more channels than were found
    bool IsFull() const
    {
        return m_best.orders.size() == MOST_CHANNELS;
    }

    /// Looks for one more channel.
    void NextChannel()
    {
        const std::size_t channel = m_orders.size();
        if (channel > 0 && (m_isAlone || m_limits.isSame))
        {
            Begin(m_orders.back().front(), Order::REPLAY);
            if (m_limits.isSame)
            {
                return;
            }
        }
        if (channel == 0 && (m_isAlone || !m_links.HasNvswitch()))
        {
            const int64_t steps = m_steps;
            m_steps = STEPS_IN_ORDER;
            Begin(0, Order::IN_ORDER);
            m_steps = IsFull() ? 0 : steps;
        }
        const std::size_t starts = m_isAlone ? m_n : m_rails.size();
        for (std::size_t i = 0; i < starts && m_steps > 0; ++i)
        {
            Begin(m_isAlone ? static_cast<uint32_t>(i) : m_rails[(channel + i) % starts],
                  Order::ANY);
        }
    }

    /// Begins a channel. @param gpu first @param order of the others
    void Begin(uint32_t gpu, Order order)
    {
        if (m_isAlone)
        {
            m_orders.push_back({gpu});
            m_used.assign(m_n, false);
            Visit(gpu, order);
            m_orders.pop_back();
            return;
        }
        const ServerWay& in = m_links.In(gpu, Channel());
        if (in.type <= m_limits.typeInter && Take(in))
        {
            m_orders.push_back({gpu});
            m_used.assign(m_n, false);
            Visit(gpu, order);
            m_orders.pop_back();
            Give(in);
        }
    }

    /// @return number of the channel under way, or of the next
    uint32_t Channel() const
    {
        return static_cast<uint32_t>(m_orders.size());
    }

    /// A GPU of the channel under way.
    struct Level
    {
        uint32_t gpu{0};            //!< which one
        bool isVisited{false};      //!< there were steps left for it
        std::vector<uint32_t> next; //!< to try behind it
        std::size_t tried{0};       //!< so many of them have been
    };

    /// @param gpu to go on from, the last one of the channel @param order of the others
    /// @return its level
    Level Enter(uint32_t gpu, Order order)
    {
        Level level;
        level.gpu = gpu;
        level.isVisited = m_steps-- > 0;
        if (level.isVisited)
        {
            m_used[gpu] = true;
            if (m_orders.back().size() == m_n)
            {
                Close(gpu);
            }
            else
            {
                level.next = ListNext(gpu, order);
            }
        }
        return level;
    }

    /// Goes on from the first GPU of a channel. Levels are no calls: there are as many as a domain
    /// has GPUs in each channel. @param first the GPU @param order of the others
    void Visit(uint32_t first, Order order)
    {
        const std::size_t place = m_orders.size() - 1;
        std::vector<Level> levels{Enter(first, order)};
        while (!levels.empty())
        {
            Level& level = levels.back();
            if (level.tried < level.next.size())
            {
                const uint32_t next = level.next[level.tried++];
                const ServerWay& way = m_links.Between(level.gpu, next);
                if (way.type <= m_limits.typeIntra && Take(way))
                {
                    m_orders[place].push_back(next);
                    levels.push_back(Enter(next, order));
                }
                continue;
            }
            const uint32_t gpu = level.gpu;
            if (level.isVisited)
            {
                m_used[gpu] = false;
            }
            levels.pop_back();
            if (!levels.empty())
            {
                m_orders[place].pop_back();
                Give(m_links.Between(levels.back().gpu, gpu));
            }
        }
    }

    /// Ends a channel. @param gpu the last
    void Close(uint32_t gpu)
    {
        const uint32_t first = m_orders.back().front();
        const ServerWay& way =
            m_isAlone ? m_links.Between(gpu, first) : m_links.Out(gpu, first, Channel() - 1);
        const PathType worst = m_isAlone ? m_limits.typeIntra : m_limits.typeInter;
        if (m_n > 1 || !m_isAlone)
        {
            if (way.type > worst || !Take(way))
            {
                return;
            }
        }
        KeepBest();
        if (m_orders.size() < MOST_CHANNELS)
        {
            const std::vector<bool> used = m_used;
            NextChannel();
            m_used = used;
        }
        else
        {
            m_steps = 0; // there cannot be more
        }
        if (m_n > 1 || !m_isAlone)
        {
            Give(way);
        }
    }

    /// Keeps what was found if it is better than what is kept.
    void KeepBest()
    {
        const double sum = m_orders.size() * m_limits.gigabytesPerSecond;
        const double best = m_best.orders.size() * m_best.gigabytesPerSecond;
        if (sum > best || (sum == best && m_hops < m_best.hops))
        {
            m_best = {m_orders,
                      m_limits.gigabytesPerSecond,
                      m_limits.typeIntra,
                      m_limits.typeInter,
                      m_hops};
        }
    }

    /// @param gpu the last one @param order how to choose @return GPUs to try next, in that order
    std::vector<uint32_t> ListNext(uint32_t gpu, Order order) const
    {
        const std::size_t step = m_orders.back().size();
        if (order == Order::IN_ORDER)
        {
            return {static_cast<uint32_t>(step)};
        }
        if (order == Order::REPLAY)
        {
            return m_orders.size() > 1 ? std::vector<uint32_t>{m_orders[m_orders.size() - 2][step]}
                                       : std::vector<uint32_t>{};
        }
        std::vector<uint32_t> next;
        if (m_links.HasNvswitch())
        {
            // NVSwitches prefer that a GPU talks to few: neighbours only.
            const uint32_t before = (gpu + m_n - 1) % m_n;
            const uint32_t behind = (gpu + 1) % m_n;
            for (const uint32_t other : {before, behind})
            {
                if (!m_used[other] && (next.empty() || next.front() != other))
                {
                    next.push_back(other);
                }
            }
            return next;
        }
        for (uint32_t i = 1; i < m_n; ++i)
        {
            const uint32_t other = (gpu + i) % m_n;
            if (!m_used[other])
            {
                next.push_back(other);
            }
        }
        const bool isLast = !m_isAlone && step + 1 == m_n;
        const uint32_t first = m_orders.back().front();
        const auto score = [&](uint32_t other) {
            const ServerWay& way = m_links.Between(gpu, other);
            // Back to the network where most is left.
            return std::make_tuple(isLast ? -GetRoom(m_links.Out(other, first, Channel() - 1))
                                          : 0.0,
                                   -way.gigabytesPerSecond,
                                   way.hops,
                                   (other + m_n - gpu) % m_n);
        };
        std::sort(next.begin(), next.end(), [&](uint32_t a, uint32_t b) {
            return score(a) < score(b);
        });
        return next;
    }

    /// @param way to look at @return what is left of it
    double GetRoom(const ServerWay& way) const
    {
        double room = way.gigabytesPerSecond;
        for (const ServerWay::Use& use : way.uses)
        {
            room = std::min(room, m_left[use.link]);
        }
        return room;
    }

    /// Takes the speed from all links of a way, if there is room. @return whether there was
    bool Take(const ServerWay& way)
    {
        bool fits = true;
        for (const ServerWay::Use& use : way.uses)
        {
            m_left[use.link] -= use.times * m_limits.gigabytesPerSecond;
            fits = fits && m_left[use.link] > -ROOM;
        }
        m_hops += way.hops;
        if (!fits)
        {
            Give(way);
        }
        return fits;
    }

    /// Gives back what Take() took. @param way which
    void Give(const ServerWay& way)
    {
        for (const ServerWay::Use& use : way.uses)
        {
            m_left[use.link] += use.times * m_limits.gigabytesPerSecond;
        }
        m_hops -= way.hops;
    }

    const ServerLinks& m_links;
    const bool m_isAlone;
    const uint32_t m_n;                          // GPUs
    std::vector<uint32_t> m_rails;               // GPU of every NIC
    SearchLimits m_limits;                       // of this search
    std::vector<double> m_left;                  // of every direction of a link
    std::vector<std::vector<uint32_t>> m_orders; // of the channels found so far, and under way
    std::vector<bool> m_used;                    // by GPU, in the channel under way
    uint32_t m_hops{0};                          // of these channels
    int64_t m_steps{0};                          // that are left to this search
    ServerRings m_best;
};

/// @param type a kind of way @return the next worse one
PathType
Worse(PathType type)
{
    return static_cast<PathType>(static_cast<uint8_t>(type) + 1);
}

/// The kinds of ways that there are in a server.
struct WayTypes
{
    PathType leastIntra{PathType::SYS};
    PathType mostIntra{PathType::NVL};
    PathType leastInter{PathType::SYS};
};

WayTypes
FindTypes(const ServerLinks& links, bool isAlone)
{
    WayTypes types;
    for (uint32_t a = 0; a < links.CountGpus(); ++a)
    {
        for (uint32_t b = 0; b < links.CountGpus(); ++b)
        {
            if (a != b)
            {
                types.leastIntra = std::min(types.leastIntra, links.Between(a, b).type);
                types.mostIntra = std::max(types.mostIntra, links.Between(a, b).type);
            }
        }
        for (uint32_t k = 0; !isAlone && k < links.CountNics(a); ++k)
        {
            types.leastInter = std::min(types.leastInter, links.Out(a, a, k).type);
        }
    }
    types.leastIntra = links.CountGpus() > 1 ? types.leastIntra : PathType::NVL;
    return types;
}

} // namespace

const std::vector<double>&
GetChannelSpeeds(bool isAlone, uint32_t computeCapability)
{
    return isAlone                    ? computeCapability >= 100  ? INTRA_SM100
                                        : computeCapability >= 90 ? INTRA_SM90
                                                                  : INTRA
           : computeCapability >= 100 ? INTER_SM100
           : computeCapability >= 90  ? INTER_SM90
                                      : INTER;
}

ServerRings
SearchRings(const ServerLinks& links, bool isAlone, uint32_t computeCapability)
{
    const auto& speeds = GetChannelSpeeds(isAlone, computeCapability);
    const WayTypes types = FindTypes(links, isAlone);
    RingSearch search(links, isAlone);
    const auto isDone = [&]() {
        const ServerRings& best = search.GetBest();
        return best.orders.size() * best.gigabytesPerSecond >= links.GetTotalGBps() - ROOM;
    };
    SearchLimits limits;
    bool done = links.CountGpus() == 1 && isAlone;
    for (std::size_t i = 0; i < speeds.size() && !done; ++i)
    {
        const ServerRings& best = search.GetBest();
        limits.gigabytesPerSecond = speeds[i];
        if (i + 1 < speeds.size() &&
            speeds[i] > std::min(links.GetMostGBps(), links.GetTotalGBps()) + ROOM)
        {
            continue;
        }
        if (!best.orders.empty() && speeds[i] / best.gigabytesPerSecond <= LEAST_RATIO)
        {
            break;
        }
        for (PathType inter = types.leastInter; !done; inter = Worse(inter))
        {
            const PathType mostIntra = isAlone ? types.mostIntra : inter;
            for (PathType intra = types.leastIntra; !done; intra = Worse(intra))
            {
                for (const bool isSame : {true, false})
                {
                    limits.typeIntra = intra;
                    limits.typeInter = inter;
                    limits.isSame = isSame;
                    done = done || search.Run(limits) || isDone();
                }
                if (intra >= mostIntra || (!best.orders.empty() && intra >= best.typeIntra))
                {
                    break;
                }
            }
            if (isAlone || inter == PathType::SYS ||
                (!best.orders.empty() && inter >= best.typeInter && inter >= PathType::PXN))
            {
                break;
            }
        }
    }
    ServerRings rings = search.GetBest();
    if (rings.orders.empty())
    {
        rings.orders.emplace_back(links.CountGpus());
        std::iota(rings.orders[0].begin(), rings.orders[0].end(), 0);
        rings.gigabytesPerSecond = 0.1; // NCCL's fall-back
        rings.typeIntra = rings.typeInter = PathType::SYS;
    }
    return rings;
}

} // namespace proteus
} // namespace ns3
