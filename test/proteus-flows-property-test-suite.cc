/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-flows-random.h"

#include "ns3/test.h"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <map>

using namespace ns3;
using namespace ns3::proteus;
using namespace ns3::proteus::flowtest;

/**
 * @ingroup proteus-tests
 * Random topologies, loads and failures: every byte arrives once and in order, nothing is dropped
 * where credits or PFC hold, and the fabric is at rest in the end.
 */
class ProteusFlowsRandom : public TestCase
{
  public:
    /// @param first seed @param n experiments @param troubled whether links fail or lose units
    ProteusFlowsRandom(uint32_t first, uint32_t n, bool troubled)
        : TestCase(std::to_string(n) + " random experiments" +
                   (troubled ? " with failures and losses" : "")),
          m_first(first),
          m_n(n),
          m_troubled(troubled)
    {
    }

  private:
    /// @param run that has ended @param experiment what it was
    void Check(const FlowRun& run, const Experiment& experiment)
    {
        const auto& flows = run.player->GetFlows();
        const auto& times = run.player->GetTimes();
        std::map<uint32_t, uint64_t> bytes;        // by queue pair
        std::map<uint32_t, int64_t> last;          // by queue pair: last arrival
        std::vector<uint32_t> order(flows.size()); // as they were handed to the transport
        for (uint32_t i = 0; i < flows.size(); ++i)
        {
            order[i] = i;
        }
        std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
            return times[a].startPs < times[b].startPs;
        });
        for (uint32_t i : order)
        {
            const uint32_t pair = run.player->GetQueuePair(i);
            bytes[pair] += flows[i].bytes;
            int64_t startPs = flows[i].startPs;
            for (uint32_t before : flows[i].after)
            {
                startPs = std::max(startPs, times[before].receivedPs);
            }
            NS_TEST_ASSERT_MSG_EQ(times[i].startPs, startPs, experiment.text << ": start");
            NS_TEST_ASSERT_MSG_GT(times[i].receivedPs, startPs, experiment.text << ": arrival");
            NS_TEST_ASSERT_MSG_GT(times[i].acknowledgedPs,
                                  times[i].receivedPs,
                                  experiment.text << ": acknowledgement");
            if (last.count(pair) > 0 && startPs > last[pair])
            {
                NS_TEST_ASSERT_MSG_GT_OR_EQ(times[i].receivedPs,
                                            last[pair],
                                            experiment.text << ": order");
            }
            last[pair] = std::max(last[pair], times[i].receivedPs);
        }
        for (const auto& [pair, sum] : bytes)
        {
            const auto statistics = run.player->GetTransport()->GetStatistics(pair);
            NS_TEST_ASSERT_MSG_EQ(statistics.receivedBytes, sum, experiment.text << ": once");
            NS_TEST_ASSERT_MSG_EQ(statistics.acknowledgedBytes, sum, experiment.text << ": once");
        }
        // A pause that is lost may cost a unit; credits do not get lost.
        const bool pauses =
            run.fabric->GetCluster().GetLinks()[0].technology == LinkTechnology::ROCE;
        if (experiment.failures.empty() && !(experiment.loses && pauses))
        {
            NS_TEST_ASSERT_MSG_EQ(run.Sum(&LinkStatistics::droppedPackets),
                                  0,
                                  experiment.text << ": lossless");
        }
        m_lost += run.Sum(&LinkStatistics::lostPackets);
        m_pauses += run.Sum(&LinkStatistics::pauses);
        m_marks += run.Sum(&LinkStatistics::markedPackets);
    }

    void DoRun() override
    {
        for (uint32_t seed = m_first; seed < m_first + m_n; ++seed)
        {
            const Experiment experiment = DrawExperiment(seed, m_troubled);
            FlowRun run(experiment.scenario);
            Trouble(experiment, run);
            NS_TEST_EXPECT_MSG_EQ(run.Play(), "", experiment.text);
            if (run.player->GetEndPs() >= 0)
            {
                Check(run, experiment);
            }
        }
        // The experiments are worth something.
        NS_TEST_EXPECT_MSG_EQ((m_lost > 0), m_troubled, "units lost");
        NS_TEST_EXPECT_MSG_GT(m_pauses, 0, "pauses");
        NS_TEST_EXPECT_MSG_GT(m_marks, 0, "marks");
    }

    uint32_t m_first;     //!< first seed
    uint32_t m_n;         //!< experiments
    bool m_troubled;      //!< links fail or lose units
    uint64_t m_lost{0};   //!< units, in all experiments
    uint64_t m_pauses{0}; //!< in all experiments
    uint64_t m_marks{0};  //!< marks, in all experiments
};

