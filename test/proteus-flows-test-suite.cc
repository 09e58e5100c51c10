/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flows-test-tools.h"
#include "proteus-test-ranks.h"

#include "ns3/test.h"

#include <algorithm>
#include <cmath>

using namespace ns3;
using namespace ns3::proteus;
using namespace ns3::proteus::flowtest;

namespace
{

/// No congestion control: what the links do.
const Settings PLAIN{{"CongestionControl", "none"}};

/// @param a first time @param b second time @return their distance
double
Distance(double a, double b)
{
    return std::abs(a - b);
}

/// @param framing of a link @param bytes payload of a message @return its bytes on the wire
uint64_t
MessageWireBytes(const LinkFraming& framing, uint64_t bytes)
{
    const uint64_t full = bytes / framing.unitBytes;
    const uint64_t rest = bytes % framing.unitBytes;
    return full * framing.WireBytes(framing.unitBytes) + (rest > 0 ? framing.WireBytes(rest) : 0);
}

} // namespace

/**
 * @ingroup proteus-tests
 * Eight hosts send 10 MB each to a ninth: the exact 1.6576 ms (36 bytes of overhead, where
 * ASTRA-sim's ns-3 backend ends at up to 1.682 ms) and 1.6768 ms (48 bytes, where the HPCC
 * simulator ends at 1.602 ms).
 */
class ProteusFlowsExactIncast : public TestCase
{
  public:
    ProteusFlowsExactIncast()
        : TestCase("an incast ends when its bytes have crossed the last link")
    {
    }

  private:
    void DoRun() override
    {
        for (const auto& [overhead, ms] :
             std::vector<std::pair<uint32_t, double>>{{36, 1.6576}, {48, 1.6768}})
        {
            Scenario scenario;
            scenario.cluster = OneSwitch(9, Packets(1000, overhead));
            scenario.flows = Incast(8, 10000000);
            scenario.transport = {{"CongestionControl", "none"}, {"WindowProducts", "1"}};
            const TestRanks ranks(*scenario.cluster);
            FlowRun run(scenario);
            NS_TEST_ASSERT_MSG_EQ(run.Play(), "", "the run ends by itself");
            const int64_t packetPs = (1000 + overhead) * PS_PER_BYTE;
            NS_TEST_ASSERT_MSG_EQ(80000 * packetPs, std::llround(ms * 1e9), "the issue's number");
            // And what the path takes: two delays, and the first packet on its first link.
            const double endPs = static_cast<double>(80000 * packetPs + 2 * DELAY_PS + packetPs);
            int64_t first = INT64_MAX;
            for (const FlowTimes& times : run.player->GetTimes())
            {
                NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(times.receivedPs),
                                          endPs,
                                          0.0005 * ms * 1e9,
                                          overhead << " bytes of overhead");
                first = std::min(first, times.receivedPs);
            }
            NS_TEST_EXPECT_MSG_LT_OR_EQ(run.player->GetEndPs() - first,
                                        8 * packetPs,
                                        "all eight within one round of packets");
            NS_TEST_EXPECT_MSG_EQ(run.player->GetEndPs(),
                                  static_cast<int64_t>(endPs),
                                  "to the picosecond: the last link is never idle");
        }
    }
};

/**
 * @ingroup proteus-tests
 * Ring all-reduce of 128 MiB over eight hosts, as flows with dependencies.
 */
class ProteusFlowsRing : public TestCase
{
  public:
    ProteusFlowsRing()
        : TestCase("a ring all-reduce takes its closed form")
    {
    }

