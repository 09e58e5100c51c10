/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-repetition-random-job.h"
#include "proteus-repetition-test-tools.h"
#include "proteus-test-duration.h"

#include "ns3/proteus-compat.h"
#include "ns3/test.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::proteus;
using namespace ns3::proteus::repetitiontest;

namespace
{

/// The clusters of random jobs.
Cluster
ChooseCluster(uint32_t which)
{
    static const std::vector<std::string> PRESETS{"dgx-a100",
                                                  "dgx1-v100",
                                                  "dgx-h100",
                                                  "titanxp-pcie",
                                                  "dgx-a100"};
    return MakeCluster(PRESETS[which % PRESETS.size()], which % PRESETS.size() == 4 ? 1 : 2);
}

/// Off, on and verify give the same, to the bit.
class RandomJobsCase : public TestCase
{
  public:
    /// @param first seed @param count of jobs @param memoryBytes of records
    RandomJobsCase(uint32_t first, uint32_t count, uint64_t memoryBytes)
        : TestCase("random jobs from " + std::to_string(first) + ", records of " +
                   std::to_string(memoryBytes) + " bytes"),
          m_first(first),
          m_count(count),
          m_memoryBytes(memoryBytes)
    {
    }

  private:
    void DoRun() override
    {
        uint64_t repeated = 0;
        uint64_t verified = 0;
        for (uint32_t seed = m_first; seed < m_first + m_count; ++seed)
        {
            const Cluster cluster = ChooseCluster(seed);
            const auto nDevices = static_cast<uint32_t>(cluster.GetGpus().size());
            const ExecutionGraph graph = RandomJob(seed, nDevices).Make();
            static const std::vector<std::string> WINDOWS{"20us", "0us", "3us", "1ms"};
            Way way;
            way.memoryBytes = m_memoryBytes;
            way.window = WINDOWS[seed / 5 % WINDOWS.size()]; // each with every cluster
            if (seed % 7 == 3)
            {
                way.prepare = [&](Ptr<TrainingJob> job) { FailLink(job, seed); };
            }
            const AllWays ways = RunAllWays(cluster, graph, way);
            NS_TEST_EXPECT_MSG_EQ(ways.difference, "", "seed " << seed);
            repeated += ways.on.repetition.repeated;
            verified += ways.verify.repetition.verified;
        }
        if (m_memoryBytes < 1000000)
        {
            return; // hardly anything is found again
        }
        NS_TEST_EXPECT_MSG_GT(repeated, 0, "something must have been repeated");
        NS_TEST_EXPECT_MSG_GT(verified, 0, "something must have been compared");
    }

    /// Fails a link in the middle of the run, and repairs it.
    static void FailLink(Ptr<TrainingJob> job, uint32_t seed)
    {
        const Ptr<Fabric> fabric = job->GetFabric();
        const auto& links = fabric->GetCluster().GetLinks();
        for (LinkId link = seed % 5; link < links.size(); ++link)
        {
            if (links[link].technology == LinkTechnology::NVLINK)
            {
                ScheduleFunction(MicroSeconds(60), [=] { fabric->SetLinkUp(link, false); });
                ScheduleFunction(MicroSeconds(160), [=] { fabric->SetLinkUp(link, true); });
                return;
            }
        }
    }

    uint32_t m_first;       //!< seed
    uint32_t m_count;       //!< of jobs
    uint64_t m_memoryBytes; //!< of records
};

/// The same collectives again and again, on equal servers: what is counted.
class CountsCase : public TestCase
{
  public:
    CountsCase()
        : TestCase("equal all-reduces are executed once")
    {
    }

