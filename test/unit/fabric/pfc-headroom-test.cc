/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../transport/transport-fixture.h"

#include "ns3/proteus-pfc-headroom.h"

#include <functional>
#include <random>
#include <stdexcept>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

/// 100 Gb/s over 200 m, MTU 4096.
PfcLink
MakeLink()
{
    PfcLink link;
    link.bytesPerSecond = 12.5e9;
    link.delayPs = 1'000'000;
    link.unitBytes = 4178;
    link.pauseBytes = 84;
    return link;
}

TEST(PfcHeadroom, IsTheSumOfItsParts)
{
    PfcLink link = MakeLink();
    // The unit that calls for the pause, one unit in either direction, the pause, the cable twice.
    EXPECT_EQ(GetPfcHeadroom(link), 3u * 4178 + 84 + 25000);
    link.nPauses = 7;
    EXPECT_EQ(GetPfcHeadroom(link), 3u * 4178 + 7 * 84 + 25000);
    // 394 quanta of 512 bits: what IEEE 802.3 allows at 100 Gb/s.
    link.reactionPs = 2'017'280;
    EXPECT_EQ(GetPfcHeadroom(link), 3u * 4178 + 7 * 84 + 25000 + 394 * 64);
    // A unit of 2 us from a slower link holds the other direction up for 25,000 bytes.
    link.oppositeHoldPs = 2'000'000;
    EXPECT_EQ(GetPfcHeadroom(link), 2u * 4178 + 25000 + 7 * 84 + 25000 + 394 * 64);
}

TEST(PfcHeadroom, GrowsWithEverything)
{
    const uint64_t least = GetPfcHeadroom(MakeLink());
    const std::vector<std::function<void(PfcLink&)>> more{
        [](PfcLink& link) { link.bytesPerSecond *= 1.01; },
        [](PfcLink& link) { link.delayPs += 1000; },
        [](PfcLink& link) { ++link.unitBytes; },
        [](PfcLink& link) { ++link.pauseBytes; },
        [](PfcLink& link) { ++link.nPauses; },
        [](PfcLink& link) { link.oppositeHoldPs = 1'000'000; },
        [](PfcLink& link) { link.oppositeDebtBytes = 8; },
        [](PfcLink& link) { link.reactionPs = 1000; }};
    for (std::size_t i = 0; i < more.size(); ++i)
    {
        PfcLink link = MakeLink();
        more[i](link);
        EXPECT_GT(GetPfcHeadroom(link), least) << i;
    }
}

/// @return a vertex
VertexId
AddVertex(Cluster& cluster, const std::string& name, VertexKind kind, int32_t server)
{
    Vertex vertex;
    vertex.name = name;
    vertex.kind = kind;
    vertex.server = server;
    return cluster.AddVertex(vertex);
}

/// Adds a link.
void
AddLink(Cluster& cluster,
        VertexId a,
        VertexId b,
        LinkTechnology technology,
        double bytesPerSecond,
        int64_t delayPs,
        const LinkFraming& framing)
{
    Link link;
    link.a = a;
    link.b = b;
    link.technology = technology;
    link.bytesPerSecond = bytesPerSecond;
    link.delayPs = delayPs;
    link.framing = framing;
    cluster.AddLink(link);
}

