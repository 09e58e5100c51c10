/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-algorithms.h"
#include "ns3/proteus-channel-search.h"
#include "ns3/proteus-cluster-json.h"
#include "ns3/proteus-gpu-model.h"
#include "ns3/proteus-nic-table.h"
#include "ns3/proteus-ring-search.h"
#include "ns3/proteus-server-links.h"
#include "ns3/proteus-server-preset.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// @return servers of GPUs that all have four NVLinks of the third generation to each other
Cluster
MakeMesh(uint32_t gpus)
{
    Cluster cluster("mesh");
    const auto vertices = AddServerVertices(cluster, 0, MakeGpu("A100-SXM4-80GB"), gpus);
    const auto cpus = AddServerVertices(cluster, 0, MakeCpu(16e9, true, CpuVendor::AMD), 1);
    for (uint32_t a = 0; a < gpus; ++a)
    {
        AddPcieLink(cluster, vertices[a], cpus[0], 4);
        for (uint32_t b = a + 1; b < gpus; ++b)
        {
            AddDefaultLink(cluster, vertices[a], vertices[b], LinkTechnology::NVLINK, 4 * 25e9, 3);
        }
    }
    return cluster;
}

/// @return servers of eight A100 behind NVSwitches, with two pairs of NICs below each PCIe switch
Cluster
MakeSixteenNics(uint32_t servers)
{
    Cluster cluster("sixteen");
    std::vector<VertexId> all;
    for (uint32_t server = 0; server < servers; ++server)
    {
        const auto gpus = AddServerVertices(cluster, server, MakeGpu("A100-SXM4-80GB"), 8);
        const auto nvswitches = AddServerVertices(cluster, server, MakeNvSwitch(3), 6);
        const auto switches = AddServerVertices(cluster, server, VertexKind::PCIE_SWITCH, 4);
        const auto cpus =
            AddServerVertices(cluster, server, MakeCpu(16e9, true, CpuVendor::AMD), 1);
        const auto nics = AddServerVertices(cluster, server, VertexKind::NIC, 16);
        for (uint32_t i = 0; i < 8; ++i)
        {
            for (const VertexId nvswitch : nvswitches)
            {
                AddDefaultLink(cluster, gpus[i], nvswitch, LinkTechnology::NVLINK, 50e9, 3);
            }
            AddPcieLink(cluster, gpus[i], switches[i / 2], 4);
        }
        for (uint32_t i = 0; i < 16; ++i)
        {
            AddPcieLink(cluster, nics[i], switches[i / 4], 4);
        }
        for (const VertexId pcie : switches)
        {
            AddPcieLink(cluster, pcie, cpus[0], 4);
        }
        all.insert(all.end(), nics.begin(), nics.end());
    }
    Vertex leaf;
    leaf.name = "leaf";
    leaf.kind = VertexKind::SWITCH;
    const VertexId top = cluster.AddVertex(leaf);
    for (const VertexId nic : all)
    {
        AddDefaultLink(cluster, nic, top, LinkTechnology::ROCE, 12.5e9);
    }
    cluster.Validate();
    return cluster;
}

ChannelSearch
Search(const Cluster& cluster, const std::vector<VertexId>& gpus, uint32_t capability)
{
    const Paths paths(cluster);
    return SearchChannels(cluster, paths, gpus, capability, FindCpuVendor(cluster, gpus));
}

/// Checks that no link is given more channels than it has room for.
void
CheckRoom(const Cluster& cluster, const std::vector<VertexId>& gpus, uint32_t capability)
{
    const Paths paths(cluster);
    const ServerLinks links(cluster, paths, gpus, false, capability, FindCpuVendor(cluster, gpus));
    const ServerRings rings = SearchRings(links, true, capability);
    std::vector<double> left = links.GetRates();
    for (const auto& order : rings.orders)
    {
        ASSERT_EQ(std::set<uint32_t>(order.begin(), order.end()).size(), gpus.size());
        for (std::size_t i = 0; i < order.size(); ++i)
        {
            for (const auto& use : links.Between(order[i], order[(i + 1) % order.size()]).uses)
            {
                left[use.link] -= use.times * rings.gigabytesPerSecond;
                EXPECT_GT(left[use.link], -1e-6);
            }
        }
    }
}

} // namespace

