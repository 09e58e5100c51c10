/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric-test-tools.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * The packet engine alone, against closed forms: times, order, paths, failures.
 */

using namespace ns3;
using namespace ns3::proteus;
using namespace ns3::proteus::fabrictest;

namespace
{

/// Latency of one unit and of a train, stored or cut through, to the picosecond.
class FabricTimeCase : public FabricCase
{
  public:
    FabricTimeCase()
        : FabricCase("fabric: time of a unit and of a train, exact")
    {
    }

  private:
    void DoRun() override
    {
        // 400 Gb/s: 20 ps a byte.
        const Cluster roce = MakeStar(LinkTechnology::ROCE, 2, 50e9, 500000);
        const int64_t wire = 20 * static_cast<int64_t>(roce.GetLinks()[0].framing.WireBytes(4096));
        Result result = Run(roce, {}, {{0, 1, 1000, 4096}});
        NS_TEST_ASSERT_MSG_EQ(result.flows[0].firstPs, 2 * (wire + 500000), "stored");
        NS_TEST_ASSERT_MSG_EQ(result.flows[0].lastPs, 1001 * wire + 1000000, "train");
        NS_TEST_ASSERT_MSG_EQ(result.rest, "", "at rest");

        result = Run(roce, {{"RoceCutThrough", "true"}}, {{0, 1, 1000, 4096}});
        NS_TEST_ASSERT_MSG_EQ(result.flows[0].firstPs, wire + 64 * 20 + 1000000, "cut through");
        NS_TEST_ASSERT_MSG_EQ(result.flows[0].lastPs, 1000 * wire + 64 * 20 + 1000000, "train");

        // From a slow link to a fast one: what cuts through cannot overtake itself.
        Cluster mixed;
        const VertexId a = AddVertex(mixed, "a", VertexKind::GPU, 0);
        const VertexId b = AddVertex(mixed, "b", VertexKind::GPU, 1);
        const VertexId s = AddVertex(mixed, "s", VertexKind::SWITCH, -1);
        AddLink(mixed, a, s, LinkTechnology::INFINIBAND, 25e9, 1000);
        AddLink(mixed, s, b, LinkTechnology::INFINIBAND, 50e9, 1000);
        result = Run(mixed, {}, {{a, b, 3, 4096}});
        const int64_t slow = 40 * static_cast<int64_t>(mixed.GetLinks()[0].framing.WireBytes(4096));
        NS_TEST_ASSERT_MSG_EQ(result.flows[0].firstPs, slow + 2000, "the last byte comes late");
        NS_TEST_ASSERT_MSG_EQ(result.flows[0].lastPs, 3 * slow + 2000, "and no later");

        // 18 NVLinks: 2.22 ps a byte; fractions of a picosecond do not add up.
        Cluster nvlink;
        const VertexId g0 = AddVertex(nvlink, "g0", VertexKind::GPU, 0);
        const VertexId g1 = AddVertex(nvlink, "g1", VertexKind::GPU, 0);
        AddLink(nvlink, g0, g1, LinkTechnology::NVLINK, 450e9, 0);
        result = Run(nvlink, {{"NvlinkBuffer", "0"}}, {{g0, g1, 100000, 4096}});
        const double bytes =
            1e5 * static_cast<double>(nvlink.GetLinks()[0].framing.WireBytes(4096));
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(result.flows[0].lastPs),
                                  bytes / 450e9 * 1e12,
                                  10,
                                  "100,000 bursts to 10 ps");
    }
};

/// Weights and strict priority at a bottleneck.
class FabricClassCase : public FabricCase
{
  public:
    FabricClassCase()
        : FabricCase("fabric: traffic classes by weight and by strict priority")
    {
    }