  private:
    void DoRun() override
    {
        const Cluster cluster = MakeCluster("dgx-a100", 1);
        GraphBuilder builder(8);
        const StreamId stream = builder.AddStream("communication");
        const PhaseId phase = builder.AddPhase("iteration", 10);
        builder.AddCommunication(phase,
                                 builder.AddGroup({0, 1}),
                                 stream,
                                 "all-reduce",
                                 Collective::ALL_REDUCE,
                                 3 << 18,
                                 Parallelism::TENSOR);
        const ExecutionGraph graph = builder.Build();
        const Outcome off = RunGraph(cluster, graph, {"off", 1 << 30, {}, nullptr});
        const Outcome on = RunGraph(cluster, graph, {"on", 1 << 30, {}, nullptr});
        NS_TEST_EXPECT_MSG_EQ(FindDifference(off.results, on.results), "", "off and on");
        NS_TEST_EXPECT_MSG_EQ(off.repetition.communications, 0, "nobody looked");
        NS_TEST_EXPECT_MSG_EQ(on.repetition.communications, 10, "micro-batches");
        NS_TEST_EXPECT_MSG_EQ(on.repetition.repeated + on.repetition.recorded, 10, "all of them");
        NS_TEST_EXPECT_MSG_GT(on.repetition.repeated, 5, "most of them");
        NS_TEST_EXPECT_MSG_EQ(off.repetition.postponed, 0, "executed at once");
        NS_TEST_EXPECT_MSG_EQ(on.repetition.postponed,
                              on.repetition.recorded,
                              "what is executed waits until a rank can be done");
    }
};

/// Groups that stand alike on equal servers share records; one of those that begin together leads.
class EqualServersCase : public TestCase
{
  public:
    /// @param preset of the servers @param width of the groups
    EqualServersCase(const std::string& preset, uint32_t width)
        : TestCase("equal servers of " + preset + " share records"),
          m_preset(preset),
          m_width(width)
    {
    }

  private:
    void DoRun() override
    {
        const Cluster cluster = MakeCluster(m_preset, 2);
        GraphBuilder builder(16);
        const StreamId stream = builder.AddStream("communication");
        const PhaseId phase = builder.AddPhase("iteration", 8);
        for (DeviceId first : {0, 8})
        {
            std::vector<DeviceId> members;
            for (uint32_t i = 0; i < m_width; ++i)
            {
                members.push_back(first + i);
            }
            builder.AddCommunication(phase,
                                     builder.AddGroup(members),
                                     stream,
                                     "all-reduce",
                                     Collective::ALL_REDUCE,
                                     3 << 18,
                                     Parallelism::TENSOR);
        }
        const ExecutionGraph graph = builder.Build();
        const AllWays ways = RunAllWays(cluster, graph);
        const Outcome& on = ways.on;
        NS_TEST_EXPECT_MSG_EQ(ways.difference, "", "off, on and verify");
        NS_TEST_EXPECT_MSG_EQ(ways.off.error, "", "no way fails");
        NS_TEST_EXPECT_MSG_EQ(on.repetition.communications, 16, "of both servers");
        NS_TEST_EXPECT_MSG_LT(on.repetition.recorded, 9, "those of one server, at most");
    }

    std::string m_preset; //!< of the servers
    uint32_t m_width;     //!< of the groups
};

/// All-reduces between servers, in which the switches of each server sum up, are repeated; those
/// that meet others are executed.
class SwitchTreesCase : public TestCase
{
  public:
    SwitchTreesCase()
        : TestCase("NVLS trees are executed once")
    {
    }

  private:
    static constexpr uint32_t MICRO_BATCHES = 4; //!< of the job

    /// Of two groups, each half of both servers; and of one hidden behind them, in every second.
    static ExecutionGraph MakeGraph(bool meets)
    {
        GraphBuilder builder(16);
        const StreamId compute = builder.AddStream("compute");
        const StreamId communication = builder.AddStream("communication");
        const StreamId other = builder.AddStream("other");
        const PhaseId phase = builder.AddPhase("iteration", MICRO_BATCHES);
        const auto reduce = [&](std::vector<DeviceId> members,
                                StreamId stream,
                                const std::string& name,
                                const std::vector<TaskId>& before) {
            return builder.AddCommunication(phase,
                                            builder.AddGroup(std::move(members)),
                                            stream,
                                            name,
                                            Collective::ALL_REDUCE,
                                            1 << 20,
                                            Parallelism::DATA,
                                            before);
        };
        std::vector<TaskId> kernels;
        for (DeviceId device = 0; device < 16; ++device)
        {
            const int64_t late = device == 3 ? 2000000 : 0;
            kernels.push_back(
                builder.AddCompute(phase, device, compute, "kernel", 300000000 + late));
        }
        for (DeviceId first : {0, 4})
        {
            std::vector<DeviceId> members;
            std::vector<TaskId> before;
            for (const DeviceId device : {first, first + 1, first + 8, first + 9})
            {
                members.push_back(device);
                before.push_back(kernels[device]);
            }
            reduce(members, communication, "first", before);
        }
        if (meets)
        {
            reduce({0, 1, 2, 8, 9, 10}, other, "second", {kernels[0], kernels[2], kernels[8]});
        }
        return builder.Build();
    }

