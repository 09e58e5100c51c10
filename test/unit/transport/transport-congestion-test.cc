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

constexpr uint64_t BYTES = 2'500'000; // per sender

/// What an incast did.
struct Incast
{
    double seconds{0};      //!< last delivery
    double firstSeconds{0}; //!< first delivery of a whole flow
    uint64_t maxQueue{0};   //!< wire bytes at the receiver's port of the switch
    uint64_t pauses{0};     //!< on all links
    uint64_t dropped{0};    //!< on all links
    uint64_t marks{0};      //!< of all queue pairs
    uint64_t notifications{0};
    uint64_t retransmitted{0};
    double minimumRate{1e30};
};

/// Eight senders to one.
Incast
RunIncast(const std::string& control,
          const TransportRig::Attributes& fabricAttributes = {},
          TransportRig::Attributes transportAttributes = {},
          double bytesPerSecond = 12.5e9)
{
    transportAttributes["CongestionControl"] = control;
    TransportRig rig(
        MakeStar(9, LinkTechnology::ROCE, bytesPerSecond, 1'000'000, MakeFraming(1000, 48)),
        transportAttributes,
        fabricAttributes);
    for (uint32_t i = 1; i < 9; ++i)
    {
        rig.Send(rig.Connect(i, 0), BYTES);
    }
    Incast incast;

    struct Watcher
    {
        static void Note(Incast* incast, uint32_t, double rate, uint64_t, int64_t)
        {
            incast->minimumRate = std::min(incast->minimumRate, rate);
        }
    };

    rig.transport->TraceConnectWithoutContext("CongestionState",
                                              MakeBoundCallback(&Watcher::Note, &incast));
    rig.Run();
    incast.firstSeconds = 1;
    for (uint32_t pair = 0; pair < 8; ++pair)
    {
        incast.seconds = std::max(incast.seconds, rig.GetReceived(pair));
        incast.firstSeconds = std::min(incast.firstSeconds, rig.GetReceived(pair));
        const QueuePairStatistics statistics = rig.transport->GetStatistics(pair);
        incast.marks += statistics.markedPackets;
        incast.notifications += statistics.notifications;
        incast.retransmitted += statistics.retransmittedPackets;
    }
    for (const LinkStatistics& link : rig.fabric->GetLinkStatistics())
    {
        if (!link.forward && link.link == 0)
        {
            incast.maxQueue = link.maxQueueBytes;
        }
        incast.pauses += link.pauses;
        incast.dropped += link.droppedPackets;
    }
    return incast;
}

/// Time of all bytes over the receiver's link, with 48 bytes per 1000.
const double IDEAL = 8 * BYTES * 1.048 / 12.5e9;

