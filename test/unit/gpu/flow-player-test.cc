/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/nstime.h"
#include "ns3/pointer.h"
#include "ns3/proteus-fabric.h"
#include "ns3/proteus-flow-order.h"
#include "ns3/proteus-flow-player.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

constexpr double RATE = 50e9;           // bytes per second
constexpr int64_t DELAY_PS = 1'000'000; // of a link
constexpr uint32_t PAYLOAD = 1000;
constexpr uint32_t OVERHEAD = 48;

/// Three hosts on a switch, acknowledgements of so many bytes.
Cluster
MakeHosts(uint32_t controlBytes)
{
    LinkFraming framing;
    framing.unitBytes = PAYLOAD;
    framing.unitHeaderBytes = OVERHEAD;
    framing.packetBytes = PAYLOAD;
    framing.packetHeaderBytes = 0;
    framing.controlBytes = controlBytes;
    framing.reverseBytes = 0;
    return MakeHostCluster(3, FabricOptions(), LinkTechnology::ROCE, RATE, DELAY_PS, framing);
}

/// A chain of two flows of one packet each, 0 to 1 and 1 to 2.
std::vector<FlowTimes>
PlayChain(const std::string& trigger,
          uint32_t controlBytes,
          FlowRelease release = FlowRelease::OF_PLAYER)
{
    FlowSpec first;
    first.id = "first";
    first.source = 0;
    first.destination = 1;
    first.bytes = PAYLOAD;
    first.release = release;
    FlowSpec second = first;
    second.id = "second";
    second.source = 1;
    second.destination = 2;
    second.after = {0};
    Ptr<Fabric> fabric = CreateObject<Fabric>();
    fabric->SetCluster(std::make_shared<const Cluster>(MakeHosts(controlBytes)));
    Ptr<FlowPlayer> player = CreateObject<FlowPlayer>();
    player->SetAttribute("Trigger", StringValue(trigger));
    player->AssignStreams(fabric, 0);
    player->Install(fabric, {first, second});
    player->Run();
    EXPECT_EQ(player->GetStatistics().repeated, 0u);
    EXPECT_EQ(player->GetStatistics().timeouts, 0u);
    const std::vector<FlowTimes> times = player->GetTimes();
    player->Dispose();
    fabric->Dispose();
    Simulator::Destroy();
    return times;
}

/// Time of a unit on a link.
int64_t
ToPs(uint32_t bytes)
{
    return static_cast<int64_t>(bytes / RATE * 1e12);
}

TEST(FlowPlayer, DependentsStartOnReceiveOrAcknowledgement)
{
    for (const uint32_t controlBytes : {64u, 256u})
    {
        // Two links each way, store and forward.
        const int64_t there = 2 * (DELAY_PS + ToPs(PAYLOAD + OVERHEAD));
        const int64_t back = 2 * (DELAY_PS + ToPs(controlBytes));
        const auto received = PlayChain("Receive", controlBytes);
        EXPECT_NEAR(received[0].receivedPs, there, 2);
        EXPECT_NEAR(received[0].acknowledgedPs, there + back, 4);
        EXPECT_EQ(received[1].startPs, received[0].receivedPs);
        const auto acknowledged = PlayChain("Acknowledgement", controlBytes);
        EXPECT_EQ(acknowledged[0].receivedPs, received[0].receivedPs);
        EXPECT_EQ(acknowledged[1].startPs, acknowledged[0].acknowledgedPs);
        // On receipt, the acknowledgement leaves first by the port that the second flow takes.
        EXPECT_EQ(acknowledged[1].receivedPs - acknowledged[1].startPs + ToPs(controlBytes),
                  received[1].receivedPs - received[1].startPs);
    }
}

TEST(FlowPlayer, AListSaysWhatOfEachFlowStartsOthers)
{
    const auto acknowledged = PlayChain("Receive", 64, FlowRelease::ACKNOWLEDGEMENT);
    EXPECT_EQ(acknowledged[1].startPs, acknowledged[0].acknowledgedPs);
    const auto received = PlayChain("Acknowledgement", 64, FlowRelease::RECEIVE);
    EXPECT_EQ(received[1].startPs, received[0].receivedPs);
}

