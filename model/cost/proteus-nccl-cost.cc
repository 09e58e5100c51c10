/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-nccl-cost.h"

#include "proteus-nccl-tuner.h"
#include "proteus-nvls-heads.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

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
          m_tuner(GetNcclTuner(system.version)),
          m_latency(m_tuner.latency),
          m_bandwidth(m_tuner.bandwidth),
          m_isAllReduce(collective == Collective::ALL_REDUCE),
          m_isHalf(collective == Collective::ALL_GATHER ||
                   collective == Collective::REDUCE_SCATTER),
          m_isReduce(collective == Collective::REDUCE),
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
        if (Is(NcclAlgorithm::RING))
        {
            return bus * n / GetSteps();
        }
        if (IsNvls())
        {
            return bus * (!HasNvlsEfficiency() ? m_bandwidth.nvlsRatio
                          : m_isHalf           ? 1
                                               : n / GetSteps());
        }
        return m_isHalf ? bus : bus * 0.5;
    }

    /// @return microseconds
    double GetLatencyUs() const
    {
        const double base = m_latency.baseUs[At(m_algorithm)][At(m_protocol)];
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
            return m_tuner.hasPat && m_system.pat && !m_isAllReduce &&
                   m_system.servers == m_system.ranks && m_system.computeCapability >= 60;
        case NcclAlgorithm::COLLNET_DIRECT:
            return m_system.collnet && m_system.servers >= 2 && m_isAllReduce;
        case NcclAlgorithm::NVLS: // across servers only with reductions in the network
            return m_tuner.hasNvls && HasNvlsRanks() &&
                   (m_system.servers == 1 || m_system.collnet) &&
                   (m_isAllReduce || m_system.ranks <= MOST_NVLS_HEADS * m_system.servers);
        case NcclAlgorithm::NVLS_TREE:
            return m_tuner.hasNvlsTree && HasNvlsRanks() && m_system.servers > 1;
        default:
            return true;
        }
    }

    /// @return whether all servers have enough GPUs for NVLS
    bool HasNvlsRanks() const
    {
        return m_pattern.channels >= 2 &&
               GetNvlsRanks(m_system.leastRanks, m_system.ranks, m_system.servers) >=
                   GetLeastNvlsRanks(m_system.version);
    }

    bool IsLl128Taken() const
    {
        if (m_system.forcesLl128)
        {
            return m_tuner.hasLl128;
        }
        // Without C2C there is no LL128 by way of other GPUs either, which may have it.
        const NcclPath worst =
            m_system.computeCapability >= 90 && m_system.c2cLl128 ? NcclPath::PXN : NcclPath::PXB;
        // Older versions take C2C to a CPU and its PCIe for PCIe alone.
        const NcclPath inter = m_pattern.typeInter == NcclPath::P2C && !m_tuner.hasC2cLl128
                                   ? NcclPath::PHB
                                   : m_pattern.typeInter;
        const NcclPath worstIntra = m_tuner.hasRelayedLl128 ? NcclPath::NVB : NcclPath::NVL;
        const auto& gpus = m_tuner.ll128Gpus;
        const bool isKnown =
            gpus.empty()
                ? m_system.computeCapability >= 70
                : std::find(gpus.begin(), gpus.end(), m_system.computeCapability) != gpus.end();
        return m_tuner.hasLl128 && isKnown && m_pattern.typeIntra <= worstIntra &&
               (m_system.servers == 1 || inter <= worst);
    }

    /// @return steps of a ring
    double GetSteps() const
    {
        const double n = m_system.ranks;
        return m_isAllReduce ? 2 * (n - 1) : m_isHalf ? n - 1 : n;
    }

    /// @return whether the version knows what a GPU reaches of NVLS
    bool HasNvlsEfficiency() const
    {
        return m_bandwidth.nvlsEfficiency.back() > 0;
    }

    /// @return of one channel with NVLS, before protocols
    double GetNvlsChannelGBps() const
    {
        const double perServer = static_cast<double>(m_system.ranks) / m_system.servers;
        const double channels = m_pattern.channels;
        if (!HasNvlsEfficiency())
        {
            const bool isFar = Is(NcclAlgorithm::NVLS_TREE) && m_system.servers > 2;
            return std::min(m_pattern.intraGBps, m_pattern.interGBps / (isFar ? 2 : 1));
        }
        double bw = m_pattern.intraGBps * m_bandwidth.nvlsEfficiency[m_generation] *
                    (channels - 1) / channels;
        bw *= m_isAllReduce ? 2 : (perServer - 1) / perServer; // all-reduce goes both ways at once
        if (m_system.servers > 1)
        {
            const bool isPair = m_system.servers <= 2 && Is(NcclAlgorithm::NVLS_TREE);
            bw = std::min(bw, m_pattern.interGBps * (isPair ? 2 : 1));
        }
        return Is(NcclAlgorithm::NVLS_TREE)
                   ? std::min(bw, m_bandwidth.mostNvlsTree[m_generation][m_size])
                   : bw;
    }

    /// @param bus of all channels @return what rings have of it
    double GetRingGBps(double bus) const
    {
        const double channels = m_pattern.channels;
        if (m_protocol == NcclProtocol::LL)
        {
            const bool isCopy = m_system.servers == 1 && !m_isAllReduce && !m_isReduce;
            return std::min(GetMostLlGBps(), bus * (isCopy ? m_bandwidth.llCopy : m_bandwidth.ll));
        }
        if (m_protocol == NcclProtocol::LL128)
        {
            const bool isAlone = m_system.ranks < 2 * m_system.servers;
            const double ll128 =
                std::min(bus * (isAlone ? m_bandwidth.ll128Alone : m_bandwidth.ringLl128),
                         channels * m_bandwidth.mostRingLl128[m_generation][m_size]);
            const double most = m_bandwidth.allRingsLl128;
            return most > 0 ? std::min(ll128, most) : ll128;
        }
        return bus;
    }

    /// @param bus of all channels @return what trees have of it
    double GetTreeGBps(double bus) const
    {
        const double channels = m_pattern.channels;
        const double mostAll = m_bandwidth.allTrees[m_size];
        bus =
            std::min(bus * m_bandwidth.tree, channels * m_bandwidth.mostTree[m_generation][m_size]);
        bus = mostAll > 0 ? std::min(bus, mostAll) : bus;
        if (m_protocol == NcclProtocol::LL)
        {
            bus = std::min(bus * m_bandwidth.treeLl, GetMostLlGBps());
        }
        if (m_protocol == NcclProtocol::LL128)
        {
            bus = std::min(bus * (m_system.servers == 1 ? 7.0 / 9.0 : m_bandwidth.ll128Across),
                           channels * m_bandwidth.mostTreeLl128[m_generation][m_size]);
        }
        return bus * (m_system.simpleTree ? m_bandwidth.simpleTree : 1);
    }

    /// @return most with LL: in one server that of the GPU, across servers that of the CPU
    double GetMostLlGBps() const
    {
        const std::size_t row =
            m_system.servers == 1 ? m_generation : m_system.cpu == CpuVendor::AMD;
        return m_bandwidth.mostLl[row][m_size];
    }

    /// @return of all channels, on the bus
    double GetBusGBps() const
    {
        const bool isIntra = m_system.servers <= 2 || Is(NcclAlgorithm::COLLNET_DIRECT);
        double bus = m_pattern.channels * (IsNvls()  ? GetNvlsChannelGBps()
                                           : isIntra ? m_pattern.intraGBps
                                                     : m_pattern.interGBps);
        if (m_bandwidth.ampereBus > 0 && m_generation == 1 && !IsNvls())
        {
            bus = std::min(bus, m_bandwidth.ampereBus);
        }
        return Is(NcclAlgorithm::RING)   ? GetRingGBps(bus)
               : Is(NcclAlgorithm::TREE) ? GetTreeGBps(bus)
               : Is(NcclAlgorithm::PAT)  ? bus * m_bandwidth.pat
                                         : bus;
    }

    const PerAlgorithm& GetLocalUs() const
    {
        return m_pattern.typeIntra == NcclPath::NVL ? m_latency.nvlinkUs : m_latency.pciUs;
    }

    /// @return of a hop inside a server
    double GetIntraUs() const
    {
        const bool isSlower = m_system.servers > 1 && m_protocol == NcclProtocol::LL;
        return GetLocalUs()[At(m_algorithm)][At(m_protocol)] * (isSlower ? m_latency.remoteLl : 1);
    }

    /// @return of a hop between servers
    double GetInterUs() const
    {
        // With one GPU in each server there is nothing to hide the latency of the network.
        const bool isAlone = m_system.ranks == m_system.servers && m_latency.isTreeIfAlone;
        const NcclAlgorithm row = isAlone ? NcclAlgorithm::TREE : m_algorithm;
        const double ownUs = m_latency.networkUs[At(row)][At(m_protocol)];
        const double reportedUs = m_latency.readsReported ? m_pattern.latencyInterUs : 0;
        if (!m_latency.addsReported)
        {
            return reportedUs > 0 ? reportedUs : ownUs;
        }
        return ownUs + reportedUs * (m_protocol == NcclProtocol::SIMPLE ? 2 : 1);
    }

    /// @return of a ring that has no root
    double GetRingLatencyUs() const
    {
        if (m_system.servers > 1 && m_latency.isAllRemote)
        {
            return GetSteps() * GetInterUs();
        }
        double intraUs = GetIntraUs();
        if (m_system.servers > 1 && m_latency.hasPost)
        {
            const double post = m_system.cpu == CpuVendor::AMD ? 2.0 : 1.0;
            intraUs = std::max(intraUs, post * (m_protocol == NcclProtocol::SIMPLE ? 3 : 1));
        }
        double hops = (m_system.servers - 1) * (m_isAllReduce ? 2.0 : 1.0);
        if (m_system.servers > 1 && m_isAllReduce)
        {
            hops += m_latency.closing;
        }
        return (GetSteps() - hops) * intraUs + hops * GetInterUs();
    }

    /// @return of a ring that begins or ends at a root
    double GetChainLatencyUs() const
    {
        const PerAlgorithm& table = m_system.servers == 1 ? GetLocalUs() : m_latency.networkUs;
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
    const NcclTuner& m_tuner;
    const NcclLatencies& m_latency;
    const NcclBandwidths& m_bandwidth;
    const bool m_isAllReduce;
    const bool m_isHalf; //!< all-gather or reduce-scatter
    const bool m_isReduce;
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
    const NcclTuner& tuner = GetNcclTuner(m_system.version);
    const bool isAllReduce = collective == Collective::ALL_REDUCE;
    const uint64_t units = bytes >> 6;
    const uint32_t logarithm = FloorLog2(units);
    const bool isX86 = m_system.cpu != CpuVendor::ARM && m_system.cpu != CpuVendor::POWER;
    const bool corrected = (algorithm == NcclAlgorithm::TREE && logarithm < 23) ||
                           (algorithm == NcclAlgorithm::NVLS_TREE && tuner.correctsNvlsTree &&
                            isX86 && m_system.computeCapability >= 100 && logarithm < 24);
    if (isAllReduce && units > 0 && corrected)
    {
        cost.gigabytesPerSecond *=
            tuner.treeCorrection[static_cast<std::size_t>(protocol)][logarithm];
    }
    const NcclLatencies& latency = tuner.latency;
    // Twice as many channels as the search has found, see connect.cc.
    const uint64_t channels = uint64_t{2} * GetPattern(algorithm).channels;
    const uint64_t plateauBytes =
        m_system.ranks * (latency.plateauBytesOfRank > 0 ? latency.plateauBytesOfRank
                                                         : latency.plateauBytes * channels);
    if (algorithm == NcclAlgorithm::RING && protocol == NcclProtocol::SIMPLE &&
        m_system.servers > 1 && isAllReduce && bytes >= plateauBytes)
    {
        // The plateau of the ring.
        cost.latencyUs *= m_system.computeCapability < latency.plateauFrom && latency.plateau > 1
                              ? 1.9
                              : latency.plateau;
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