/// Two GPUs behind NICs.
/// @param options get the NICs @param loss of a unit behind the second NIC
/// @param takes what the second GPU takes, bytes per second @return the cluster
Cluster
MakeSlowReceiver(QueuePairOptions& options, double loss = 0, double takes = 1e9)
{
    Cluster cluster("two servers");
    const VertexId hub = cluster.AddVertex({"hub", VertexKind::SWITCH, -1});
    for (const int32_t server : {0, 1})
    {
        const std::string name = "n" + std::to_string(server);
        const VertexId gpu =
            cluster.AddVertex({name + ".gpu0", VertexKind::GPU, server, 0, "V100-SXM2-32GB"});
        const VertexId nic = cluster.AddVertex({name + ".nic0", VertexKind::NIC, server});
        const LinkFraming pcie = DefaultFraming(LinkTechnology::PCIE);
        const LinkFraming roce = DefaultFraming(LinkTechnology::ROCE);
        Link behind{gpu, nic, LinkTechnology::PCIE, server == 0 ? 16e9 : takes, 250'000, pcie};
        behind.lossProbability = server == 0 ? 0 : loss;
        cluster.AddLink(behind);
        cluster.AddLink({nic, hub, LinkTechnology::ROCE, 12.5e9, 250'000, roce});
        options.waypoints.push_back(nic);
    }
    return cluster;
}

/// A NIC acknowledges what has come to it, whatever that waits for on its way to the GPU.
TEST(CongestionInFabric, NicsAcknowledgeBeforeTheirGpusAreReached)
{
    QueuePairOptions options;
    const Cluster cluster = MakeSlowReceiver(options);
    TransportRig rig(cluster, {{"CongestionControl", "none"}});
    const uint32_t pair = rig.Connect(0, 1, options);
    rig.Send(pair, 100'000);
    rig.Send(pair, 100'000);
    rig.Run();
    // The wires of the network take 8 us for a message, those behind it 100 us.
    EXPECT_NEAR(rig.GetAcknowledged(pair), 2e5 / 12.5e9, 5e-6);
    EXPECT_GT(rig.GetReceived(pair), 2e5 / 1e9);
    // Round trips end there, too: 4 hops of 250 ns both ways, units and control on the wire.
    EXPECT_LT(rig.transport->GetPath(pair).baseRttPs, 3'000'000);
    EXPECT_EQ(rig.transport->GetPath(pair).hops, 3u);
}

/// What waits for a NIC that two queue pairs share is none of the network's.
TEST(CongestionInFabric, RoundTripsBeginWhereTheNicSends)
{
    const auto run = [](const char* control, uint32_t pairs) {
        QueuePairOptions options;
        const Cluster cluster = MakeSlowReceiver(options, 0, 16e9);
        TransportRig rig(cluster, {{"CongestionControl", control}});
        for (uint32_t pair = 0; pair < pairs; ++pair)
        {
            rig.Send(rig.Connect(0, 1, options), 4'000'000 / pairs);
        }
        rig.Run();
        for (uint32_t pair = 0; pair < pairs; ++pair)
        {
            const CongestionPath path = rig.transport->GetPath(pair);
            EXPECT_LT(path.GetMeasuredRttPs(), path.baseRttPs - 250'000);
            if (std::string(control) == "timely" || std::string(control) == "swift")
            {
                EXPECT_NEAR(rig.transport->GetStatistics(pair).lastRttPs,
                            path.GetMeasuredRttPs(),
                            500'000)
                    << control;
            }
        }
        return rig.GetReceived(pairs - 1);
    };
    for (const char* control : {"timely", "swift", "hpcc", "powertcp"})
    {
        EXPECT_NEAR(run(control, 2) / run(control, 1), 1, 0.03) << control;
    }
}

/// What is lost behind the NIC, the NIC sends again, as the sender knows that it has arrived.
TEST(CongestionInFabric, NicsSendAgainWhatIsLostBehindThem)
{
    for (const char* reliability : {"GoBackN", "SelectiveRepeat"})
    {
        QueuePairOptions options;
        const Cluster cluster = MakeSlowReceiver(options, 0.02);
        TransportRig rig(cluster,
                         {{"CongestionControl", "none"},
                          {"Reliability", reliability},
                          {"RetransmissionTimeout", "10ms"}});
        const uint32_t pair = rig.Connect(0, 1, options);
        for (uint32_t i = 0; i < 20; ++i)
        {
            rig.Send(pair, 100'000);
        }
        rig.Run(); // which expects everything once, and in order
        EXPECT_EQ(rig.transport->GetRetransmittedPackets(), 0u) << reliability;
    }
}

/// A NIC notifies when a marked packet comes to it, not when its GPU has that at last.
TEST(CongestionInFabric, NicsNotifyBeforeTheirGpusAreReached)
{
    QueuePairOptions options;
    const Cluster cluster = MakeSlowReceiver(options);
    TransportRig rig(cluster, {{"CongestionControl", "dcqcn"}});
    const uint32_t pair = rig.Connect(0, 1, options);

    /// What is known when the rate is cut first.
    struct Watcher
    {
        Ptr<Transport> transport;  //!< whose
        uint64_t received{0};      //!< bytes that the GPU has got
        uint64_t acknowledged{0};  //!< bytes that the NIC has got, at least
        uint64_t notifications{0}; //!< that the sender has got

        static void Note(Watcher* watcher, uint32_t id, double, uint64_t, int64_t)
        {
            const QueuePairStatistics statistics = watcher->transport->GetStatistics(id);
            if (watcher->notifications == 0 && statistics.notifications > 0)
            {
                watcher->received = statistics.receivedBytes;
                watcher->acknowledged = statistics.acknowledgedBytes;
                watcher->notifications = statistics.notifications;
            }
        }
    };

    Watcher watcher{rig.transport};
    rig.transport->TraceConnectWithoutContext("CongestionState",
                                              MakeBoundCallback(&Watcher::Note, &watcher));
    for (uint32_t i = 0; i < 200; ++i)
    {
        rig.Send(pair, 100'000);
    }
    rig.Run();
    EXPECT_EQ(watcher.notifications, 1u);
    // What is marked first waits in the NIC behind all that it has not got rid of.
    EXPECT_LT(watcher.received + 200'000, watcher.acknowledged);
    EXPECT_GT(rig.transport->GetStatistics(pair).markedPackets, 0u);
    EXPECT_EQ(rig.transport->GetStatistics(pair).receivedBytes, 20'000'000u);
}

/// Marks, notifications, rate cuts, and still the full rate of the bottleneck.
TEST(CongestionInFabric, DcqcnCutsRatesOnMarks)
{
    const Incast none = RunIncast("none");
    EXPECT_NEAR(none.seconds, IDEAL, 0.005 * IDEAL);
    EXPECT_GT(none.pauses, 0u) << "only pauses hold the senders back";
    const Incast dcqcn = RunIncast("dcqcn");
    EXPECT_GT(dcqcn.marks, 100u);
    EXPECT_GT(dcqcn.notifications, 8u);
    EXPECT_LT(dcqcn.notifications, dcqcn.marks);
    EXPECT_LT(dcqcn.minimumRate, 12.5e9 / 4);
    EXPECT_EQ(dcqcn.retransmitted, 0u);
    EXPECT_LT(dcqcn.maxQueue, none.maxQueue * 3 / 5);
    EXPECT_LT(dcqcn.seconds, 1.3 * IDEAL);
}

/// Near-zero queues, no pauses, and about eta of the rate.
TEST(CongestionInFabric, HpccKeepsTheQueueEmpty)
{
    const Incast none = RunIncast("none", {{"Pfc", "true"}});
    const Incast hpcc = RunIncast("hpcc", {{"Pfc", "true"}});
    EXPECT_EQ(hpcc.pauses, 0u);
    EXPECT_EQ(hpcc.retransmitted, 0u);
    // All eight begin with a bandwidth-delay product of 53 KB; after that there is no queue.
    EXPECT_LT(hpcc.maxQueue, 8 * 60'000u);
    EXPECT_LT(hpcc.maxQueue, none.maxQueue / 5);
    EXPECT_LT(hpcc.seconds, IDEAL / 0.85);
    EXPECT_GT(hpcc.seconds, IDEAL);
    // The windows of the first round trip differ, and grow alike slowly: in the simulator of HPCC's
    // authors, the first of eight flows of 10 MB needs 0.44 of the time of the last.
    EXPECT_GT(hpcc.firstSeconds, 0.6 * hpcc.seconds) << "about fair";
}

/// An incast under TIMELY ends.
TEST(CongestionInFabric, TimelyEnds)
{
    const Incast timely = RunIncast("timely");
    EXPECT_EQ(timely.retransmitted, 0u);
    EXPECT_LT(timely.minimumRate, 12.5e9 / 4);
    EXPECT_LT(timely.seconds, 4.5 * IDEAL) << "recovers by 10 Mb/s steps";
}

TEST(CongestionInFabric, SwiftHoldsTheTarget)
{
    const Incast swift = RunIncast("swift");
    const Incast none = RunIncast("none");
    EXPECT_EQ(swift.pauses, 0u);
    EXPECT_LT(swift.maxQueue, none.maxQueue / 3);
    EXPECT_LT(swift.seconds, 1.15 * IDEAL);
    EXPECT_GT(swift.firstSeconds, 0.7 * swift.seconds);
}

TEST(CongestionInFabric, DctcpHoldsTheThreshold)
{
    const Incast dctcp = RunIncast("dctcp",
                                   {{"EcnMinBytes", "50000"},
                                    {"EcnMaxBytes", "50000"},
                                    {"EcnMaxProbability", "1"},
                                    {"EcnReferenceRate", "100Gb/s"}});
    EXPECT_GT(dctcp.marks, 100u);
    EXPECT_EQ(dctcp.pauses, 0u);
    EXPECT_LT(dctcp.maxQueue, 8 * 60'000u) << "eight first windows";
    EXPECT_LT(dctcp.seconds, 1.1 * IDEAL);
}

/// TCP over a network that drops: it fills the link, and repairs what is lost.
TEST(CongestionInFabric, TcpSurvivesDrops)
{
    for (const char* type : {"true", "false"})
    {
        Config::SetDefault("ns3::proteus::TcpType::Cubic", StringValue(type));
        Config::SetDefault("ns3::proteus::TcpType::MinimumTimeout", StringValue("1ms"));
        const Incast tcp =
            RunIncast("tcp", {{"Pfc", "false"}, {"Ecn", "false"}, {"SwitchBuffer", "1000000"}});
        EXPECT_GT(tcp.dropped, 0u);
        EXPECT_GT(tcp.retransmitted, 0u);
        EXPECT_LT(tcp.seconds, 3 * IDEAL) << type;
    }
    Config::Reset();
}

/// Parameters of an algorithm are attributes.
TEST(CongestionInFabric, ParametersAreAttributes)
{
    Config::SetDefault("ns3::proteus::HpccType::Eta", DoubleValue(0.5));
    const Incast half = RunIncast("hpcc");
    Config::Reset();
    EXPECT_GT(half.seconds, 1.6 * IDEAL);
    EXPECT_THROW(RunIncast("reno"), std::invalid_argument);
}

/// Per-packet spraying with selective repeat: out of order, but delivered in order.
TEST(CongestionInFabric, Spraying)
{
    for (const char* routing : {"Spray", "Adaptive"})
    {
        FabricOptions options;
        options.kind = "leaf-spine";
        options.serversPerLeaf = 4;
        options.spines = 4;
        TransportRig rig(
            MakeHostCluster(8, options, LinkTechnology::ROCE, 50e9, 500000, MakeFraming(1000, 48)),
            {{"CongestionControl", "dcqcn"}},
            {{"Routing", routing}});
        for (uint32_t i = 0; i < 4; ++i)
        {
            const uint32_t pair = rig.Connect(i, 4 + i);
            for (int k = 0; k < 20; ++k)
            {
                rig.Send(pair, 100'001);
            }
        }
        rig.Run();
        EXPECT_EQ(rig.transport->GetRetransmittedPackets(), 0u) << routing;
    }
}

} // namespace