/// Eight hosts, two at each leaf, and four spines.
Cluster
MakeLeafSpine()
{
    LinkFraming framing;
    framing.unitBytes = PAYLOAD;
    framing.unitHeaderBytes = OVERHEAD;
    framing.packetBytes = PAYLOAD;
    framing.controlBytes = 64;
    FabricOptions fabric;
    fabric.kind = "leaf-spine";
    fabric.serversPerLeaf = 2;
    fabric.spines = 4;
    return MakeHostCluster(8, fabric, LinkTechnology::ROCE, RATE, DELAY_PS, framing);
}

/// @param flows in some order @return times by id
std::map<std::string, std::tuple<int64_t, int64_t, int64_t>>
PlayOnLeafSpine(const std::vector<FlowSpec>& flows)
{
    Ptr<Fabric> fabric = CreateObject<Fabric>();
    fabric->SetCluster(std::make_shared<const Cluster>(MakeLeafSpine()));
    Ptr<FlowPlayer> player = CreateObject<FlowPlayer>();
    player->AssignStreams(fabric, 1);
    player->Install(fabric, flows);
    player->Run();
    std::map<std::string, std::tuple<int64_t, int64_t, int64_t>> times;
    for (std::size_t i = 0; i < flows.size(); ++i)
    {
        const FlowTimes& flow = player->GetTimes()[i];
        times[flows[i].id] = {flow.startPs, flow.receivedPs, flow.acknowledgedPs};
    }
    player->Dispose();
    fabric->Dispose();
    Simulator::Destroy();
    return times;
}

// Paths and turns follow from the flows, not from where they stand: several of the same ends,
// several that begin at once, and some that wait for others.
TEST(FlowPlayer, TheOrderOfTheListIsWithoutMeaning)
{
    std::vector<FlowSpec> flows;
    std::mt19937 random(1);
    for (uint32_t i = 0; i < 40; ++i)
    {
        FlowSpec flow;
        flow.id = "f" + std::to_string(i);
        flow.source = i % 4;
        flow.destination = 4 + i / 2 % 4;
        flow.bytes = 20'000 + 5'000 * (i % 3);
        flow.startPs = i % 5 == 0 ? 1'000'000 : 0;
        if (i >= 30)
        {
            flow.after = {i - 30, i - 20};
        }
        flows.push_back(flow);
    }
    const auto times = PlayOnLeafSpine(flows);
    for (uint32_t round = 0; round < 3; ++round)
    {
        std::vector<uint32_t> order(flows.size());
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        std::vector<uint32_t> placeOf(flows.size());
        for (uint32_t place = 0; place < order.size(); ++place)
        {
            placeOf[order[place]] = place;
        }
        std::vector<FlowSpec> shuffled;
        for (const uint32_t i : order)
        {
            shuffled.push_back(flows[i]);
            for (uint32_t& before : shuffled.back().after)
            {
                before = placeOf[before];
            }
        }
        EXPECT_EQ(PlayOnLeafSpine(shuffled), times) << round;
    }
}

// A ring in several steps, whose steps are told apart by what they wait for only.
TEST(FlowPlayer, IdsAreWithoutMeaning)
{
    std::vector<FlowSpec> flows;
    for (uint32_t i = 0; i < 40; ++i)
    {
        FlowSpec flow;
        flow.id = "f" + std::to_string(i);
        flow.source = i % 8;
        flow.destination = (i + 1) % 8;
        flow.bytes = 20'000;
        if (i >= 8)
        {
            flow.after = {i - 8, i - 8 + (i % 8 == 0 ? 7 : -1)};
        }
        flows.push_back(flow);
    }
    std::vector<FlowSpec> renamed = flows;
    std::mt19937 random(1);
    std::vector<std::string> ids;
    for (uint32_t i = 0; i < flows.size(); ++i)
    {
        ids.push_back("g" + std::to_string(i));
    }
    std::shuffle(ids.begin(), ids.end(), random);
    for (uint32_t i = 0; i < flows.size(); ++i)
    {
        renamed[i].id = ids[i];
    }
    EXPECT_EQ(SortFlows(flows), SortFlows(renamed));
    const auto times = PlayOnLeafSpine(flows);
    const auto others = PlayOnLeafSpine(renamed);
    for (uint32_t i = 0; i < flows.size(); ++i)
    {
        EXPECT_EQ(times.at(flows[i].id), others.at(ids[i])) << i;
    }
}

} // namespace