  private:
    void DoRun() override
    {
        const uint32_t control = 64;
        const LinkFraming framing = Packets(4096, 48, control);
        const uint64_t bytes = 128 << 20;
        const auto packets = static_cast<int64_t>(bytes / 8 / 4096);
        const int64_t packetPs = (4096 + 48) * PS_PER_BYTE;
        const int64_t controlPs = control * PS_PER_BYTE;

        struct Case
        {
            const char* window;     //!< in bandwidth-delay products
            const char* ackEvery;   //!< packets
            int64_t controlPerStep; //!< acknowledgements that a link carries besides the data
        };

        // Every host sends data one way, and acknowledgements of what comes the other way; that of
        // the last packet comes too late to matter.
        for (const Case& c :
             std::vector<Case>{{"0", "0", 1}, {"2", "16", packets / 16}, {"1", "1", packets}})
        {
            Scenario scenario;
            scenario.cluster = OneSwitch(8, framing);
            scenario.flows = RingAllReduce(8, bytes);
            scenario.transport = {{"CongestionControl", "none"},
                                  {"WindowProducts", c.window},
                                  {"AckEveryPackets", c.ackEvery}};
            const TestRanks ranks(*scenario.cluster);
            FlowRun run(scenario);
            NS_TEST_ASSERT_MSG_EQ(run.Play(), "", "the run ends by itself");
            const int64_t dataPs = 14 * ((packets + 1) * packetPs + 2 * DELAY_PS);
            const int64_t endPs = dataPs + (14 * c.controlPerStep - 1) * controlPs;
            NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(run.player->GetEndPs()),
                                      static_cast<double>(endPs),
                                      0.001 * static_cast<double>(endPs),
                                      "window of " << c.window << " BDP, acknowledgement every "
                                                   << c.ackEvery);
            if (c.controlPerStep == 1)
            {
                NS_TEST_EXPECT_MSG_EQ(run.player->GetEndPs(), endPs, "to the picosecond");
            }
            // Dependents start with the last byte, not with its acknowledgement.
            const auto& flows = run.player->GetFlows();
            const auto& times = run.player->GetTimes();
            for (std::size_t i = 8; i < flows.size(); ++i)
            {
                const FlowTimes& before = times[flows[i].after[0]];
                NS_TEST_ASSERT_MSG_EQ(times[i].startPs, before.receivedPs, "flow " << i);
                NS_TEST_ASSERT_MSG_LT(times[i].startPs, before.acknowledgedPs, "flow " << i);
            }
        }
    }
};

/**
 * @ingroup proteus-tests
 * For every technology: the goodput of a long flow, the latency of a short message, and messages
 * that leave nothing or one byte after division into packets.
 */
class ProteusFlowsClosedForms : public TestCase
{
  public:
    ProteusFlowsClosedForms()
        : TestCase("goodput and latency on every technology")
    {
    }

  private:
    /// @param technology of all links @param bytes of a flow @return its time, alone
    static int64_t Alone(LinkTechnology technology, uint64_t bytes, const Settings& transport)
    {
        Scenario scenario;
        scenario.cluster = OneSwitch(2, DefaultFraming(technology), technology);
        scenario.flows = {Flow(0, 1, bytes)};
        scenario.transport = transport;
        scenario.fabric = {{"InfinibandCutThrough", "false"}, {"InternalCutThrough", "false"}};
        const TestRanks ranks(*scenario.cluster);
        FlowRun run(scenario);
        return run.Play().empty() ? run.player->GetEndPs() : -1;
    }

    void DoRun() override
    {
        for (const LinkTechnology technology : {LinkTechnology::NVLINK,
                                                LinkTechnology::PCIE,
                                                LinkTechnology::INFINIBAND,
                                                LinkTechnology::ROCE})
        {
            const LinkFraming framing = DefaultFraming(technology);
            const std::string name = ToString(technology);
            const uint64_t unit = framing.unitBytes;
            const double share =
                static_cast<double>(unit) / static_cast<double>(framing.WireBytes(unit));
            const uint64_t bytes = 20000 * unit;
            const auto endPs = static_cast<double>(Alone(technology, bytes, PLAIN));
            NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(bytes) / (endPs * 1e-12),
                                      RATE_400G * share,
                                      0.001 * RATE_400G * share,
                                      name << ": rate x payload / (payload + overhead)");
            // Two links, each of which takes all of the message before it goes on.
            const int64_t hopPs =
                static_cast<int64_t>(framing.WireBytes(8)) * PS_PER_BYTE + DELAY_PS;
            NS_TEST_EXPECT_MSG_EQ(Alone(technology, 8, PLAIN), 2 * hopPs, name << ": 8 bytes");

            const std::vector<uint64_t> sizes{1,
                                              unit - 1,
                                              unit,
                                              unit + 1,
                                              2 * unit - 1,
                                              2 * unit,
                                              2 * unit + 1,
                                              100 * unit,
                                              100 * unit + 1};
            for (const Settings& transport :
                 {PLAIN,
                  Settings{{"CongestionControl", "none"}, {"WindowProducts", "1"}},
                  Settings{{"CongestionControl", "none"}, {"Reliability", "SelectiveRepeat"}}})
            {
                for (uint64_t size : sizes)
                {
                    // All bytes cross the first link, and the last of the largest packets the
                    // second one after it: a shorter packet behind a full one waits for it.
                    const uint64_t rest = size % unit;
                    const uint64_t behind = size > unit && rest > 0
                                                ? framing.WireBytes(unit)
                                                : framing.WireBytes(std::min(size, unit));
                    const int64_t expected =
                        static_cast<int64_t>(MessageWireBytes(framing, size) + behind) *
                            PS_PER_BYTE +
                        2 * DELAY_PS;
                    NS_TEST_EXPECT_MSG_EQ(Alone(technology, size, transport),
                                          expected,
                                          name << ": " << size << " bytes");
                }
            }
        }
    }
};

