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
    PerProtocol kernelUs{};        // start and end
    PerProtocol blockGBps{};       // payload that a thread block moves
    double messageGBps{0};         // payload that a thread block moves of a message with Simple
    PerProtocol gpuGBps{};         // payload that all blocks of a kernel move together; 0: no limit
    PerProtocol nvlinkLatencyUs{}; // from arrival to use
    PerProtocol pcieLatencyUs{};   // from arrival to use
    PerProtocol networkLatencyUs{}; // from arrival to use, both proxies included
    PerProtocol networkBusyUs{};    // of a step that goes through a proxy
    double switchLatencyUs{0};      // of what switches multicast or reduce
    double switchBusyUs{0};         // of a step with them
    double switchBlockGBps{0};      // payload that a thread block moves there
};

// Where the numbers come from. Rates of LL are what NCCL's tuner takes for the most that a GPU does
// with LL (NVIDIA/nccl v2.30.7, src/graph/tuning.cc, llMaxBws: 39, 87.7, 141 and 282 GB/s), over
// the channels of one server of the generation: 12, 24, 24 and 32. The rate of Simple on Volta
// and Ampere is that of a channel there (perChMaxTreeBws), on Blackwell half of it, since a channel
// of the search becomes two. What a network takes of LL128 on Blackwell is Hopper's, since NICs and
// proxies are, and of Simple the tuner's 14 us. The rate of Simple on Hopper is that of two public
// logs of nccl-tests that are not among the tables: 358 GB/s of a pair of H100 with 24 channels, of
// which a block sends two chunks for every three that it handles, is 22.4 GB/s with no time lost,
// and trees of two servers of four GH200 with 8 channels, 91 GB/s, 22.7. All other numbers are
// fitted to the measured tables of workloads/measurements, all of a generation together; the manual
// has the errors. They are what makes simulated times agree, and not measurements of single
// mechanisms: start and latency of Simple, of which there are no tables below 256 KiB, in
// particular. For comparison, the tuner counts 6.6, 14 and 8.4 us of start for rings, and for a
// hop, its transfer included, 0.6, 1.9 and 3.4 us on NVLink, 1, 2.5 and 5.7 on PCIe, and 2.7, 4 and
// 14 in a network.

/// Barriers and flags of a step inside a server, on all generations: a step of Simple synchronises
/// the thread block twice and fences, one of LL or LL128 only passes on.
constexpr PerProtocol BUSY_US{0.1, 0.2, 1.0};

/// @return V100 and what came before
constexpr Generation
MakeVolta()
{
    Generation known;
    known.kernelUs = {6, 16.5, 14};
    known.blockGBps = {3.25, 7.1, 26.5};
    known.messageGBps = 26.5;
    known.nvlinkLatencyUs = {0.5, 3.1, 8.3};
    known.pcieLatencyUs = {0.6, 1.3, 3.9};
    known.networkLatencyUs = {6.5, 3.2, 15};
    known.networkBusyUs = {0.3, 0.5, 4.5};
    return known;
}

/// @return A100
constexpr Generation
MakeAmpere()
{
    Generation known;
    known.kernelUs = {6, 21, 23};
    known.blockGBps = {3.65, 9.5, 24};
    known.messageGBps = 24;
    known.gpuGBps = {0, 185, 285};
    known.nvlinkLatencyUs = {0.5, 3.3, 3};
    known.pcieLatencyUs = {0.6, 1.3, 3.9};
    known.networkLatencyUs = {10.4, 6.9, 18};
    known.networkBusyUs = {0.3, 0.5, 4.5};
    return known;
}

/// @return H100 and H200
constexpr Generation
MakeHopper()
{
    Generation known;
    known.kernelUs = {8, 13, 12};
    known.blockGBps = {5.9, 18, 23};
    known.messageGBps = 20;
    known.nvlinkLatencyUs = {0.4, 1, 1.5};
    known.pcieLatencyUs = {0.5, 1.3, 3.9};
    known.networkLatencyUs = {4.5, 18, 20};
    known.networkBusyUs = {0.3, 0.5, 0.5};
    known.switchLatencyUs = 7.9;
    known.switchBusyUs = 0.9;
    known.switchBlockGBps = 23.5;
    return known;
}

/// @return B200 and what comes after
constexpr Generation
MakeBlackwell()
{
    Generation known;
    known.kernelUs = {9, 12, 13};
    known.blockGBps = {8.8, 20, 35};
    known.messageGBps = 21;
    known.nvlinkLatencyUs = {1, 1, 1.5};
    known.pcieLatencyUs = {0.5, 1.3, 3.9};
    known.networkLatencyUs = {4.5, 18, 14};
    known.networkBusyUs = {0.3, 0.5, 0.5};
    known.switchLatencyUs = 3.4;
    known.switchBusyUs = 1.3;
    known.switchBlockGBps = 28;
    return known;
}

