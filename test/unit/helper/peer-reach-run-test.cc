/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-collective-run.h"
#include "ns3/proteus-peer-reach.h"
#include "ns3/proteus-server-preset.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

using namespace ns3::proteus;

namespace
{

constexpr uint64_t BYTES = 64 << 20;

/// @param cluster of the GPUs @param executor that runs it @param group of two
/// @return microseconds of an all-gather of the group
double
GetTime(const Cluster& cluster, const char* executor, const std::vector<uint32_t>& group)
{
    CollectiveTest test;
    test.collective = Collective::ALL_GATHER;
    test.algorithm = "ring";
    test.protocol = "Simple";
    test.groups = {group};
    test.executor = executor;
    test.ncclVariables = "NCCL_P2P_DISABLE=1,NCCL_SHM_DISABLE=1";
    return RunCollective(cluster, test, BYTES).front().timeUs;
}

} // namespace

TEST(PeerReach, GpusOfOneServerSendByTheirNicsAsThoseOfTwo)
{
    constexpr double NIC = 25e9; // bytes per second
    TransportRules rules;
    rules.peerToPeer = false;
    const Cluster whole = MakeCluster("dgx-a100", 2);
    const Cluster cluster = WithoutHostMemory(rules, whole);
    for (const char* executor : {"packet", "flow"})
    {
        // Each sends its half to the other one.
        const double beside = GetTime(cluster, executor, {0, 7});
        EXPECT_GT(beside, BYTES / 2 / NIC * 1e6) << executor;
        EXPECT_LT(beside, 1.4 * BYTES / 2 / NIC * 1e6) << executor; // two channels leave gaps
        EXPECT_NEAR(GetTime(cluster, executor, {0, 8}), beside, 0.01 * beside) << executor;
        // The cluster has to say it.
        EXPECT_THROW(GetTime(whole, executor, {0, 7}), std::invalid_argument) << executor;
    }
}
