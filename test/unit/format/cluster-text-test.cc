/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-bundles.h"
#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-cluster-json.h"
#include "ns3/proteus-cluster-svg.h"
#include "ns3/proteus-cluster-text.h"
#include "ns3/proteus-cluster.h"
#include "ns3/proteus-fabric-variant.h"
#include "ns3/proteus-network-cost.h"
#include "ns3/proteus-paths.h"
#include "ns3/proteus-prices-json.h"
#include "ns3/proteus-warning.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>

using namespace ns3::proteus;

namespace
{

/// @return the message of what is wrong, or an empty text
std::string
Message(const std::string& text, uint32_t servers = 0)
{
    try
    {
        LoadCluster(text, servers);
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
    return "";
}

/// @return what loading a cluster warns of
std::string
Notes(const std::string& text)
{
    std::string heard;
    const WarningListener listener([&heard](const std::string& warning) {
        heard += warning;
        return false;
    });
    LoadCluster(text);
    return heard;
}

Cluster
Make(const std::string& kind, double ratio, uint32_t servers)
{
    FabricOptions options;
    options.kind = kind;
    options.oversubscription = ratio;
    options.serversPerLeaf = 2;
    options.serversPerGroup = servers;
    options.spines = 2;
    return MakeCluster("dgx-h100", servers, options);
}

PriceTable
LoadPrices()
{
    const std::string path = PROTEUS_SOURCE_DIR "/workloads/prices.json";
    std::ifstream file(path);
    return ReadPricesJson(file, path);
}

} // namespace

TEST(ClusterText, CablesThatChangeNothingAreNamed)
{
    const std::string cause =
        ": bundles=cables has no effect: no link between two switches is of several cables";
    for (const std::string text :
         {"dgx-h100:nodes=2,bundles=cables", "dgx-h100:nodes=1,bundles=cables"})
    {
        EXPECT_EQ(Notes(text), "--cluster=" + text + cause);
    }
    EXPECT_EQ(Notes("dgx-h100:nodes=4,leafs=2,spines=2,bundles=cables"), "");
    EXPECT_EQ(Notes("dgx-h100:nodes=2,bundles=whole"), "");
    EXPECT_EQ(Message("dgx-h100:gpu=A100").find("--cluster=dgx-h100:gpu=A100: there is no data "),
              0u);
    EXPECT_NE(Message("dgx-h100:nodes=4,leafs=2,spines=0").find("from 1 to 4294967295, not '0'"),
              std::string::npos);
}

TEST(ClusterText, WhatDoesNotGoTogetherIsNamed)
{
    const std::string units = "; rates are 1e9 bytes per second and direction";
    EXPECT_EQ(Notes("dgx-h100:nodes=1,gpu=t4"),
              "--cluster=dgx-h100:nodes=1,gpu=t4: GPUs with faster NVLinks than their data sheet "
              "has (8), the first n0.gpu0: 450 GB/s in each direction, a T4 has 0 GB/s" +
                  units);
    EXPECT_EQ(Notes("dgx-h100:nodes=2,nic=8x800G"),
              "--cluster=dgx-h100:nodes=2,nic=8x800G: NICs whose network is faster than their PCI "
              "Express, which bounds them (16), the first n0.nic0: 100 GB/s and 63.0154 GB/s" +
                  units);
    for (const std::string preset : {"dgx1-v100",
                                     "dgx2",
                                     "dgx-a100",
                                     "hgx-a800",
                                     "dgx-h100",
                                     "hgx-h800",
                                     "dgx-h200",
                                     "hgx-b200",
                                     "hgx-b300",
                                     "gb200-nvl72",
                                     "gb300-nvl72",
                                     "dgx-spark",
                                     "pcie-v100x4",
                                     "pcie-v100x8",
                                     "titanxp-pcie"})
    {
        EXPECT_EQ(Notes(preset + ":nodes=2"), "");
    }
    const auto rate = [](const std::string& ratio) {
        const Cluster cluster =
            LoadCluster("dgx-h100:nodes=4,leafs=2,spines=2,oversubscription=" + ratio);
        return cluster.GetLinks().back().bytesPerSecond;
    };
    EXPECT_EQ(rate("2:1"), rate("2"));
    EXPECT_EQ(rate("200%"), rate("2"));
    EXPECT_LT(rate("2"), rate("1"));
    EXPECT_EQ(Message("dgx-h100:nodes=4,leafs=2,oversubscription=1:2"),
              "--cluster=dgx-h100:nodes=4,leafs=2,oversubscription=1:2: oversubscription must be a "
              "ratio from 1 to 1e6, such as 2:1 or 2, not '1:2'");
}

TEST(ClusterText, ChangesAPreset)
{
    const Cluster cluster = LoadCluster("dgx-h100:nodes=4,nic=4x200G-roce,leafs=2,spines=2");
    EXPECT_EQ(cluster.GetNServers(), 4u);
    EXPECT_EQ(cluster.GetGpus().size(), 32u);
    uint32_t nics = 0;
    for (const Vertex& vertex : cluster.GetVertices())
    {
        nics += vertex.kind == VertexKind::NIC ? 1 : 0;
    }
    EXPECT_EQ(nics, 16u);
    EXPECT_EQ(GetCableRate(cluster), 25e9);
    EXPECT_NO_THROW(cluster.FindVertex("leaf1"));
    EXPECT_THROW(cluster.FindVertex("leaf2"), std::invalid_argument);
    for (const Link& link : cluster.GetLinks())
    {
        EXPECT_NE(link.technology, LinkTechnology::INFINIBAND);
    }
    const Cluster infiniband = LoadCluster("dgx-a100:nic=100g-IB", 2);
    for (const Link& link : infiniband.GetLinks())
    {
        EXPECT_NE(link.technology, LinkTechnology::ROCE);
    }
    const auto rate = [](const std::string& text) { return GetCableRate(LoadCluster(text, 2)); };
    EXPECT_EQ(rate("dgx-h100:nic=400G"), 50e9);
    EXPECT_EQ(rate("dgx-h100:nic=roce"), 50e9);
    EXPECT_EQ(rate("dgx-h100:nic=2x"), 50e9);
    EXPECT_NO_THROW(LoadCluster("dgx-h100:nodes=4,fabric=fat-tree,oversubscription=2"));
    EXPECT_NO_THROW(LoadCluster("dgx-h100:nodes=4,fabric=leaf-spine,serversPerLeaf=2"));
    EXPECT_NO_THROW(LoadCluster("dgx-h100:Nodes=4,Fabric=Leaf-Spine,servers-per-leaf=2,NIC=4x"));
    EXPECT_NO_THROW(LoadCluster("dgx-h100:nodes=4,fabric=leaf-spine,servers_per_leaf=2"));
}

TEST(ClusterText, SaysWhatIsWrong)
{
    EXPECT_NE(Message("dgx-h100:nic=9x").find("--cluster=dgx-h100:nic=9x: "), std::string::npos);
    EXPECT_NE(Message("dgx-h100:nic=9x").find("9 NICs of each server"), std::string::npos);
    EXPECT_NE(Message("dgx-h100:nic=200").find("nic must be COUNTxRATEG"), std::string::npos);
    EXPECT_NE(Message("dgx-h100:nic=8x200G-").find("nic must be"), std::string::npos);
    EXPECT_NE(Message("dgx-h100:nic=0x").find("from 1"), std::string::npos);
    EXPECT_NE(Message("dgx-h100:leafs=3").find("leafs=3 for 2 servers: no leaf may be without one"),
              std::string::npos);
    EXPECT_NE(Message("dgx-h100:leafs=x").find("leafs must be a number"), std::string::npos);
    EXPECT_NE(Message("dgx-h100:leafs").find("is not KEY=VALUE"), std::string::npos);
    EXPECT_NE(Message("dgx-h100:fabric=ring").find("fabric must be one of"), std::string::npos);
    EXPECT_NE(Message("dgx-h100:spines=2")
                  .find("no key 'spines' for the fabric single-switch; "
                        "there are nodes, nic, gpu, fabric, "),
              std::string::npos);
    EXPECT_EQ(Message("dgx-h100:nodes=4,leafs=3"),
              "--cluster=dgx-h100:nodes=4,leafs=3: leafs=3: 4 servers in leafs of 2 make 2");
    EXPECT_NE(Message("dgx-h100:nodes=4,leafs=2,serversPerLeaf=1").find("say the same"),
              std::string::npos);
    EXPECT_NE(Message("dgx-h100:nodes=4,fabric=leaf-spine,serversPerLeaf=2,servers_per_leaf=4")
                  .find("servers_per_leaf stands there twice"),
              std::string::npos);
    EXPECT_NE(Message("dgx-h100:nodes=4,leafs=2,leaves=4").find("leaves stands there twice"),
              std::string::npos);
    EXPECT_NE(Message("dgx-h100:bundles=pipe").find("bundles must be one of whole, cables"),
              std::string::npos);
    EXPECT_NE(Message("dgx-h100:nodes=4", 3).find("give one of them"), std::string::npos);
    EXPECT_NE(Message("classic:titanxp").find("are taken by programs that run jobs"),
              std::string::npos);
    EXPECT_NE(Message("dgx-h100:leafs=2,fabric=torus-2d").find("belongs to leaf-spine"),
              std::string::npos);
}

TEST(Bundles, BecomeCablesOfEqualRate)
{
    const Cluster whole = Make("leaf-spine", 1, 4); // 16 NICs on a leaf, two spines
    const Cluster split = SplitBundles(whole);
    EXPECT_EQ(split.GetVertices().size(), whole.GetVertices().size());
    EXPECT_EQ(split.GetGpus(), whole.GetGpus());
    // Two leaves with two bundles of eight cables.
    EXPECT_EQ(split.GetLinks().size(), whole.GetLinks().size() + 4 * 7);
    double before = 0;
    double after = 0;
    for (const Link& link : whole.GetLinks())
    {
        before += link.bytesPerSecond;
    }
    for (const Link& link : split.GetLinks())
    {
        after += link.bytesPerSecond;
    }
    EXPECT_EQ(before, after);
    const Paths paths(split);
    EXPECT_EQ(paths.NextPorts(split.FindVertex("leaf0"), split.FindVertex("n3.nic0")).size(), 16u);
    EXPECT_EQ(CountNetwork(split).cables, CountNetwork(whole).cables);
    EXPECT_EQ(CountNetwork(split).ports, CountNetwork(whole).ports);
    EXPECT_EQ(CountPaths(split), 16u * 8);
    EXPECT_EQ(CountPaths(whole), 2u);
    // The number of spines does not change what a flow can have.
    for (const Link& link : split.GetLinks())
    {
        const auto& vertices = split.GetVertices();
        if (vertices[link.a].kind == VertexKind::SWITCH &&
            vertices[link.b].kind == VertexKind::SWITCH)
        {
            EXPECT_EQ(link.bytesPerSecond, 50e9);
        }
    }
}

TEST(Variant, DragonflyIsUsableInLists)
{
    const FabricOptions base;
    EXPECT_EQ(ParseFabricVariant("dragonfly+", base).fabric.kind, "dragonfly+");
    const FabricVariant variant = ParseFabricVariant("dragonfly+:2+roce+adaptive", base);
    EXPECT_EQ(variant.fabric.kind, "dragonfly+");
    EXPECT_EQ(variant.fabric.oversubscription, 2);
    EXPECT_EQ(variant.technology, "roce");
    EXPECT_EQ(variant.routing, "Adaptive");
    EXPECT_EQ(ParseFabricVariant("dragonfly++adaptive", base).routing, "Adaptive");
    EXPECT_THROW(ParseFabricVariant("dragonfly", base), std::invalid_argument);
    EXPECT_EQ(ParseFabricVariant("leaf-spine+cables", base).bundling, Bundling::CABLES);
}

TEST(FatTree, OversubscriptionSavesSwitchesPortsAndCables)
{
    const auto bill = [](double ratio) { return CountNetwork(Make("fat-tree", ratio, 16)); };
    const NetworkBill full = bill(1); // 128 NICs: 8 ports, 32 edges, 32 aggregations, 16 cores
    EXPECT_EQ(full.switches, 80u);
    EXPECT_EQ(full.cables, 3u * 128);
    const NetworkBill half = bill(2);
    EXPECT_EQ(half.switches, 32u + 16 + 8);
    EXPECT_EQ(half.cables, 128u + 2 * 64);
    EXPECT_EQ(half.ports, 128u + 4 * 64);
    const NetworkBill quarter = bill(4);
    EXPECT_EQ(quarter.cables, 128u + 2 * 32);
    // The capacity is what the ratio says, also where no whole number of switches has it.
    for (const double ratio : {1.0, 1.5, 2.0, 3.0, 4.0, 8.0})
    {
        const Cluster cluster = Make("fat-tree", ratio, 16);
        EXPECT_NEAR(FindBisection(cluster).share, 1 / ratio, 1e-6) << ratio;
    }
}

TEST(Bisection, OfKnownFabrics)
{
    EXPECT_NEAR(FindBisection(Make("single-switch", 1, 4)).share, 1, 1e-9);
    EXPECT_NEAR(FindBisection(Make("leaf-spine", 1, 4)).share, 1, 1e-9);
    EXPECT_NEAR(FindBisection(Make("leaf-spine", 4, 4)).share, 0.25, 1e-9);
    EXPECT_EQ(FindBisection(Make("leaf-spine", 4, 4)).division,
              "first half and second half of servers");
    EXPECT_EQ(FindBisection(Make("leaf-spine", 1, 4)).bytesPerSecond, 16 * 50e9);
    EXPECT_EQ(FindBisection(MakeCluster("dgx-h100", 1)).share, 0);
    EXPECT_EQ(CountPaths(Make("fat-tree", 1, 16)), 16u);
}

TEST(Prices, EveryUsualFabricHasABill)
{
    const PriceTable prices = LoadPrices();
    const auto sum = [&](const Cluster& cluster) {
        double price = 0;
        uint64_t cables = 0;
        uint64_t ports = 0;
        for (const BillLine& line : MakeBill(cluster, prices))
        {
            price += line.price;
            ports += line.item == "switch-port" ? line.count : 0;
            cables += line.item == "copper" || line.item == "active" || line.item == "optics"
                          ? line.count
                          : 0;
        }
        const NetworkBill bill = CountNetwork(cluster);
        EXPECT_EQ(cables, bill.cables);
        EXPECT_EQ(ports, bill.ports);
        return price;
    };
    for (const std::string& text : GetUsualFabricVariants())
    {
        EXPECT_GT(sum(MakeVariantCluster("dgx-h100",
                                         4,
                                         ParseFabricVariant(text, FitFabricOptions({}, 4)))),
                  0)
            << text;
    }
    EXPECT_LT(sum(Make("leaf-spine", 4, 8)), sum(Make("leaf-spine", 1, 8)));
    EXPECT_LT(sum(Make("fat-tree", 2, 8)), sum(Make("fat-tree", 1, 8)));
    // A rack's own cables are copper; those to the middle of a row are not.
    for (const BillLine& line : MakeBill(Make("leaf-spine", 1, 64), prices))
    {
        if (line.item == "copper")
        {
            EXPECT_GE(line.count, 64u * 8 / 2);
        }
    }
}

TEST(Prices, RentsAreThoseOfTheGpu)
{
    const PriceTable prices = LoadPrices();
    EXPECT_DOUBLE_EQ(prices.FindRent("H100-SXM5-80GB"), 4.916);
    EXPECT_THROW(prices.FindRent("TITAN-Xp"), std::invalid_argument); // nobody rents it
}

TEST(Prices, NumbersInOtherUnitsAreNamed)
{
    const auto warn = [](const std::string& layout, const std::string& reach, const char* items) {
        std::istringstream input(
            R"({"format": "proteus-prices", "version": 1, "currency": "EUR", "layout": {)" +
            layout + R"(}, "classes": [{"name": "copper", "up_to_m": )" + reach +
            R"(}, {"name": "optics"}], "items": [)" + items + "]}");
        testing::internal::CaptureStderr();
        ReadPricesJson(input, "p.json");
        return testing::internal::GetCapturedStderr();
    };
    EXPECT_EQ(warn("", "3", ""), "");
    EXPECT_EQ(warn("\"rack_width_m\": 600", "3", ""),
              "warning: p.json: /layout/rack_width_m: 600 m: usual are 0.3 to 3 m\n");
    EXPECT_EQ(warn("", "3000", ""),
              "warning: p.json: /classes/0/up_to_m: 3000 m: usual are 0.1 to 1000 m\n");
    EXPECT_EQ(warn("",
                   "3",
                   R"({"item": "nic", "gbits_per_s": 100000, "price": 1, "power_w": 1,
                       "source": "s"})"),
              "warning: p.json: /items/0/gbits_per_s: 100000 Gb/s: usual are 1 to 3200 Gb/s\n");
    EXPECT_EQ(warn("",
                   "3",
                   R"({"item": "nic", "gbits_per_s": 100, "price": 900, "power_w": 1,
                       "source": "s"},
                      {"item": "nic", "gbits_per_s": 200, "price": 800, "power_w": 1,
                       "source": "s"})"),
              "warning: p.json: /items/0/price: is more than 800 of nic at 200 Gb/s, which is "
              "faster\n");
    testing::internal::CaptureStderr();
    LoadPrices();
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Prices, WrongTablesAreRefusedWithTheirPlace)
{
    const auto message = [](const std::string& body) -> std::string {
        std::istringstream input(
            R"({"format": "proteus-prices", "version": 1, "currency": "EUR", )" + body + "}");
        try
        {
            ReadPricesJson(input, "p.json");
        }
        catch (const std::invalid_argument& error)
        {
            return error.what();
        }
        return "";
    };
    const std::string classes =
        R"("classes": [{"name": "copper", "up_to_m": 3}, {"name": "optics"}], )";
    EXPECT_EQ(message(classes + R"("items": [])"), "");
    const std::string item = R"({"item": "nic", "gbits_per_s": 200, "power_w": 1, "source": "s", )";
    EXPECT_EQ(
        message(classes + "\"items\": [" + item + R"("price": 1}, )" + item + R"("price": 2}])"),
        "p.json: /items/1: is there already, as number 0 of this list; keep one");
    EXPECT_EQ(message(classes + R"("items": [], "rents": [)"
                                R"({"gpu": "A10", "price_per_hour": 1, "source": "s"}, )"
                                R"({"gpu": "A10", "price_per_hour": 2, "source": "s"}])"),
              "p.json: /rents/1: is there already, as number 0 of this list; keep one");
    EXPECT_EQ(message(R"("items": [], "classes": [{"name": "a", "up_to_m": 3}, {"name": "a"}])"),
              "p.json: /classes/1: is there already, as number 0 of this list; keep one");
    EXPECT_NE(message(classes + R"("items": [], "rents": [{"gpu": "A10", "price_per_hour": 1, )"
                                R"("source": ""}])")
                  .find("/rents/0/source"),
              std::string::npos);
    EXPECT_NE(message(R"("items": [], "classes": [])").find("/classes: needs"), std::string::npos);
    EXPECT_NE(message(R"("items": [], "classes": [{"name": "a", "up_to_m": 3}])").find("no bound"),
              std::string::npos);
    EXPECT_NE(message(classes + R"("items": [{"item": "cable", "gbits_per_s": 1, "price": 1, )"
                                R"("power_w": 1, "source": "x"}])")
                  .find("/items/0/item: must be switch-port"),
              std::string::npos);
    EXPECT_NE(message(classes + R"("items": [{"item": "nic", "gbits_per_s": 1, "price": -1, )"
                                R"("power_w": 1, "source": "x"}])")
                  .find("/items/0/price"),
              std::string::npos);
    EXPECT_NE(message(classes + R"("items": [{"item": "nic", "gbits_per_s": 1, "price": 1, )"
                                R"("power_w": 1, "source": ""}])")
                  .find("/items/0/source"),
              std::string::npos);
    EXPECT_THROW(LoadPrices().Find("nic", 5000), std::invalid_argument);
    EXPECT_EQ(LoadPrices().Find("nic", 150).gbitsPerSecond, 200);
}

TEST(ClusterFile, WhatIsWrittenIsRead)
{
    for (const char* text :
         {"dgx-h100:nodes=4,leafs=2,nic=200G-roce", "dgx-a100:nodes=2,bundles=cables"})
    {
        const Cluster cluster = LoadCluster(text);
        std::ostringstream output;
        WriteClusterJson(cluster, output);
        std::istringstream input(output.str());
        const Cluster again = ReadClusterJson(input, "c.json");
        std::ostringstream second;
        WriteClusterJson(again, second);
        EXPECT_EQ(output.str(), second.str());
        EXPECT_EQ(CountNetwork(again).ports, CountNetwork(cluster).ports);
        std::ostringstream svg;
        WriteClusterSvg(cluster, svg);
        EXPECT_NE(svg.str().find("</svg>"), std::string::npos);
        EXPECT_NE(svg.str().find(">n0</text>"), std::string::npos);
        EXPECT_EQ(svg.str().find("nan"), std::string::npos);
    }
}
