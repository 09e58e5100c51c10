/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/pointer.h"
#include "ns3/proteus-cluster.h"
#include "ns3/proteus-compat.h"
#include "ns3/proteus-fabric.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The packet engine alone, against closed forms: raw units without a transport.
 */

using namespace ns3;
using namespace ns3::proteus;

namespace
{

/// Units from one endpoint to another, sent as fast as the fabric takes them.
struct UnitFlow
{
    VertexId from;
    VertexId to;
    uint32_t units;
    uint32_t payload;
    uint8_t trafficClass{1};
    uint8_t flags{0};
    // What came of it.
    uint32_t sent{0};
    uint32_t received{0};
    uint32_t marked{0};
    uint32_t next{0}; //!< sequence expected next
    bool inOrder{true};
    uint64_t bytes{0};
    int64_t firstPs{0};
    int64_t lastPs{0};
};

/// The ends of all flows.
class UnitEndpoint : public FabricEndpoint
{
  public:
    /// @param fabric under test @param flows to send
    UnitEndpoint(Ptr<Fabric> fabric, std::vector<UnitFlow> flows)
        : m_fabric(fabric),
          m_flows(std::move(flows))
    {
        fabric->SetEndpoint(this);
        for (const UnitFlow& flow : m_flows)
        {
            fabric->UseTrafficClass(flow.trafficClass);
            m_fabric->Offer(m_fabric->GetPort(flow.from, 0));
        }
    }

    bool Pull(PortId port, uint32_t classes, PacketRecord& record, int64_t& nextPs) override
    {
        nextPs = INT64_MAX;
        UnitFlow* best = nullptr;
        for (UnitFlow& flow : m_flows)
        {
            if (flow.from == m_fabric->GetFrom(port) && flow.sent < flow.units &&
                (classes >> flow.trafficClass & 1) != 0 &&
                (best == nullptr || flow.sent < best->sent))
            {
                best = &flow;
            }
        }
        if (best == nullptr)
        {
            return false;
        }
        record.queuePair = static_cast<uint32_t>(best - m_flows.data());
        record.sequence = best->sent++;
        record.destination = best->to;
        record.payloadBytes = best->payload;
        record.kind = PacketKind::DATA;
        record.trafficClass = best->trafficClass;
        record.flags = best->flags;
        nextPs = 0;
        return true;
    }

    VertexId Deliver(const PacketRecord& record, VertexId at) override
    {
        UnitFlow& flow = m_flows[record.queuePair];
        flow.firstPs = flow.received == 0 ? m_fabric->GetTimePs() : flow.firstPs;
        flow.lastPs = m_fabric->GetTimePs();
        flow.inOrder = flow.inOrder && record.sequence == flow.next && at == flow.to;
        flow.next = record.sequence + 1;
        flow.bytes += record.payloadBytes;
        flow.marked += record.flags & PacketRecord::CONGESTION_EXPERIENCED;
        ++flow.received;
        return CONSUMED;
    }

    uint64_t GetFlowHash(uint32_t queuePair) const override
    {
        return MixHash(queuePair, 99);
    }

    /// @return the flows
    const std::vector<UnitFlow>& Flows() const
    {
        return m_flows;
    }

