/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../error-of.h"
#include "../temporary-file.h"

#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-flow-csv.h"
#include "ns3/proteus-htsim-flows.h"
#include "ns3/proteus-htsim-topology.h"
#include "ns3/proteus-warning.h"

#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// Two pods of four hosts, links up from tier 1 of half the rate and in pairs.
const std::string THREE_TIERS = "# a comment\n"
                                "Nodes 8\n"
                                "Tiers 3\n"
                                "Podsize 4\n"
                                "\n"
                                "Tier 0\n"
                                "Downlink_speed_Gbps 200\n"
                                "Radix_Down 2\n"
                                "Radix_Up 2\n"
                                "Downlink_Latency_ns 1000\n"
                                "Switch_Latency_ns 30\n"
                                "Tier 1\n"
                                "downlink_speed_gbps 200\n"
                                "Radix_Down 2\n"
                                "Radix_Up 4\n"
                                "Downlink_Latency_ns 2000\n"
                                "Switch_Latency_ns 50\n"
                                "Oversubscribed 1\n"
                                "Bundle 1\n"
                                "Tier 2\n"
                                "Downlink_speed_Gbps 100\n"
                                "Radix_Down 4\n"
                                "Downlink_Latency_ns 4000\n"
                                "Switch_Latency_ns 70\n"
                                "Bundle 2\n";

const std::string TWO_TIERS = "Nodes 8\n"
                              "Tiers 2\n"
                              "Podsize 8\n"
                              "Tier 0\n"
                              "Downlink_speed_Gbps 100\n"
                              "Radix_Down 4\n"
                              "Radix_Up 2\n"
                              "Downlink_Latency_ns 1000\n"
                              "Oversubscribed 2\n"
                              "Tier 1\n"
                              "Downlink_speed_Gbps 100\n"
                              "Radix_Down 2\n"
                              "Downlink_Latency_ns 500\n";

const std::string MATRIX = "Nodes 8\n"
                           "Connections 4\n"
                           "Triggers 2\n"
                           "7->1 id 1 start 0 size 2000000 send_done_trigger 1\n"
                           "7->0 id 2 trigger 1 size 1000 recv_done_trigger 2\n"
                           "3->0 start 40.000000 size 250000 recv_done_trigger 2\n"
                           "5->6 id 4 trigger 2 size 8\n"
                           "trigger id 1 oneshot\n"
                           "trigger id 2 barrier count 2\n";

Cluster
ReadTopology(const std::string& text)
{
    std::istringstream input(text);
    return ReadHtsimTopology(input, "t.topo");
}

std::vector<FlowSpec>
ReadMatrix(const std::string& text)
{
    std::istringstream input(text);
    TextReader reader(input, "m.cm");
    std::string first;
    reader.ReadLine(first);
    return ReadHtsimFlows(reader, first, 8);
}

/// The sentences that a reader warns of.
std::vector<std::string>
WarningsOf(const std::function<void()>& read)
{
    std::vector<std::string> warnings;
    const WarningListener listener([&warnings](const std::string& text) {
        warnings.push_back(text);
        return true;
    });
    read();
    return warnings;
}

/// @return what a text without one line, or with another in its place, ends with
std::string
TopologyErrorOf(const std::string& text, const std::string& what, const std::string& with)
{
    return ErrorOf([&] { ReadTopology(Exchange(text, what, with)); });
}

std::string
MatrixErrorOf(const std::string& what, const std::string& with)
{
    return ErrorOf([&] { ReadMatrix(Exchange(MATRIX, what, with)); });
}

} // namespace