/**
 * @ingroup proteus-tests
 * Many senders, one receiver: equal shares, and the last link at its full rate.
 */
class ProteusFlowsFairIncast : public TestCase
{
  public:
    ProteusFlowsFairIncast()
        : TestCase("an incast shares equally and drains at the rate of the bottleneck")
    {
    }

  private:
    void DoRun() override
    {
        for (const LinkTechnology technology : {LinkTechnology::NVLINK,
                                                LinkTechnology::PCIE,
                                                LinkTechnology::INFINIBAND,
                                                LinkTechnology::ROCE})
        {
            for (const uint32_t senders : {2U, 3U, 7U, 15U})
            {
                const LinkFraming framing = DefaultFraming(technology);
                const uint64_t bytes = uint64_t{1000} * framing.unitBytes;
                Scenario scenario;
                scenario.cluster = OneSwitch(senders + 1, framing, technology);
                scenario.flows = Incast(senders, bytes);
                scenario.transport = PLAIN;
                FlowRun run(scenario);
                // Half-way, everybody has got the same.
                const auto wirePs =
                    static_cast<int64_t>(MessageWireBytes(framing, bytes) * senders) * PS_PER_BYTE;
                std::vector<uint64_t> shares;
                ScheduleFunction(PicoSeconds(wirePs / 2), [&run, &shares, senders] {
                    for (uint32_t i = 0; i < senders; ++i)
                    {
                        shares.push_back(run.player->GetTransport()
                                             ->GetStatistics(run.player->GetQueuePair(i))
                                             .receivedBytes);
                    }
                });
                const std::string name =
                    std::to_string(senders) + " senders over " + ToString(technology);
                NS_TEST_ASSERT_MSG_EQ(run.Play(), "", name);
                const double fair = static_cast<double>(bytes) / 2;
                for (uint64_t share : shares)
                {
                    NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(share), fair, 0.02 * fair, name);
                }
                NS_TEST_EXPECT_MSG_EQ(shares.size(), senders, "they were looked at");
                NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(run.player->GetEndPs()),
                                          static_cast<double>(wirePs),
                                          0.005 * static_cast<double>(wirePs) + 2 * DELAY_PS,
                                          name << ": rate of the bottleneck");
                NS_TEST_EXPECT_MSG_EQ(run.Sum(&LinkStatistics::droppedPackets), 0, name);
            }
        }
    }
};

/**
 * @ingroup proteus-tests
 * A flow over two bottlenecks, each of which it shares with another flow.
 */
class ProteusFlowsParkingLot : public TestCase
{
  public:
    ProteusFlowsParkingLot()
        : TestCase("a flow gets its share of a parking lot")
    {
    }

    /// Three switches in a row, six hosts: 0 and 1 on the first, 2 and 3 on the second, 4 and 5 on
    /// the third. @param technology of all links @return the cluster
    static std::shared_ptr<const Cluster> MakeRow(LinkTechnology technology)
    {
        auto cluster = std::make_shared<Cluster>("row");
        for (uint32_t i = 0; i < 9; ++i)
        {
            Vertex vertex;
            vertex.kind = i < 6 ? VertexKind::GPU : VertexKind::SWITCH;
            vertex.name = (i < 6 ? "host" : "switch") + std::to_string(i);
            vertex.server = i < 6 ? static_cast<int32_t>(i) : -1;
            vertex.model = i < 6 ? "A100-SXM4-80GB" : "";
            cluster->AddVertex(vertex);
        }
        const auto join = [&](VertexId a, VertexId b) {
            Link link;
            link.a = a;
            link.b = b;
            link.technology = technology;
            link.bytesPerSecond = RATE_400G;
            link.delayPs = DELAY_PS;
            link.framing = Packets(1000, 48);
            cluster->AddLink(link);
        };
        for (VertexId host = 0; host < 6; ++host)
        {
            join(host, 6 + host / 2);
        }
        join(6, 7);
        join(7, 8);
        return cluster;
    }