  private:
    Ptr<Fabric> m_fabric;
    std::vector<UnitFlow> m_flows;
};

/// Attributes of a fabric: names and values as text.
using Attributes = std::vector<std::pair<std::string, std::string>>;

/// @param cluster to build @param attributes of the fabric @return the fabric
Ptr<Fabric>
MakeFabric(const Cluster& cluster, const Attributes& attributes = {})
{
    ObjectFactory factory;
    factory.SetTypeId("ns3::proteus::Fabric");
    for (const auto& attribute : attributes)
    {
        factory.Set(attribute.first, StringValue(attribute.second));
    }
    Ptr<Fabric> fabric = factory.Create<Fabric>();
    ObjectFactory scheduler;
    scheduler.SetTypeId("ns3::proteus::HorizonScheduler");
    scheduler.Set("Horizon", PointerValue(fabric->GetHorizon()));
    Simulator::SetScheduler(scheduler);
    fabric->AssignStreams(1);
    fabric->SetCluster(std::make_shared<const Cluster>(cluster));
    return fabric;
}

/// @param technology of all links @param hosts on one switch @param bytesPerSecond of a link
/// @param delayPs of a link @return the cluster
Cluster
MakeStar(LinkTechnology technology, uint32_t hosts, double bytesPerSecond, int64_t delayPs)
{
    return MakeHostCluster(hosts,
                           FabricOptions(),
                           technology,
                           bytesPerSecond,
                           delayPs,
                           DefaultFraming(technology));
}

/// @param cluster to add to @param name of the vertex @param kind of it @param server it is in
/// @return the vertex
VertexId
AddVertex(Cluster& cluster, const std::string& name, VertexKind kind, int32_t server)
{
    Vertex vertex;
    vertex.name = name;
    vertex.kind = kind;
    vertex.server = server;
    vertex.model = kind == VertexKind::GPU ? "A100-SXM4-80GB" : "";
    return cluster.AddVertex(vertex);
}

/// @param cluster to add to @param a one end @param b other end @param technology of the link
/// @param bytesPerSecond its rate @param delayPs its delay
void
AddLink(Cluster& cluster,
        VertexId a,
        VertexId b,
        LinkTechnology technology,
        double bytesPerSecond,
        int64_t delayPs)
{
    Link link;
    link.a = a;
    link.b = b;
    link.technology = technology;
    link.bytesPerSecond = bytesPerSecond;
    link.delayPs = delayPs;
    link.framing = DefaultFraming(technology);
    cluster.AddLink(link);
}

/// Base of the cases: runs flows and cleans up.
class FabricCase : public TestCase
{
  public:
    using TestCase::TestCase;

  protected:
    /// What a run leaves.
    struct Result
    {
        std::vector<UnitFlow> flows;
        std::vector<LinkStatistics> links;
        std::string rest;
        std::string deadlock;
        uint64_t dropped{0};
        uint64_t pauses{0};
        uint64_t marked{0};
        uint64_t lost{0};
    };

    /// @param cluster to run on @param attributes of the fabric @param flows to send
    /// @param before the run, with the fabric @return what is left
    Result Run(const Cluster& cluster,
               const Attributes& attributes,
               const std::vector<UnitFlow>& flows,
               const std::function<void(Ptr<Fabric>)>& before = {})
    {
        Ptr<Fabric> fabric = MakeFabric(cluster, attributes);
        Result result;
        {
            UnitEndpoint endpoint(fabric, flows);
            if (before)
            {
                before(fabric);
            }
            Simulator::Run();
            result.flows = endpoint.Flows();
        }
        result.links = fabric->GetLinkStatistics();
        result.rest = fabric->CheckAtRest();
        result.deadlock = fabric->FindDeadlock();
        for (const LinkStatistics& link : result.links)
        {
            result.dropped += link.droppedPackets;
            result.pauses += link.pauses;
            result.marked += link.markedPackets;
            result.lost += link.lostPackets;
        }
        fabric->Dispose();
        Simulator::Destroy();
        return result;
    }
};

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

/// A loop of credits carries min(rate, credits per round trip).
class FabricCreditCase : public FabricCase
{
  public:
    FabricCreditCase()
        : FabricCase("fabric: credits bound the rate by buffer over round trip, nothing drops")
    {
    }