TEST(HtsimTopology, JoinsThreeTiersAsHtsimDoes)
{
    const Cluster cluster = ReadTopology(THREE_TIERS);
    ASSERT_EQ(cluster.GetGpus().size(), 8u);
    EXPECT_EQ(cluster.GetNServers(), 8u);
    // 4 of tier 0, 2 of tier 1 in each of 2 pods, 2 for each of the 2 of a pod.
    EXPECT_EQ(cluster.GetVertices().size(), 8u + 4u + 4u + 4u);
    std::map<std::pair<std::string, std::string>, int> links;
    std::map<double, int> ofRate;
    for (const Link& link : cluster.GetLinks())
    {
        ++links[{cluster.GetVertices()[link.a].name, cluster.GetVertices()[link.b].name}];
        ++ofRate[link.bytesPerSecond];
    }
    EXPECT_EQ(ofRate, (std::map<double, int>{{25e9, 8 + 4 * 2}, {12.5e9, 4 * 4}}));
    EXPECT_EQ(links.count({"host3", "tor1"}), 1u);
    EXPECT_EQ(links.count({"tor2", "agg2"}), 1u); // of its pod
    EXPECT_EQ(links.count({"tor2", "agg1"}), 0u);
    EXPECT_EQ((links[{"agg1", "core1"}]), 2); // a bundle
    EXPECT_EQ((links[{"agg1", "core3"}]), 2);
    EXPECT_EQ(links.count({"agg1", "core0"}), 0u);
    EXPECT_EQ((links[{"agg2", "core2"}]), 2);
}

TEST(HtsimTopology, APathHasTheWholeLatencyOfEachSwitchOfIt)
{
    const Cluster cluster = ReadTopology(THREE_TIERS);
    std::map<std::string, int64_t> delays;
    for (const Link& link : cluster.GetLinks())
    {
        delays[cluster.GetVertices()[link.b].name.substr(0, 3)] = link.delayPs;
    }
    const int64_t oneWay = delays["tor"] + delays["agg"] + delays["cor"];
    EXPECT_EQ(2 * oneWay, 2 * (1000 + 2000 + 4000) * 1000 + (2 * 30 + 2 * 50 + 70) * 1000);
}

TEST(HtsimTopology, JoinsTwoTiers)
{
    const Cluster cluster = ReadTopology(TWO_TIERS);
    EXPECT_EQ(cluster.GetVertices().size(), 8u + 2u + 2u);
    EXPECT_EQ(cluster.GetLinks().size(), 8u + 4u);
}

TEST(HtsimTopology, NamesQueuesThatItDoesNotRead)
{
    const auto warnings =
        WarningsOf([] { ReadTopology(Exchange(TWO_TIERS, "Radix_Up", "Queue_Up 100\nRadix_Up")); });
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_EQ(warnings[0].find("t.topo:7: queue_up is not read"), 0u) << warnings[0];
}

TEST(HtsimTopology, SaysWhatIsWrongAndWhere)
{
    const auto expect =
        [](const std::string& what, const std::string& with, const std::string& message) {
            const std::string error = TopologyErrorOf(TWO_TIERS, what, with);
            EXPECT_EQ(error.find(message), 0u) << with << " gives: " << error;
        };
    expect("Nodes 8", "Nodes 0", "t.topo:1: there must be a line 'nodes N', N above 0");
    expect("Nodes 8", "", "t.topo:13: there must be a line 'nodes N'");
    expect("Nodes 8", "Nodes 8.5", "t.topo:1: Nodes must be a whole number");
    expect("Nodes 8", "Nodes 8 9", "t.topo:1: 3 words");
    expect("Nodes 8", "Nodes 9", "t.topo:3: nodes and podsize: 9 is no multiple of 8");
    expect("Nodes 8", "Nodes 16", "t.topo:3: nothing joins the 2 pods");
    expect("Tiers 2", "Tiers 4", "t.topo:2: there are topologies of 2 and 3 tiers");
    expect("Tiers 2", "Tiers 3", "t.topo:13: there is no tier 2");
    expect("Radix_Down 4", "Radix_Dwn 4", "t.topo:6: 'Radix_Dwn' is no key of a topology: did you");
    expect("Radix_Down 4", "Radix_Down 3", "t.topo:3: podsize and radix_down of tier 0");
    expect("Radix_Down 4", "Radix_Up 4", "t.topo:7: 'Radix_Up' is there already, in line 6");
    expect("Radix_Down 4\n", "", "t.topo:4: tier 0 needs a 'radix_down' above 0");
    expect("Radix_Up 2", "Radix_Up 0", "t.topo:7: tier 0 needs a 'radix_up' above 0");
    expect("Radix_Down 2", "Radix_Down 8", "t.topo:12: radix_down of tier 1 is 8, but from");
    expect("Radix_Down 2", "Radix_Down 2\nRadix_Up 2", "t.topo:13: nothing is above the last tier");
    expect("Oversubscribed 2",
           "Oversubscribed 4",
           "t.topo:9: a switch of tier 0 has 400 Gb/s down");
    expect("Oversubscribed 2", "Bundle 2", "t.topo:9: hosts have one link each");
    expect("Downlink_Latency_ns 500", "Bundle 1", "t.topo:10: tier 1 has no 'downlink_latency_ns'");
    expect("Tier 0\n", "", "t.topo:4: 'Downlink_speed_Gbps' must stand below a line 'Tier N'");
    expect("Tier 1\n", "Tier 0\n", "t.topo:10: tier 0 is there already");
    expect("Podsize 8", "Connections 8", "t.topo:3: this is a connection matrix of htsim");
    // Not before memory has run out.
    const std::string huge =
        Exchange(Exchange(TWO_TIERS, "Radix_Up 2", "Radix_Up 65536"), "Oversubscribed 2\n", "");
    EXPECT_EQ(ErrorOf([&] {
                  ReadTopology(Exchange(Exchange(Exchange(Exchange(huge, "Nodes 8", "Nodes 65536"),
                                                          "Podsize 8",
                                                          "Podsize 65536"),
                                                 "Radix_Down 4",
                                                 "Radix_Down 1"),
                                        "Radix_Down 2",
                                        "Radix_Down 65536"));
              }).find("t.topo:1: there would be 4295032832 links"),
              0u);
}

