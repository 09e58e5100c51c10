/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flows-test-tools.h"
#include "proteus-test-ranks.h"

#include "ns3/test.h"

#include <algorithm>

using namespace ns3;
using namespace ns3::proteus;
using namespace ns3::proteus::flowtest;

namespace
{

/// What is seen of the last link of an incast while all flows are under way.
struct QueueLooks
{
    uint64_t mostBytes{0}; //!< that waited for it
    double meanBytes{0};   //!< that waited for it
    double used{0};        //!< share of its time
};

/**
 * @param run an incast to rank 0 on one switch, not yet played
 * @param fromUs first look @param toUs last look
 * @param looks filled while it plays
 */
void
LookAtQueue(FlowRun& run, int64_t fromUs, int64_t toUs, QueueLooks& looks)
{
    PortId last = NO_PORT;
    const VertexId receiver = run.fabric->GetCluster().GetGpus()[0];
    for (PortId port = 0; port < run.fabric->GetNPorts(); ++port)
    {
        last = run.fabric->GetTo(port) == receiver ? port : last;
    }
    const auto n = static_cast<double>(toUs - fromUs);
    for (int64_t us = fromUs; us < toUs; ++us)
    {
        ScheduleFunction(MicroSeconds(us), [&run, &looks, last, n] {
            const uint64_t bytes = run.fabric->GetQueueBytes(last);
            looks.mostBytes = std::max(looks.mostBytes, bytes);
            looks.meanBytes += static_cast<double>(bytes) / n;
        });
    }
    for (const auto& [us, sign] : {std::make_pair(fromUs, -1.0), std::make_pair(toUs, 1.0)})
    {
        const double part = sign / (n * 1e6);
        ScheduleFunction(MicroSeconds(us), [&run, &looks, last, part] {
            looks.used += part * static_cast<double>(run.fabric->GetStatistics(last).busyPs);
        });
    }
}

} // namespace

/**
 * @ingroup proteus-tests
 * An incast under every congestion control: it ends, loses nothing, and all get about the same.
 */
class ProteusFlowsControls : public TestCase
{
  public:
    ProteusFlowsControls()
        : TestCase("an incast under every congestion control")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string& control : GetCongestionNames())
        {
            for (const uint64_t bytes : {uint64_t{2000000}, uint64_t{2000001}})
            {
                Scenario scenario;
                scenario.cluster = OneSwitch(9, Packets(1000, 48));
                scenario.flows = Incast(8, bytes);
                scenario.transport = {{"CongestionControl", control}};
                const TestRanks ranks(*scenario.cluster);
                FlowRun run(scenario);
                NS_TEST_ASSERT_MSG_EQ(run.Play(), "", control);
                const double leastPs = 8.0 * static_cast<double>(bytes) * 1.048 * PS_PER_BYTE;
                const double endPs = static_cast<double>(run.player->GetEndPs());
                NS_TEST_EXPECT_MSG_GT(endPs, leastPs, control << ": no faster than the link");
                NS_TEST_EXPECT_MSG_LT(endPs, 1.5 * leastPs, control << ": the link is used");
                NS_TEST_EXPECT_MSG_EQ(run.Sum(&LinkStatistics::droppedPackets), 0, control);
                NS_TEST_EXPECT_MSG_EQ(run.player->GetTransport()->GetRetransmittedPackets(),
                                      0,
                                      control << ": nothing was sent twice");
            }
        }
    }
};

/**
 * @ingroup proteus-tests
 * HPCC keeps the queue near zero and the link at its target (Li et al., SIGCOMM 2019: eta of 95 %);
 * DCQCN lets the queue grow into the marks and cuts rates (Zhu et al., SIGCOMM 2015).
 */
class ProteusFlowsQueues : public TestCase
{
  public:
    ProteusFlowsQueues()
        : TestCase("queues under HPCC and DCQCN")
    {
    }

  private:
    /// A rate has changed. @param bytesPerSecond to what
    void OnChange(uint32_t /* queuePair */,
                  double bytesPerSecond,
                  uint64_t /* windowBytes */,
                  int64_t /* timePs */)
    {
        m_lowest = std::min(m_lowest, bytesPerSecond);
        ++m_changes;
    }

    double m_lowest{RATE_400G}; //!< rate that DCQCN has set
    uint64_t m_changes{0};      //!< of rates

