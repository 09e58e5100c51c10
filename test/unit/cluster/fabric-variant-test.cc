/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-fabric-table.h"
#include "ns3/proteus-fabric-variant.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

FabricVariant
Parse(const std::string& text)
{
    return ParseFabricVariant(text, FabricOptions());
}

std::string
Message(const std::string& text)
{
    try
    {
        Parse(text);
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
    return "";
}

} // namespace

TEST(FabricVariant, IsRead)
{
    const FabricVariant plain = Parse("fat-tree");
    EXPECT_EQ(plain.name, "fat-tree");
    EXPECT_EQ(plain.fabric.kind, "fat-tree");
    EXPECT_EQ(plain.fabric.oversubscription, 1);
    EXPECT_EQ(plain.technology, "");
    EXPECT_EQ(plain.routing, "Ecmp");
    const FabricVariant all = Parse("leaf-spine:2.5+roce+adaptive+rails=2");
    EXPECT_EQ(all.name, "leaf-spine 2.5:1 2 rails");
    EXPECT_EQ(all.fabric.oversubscription, 2.5);
    EXPECT_EQ(all.technology, "roce");
    EXPECT_EQ(all.routing, "Adaptive");
    EXPECT_EQ(all.rails, 2u);
    EXPECT_EQ(Parse("leaf-spine:5:2").fabric.oversubscription, 2.5);
    EXPECT_EQ(Parse("leaf-spine:250%").name, "leaf-spine 2.5:1");
    EXPECT_EQ(Parse("single-rail").rails, 1u);
    EXPECT_EQ(Parse("single-rail").fabric.kind, "rail-optimised");

    EXPECT_NE(Message("").find("empty"), std::string::npos);
    EXPECT_NE(Message("ring").find("leaf-spine"), std::string::npos);
    EXPECT_NE(Message("nvlink-domain").find("leaf-spine"), std::string::npos);
    EXPECT_NE(Message("leaf-spine:0.5").find("from 1 on"), std::string::npos);
    EXPECT_NE(Message("leaf-spine:2x").find("from 1 on"), std::string::npos);
    EXPECT_NE(Message("leaf-spine+ethernet").find("roce"), std::string::npos);
    EXPECT_NE(Message("leaf-spine+rails=0").find("from 1 on"), std::string::npos);
}

TEST(FabricVariant, UsualOnesAreDistinctAndCanBeBuilt)
{
    std::set<std::string> names;
    for (const std::string& text : GetUsualFabricVariants())
    {
        SCOPED_TRACE(text);
        const FabricVariant variant =
            ParseFabricVariant(text, FitFabricOptions(FabricOptions(), 4));
        const Cluster cluster = MakeVariantCluster("dgx-h100", 4, variant);
        EXPECT_EQ(cluster.GetGpus().size(), 32u);
        EXPECT_TRUE(names.insert(cluster.GetName() + variant.routing).second);
    }
}

// A leaf has as many cables up as it has down over the oversubscription, each of the rate of a NIC.
TEST(FabricVariant, UplinksAreNoSlowerThanNics)
{
    const auto spines = [](const std::string& text, const std::string& preset, uint32_t servers) {
        return FitSpines(ParseFabricVariant(text, FitFabricOptions(FabricOptions(), servers)),
                         preset)
            .fabric.spines;
    };
    EXPECT_EQ(spines("leaf-spine", "dgx-h100", 4), 4u);         // 16 cables up
    EXPECT_EQ(spines("leaf-spine:4", "dgx-h100", 4), 4u);       // 4
    EXPECT_EQ(spines("leaf-spine:4", "dgx-h100", 2), 2u);       // 2
    EXPECT_EQ(spines("leaf-spine", "titanxp-pcie", 2), 1u);     // 1
    EXPECT_EQ(spines("leaf-spine:4", "titanxp-pcie", 2), 1u);   // a quarter of one
    EXPECT_EQ(spines("rail-optimised", "dgx-h100", 2), 2u);     // 2 servers on each rail
    EXPECT_EQ(spines("leaf-spine+rails=1", "dgx-h100", 4), 2u); // 2 servers of one NIC
    const Cluster cluster = MakeVariantCluster(
        "titanxp-pcie",
        2,
        FitSpines(ParseFabricVariant("leaf-spine", FitFabricOptions(FabricOptions(), 2)),
                  "titanxp-pcie"));
    EXPECT_EQ(CountNetwork(cluster).ports, 2u + 2 + 2); // NICs, leaves up, the spine
}

