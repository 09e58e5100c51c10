/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../error-of.h"
#include "cluster-parts.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-comma-list.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// @return rate of the NVLink between two GPUs, 0 where there is none
double
NvlinkRate(const Cluster& cluster, VertexId a, VertexId b)
{
    for (const Port& port : cluster.GetPorts(a))
    {
        if (port.neighbor == b)
        {
            return cluster.GetLinks()[port.link].bytesPerSecond;
        }
    }
    return 0;
}

} // namespace

TEST(Presets, Dgx1V100)
{
    const Cluster cluster = MakeCluster("dgx1-v100", 1);
    EXPECT_EQ(Count(cluster, VertexKind::GPU), 8u);
    EXPECT_EQ(Count(cluster, VertexKind::NVSWITCH), 0u);
    EXPECT_EQ(Count(cluster, VertexKind::PCIE_SWITCH), 4u);
    EXPECT_EQ(Count(cluster, VertexKind::CPU), 2u);
    EXPECT_EQ(Count(cluster, VertexKind::NIC), 4u);
    EXPECT_EQ(Count(cluster, VertexKind::SWITCH), 0u);
    // The cube mesh joins each GPU to four others: 16 pairs.
    EXPECT_EQ(Count(cluster, LinkTechnology::NVLINK), 16u);
    EXPECT_EQ(Count(cluster, LinkTechnology::PCIE), 8u + 4 + 4);
    EXPECT_EQ(Count(cluster, LinkTechnology::CPU_INTERCONNECT), 1u);

    const auto& gpus = cluster.GetGpus();
    for (VertexId gpu : gpus)
    {
        EXPECT_DOUBLE_EQ(SummedRate(cluster, gpu, LinkTechnology::NVLINK), 6 * 25e9);
        EXPECT_DOUBLE_EQ(SummedRate(cluster, gpu, LinkTechnology::PCIE), 15753846154);
        EXPECT_EQ(cluster.GetVertices()[gpu].model, "V100-SXM2-32GB");
    }
    // The rings of doubled links, as NCCL finds them, and the two quads.
    for (auto [a, b] : {std::pair{0, 3}, {3, 2}, {2, 1}, {1, 5}, {5, 6}, {6, 7}, {7, 4}, {4, 0}})
    {
        EXPECT_DOUBLE_EQ(NvlinkRate(cluster, gpus[a], gpus[b]), 50e9) << a << " " << b;
    }
    for (auto [a, b] : {std::pair{0, 1}, {0, 2}, {1, 3}, {2, 6}, {3, 7}, {4, 5}, {4, 6}, {5, 7}})
    {
        EXPECT_DOUBLE_EQ(NvlinkRate(cluster, gpus[a], gpus[b]), 25e9) << a << " " << b;
    }
}

TEST(Presets, DgxA100)
{
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    EXPECT_EQ(Count(cluster, VertexKind::GPU), 8u);
    EXPECT_EQ(Count(cluster, VertexKind::NVSWITCH), 6u);
    EXPECT_EQ(Count(cluster, VertexKind::PCIE_SWITCH), 4u);
    EXPECT_EQ(Count(cluster, VertexKind::CPU), 2u);
    EXPECT_EQ(Count(cluster, VertexKind::NIC), 8u);
    EXPECT_EQ(Count(cluster, LinkTechnology::NVLINK), 8u * 6);
    EXPECT_EQ(Count(cluster, LinkTechnology::PCIE), 8u + 8 + 4);
    for (VertexId gpu : cluster.GetGpus())
    {
        // 600 GB/s in both directions together, says the data sheet.
        EXPECT_DOUBLE_EQ(SummedRate(cluster, gpu, LinkTechnology::NVLINK), 600e9 / 2);
        EXPECT_DOUBLE_EQ(SummedRate(cluster, gpu, LinkTechnology::PCIE), 31507692308);
        EXPECT_EQ(cluster.GetVertices()[gpu].model, "A100-SXM4-80GB");
    }
}

