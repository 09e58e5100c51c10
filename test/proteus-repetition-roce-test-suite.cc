/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-repetition-random-job.h"
#include "proteus-repetition-small-job.h"
#include "proteus-repetition-test-tools.h"
#include "proteus-test-duration.h"

#include "ns3/proteus-cluster-file.h"
#include "ns3/proteus-model-options.h"
#include "ns3/test.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * Repetition over RoCE, where shared buffers, marks and congestion control may end it.
 */

using namespace ns3;
using namespace ns3::proteus;
using namespace ns3::proteus::repetitiontest;

namespace
{

/// @param seed of a job @return attributes of Fabric, some of which let buffers be full and queues
/// be marked early
std::map<std::string, std::string>
ChooseFabricAttributes(uint32_t seed)
{
    static const std::vector<std::map<std::string, std::string>> CHOICES{
        {},
        {},
        {{"ThresholdShift", "9"}},
        {{"ThresholdShift", "11"}, {"Ecn", "false"}},
        {{"ThresholdShift", "10"}, {"Ecn", "false"}, {"PauseReaction", "0ns"}},
        {{"EcnMinBytes", "3000"}, {"EcnMaxBytes", "40000"}},
        {{"EcnMinBytes", "3000"}, {"EcnMaxBytes", "40000"}, {"EcnAtDequeue", "true"}},
        {{"RoceCutThrough", "true"}},
        {{"Pfc", "false"}}};
    return CHOICES[seed % CHOICES.size()];
}

/// @param seed of a job @return how it is run, but for repetition
Way
ChooseWay(uint32_t seed)
{
    static const std::vector<std::string> CONTROLS{"dcqcn", "dcqcn", "none"};
    static const std::vector<std::string> WINDOWS{"20us", "0us", "3us", "1ms"};
    Way way;
    way.fabric = ChooseFabricAttributes(seed);
    way.transport = {{"CongestionControl", CONTROLS[seed / 9 % CONTROLS.size()]}};
    way.window = WINDOWS[seed / 27 % WINDOWS.size()];
    return way;
}

/// What random jobs have come to.
struct Totals
{
    uint64_t repeated{0}; //!< communications
    uint64_t verified{0}; //!< communications
    uint64_t marked{0};   //!< jobs with a mark or a pause
    uint64_t both{0};     //!< of these, with something repeated
};

/// Off, on and verify give the same, to the bit.
class RoceJobsCase : public TestCase
{
  public:
    /// @param first seed @param count of jobs
    RoceJobsCase(uint32_t first, uint32_t count)
        : TestCase(std::to_string(count) + " jobs over RoCE from seed " + std::to_string(first)),
          m_first(first),
          m_count(count)
    {
    }

  private:
    void DoRun() override
    {
        Totals totals;
        for (uint32_t seed = m_first; seed < m_first + m_count; ++seed)
        {
            if (seed % 2 == 0)
            {
                RunCollectives(seed, totals);
            }
            else
            {
                RunTraining(seed, totals);
            }
        }
        NS_TEST_EXPECT_MSG_GT(totals.repeated, 0, "something must have been repeated");
        if (!TestRanks::AreSeveral()) // there nothing is repeated over RoCE
        {
            NS_TEST_EXPECT_MSG_GT(totals.verified, 0, "something must have been compared");
        }
        NS_TEST_EXPECT_MSG_GT(totals.marked, 0, "something must have been marked, or paused");
        NS_TEST_EXPECT_MSG_GT(totals.both, 0, "before that, something must have been repeated");
    }

    /// Layers of collectives and messages.
    void RunCollectives(uint32_t seed, Totals& totals)
    {
        static const std::vector<std::string> SERVERS{"dgx-a100:nic=4x100G-roce",
                                                      "dgx1-v100:nic=4x100G-roce",
                                                      "pcie-v100x4:nic=1x100G-roce",
                                                      "dgx-h100:nic=8x400G-roce"};
        FabricOptions options;
        options.kind = seed / 8 % 3 == 0 ? "leaf-spine" : "single-switch";
        options.serversPerLeaf = 1;
        const Cluster cluster =
            LoadCluster(SERVERS[seed / 2 % SERVERS.size()], 2 + seed / 24 % 2, options);
        const auto nDevices = static_cast<uint32_t>(cluster.GetGpus().size());
        Count(RunAllWays(cluster, RandomJob(seed, nDevices).Make(), ChooseWay(seed)),
              "seed " + std::to_string(seed),
              totals);
    }