  private:
    void DoRun() override
    {
        const Cluster cluster = MakeStar(LinkTechnology::ROCE, 4, 50e9, 500000);
        std::vector<UnitFlow> flows{{1, 0, 3000, 4096, 1}, {2, 0, 3000, 4096, 2}};
        Result result = Run(cluster, {{"TrafficClasses", "4"}, {"ClassWeights", "0,3,1"}}, flows);
        NS_TEST_ASSERT_MSG_EQ(result.rest, "", "at rest");
        // Class 1 has three quarters until it is done, and class 2 the rest of the time.
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(result.flows[0].lastPs) /
                                      static_cast<double>(result.flows[1].lastPs),
                                  4000.0 / 6000,
                                  0.01,
                                  "3 to 1");
        result = Run(cluster, {{"TrafficClasses", "4"}}, flows);
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(result.flows[0].lastPs) /
                                      static_cast<double>(result.flows[1].lastPs),
                                  0.5,
                                  0.01,
                                  "class 1 first");
        // By weight where they are pulled: both from one host.
        flows[1].from = 1;
        flows[1].to = 3;
        result = Run(cluster, {{"TrafficClasses", "4"}, {"ClassWeights", "0,3,1"}}, flows);
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(result.flows[0].lastPs) /
                                      static_cast<double>(result.flows[1].lastPs),
                                  4000.0 / 6000,
                                  0.01,
                                  "3 to 1 at the host");
    }
};

/// Marks between the thresholds have the probability of RED.
class FabricMarkCase : public FabricCase
{
  public:
    FabricMarkCase()
        : FabricCase("fabric: ECN marks by queue depth")
    {
    }

  private:
    void DoRun() override
    {
        const Cluster cluster = MakeStar(LinkTechnology::ROCE, 3, 50e9, 0);
        const std::vector<UnitFlow> flows{{1, 0, 4000, 4096}, {2, 0, 4000, 4096}};
        // The queue grows by one unit per unit time up to 4,000 units: both are known at each.
        const double wire = static_cast<double>(cluster.GetLinks()[0].framing.WireBytes(4096));
        const auto thousand = static_cast<uint64_t>(1000 * wire);
        const Result result = Run(cluster,
                                  {{"EcnReferenceRate", "400Gb/s"},
                                   {"EcnMinBytes", std::to_string(thousand)},
                                   {"EcnMaxBytes", std::to_string(3 * thousand)},
                                   {"EcnMaxProbability", "0.5"},
                                   {"SwitchBuffer", "200000000"},
                                   {"Pfc", "false"},
                                   {"ThresholdShift", "0"}},
                                  flows);
        NS_TEST_ASSERT_MSG_EQ(result.dropped, 0, "no drop");
        // Two arrivals for each unit that leaves: 8,000 arrive while the queue grows to 4,000;
        // 2,000 at depths below 1,000 (no mark), 4,000 from 1,000 to 3,000 (0 to 0.5, 0.25 on
        // average), 2,000 above (all).
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(result.marked), 3000, 100, "marks");
        NS_TEST_ASSERT_MSG_EQ(result.marked,
                              result.flows[0].marked + result.flows[1].marked,
                              "marks arrive");
        CheckNic();
    }

    /// What waits in a NIC, which is slower than the slot it is in, is not marked.
    void CheckNic()
    {
        Cluster cluster;
        const VertexId sender = AddVertex(cluster, "a", VertexKind::GPU, 0);
        const VertexId nic = AddVertex(cluster, "a.nic", VertexKind::NIC, 0);
        const VertexId middle = AddVertex(cluster, "s", VertexKind::SWITCH, -1);
        const VertexId receiver = AddVertex(cluster, "b", VertexKind::GPU, 1);
        AddLink(cluster, sender, nic, LinkTechnology::PCIE, 50e9, 0);
        AddLink(cluster, nic, middle, LinkTechnology::ROCE, 5e9, 0);
        AddLink(cluster, middle, receiver, LinkTechnology::ROCE, 5e9, 0);
        const Result result = Run(cluster,
                                  {{"EcnMinBytes", "1"}, {"EcnMaxBytes", "2"}},
                                  {{sender, receiver, 1000, 4096}});
        NS_TEST_ASSERT_MSG_EQ(result.rest, "", "at rest");
        NS_TEST_ASSERT_MSG_EQ(result.marked, 0, "no marks of a NIC");
    }
};

