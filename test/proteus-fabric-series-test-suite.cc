/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-incast-test-tools.h"

#include "ns3/test.h"

#include <algorithm>
#include <fstream>
#include <map>

using namespace ns3;
using namespace ns3::proteus;
using namespace ns3::proteus::incasttest;

/**
 * @ingroup proteus-tests
 * Time series add up to the statistics, change nothing, and end by themselves.
 */
class ProteusTimeSeries : public TestCase
{
  public:
    /// @param technology of the links
    explicit ProteusTimeSeries(LinkTechnology technology)
        : TestCase(std::string("time series add up to the statistics, ") + ToString(technology)),
          m_technology(technology)
    {
    }

  private:
    /// Adds a sample to the sums.
    void AddLinkSample(const LinkSample& sample)
    {
        LinkStatistics& sum = m_sums[sample.port];
        sum.packets += sample.did.packets;
        sum.payloadBytes += sample.did.payloadBytes;
        sum.wireBytes += sample.did.wireBytes;
        sum.receivedPackets += sample.did.receivedPackets;
        sum.receivedPayloadBytes += sample.did.receivedPayloadBytes;
        sum.busyPs += sample.did.busyPs;
        sum.creditStallPs += sample.did.creditStallPs;
        sum.markedPackets += sample.did.markedPackets;
        sum.pauses += sample.did.pauses;
        sum.pausedPs += sample.did.pausedPs;
        m_nQueued += sample.queueBytes > 0 ? 1 : 0;
        m_mostUtilization = std::max(m_mostUtilization, sample.GetUtilization());
        NS_TEST_EXPECT_MSG_LT_OR_EQ(sample.did.busyPs, sample.intervalPs, "share of time");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(sample.did.pausedPs, sample.intervalPs, "share of pauses");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(sample.did.creditStallPs, sample.intervalPs, "share of stalls");
        NS_TEST_EXPECT_MSG_GT_OR_EQ(sample.did.busyPs, 0, "time goes on");
    }

