/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nccl-cost.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

using PerProtocol = std::array<double, NCCL_PROTOCOLS>;        // LL, LL128, Simple
using PerAlgorithm = std::array<PerProtocol, NCCL_ALGORITHMS>; // as NcclAlgorithm
using PerServers = std::array<double, 3>;                      // one, two, more

constexpr PerAlgorithm BASE_US{
    {{6.8, 14.0, 8.4}, {6.6, 14.0, 8.4}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {8.0, 8.0, 8.0}}};

// What a hop adds, by hardware.
constexpr PerAlgorithm NVLINK_US{
    {{0.6, 1.25, 4.0}, {0.6, 1.9, 3.4}, {0, 0, 3.7}, {0, 0, 25}, {0, 0, 25}, {0, 0, 4.0}}};
constexpr PerAlgorithm PCI_US{
    {{1.0, 1.9, 4.0}, {1.0, 2.5, 5.7}, {0, 0, 3.7}, {0, 0, 0}, {0, 0, 0}, {0, 0, 4.0}}};
constexpr PerAlgorithm NETWORK_US{
    {{5.0, 8.5, 14}, {2.7, 4.0, 14.0}, {0, 0, 31}, {0, 0, 18}, {0, 0, 20.9}, {0, 0, 14}}};

// By generation of the GPU: Volta and before, Ampere, Hopper, Blackwell.
constexpr std::array<PerServers, 4> MOST_LL{
    {{39.0, 39.0, 20.4}, {87.7, 22.5, 19.0}, {141.0, 45.0, 35.0}, {282.0, 90.0, 70.0}}};
constexpr std::array<PerServers, 4> MOST_RING_LL128{
    {{20.0, 20.0, 20.0}, {20.0, 20.0, 20.0}, {36.7, 36.7, 36.7}, {40.0, 40.0, 40.0}}};
constexpr std::array<PerServers, 4> MOST_TREE_LL128{
    {{20.0, 20.0, 20.0}, {20.0, 20.0, 20.0}, {36.7, 36.7, 29.0}, {55.6, 31.67, 20.0}}};