  private:
    void DoRun() override
    {
        Cluster cluster;
        const VertexId a = AddVertex(cluster, "a", VertexKind::GPU, 0);
        const VertexId b = AddVertex(cluster, "b", VertexKind::GPU, 1);
        AddLink(cluster, a, b, LinkTechnology::INFINIBAND, 50e9, 5000000);
        const auto wire = static_cast<double>(cluster.GetLinks()[0].framing.WireBytes(4096));
        for (uint32_t units : {4u, 10u, 100u, 200u})
        {
            const auto buffer = static_cast<uint32_t>(units * wire);
            const Result result =
                Run(cluster, {{"InfinibandBuffer", std::to_string(buffer)}}, {{a, b, 20000, 4096}});
            const double seconds =
                static_cast<double>(result.flows[0].lastPs - result.flows[0].firstPs) * 1e-12;
            const double rate = 19999 * wire / seconds;
            // A credit is home one delay after the last byte, the unit takes its own time as well.
            const double loop = wire / 50e9 + 2 * 5e-6;
            NS_TEST_ASSERT_MSG_EQ_TOL(rate,
                                      std::min(50e9, units * wire / loop),
                                      0.005 * rate,
                                      units << " units of buffer");
            NS_TEST_ASSERT_MSG_EQ(result.dropped, 0, "no drop");
            NS_TEST_ASSERT_MSG_EQ(result.rest, "", "at rest");
        }
    }
};

/// Incast: no loss with PFC, loss without; fair.
class FabricPauseCase : public FabricCase
{
  public:
    FabricPauseCase()
        : FabricCase("fabric: PFC loses nothing, its absence does, shares are fair")
    {
    }

  private:
    void DoRun() override
    {
        const Cluster cluster = MakeStar(LinkTechnology::ROCE, 9, 50e9, 500000);
        std::vector<UnitFlow> flows;
        for (VertexId host = 1; host < 9; ++host)
        {
            flows.push_back({host, 0, 2000, 4096});
        }
        const Attributes small{{"SwitchBuffer", "2000000"}, {"EcnMinBytes", "10000"}};
        Result result = Run(cluster, small, flows);
        NS_TEST_ASSERT_MSG_EQ(result.rest, "", "at rest");
        NS_TEST_ASSERT_MSG_EQ(result.dropped, 0, "lossless");
        NS_TEST_ASSERT_MSG_GT(result.pauses, 0, "pauses");
        NS_TEST_ASSERT_MSG_GT(result.marked, 0, "marks");
        const double wire =
            static_cast<double>(cluster.GetLinks()[0].framing.WireBytes(4096)) * 20e-12;
        int64_t last = 0;
        for (const UnitFlow& flow : result.flows)
        {
            NS_TEST_ASSERT_MSG_EQ(flow.received, 2000, "all of it");
            NS_TEST_ASSERT_MSG_EQ(flow.inOrder, true, "in order");
            last = std::max(last, flow.lastPs);
        }
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(last) * 1e-12,
                                  16000 * wire + 1e-6 + wire,
                                  0.005 * 16000 * wire,
                                  "drains at the rate of the link");
        for (const UnitFlow& flow : result.flows)
        {
            NS_TEST_ASSERT_MSG_GT(static_cast<double>(flow.lastPs),
                                  0.98 * static_cast<double>(last),
                                  "equal shares end together");
        }
        Attributes lossy = small;
        lossy.emplace_back("Pfc", "false");
        result = Run(cluster, lossy, flows);
        NS_TEST_ASSERT_MSG_GT(result.dropped, 0, "lossy");
        NS_TEST_ASSERT_MSG_EQ(result.pauses, 0, "no pauses");
        NS_TEST_ASSERT_MSG_EQ(result.rest, "", "at rest");
        uint64_t received = result.dropped;
        for (const UnitFlow& flow : result.flows)
        {
            received += flow.received;
        }
        NS_TEST_ASSERT_MSG_EQ(received, 16000, "received or dropped");
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

/// A unit that waits for a busy output holds up the others of its input, or does not.
class FabricInputQueueCase : public FabricCase
{
  public:
    FabricInputQueueCase()
        : FabricCase("fabric: head-of-line blocking with input queues, none with output queues")
    {
    }

