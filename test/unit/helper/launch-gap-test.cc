/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-collective-kernel-cost.h"
#include "ns3/proteus-collective-run.h"
#include "ns3/proteus-server-preset.h"

#include <gtest/gtest.h>
#include <string>

using namespace ns3::proteus;

namespace
{

/// @param preset of a server @param executor that runs it @return microseconds that an all-gather
/// of 256 MiB, whose GPUs are slower than any host, takes longer with one process for all GPUs than
/// with one for each
double
GetExcessUs(const char* preset, const char* executor)
{
    const Cluster cluster = MakeCluster(preset, 1);
    CollectiveTest test;
    test.collective = Collective::ALL_GATHER;
    test.groups = {{0, 1, 2, 3, 4, 5, 6, 7}};
    test.executor = executor;
    const auto getUs = [&](const char* mode) {
        test.launchMode = mode;
        return RunCollective(cluster, test, uint64_t{256} << 20).front().timeUs;
    };
    return getUs("one-process") - getUs("process-per-gpu");
}

} // namespace

TEST(LaunchGap, IsThatOfOneProcessBeforeBlackwell)
{
    const double gapUs = 1e-6 * GetCollectiveLaunchCost(230).sharedThreadPs;
    for (const char* executor : {"packet", "flow"})
    {
        EXPECT_NEAR(GetExcessUs("dgx-a100", executor), gapUs, 3) << executor;
        EXPECT_NEAR(GetExcessUs("dgx-h100", executor), gapUs, 3) << executor;
        EXPECT_NEAR(GetExcessUs("hgx-b200", executor), 0, 3) << executor;
    }
}