/// Compute capabilities, ten times, at which generations begin.
constexpr uint32_t FIRST_AMPERE = 80;
constexpr uint32_t FIRST_HOPPER = 90;
constexpr uint32_t FIRST_BLACKWELL = 100;

int64_t
ToPs(double us)
{
    return static_cast<int64_t>(us * PS_PER_US);
}

/// @param known of a generation @return what its collectives cost
CollectiveKernelCost
MakeCost(const Generation& known)
{
    CollectiveKernelCost cost;
    const auto at = [&cost](HopKind hop, std::size_t protocol) -> auto&
    {
        return cost.steps[static_cast<std::size_t>(hop)][protocol];
    };
    for (std::size_t p = 0; p < NCCL_PROTOCOLS; ++p)
    {
        const double rate = known.blockGBps[p] * GBYTE;
        const int64_t busyPs = ToPs(BUSY_US[p]);
        cost.kernelPs[p] = ToPs(known.kernelUs[p]);
        cost.gpuBytesPerSecond[p] = known.gpuGBps[p] * GBYTE;
        cost.messageBytesPerSecond = known.messageGBps * GBYTE;
        at(HopKind::NVLINK, p) = {ToPs(known.nvlinkLatencyUs[p]), busyPs, rate};
        at(HopKind::PCIE, p) = {ToPs(known.pcieLatencyUs[p]), busyPs, rate};
        at(HopKind::NETWORK,
           p) = {ToPs(known.networkLatencyUs[p]), ToPs(known.networkBusyUs[p]), rate};
        at(HopKind::SWITCH, p) = {ToPs(known.switchLatencyUs),
                                  ToPs(known.switchBusyUs),
                                  known.switchBlockGBps * GBYTE};
    }
    return cost;
}

} // namespace

const CollectiveKernelCost&
GetCollectiveKernelCost(uint32_t computeCapability)
{
    static const CollectiveKernelCost volta = MakeCost(MakeVolta());
    static const CollectiveKernelCost ampere = MakeCost(MakeAmpere());
    static const CollectiveKernelCost hopper = MakeCost(MakeHopper());
    static const CollectiveKernelCost blackwell = MakeCost(MakeBlackwell());
    return computeCapability >= FIRST_BLACKWELL ? blackwell
           : computeCapability >= FIRST_HOPPER  ? hopper
           : computeCapability >= FIRST_AMPERE  ? ampere
                                                : volta;
}

const CollectiveLaunchCost&
GetCollectiveLaunchCost(uint32_t ncclVersion)
{
    // Measured: nccl-tests on eight A100 of one process (workloads/measurements/a100-8-*.csv).
    // All-gather and all-reduce take 34.6 us with one channel, and 1.6 us more with each further
    // one, whatever the steps. All-to-all takes 87 us up to 2 MiB; a GPU has seven sends and seven
    // receives. One thread launches eight kernels, so a launch takes an eighth of these times. The
    // numbers are lower than the eighth, since the first of the twenty iterations takes longer.
    constexpr int64_t KERNEL_PS = 4000000;
    constexpr int64_t CHANNEL_PS = 200000;
    // For every channel, NCCL up to 2.21 writes a record of 512 bytes where the GPU reads it
    // (struct ncclWork; NVIDIA/nccl v2.21.5, src/enqueue.cc, uploadWork()); from 2.22 on, 16 bytes
    // into the arguments of the kernel (struct ncclDevWorkBatch; v2.22.3, finishPlan()).
    constexpr uint32_t FIRST_WITH_BATCHES = 222;
    constexpr int64_t BATCH_PS = CHANNEL_PS * 16 / 512;
    constexpr int64_t PEER_PS = 470000;
    // Fitted: tables of one process for eight GPUs, whatever the protocol, are slower by that than
    // those of one process per GPU; of two V100, hardly. What takes the time is not known.
    constexpr int64_t SHARED_THREAD_PS = 13500000;
    static const CollectiveLaunchCost records{KERNEL_PS, CHANNEL_PS, PEER_PS, SHARED_THREAD_PS};
    static const CollectiveLaunchCost batches{KERNEL_PS, BATCH_PS, PEER_PS, SHARED_THREAD_PS};
    return ncclVersion < FIRST_WITH_BATCHES ? records : batches;
}

} // namespace proteus
} // namespace ns3