/**
 * @ingroup proteus-tests
 * The same completion times from the engine, from the engine a step at a time, and from the plain
 * reference mode.
 */
class ProteusFlowsReference : public TestCase
{
  public:
    ProteusFlowsReference()
        : TestCase("the engine and the reference mode agree to the picosecond")
    {
    }

  private:
    void DoRun() override
    {
        for (uint32_t seed = 5000; seed < 5060; ++seed)
        {
            Experiment experiment = DrawExperiment(seed, false);
            std::vector<std::vector<FlowTimes>> all;
            for (int mode = 0; mode < 3; ++mode)
            {
                Scenario scenario = experiment.scenario;
                scenario.batches = mode == 0;
                scenario.fabric.emplace_back("ReferenceMode", mode == 2 ? "true" : "false");
                FlowRun run(scenario);
                NS_TEST_ASSERT_MSG_EQ(run.Play(), "", experiment.text);
                all.push_back(run.player->GetTimes());
            }
            for (std::size_t i = 0; i < all[0].size(); ++i)
            {
                for (int mode = 1; mode < 3; ++mode)
                {
                    NS_TEST_ASSERT_MSG_EQ(all[mode][i].receivedPs,
                                          all[0][i].receivedPs,
                                          experiment.text << ", flow " << i << ", mode " << mode);
                    NS_TEST_ASSERT_MSG_EQ(all[mode][i].acknowledgedPs,
                                          all[0][i].acknowledgedPs,
                                          experiment.text << ", flow " << i << ", mode " << mode);
                }
            }
        }
    }
};

/**
 * @ingroup proteus-tests
 * Five switches in a ring, and flows that each go two switches on: a circle of links that wait for
 * each other. The run ends and names the ports; up/down routes have no such circle.
 */
class ProteusFlowsDeadlock : public TestCase
{
  public:
    ProteusFlowsDeadlock()
        : TestCase("a deadlock is found and named")
    {
    }

    /// @param technology of all links @return five switches in a ring with two hosts each
    static std::shared_ptr<const Cluster> MakeRing(LinkTechnology technology)
    {
        const uint32_t n = 5;
        auto cluster = std::make_shared<Cluster>("ring");
        for (uint32_t i = 0; i < 2 * n; ++i)
        {
            Vertex host;
            host.name = "host" + std::to_string(i);
            host.server = static_cast<int32_t>(i);
            host.model = "A100-SXM4-80GB";
            cluster->AddVertex(host);
        }
        Link link;
        link.technology = technology;
        link.bytesPerSecond = RATE_400G;
        link.delayPs = DELAY_PS;
        link.framing = Packets(1000, 48);
        for (uint32_t i = 0; i < n; ++i)
        {
            Vertex hub;
            hub.name = "switch" + std::to_string(i);
            hub.kind = VertexKind::SWITCH;
            link.b = cluster->AddVertex(hub);
            for (uint32_t host : {2 * i, 2 * i + 1})
            {
                link.a = host;
                cluster->AddLink(link);
            }
        }
        for (uint32_t i = 0; i < n; ++i)
        {
            link.a = 2 * n + i;
            link.b = 2 * n + (i + 1) % n;
            cluster->AddLink(link);
        }
        return cluster;
    }