  private:
    void DoRun() override
    {
        struct Case
        {
            LinkTechnology technology;
            const char* control;
            double least; //!< share of the flow over two bottlenecks
            double most;
            double used;        //!< of the bottlenecks, at least
            double headerBytes; //!< of a packet of 1000 bytes; HPCC's telemetry is 42 of them
        };

        // Lossless switches serve the ports that units come from in proportion to the room that
        // they have, which is large here. HPCC makes the flow over two bottlenecks give way at
        // either, so that it comes near the third that is proportionally fair.
        for (const Case& c :
             std::vector<Case>{{LinkTechnology::INFINIBAND, "none", 0.49, 0.51, 0.985, 48},
                               {LinkTechnology::ROCE, "none", 0.49, 0.51, 0.985, 48},
                               {LinkTechnology::ROCE, "hpcc", 0.30, 0.51, 0.93, 48 + 42}})
        {
            Scenario scenario;
            scenario.cluster = MakeRow(c.technology);
            const uint64_t bytes = 40000000;
            scenario.flows = {Flow(0, 4, bytes), Flow(1, 2, bytes), Flow(3, 5, bytes)};
            scenario.transport = {{"CongestionControl", c.control}};
            scenario.fabric = {{"InfinibandBuffer", "2000000"}};
            FlowRun run(scenario);
            // While all three are under way, after the beginning.
            std::vector<std::vector<uint64_t>> looks;
            for (const int64_t us : {400, 1200})
            {
                ScheduleFunction(MicroSeconds(us), [&run, &looks] {
                    looks.emplace_back();
                    for (uint32_t i = 0; i < 3; ++i)
                    {
                        looks.back().push_back(run.player->GetTransport()
                                                   ->GetStatistics(run.player->GetQueuePair(i))
                                                   .receivedBytes);
                    }
                });
            }
            const std::string name = std::string(ToString(c.technology)) + ", " + c.control;
            NS_TEST_ASSERT_MSG_EQ(run.Play(), "", name);
            std::vector<double> shares;
            for (uint32_t i = 0; i < 3; ++i)
            {
                shares.push_back(static_cast<double>(looks[1][i] - looks[0][i]) /
                                 (RATE_400G * 1000 / (1000 + c.headerBytes) * 800e-6));
            }
            NS_TEST_EXPECT_MSG_GT(shares[0], c.least, name << ": over both");
            NS_TEST_EXPECT_MSG_LT(shares[0], c.most, name << ": over both");
            NS_TEST_EXPECT_MSG_EQ_TOL(shares[1], shares[2], 0.03 * shares[1], name << ": alike");
            NS_TEST_EXPECT_MSG_GT(shares[0] + shares[1], c.used, name << ": all is used");
            NS_TEST_EXPECT_MSG_LT(shares[0] + shares[1], 1.001, name << ": and not more");
            NS_TEST_EXPECT_MSG_EQ(run.Sum(&LinkStatistics::droppedPackets), 0, name);
        }
    }
};

/**
 * @ingroup proteus-tests
 * Throughput of a credit loop: the smaller of the rate and credits / round trip.
 */
class ProteusFlowsCreditLoop : public TestCase
{
  public:
    ProteusFlowsCreditLoop()
        : TestCase("a credit loop carries min(rate, credits / round trip)")
    {
    }

