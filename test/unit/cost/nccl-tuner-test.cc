/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-nccl-tuner.h"

#include <cmath>
#include <gtest/gtest.h>
#include <stdexcept>
#include <utility>

using namespace ns3::proteus;

namespace
{

/// @param servers how many, of eight GPUs @param version of NCCL @return such a group
NcclSystem
MakeSystem(uint32_t servers, uint32_t version)
{
    NcclSystem system;
    system.ranks = 8 * servers;
    system.servers = servers;
    system.computeCapability = 90;
    system.version = version;
    system.ring.channels = system.tree.channels = 12;
    system.ring.intraGBps = system.tree.intraGBps = 30;
    system.ring.interGBps = system.tree.interGBps = 30;
    system.nvls = system.ring;
    system.nvls.channels = 8;
    system.nvls.intraGBps = 40;
    system.nvls.interGBps = 60;
    return system;
}

double
GetGBps(const NcclSystem& system,
        Collective collective,
        NcclAlgorithm algorithm,
        NcclProtocol protocol)
{
    return NcclCostModel(system).GetCost(collective, algorithm, protocol).gigabytesPerSecond;
}

} // namespace

TEST(NcclTuner, EveryVersionHasWhatItHas)
{
    const auto reduce = Collective::ALL_REDUCE;
    const auto has = [&](uint32_t servers,
                         uint32_t version,
                         Collective collective,
                         NcclAlgorithm algorithm,
                         NcclProtocol protocol) {
        NcclSystem system = MakeSystem(servers, version);
        system.ranks = algorithm == NcclAlgorithm::PAT ? servers : system.ranks;
        system.computeCapability = protocol == NcclProtocol::LL128 ? 70 : 90;
        return GetGBps(system, collective, algorithm, protocol) > 0;
    };
    const auto simple = NcclProtocol::SIMPLE;
    EXPECT_FALSE(has(1, 204, reduce, NcclAlgorithm::RING, NcclProtocol::LL128));
    EXPECT_TRUE(has(1, 205, reduce, NcclAlgorithm::RING, NcclProtocol::LL128));
    EXPECT_FALSE(has(1, 216, reduce, NcclAlgorithm::NVLS, simple));
    EXPECT_TRUE(has(1, 217, reduce, NcclAlgorithm::NVLS, simple));
    EXPECT_FALSE(has(2, 217, reduce, NcclAlgorithm::NVLS_TREE, simple));
    EXPECT_TRUE(has(2, 218, reduce, NcclAlgorithm::NVLS_TREE, simple));
    EXPECT_FALSE(has(4, 222, Collective::ALL_GATHER, NcclAlgorithm::PAT, simple));
    EXPECT_TRUE(has(4, 223, Collective::ALL_GATHER, NcclAlgorithm::PAT, simple));
    EXPECT_TRUE(has(1, 200, reduce, NcclAlgorithm::TREE, simple));
}

TEST(NcclTuner, Ll128IsOfGpusThatAreNamed)
{
    const auto has = [](uint32_t version, uint32_t computeCapability) {
        NcclSystem system = MakeSystem(1, version);
        system.computeCapability = computeCapability;
        return GetGBps(system, Collective::ALL_REDUCE, NcclAlgorithm::RING, NcclProtocol::LL128) >
               0;
    };
    EXPECT_TRUE(has(206, 70));
    EXPECT_FALSE(has(206, 80));
    EXPECT_TRUE(has(207, 80));
    EXPECT_FALSE(has(214, 90));
    EXPECT_TRUE(has(215, 90));
    EXPECT_FALSE(has(224, 100));
    EXPECT_TRUE(has(225, 100));
    // Turing, GeForce and professional cards of Ampere, and Ada, until all are taken.
    for (const uint32_t other : {75, 86, 89})
    {
        EXPECT_FALSE(has(226, other));
        EXPECT_TRUE(has(227, other));
    }
    EXPECT_FALSE(has(230, 61));
}