TEST(RingSearch, FullMeshOfFour)
{
    // Every direction of a pair has 80 GB/s, and room for two channels of 40; the three cycles over
    // four GPUs, both ways round, use each direction twice: 6 x 40, made 12 x 20, in all that a GPU
    // has.
    const Cluster cluster = MakeMesh(4);
    const auto found = Search(cluster, cluster.GetGpus(), 80);
    EXPECT_EQ(found.ring.channels, 12u);
    EXPECT_DOUBLE_EQ(found.ring.intraGBps, 20);
    EXPECT_EQ(found.workingChannels, 24u);
    EXPECT_EQ(found.messageChannels, 8u); // two for each of four NVLinks
    CheckRoom(cluster, cluster.GetGpus(), 80);
    // Three and two of them have 160 and 80 GB/s.
    for (const uint32_t n : {2u, 3u})
    {
        const std::vector<VertexId> some(cluster.GetGpus().begin(), cluster.GetGpus().begin() + n);
        const auto ring = Search(cluster, some, 80).ring;
        EXPECT_DOUBLE_EQ(ring.channels * ring.intraGBps, (n - 1) * 80.0) << n;
    }
}

TEST(RingSearch, RelaysNeverShareAConnection)
{
    // Meshes that lack NVLinks, on which third GPUs pass chunks on.
    uint64_t relayed = 0;
    for (uint32_t seed = 0; seed < 300; ++seed)
    {
        std::mt19937 random(seed);
        const uint32_t n = 3 + random() % 6;
        Cluster cluster("mesh");
        const auto gpus = AddServerVertices(cluster, 0, MakeGpu("A100-SXM4-80GB"), n);
        const auto cpus = AddServerVertices(cluster, 0, MakeCpu(16e9), 1);
        for (uint32_t a = 0; a < n; ++a)
        {
            AddPcieLink(cluster, gpus[a], cpus[0], 4);
            for (uint32_t b = a + 1; b < n; ++b)
            {
                if (random() % 3 > 0)
                {
                    const double rate = 25e9 * (1 + random() % 4);
                    AddDefaultLink(cluster, gpus[a], gpus[b], LinkTechnology::NVLINK, rate, 3);
                }
            }
        }
        const Paths paths(cluster);
        for (const Collective collective : {Collective::ALL_REDUCE, Collective::BROADCAST})
        {
            CollectiveRequest request;
            request.collective = collective;
            request.algorithm = "ring";
            request.bytes = 9973;
            request.chunkBytes = 1000;
            request.channels = 1 + random() % 4;
            request.vertices = gpus;
            const auto program = MakeProgram(cluster, paths, request);
            ASSERT_EQ(CheckProgram(program, request), "") << seed;
            for (const RankProgram& rank : program.ranks)
            {
                relayed += rank.blocks.size() > request.channels ? 1 : 0;
            }
        }
    }
    EXPECT_GT(relayed, 300u);
}

TEST(RingSearch, NeedsNoNic)
{
    const Cluster cluster = MakeMesh(4);
    for (const uint32_t capability : {70, 80, 90, 100, 120})
    {
        EXPECT_GT(Search(cluster, cluster.GetGpus(), capability).ring.channels, 0u) << capability;
    }
}

// What NCCL takes two CPUs to carry depends on who made them and on its version, so that rings
// over two sockets are as fast as it believes.
TEST(RingSearch, TakesLinksBetweenCpusAsNcclDoes)
{
    const auto find = [](CpuVendor cpu, double bytesPerSecond, uint32_t version) {
        Cluster cluster("sockets");
        const auto gpus = AddServerVertices(cluster, 0, MakeGpu("A100-SXM4-80GB"), 2);
        const auto cpus = AddServerVertices(cluster, 0, MakeCpu(0, true, cpu), 2);
        AddPcieLink(cluster, gpus[0], cpus[0], 4);
        AddPcieLink(cluster, gpus[1], cpus[1], 4);
        AddDefaultLink(cluster, cpus[0], cpus[1], LinkTechnology::CPU_INTERCONNECT, bytesPerSecond);
        TransportRules rules;
        rules.version = version;
        const Paths paths(cluster);
        const auto ring = SearchChannels(cluster, paths, gpus, 80, cpu, rules).ring;
        return ring.channels * ring.intraGBps;
    };
    for (const double raw : {16e9, 64e9})
    {
        EXPECT_DOUBLE_EQ(find(CpuVendor::AMD, raw, 230), 15) << raw;
        EXPECT_DOUBLE_EQ(find(CpuVendor::AMD, raw, 218), 24) << raw;
        EXPECT_DOUBLE_EQ(find(CpuVendor::INTEL, raw, 225), 10) << raw;
        EXPECT_DOUBLE_EQ(find(CpuVendor::INTEL, raw, 217), 9) << raw;
    }
    EXPECT_DOUBLE_EQ(find(CpuVendor::INTEL, 64e9, 226), 24);
    EXPECT_DOUBLE_EQ(find(CpuVendor::INTEL, 16e9, 226), 15);
    EXPECT_DOUBLE_EQ(find(CpuVendor::INTEL, 6e9, 226), 6);
}