// With nothing changed the cluster is the one of the preset.
TEST(FabricVariant, IsThePresetWhereNothingIsChanged)
{
    for (const std::string preset : {"dgx-a100", "dgx1-v100", "hgx-b200", "titanxp-pcie"})
    {
        SCOPED_TRACE(preset);
        FabricOptions fabric;
        fabric.kind = "leaf-spine";
        fabric.oversubscription = 2;
        fabric.serversPerLeaf = 2;
        const Cluster expected = MakeCluster(preset, 4, fabric);
        const Cluster cluster =
            MakeVariantCluster(preset, 4, ParseFabricVariant("leaf-spine:2", fabric));
        ASSERT_EQ(cluster.GetVertices().size(), expected.GetVertices().size());
        ASSERT_EQ(cluster.GetLinks().size(), expected.GetLinks().size());
        for (std::size_t i = 0; i < cluster.GetVertices().size(); ++i)
        {
            EXPECT_EQ(cluster.GetVertices()[i].name, expected.GetVertices()[i].name);
            EXPECT_EQ(cluster.GetVertices()[i].server, expected.GetVertices()[i].server);
        }
        for (std::size_t i = 0; i < cluster.GetLinks().size(); ++i)
        {
            EXPECT_EQ(cluster.GetLinks()[i].a, expected.GetLinks()[i].a);
            EXPECT_EQ(cluster.GetLinks()[i].b, expected.GetLinks()[i].b);
            EXPECT_EQ(cluster.GetLinks()[i].bytesPerSecond, expected.GetLinks()[i].bytesPerSecond);
            EXPECT_EQ(cluster.GetLinks()[i].technology, expected.GetLinks()[i].technology);
        }
    }
}

TEST(FabricVariant, RailsAndTechnology)
{
    const Cluster single = MakeVariantCluster("dgx-a100", 2, Parse("single-rail"));
    for (const VertexId gpu : single.GetGpus())
    {
        EXPECT_EQ(single.GetVertices()[single.GetNic(gpu)].index, 0u);
    }
    EXPECT_EQ(CountNetwork(single).switches, 1u + 4); // one rail and the spines above it
    const Cluster roce = MakeVariantCluster("dgx-a100", 2, Parse("single-switch+roce"));
    for (const Link& link : roce.GetLinks())
    {
        EXPECT_NE(link.technology, LinkTechnology::INFINIBAND);
    }
    EXPECT_THROW(MakeVariantCluster("dgx-a100", 2, Parse("fat-tree+rails=9")),
                 std::invalid_argument);
    EXPECT_THROW(MakeVariantCluster("dgx-a100", 1, Parse("fat-tree")), std::invalid_argument);
    EXPECT_THROW(MakeVariantCluster("dgx", 2, Parse("fat-tree")), std::invalid_argument);
}

// Fewer NICs than places are spread over a server.
TEST(FabricVariant, NicsAreSpread)
{
    const std::map<uint32_t, std::vector<uint32_t>> gpus{{1, {0}},
                                                         {2, {0, 4}},
                                                         {3, {0, 3, 6}},
                                                         {4, {0, 2, 4, 6}},
                                                         {8, {0, 1, 2, 3, 4, 5, 6, 7}}};
    for (const auto& [rails, places] : gpus)
    {
        const Cluster cluster =
            MakeVariantCluster("dgx-h100",
                               2,
                               Parse("single-switch+rails=" + std::to_string(rails)));
        for (uint32_t server = 0; server < 2; ++server)
        {
            for (uint32_t i = 0; i < places.size(); ++i)
            {
                const std::string name = "n" + std::to_string(server) + ".nic" + std::to_string(i);
                const VertexId nic = cluster.FindVertex(name);
                EXPECT_EQ(cluster.GetVertices()[nic].index, i);
                EXPECT_EQ(cluster.GetNic(cluster.GetGpus()[8 * server + places[i]]), nic) << name;
            }
        }
    }
}

// Al-Fares et al. 2008: k-port switches, k^3 / 4 hosts, 5 k^2 / 4 switches, as many links on each
// of three levels as hosts.
TEST(FabricVariant, BillOfAFatTree)
{
    for (const uint32_t k : {4u, 8u})
    {
        FabricOptions fabric;
        fabric.kind = "fat-tree";
        fabric.switchPorts = k;
        const uint32_t hosts = k * k * k / 4;
        const NetworkBill bill =
            CountNetwork(MakeHostCluster(hosts,
                                         fabric,
                                         LinkTechnology::ROCE,
                                         12.5e9,
                                         1000000,
                                         DefaultFraming(LinkTechnology::ROCE)));
        EXPECT_EQ(bill.switches, 5 * k * k / 4);
        EXPECT_EQ(bill.cables, 3 * hosts);
        EXPECT_EQ(bill.ports, 5 * hosts);
        EXPECT_EQ(bill.largestSwitch, k);
    }
}