/// Servers of one GPU and one NIC behind PCIe slots of several widths, on leaves and spines of
/// links of several rates and lengths.
Cluster
MakeRandom(std::mt19937& random, uint32_t servers)
{
    Cluster cluster("random");
    const uint32_t mtu = 256u << random() % 5;
    const LinkFraming ethernet = MakeFraming(mtu, 40 + random() % 50, 64 + random() % 30);
    const double rates[] = {12.5e9, 25e9, 50e9};
    const double slots[] = {2e9, 8e9, 16e9, 63e9};
    const uint32_t nLeaves = 1 + random() % 3;
    const uint32_t nSpines = nLeaves == 1 ? 0 : 1 + random() % 2;
    std::vector<VertexId> leaves;
    for (uint32_t i = 0; i < nLeaves; ++i)
    {
        leaves.push_back(AddVertex(cluster, "leaf" + std::to_string(i), VertexKind::SWITCH, -1));
    }
    for (uint32_t i = 0; i < nSpines; ++i)
    {
        const VertexId spine =
            AddVertex(cluster, "spine" + std::to_string(i), VertexKind::SWITCH, -1);
        for (const VertexId leaf : leaves)
        {
            AddLink(cluster,
                    leaf,
                    spine,
                    LinkTechnology::ROCE,
                    rates[random() % 3],
                    50'000 + random() % 2'000'000,
                    ethernet);
        }
    }
    for (uint32_t i = 0; i < servers; ++i)
    {
        const std::string name = "n" + std::to_string(i);
        const auto server = static_cast<int32_t>(i);
        const VertexId gpu = AddVertex(cluster, name + ".gpu0", VertexKind::GPU, server);
        const VertexId nic = AddVertex(cluster, name + ".nic0", VertexKind::NIC, server);
        LinkFraming pcie = MakeFraming(4096, 0, 24);
        pcie.packetBytes = 256;
        pcie.packetHeaderBytes = 24;
        AddLink(cluster, gpu, nic, LinkTechnology::PCIE, slots[random() % 4], 200'000, pcie);
        AddLink(cluster,
                nic,
                leaves[random() % nLeaves],
                LinkTechnology::ROCE,
                rates[random() % 3],
                50'000 + random() % 1'000'000,
                ethernet);
    }
    return cluster;
}

/// @return the smallest power of two that a fabric takes as the buffer of all its devices
std::string
FindBuffer(const Cluster& cluster, TransportRig::Attributes attributes)
{
    for (uint64_t bytes = 1 << 12; bytes < 1u << 30; bytes *= 2)
    {
        const std::string text = std::to_string(bytes);
        auto fabric = CreateObject<Fabric>();
        attributes["SwitchBuffer"] = text;
        attributes["NicBuffer"] = text;
        for (const auto& attribute : attributes)
        {
            fabric->SetAttribute(attribute.first, StringValue(attribute.second));
        }
        try
        {
            fabric->SetCluster(std::make_shared<const Cluster>(cluster));
            fabric->Dispose();
            return text;
        }
        catch (const std::invalid_argument&)
        {
            fabric->Dispose();
        }
    }
    return "";
}

/// Two-way traffic of a random fabric with the smallest buffers it takes, and no congestion
/// control. @return pauses
uint64_t
RunRandom(uint32_t seed)
{
    std::mt19937 random(seed);
    const auto pick = [&random](const std::vector<std::string>& choices) {
        return choices[random() % choices.size()];
    };
    const uint32_t servers = 2 + random() % 7;
    const Cluster cluster = MakeRandom(random, servers);
    const uint32_t classes = 2 + random() % 3;
    TransportRig::Attributes attributes{{"TrafficClasses", std::to_string(classes)},
                                        {"ClassWeights", pick({"", "1,1,2,1", "0,1,1,3"})},
                                        {"PauseReaction", pick({"0ns", "0ns", "300ns", "2us"})},
                                        {"RoceCutThrough", pick({"false", "true"})},
                                        {"InternalCutThrough", pick({"true", "true", "false"})},
                                        {"Routing", pick({"Ecmp", "Spray", "Adaptive"})},
                                        {"ThresholdShift", pick({"0", "3", "6"})},
                                        {"ResumeOffset", pick({"0", "3000"})},
                                        {"BufferReserve", pick({"0", "4096"})}};
    const std::string buffer = FindBuffer(cluster, attributes);
    attributes["SwitchBuffer"] = buffer;
    attributes["NicBuffer"] = buffer;
    TransportRig rig(cluster,
                     {{"CongestionControl", "none"},
                      {"WindowProducts", "0"},
                      {"Reliability", pick({"GoBackN", "SelectiveRepeat"})},
                      {"ReorderingDistance", "1000000"},
                      {"RetransmissionTimeout", "1s"}},
                     attributes);
    for (uint32_t i = 0; i < 3 * servers; ++i)
    {
        // Many to few, and as much back.
        const uint32_t to = random() % std::min(servers, 3u);
        const uint32_t from = (to + 1 + random() % (servers - 1)) % servers;
        QueuePairOptions base;
        base.trafficClass = static_cast<uint8_t>(1 + random() % (classes - 1));
        base.flow = 1 + i;
        const uint32_t there = rig.Connect(from, to, base);
        const uint32_t back = rig.Connect(to, from, base);
        const uint64_t bytes = 20'000 + random() % 400'000;
        Simulator::Schedule(PicoSeconds(random() % 20'000'000), [&rig, there, back, bytes]() {
            rig.Send(there, bytes);
            rig.Send(back, bytes);
        });
    }
    rig.Run();
    NetworkStatistics totals;
    rig.fabric->AddTotals(totals);
    EXPECT_EQ(totals.dropped, 0u) << servers << " servers, buffers of " << buffer;
    EXPECT_EQ(rig.transport->GetRetransmittedPackets(), 0u);
    return totals.pauses;
}

TEST(PfcHeadroom, LosslessClassesLoseNothing)
{
    uint64_t paused = 0;
    const uint32_t runs = 200;
    for (uint32_t seed = 0; seed < runs; ++seed)
    {
        SCOPED_TRACE("seed " + std::to_string(seed));
        paused += RunRandom(seed) > 0 ? 1 : 0;
        if (testing::Test::HasFailure())
        {
            return; // one seed to look at is enough
        }
    }
    EXPECT_GT(paused, runs / 2) << "most runs are congested enough to pause";
}

/// @return what a fabric says about its attributes, "" if it takes them
std::string
GetRefusal(const TransportRig::Attributes& attributes)
{
    try
    {
        const TransportRig rig(MakeStar(4), {}, attributes);
    }
    catch (const std::invalid_argument& refusal)
    {
        return refusal.what();
    }
    return "";
}

TEST(PfcHeadroom, WhatCannotBeLosslessIsRefused)
{
    // Links of 50 GB/s and 0.5 us, units of 1,048 bytes, pauses of 64.
    const uint64_t need = 50'000 + 3 * 1048 + 64;
    const std::string least = std::to_string(need);
    EXPECT_EQ(GetRefusal({{"Headroom", least}}), "");
    const std::string little = GetRefusal({{"Headroom", std::to_string(need - 1)}});
    EXPECT_NE(little.find("::Headroom"), std::string::npos) << little;
    EXPECT_NE(little.find(least + " bytes"), std::string::npos) << little;
    // Four ports with a reserve of 4,096 each.
    const uint64_t aside = 4 * (need + 4096);
    EXPECT_EQ(GetRefusal({{"SwitchBuffer", std::to_string(aside + 1)}}), "");
    const std::string small = GetRefusal({{"SwitchBuffer", std::to_string(aside)}});
    EXPECT_NE(small.find("SwitchBuffer"), std::string::npos) << small;
    EXPECT_NE(small.find(std::to_string(aside)), std::string::npos) << small;
    // Lossy classes need neither.
    EXPECT_EQ(GetRefusal({{"SwitchBuffer", "10000"}, {"Headroom", "1"}, {"Pfc", "false"}}), "");
    EXPECT_EQ(GetRefusal({{"SwitchBuffer", "10000"}, {"Headroom", "1"}, {"PfcClasses", "5"}}), "");
}

TEST(PfcHeadroom, ReactionDelaysPauses)
{
    // Two senders into one, for a millisecond: the later a pause takes effect, the more arrives.
    int64_t before = -1;
    for (const std::string reaction : {"0ns", "1us", "5us"})
    {
        TransportRig rig(MakeStar(3),
                         {{"CongestionControl", "none"}, {"WindowProducts", "0"}},
                         {{"PauseReaction", reaction}, {"SwitchBuffer", "3000000"}});
        const uint32_t pairs[] = {rig.Connect(1, 0), rig.Connect(2, 0)};
        rig.Send(pairs[0], 20'000'000);
        rig.Send(pairs[1], 20'000'000);
        rig.Run();
        NetworkStatistics totals;
        rig.fabric->AddTotals(totals);
        EXPECT_EQ(totals.dropped, 0u);
        EXPECT_GT(totals.pauses, 0u);
        const auto queue = static_cast<int64_t>(rig.fabric->GetLinkStatistics()[1].maxQueueBytes);
        EXPECT_GT(queue, before) << reaction;
        before = queue;
    }
}

} // namespace