    void DoRun() override
    {
        const Cluster cluster = MakeCluster("dgx-h100", 2);
        Way way;
        way.algorithm = "nvls-tree";
        const AllWays alone = RunAllWays(cluster, MakeGraph(false), way);
        NS_TEST_EXPECT_MSG_EQ(alone.difference, "", "off, on and verify");
        NS_TEST_EXPECT_MSG_EQ(alone.off.error, "", "no way fails");
        const RepetitionStatistics& on = alone.on.repetition;
        if (!TestRanks::AreSeveral()) // what crosses between MPI ranks is executed
        {
            NS_TEST_EXPECT_MSG_EQ(on.communications, 2 * MICRO_BATCHES, "of both");
            NS_TEST_EXPECT_MSG_GT(on.repeated, MICRO_BATCHES, "more than half");
            NS_TEST_EXPECT_MSG_EQ(on.repeated + on.recorded, 2 * MICRO_BATCHES, "all of them");
        }
        const AllWays others = RunAllWays(cluster, MakeGraph(true), way);
        NS_TEST_EXPECT_MSG_EQ(others.difference, "", "off, on and verify, where some meet");
        NS_TEST_EXPECT_MSG_EQ(others.off.error, "", "no way fails");
    }
};

/// A rank begins long after the others, when they have done all that they can without it. What is
/// executed late is still in time.
class LateRankCase : public TestCase
{
  public:
    /// @param preset of the servers @param servers number of them
    LateRankCase(const std::string& preset, uint32_t servers)
        : TestCase("a rank that is late, on " + std::to_string(servers) + " " + preset),
          m_preset(preset),
          m_servers(servers)
    {
    }

  private:
    static constexpr int64_t LATE_PS = 30000000000; //!< longer than a collective takes

    void DoRun() override
    {
        const Cluster cluster = MakeCluster(m_preset, m_servers);
        const auto nDevices = static_cast<uint32_t>(cluster.GetGpus().size());
        // Of few ranks, each pair of which has much to move.
        const std::vector<DeviceId> all{0, 1, nDevices - 1};
        for (const Collective collective : {Collective::ALL_REDUCE,
                                            Collective::ALL_GATHER,
                                            Collective::REDUCE_SCATTER,
                                            Collective::ALL_TO_ALL})
        {
            for (const uint64_t bytes : {uint64_t{1} << 20, uint64_t{1} << 27})
            {
                for (const DeviceId late : all)
                {
                    GraphBuilder builder(nDevices);
                    const StreamId compute = builder.AddStream("compute");
                    const StreamId communication = builder.AddStream("communication");
                    const PhaseId phase = builder.AddPhase("iteration", 1);
                    const TaskId wait = builder.AddCompute(phase, late, compute, "wait", LATE_PS);
                    builder.AddCommunication(phase,
                                             builder.AddGroup(all),
                                             communication,
                                             ToString(collective),
                                             collective,
                                             bytes,
                                             Parallelism::DATA,
                                             {wait});
                    const ExecutionGraph graph = builder.Build();
                    const Outcome off = RunGraph(cluster, graph, {"off", 1 << 30, {}, nullptr});
                    const Outcome on = RunGraph(cluster, graph, {"on", 1 << 30, {}, nullptr});
                    NS_TEST_EXPECT_MSG_EQ(on.error, "", ToString(collective));
                    NS_TEST_EXPECT_MSG_EQ(FindDifference(off.results, on.results),
                                          "",
                                          ToString(collective) << " of " << bytes << " bytes");
                }
            }
        }
    }