TEST(Presets, DgxH100)
{
    const Cluster cluster = MakeCluster("dgx-h100", 1);
    EXPECT_EQ(Count(cluster, VertexKind::GPU), 8u);
    EXPECT_EQ(Count(cluster, VertexKind::NVSWITCH), 4u);
    EXPECT_EQ(Count(cluster, VertexKind::PCIE_SWITCH), 8u);
    EXPECT_EQ(Count(cluster, VertexKind::CPU), 2u);
    EXPECT_EQ(Count(cluster, VertexKind::NIC), 8u);
    EXPECT_EQ(Count(cluster, LinkTechnology::NVLINK), 8u * 4);
    for (VertexId gpu : cluster.GetGpus())
    {
        EXPECT_DOUBLE_EQ(SummedRate(cluster, gpu, LinkTechnology::NVLINK), 900e9 / 2);
        EXPECT_DOUBLE_EQ(SummedRate(cluster, gpu, LinkTechnology::PCIE), 63015384615);
        EXPECT_EQ(cluster.GetVertices()[gpu].model, "H100-SXM5-80GB");
    }
    std::map<std::string, double> switches;
    for (const Vertex& vertex : cluster.GetVertices())
    {
        if (vertex.kind == VertexKind::NVSWITCH)
        {
            switches[vertex.name] =
                SummedRate(cluster, cluster.FindVertex(vertex.name), LinkTechnology::NVLINK);
        }
    }
    EXPECT_DOUBLE_EQ(switches["n0.nvswitch0"], 8 * 5 * 25e9);
    EXPECT_DOUBLE_EQ(switches["n0.nvswitch1"], 8 * 4 * 25e9);
}

TEST(Presets, NamesAndIndices)
{
    FabricOptions options;
    options.kind = "leaf-spine";
    options.serversPerLeaf = 1;
    options.spines = 3;
    const Cluster cluster = MakeCluster("dgx-a100", 2, options);
    EXPECT_EQ(cluster.GetNServers(), 2u);
    EXPECT_EQ(cluster.GetGpus().size(), 16u);
    for (const char* name : {"n0.gpu3", "n1.nvswitch2", "n0.pcie1", "n1.cpu0", "n0.nic5"})
    {
        const Vertex& vertex = cluster.GetVertices()[cluster.FindVertex(name)];
        EXPECT_EQ(vertex.server, name[1] - '0');
        EXPECT_EQ(vertex.index, static_cast<uint32_t>(vertex.name.back() - '0'));
    }
    for (const char* name : {"leaf1", "spine2"})
    {
        EXPECT_EQ(cluster.GetVertices()[cluster.FindVertex(name)].server, -1);
    }
    // Ranks count through the servers.
    EXPECT_EQ(cluster.GetVertices()[cluster.GetGpus()[11]].name, "n1.gpu3");
    EXPECT_EQ(MakeCluster("dgx-a100", 2).GetVertices().back().name, "switch0");
}

TEST(Presets, HaveOtherNames)
{
    EXPECT_EQ(FindServerPreset("hgx-h100"), "dgx-h100");
    EXPECT_EQ(FindServerPreset("HGX_H200"), "dgx-h200");
    EXPECT_EQ(FindServerPreset("dgx-b200"), "hgx-b200");
    EXPECT_EQ(FindServerPreset("dgx-b400"), "");
    std::set<std::string> models;
    const Cluster cluster = MakeCluster("dgx-h200", 1);
    for (const VertexId gpu : cluster.GetGpus())
    {
        models.insert(cluster.GetVertices()[gpu].model);
    }
    EXPECT_EQ(models, std::set<std::string>{"H200"});
}

// A800 and H800 are their models with 8 NVLinks of 25 GB/s.
TEST(Presets, SomeHaveFewerNvlinks)
{
    const auto sum = [](const std::string& preset) {
        const Cluster cluster = MakeCluster(preset, 1);
        double bytesPerSecond = 0;
        for (const Link& link : cluster.GetLinks())
        {
            const bool isOfGpu = link.a == cluster.GetGpus()[0] || link.b == cluster.GetGpus()[0];
            bytesPerSecond +=
                isOfGpu && link.technology == LinkTechnology::NVLINK ? link.bytesPerSecond : 0;
        }
        return bytesPerSecond;
    };
    EXPECT_EQ(sum("dgx-a100"), 300e9);
    EXPECT_EQ(FindServerPreset("dgx-a800"), "hgx-a800");
    EXPECT_EQ(sum("hgx-a800"), 200e9);
    EXPECT_EQ(sum("dgx-h100"), 450e9);
    EXPECT_EQ(sum("hgx-h800"), 200e9);
}

