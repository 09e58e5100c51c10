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

CollectiveStepCost
Make(double latencyUs, double busyUs, double gigabytes)
{
    return {static_cast<int64_t>(latencyUs * 1e6),
            static_cast<int64_t>(busyUs * 1e6),
            gigabytes * 1e9};
}

std::array<CollectiveKernelCost, 4>
MakeCosts()
{
    std::array<CollectiveKernelCost, 4> costs;
    const std::array<double, 4> kernel{6, 6, 6, 6};
    const std::array<double, 4> ll{3.25, 3.65, 5.9, 8.8};
    const std::array<double, 4> ll128{10, 10, 18.3, 20};
    const std::array<double, 4> simple{26.5, 24, 38.7, 70};
    for (std::size_t g = 0; g < 4; ++g)
    {
        CollectiveKernelCost& c = costs[g];
        c.kernelPs = static_cast<int64_t>(1e6 * kernel[g]);
        const double rll = ll[g];
        const double r128 = ll128[g];
        const double rs = simple[g];
        c.steps[0] = {Make(0.3, 0.1, rll), Make(0.8, 0.2, r128), Make(1.5, 1.0, rs)};
        c.steps[1] = {Make(0.5, 0.1, rll), Make(1.3, 0.2, r128), Make(3.0, 1.0, rs)};
        c.steps[2] = {Make(2.0, 1.0, rll), Make(3.0, 1.0, r128), Make(10, 4.5, rs)};
        c.steps[3].fill(Make(3, 1, rs));
    }
    return costs;
}

} // namespace

const CollectiveKernelCost&
GetCollectiveKernelCost(uint32_t computeCapability)
{
    static const std::array<CollectiveKernelCost, 4> costs = MakeCosts();
    return costs[computeCapability >= 100  ? 3
                 : computeCapability >= 90 ? 2
                                           : computeCapability >= 80];
}

const CollectiveLaunchCost&
GetCollectiveLaunchCost()
{
    static const CollectiveLaunchCost cost{static_cast<int64_t>(1e6 * 4.3),
                                           static_cast<int64_t>(1e6 * 0.2),
                                           static_cast<int64_t>(1e6 * 0.47)};
    return cost;
}

} // namespace proteus
} // namespace ns3