    const std::string m_preset;
    const uint32_t m_servers;
};

/// Ranks that end at different times, and receivers that wait for several messages, do not keep
/// communications from being repeated.
class WindowCase : public TestCase
{
  public:
    WindowCase()
        : TestCase("ranks launched within the window begin together")
    {
    }

  private:
    static constexpr uint32_t LAYERS = 3;            //!< of either stage
    static constexpr uint32_t MICRO_BATCHES = 4;     //!< of the job
    static constexpr uint32_t DEVICES = 16;          //!< of the job
    static constexpr int64_t COMPUTE_PS = 300000000; //!< of a layer, at least

    /// One stage or two: layers with all-reduces of so many bytes, and messages in between.
    static ExecutionGraph MakeGraph(uint32_t stages, uint64_t bytes)
    {
        const uint32_t width = DEVICES / stages;
        GraphBuilder builder(DEVICES);
        const StreamId compute = builder.AddStream("compute");
        const StreamId communication = builder.AddStream("communication");
        const StreamId pipeline = builder.AddStream("pipeline");
        const PhaseId phase = builder.AddPhase("iteration", MICRO_BATCHES);
        std::vector<std::vector<TaskId>> last(DEVICES);
        for (uint32_t stage = 0; stage < stages; ++stage)
        {
            std::vector<DeviceId> members(width);
            std::iota(members.begin(), members.end(), stage * width);
            const GroupId group = builder.AddGroup(members);
            for (uint32_t layer = 0; layer < LAYERS; ++layer)
            {
                std::vector<TaskId> before;
                for (const DeviceId device : members)
                {
                    const int64_t latePs = 10000 * (device * (layer + 1) % 5);
                    before.push_back(builder.AddCompute(phase,
                                                        device,
                                                        compute,
                                                        "compute",
                                                        COMPUTE_PS + latePs,
                                                        last[device]));
                }
                const TaskId task = builder.AddCommunication(phase,
                                                             group,
                                                             communication,
                                                             "all-reduce",
                                                             Collective::ALL_REDUCE,
                                                             bytes,
                                                             Parallelism::TENSOR,
                                                             before);
                std::fill(last.begin() + stage * width,
                          last.begin() + (stage + 1) * width,
                          std::vector<TaskId>{task});
            }
            for (const DeviceId device : members)
            {
                if (stage + 1 < stages)
                {
                    last[device + width] = {
                        builder.AddCommunication(phase,
                                                 builder.AddGroup({device, device + width}),
                                                 pipeline,
                                                 "message",
                                                 Collective::SEND_RECV,
                                                 1 << 20,
                                                 Parallelism::PIPELINE,
                                                 last[device])};
                }
            }
        }
        return builder.Build();
    }

    /// @param preset of two servers @param stages on them @param bytes of an all-reduce
    void Check(const std::string& preset, uint32_t stages, uint64_t bytes)
    {
        const Cluster cluster = MakeCluster(preset, 2);
        const std::string job = preset + ", " + std::to_string(stages) + " stages";
        const ExecutionGraph graph = MakeGraph(stages, bytes);
        const AllWays ways = RunAllWays(cluster, graph);
        const Outcome& on = ways.on;
        NS_TEST_EXPECT_MSG_EQ(ways.difference, "", "off, on and verify, " << job);
        NS_TEST_EXPECT_MSG_EQ(ways.off.error, "", "no way fails, " << job);
        const uint64_t messages = stages == 1 ? 0 : DEVICES / 2;
        const uint64_t all = MICRO_BATCHES * (stages * LAYERS + messages);
        NS_TEST_EXPECT_MSG_EQ(on.repetition.communications, all, "all, " << job);
        NS_TEST_EXPECT_MSG_LT(on.repetition.recorded, 2 + all / 10, "most are alike, " << job);
        if (stages == 1 && TestRanks::AreSeveral())
        {
            return; // all of it crosses between MPI ranks, and is executed
        }
        // Without the window each all-reduce leaves its ranks apart in another way.
        const Outcome apart = RunGraph(cluster, graph, {"on", 1 << 30, {}, nullptr, "0us"});
        NS_TEST_EXPECT_MSG_GT(apart.repetition.recorded, 2 * on.repetition.recorded, job);
    }

