/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport-fixture.h"

#include <random>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

/// One of several texts.
std::string
Pick(std::mt19937& random, const std::vector<std::string>& choices)
{
    return choices[random() % choices.size()];
}

/**
 * A random network, load, transport and set of failures. Every byte must arrive once and in order
 * per queue pair, which the rig checks.
 */
void
RunRandom(uint32_t seed)
{
    std::mt19937 random(seed);
    const std::string kind = Pick(random, {"single-switch", "leaf-spine", "fat-tree"});
    FabricOptions options;
    options.kind = kind;
    options.serversPerLeaf = 2;
    options.spines = 1 + random() % 3;
    options.oversubscription = kind == "leaf-spine" ? 1 + random() % 2 : 1;
    const uint32_t hosts = 4 + random() % 8;
    const bool infiniband = random() % 2 == 0;
    const double loss = random() % 3 == 0 ? 0.003 : 0;
    const Cluster plain =
        MakeHostCluster(hosts,
                        options,
                        infiniband ? LinkTechnology::INFINIBAND : LinkTechnology::ROCE,
                        50e9,
                        100'000 + random() % 900'000,
                        MakeFraming(256u << random() % 5, 40 + random() % 50));
    Cluster cluster(kind);
    for (const Vertex& vertex : plain.GetVertices())
    {
        cluster.AddVertex(vertex);
    }
    for (Link link : plain.GetLinks())
    {
        link.lossProbability = loss;
        cluster.AddLink(link);
    }
    const std::string pfc = Pick(random, {"true", "true", "false"});
    TransportRig rig(
        cluster,
        {{"CongestionControl",
          Pick(random, {"none", "dcqcn", "hpcc", "timely", "swift", "dctcp", "tcp", "auto"})},
         {"Reliability", Pick(random, {"GoBackN", "SelectiveRepeat"})},
         {"WindowProducts", Pick(random, {"0", "1", "3"})},
         {"AckEveryPackets", Pick(random, {"0", "1", "8"})},
         {"AckDelay", Pick(random, {"0us", "5us"})},
         {"ReorderingDistance", Pick(random, {"0", "0", "16"})},
         {"FirstSequence", Pick(random, {"0", "4294967290", "2147483640"})},
         {"RetransmissionTimeout", "300us"},
         {"NakInterval", "50us"},
         {"RetryLimit", "30"}},
        {{"Routing", Pick(random, {"Ecmp", "Spray", "Adaptive", "UpDown", "ForwardingTable"})},
         {"Pfc", pfc},
         {"SwitchBuffer", Pick(random, {"1500000", "32000000"})},
         {"InfinibandBuffer", Pick(random, {"16384", "131072"})},
         {"RerouteDelay", "20us"}});
    const bool fails = random() % 3 == 0 && kind != "single-switch";
    for (uint32_t i = 0; i < 2 * hosts; ++i)
    {
        const uint32_t from = random() % hosts;
        const uint32_t to = (from + 1 + random() % (hosts - 1)) % hosts;
        QueuePairOptions base;
        base.flow = 1 + i;
        const uint32_t pair = rig.Connect(from, to, base);
        for (uint32_t k = 1 + random() % 5; k > 0; --k)
        {
            const uint64_t bytes = 1 + random() % (random() % 4 == 0 ? 500'000 : 20'000);
            Simulator::Schedule(PicoSeconds(random() % 100'000'000),
                                [&rig, pair, bytes]() { rig.Send(pair, bytes); });
        }
        Simulator::Schedule(PicoSeconds(random() % 100'000'000), [&rig, pair]() {
            rig.transport->SendControl(pair, 1);
            rig.transport->SendControl(pair, 2);
        });
    }
    if (fails)
    {
        const auto link = static_cast<LinkId>(random() % cluster.GetLinks().size());
        Simulator::Schedule(MicroSeconds(30), &Fabric::SetLinkUp, rig.fabric, link, false);
        Simulator::Schedule(MicroSeconds(500), &Fabric::SetLinkUp, rig.fabric, link, true);
    }
    rig.Run();
    uint64_t dropped = 0;
    for (const LinkStatistics& link : rig.fabric->GetLinkStatistics())
    {
        dropped += link.droppedPackets;
    }
    if (!fails && loss == 0 && (infiniband || pfc == "true")) // else a pause may be lost, too
    {
        EXPECT_EQ(dropped, 0u) << "lossless means lossless: " << kind << " of " << hosts;
        for (uint32_t pair = 0; pair < rig.transport->GetNQueuePairs(); ++pair)
        {
            EXPECT_EQ(rig.transport->GetStatistics(pair).droppedPackets, 0u);
        }
    }
    for (const auto& entry : rig.controls)
    {
        EXPECT_EQ(entry.second, (std::vector<uint32_t>{1, 2}));
    }
    EXPECT_EQ(rig.controls.size(), 2 * hosts);
}

TEST(TransportRandom, EveryByteOnceAndInOrder)
{
    for (uint32_t seed = 0; seed < 1000; ++seed)
    {
        SCOPED_TRACE("seed " + std::to_string(seed));
        ASSERT_NO_THROW(RunRandom(seed));
        if (testing::Test::HasFailure())
        {
            return; // one seed to look at is enough
        }
    }
}

} // namespace