  private:
    void DoRun() override
    {
        const uint32_t wire = 1000 + 48;
        const int64_t packetPs = wire * PS_PER_BYTE;
        // Taken at the start of a packet on the first link, back when its end has left the switch
        // and the news has crossed the first link again.
        const int64_t roundPs = 2 * (packetPs + DELAY_PS);
        for (const uint32_t credits : {1U, 2U, 5U, 20U, 40U, 49U, 51U, 100U})
        {
            Scenario scenario;
            scenario.cluster = OneSwitch(2, Packets(1000, 48), LinkTechnology::INFINIBAND);
            const uint64_t packets = 20000;
            scenario.flows = {Flow(0, 1, packets * 1000)};
            scenario.transport = PLAIN;
            scenario.fabric = {{"InfinibandBuffer", std::to_string(credits * wire + wire / 2)},
                               {"InfinibandCutThrough", "false"}};
            const TestRanks ranks(*scenario.cluster);
            FlowRun run(scenario);
            NS_TEST_ASSERT_MSG_EQ(run.Play(), "", credits << " credits");
            const double goodput = static_cast<double>(packets * 1000) /
                                   (static_cast<double>(run.player->GetEndPs()) * 1e-12);
            const double expected =
                std::min(RATE_400G * 1000 / wire,
                         credits * 1000.0 / (static_cast<double>(roundPs) * 1e-12));
            NS_TEST_EXPECT_MSG_EQ_TOL(goodput, expected, 0.005 * expected, credits << " credits");
        }
    }
};

/**
 * @ingroup proteus-tests
 * Start times, dependencies on several flows, and flows that share a queue pair.
 */
class ProteusFlowsOrder : public TestCase
{
  public:
    ProteusFlowsOrder()
        : TestCase("flows start in time and in order")
    {
    }

  private:
    void DoRun() override
    {
        for (const bool perPair : {false, true})
        {
            Scenario scenario;
            scenario.cluster = OneSwitch(4, Packets(1000, 48));
            scenario.perPair = perPair;
            scenario.transport = PLAIN;
            scenario.flows = {Flow(0, 1, 50000),
                              Flow(2, 1, 90001),
                              Flow(1, 3, 7, {0, 1}),
                              Flow(1, 3, 5000, {2}),
                              Flow(0, 1, 50000)};
            scenario.flows[1].startPs = 12345; // 12.345 ns
            scenario.flows[3].startPs = 20000001;
            scenario.flows[4].startPs = 3;
            FlowRun run(scenario);
            NS_TEST_ASSERT_MSG_EQ(run.Play(), "", "the run ends by itself");
            const auto& times = run.player->GetTimes();
            NS_TEST_EXPECT_MSG_EQ(times[0].startPs, 0, "at once");
            NS_TEST_EXPECT_MSG_EQ(times[1].startPs, 12345, "at its time");
            NS_TEST_EXPECT_MSG_EQ(times[2].startPs,
                                  std::max(times[0].receivedPs, times[1].receivedPs),
                                  "after the later one");
            NS_TEST_EXPECT_MSG_LT(times[2].receivedPs, 20000001, "so that this is the later time");
            NS_TEST_EXPECT_MSG_EQ(times[3].startPs, 20000001, "when both are fulfilled");
            NS_TEST_EXPECT_MSG_EQ(times[4].startPs, 3, "at its time");
            if (perPair)
            {
                NS_TEST_EXPECT_MSG_LT(times[0].receivedPs, times[4].receivedPs, "in turn");
                NS_TEST_EXPECT_MSG_EQ(run.player->GetQueuePair(0),
                                      run.player->GetQueuePair(4),
                                      "one queue pair");
            }
            else
            {
                // Both take turns, packet by packet, until the first is through.
                NS_TEST_EXPECT_MSG_LT(Distance(static_cast<double>(times[0].receivedPs),
                                               static_cast<double>(times[4].receivedPs)),
                                      3.0 * 1048 * PS_PER_BYTE,
                                      "side by side");
            }
        }
    }
};

/**
 * @ingroup proteus-tests
 * Closed forms of flows.
 */
class ProteusFlowsTestSuite : public TestSuite
{
  public:
    ProteusFlowsTestSuite()
        : TestSuite("proteus-flows")
    {
        AddTestCase(new ProteusFlowsExactIncast);
        AddTestCase(new ProteusFlowsRing);
        AddTestCase(new ProteusFlowsClosedForms);
        AddTestCase(new ProteusFlowsFairIncast);
        AddTestCase(new ProteusFlowsParkingLot);
        AddTestCase(new ProteusFlowsCreditLoop);
        AddTestCase(new ProteusFlowsOrder);
    }
};

static ProteusFlowsTestSuite g_proteusFlowsTestSuite; //!< registers the suite
