/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-fabric-test-tools.h"

#include <algorithm>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * The packet engine alone, against closed forms: credits, pauses, queues per input, and what waits
 * in a circle.
 */

using namespace ns3;
using namespace ns3::proteus;
using namespace ns3::proteus::fabrictest;

namespace
{

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

/// The suite.
class FabricFlowControlTestSuite : public TestSuite
{
  public:
    FabricFlowControlTestSuite()
        : TestSuite("proteus-fabric-flow-control")
    {
        AddTestCase(new FabricCreditCase);
        AddTestCase(new FabricPauseCase);
        AddTestCase(new FabricInputQueueCase);
        AddTestCase(new FabricDeadlockCase);
    }
} g_fabricFlowControlTestSuite; //!< registers itself

} // namespace