// Links between switches are bundles.
TEST(FabricVariant, BillOfLeafAndSpine)
{
    const std::map<std::string, uint64_t> uplinks{{"leaf-spine", 32},
                                                  {"leaf-spine:2", 16},
                                                  {"leaf-spine:4", 8}};
    for (const auto& [text, cables] : uplinks)
    {
        const NetworkBill bill = CountNetwork(MakeVariantCluster("dgx-a100", 8, Parse(text)));
        EXPECT_EQ(bill.switches, 2u + 4);
        EXPECT_EQ(bill.cables, 64 + 2 * cables);
        EXPECT_EQ(bill.ports, 64 + 4 * cables);
        EXPECT_EQ(bill.largestSwitch, 32 + cables);
    }
    EXPECT_EQ(CountNetwork(MakeCluster("dgx-a100", 1)).switches, 0u);
    EXPECT_EQ(FitFabricOptions(FabricOptions(), 4).serversPerLeaf, 2u);
    EXPECT_EQ(FitFabricOptions(FabricOptions(), 2).serversPerLeaf, 1u);
    EXPECT_EQ(FitFabricOptions(FabricOptions(), 64).serversPerLeaf, 4u);
    EXPECT_EQ(FitFabricOptions(FabricOptions(), 64).serversPerGroup, 32u);
    EXPECT_EQ(FitFabricOptions(FabricOptions(), 4).serversPerGroup, 4u);
    // Rails without oversubscription: as many uplinks as NICs.
    const NetworkBill rails = CountNetwork(MakeVariantCluster(
        "dgx-a100",
        4,
        ParseFabricVariant("rail-optimised", FitFabricOptions(FabricOptions(), 4))));
    EXPECT_EQ(rails.switches, 8u + 4);
    EXPECT_EQ(rails.cables, 32u + 32);
    EXPECT_EQ(rails.largestSwitch, 8u);
}

namespace
{

std::vector<FabricRow>
MakeRows()
{
    FabricRow first;
    first.fabric = "rail-optimised";
    first.technology = "infiniband";
    first.routing = "Ecmp";
    first.iterationS = 0.2;
    first.tokensPerS = 12345.6;
    first.exposedS = 0.01;
    first.busiest = 0.5;
    first.bill = {12, 128, 96, 48};
    FabricRow second = first;
    second.fabric = "leaf-spine 4:1";
    second.technology = "roce";
    second.routing = "Adaptive";
    second.iterationS = 0.25;
    second.bill.ports = 64;
    second.busiest.reset();
    return {first, second};
}

std::string
Write(const std::vector<FabricRow>& rows, FabricTableFormat format)
{
    std::ostringstream out;
    WriteFabricTable(rows, format, out);
    return out.str();
}

nlohmann::json
WriteJson(const std::vector<FabricRow>& rows)
{
    std::ostringstream out;
    WriteFabricJson(rows, {{"nodes", "4"}}, "SIGINT", {"one"}, out);
    return nlohmann::json::parse(out.str());
}

} // namespace

TEST(FabricTable, FormatsSayTheSame)
{
    const std::vector<FabricRow> rows = MakeRows();
    const nlohmann::json file = WriteJson(rows);
    EXPECT_EQ(file["configuration"]["nodes"], "4");
    EXPECT_EQ(file["partial"], "ended by SIGINT");
    EXPECT_EQ(file["notes"], nlohmann::json({"one"}));
    const nlohmann::json& json = file["fabrics"];
    ASSERT_EQ(json.size(), 2u);
    EXPECT_EQ(json[0]["relative"], 1.0);
    EXPECT_EQ(json[1]["relative"], 1.25);
    EXPECT_EQ(json[1]["largest_switch_ports"], 48);
    EXPECT_EQ(json[1]["relative_cost"], 0.625); // half of the ports, 1.25 of the time
    EXPECT_TRUE(json[1]["busiest_link"].is_null());
    std::istringstream csv(Write(rows, FabricTableFormat::CSV));
    std::string head;
    std::string line;
    std::getline(csv, head);
    std::getline(csv, line);
    EXPECT_EQ(head,
              "fabric,links,routing,iteration_s,relative,tokens_per_s,exposed_communication_s,"
              "busiest_link,switches,ports,cables,largest_switch_ports,relative_cost");
    EXPECT_EQ(line, "rail-optimised,infiniband,Ecmp,0.2,1.0,12345.6,0.01,0.5,12,128,96,48,1.0");
    std::istringstream markdown(Write(rows, FabricTableFormat::MARKDOWN));
    for (int i = 0; std::getline(markdown, line); ++i)
    {
        EXPECT_EQ(std::count(line.begin(), line.end(), '|'), 14) << line;
    }
    const std::string text = Write(rows, FabricTableFormat::TEXT);
    EXPECT_NE(text.find("leaf-spine 4:1  RoCE        adaptive"), std::string::npos) << text;
    EXPECT_NE(text.find("+25.0 %"), std::string::npos) << text;
    EXPECT_NE(text.find("250.000 ms"), std::string::npos) << text;
    std::vector<FabricRow> equal = rows;
    equal[1].iterationS = equal[0].iterationS * 0.99999;
    EXPECT_EQ(Write(equal, FabricTableFormat::TEXT).find("-0.0"), std::string::npos);
    equal[1].iterationS = equal[0].iterationS * 0.9;
    EXPECT_NE(Write(equal, FabricTableFormat::TEXT).find("-10.0 %"), std::string::npos);
}

TEST(FabricTable, TokensAreLeftOutWhereUnknown)
{
    std::vector<FabricRow> rows = MakeRows();
    for (FabricRow& row : rows)
    {
        row.tokensPerS = 0;
    }
    EXPECT_EQ(Write(rows, FabricTableFormat::TEXT).find("Tokens"), std::string::npos);
    EXPECT_TRUE(WriteJson(rows)["fabrics"][0]["tokens_per_s"].is_null());
}