TEST(Presets, RefuseNonsense)
{
    EXPECT_EQ(ErrorOf([] { MakeCluster("dgx-2", 1); }),
              "unknown server preset 'dgx-2'; known: " + ListNames(GetServerPresets()));
    FabricOptions options;
    options.kind = "torus";
    EXPECT_EQ(ErrorOf([&] { MakeCluster("dgx-a100", 2, options); }),
              "unknown fabric 'torus'; known: " + ListNames(GetFabricKinds()));
    EXPECT_NE(ErrorOf([] { MakeCluster("dgx-a100", 0); }), "");
    EXPECT_NE(ErrorOf([] { MakeCluster("dgx-a100", MAX_SERVERS + 1); }), "");
    EXPECT_EQ(ErrorOf([] { MakeCluster("gb200-nvl72", MAX_SERVERS); }),
              "65536 servers with 1458 links each are more than 10000000 links; ask for fewer");
    options.kind = "leaf-spine";
    options.oversubscription = 0.5;
    EXPECT_NE(ErrorOf([&] { MakeCluster("dgx-a100", 2, options); }), "");
    options = FabricOptions();
    options.kind = "leaf-spine";
    options.serversPerLeaf = 0;
    EXPECT_NE(ErrorOf([&] { MakeCluster("dgx-a100", 2, options); }), "");
    options = FabricOptions();
    options.kind = "leaf-spine";
    options.spines = 0;
    EXPECT_NE(ErrorOf([&] { MakeCluster("dgx-a100", 2, options); }), "");
}

TEST(Fabrics, SingleSwitchTakesEveryNic)
{
    for (const std::string& preset : GetServerPresets())
    {
        const Cluster cluster = MakeCluster(preset, 3);
        const VertexId theSwitch = cluster.FindVertex("switch0");
        EXPECT_EQ(Count(cluster, VertexKind::SWITCH), 1u);
        EXPECT_EQ(cluster.GetPorts(theSwitch).size(), Count(cluster, VertexKind::NIC));
        EXPECT_EQ(Count(cluster, LinkTechnology::INFINIBAND) + Count(cluster, LinkTechnology::ROCE),
                  Count(cluster, VertexKind::NIC));
    }
    const std::map<std::string, double> rates{{"dgx1-v100", 12.5e9},
                                              {"dgx-a100", 25e9},
                                              {"dgx-h100", 50e9}};
    for (const auto& [preset, rate] : rates)
    {
        const Cluster cluster = MakeCluster(preset, 2);
        EXPECT_DOUBLE_EQ(
            SummedRate(cluster, cluster.FindVertex("n1.nic2"), LinkTechnology::INFINIBAND),
            rate);
    }
}

TEST(Fabrics, OversubscriptionIsTheRatioOfCapacities)
{
    for (double oversubscription : {1.0, 2.0, 4.0, 1.6})
    {
        for (uint32_t spines : {1u, 4u, 8u})
        {
            FabricOptions options;
            options.kind = "leaf-spine";
            options.oversubscription = oversubscription;
            options.serversPerLeaf = 2;
            options.spines = spines;
            const Cluster cluster = MakeCluster("dgx-a100", 6, options);
            EXPECT_EQ(Count(cluster, VertexKind::SWITCH), 3 + spines);
            for (const char* name : {"leaf0", "leaf1", "leaf2"})
            {
                double down = 0;
                double up = 0;
                uint32_t uplinks = 0;
                const VertexId leaf = cluster.FindVertex(name);
                for (const Port& port : cluster.GetPorts(leaf))
                {
                    const double rate = cluster.GetLinks()[port.link].bytesPerSecond;
                    const bool isHost =
                        cluster.GetVertices()[port.neighbor].kind == VertexKind::NIC;
                    (isHost ? down : up) += rate;
                    uplinks += isHost ? 0 : 1;
                }
                EXPECT_EQ(uplinks, spines);
                EXPECT_DOUBLE_EQ(down, 2 * 8 * 25e9);
                EXPECT_NEAR(down / up, oversubscription, 1e-9);
            }
        }
    }
}