TEST(NcclTuner, Ll128CrossesC2cOfHopperSince227)
{
    const auto has = [](uint32_t version, uint32_t computeCapability, NcclPath path) {
        NcclSystem system = MakeSystem(2, version);
        system.computeCapability = computeCapability;
        system.ring.typeInter = path;
        return GetGBps(system, Collective::ALL_REDUCE, NcclAlgorithm::RING, NcclProtocol::LL128) >
               0;
    };
    EXPECT_FALSE(has(226, 90, NcclPath::P2C));
    EXPECT_TRUE(has(227, 90, NcclPath::P2C));
    EXPECT_FALSE(has(227, 80, NcclPath::P2C));
    EXPECT_TRUE(has(226, 90, NcclPath::PXN));
    EXPECT_FALSE(has(230, 90, NcclPath::PHB));
}

TEST(NcclTuner, BandwidthsOfVersions)
{
    // Two servers of eight H100, 12 channels of 30 GB/s: n / steps is 16 / 30.
    const auto ring = [](uint32_t version, NcclProtocol protocol) {
        return GetGBps(MakeSystem(2, version),
                       Collective::ALL_REDUCE,
                       NcclAlgorithm::RING,
                       protocol);
    };
    EXPECT_NEAR(ring(230, NcclProtocol::SIMPLE), 360 * 16.0 / 30, 1e-9);
    // LL: an Intel CPU's most; before 2.21 a quarter, which is more than that, too.
    EXPECT_NEAR(ring(230, NcclProtocol::LL), 39 * 16.0 / 30, 1e-9);
    NcclSystem amd = MakeSystem(2, 230);
    amd.cpu = CpuVendor::AMD;
    EXPECT_NEAR(GetGBps(amd, Collective::ALL_REDUCE, NcclAlgorithm::RING, NcclProtocol::LL),
                22.5 * 16.0 / 30,
                1e-9);
    // v2.7.8: LL a quarter of the bus and no cap, a tree of two servers at most 110 GB/s.
    EXPECT_NEAR(ring(207, NcclProtocol::LL), 360.0 / 4 * 16 / 30, 1e-9);
    EXPECT_NEAR(GetGBps(MakeSystem(2, 207),
                        Collective::ALL_REDUCE,
                        NcclAlgorithm::TREE,
                        NcclProtocol::SIMPLE),
                55,
                1e-9);
    // v2.8: 18.5 GB/s a channel of what was no Ampere.
    EXPECT_NEAR(GetGBps(MakeSystem(2, 208),
                        Collective::ALL_REDUCE,
                        NcclAlgorithm::TREE,
                        NcclProtocol::SIMPLE),
                12 * 18.5 / 2,
                1e-9);
    // NVLS: 5/6 of 8 x 40 GB/s, from 2.28 on 2 x 0.85 x 7/8 of it times n / steps.
    const auto nvls = [](uint32_t version) {
        return GetGBps(MakeSystem(1, version),
                       Collective::ALL_REDUCE,
                       NcclAlgorithm::NVLS,
                       NcclProtocol::SIMPLE);
    };
    EXPECT_NEAR(nvls(218), 320 * 5.0 / 6, 1e-9);
    EXPECT_NEAR(nvls(228), 320 * 0.85 * 7 / 8 * 2 * 8 / 14, 1e-9);
}

