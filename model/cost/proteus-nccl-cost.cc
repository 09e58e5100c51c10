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

uint32_t
FindComputeCapability(const std::string& model)
{
    // NVIDIA, CUDA GPUs: compute capability.
    static const std::array<std::pair<const char*, uint32_t>, 14> known{{{"TITAN-Xp", 61},
                                                                         {"TitanXp", 61},
                                                                         {"P100", 60},
                                                                         {"V100", 70},
                                                                         {"T4", 75},
                                                                         {"A100", 80},
                                                                         {"A800", 80},
                                                                         {"A10", 86},
                                                                         {"H100", 90},
                                                                         {"H200", 90},
                                                                         {"H800", 90},
                                                                         {"GH200", 90},
                                                                         {"B200", 100},
                                                                         {"B300", 103}}};
    for (const auto& [name, capability] : known)
    {
        const std::size_t at = model.find(name);
        const std::size_t end = at + std::char_traits<char>::length(name);
        if (at != std::string::npos &&
            (end == model.size() || model[end] < '0' || model[end] > '9'))
        {
            return capability;
        }
    }
    return 0;
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
    const NcclSystem& system = m_system;
    const double n = system.ranks;
    const double perServer = n / system.servers;
    const uint32_t local = system.ranks / system.servers;
    const NcclPattern& pattern = GetPattern(algorithm);
    const bool isRing = algorithm == NcclAlgorithm::RING;
    const bool isTree = algorithm == NcclAlgorithm::TREE;
    const bool isNvls = algorithm == NcclAlgorithm::NVLS || algorithm == NcclAlgorithm::NVLS_TREE;
    const bool isAllReduce = collective == Collective::ALL_REDUCE;
    const bool isHalf =
        collective == Collective::ALL_GATHER || collective == Collective::REDUCE_SCATTER;
    const bool hasRoot = collective == Collective::BROADCAST || collective == Collective::REDUCE;
    const bool isSimple = protocol == NcclProtocol::SIMPLE;
    const auto p = static_cast<std::size_t>(protocol);
    const auto a = static_cast<std::size_t>(algorithm);

    // What NCCL does not have, or not take.
    if (!(isAllReduce || isHalf || hasRoot) || system.ranks < 2 || pattern.channels == 0 ||
        (hasRoot && !isRing) || (isHalf && (isTree || algorithm == NcclAlgorithm::NVLS_TREE)) ||
        ((isNvls || algorithm == NcclAlgorithm::PAT ||
          algorithm == NcclAlgorithm::COLLNET_DIRECT) &&
         !isSimple))
    {
        return {};
    }
    switch (algorithm)
    {
    case NcclAlgorithm::PAT: // one GPU in each server only
        if (isAllReduce || system.servers != system.ranks || system.computeCapability < 60)
        {
            return {};
        }
        break;
    case NcclAlgorithm::COLLNET_DIRECT:
        if (!system.collnet || system.servers < 2 || !isAllReduce)
        {
            return {};
        }
        break;
    case NcclAlgorithm::NVLS: // across servers only with reductions in the network
        if (pattern.channels < 2 || (system.servers > 1 && !system.collnet))
        {
            return {};
        }
        break;
    case NcclAlgorithm::NVLS_TREE:
        if (pattern.channels < 2 || system.servers == 1)
        {
            return {};
        }
        break;
    default:
        break;
    }
    if (protocol == NcclProtocol::LL128)
    {
        const NcclPath worst = system.computeCapability >= 90 ? NcclPath::PXN : NcclPath::PXB;
        if (system.computeCapability < 70 || pattern.typeIntra > NcclPath::NVB ||
            (system.servers > 1 && pattern.typeInter > worst))
        {
            return {};
        }
    }

    const std::size_t generation = Generation(system.computeCapability);
    const std::size_t size = std::min(system.servers, 3u) - 1;
    // LL in one server depends on the GPU, across servers on the CPU.
    const double mostLl = MOST_LL[system.servers == 1 ? generation : system.amdCpu][size];
    const double channels = pattern.channels;
    double bw = system.servers <= 2 || algorithm == NcclAlgorithm::COLLNET_DIRECT
                    ? pattern.intraGBps
                    : pattern.interGBps;
    if (isNvls)
    {
        // All-reduce goes both ways at once.
        double intra = pattern.intraGBps * NVLS_EFFICIENCY[generation] * (channels - 1) / channels;
        intra *= isAllReduce ? 2 : (perServer - 1) / perServer;
        const bool isPair = system.servers <= 2 && algorithm == NcclAlgorithm::NVLS_TREE;
        bw = intra;
        if (system.servers > 1)
        {
            bw = std::min(bw, pattern.interGBps * (isPair ? 2 : 1));
        }
        if (algorithm == NcclAlgorithm::NVLS_TREE)
        {
            bw = std::min(bw, MOST_NVLS_TREE[generation][size]);
        }
    }
    double bus = channels * bw;
    if (isRing && protocol == NcclProtocol::LL)
    {
        bus = std::min(mostLl, bus * 0.5);
    }
    if (isRing && protocol == NcclProtocol::LL128)
    {
        bus = std::min(bus * 0.92, channels * MOST_RING_LL128[generation][size]);
    }
    if (isTree)
    {
        bus = std::min(bus * 0.92, channels * MOST_TREE[generation][size]);
        if (protocol == NcclProtocol::LL)
        {
            bus = std::min(bus / 3.8, mostLl);
        }
        if (protocol == NcclProtocol::LL128)
        {
            bus = std::min(bus * (system.servers == 1 ? 7.0 / 9.0 : 120.0 / 128.0),
                           channels * MOST_TREE_LL128[generation][size]);
        }
        bus *= system.simpleTree ? 0.85 : 1;
    }
    if (algorithm == NcclAlgorithm::PAT)
    {
        bus *= 0.75;
    }

    // From the bus to the buffer.
    const double steps = isAllReduce ? 2 * (n - 1) : isHalf ? n - 1 : n;
    if (!isHalf || isRing)
    {
        bus *= isRing || isNvls ? n / steps : 0.5;
    }

    const PerAlgorithm& localUs = pattern.typeIntra == NcclPath::NVL ? NVLINK_US : PCI_US;
    double intraUs = localUs[a][p];
    // With one GPU in each server there is nothing to hide the latency of the network.
    double interUs =
        NETWORK_US[local == 1 && perServer == 1 ? static_cast<std::size_t>(NcclAlgorithm::TREE) : a]
                  [p];
    interUs += pattern.latencyInterUs * (isSimple ? 2 : 1);
    NcclCost cost{BASE_US[a][p], bus};
    const double depth = FloorLog2(system.servers);
    switch (algorithm)
    {
    case NcclAlgorithm::RING:
        if (hasRoot)
        {
            const PerAlgorithm& table = system.servers == 1 ? localUs : NETWORK_US;
            cost.latencyUs +=
                pattern.sameChannels
                    ? table[a][p]
                    : steps *
                          table[isSimple ? static_cast<std::size_t>(NcclAlgorithm::TREE) : a][p];
        }
        else
        {
            if (system.servers > 1)
            {
                const double post = system.amdCpu ? 2.0 : 1.0;
                intraUs = std::max(intraUs, post * (isSimple ? 3 : 1));
            }
            const double hops = (system.servers - 1) * (isAllReduce ? 2.0 : 1.0);
            cost.latencyUs += (steps - hops) * intraUs + hops * interUs;
        }
        break;
    case NcclAlgorithm::TREE:
        cost.latencyUs += 2 * ((local - 1) * intraUs + depth * interUs);
        break;
    case NcclAlgorithm::COLLNET_DIRECT:
        cost.latencyUs += 2 * (std::min(1u, local - 1) * intraUs + (local - 1) * 0.4) + interUs;
        break;
    case NcclAlgorithm::NVLS:
        cost.latencyUs = intraUs + (system.servers > 1 ? interUs : 0);
        break;
    case NcclAlgorithm::NVLS_TREE:
        cost.latencyUs += intraUs + 2 * depth * interUs;
        break;
    case NcclAlgorithm::PAT:
        cost.latencyUs += depth * (interUs / 3.5) + n * 2.8;
        break;
    }
    return cost;
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