/// Shares of equal paths under every way of routing.
class FabricRoutingCase : public FabricCase
{
  public:
    FabricRoutingCase()
        : FabricCase("fabric: ways of routing over equal paths")
    {
    }

  private:
    void DoRun() override
    {
        FabricOptions options;
        options.kind = "leaf-spine";
        options.serversPerLeaf = 4;
        options.spines = 4;
        const Cluster cluster = MakeHostCluster(8,
                                                options,
                                                LinkTechnology::ROCE,
                                                50e9,
                                                500000,
                                                DefaultFraming(LinkTechnology::ROCE));
        const std::vector<UnitFlow> one{{0, 4, 4000, 4096}};
        const auto spread = [&](const Result& result) {
            std::vector<uint64_t> packets;
            for (const LinkStatistics& link : result.links)
            {
                const Link& l = cluster.GetLinks()[link.link];
                const bool up = cluster.GetVertices()[l.a].kind == VertexKind::SWITCH &&
                                cluster.GetVertices()[l.b].kind == VertexKind::SWITCH;
                if (up && link.packets > 0)
                {
                    packets.push_back(link.packets);
                }
            }
            return packets;
        };
        for (const std::string mode : {"Ecmp", "ForwardingTable", "UpDown"})
        {
            const Result result = Run(cluster, {{"Routing", mode}}, one);
            NS_TEST_ASSERT_MSG_EQ(spread(result).size(), 2, mode << ": one path");
            NS_TEST_ASSERT_MSG_EQ(result.flows[0].inOrder, true, mode << ": in order");
            NS_TEST_ASSERT_MSG_EQ(result.rest, "", mode);
        }
        Result result = Run(cluster, {{"Routing", "Spray"}}, one);
        NS_TEST_ASSERT_MSG_EQ(spread(result).size(), 8, "all paths");
        for (uint64_t packets : spread(result))
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(packets), 1000, 120, "evenly");
        }
        // Four flows on four uplinks of the same rate: adaptive routing uses all of them.
        const std::vector<UnitFlow> four{{0, 4, 4000, 4096},
                                         {1, 5, 4000, 4096},
                                         {2, 6, 4000, 4096},
                                         {3, 7, 4000, 4096}};
        result = Run(cluster, {{"Routing", "Adaptive"}}, four);
        int64_t last = 0;
        for (const UnitFlow& flow : result.flows)
        {
            NS_TEST_ASSERT_MSG_EQ(flow.received, 4000, "all of it");
            last = std::max(last, flow.lastPs);
        }
        const double wire = static_cast<double>(cluster.GetLinks()[0].framing.WireBytes(4096));
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(last) * 1e-12,
                                  4003 * wire / 50e9 + 2e-6,
                                  0.03 * 4000 * wire / 50e9,
                                  "at full rate");
    }
};

/// A link fails and is repaired.
class FabricFailureCase : public FabricCase
{
  public:
    FabricFailureCase()
        : FabricCase("fabric: failure, new routes, repair; losses are counted")
    {
    }