    /// An iteration of training.
    void RunTraining(uint32_t seed, Totals& totals)
    {
        SmallJobMaker maker(seed);
        maker.UseRoce();
        const SmallJob job = maker.Make();
        const ModelOptions options{"gpt",
                                   job.strategy,
                                   PROTEUS_SOURCE_DIR "/workloads/models",
                                   job.model};
        const ExecutionGraph graph =
            CompileForCluster(options.Load(), job.cluster, KernelCostParameters(), "");
        Count(RunAllWays(job.cluster, graph, ChooseWay(seed)), job.name, totals);
    }

    /// Adds a job to what jobs have come to.
    void Count(const AllWays& ways, const std::string& name, Totals& totals)
    {
        NS_TEST_EXPECT_MSG_EQ(ways.difference, "", name);
        NS_TEST_EXPECT_MSG_EQ(ways.off.error, "", name);
        totals.repeated += ways.on.repetition.repeated;
        totals.verified += ways.verify.repetition.verified;
        totals.marked += ways.off.marksAndPauses > 0 ? 1 : 0;
        totals.both += ways.off.marksAndPauses > 0 && ways.on.repetition.repeated > 0 ? 1 : 0;
    }

    uint32_t m_first; //!< seed
    uint32_t m_count; //!< of jobs
};

/// The same all-reduce again and again, of pairs of GPUs over one switch.
class RoceCountsCase : public TestCase
{
  public:
    RoceCountsCase()
        : TestCase("equal all-reduces over RoCE are executed once, while buffers are calm")
    {
    }

  private:
    /// Pairs of GPUs of two servers, one behind the other.
    static ExecutionGraph MakeGraph(uint32_t rounds)
    {
        GraphBuilder builder(16);
        const PhaseId phase = builder.AddPhase("iteration");
        const StreamId stream = builder.AddStream("communication");
        for (DeviceId device = 0; device < 8; ++device)
        {
            const GroupId group = builder.AddGroup({device, device + 8});
            std::vector<TaskId> before;
            for (uint32_t round = 0; round < rounds; ++round)
            {
                before = {builder.AddCommunication(phase,
                                                   group,
                                                   stream,
                                                   "all-reduce",
                                                   Collective::ALL_REDUCE,
                                                   1 << 22,
                                                   Parallelism::DATA,
                                                   before)};
            }
        }
        return builder.Build();
    }

    void DoRun() override
    {
        constexpr uint32_t ROUNDS = 5;
        const Cluster cluster = LoadCluster("dgx-a100:nic=8x200G-roce", 2, FabricOptions());
        const ExecutionGraph graph = MakeGraph(ROUNDS);
        const AllWays calm = RunAllWays(cluster, graph);
        NS_TEST_EXPECT_MSG_EQ(calm.difference, "", "repetition changes nothing");
        NS_TEST_EXPECT_MSG_EQ(calm.off.marksAndPauses, 0, "nothing is congested");
        Way way;
        way.fabric = {{"BufferReserve", "0"}, {"ThresholdShift", "14"}}; // no unit is calm
        const AllWays full = RunAllWays(cluster, graph, way);
        NS_TEST_EXPECT_MSG_EQ(full.difference, "", "repetition changes nothing");
        if (TestRanks::AreSeveral())
        {
            return; // there nothing is repeated over RoCE
        }
        NS_TEST_EXPECT_MSG_EQ(calm.on.repetition.recorded, 1, "one of all is executed");
        NS_TEST_EXPECT_MSG_EQ(calm.on.repetition.repeated, 8 * ROUNDS - 1, "the others are not");
        NS_TEST_EXPECT_MSG_EQ(full.on.repetition.repeated, 0, "all share one buffer");
    }
};

/// The suite.
class RepetitionRoceTestSuite : public TestSuite
{
  public:
    RepetitionRoceTestSuite()
        : TestSuite("proteus-repetition-roce")
    {
        AddTestCase(new RoceCountsCase);
        AddTestCase(new RoceJobsCase(1, 18));
        for (uint32_t first = 1000; first < 2000; first += 50)
        {
            AddTestCase(new RoceJobsCase(first, 50), TestDuration::TAKES_FOREVER);
        }
    }
} g_repetitionRoceTestSuite; //!< registers itself

} // namespace