TEST(RingSearch, SixteenNics)
{
    const Cluster cluster = MakeSixteenNics(2);
    const NicTable nics(cluster);
    // Each GPU has two NICs of its own, and channels take them in turn.
    std::map<VertexId, uint32_t> shares;
    for (const VertexId gpu : cluster.GetGpus())
    {
        EXPECT_EQ(nics.CountNics(gpu), 2u);
        EXPECT_EQ(nics.Get(gpu, 0), cluster.GetNic(gpu));
        EXPECT_EQ(nics.Get(gpu, 2), nics.Get(gpu, 0));
        ++shares[nics.Get(gpu, 0)];
        ++shares[nics.Get(gpu, 1)];
    }
    EXPECT_EQ(shares.size(), 32u);
    const auto found = Search(cluster, cluster.GetGpus(), 80);
    EXPECT_EQ(found.ring.channels, 16u);
    EXPECT_DOUBLE_EQ(found.ring.interGBps, 12);
    EXPECT_EQ(found.ring.typeInter, PathType::PIX);
    EXPECT_EQ(found.networkCards, 2u);
    EXPECT_DOUBLE_EQ(found.networkGBps, 25);
    // Every NIC carries one channel outwards and one inwards, and both ends are on one rail.
    const Paths paths(cluster);
    const auto orders = MakeRingOrders(cluster, paths, cluster.GetGpus(), 16);
    std::map<VertexId, uint32_t> out;
    std::map<VertexId, uint32_t> in;
    for (uint32_t channel = 0; channel < 16; ++channel)
    {
        const auto& order = orders[channel];
        for (uint32_t i = 0; i < 16; ++i)
        {
            const VertexId a = cluster.GetGpus()[order[i]];
            const VertexId b = cluster.GetGpus()[order[(i + 1) % 16]];
            if (order[i] / 8 != order[(i + 1) % 16] / 8)
            {
                ++out[nics.Get(a, channel)];
                ++in[nics.Get(b, channel)];
                EXPECT_EQ(cluster.GetVertices()[nics.Get(a, channel)].index,
                          cluster.GetVertices()[nics.Get(b, channel)].index);
            }
        }
    }
    EXPECT_EQ(out.size(), 32u);
    EXPECT_EQ(in.size(), 32u);
}

TEST(RingSearch, OddServersTurnUnlessRingsMayLeaveTheirRails)
{
    const Cluster cluster = MakeCluster("dgx-a100", 2);
    const Paths paths(cluster);
    TransportRules rules;
    const auto turned = MakeRingOrders(cluster, paths, cluster.GetGpus(), 0, rules);
    rules.crossNic = CrossNic::ALWAYS;
    const auto straight = MakeRingOrders(cluster, paths, cluster.GetGpus(), 0, rules);
    ASSERT_EQ(turned.size(), straight.size());
    for (std::size_t channel = 0; channel < turned.size(); ++channel)
    {
        for (uint32_t i = 0; i < 8; ++i)
        {
            EXPECT_EQ(turned[channel][i], straight[channel][i]);
            EXPECT_EQ(turned[channel][15 - i], turned[channel][i] + 8);
            EXPECT_EQ(straight[channel][8 + i], straight[channel][i] + 8);
        }
    }
}