constexpr std::array<PerServers, 4> MOST_TREE{
    {{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {38.7, 41.4, 36.0}, {70.0, 42.8, 24.0}}};
constexpr std::array<PerServers, 4> MOST_NVLS_TREE{
    {{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {0.0, 57.7, 45.5}, {0.0, 96.0, 80.0}}};
constexpr std::array<double, 4> NVLS_EFFICIENCY{0, 0, 0.85, 0.74};

// Trees of medium sizes, from 64 bytes on, by powers of two.
constexpr std::array<std::array<double, 24>, NCCL_PROTOCOLS> TREE_CORRECTION{
    {{1.0, 1.0, 1.0, 1.0, .9, .8, .7, .7,  .7,  .7,  .6,  .5,
      .4,  .4,  .5,  .6,  .7, .8, .9, 1.0, 1.0, 1.0, 1.0, 1.0},
     {1.0, 1.0, 1.0, 1.0, 1.0, .9, .8, .8, .8, .7,  .6,  .6,
      .6,  .6,  .6,  .6,  .8,  .9, .9, .9, .9, 1.0, 1.0, 1.0},
     {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
      .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9}}};

uint32_t
FloorLog2(uint64_t value)
{
    uint32_t log = 0;
    while (value >>= 1)
    {
        ++log;
    }
    return log;
}

std::size_t
Generation(uint32_t computeCapability)
{
    return computeCapability >= 100 ? 3 : computeCapability >= 90 ? 2 : computeCapability >= 80;
}

/// What the tuner says of one algorithm and protocol for one collective.
class NcclEstimate
{
  public:
    NcclEstimate(const NcclSystem& system,
                 const NcclPattern& pattern,
                 Collective collective,
                 NcclAlgorithm algorithm,
                 NcclProtocol protocol)
        : m_system(system),
          m_pattern(pattern),
          m_algorithm(algorithm),
          m_protocol(protocol),
          m_isAllReduce(collective == Collective::ALL_REDUCE),
          m_isHalf(collective == Collective::ALL_GATHER ||
                   collective == Collective::REDUCE_SCATTER),
          m_hasRoot(collective == Collective::BROADCAST || collective == Collective::REDUCE),
          m_generation(Generation(system.computeCapability)),
          m_size(std::min(system.servers, 3u) - 1)
    {
    }

    /// @return whether NCCL has it, and would take it
    bool IsTaken() const
    {
        const bool isKnown = m_isAllReduce || m_isHalf || m_hasRoot;
        if (!isKnown || m_system.ranks < 2 || m_pattern.channels == 0)
        {
            return false;
        }
        const bool isTreeOfServers = Is(NcclAlgorithm::TREE) || Is(NcclAlgorithm::NVLS_TREE);
        if ((m_hasRoot && !Is(NcclAlgorithm::RING)) || (m_isHalf && isTreeOfServers))
        {
            return false;
        }
        const bool isSimpleOnly =
            IsNvls() || Is(NcclAlgorithm::PAT) || Is(NcclAlgorithm::COLLNET_DIRECT);
        return !(isSimpleOnly && m_protocol != NcclProtocol::SIMPLE) && IsAlgorithmTaken() &&
               (m_protocol != NcclProtocol::LL128 || IsLl128Taken());
    }

    /// @return bandwidth of the buffer, 1e9 bytes per second
    double GetGBps() const
    {
        const double n = m_system.ranks;
        const double bus = GetBusGBps();
        if (m_isHalf && !Is(NcclAlgorithm::RING))
        {
            return bus;
        }
        return bus * (Is(NcclAlgorithm::RING) || IsNvls() ? n / GetSteps() : 0.5);
    }

    /// @return microseconds
    double GetLatencyUs() const
    {
        const double base = BASE_US[At(m_algorithm)][At(m_protocol)];
        const double local = m_system.ranks / m_system.servers;
        const double depth = FloorLog2(m_system.servers);
        switch (m_algorithm)
        {
        case NcclAlgorithm::RING:
            return base + (m_hasRoot ? GetChainLatencyUs() : GetRingLatencyUs());
        case NcclAlgorithm::TREE:
            return base + 2 * ((local - 1) * GetIntraUs() + depth * GetInterUs());
        case NcclAlgorithm::COLLNET_DIRECT:
            return base + (2 * (std::min(1.0, local - 1) * GetIntraUs() + (local - 1) * 0.4) +
                           GetInterUs());
        case NcclAlgorithm::NVLS:
            return GetIntraUs() + (m_system.servers > 1 ? GetInterUs() : 0);
        case NcclAlgorithm::NVLS_TREE:
            return base + (GetIntraUs() + 2 * depth * GetInterUs());
        case NcclAlgorithm::PAT:
            return base + (depth * (GetInterUs() / 3.5) + m_system.ranks * 2.8);
        }
        return base;
    }

  private:
    template <typename T>
    static std::size_t At(T value)
    {
        return static_cast<std::size_t>(value);
    }

    bool Is(NcclAlgorithm algorithm) const
    {
        return m_algorithm == algorithm;
    }

    bool IsNvls() const
    {
        return Is(NcclAlgorithm::NVLS) || Is(NcclAlgorithm::NVLS_TREE);
    }

    bool IsAlgorithmTaken() const
    {
        switch (m_algorithm)
        {
        case NcclAlgorithm::PAT: // one GPU in each server only
            return !m_isAllReduce && m_system.servers == m_system.ranks &&
                   m_system.computeCapability >= 60;
        case NcclAlgorithm::COLLNET_DIRECT:
            return m_system.collnet && m_system.servers >= 2 && m_isAllReduce;
        case NcclAlgorithm::NVLS: // across servers only with reductions in the network
            return m_pattern.channels >= 2 && (m_system.servers == 1 || m_system.collnet);
        case NcclAlgorithm::NVLS_TREE:
            return m_pattern.channels >= 2 && m_system.servers > 1;
        default:
            return true;
        }
    }

    bool IsLl128Taken() const
    {
        const NcclPath worst = m_system.computeCapability >= 90 ? NcclPath::PXN : NcclPath::PXB;
        return m_system.computeCapability >= 70 && m_pattern.typeIntra <= NcclPath::NVB &&
               (m_system.servers == 1 || m_pattern.typeInter <= worst);
    }

    /// @return steps of a ring
    double GetSteps() const
    {
        const double n = m_system.ranks;
        return m_isAllReduce ? 2 * (n - 1) : m_isHalf ? n - 1 : n;
    }

    /// @return of one channel with NVLS, before protocols
    double GetNvlsChannelGBps() const
    {
        const double perServer = static_cast<double>(m_system.ranks) / m_system.servers;
        const double channels = m_pattern.channels;
        double bw = m_pattern.intraGBps * NVLS_EFFICIENCY[m_generation] * (channels - 1) / channels;
        bw *= m_isAllReduce ? 2 : (perServer - 1) / perServer; // all-reduce goes both ways at once
        if (m_system.servers > 1)
        {
            const bool isPair = m_system.servers <= 2 && Is(NcclAlgorithm::NVLS_TREE);
            bw = std::min(bw, m_pattern.interGBps * (isPair ? 2 : 1));
        }
        return Is(NcclAlgorithm::NVLS_TREE) ? std::min(bw, MOST_NVLS_TREE[m_generation][m_size])
                                            : bw;
    }

    /// @return of all channels, on the bus
    double GetBusGBps() const
    {
        // LL in one server depends on the GPU, across servers on the CPU.
        const double mostLl =
            MOST_LL[m_system.servers == 1 ? m_generation : m_system.amdCpu][m_size];
        const double channels = m_pattern.channels;
        const bool isIntra = m_system.servers <= 2 || Is(NcclAlgorithm::COLLNET_DIRECT);
        double bus = channels * (IsNvls()  ? GetNvlsChannelGBps()
                                 : isIntra ? m_pattern.intraGBps
                                           : m_pattern.interGBps);
        if (Is(NcclAlgorithm::RING) && m_protocol == NcclProtocol::LL)
        {
            bus = std::min(mostLl, bus * 0.5);
        }
        if (Is(NcclAlgorithm::RING) && m_protocol == NcclProtocol::LL128)
        {
            bus = std::min(bus * 0.92, channels * MOST_RING_LL128[m_generation][m_size]);
        }
        if (Is(NcclAlgorithm::TREE))
        {
            bus = std::min(bus * 0.92, channels * MOST_TREE[m_generation][m_size]);
            if (m_protocol == NcclProtocol::LL)
            {
                bus = std::min(bus / 3.8, mostLl);
            }
            if (m_protocol == NcclProtocol::LL128)
            {
                bus = std::min(bus * (m_system.servers == 1 ? 7.0 / 9.0 : 120.0 / 128.0),
                               channels * MOST_TREE_LL128[m_generation][m_size]);
            }
            bus *= m_system.simpleTree ? 0.85 : 1;
        }
        return Is(NcclAlgorithm::PAT) ? bus * 0.75 : bus;
    }

    const PerAlgorithm& GetLocalUs() const
    {
        return m_pattern.typeIntra == NcclPath::NVL ? NVLINK_US : PCI_US;
    }

    /// @return of a hop inside a server
    double GetIntraUs() const
    {
        return GetLocalUs()[At(m_algorithm)][At(m_protocol)];
    }

    /// @return of a hop between servers
    double GetInterUs() const
    {
        // With one GPU in each server there is nothing to hide the latency of the network.
        const bool isAlone = m_system.ranks == m_system.servers;
        const NcclAlgorithm row = isAlone ? NcclAlgorithm::TREE : m_algorithm;
        return NETWORK_US[At(row)][At(m_protocol)] +
               m_pattern.latencyInterUs * (m_protocol == NcclProtocol::SIMPLE ? 2 : 1);
    }

    /// @return of a ring that has no root
    double GetRingLatencyUs() const
    {
        double intraUs = GetIntraUs();
        if (m_system.servers > 1)
        {
            const double post = m_system.amdCpu ? 2.0 : 1.0;
            intraUs = std::max(intraUs, post * (m_protocol == NcclProtocol::SIMPLE ? 3 : 1));
        }
        const double hops = (m_system.servers - 1) * (m_isAllReduce ? 2.0 : 1.0);
        return (GetSteps() - hops) * intraUs + hops * GetInterUs();
    }

    /// @return of a ring that begins or ends at a root
    double GetChainLatencyUs() const
    {
        const PerAlgorithm& table = m_system.servers == 1 ? GetLocalUs() : NETWORK_US;
        if (m_pattern.sameChannels)
        {
            return table[At(m_algorithm)][At(m_protocol)];
        }
        const bool isSimple = m_protocol == NcclProtocol::SIMPLE;
        return GetSteps() * table[At(isSimple ? NcclAlgorithm::TREE : m_algorithm)][At(m_protocol)];
    }

    const NcclSystem& m_system;
    const NcclPattern& m_pattern;
    const NcclAlgorithm m_algorithm;
    const NcclProtocol m_protocol;
    const bool m_isAllReduce;
    const bool m_isHalf;            //!< all-gather or reduce-scatter
    const bool m_hasRoot;           //!< broadcast or reduce
    const std::size_t m_generation; //!< row of the tables
    const std::size_t m_size;       //!< column of the tables: one server, two, more
};

} // namespace

const char*
ToString(NcclAlgorithm algorithm)
{
    static const std::array<const char*, NCCL_ALGORITHMS> names{"Tree",
                                                                "Ring",
                                                                "CollNetDirect",
                                                                "NVLS",
                                                                "NVLSTree",
                                                                "PAT"};
    return names.at(static_cast<std::size_t>(algorithm));
}

const char*
ToString(NcclProtocol protocol)
{
    static const std::array<const char*, NCCL_PROTOCOLS> names{"LL", "LL128", "Simple"};
    return names.at(static_cast<std::size_t>(protocol));
}

const char*
ToString(NcclPath path)
{
    static const std::array<const char*, 12>
        names{"LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS", "NET", "DIS"};
    return names.at(static_cast<std::size_t>(path));
}

NcclCostModel::NcclCostModel(const NcclSystem& system)
    : m_system(system)
{
    if (system.ranks == 0 || system.servers == 0 || system.servers > system.ranks)
    {
        throw std::invalid_argument("NCCL's cost model: " + std::to_string(system.ranks) +
                                    " ranks in " + std::to_string(system.servers) + " servers");
    }
}

const NcclPattern&
NcclCostModel::GetPattern(NcclAlgorithm algorithm) const
{
    switch (algorithm)
    {
    case NcclAlgorithm::RING:
    case NcclAlgorithm::PAT:
        return m_system.ring;
    case NcclAlgorithm::NVLS:
    case NcclAlgorithm::NVLS_TREE:
        return m_system.nvls;
    default:
        return m_system.tree;
    }
}

NcclCost
NcclCostModel::GetCost(Collective collective, NcclAlgorithm algorithm, NcclProtocol protocol) const
{
    const NcclEstimate estimate(m_system, GetPattern(algorithm), collective, algorithm, protocol);
    return estimate.IsTaken() ? NcclCost{estimate.GetLatencyUs(), estimate.GetGBps()} : NcclCost{};
}

double
NcclCostModel::GetTimeUs(Collective collective,
                         NcclAlgorithm algorithm,
                         NcclProtocol protocol,
                         uint64_t bytes) const
{
    NcclCost cost = GetCost(collective, algorithm, protocol);
    if (cost.gigabytesPerSecond <= 0)
    {
        return std::numeric_limits<double>::infinity();
    }
    const bool isAllReduce = collective == Collective::ALL_REDUCE;
    const uint64_t units = bytes >> 6;
    const uint32_t logarithm = FloorLog2(units);
    const bool corrected = (algorithm == NcclAlgorithm::TREE && logarithm < 23) ||
                           (algorithm == NcclAlgorithm::NVLS_TREE &&
                            m_system.computeCapability >= 100 && logarithm < 24);
    if (isAllReduce && units > 0 && corrected)
    {
        cost.gigabytesPerSecond *= TREE_CORRECTION[static_cast<std::size_t>(protocol)][logarithm];
    }
    // Twice as many channels as the search has found, see connect.cc.
    const uint64_t channels = uint64_t{2} * GetPattern(algorithm).channels;
    if (algorithm == NcclAlgorithm::RING && protocol == NcclProtocol::SIMPLE &&
        m_system.servers > 1 && isAllReduce && bytes / (channels * m_system.ranks) >= 64)
    {
        cost.latencyUs *= m_system.computeCapability < 80 ? 1.9 : 1.4; // plateau of the ring
    }
    return cost.latencyUs + bytes / (1000 * cost.gigabytesPerSecond);
}

NcclCostModel::Choice
NcclCostModel::Choose(Collective collective, uint64_t bytes) const
{
    Choice best;
    best.timeUs = std::numeric_limits<double>::infinity();
    for (std::size_t a = 0; a < NCCL_ALGORITHMS; ++a)
    {
        for (std::size_t p = 0; p < NCCL_PROTOCOLS; ++p)
        {
            const auto algorithm = static_cast<NcclAlgorithm>(a);
            const auto protocol = static_cast<NcclProtocol>(p);
            const double time = GetTimeUs(collective, algorithm, protocol, bytes);
            if (time < best.timeUs)
            {
                best = {algorithm, protocol, time};
            }
        }
    }
    return best;
}

} // namespace proteus
} // namespace ns3
