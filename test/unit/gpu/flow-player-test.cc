/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/nstime.h"
#include "ns3/pointer.h"
#include "ns3/proteus-fabric.h"
#include "ns3/proteus-flow-player.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <gtest/gtest.h>
#include <memory>

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
PlayChain(const std::string& trigger, uint32_t controlBytes)
{
    FlowSpec first;
    first.id = "first";
    first.source = 0;
    first.destination = 1;
    first.bytes = PAYLOAD;
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

} // namespace