TEST(NcclTuner, TreesOfVersions)
{
    // Where one GPU talks to all servers, trees count 0.85 from 2.26 on.
    for (const auto& [version, share] : {std::make_pair(225u, 1.0), std::make_pair(226u, 0.85)})
    {
        NcclSystem system = MakeSystem(2, version);
        const auto rate = [&]() {
            return GetGBps(system,
                           Collective::ALL_REDUCE,
                           NcclAlgorithm::TREE,
                           NcclProtocol::SIMPLE);
        };
        const double balanced = rate();
        system.simpleTree = true;
        EXPECT_NEAR(rate(), share * balanced, 1e-9) << version;
    }
    // The factors of trees of medium sizes are those of NVLSTree, too, from 2.29 on, on Blackwell
    // with x86 CPUs: half of the bandwidth at 1 MiB, twice the time of the bytes.
    const auto timeUs = [](uint32_t version, CpuVendor cpu) {
        NcclSystem system = MakeSystem(2, version);
        system.computeCapability = 100;
        system.cpu = cpu;
        const NcclCostModel model(system);
        const auto tree = NcclAlgorithm::NVLS_TREE;
        const auto simple = NcclProtocol::SIMPLE;
        const auto reduce = Collective::ALL_REDUCE;
        return (model.GetTimeUs(reduce, tree, simple, 1 << 20) -
                model.GetCost(reduce, tree, simple).latencyUs) /
               ((1 << 20) / (1000 * model.GetCost(reduce, tree, simple).gigabytesPerSecond));
    };
    EXPECT_NEAR(timeUs(226, CpuVendor::INTEL), 1, 1e-9);
    EXPECT_NEAR(timeUs(228, CpuVendor::AMD), 1, 1e-9);
    EXPECT_NEAR(timeUs(229, CpuVendor::INTEL), 2, 1e-9);
    EXPECT_NEAR(timeUs(230, CpuVendor::AMD), 2, 1e-9);
    EXPECT_NEAR(timeUs(230, CpuVendor::ARM), 1, 1e-9);
}

TEST(NcclTuner, LatenciesOfVersions)
{
    const auto latency = [](uint32_t version, NcclAlgorithm algorithm, NcclProtocol protocol) {
        return NcclCostModel(MakeSystem(2, version))
            .GetCost(Collective::ALL_REDUCE, algorithm, protocol)
            .latencyUs;
    };
    // v2.6.4: all 30 steps of a ring of servers as over the network.
    EXPECT_NEAR(latency(206, NcclAlgorithm::RING, NcclProtocol::LL), 3.6 + 30 * 0.9, 1e-9);
    // Rings: 30 steps, 2 of them over the network; 4 from 2.12 to 2.22.
    const auto ring = NcclAlgorithm::RING;
    EXPECT_NEAR(latency(207, ring, NcclProtocol::SIMPLE), 8.4 + 28 * 3.4 + 2 * 9.6, 1e-9);
    EXPECT_NEAR(latency(207, ring, NcclProtocol::LL), 3.6 + 28 * 0.47 * 1.8 + 2 * 2.7, 1e-9);
    EXPECT_NEAR(latency(208, ring, NcclProtocol::SIMPLE), 8.4 + 28 * 3.4 + 2 * 9.6, 1e-9);
    EXPECT_NEAR(latency(212, ring, NcclProtocol::SIMPLE), 8.4 + 26 * 3.4 + 4 * 28, 1e-9);
    EXPECT_NEAR(latency(214, ring, NcclProtocol::SIMPLE), 8.4 + 26 * 3.4 + 4 * 9.6, 1e-9);
    EXPECT_NEAR(latency(220, ring, NcclProtocol::LL), 6.6 + 26 * 1.0 + 4 * 2.7, 1e-9);
    EXPECT_NEAR(latency(230, ring, NcclProtocol::SIMPLE), 8.4 + 28 * 3.4 + 2 * 14, 1e-9);
    EXPECT_NEAR(latency(220, NcclAlgorithm::TREE, NcclProtocol::SIMPLE), 2 * (7 * 28 + 28), 1e-9);
    EXPECT_NEAR(latency(230, NcclAlgorithm::TREE, NcclProtocol::SIMPLE),
                8.4 + 2 * (7 * 4 + 14),
                1e-9);
}