TEST(RingSearch, RingsOfGh200ThatGoBackToTheirNicAreOneForEachTwoCpus)
{
    // Between two Graces NCCL counts 6 GB/s each way. What comes by the NIC of one GPU goes back
    // from another GPU over these, so that each of 4 * 3 ordered pairs has one ring.
    const Cluster cluster = MakeCluster("quad-gh200", 2);
    const Paths paths(cluster);
    const std::vector<VertexId> gpus(cluster.GetGpus().begin(), cluster.GetGpus().begin() + 4);
    TransportRules rules;
    rules.version = 223;
    const auto search = [&](CrossNic crossNic) {
        rules.crossNic = crossNic;
        return SearchRings(ServerLinks(cluster, paths, gpus, true, 90, CpuVendor::ARM, rules),
                           false,
                           90);
    };
    const ServerRings back = search(CrossNic::NEVER);
    EXPECT_DOUBLE_EQ(back.gigabytesPerSecond, 6);
    ASSERT_EQ(back.orders.size(), 12u);
    std::set<std::pair<uint32_t, uint32_t>> ends;
    for (const auto& order : back.orders)
    {
        ends.insert({order.front(), order.back()});
        EXPECT_NE(order.front(), order.back());
    }
    EXPECT_EQ(ends.size(), 12u);
    EXPECT_EQ(search(CrossNic::RAILS).orders.size(), 4u);
    // From 2.28 on the GPU beside the NIC hands on what the others send, over NVLink.
    rules.version = 228;
    EXPECT_EQ(search(CrossNic::NEVER).orders.size(), 4u);
}

TEST(RingSearch, RingsThatGoBackToTheirNicLoadAllNicsAlike)
{
    for (const char* preset : {"dgx-a100", "dgx-h100", "hgx-a100-4gpu", "hgx-h100-4gpu"})
    {
        const Cluster cluster = MakeCluster(preset, 2);
        const Paths paths(cluster);
        const auto n = static_cast<uint32_t>(cluster.GetGpus().size() / 2);
        const std::vector<VertexId> gpus(cluster.GetGpus().begin(), cluster.GetGpus().begin() + n);
        const uint32_t capability = FindComputeCapability(cluster.GetVertices()[gpus[0]].model);
        TransportRules rules;
        const auto search = [&]() {
            return SearchRings(
                ServerLinks(cluster, paths, gpus, true, capability, CpuVendor::AMD, rules),
                false,
                capability);
        };
        const ServerRings usual = search();
        rules.crossNic = CrossNic::NEVER;
        const ServerRings back = search();
        EXPECT_EQ(back.orders.size(), usual.orders.size()) << preset;
        // Eight rings that go back over NVLink pass every H100, which has 18 * 20.6 GB/s for them.
        const bool isLess = preset == std::string("dgx-h100");
        EXPECT_EQ(back.gigabytesPerSecond, isLess ? 45 : usual.gigabytesPerSecond) << preset;
        const NicTable nics(cluster, true);
        std::map<VertexId, int> balance;
        for (uint32_t channel = 0; channel < back.orders.size(); ++channel)
        {
            ++balance[nics.Get(gpus[back.orders[channel].front()], channel)];
            --balance[nics.Get(gpus[back.orders[channel].back()], channel)];
        }
        for (const auto& [nic, difference] : balance)
        {
            EXPECT_EQ(difference, 0) << preset << ", NIC " << nic;
        }
    }
}

TEST(RingSearch, HeadsOfNvlsHaveNicsOfTheirOwnHoweverRingsLeave)
{
    const Cluster cluster = MakeCluster("dgx-h100", 2);
    const Paths paths(cluster);
    TransportRules rules;
    rules.crossNic = CrossNic::NEVER;
    const ChannelSearch search =
        SearchChannels(cluster, paths, cluster.GetGpus(), 90, CpuVendor::INTEL, rules);
    EXPECT_EQ(search.ring.typeInter, PathType::PXN);
    EXPECT_EQ(search.nvls.typeInter, PathType::PIX);
}

TEST(RingSearch, LeavesRoomOnEveryLink)
{
    for (const char* preset : {"dgx1-v100", "dgx2", "pcie-v100x4", "pcie-v100x8", "titanxp-pcie"})
    {
        const Cluster cluster = MakeCluster(preset, 1);
        for (std::size_t n = 2; n <= cluster.GetGpus().size(); ++n)
        {
            CheckRoom(cluster,
                      {cluster.GetGpus().begin(), cluster.GetGpus().begin() + n},
                      preset == std::string("titanxp-pcie") ? 61 : 70);
        }
    }
}