TEST(HtsimTopology, IsKnownByItsFirstWord)
{
    const TemporaryFile topology(".topo", THREE_TIERS);
    EXPECT_EQ(LoadCluster(topology.GetPath()).GetGpus().size(), 8u);
    const TemporaryFile matrix(".cm", MATRIX);
    EXPECT_NE(ErrorOf([&] { LoadCluster(matrix.GetPath()); }).find("proteus-flows --flows reads"),
              std::string::npos);
    const Cluster cluster = ReadTopology(TWO_TIERS);
    EXPECT_EQ(LoadFlows(matrix.GetPath(), cluster).size(), 4u);
    EXPECT_NE(ErrorOf([&] {
                  LoadFlows(topology.GetPath(), cluster);
              }).find("3: this is a topology of htsim, which --cluster reads"),
              std::string::npos);
}

TEST(HtsimFlows, ReadsConnectionsAndTriggers)
{
    const auto flows = ReadMatrix(MATRIX);
    ASSERT_EQ(flows.size(), 4u);
    EXPECT_EQ(flows[0].id, "1");
    EXPECT_EQ(flows[0].source, 7u);
    EXPECT_EQ(flows[0].destination, 1u);
    EXPECT_EQ(flows[0].bytes, 2000000u);
    EXPECT_EQ(flows[0].release, FlowRelease::ACKNOWLEDGEMENT);
    EXPECT_EQ(flows[1].after, std::vector<uint32_t>{0});
    EXPECT_EQ(flows[1].release, FlowRelease::RECEIVE);
    EXPECT_EQ(flows[2].id, "line6");
    EXPECT_EQ(flows[2].startPs, 40); // picoseconds
    EXPECT_EQ(flows[3].after, (std::vector<uint32_t>{1, 2}));
}

TEST(HtsimFlows, NamesWhatItDoesNotHeed)
{
    const auto warnings = WarningsOf([] {
        ReadMatrix(Exchange(Exchange(Exchange(MATRIX, "Nodes 8", "Nodes 7"), "7->1", "2->1 prio 3"),
                            "7->0",
                            "2->0"));
    });
    ASSERT_EQ(warnings.size(), 2u);
    EXPECT_EQ(warnings[0].find("m.cm:1: the matrix is of 7 nodes"), 0u) << warnings[0];
    EXPECT_EQ(warnings[1].find("m.cm:4: prio is not read"), 0u) << warnings[1];
    const auto idle = WarningsOf([] {
        ReadMatrix(Exchange(Exchange(MATRIX, "Triggers 2", "Triggers 3"),
                            "trigger id 1 oneshot",
                            "trigger id 1 oneshot\ntrigger id 9 multishot"));
    });
    EXPECT_EQ(idle, std::vector<std::string>{"m.cm:9: trigger 9 starts nothing"});
}