    void DoRun() override
    {
        Scenario scenario;
        scenario.cluster = OneSwitch(9, Packets(1000, 48));
        scenario.flows = Incast(8, 6000000);
        // Ends after 1 ms; the controls have settled after 300 us.
        scenario.transport = {{"CongestionControl", "none"}};
        const uint32_t marks = 100 * 1000 * 16; // at 400 Gb/s: 100 KB at 25 Gb/s
        QueueLooks plain;
        {
            FlowRun run(scenario);
            LookAtQueue(run, 300, 700, plain);
            NS_TEST_ASSERT_MSG_EQ(run.Play(), "", "none");
        }
        NS_TEST_EXPECT_MSG_GT(plain.meanBytes, 2 * marks, "without control the buffer fills");

        scenario.transport = {{"CongestionControl", "hpcc"}};
        {
            FlowRun run(scenario);
            QueueLooks looks;
            LookAtQueue(run, 300, 700, looks);
            NS_TEST_ASSERT_MSG_EQ(run.Play(), "", "hpcc");
            // A bandwidth-delay product is about 104 KB here.
            NS_TEST_EXPECT_MSG_LT(looks.meanBytes, 20000, "HPCC: near zero");
            NS_TEST_EXPECT_MSG_LT(looks.mostBytes, 60000, "HPCC: at all times");
            NS_TEST_EXPECT_MSG_EQ_TOL(looks.used, 0.95, 0.05, "HPCC: its target utilisation");
            NS_TEST_EXPECT_MSG_EQ(run.Sum(&LinkStatistics::pauses), 0, "HPCC: no pauses");
        }

        scenario.transport = {{"CongestionControl", "dcqcn"}};
        {
            FlowRun run(scenario);
            QueueLooks looks;
            LookAtQueue(run, 100, 500, looks);
            run.player->GetTransport()->TraceConnectWithoutContext(
                "CongestionState",
                MakeCallback(&ProteusFlowsQueues::OnChange, this));
            NS_TEST_ASSERT_MSG_EQ(run.Play(), "", "dcqcn");
            uint64_t notifications = 0;
            uint64_t marked = 0;
            for (uint32_t i = 0; i < 8; ++i)
            {
                const auto statistics =
                    run.player->GetTransport()->GetStatistics(run.player->GetQueuePair(i));
                notifications += statistics.notifications;
                marked += statistics.markedPackets;
            }
            NS_TEST_EXPECT_MSG_GT(run.Sum(&LinkStatistics::markedPackets), 100, "DCQCN: marks");
            NS_TEST_EXPECT_MSG_EQ(run.Sum(&LinkStatistics::markedPackets),
                                  marked,
                                  "DCQCN: every mark arrives");
            NS_TEST_EXPECT_MSG_GT(notifications, 8, "DCQCN: notifications");
            NS_TEST_EXPECT_MSG_LT(notifications, marked, "DCQCN: fewer than marks");
            NS_TEST_EXPECT_MSG_GT(m_changes, notifications, "DCQCN: rates fall and rise");
            NS_TEST_EXPECT_MSG_LT(m_lowest, RATE_400G / 4, "DCQCN: rates are cut");
            NS_TEST_EXPECT_MSG_LT(looks.meanBytes, plain.meanBytes, "DCQCN: a shorter queue");
        }
    }
};

/**
 * @ingroup proteus-tests
 * PFC in a small buffer: senders pause and go on, whatever their control is, and nothing is lost.
 */
class ProteusFlowsPause : public TestCase
{
  public:
    ProteusFlowsPause()
        : TestCase("PFC pauses and resumes")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string& control : GetCongestionNames())
        {
            for (const char* pfc : {"true", "false"})
            {
                Scenario scenario;
                scenario.cluster = OneSwitch(9, Packets(1000, 48));
                scenario.flows = Incast(8, 1000001);
                scenario.transport = {{"CongestionControl", control},
                                      {"RetransmissionTimeout", "100us"},
                                      {"RetryLimit", "30"}};
                // Reserve and headroom of nine ports, and little to share.
                scenario.fabric = {{"SwitchBuffer", "1100000"}, {"Pfc", pfc}};
                const TestRanks ranks(*scenario.cluster);
                FlowRun run(scenario);
                const std::string name = control + ", Pfc = " + pfc;
                NS_TEST_ASSERT_MSG_EQ(run.Play(), "", name);
                if (std::string(pfc) == "true")
                {
                    NS_TEST_EXPECT_MSG_GT(run.Sum(&LinkStatistics::pauses), 0, name);
                    NS_TEST_EXPECT_MSG_EQ(run.Sum(&LinkStatistics::droppedPackets), 0, name);
                    NS_TEST_EXPECT_MSG_EQ(run.player->GetTransport()->GetRetransmittedPackets(),
                                          0,
                                          name);
                }
                else
                {
                    NS_TEST_EXPECT_MSG_EQ(run.Sum(&LinkStatistics::pauses), 0, name);
                }
            }
        }
    }
};

/**
 * @ingroup proteus-tests
 * The congestion of flows.
 */
class ProteusFlowsCongestionTestSuite : public TestSuite
{
  public:
    ProteusFlowsCongestionTestSuite()
        : TestSuite("proteus-flows-congestion")
    {
        AddTestCase(new ProteusFlowsControls);
        AddTestCase(new ProteusFlowsQueues);
        AddTestCase(new ProteusFlowsPause);
    }
};

static ProteusFlowsCongestionTestSuite g_proteusFlowsCongestionTestSuite; //!< registers the suite
