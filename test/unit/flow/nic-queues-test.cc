/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-flow-routes.h"
#include "ns3/proteus-nic-queues.h"
#include "ns3/proteus-nic-table.h"
#include "ns3/proteus-server-preset.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

constexpr uint32_t PORT = 3;
constexpr uint32_t LINK = 4;
constexpr double ANY = std::numeric_limits<double>::infinity();

/// A NIC that reads at `comes` and sends at `goes` bytes per picosecond.
FlowReading
Read(double comes, double goes, uint32_t from = LINK, double room = 1e6)
{
    return {PORT, from, comes * 1e12, goes * 1e12, room};
}

/// @return how the NIC of a GPU's message to another server comes by it
FlowReading
FindReading(const Cluster& cluster, DeviceId from, DeviceId to)
{
    const Paths paths(cluster);
    const NicTable nics(cluster);
    FlowRoutes routes(cluster, paths, FlowParameters());
    return routes
        .GetRoute(routes.Plan(PlanConnection(cluster, paths, nics, 0, 0, from, to), 0).route)
        .reading;
}

} // namespace

// What has been read in a head start of t is t times the ratio of both rates of sending.
TEST(NicQueues, AHeadStartGrowsByTheRatioOfRates)
{
    for (const double comes : {1.2, 2.0, 9.0})
    {
        NicQueues nics;
        EXPECT_EQ(nics.Begin(0, Read(comes, 1), ANY, 1e5, 100), 0);
        // The rest of its head start, 10 ps, has been sent.
        EXPECT_NEAR(nics.Begin(1, Read(comes, 1), ANY, 1e5, 110), 10 * (comes - 1), 1e-9);
        // Both share the way there, so that the queue grows as before.
        EXPECT_NEAR(nics.GetQueued(PORT, 120), 20 * (comes - 1), 1e-9);
        // Each is read for as long as both take there, and all is sent then but for the queue.
        const double end = 100 + 2e5 / comes;
        EXPECT_NEAR(nics.GetQueued(PORT, end), 2e5 - (end - 100), 1e-3);
        EXPECT_EQ(nics.GetQueued(PORT, 100 + 2e5), 0);
        EXPECT_EQ(nics.Begin(0, Read(comes, 1), ANY, 1e5, 100 + 2e5), 0);
    }
}

TEST(NicQueues, NobodyWaitsForASenderThatIsSlower)
{
    NicQueues nics;
    EXPECT_EQ(nics.Begin(0, Read(2, 1), 0.4, 1e5, 0), 0);
    EXPECT_EQ(nics.Begin(1, Read(2, 1), 0.6, 1e5, 10), 0);
    EXPECT_EQ(nics.Begin(2, Read(2, 1), 0.5, 1e5, 20), 0);
    // Together they send half more than the port.
    EXPECT_NEAR(nics.Begin(3, Read(2, 1), ANY, 1e5, 30), 5, 1e-9);
    EXPECT_EQ(nics.Begin(0, {PORT + 1, LINK, 2e12, 1e12, 1e6}, ANY, 1e5, 30), 0);
}

// Two ways bring twice as much as one.
TEST(NicQueues, WaysAreSharedByThoseThatTakeThem)
{
    NicQueues nics;
    nics.Begin(0, Read(2, 1), ANY, 1e5, 0);
    nics.Begin(1, Read(2, 1), ANY, 1e5, 0);
    EXPECT_NEAR(nics.GetQueued(PORT, 10), 10, 1e-9);
    nics.Begin(2, Read(3, 1, LINK + 1), ANY, 1e5, 10);
    EXPECT_NEAR(nics.GetQueued(PORT, 20), 10 + 40, 1e-9);
}