TEST(HtsimFlows, SaysWhatIsWrongAndWhere)
{
    const auto expect =
        [](const std::string& what, const std::string& with, const std::string& message) {
            const std::string error = MatrixErrorOf(what, with);
            EXPECT_EQ(error.find(message), 0u) << with << " gives: " << error;
        };
    expect("Nodes 8", "Nodes 9", "m.cm:1: the matrix is of 9 nodes, and the cluster has 8");
    EXPECT_EQ(ErrorOf([] {
                  ReadMatrix(Exchange(Exchange(MATRIX, "Nodes 8", "Nodes 64"), "7->1", "63->1"));
              }),
              "m.cm:1: the matrix is of 64 nodes, and the cluster has 8 GPUs or hosts");
    expect("Nodes 8", "Nodes 4", "m.cm:4: there is no node 7: there are 4");
    expect("Connections 4", "Connections 5", "m.cm:2: there are 4, and 'Connections' says 5");
    expect("Triggers 2\n", "", "m.cm:8: there are 2, and 'Triggers' says nothing");
    expect("Triggers 2", "Tiers 2", "m.cm:3: this is a topology of htsim");
    expect("Triggers 2", "Trigers 2", "m.cm:3: 'Trigers' begins none of");
    expect("id 1 start", "id 0 start", "m.cm:4: the id of a connection must be above 0");
    expect("id 4", "id 2", "m.cm:7: the id 2 is used already");
    expect("size 8", "sise 8", "m.cm:7: 'sise' is no key of a connection: did you mean size?");
    expect("size 8", "", "m.cm:7: the connection has no size");
    expect("size 8", "size 0", "m.cm:7: a connection of no bytes: htsim sends without end");
    expect("size 8", "size", "m.cm:7: 'size' has no value");
    expect("size 8", "size 8 size 9", "m.cm:7: 'size' stands there twice");
    expect("size 8", "size -8", "m.cm:7: the size must be a whole number");
    expect("size 8", "size 8 start 0", "m.cm:7: a connection must have one of 'start' and");
    expect("start 0", "start 0.5", "m.cm:4: start: '0.5' is no whole number of picoseconds");
    expect("start 0", "start now", "m.cm:4: start must be a number");
    expect("start 0", "start -1", "m.cm:4: start must be a number");
    expect("5->6", "5->5", "m.cm:7: a connection from node 5 to itself");
    expect("5->6", "5->x", "m.cm:7: an end of a connection must be a whole number");
    expect("5->6", "failure switch_type", "m.cm:7: failures of links are not read");
    expect("size 8", "size 8 msg 3", "m.cm:7: messages of a connection (msg) are not read");
    expect("id 1 oneshot", "id 3 oneshot", "m.cm:5: there is no trigger 1");
    expect("id 1 oneshot", "id 2 oneshot", "m.cm:9: trigger 2 is there already, in line 8");
    expect("id 1 oneshot", "id 1 twice", "m.cm:8: 'twice': a trigger has");
    expect("id 1 oneshot", "id 1 oneshot count 2", "m.cm:8: a trigger must have");
    expect("count 2", "count 3", "m.cm:9: trigger 2 counts 3, and 2 connections fire it: it never");
    expect("count 2", "count 1", "m.cm:9: trigger 2 counts 1, and 2 connections fire it: that");
    expect("barrier count 2",
           "oneshot",
           "m.cm:9: 2 connections fire trigger 2 (oneshot), which waits");
    expect("size 2000000 send_done_trigger 1", "size 1", "m.cm:8: nothing fires trigger 1");
    expect("size 8",
           "size 8 send_done_trigger 1",
           "m.cm:8: 2 connections fire trigger 1 (oneshot)");
    expect("start 0 size 2000000",
           "trigger 1 size 1",
           "m.cm:4: the connection waits, by its triggers");
}
