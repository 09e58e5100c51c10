/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport-fixture.h"

#include <algorithm>
#include <cmath>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

/// Goodput of one long flow is rate x payload / (payload + overhead).
TEST(Transport, GoodputOfOneFlow)
{
    TransportRig rig(MakeStar(2), {{"CongestionControl", "none"}});
    const uint32_t pair = rig.Connect(0, 1);
    rig.Send(pair, 10'000'000);
    rig.Run();
    const double wire = 10'000 * 1048.0 / 50e9;
    const double latency = 2 * 500e-9 + 1048 / 50e9; // the switch stores and forwards
    EXPECT_NEAR(rig.GetReceived(pair), wire + latency, 1e-11);
    EXPECT_NEAR(rig.GetAcknowledged(pair), wire + 2 * latency - 1048 / 50e9 + 2 * 64 / 50e9, 1e-11);
    EXPECT_EQ(rig.transport->GetPackets(), 10'000u);
    EXPECT_EQ(rig.transport->GetControlPackets(), 1u) << "one acknowledgement per message";
}

/// Remainders of 0 and 1 byte after packetisation.
TEST(Transport, Remainders)
{
    TransportRig rig(MakeStar(2), {{"CongestionControl", "none"}});
    const uint32_t pair = rig.Connect(0, 1);
    uint64_t packets = 0;
    for (uint64_t bytes : {1u, 999u, 1000u, 1001u, 2000u, 2001u, 1u})
    {
        rig.Send(pair, bytes);
        packets += (bytes + 999) / 1000;
    }
    rig.Run();
    EXPECT_EQ(rig.transport->GetPackets(), packets);
    EXPECT_EQ(rig.transport->GetStatistics(pair).receivedBytes, 7003u);
}

/// The receiver's last byte comes before the sender's last acknowledgement, and sends can depend
/// on it.
TEST(Transport, DependentsFireOnTheLastByte)
{
    TransportRig rig(MakeStar(3), {{"CongestionControl", "none"}});
    const uint32_t first = rig.Connect(0, 1);
    const uint32_t second = rig.Connect(1, 2);
    rig.onReceive = [&](uint32_t pair, uint64_t) {
        if (pair == first)
        {
            rig.Send(second, 1000);
        }
    };
    rig.Send(first, 5000);
    rig.Run();
    const double hop = 500e-9 + 1048 / 50e9;
    EXPECT_NEAR(rig.GetReceived(second), rig.GetReceived(first) + 64 / 50e9 + 2 * hop, 1e-11)
        << "behind the acknowledgement";
}

/// Packet numbers wrap at 2^32.
TEST(Transport, PacketNumbersWrap)
{
    for (const char* reliability : {"GoBackN", "SelectiveRepeat"})
    {
        TransportRig rig(
            MakeStar(2, LinkTechnology::ROCE, 50e9, 500000, MakeFraming(1000, 48), 0.01),
            {{"CongestionControl", "none"},
             {"FirstSequence", "4294967000"},
             {"Reliability", reliability},
             {"AckEveryPackets", "4"},
             {"RetransmissionTimeout", "50us"}});
        const uint32_t pair = rig.Connect(0, 1);
        for (int i = 0; i < 100; ++i)
        {
            rig.Send(pair, 10'001);
        }
        rig.Run();
        EXPECT_EQ(rig.transport->GetStatistics(pair).receivedBytes, 1'000'100u) << reliability;
        EXPECT_GT(rig.transport->GetRetransmittedPackets(), 0u) << reliability;
    }
}

/// What is lost is sent again, whatever the way, and delivered once.
TEST(Transport, LossIsRepaired)
{
    for (const char* reliability : {"GoBackN", "SelectiveRepeat"})
    {
        for (double loss : {0.0001, 0.01, 0.2})
        {
            TransportRig rig(
                MakeStar(4, LinkTechnology::ROCE, 50e9, 500000, MakeFraming(1000, 48), loss),
                {{"CongestionControl", "none"},
                 {"Reliability", reliability},
                 {"RetransmissionTimeout", "20us"},
                 {"NakInterval", "10us"},
                 {"WindowProducts", "2"},
                 {"RetryLimit", "30"}});
            for (uint32_t i = 0; i < 4; ++i)
            {
                const uint32_t pair = rig.Connect(i, (i + 1) % 4);
                rig.Send(pair, 300'000);
                rig.Send(pair, 1);
                rig.Send(pair, 100'001);
                rig.transport->SendControl(pair, 7);
                rig.transport->SendControl(pair, 8);
            }
            rig.Run();
            for (uint32_t pair = 0; pair < 4; ++pair)
            {
                EXPECT_EQ(rig.controls[pair], (std::vector<uint32_t>{7, 8}))
                    << reliability << " " << loss;
            }
        }
    }
}

/// @param rig whose NVLinks get this probability of losing a unit @param loss the probability
void
SetNvlinkLoss(TransportRig& rig, double loss)
{
    const std::vector<Link>& links = rig.fabric->GetCluster().GetLinks();
    for (LinkId link = 0; link < links.size(); ++link)
    {
        if (links[link].technology == LinkTechnology::NVLINK)
        {
            rig.fabric->SetLinkLoss(link, loss, 0);
        }
    }
}

/// Inside a server nobody acknowledges control units, but what a link loses of them is sent again:
/// each of them comes, and comes once.
TEST(Transport, ControlUnitsThatNvlinksLose)
{
    for (double loss : {0.001, 0.05, 0.3})
    {
        TransportRig rig(MakeCluster("dgx-a100", 1),
                         {{"RetransmissionTimeout", "20us"}, {"RetryLimit", "30"}});
        SetNvlinkLoss(rig, loss);
        constexpr uint32_t VALUES = 200;
        std::vector<uint32_t> wanted;
        const uint32_t pair = rig.Connect(0, 1);
        for (uint32_t value = 0; value < VALUES; ++value)
        {
            wanted.push_back(value);
            rig.transport->SendControl(pair, value);
        }
        rig.Send(pair, 1'000'000);
        rig.Run();
        auto came = rig.controls[pair];
        std::sort(came.begin(), came.end()); // those sent again come behind others
        EXPECT_EQ(came, wanted) << loss;
    }
}

/// A link that loses nearly everything ends a run with a message, and not in a wait without end.
TEST(Transport, ControlUnitsGiveUp)
{
    TransportRig rig(MakeCluster("dgx-a100", 1),
                     {{"RetransmissionTimeout", "20us"}, {"RetryLimit", "5"}});
    SetNvlinkLoss(rig, 0.99999);
    rig.transport->SendControl(rig.Connect(0, 1), 1);
    std::string message;
    try
    {
        Simulator::Run();
    }
    catch (const std::runtime_error& error)
    {
        message = error.what();
    }
    EXPECT_NE(message.find("control units of the receiver"), std::string::npos) << message;
    EXPECT_NE(message.find("links have lost"), std::string::npos) << message;
}

/// Selective repeat sends only what was lost.
TEST(Transport, SelectiveRepeatRepeatsWhatWasLost)
{
    uint64_t repeated[2];
    int i = 0;
    for (const char* reliability : {"GoBackN", "SelectiveRepeat"})
    {
        TransportRig rig(
            MakeStar(2, LinkTechnology::ROCE, 50e9, 500000, MakeFraming(1000, 48), 0.001),
            {{"CongestionControl", "none"}, {"Reliability", reliability}, {"WindowProducts", "1"}});
        const uint32_t pair = rig.Connect(0, 1);
        rig.Send(pair, 20'000'000);
        rig.Run();
        const uint64_t dropped = rig.fabric->GetLinkStatistics().front().lostPackets +
                                 rig.fabric->GetLinkStatistics().back().lostPackets;
        EXPECT_GT(dropped, 10u);
        repeated[i++] = rig.transport->GetRetransmittedPackets();
        EXPECT_EQ(rig.transport->GetStatistics(pair).sentBytes, 20'000'000u);
    }
    EXPECT_LT(repeated[1], 100u);
    EXPECT_GT(repeated[0], 10 * repeated[1]);
}

/// A queue pair that hears nothing gives up, and says which one it is.
TEST(Transport, GivesUp)
{
    TransportRig rig(MakeStar(2, LinkTechnology::ROCE, 50e9, 500000, MakeFraming(1000, 48), 1.0),
                     {{"CongestionControl", "none"}, {"RetransmissionTimeout", "1us"}});
    rig.Send(rig.Connect(0, 1), 10'000);
    try
    {
        Simulator::Run();
        FAIL() << "must not end";
    }
    catch (const std::runtime_error& error)
    {
        const std::string text = error.what();
        EXPECT_NE(text.find("queue pair 0 from host0 to host1"), std::string::npos) << text;
    }
    // 1 + 2 + 4 + ... + 128 us of waiting after the last packet.
    EXPECT_NEAR(static_cast<double>(rig.fabric->GetTimePs()) * 1e-6, 255 + 10 * 1048 / 50e3, 20);
}

/// A window of one bandwidth-delay product keeps a link busy, half of it half busy.
TEST(Transport, Window)
{
    for (double products : {0.5, 1.0})
    {
        TransportRig rig(
            MakeStar(2),
            {{"CongestionControl", "none"}, {"WindowProducts", std::to_string(products)}});
        const uint32_t pair = rig.Connect(0, 1);
        rig.Send(pair, 10'000'000);
        rig.Run();
        const CongestionPath path = rig.transport->GetPath(pair);
        const double rtt = static_cast<double>(path.baseRttPs) * 1e-12;
        const double window = std::ceil(products * path.GetBandwidthDelayProduct() / 1000);
        const double perPacket = std::max(rtt / window, 1048 / 50e9);
        EXPECT_NEAR(rig.GetReceived(pair), 10'000 * perPacket, 2 * rtt) << products;
        EXPECT_EQ(rig.transport->GetStatistics(pair).minRttPs, path.baseRttPs);
    }
}

/// Acknowledgements are coalesced as asked for; a full window always asks for one.
TEST(Transport, AcknowledgementsCoalesce)
{
    for (uint32_t every : {1u, 2u, 16u, 1000u})
    {
        TransportRig rig(MakeStar(2),
                         {{"CongestionControl", "none"},
                          {"WindowProducts", "4"},
                          {"AckEveryPackets", std::to_string(every)}});
        const uint32_t pair = rig.Connect(0, 1);
        rig.Send(pair, 1'600'000);
        rig.Run();
        if (every <= 16)
        {
            EXPECT_EQ(rig.transport->GetControlPackets(), 1600 / every);
        }
        else
        {
            EXPECT_GT(rig.transport->GetControlPackets(), 2u);
        }
    }
}

/// Without a request, a delayed acknowledgement comes.
TEST(Transport, DelayedAcknowledgement)
{
    TransportRig rig(
        MakeStar(2),
        {{"CongestionControl", "none"}, {"AckEveryMessage", "false"}, {"AckDelay", "30us"}});
    const uint32_t pair = rig.Connect(0, 1);
    rig.Send(pair, 1000);
    rig.Run();
    const double hop = 500e-9 + 1048 / 50e9;
    EXPECT_NEAR(rig.GetAcknowledged(pair), 2 * hop + 30e-6 + 2 * (500e-9 + 64 / 50e9), 1e-11);
}

/// Nothing keeps the run alive after its work, neither timeouts nor congestion timers.
TEST(Transport, TheRunEndsByItself)
{
    TransportRig rig(MakeStar(9), {{"CongestionControl", "dcqcn"}}, {{"Ecn", "true"}}, false);
    for (uint32_t i = 1; i < 9; ++i)
    {
        rig.Send(rig.Connect(i, 0), 1'000'000);
    }
    rig.Run();
    double last = 0;
    for (uint32_t pair = 0; pair < 8; ++pair)
    {
        last = std::max(last, rig.GetAcknowledged(pair));
    }
    EXPECT_NEAR(Simulator::Now().GetSeconds(), last, 1e-6);
}

/// 8 senders to one: equal shares, and the bottleneck never idle. The figures are those of the
/// issue: 48 bytes of overhead give 1.6768 ms, 36 give 1.6576 ms.
TEST(Transport, IncastIsFairAndExact)
{
    for (const auto& [overhead, expected] :
         std::vector<std::pair<uint32_t, double>>{{48, 1.6768e-3}, {36, 1.6576e-3}})
    {
        TransportRig rig(
            MakeStar(9, LinkTechnology::ROCE, 50e9, 500000, MakeFraming(1000, overhead)),
            {{"CongestionControl", "none"}, {"WindowProducts", "1"}},
            {{"Ecn", "false"}});
        for (uint32_t i = 1; i < 9; ++i)
        {
            rig.Send(rig.Connect(i, 0), 10'000'000);
        }
        rig.Run();
        double first = 1;
        double last = 0;
        for (uint32_t pair = 0; pair < 8; ++pair)
        {
            first = std::min(first, rig.GetReceived(pair));
            last = std::max(last, rig.GetReceived(pair));
        }
        const double packet = (1000 + overhead) / 50e9;
        EXPECT_NEAR(last, expected + 1e-6 + packet, 1e-10);
        EXPECT_LE(last - first, 8.001 * packet) << "within one packet round";
    }
}

/// A sender that takes turns: queue pairs of one port get equal shares, packet by packet.
TEST(Transport, QueuePairsTakeTurns)
{
    TransportRig rig(MakeStar(5), {{"CongestionControl", "none"}});
    for (uint32_t i = 1; i < 5; ++i)
    {
        rig.Send(rig.Connect(0, i), 1'000'000);
    }
    rig.Run();
    for (uint32_t pair = 0; pair < 4; ++pair)
    {
        EXPECT_NEAR(rig.GetReceived(pair), 4000 * 1048 / 50e9 + 1e-6, 5 * 1048 / 50e9);
    }
}

/// A lower traffic class goes first.
TEST(Transport, TrafficClassesAreStrict)
{
    TransportRig rig(MakeStar(3), {{"CongestionControl", "none"}}, {{"TrafficClasses", "4"}});
    QueuePairOptions options;
    options.trafficClass = 3;
    const uint32_t low = rig.Connect(0, 1, options);
    options.trafficClass = 2;
    const uint32_t high = rig.Connect(0, 2, options);
    rig.Send(low, 1'000'000);
    rig.Send(high, 1'000'000);
    rig.Run();
    EXPECT_NEAR(rig.GetReceived(high), 1001 * 1048 / 50e9 + 1e-6, 2 * 1048 / 50e9);
    EXPECT_NEAR(rig.GetReceived(low), 2001 * 1048 / 50e9 + 1e-6, 2 * 1048 / 50e9);
}

/// A thousand paced queue pairs of one port are served exactly.
TEST(Transport, ManyPacedQueuePairs)
{
    Cluster star = MakeStar(2);
    Cluster cluster("paced");
    for (Vertex vertex : star.GetVertices())
    {
        vertex.smCopyBytesPerSecond = vertex.kind == VertexKind::GPU ? 40e6 : 0;
        cluster.AddVertex(vertex);
    }
    for (const Link& link : star.GetLinks())
    {
        cluster.AddLink(link);
    }
    TransportRig rig(cluster, {{"CongestionControl", "none"}});
    QueuePairOptions options;
    options.copyMethod = CopyMethod::SM;
    for (uint32_t i = 0; i < 1000; ++i)
    {
        options.flow = i + 1;
        rig.Send(rig.Connect(0, 1, options), 100'000);
    }
    rig.Run();
    for (uint32_t pair = 0; pair < 1000; ++pair)
    {
        // The 100th packet starts 99 intervals of 25 us after the first, plus its turn.
        EXPECT_NEAR(rig.GetReceived(pair), 99 * 25e-6 + 1e-6, 22e-6);
    }
}

/// A rate limit holds to the picosecond.
TEST(Transport, PacingIsExact)
{
    Cluster star = MakeStar(2);
    Cluster cluster("paced");
    for (Vertex vertex : star.GetVertices())
    {
        vertex.smCopyBytesPerSecond = vertex.kind == VertexKind::GPU ? 3e9 : 0;
        cluster.AddVertex(vertex);
    }
    for (const Link& link : star.GetLinks())
    {
        cluster.AddLink(link);
    }
    TransportRig rig(cluster, {{"CongestionControl", "none"}});
    QueuePairOptions options;
    options.copyMethod = CopyMethod::SM;
    const uint32_t pair = rig.Connect(0, 1, options);
    rig.Send(pair, 30'000'000);
    rig.Run();
    // One third of a microsecond per packet: the thirds of a picosecond do not get lost.
    EXPECT_NEAR(rig.GetReceived(pair), 29'999 / 3e6 + 1e-6 + 2 * 1048 / 50e9, 2e-9);
}

/// Paced queue pairs of a GPU wait at different NVLinks.
TEST(Transport, PacedQueuePairsSpreadOverNvlinks)
{
    constexpr uint32_t PLANES = 6;
    constexpr uint64_t BURST = 4096;
    for (const bool isSpread : {false, true})
    {
        const Cluster cluster = MakeCluster("dgx-a100", 1);
        TransportRig rig(cluster);
        QueuePairOptions options;
        options.copyMethod = CopyMethod::SM;
        options.copyBytesPerSecond = 1e9;
        for (uint32_t i = 0; i < PLANES; ++i)
        {
            options.firstPort = isSpread ? i : 0;
            rig.Send(rig.Connect(0, i + 1, options), 2 * BURST);
        }
        rig.Run();
        uint64_t most = 0;
        const auto links = rig.fabric->GetLinkStatistics();
        for (LinkId link = 0; link < cluster.GetLinks().size(); ++link)
        {
            const Link& ends = cluster.GetLinks()[link];
            if (ends.technology == LinkTechnology::NVLINK)
            {
                most = std::max(
                    {most,
                     ends.a == cluster.GetGpus()[0] ? links[2 * link].payloadBytes : 0,
                     ends.b == cluster.GetGpus()[0] ? links[2 * link + 1].payloadBytes : 0});
            }
        }
        // First packets take what is free; then each waits for its time.
        EXPECT_EQ(most, isSpread ? 2 * BURST : (1 + PLANES) * BURST);
    }
}

/// A paced queue pair waits at NVLinks of a GPU in proportion to their rates: H100 has five links
/// to two of its NVSwitches, and four to the others.
TEST(Transport, PacedQueuePairsTakeFasterNvlinksMoreOften)
{
    const Cluster cluster = MakeCluster("dgx-h100", 1);
    TransportRig rig(cluster);
    QueuePairOptions options;
    options.copyMethod = CopyMethod::SM;
    options.copyBytesPerSecond = 10e9;
    constexpr uint64_t BYTES = 40'000'000;
    rig.Send(rig.Connect(0, 1, options), BYTES);
    rig.Run();
    const auto links = rig.fabric->GetLinkStatistics();
    uint32_t planes = 0;
    for (LinkId link = 0; link < cluster.GetLinks().size(); ++link)
    {
        const Link& ends = cluster.GetLinks()[link];
        const bool isForward = ends.a == cluster.GetGpus()[0];
        if (ends.technology == LinkTechnology::NVLINK &&
            (isForward || ends.b == cluster.GetGpus()[0]))
        {
            const auto bytes =
                static_cast<double>(links[2 * link + (isForward ? 0 : 1)].payloadBytes);
            EXPECT_NEAR(bytes / BYTES, ends.bytesPerSecond / 450e9, 0.001);
            ++planes;
        }
    }
    EXPECT_EQ(planes, 4u);
}

/// NVLink: packets over six planes, delivered in order, at six times the rate.
TEST(Transport, NvlinkPlanes)
{
    TransportRig rig(MakeCluster("dgx-a100", 1), {}, {});
    const uint32_t pair = rig.Connect(0, 5);
    for (int i = 0; i < 64; ++i)
    {
        rig.Send(pair, 1'000'001);
    }
    rig.Run();
    EXPECT_GT(64e6 / rig.GetReceived(pair), 250e9);
    EXPECT_LT(64e6 / rig.GetReceived(pair), 300e9);
    EXPECT_EQ(rig.transport->GetRetransmittedPackets(), 0u);
    EXPECT_EQ(rig.transport->GetControlPackets(), 64u);
}

/// The memory of a GPU limits what it reads and writes together.
TEST(Transport, MemoryLimit)
{
    Cluster star = MakeStar(3);
    Cluster cluster("limited");
    for (Vertex vertex : star.GetVertices())
    {
        vertex.memoryBytesPerSecond = vertex.name == "host0" ? 30e9 : 0;
        cluster.AddVertex(vertex);
    }
    for (const Link& link : star.GetLinks())
    {
        cluster.AddLink(link);
    }
    TransportRig rig(cluster, {{"CongestionControl", "none"}});
    const uint32_t out = rig.Connect(0, 1);
    const uint32_t other = rig.Connect(0, 2);
    rig.Send(out, 5'000'000);
    rig.Send(other, 5'000'000);
    rig.Run();
    EXPECT_NEAR(std::max(rig.GetReceived(out), rig.GetReceived(other)), 10e6 / 30e9, 3e-6);
}

/// Failed and repaired links: everything arrives, exactly once.
TEST(Transport, LinkFailure)
{
    FabricOptions options;
    options.kind = "leaf-spine";
    options.serversPerLeaf = 2;
    options.spines = 2;
    TransportRig rig(MakeHostCluster(4,
                                     options,
                                     LinkTechnology::INFINIBAND,
                                     50e9,
                                     500000,
                                     MakeFraming(4096, 42)),
                     {{"RetransmissionTimeout", "100us"}, {"NakInterval", "20us"}});
    for (uint32_t i = 0; i < 16; ++i)
    {
        QueuePairOptions base;
        base.flow = i + 1;
        const uint32_t pair = rig.Connect(i % 2, 2 + i / 2 % 2, base);
        rig.Send(pair, 10'000'000);
    }
    const LinkId link = rig.fabric->GetCluster().GetPorts(4)[2].link;
    Simulator::Schedule(MicroSeconds(50), &Fabric::SetLinkUp, rig.fabric, link, false);
    Simulator::Schedule(MicroSeconds(900), &Fabric::SetLinkUp, rig.fabric, link, true);
    rig.Run();
    EXPECT_GT(rig.transport->GetRetransmittedPackets(), 0u);
}

} // namespace