    void DoRun() override
    {
        FabricHelper helper = MakeTightHelper();
        helper.SetFabricAttribute("InfinibandBuffer", UintegerValue(20000));
        const std::string control = m_technology == LinkTechnology::ROCE ? "dcqcn" : "none";
        std::vector<std::pair<uint32_t, int64_t>> expected;
        {
            Incast plain(m_technology, helper, control);
            plain.Run();
            expected = plain.times;
        }
        helper.HoldNames();
        const std::string file = CreateTempDirFilename("links.csv");
        const std::string congestionFile = CreateTempDirFilename("congestion.csv");
        const Time interval = NanoSeconds(3700);
        std::vector<LinkStatistics> totals;
        std::vector<uint64_t> sentBytes;
        {
            Incast incast(m_technology, helper, control);
            m_sums.assign(incast.fabric->GetNPorts(), LinkStatistics());
            Ptr<LinkMonitor> monitor = helper.EnableLinkSeries(incast.fabric, file, interval);
            monitor->TraceConnectWithoutContext(
                "Sample",
                MakeCallback(&ProteusTimeSeries::AddLinkSample, this));
            helper.EnableCongestionSeries(incast.transport, congestionFile, MicroSeconds(2));
            incast.Run(); // two monitors, and it ends
            NS_TEST_ASSERT_MSG_EQ((incast.times == expected), true, "monitors change results");
            // After the last acknowledgement, only a timer may still be to come.
            NS_TEST_ASSERT_MSG_LT_OR_EQ(Simulator::Now(),
                                        PicoSeconds(expected.back().second) + interval +
                                            MicroSeconds(200),
                                        "it ends");
            totals = incast.fabric->GetLinkStatistics();
            for (uint32_t id = 0; id < incast.transport->GetNQueuePairs(); ++id)
            {
                sentBytes.push_back(incast.transport->GetStatistics(id).sentBytes);
            }
        }
        NS_TEST_ASSERT_MSG_EQ(std::ifstream(file).good(), false, "it has no name before its end");
        helper.FinishFiles();
        {
            FabricHelper holding; // a run that does not come to its end leaves what there was
            holding.HoldNames();
            Incast incast(m_technology, holding, control);
            holding.EnableLinkSeries(incast.fabric, file, interval);
            holding.InstallDevice(incast.fabric, 0);
            holding.EnableAsciiFile(file + ".tr");
            incast.Run();
        }
        for (PortId port = 0; port < totals.size(); ++port)
        {
            const LinkStatistics& sum = m_sums[port];
            const LinkStatistics& total = totals[port];
            NS_TEST_ASSERT_MSG_EQ(sum.packets, total.packets, "packets of port " << port);
            NS_TEST_ASSERT_MSG_EQ(sum.payloadBytes, total.payloadBytes, "payload of " << port);
            NS_TEST_ASSERT_MSG_EQ(sum.wireBytes, total.wireBytes, "bytes of port " << port);
            NS_TEST_ASSERT_MSG_EQ(sum.receivedPackets, total.receivedPackets, "arrivals " << port);
            NS_TEST_ASSERT_MSG_EQ(sum.busyPs, total.busyPs, "time of port " << port);
            NS_TEST_ASSERT_MSG_EQ(sum.creditStallPs, total.creditStallPs, "stalls of " << port);
            NS_TEST_ASSERT_MSG_EQ(sum.markedPackets, total.markedPackets, "marks of " << port);
            NS_TEST_ASSERT_MSG_EQ(sum.pauses, total.pauses, "pauses of port " << port);
            NS_TEST_ASSERT_MSG_EQ(sum.pausedPs, total.pausedPs, "paused time of port " << port);
        }
        NS_TEST_ASSERT_MSG_GT(m_nQueued, 0, "there are queues");
        NS_TEST_ASSERT_MSG_EQ_TOL(m_mostUtilization, 1, 0.02, "the bottleneck is busy");

        // The files say the same.
        const auto lines = ReadLines(file);
        NS_TEST_ASSERT_MSG_GT(lines.size(), 10, "lines of the series");
        std::map<std::string, uint64_t> wireBytes;
        std::map<std::string, uint64_t> pauses;
        for (std::size_t i = 1; i < lines.size(); ++i)
        {
            const auto cells = SplitLine(lines[i], ',');
            NS_TEST_ASSERT_MSG_EQ(cells.size(), SplitLine(lines[0], ',').size(), lines[i]);
            wireBytes[cells[2] + " " + cells[3]] += std::stoull(cells[7]);
            pauses[cells[2] + " " + cells[3]] += std::stoull(cells[13]);
        }
        NS_TEST_ASSERT_MSG_EQ(SplitLine(lines[0], ',')[7], "wire_bytes", "column");
        NS_TEST_ASSERT_MSG_EQ(SplitLine(lines[0], ',')[13], "pauses", "column");
        NS_TEST_ASSERT_MSG_EQ(wireBytes["host1 switch0"], totals[2].wireBytes, "bytes of host 1");
        NS_TEST_ASSERT_MSG_EQ(wireBytes["switch0 host0"], totals[1].wireBytes, "bytes to host 0");
        NS_TEST_ASSERT_MSG_EQ(pauses["host1 switch0"], totals[2].pauses, "pauses of host 1");

        const auto states = ReadLines(congestionFile);
        std::map<std::string, uint64_t> sent;
        uint64_t nRates = 0;
        for (std::size_t i = 1; i < states.size(); ++i)
        {
            const auto cells = SplitLine(states[i], ',');
            NS_TEST_ASSERT_MSG_EQ(cells.size(), SplitLine(states[0], ',').size(), states[i]);
            sent[cells[2]] += std::stoull(cells[8]);
            nRates += !cells[5].empty() && std::stod(cells[5]) < 12.4e9 ? 1 : 0;
        }
        for (std::size_t id = 0; id < sentBytes.size(); ++id)
        {
            NS_TEST_ASSERT_MSG_EQ(sent[std::to_string(id)], sentBytes[id], "sent by " << id);
        }
        NS_TEST_ASSERT_MSG_EQ((nRates > 0),
                              (m_technology == LinkTechnology::ROCE),
                              "DCQCN cuts rates, and no control has none");
    }

    LinkTechnology m_technology;        //!< of all links
    std::vector<LinkStatistics> m_sums; //!< of samples, by port
    uint64_t m_nQueued{0};              //!< samples with a queue
    double m_mostUtilization{0};        //!< of all samples
};

/**
 * @ingroup proteus-tests
 * Tests of links and queue pairs over time.
 */
class ProteusFabricSeriesTestSuite : public TestSuite
{
  public:
    ProteusFabricSeriesTestSuite()
        : TestSuite("proteus-fabric-series")
    {
        AddTestCase(new ProteusTimeSeries(LinkTechnology::ROCE));
        AddTestCase(new ProteusTimeSeries(LinkTechnology::INFINIBAND));
    }
};

static ProteusFabricSeriesTestSuite g_proteusFabricSeriesTestSuite; //!< registers itself