TEST(NcclTuner, RingsOfOneGpuPerServer)
{
    // Two servers, two steps: from 2.12 to 2.22 four hops over the network, and less than none of
    // two inside. From 2.23 on hops of one GPU per server count as those of trees.
    for (const auto& [version, expected] : {std::make_pair(211u, 3.6 + 2 * 2.7),
                                            std::make_pair(212u, 3.6 + 4 * 2.7 - 2 * 0.47 * 1.8),
                                            std::make_pair(221u, 6.6 + 4 * 2.7 - 2 * 1.0),
                                            std::make_pair(223u, 6.6 + 2 * 5.0)})
    {
        NcclSystem system = MakeSystem(2, version);
        system.ranks = 2;
        const double us =
            NcclCostModel(system)
                .GetCost(Collective::ALL_REDUCE, NcclAlgorithm::RING, NcclProtocol::LL)
                .latencyUs;
        EXPECT_NEAR(us, expected, 1e-9) << version;
    }
}

TEST(NcclTuner, PlateausOfLongRings)
{
    // How much longer a ring of Simple takes at least so many bytes, and at a byte less.
    const auto plateau = [](uint32_t version, uint32_t computeCapability, uint64_t bytes) {
        NcclSystem system = MakeSystem(2, version);
        system.computeCapability = computeCapability;
        const NcclCostModel model(system);
        const auto ring = NcclAlgorithm::RING;
        const auto simple = NcclProtocol::SIMPLE;
        const auto cost = model.GetCost(Collective::ALL_REDUCE, ring, simple);
        return (model.GetTimeUs(Collective::ALL_REDUCE, ring, simple, bytes) -
                bytes / (1000 * cost.gigabytesPerSecond)) /
               cost.latencyUs;
    };
    const uint64_t ofRanks = 16 * 4096;
    EXPECT_NEAR(plateau(207, 80, ofRanks - 1), 1, 1e-9);
    EXPECT_NEAR(plateau(207, 80, ofRanks), 1.9, 1e-9);
    EXPECT_NEAR(plateau(216, 90, ofRanks), 1.9, 1e-9);
    EXPECT_NEAR(plateau(217, 90, ofRanks - 1), 1, 1e-9);
    EXPECT_NEAR(plateau(217, 90, ofRanks), 1.5, 1e-9);
    EXPECT_NEAR(plateau(217, 80, ofRanks), 1.9, 1e-9);
    // From 2.18 on of the channels, too: twice the twelve of the search.
    const uint64_t ofChannels = 16 * 24 * 64;
    EXPECT_NEAR(plateau(218, 80, ofChannels - 1), 1, 1e-9);
    EXPECT_NEAR(plateau(218, 80, ofChannels), 1.4, 1e-9);
    EXPECT_NEAR(plateau(218, 70, ofChannels), 1.9, 1e-9);
}

TEST(NcclTuner, ReadsVersions)
{
    EXPECT_EQ(ParseNcclVersion(""), 0u);
    EXPECT_EQ(ParseNcclVersion("2.18.3"), 218u);
    EXPECT_EQ(ParseNcclVersion("2.18.3+cuda12.2"), 218u);
    EXPECT_EQ(ParseNcclVersion("2.18.3-1+cuda12.2"), 218u);
    EXPECT_EQ(ParseNcclVersion("2.7"), 207u);
    EXPECT_EQ(ParseNcclVersion("22703"), 227u);
    EXPECT_EQ(ParseNcclVersion("2708"), 207u);
    EXPECT_EQ(FormatNcclVersion(ParseNcclVersion("2.7.8")), "2.7");
    EXPECT_EQ(ParseNcclVersion("230"), 230u);
    for (const char* wrong : {"1.3.4",
                              "two",
                              "2.",
                              "2.x",
                              "18",
                              "2.18-3",
                              ".5",
                              "99999999999",
                              "2.18x",
                              "2.18.",
                              "2.18.3x",
                              "2.18.3.1",
                              "2.18.3+",
                              "2.18 "})
    {
        EXPECT_THROW(ParseNcclVersion(wrong), std::invalid_argument) << wrong;
    }
}