  private:
    void DoRun() override
    {
        // 1, 2 and 3 send to 0; 1 also to 4, which nobody else wants.
        const Cluster cluster = MakeStar(LinkTechnology::INFINIBAND, 5, 50e9, 100000);
        const std::vector<UnitFlow> flows{{1, 0, 2000, 4096},
                                          {2, 0, 6000, 4096},
                                          {3, 0, 6000, 4096},
                                          {1, 4, 2000, 4096}};
        const Attributes ample{{"InfinibandBuffer", "100000000"}};
        Result free = Run(cluster, ample, flows);
        Attributes blocking = ample;
        blocking.emplace_back("InputQueuedDevices", "switch");
        Result blocked = Run(cluster, blocking, flows);
        NS_TEST_ASSERT_MSG_EQ(free.rest, "", "at rest");
        NS_TEST_ASSERT_MSG_EQ(blocked.rest, "", "at rest");
        NS_TEST_ASSERT_MSG_GT(static_cast<double>(blocked.flows[3].lastPs),
                              1.4 * static_cast<double>(free.flows[3].lastPs),
                              "held up by units for another output");
        NS_TEST_ASSERT_MSG_EQ(blocked.flows[0].inOrder && blocked.flows[3].inOrder, true, "order");
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

/// A ring of switches whose credits wait for each other.
class FabricDeadlockCase : public FabricCase
{
  public:
    FabricDeadlockCase()
        : FabricCase("fabric: a circle of full buffers is found and named; up/down has none")
    {
    }

  private:
    void DoRun() override
    {
        for (LinkTechnology technology : {LinkTechnology::INFINIBAND, LinkTechnology::ROCE})
        {
            Cluster cluster;
            std::vector<VertexId> hosts;
            std::vector<VertexId> switches;
            for (int32_t i = 0; i < 5; ++i)
            {
                hosts.push_back(AddVertex(cluster, "h" + std::to_string(i), VertexKind::GPU, i));
            }
            for (int32_t i = 0; i < 5; ++i)
            {
                switches.push_back(
                    AddVertex(cluster, "s" + std::to_string(i), VertexKind::SWITCH, -1));
            }
            for (uint32_t i = 0; i < 5; ++i)
            {
                AddLink(cluster, hosts[i], switches[i], technology, 50e9, 500000);
                AddLink(cluster, switches[i], switches[(i + 1) % 5], technology, 50e9, 500000);
            }
            std::vector<UnitFlow> flows;
            for (uint32_t i = 0; i < 5; ++i)
            {
                flows.push_back({hosts[i], hosts[(i + 2) % 5], 5000, 4096});
            }
            const Attributes small{{"InfinibandBuffer", "16384"},
                                   {"SwitchBuffer", "1200000"},
                                   {"ThresholdShift", "6"}};
            Result result = Run(cluster, small, flows);
            NS_TEST_ASSERT_MSG_NE(result.rest, "", "stuck");
            for (uint32_t i = 0; i < 5; ++i)
            {
                NS_TEST_ASSERT_MSG_NE(result.deadlock.find("s" + std::to_string(i) + " -> s"),
                                      std::string::npos,
                                      "names switch " << i << ": " << result.deadlock);
            }
            Attributes upDown = small;
            upDown.emplace_back("Routing", "UpDown");
            result = Run(cluster, upDown, flows);
            NS_TEST_ASSERT_MSG_EQ(result.rest, "", "up/down routing goes through");
            NS_TEST_ASSERT_MSG_EQ(result.deadlock, "", "no circle");
            NS_TEST_ASSERT_MSG_EQ(result.dropped, 0, "no drop");
        }
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
        const uint8_t sm = PacketRecord::SM_COPY;
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

/// The packet engine alone.
class FabricTestSuite : public TestSuite
{
  public:
    FabricTestSuite()
        : TestSuite("proteus-fabric")
    {
        AddTestCase(new FabricTimeCase);
        AddTestCase(new FabricCreditCase);
        AddTestCase(new FabricPauseCase);
        AddTestCase(new FabricClassCase);
        AddTestCase(new FabricInputQueueCase);
        AddTestCase(new FabricMarkCase);
        AddTestCase(new FabricRoutingCase);
        AddTestCase(new FabricFailureCase);
        AddTestCase(new FabricDeadlockCase);
        AddTestCase(new FabricDeviceLimitCase);
        AddTestCase(new FabricReferenceCase);
    }
};

FabricTestSuite g_fabricTestSuite; //!< registers the suite

} // namespace