  private:
    void DoRun() override
    {
        for (const LinkTechnology technology : {LinkTechnology::INFINIBAND, LinkTechnology::ROCE})
        {
            Scenario scenario;
            scenario.cluster = MakeRing(technology);
            for (uint32_t i = 0; i < 10; ++i)
            {
                scenario.flows.push_back(Flow(i, (i + 4) % 10, 2000000)); // two switches on
            }
            scenario.transport = {{"CongestionControl", "none"}};
            scenario.fabric = {{"InfinibandBuffer", "5000"},
                               {"SwitchBuffer", "1200000"},
                               {"ThresholdShift", "8"}};
            {
                FlowRun run(scenario);
                const std::string error = run.Play();
                NS_TEST_EXPECT_MSG_NE(error.find("deadlock"), std::string::npos, error);
                for (uint32_t i = 0; i < 5; ++i)
                {
                    const std::string port =
                        "switch" + std::to_string(i) + " -> switch" + std::to_string((i + 1) % 5);
                    NS_TEST_EXPECT_MSG_NE(error.find(port), std::string::npos, error);
                }
                NS_TEST_EXPECT_MSG_EQ(error.find("host"), std::string::npos, error);
                NS_TEST_EXPECT_MSG_LT(Simulator::Now(), MilliSeconds(10), "found in time");
            }
            {
                Scenario late = scenario;
                for (FlowSpec& flow : late.flows)
                {
                    flow.startPs = Seconds(100).GetPicoSeconds();
                }
                FlowRun run(late);
                const std::string error = run.Play();
                NS_TEST_EXPECT_MSG_NE(error.find("deadlock"), std::string::npos, error);
                NS_TEST_EXPECT_MSG_LT(Simulator::Now(), Seconds(102), "found in time");
                NS_TEST_EXPECT_MSG_LT(Simulator::GetEventCount(), 10000, "few looks before");
            }
            scenario.fabric.emplace_back("Routing", "UpDown");
            FlowRun run(scenario);
            NS_TEST_EXPECT_MSG_EQ(run.Play(), "", "up/down routing");
        }
    }
};

/**
 * @ingroup proteus-tests
 * A fat tree of 1,024 hosts: set up in time and space (ASTRA-sim's backend: 17.5 s, 3.9 GB).
 */
class ProteusFlowsScale : public TestCase
{
  public:
    ProteusFlowsScale()
        : TestCase("1,024 hosts are set up at once")
    {
    }

  private:
    /// @return most memory of this process so far, in KiB
    static uint64_t GetPeakKib()
    {
        std::ifstream status("/proc/self/status");
        for (std::string line; std::getline(status, line);)
        {
            if (line.rfind("VmHWM:", 0) == 0)
            {
                return std::stoull(line.substr(6));
            }
        }
        return 0;
    }

    void DoRun() override
    {
        const uint64_t before = GetPeakKib();
        const std::clock_t begin = std::clock();
        Scenario scenario;
        FabricOptions options;
        options.kind = "fat-tree";
        scenario.cluster = std::make_shared<const Cluster>(MakeHostCluster(1024,
                                                                           options,
                                                                           LinkTechnology::ROCE,
                                                                           RATE_400G,
                                                                           DELAY_PS,
                                                                           Packets(4096, 82)));
        for (uint32_t i = 0; i < 1024; ++i)
        {
            scenario.flows.push_back(Flow(i, (i + 512) % 1024, 4096));
        }
        FlowRun run(scenario);
        const double setUpS = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
        NS_TEST_EXPECT_MSG_LT(setUpS, 2.0, "seconds of a core");
        NS_TEST_EXPECT_MSG_LT(GetPeakKib() - before, 512 * 1024, "KiB");
        NS_TEST_EXPECT_MSG_EQ(run.Play(), "", "and it runs");
        NS_TEST_EXPECT_MSG_LT(GetPeakKib() - before, 512 * 1024, "KiB");
    }
};

/**
 * @ingroup proteus-tests
 * Properties of flows.
 */
class ProteusFlowsPropertyTestSuite : public TestSuite
{
  public:
    ProteusFlowsPropertyTestSuite()
        : TestSuite("proteus-flows-property")
    {
        AddTestCase(new ProteusFlowsDeadlock);
        AddTestCase(new ProteusFlowsScale);
        AddTestCase(new ProteusFlowsReference);
        AddTestCase(new ProteusFlowsRandom(1, 400, false));
        AddTestCase(new ProteusFlowsRandom(1001, 600, true));
    }
};

static ProteusFlowsPropertyTestSuite g_proteusFlowsPropertyTestSuite; //!< registers the suite