// Beyond its room a NIC reads what it sends.
TEST(NicQueues, ANicHasRoomForSoMuch)
{
    NicQueues nics;
    nics.Begin(0, Read(3, 1, LINK, 50), ANY, 1000, 0);
    EXPECT_NEAR(nics.GetQueued(PORT, 20), 40, 1e-9);
    EXPECT_NEAR(nics.GetQueued(PORT, 30), 50, 1e-9);
    EXPECT_NEAR(nics.Begin(1, Read(3, 1, LINK, 50), ANY, 1000, 940), 50, 1e-9);
    // The first one is read while both share what leaves, 20 bytes in 20 ps of its 10 that are
    // left.
    EXPECT_NEAR(nics.GetQueued(PORT, 1950), 50, 1e-9);
    EXPECT_NEAR(nics.GetQueued(PORT, 1960), 40, 1e-6);
}

// Whoever sends what when: a port that is never idle has sent all that was begun.
TEST(NicQueues, NothingIsLost)
{
    std::mt19937 random(7);
    const auto draw = [&random](double most) {
        return std::uniform_real_distribution<double>(0, most)(random);
    };
    for (int run = 0; run < 50; ++run)
    {
        NicQueues nics;
        const double comes = 1 + draw(3);
        const double room = 10 + draw(1e4);
        double now = 0;
        double all = 0;
        for (uint32_t i = 0; i < 40; ++i)
        {
            const double bytes = 1000 + draw(1000);
            const double waits = nics.Begin(i % 7, Read(comes, 1, LINK, room), ANY, bytes, now);
            EXPECT_GE(waits, 0);
            EXPECT_LE(waits, std::min(room, all - now) + 1e-3) << run;
            all += bytes;
            now += draw(1000); // less than what came
        }
        EXPECT_NEAR(nics.GetQueued(PORT, all - 1), std::min(1.0, room), 1e-2) << run;
        EXPECT_EQ(nics.GetQueued(PORT, all + 1), 0) << run;
    }
}

TEST(NicQueues, RoutesSayWhatBringsBytesToANic)
{
    const double gbps = 1e9 / 8;
    // A NIC for each GPU, behind PCI Express of the fifth generation.
    const FlowReading own = FindReading(MakeCluster("dgx-h100", 2, FabricOptions()), 0, 8);
    ASSERT_NE(own.port, NO_ID);
    EXPECT_GT(own.comes, 1.1 * own.goes);
    EXPECT_LT(own.comes, 512 * gbps);
    EXPECT_LT(own.goes, 400 * gbps);
    EXPECT_GT(own.goes, 0.9 * 400 * gbps);
    EXPECT_NEAR(own.room, own.comes * 12e-6, 0.01 * own.room);
    // By way of the memory of the GPU next to the NIC (PXN), which NVLinks fill.
    const FlowReading staged =
        FindReading(LoadCluster("dgx-h100:nic=1x400G-ib", 2, FabricOptions()), 1, 9);
    ASSERT_NE(staged.port, NO_ID);
    EXPECT_GT(staged.comes, 5 * staged.goes);
    EXPECT_EQ(staged.goes, own.goes);
    EXPECT_EQ(staged.room, own.room);
    // Inside a server nothing leaves by a NIC, and one that is faster than its slot has no queue.
    for (const char* name : {"dgx-h100", "titanxp-pcie:nic=1x400G-ib"})
    {
        const Cluster cluster = LoadCluster(name, 2, FabricOptions());
        const auto gpus = static_cast<DeviceId>(cluster.GetGpus().size());
        const bool isInside = std::string(name) == "dgx-h100";
        EXPECT_EQ(FindReading(cluster, 0, isInside ? 1 : gpus / 2).port, NO_ID) << name;
    }
}

/// What has been read stays read when the pace of its sender changes.
TEST(NicQueues, ReadsAtTheRateThatASenderHasNow)
{
    NicQueues nics;
    const FlowReading reading = Read(4, 1);
    nics.Begin(0, reading, ANY, 1000, 0);
    EXPECT_NEAR(nics.SetRate(0, reading, 0.5, 100), 600, 1e-9);
    EXPECT_NEAR(nics.SetRate(0, reading, 2, 200), 550, 1e-9);
    EXPECT_NEAR(nics.SetRate(0, reading, 2, 300), 350, 1e-9);
    EXPECT_EQ(nics.SetRate(0, reading, 2, 500), 0);
    EXPECT_EQ(nics.SetRate(1, reading, 2, 500), 0); // nothing is known of it
}
