/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-kernel-cost.h"

namespace ns3
{
namespace proteus
{

namespace
{

constexpr double PS_PER_US = 1e6;
constexpr double GBYTE = 1e9;

/// LL, LL128, Simple.
using PerProtocol = std::array<double, NCCL_PROTOCOLS>;

/// What is known of a generation: microseconds, and 1e9 bytes per second.
struct Generation
{
    PerProtocol kernelUs;         // start and end
    PerProtocol blockGBps;        // payload that a thread block moves
    PerProtocol nvlinkLatencyUs;  // from arrival to use
    PerProtocol pcieLatencyUs;    // from arrival to use
    PerProtocol networkLatencyUs; // from arrival to use, both proxies included
    PerProtocol networkBusyUs;    // of a step that goes through a proxy
    double switchLatencyUs;       // of what switches multicast or reduce
    double switchBusyUs;          // of a step with them
    double switchBlockGBps;       // payload that a thread block moves there
};

// Barriers and flags of a step inside a server: an LL step checks a flag of its own line, a Simple
// step synchronises the thread block twice and fences.
constexpr PerProtocol BUSY_US{0.1, 0.2, 1.0};

// Fitted to the tables of workloads/measurements, all of a generation together; the manual has the
// errors. For comparison, NCCL's own model (src/graph/tuning.cc) counts 6.6, 14 and 8.4 us of
// start, and for a hop, its transfer included, 0.6, 1.9 and 3.4 us on NVLink, 1, 2.5 and 5.7 on
// PCIe, 2.7 to 5, 4 to 8.5 and 14 to 21 in a network. Rates of thread blocks: LL, what that model
// takes for the most of a GPU (llMaxBws), 39, 87.7, 141 and 282 GB/s, over 12, 24, 24 and 32
// channels; LL128 and Simple fitted, but Simple of Volta, which is perChMaxTreeBws there.
constexpr std::array<Generation, 4> GENERATIONS{{
    // Volta and before
    {{6, 17, 30},
     {3.25, 7.5, 26.5},
     {0.5, 3.1, 3.9},
     {0.6, 1.3, 3.9},
     {6.5, 3.6, 15},
     {0.3, 0.5, 4.5},
     0,
     0,
     0},
    // Ampere
    {{6, 24, 39},
     {3.65, 7.7, 15.4},
     {0.5, 2.6, 2.3},
     {0.6, 1.3, 3.9},
     {10.4, 6.9, 18},
     {0.3, 0.5, 4.5},
     0,
     0,
     0},
    // Hopper
    {{8, 13, 12},
     {5.9, 18, 20},
     {0.4, 1, 1.5},
     {0.5, 1.3, 3.9},
     {4.5, 15, 20},
     {0.3, 0.5, 0.5},
     10.4,
     1.2,
     27},
    // Blackwell
    {{9, 12, 13},
     {8.8, 20, 21},
     {1, 1, 1.5},
     {0.5, 1.3, 3.9},
     {4.5, 6, 5},
     {0.3, 0.5, 0.5},
     7,
     2.2,
     21},
}};

int64_t
ToPs(double us)
{
    return static_cast<int64_t>(us * PS_PER_US);
}

std::array<CollectiveKernelCost, GENERATIONS.size()>
MakeCosts()
{
    std::array<CollectiveKernelCost, GENERATIONS.size()> costs;
    for (std::size_t i = 0; i < costs.size(); ++i)
    {
        const Generation& known = GENERATIONS[i];
        const auto at = [&cost = costs[i]](HopKind hop, std::size_t protocol) -> auto&
        {
            return cost.steps[static_cast<std::size_t>(hop)][protocol];
        };
        for (std::size_t p = 0; p < NCCL_PROTOCOLS; ++p)
        {
            const double rate = known.blockGBps[p] * GBYTE;
            const int64_t busyPs = ToPs(BUSY_US[p]);
            costs[i].kernelPs[p] = ToPs(known.kernelUs[p]);
            at(HopKind::NVLINK, p) = {ToPs(known.nvlinkLatencyUs[p]), busyPs, rate};
            at(HopKind::PCIE, p) = {ToPs(known.pcieLatencyUs[p]), busyPs, rate};
            at(HopKind::NETWORK,
               p) = {ToPs(known.networkLatencyUs[p]), ToPs(known.networkBusyUs[p]), rate};
            at(HopKind::SWITCH, p) = {ToPs(known.switchLatencyUs),
                                      ToPs(known.switchBusyUs),
                                      known.switchBlockGBps * GBYTE};
        }
    }
    return costs;
}

} // namespace

const CollectiveKernelCost&
GetCollectiveKernelCost(uint32_t computeCapability)
{
    static const auto costs = MakeCosts();
    return costs[computeCapability >= 100  ? 3
                 : computeCapability >= 90 ? 2
                                           : computeCapability >= 80];
}

const CollectiveLaunchCost&
GetCollectiveLaunchCost()
{
    // Eight A100 of one process, nccl-tests, by channels that NCCL takes: all-gather and all-reduce
    // alike 34.6 us with one channel and 1.6 us more with every other one, whatever the steps; all-
    // to-all 87 us up to 2 MiB, with seven sends and seven receives for each GPU.
    static const CollectiveLaunchCost cost{4300000, 200000, 470000};
    return cost;
}

} // namespace proteus
} // namespace ns3
