/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-collective-run.h"
#include "ns3/proteus-server-preset.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <string>

using namespace ns3::proteus;

namespace
{

constexpr uint64_t BYTES = 64 << 20;

/// @param executor that runs it @param collective between a GPU of each of two DGX A100, over
/// sockets @param variables of NCCL @return bytes per second
double
GetRate(const char* executor, Collective collective, const std::string& variables)
{
    const Cluster cluster = MakeCluster("dgx-a100", 2);
    CollectiveTest test;
    test.collective = collective;
    test.groups = {{0, 8}};
    test.executor = executor;
    test.netPlugin = "sockets";
    test.protocol = "Simple";
    test.ncclVariables = variables;
    return BYTES / RunCollective(cluster, test, BYTES).front().timeUs * 1e6;
}

} // namespace

TEST(NetworkShares, SocketsCarryWhatTheirThreadsCopy)
{
    constexpr double RECEIVED = 42e9 / 8;
    constexpr double SENT = 89e9 / 8;
    for (const char* executor : {"packet", "flow"})
    {
        const double oneWay = GetRate(executor, Collective::BROADCAST, "");
        EXPECT_LT(oneWay, RECEIVED) << executor;
        EXPECT_GT(oneWay, 0.85 * RECEIVED) << executor;
        // A message of a send-receive has another one the other way.
        const double twoWays = GetRate(executor, Collective::SEND_RECV, "");
        EXPECT_LT(twoWays, 1 / (1 / RECEIVED + 1 / SENT)) << executor;
        EXPECT_GT(twoWays, 0.8 / (1 / RECEIVED + 1 / SENT)) << executor;
        EXPECT_GT(GetRate(executor, Collective::BROADCAST, "NCCL_SOCKET_NTHREADS=4"), 3 * RECEIVED)
            << executor;
    }
}