  private:
    void DoRun() override
    {
        FabricOptions options;
        options.kind = "leaf-spine";
        options.serversPerLeaf = 2;
        options.spines = 2;
        for (LinkTechnology technology : {LinkTechnology::ROCE, LinkTechnology::INFINIBAND})
        {
            const Cluster cluster =
                MakeHostCluster(4, options, technology, 50e9, 500000, DefaultFraming(technology));
            LinkId uplink = 0;
            while (cluster.GetVertices()[cluster.GetLinks()[uplink].a].kind != VertexKind::SWITCH ||
                   cluster.GetVertices()[cluster.GetLinks()[uplink].b].kind != VertexKind::SWITCH)
            {
                ++uplink;
            }
            std::vector<UnitFlow> flows;
            for (uint32_t i = 0; i < 8; ++i)
            {
                flows.push_back({i % 2, 2 + i % 2, 2000, 4096});
            }
            const Result result =
                Run(cluster, {{"RerouteDelay", "20us"}}, flows, [uplink](Ptr<Fabric> fabric) {
                    ScheduleFunction(MicroSeconds(100),
                                     [fabric, uplink]() { fabric->SetLinkUp(uplink, false); });
                    ScheduleFunction(MicroSeconds(400),
                                     [fabric, uplink]() { fabric->SetLinkUp(uplink, true); });
                });
            NS_TEST_ASSERT_MSG_EQ(result.rest, "", "at rest");
            uint64_t received = 0;
            for (const UnitFlow& flow : result.flows)
            {
                received += flow.received;
            }
            NS_TEST_ASSERT_MSG_GT(result.lost, 0, "what was on the wire is lost");
            NS_TEST_ASSERT_MSG_EQ(received + result.lost + result.dropped, 16000, "counted");
            NS_TEST_ASSERT_MSG_GT(result.links[2 * uplink].packets +
                                      result.links[2 * uplink + 1].packets,
                                  0,
                                  "was in use");
        }
        // Loss by chance.
        Cluster cluster = MakeStar(LinkTechnology::INFINIBAND, 2, 50e9, 500000);
        const Result result = Run(cluster, {}, {{0, 1, 20000, 4096}}, [](Ptr<Fabric> fabric) {
            fabric->SetLinkLoss(0, 0.1, 0);
            fabric->SetLinkLoss(1, 0, 1e-6);
        });
        const double bits =
            8.0 * static_cast<double>(cluster.GetLinks()[1].framing.WireBytes(4096));
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(result.links[0].lostPackets),
                                  2000,
                                  150,
                                  "one in ten");
        NS_TEST_ASSERT_MSG_EQ_TOL(
            static_cast<double>(result.links[2].lostPackets + result.links[3].lostPackets),
            18000 * (1 - std::pow(1 - 1e-6, bits)),
            90,
            "by bit errors");
        NS_TEST_ASSERT_MSG_EQ(result.rest, "", "credits of lost units come home");
    }
};

/// The opposite direction, and the inside of devices.
class FabricDeviceLimitCase : public FabricCase
{
  public:
    FabricDeviceLimitCase()
        : FabricCase(
              "fabric: acknowledgements of the link layer, and root complexes, cost their share")
    {
    }

  private:
    void DoRun() override
    {
        Cluster cluster;
        const VertexId a = AddVertex(cluster, "a", VertexKind::GPU, 0);
        const VertexId b = AddVertex(cluster, "b", VertexKind::GPU, 0);
        Link link;
        link.a = a;
        link.b = b;
        link.technology = LinkTechnology::NVLINK;
        link.bytesPerSecond = 300e9;
        link.framing.packetBytes = 256;
        link.framing.packetHeaderBytes = 16;
        link.framing.reverseBytes = 16;
        link.framing.smPacketHeaderBytes = 32;
        link.framing.smReverseBytes = 48;
        cluster.AddLink(link);
        const auto rate = [](const UnitFlow& flow) {
            return static_cast<double>(flow.bytes) / (static_cast<double>(flow.lastPs) * 1e-12);
        };
        Result result = Run(cluster, {}, {{a, b, 20000, 4096}});
        NS_TEST_ASSERT_MSG_EQ_TOL(rate(result.flows[0]), 300e9 * 256 / 272, 1e8, "one way");
        result = Run(cluster, {}, {{a, b, 20000, 4096}, {b, a, 20000, 4096}});
        for (const UnitFlow& flow : result.flows)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(rate(flow), 300e9 * 256 / 288, 3e8, "both ways");
        }
        const CopyMethod sm = CopyMethod::SM;
        result = Run(cluster, {}, {{a, b, 20000, 4096, 1, sm}, {b, a, 20000, 4096, 1, sm}});
        for (const UnitFlow& flow : result.flows)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(rate(flow), 300e9 * 256 / 336, 3e8, "by a kernel");
        }

        // A root complex forwards so much of what one link brings in, whatever the others do.
        Cluster box;
        std::vector<VertexId> gpus;
        for (int i = 0; i < 4; ++i)
        {
            gpus.push_back(AddVertex(box, "g" + std::to_string(i), VertexKind::GPU, 0));
        }
        Vertex cpu;
        cpu.name = "cpu";
        cpu.kind = VertexKind::CPU;
        cpu.server = 0;
        cpu.forwardBytesPerSecond = 16e9;
        const VertexId root = box.AddVertex(cpu);
        for (VertexId gpu : gpus)
        {
            AddLink(box, gpu, root, LinkTechnology::PCIE, 31.5e9, 100000);
        }
        result = Run(box, {}, {{gpus[0], gpus[1], 5000, 4096}});
        NS_TEST_ASSERT_MSG_EQ_TOL(rate(result.flows[0]), 16e9, 0.01 * 16e9, "alone");
        result = Run(box, {}, {{gpus[0], gpus[1], 5000, 4096}, {gpus[2], gpus[3], 5000, 4096}});
        for (const UnitFlow& flow : result.flows)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(rate(flow), 16e9, 0.01 * 16e9, "two pairs");
        }
        result = Run(box, {}, {{gpus[0], gpus[1], 5000, 4096}, {gpus[0], gpus[2], 5000, 4096}});
        for (const UnitFlow& flow : result.flows)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(rate(flow), 8e9, 0.01 * 8e9, "two from one link");
        }
        NS_TEST_ASSERT_MSG_EQ(result.rest, "", "at rest");
    }
};