    void DoRun() override
    {
        Check("dgx-a100", 1, 1 << 20);
        Check("dgx-a100", 2, 1 << 20);
        Check("dgx-h100", 2, 16 << 20); // in the switches
    }
};

/// A key without one of its parts must not go unseen.
class MutationCase : public TestCase
{
  public:
    MutationCase()
        : TestCase("every part of a key counts")
    {
    }

  private:
    /// Two sizes, two groups that stand differently, and starts that differ.
    static ExecutionGraph MakeGraph()
    {
        GraphBuilder builder(32);
        const StreamId stream = builder.AddStream("communication");
        const PhaseId phase = builder.AddPhase("phase");
        for (uint32_t i = 0; i < 6; ++i)
        {
            const StreamId compute = builder.AddStream("compute" + std::to_string(i));
            const std::vector<DeviceId> members =
                i < 4 ? std::vector<DeviceId>{0, 8} : std::vector<DeviceId>{0, 16};
            std::vector<TaskId> before;
            for (const DeviceId device : members)
            {
                // Begun at 0, so that when ranks join is what is said here.
                const int64_t late = i == 2 && device == 8 ? 5000000 : 0;
                before.push_back(builder.AddCompute(phase,
                                                    device,
                                                    compute,
                                                    "compute",
                                                    int64_t{1000000000} * (i + 1) + late));
            }
            builder.AddCommunication(phase,
                                     builder.AddGroup(members),
                                     stream,
                                     "all-reduce",
                                     Collective::ALL_REDUCE,
                                     i == 3 ? 1 << 19 : 1 << 20, // of one protocol
                                     Parallelism::TENSOR,
                                     before);
        }
        return builder.Build();
    }

    void DoRun() override
    {
        FabricOptions fabric;
        fabric.kind = "leaf-spine";
        fabric.serversPerLeaf = 2; // servers 0 and 1 are nearer to each other than 0 and 2
        const Cluster cluster = MakeCluster("dgx-a100", 4, fabric);
        const ExecutionGraph graph = MakeGraph();
        const Outcome off = RunGraph(cluster, graph, {"off", 1 << 30, {}, nullptr, "0us"});
        using Field = RepetitionRecords::Field;
        for (const Field field : {Field::PROGRAM, Field::SHAPE, Field::OFFSETS})
        {
            const Outcome on = RunGraph(cluster, graph, {"on", 1 << 30, field, nullptr, "0us"});
            const Outcome verify =
                RunGraph(cluster, graph, {"verify", 1 << 30, field, nullptr, "0us"});
            NS_TEST_EXPECT_MSG_NE(FindDifference(off.results, on.results),
                                  "",
                                  "results without part " << static_cast<int>(field));
            NS_TEST_EXPECT_MSG_NE(verify.error.find("is not what it was before"),
                                  std::string::npos,
                                  "verify without part " << static_cast<int>(field));
        }
    }
};

/// The suite.
class RepetitionTestSuite : public TestSuite
{
  public:
    RepetitionTestSuite()
        : TestSuite("proteus-repetition")
    {
        AddTestCase(new CountsCase);
        AddTestCase(new EqualServersCase("dgx-a100", 2));
        AddTestCase(new EqualServersCase("dgx-a100", 8));
        AddTestCase(new EqualServersCase("dgx-h100", 8));
        AddTestCase(new SwitchTreesCase);
        AddTestCase(new LateRankCase("dgx-a100", 1));
        AddTestCase(new LateRankCase("pcie-v100x4", 1));
        AddTestCase(new LateRankCase("dgx1-v100", 1));
        AddTestCase(new LateRankCase("dgx-h100", 2), TestDuration::EXTENSIVE);
        AddTestCase(new WindowCase);
        AddTestCase(new MutationCase);
        AddTestCase(new RandomJobsCase(1, 20, 1 << 30));
        AddTestCase(new RandomJobsCase(100, 5, 1));
        AddTestCase(new RandomJobsCase(1000, 900, 1 << 30), TestDuration::TAKES_FOREVER);
        AddTestCase(new RandomJobsCase(2000, 100, 1), TestDuration::TAKES_FOREVER);
    }
} g_repetitionTestSuite; //!< registers itself

} // namespace