/// Batching and merged events change nothing.
class FabricReferenceCase : public FabricCase
{
  public:
    FabricReferenceCase()
        : FabricCase("fabric: the same times as with an event of the simulator for everything")
    {
    }

  private:
    void DoRun() override
    {
        FabricOptions options;
        options.kind = "fat-tree";
        options.switchPorts = 4;
        for (LinkTechnology technology : {LinkTechnology::ROCE, LinkTechnology::INFINIBAND})
        {
            const Cluster cluster =
                MakeHostCluster(16, options, technology, 50e9, 500000, DefaultFraming(technology));
            std::vector<UnitFlow> flows;
            for (uint32_t i = 0; i < 40; ++i)
            {
                const auto from = static_cast<VertexId>(MixHash(i, 1) % 16);
                const auto to = static_cast<VertexId>((from + 1 + MixHash(i, 2) % 15) % 16);
                flows.push_back({from,
                                 to,
                                 static_cast<uint32_t>(50 + MixHash(i, 3) % 300),
                                 static_cast<uint32_t>(1 + MixHash(i, 4) % 4096)});
            }
            for (const std::string mode : {"Ecmp", "Spray", "Adaptive"})
            {
                const Attributes fast{{"Routing", mode},
                                      {"SwitchBuffer", "1500000"},
                                      {"EcnMinBytes", "20000"},
                                      {"EcnMaxBytes", "60000"},
                                      {"EcnReferenceRate", "400Gb/s"}};
                Attributes plain = fast;
                plain.emplace_back("ReferenceMode", "true");
                const Result a = Run(cluster, fast, flows);
                const Result b = Run(cluster, plain, flows);
                NS_TEST_ASSERT_MSG_EQ(a.rest + b.rest, "", "at rest");
                NS_TEST_ASSERT_MSG_EQ(a.marked, b.marked, mode << ": marks");
                for (std::size_t i = 0; i < flows.size(); ++i)
                {
                    NS_TEST_ASSERT_MSG_EQ(a.flows[i].lastPs, b.flows[i].lastPs, mode << i);
                    NS_TEST_ASSERT_MSG_EQ(a.flows[i].firstPs, b.flows[i].firstPs, mode << i);
                }
            }
        }
    }
};

/// The suite.
class FabricTestSuite : public TestSuite
{
  public:
    FabricTestSuite()
        : TestSuite("proteus-fabric")
    {
        AddTestCase(new FabricTimeCase);
        AddTestCase(new FabricClassCase);
        AddTestCase(new FabricMarkCase);
        AddTestCase(new FabricRoutingCase);
        AddTestCase(new FabricFailureCase);
        AddTestCase(new FabricDeviceLimitCase);
        AddTestCase(new FabricReferenceCase);
    }
} g_fabricTestSuite; //!< registers itself

} // namespace
