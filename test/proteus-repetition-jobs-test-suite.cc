/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-repetition-small-job.h"
#include "proteus-repetition-test-tools.h"
#include "proteus-test-duration.h"

#include "ns3/proteus-graph-iterations.h"
#include "ns3/proteus-link-recorder.h"
#include "ns3/proteus-model-options.h"
#include "ns3/test.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::proteus;
using namespace ns3::proteus::repetitiontest;

namespace
{

/// Off, on and verify give the same, to the bit.
class SmallJobsCase : public TestCase
{
  public:
    /// @param first seed @param count of jobs
    SmallJobsCase(uint32_t first, uint32_t count)
        : TestCase(std::to_string(count) + " training jobs from seed " + std::to_string(first)),
          m_first(first),
          m_count(count)
    {
    }

  private:
    void DoRun() override
    {
        uint64_t repeated = 0;
        uint64_t verified = 0;
        uint64_t communications = 0;
        for (uint32_t seed = m_first; seed < m_first + m_count; ++seed)
        {
            const SmallJob job = SmallJobMaker(seed).Make();
            const ModelOptions options{"gpt",
                                       job.strategy,
                                       PROTEUS_SOURCE_DIR "/workloads/models",
                                       job.model};
            const ExecutionGraph graph =
                CompileForCluster(options.Load(), job.cluster, KernelCostParameters(), "");
            Way way;
            way.window = job.window;
            const AllWays ways = RunAllWays(job.cluster, graph, way);
            NS_TEST_EXPECT_MSG_EQ(ways.difference, "", job.name);
            NS_TEST_EXPECT_MSG_EQ(ways.off.error, "", job.name);
            repeated += ways.on.repetition.repeated;
            communications += ways.on.repetition.communications;
            verified += ways.verify.repetition.verified;
        }
        NS_TEST_EXPECT_MSG_GT(repeated, communications / 20, "something must have been repeated");
        NS_TEST_EXPECT_MSG_GT(verified, 0, "something must have been compared");
    }

    uint32_t m_first; //!< seed
    uint32_t m_count; //!< of jobs
};

/// Links over time are the same with what is repeated as without, but for what is in a bin with the
/// begin or the end of a communication.
class SeriesCase : public TestCase
{
  public:
    SeriesCase()
        : TestCase("links over time have what is repeated, too")
    {
    }

  private:
    /// @param way to run a job @param outcome of it @return its links over time
    static LinkSeries Record(Way way, Outcome& outcome)
    {
        const Cluster cluster = MakeCluster("dgx-a100", 2);
        const ModelOptions options{"gpt",
                                   "tp=8,dp=2,globalBatch=16,recompute=full",
                                   PROTEUS_SOURCE_DIR "/workloads/models",
                                   "layers=4,hidden=512,heads=8,sequence=256,vocabulary=1000"};
        std::unique_ptr<LinkRecorder> recorder;
        way.prepare = [&recorder](Ptr<TrainingJob> job) {
            recorder = std::make_unique<LinkRecorder>(job->GetFabric());
        };
        outcome = RunGraph(cluster,
                           CompileForCluster(options.Load(), cluster, KernelCostParameters(), ""),
                           way);
        return recorder->GetSeries();
    }

    /// A LinkRecorder is for one process: the clocks of samples of several would never end.
    void ExpectRefused()
    {
        const Cluster cluster = MakeCluster("dgx-a100", 2);
        const TestRanks ranks(cluster);
        Ptr<Fabric> fabric = ProteusHelper().InstallFabric(cluster);
        bool isRefused = false;
        try
        {
            const LinkRecorder recorder(fabric);
        }
        catch (const std::invalid_argument&)
        {
            isRefused = true;
        }
        NS_TEST_EXPECT_MSG_EQ(isRefused, (GetNRanks() > 1), "by several processes");
        fabric->Dispose();
    }

    void DoRun() override
    {
        if (TestRanks::AreSeveral())
        {
            ExpectRefused();
            return;
        }
        Way way;
        Outcome on;
        Outcome off;
        const LinkSeries repeated = Record(way, on);
        way.mode = "off";
        const LinkSeries sampled = Record(way, off);
        NS_TEST_EXPECT_MSG_EQ(FindDifference(off.results, on.results), "", "results");
        NS_TEST_ASSERT_MSG_EQ(repeated.GetNBins(), sampled.GetNBins(), "as many bins");
        double total = 0;
        for (std::size_t direction = 0; direction < sampled.GetNDirections(); ++direction)
        {
            double difference = 0;
            double busy = 0;
            for (std::size_t bin = 0; bin < sampled.GetNBins(); ++bin)
            {
                const double more =
                    repeated.Get(direction, bin).busyShare - sampled.Get(direction, bin).busyShare;
                NS_TEST_EXPECT_MSG_LT(std::abs(more), 0.2, "a bin is alike");
                difference += more;
                busy += sampled.Get(direction, bin).busyShare;
            }
            NS_TEST_EXPECT_MSG_LT(std::abs(difference), 1e-3 * busy + 1e-6, "nothing is lost");
            total += busy;
        }
        NS_TEST_EXPECT_MSG_GT(total, 0, "links are used");
        NS_TEST_EXPECT_MSG_EQ(on.error + off.error, "", "both run");
        NS_TEST_EXPECT_MSG_GT(on.repetition.repeated, 10, "most is repeated");
    }
};

/// Over RoCE that is slow enough for timeouts, what was sent again comes when its communication is
/// long over: on links that others use by then, and from these on to links that look idle.
class LateUnitsCase : public TestCase
{
  public:
    LateUnitsCase()
        : TestCase("what a timeout sends again may come when its communication is over")
    {
    }

  private:
    void DoRun() override
    {
        FabricOptions fabric;
        fabric.kind = "leaf-spine";
        fabric.serversPerLeaf = 1;
        fabric.oversubscription = 4;
        const Cluster cluster = MakeCluster("titanxp-pcie", 2, fabric);
        const ModelOptions options{"gpt",
                                   "tp=4,pp=2,dp=2,globalBatch=8,zero=1",
                                   PROTEUS_SOURCE_DIR "/workloads/models",
                                   "layers=4,hidden=128,heads=8,sequence=64,vocabulary=1000"};
        const ExecutionGraph graph =
            RepeatGraph(CompileForCluster(options.Load(), cluster, KernelCostParameters(), ""),
                        {},
                        2,
                        CrossIteration::BARRIER)
                .graph;
        Way way;
        way.transport = {{"RetransmissionTimeout", "1ms"}, {"RetryLimit", "30"}};
        const AllWays ways = RunAllWays(cluster, graph, way);
        NS_TEST_EXPECT_MSG_EQ(ways.difference, "", "repetition changes nothing");
        NS_TEST_EXPECT_MSG_EQ(ways.off.error, "", "the job runs");
        NS_TEST_EXPECT_MSG_GT(ways.off.timeouts, 100, "much is sent again");
        if (!TestRanks::AreSeveral()) // nothing in a server repeats next to what leaves a rank
        {
            NS_TEST_EXPECT_MSG_GT(ways.verify.repetition.verified, 0, "something is compared");
        }
    }
};

/// Ranks are still busy with what came last when their links are at rest. Others that begin on
/// these links, or join then, get ends of their own.
class LateEndsCase : public TestCase
{
  public:
    LateEndsCase()
        : TestCase("a rank may be done after its links are at rest")
    {
    }

  private:
    /// A long all-reduce, the same later, and a short one as soon as each rank is done.
    static ExecutionGraph MakeGraph(uint64_t bytes)
    {
        const std::vector<DeviceId> members{0, 2, 4, 6};
        GraphBuilder builder(8);
        const StreamId stream = builder.AddStream("communication");
        const PhaseId phase = builder.AddPhase("iteration");
        const GroupId group = builder.AddGroup(members);
        std::vector<TaskId> before;
        for (const int64_t startPs : {int64_t{1000000000}, int64_t{3000000000}})
        {
            // Begun at 0, so that all ranks join at that time.
            const StreamId compute = builder.AddStream("compute" + std::to_string(startPs));
            before.clear();
            for (const DeviceId device : members)
            {
                // Ranks begin apart, and so end apart.
                const int64_t latePs = 5000000 * (device / 2 % 3);
                before.push_back(
                    builder.AddCompute(phase, device, compute, "compute", startPs + latePs, {}));
            }
            before = {builder.AddCommunication(phase,
                                               group,
                                               stream,
                                               "long",
                                               Collective::ALL_REDUCE,
                                               bytes,
                                               Parallelism::DATA,
                                               before)};
        }
        builder.AddCommunication(phase,
                                 group,
                                 stream,
                                 "short",
                                 Collective::ALL_REDUCE,
                                 6144,
                                 Parallelism::DATA,
                                 before);
        return builder.Build();
    }

    void DoRun() override
    {
        const Cluster cluster = MakeCluster("dgx-a100", 1);
        for (uint64_t bytes = 20000000; bytes < 30000000; bytes += 1000000)
        {
            const ExecutionGraph graph = MakeGraph(bytes);
            const Outcome off = RunGraph(cluster, graph, {"off", 1 << 30, {}, nullptr, "0us"});
            const Outcome on = RunGraph(cluster, graph, {"on", 1 << 30, {}, nullptr, "0us"});
            NS_TEST_EXPECT_MSG_EQ(on.error, "", bytes << " bytes");
            NS_TEST_EXPECT_MSG_EQ(FindDifference(off.results, on.results), "", bytes << " bytes");
            NS_TEST_EXPECT_MSG_EQ(on.repetition.repeated, 1, bytes << " bytes");
        }
    }
};

/// Two pairs of servers reduce again and again. What overlaps with something else on their links is
/// executed; what comes after it is repeated again.
class OverlapCase : public TestCase
{
  public:
    /// What comes between.
    enum Between
    {
        MESSAGE,  //!< a message from one pair to the other, in the middle of a reduction
        LATE_RANK //!< a reduction of both, whose second rank begins when all else is over
    };

    OverlapCase(Between between, uint64_t leastRepeated)
        : TestCase(between == MESSAGE ? "what follows an overlap is repeated"
                                      : "a rank that waits leaves its links to others"),
          m_between(between),
          m_leastRepeated(leastRepeated)
    {
    }

  private:
    static constexpr uint32_t COUNT = 10;          //!< reductions of each pair
    static constexpr int64_t APART_PS = 100000000; //!< by which the second pair is behind
    static constexpr DeviceId SERVER = 8;          //!< devices of a server

    /// @param builder of the job @param phase of it @param first device of the pair
    /// @param latePs by which it is late @return the last reduction
    static TaskId AddPair(GraphBuilder& builder, PhaseId phase, DeviceId first, int64_t latePs)
    {
        const std::vector<DeviceId> pair{first, first + SERVER};
        const std::string name = std::to_string(first);
        const StreamId compute = builder.AddStream("compute" + name);
        const StreamId stream = builder.AddStream("reductions" + name);
        std::vector<TaskId> before;
        for (const DeviceId device : pair)
        {
            before.push_back(builder.AddCompute(phase, device, compute, "late", latePs));
        }
        TaskId last = NO_ID;
        for (uint32_t i = 0; i < COUNT; ++i)
        {
            last = builder.AddCommunication(phase,
                                            builder.AddGroup(pair),
                                            stream,
                                            "reduction" + name,
                                            Collective::ALL_REDUCE,
                                            4 << 20,
                                            Parallelism::DATA,
                                            before);
        }
        return last;
    }

    void DoRun() override
    {
        GraphBuilder builder(4 * SERVER);
        const PhaseId phase = builder.AddPhase("iteration");
        const TaskId first = AddPair(builder, phase, 0, 0);
        AddPair(builder, phase, 2 * SERVER, APART_PS);
        const StreamId stream = builder.AddStream("between");
        std::vector<TaskId> before{first};
        if (m_between == MESSAGE)
        {
            before = {builder.AddCompute(phase, 0, stream, "soon", 5 * APART_PS)};
        }
        builder.AddCommunication(phase,
                                 builder.AddGroup({0, 3 * SERVER}),
                                 builder.AddStream("both"),
                                 "both",
                                 m_between == MESSAGE ? Collective::SEND_RECV
                                                      : Collective::ALL_REDUCE,
                                 1 << 20,
                                 Parallelism::DATA,
                                 before);
        Way way;
        way.window = m_between == MESSAGE ? way.window : "0us"; // else it does not begin alone
        const AllWays ways = RunAllWays(MakeCluster("dgx-a100", 4), builder.Build(), way);
        NS_TEST_EXPECT_MSG_EQ(ways.difference, "", "repetition changes nothing");
        NS_TEST_EXPECT_MSG_EQ(ways.off.error, "", "the job runs");
        // On several MPI ranks, nothing repeats on links that a communication between them crosses.
        const uint64_t least = TestRanks::AreSeveral() ? 0 : m_leastRepeated;
        NS_TEST_EXPECT_MSG_GT(ways.on.repetition.repeated + 1, least, "repeated");
        NS_TEST_EXPECT_MSG_LT(ways.on.repetition.repeated, 2 * COUNT, "something overlaps");
    }

    Between m_between;        //!< which
    uint64_t m_leastRepeated; //!< communications
};

/// Replicas reduce gradients on several rails, each of them late by tens of nanoseconds. In a
/// window they begin together, so that one ring is executed for all rails. The first of two ranks
/// that reduce afterwards does not disturb the rings of the other one.
class RailsCase : public TestCase
{
  public:
    RailsCase()
        : TestCase("rings between servers begin together, and are executed once")
    {
    }

  private:
    static constexpr uint32_t SERVERS = 4; //!< with one rank of each ring
    static constexpr uint32_t RAILS = 4;   //!< with two rings each, one after the other
    static constexpr DeviceId SERVER = 8;  //!< devices of a server

    /// @return the job
    static ExecutionGraph MakeGraph()
    {
        GraphBuilder builder(2 * SERVERS * SERVER);
        const PhaseId phase = builder.AddPhase("phase");
        const StreamId compute = builder.AddStream("compute");
        const StreamId stream = builder.AddStream("gradients");
        for (DeviceId rail = 0; rail < RAILS; ++rail)
        {
            // The servers of two stages, of which the second reduces while the first one still is
            // at it.
            std::vector<TaskId> rings;
            for (DeviceId stage = 0; stage < 2; ++stage)
            {
                std::vector<DeviceId> members;
                std::vector<TaskId> before;
                for (uint32_t i = 0; i < SERVERS; ++i)
                {
                    const DeviceId device = (2 * i + stage) * SERVER + rail;
                    const int64_t latePs = 10000 * (7 * rail * i % 5);
                    const int64_t stagePs = 1000000000 + 300000000 * stage;
                    members.push_back(device);
                    before.push_back(
                        builder.AddCompute(phase, device, compute, "compute", stagePs + latePs));
                }
                rings.push_back(builder.AddCommunication(phase,
                                                         builder.AddGroup(members),
                                                         stream,
                                                         "ring",
                                                         Collective::ALL_REDUCE,
                                                         8 << 20,
                                                         Parallelism::DATA,
                                                         before));
            }
            builder.AddCommunication(phase,
                                     builder.AddGroup({rail, SERVER + rail}),
                                     stream,
                                     "embedding",
                                     Collective::ALL_REDUCE,
                                     1 << 20,
                                     Parallelism::EMBEDDING,
                                     rings);
        }
        return builder.Build();
    }

    void DoRun() override
    {
        const Cluster cluster = MakeCluster("dgx-a100", 2 * SERVERS);
        const ExecutionGraph graph = MakeGraph();
        Way way;
        for (const std::string window : {"0us", "100ns"})
        {
            way.window = window;
            const AllWays ways = RunAllWays(cluster, graph, way);
            NS_TEST_EXPECT_MSG_EQ(ways.difference, "", "off, on and verify, window " << window);
            NS_TEST_EXPECT_MSG_EQ(ways.off.error, "", "window " << window);
            const RepetitionStatistics& on = ways.on.repetition;
            if (TestRanks::AreSeveral())
            {
                continue; // what crosses is executed
            }
            NS_TEST_EXPECT_MSG_EQ(on.communications, 3 * RAILS, "all");
            if (window == "0us")
            {
                NS_TEST_EXPECT_MSG_LT(on.repeated, RAILS, "each rail in another way");
                continue;
            }
            NS_TEST_EXPECT_MSG_GT(on.repeated, 2 * RAILS - 1, "of one rail for all");
        }
    }
};

/// @param builder of the job @param phase of it @param from sends @param to receives
/// @param startPs when @param bytes of the message @param name of it
void
AddMessage(GraphBuilder& builder,
           PhaseId phase,
           DeviceId from,
           DeviceId to,
           int64_t startPs,
           uint64_t bytes,
           const std::string& name)
{
    const TaskId before =
        builder.AddCompute(phase, from, builder.AddStream("wait " + name), "wait", startPs);
    builder.AddCommunication(phase,
                             builder.AddGroup({from, to}),
                             builder.AddStream(name),
                             name,
                             Collective::SEND_RECV,
                             bytes,
                             Parallelism::PIPELINE,
                             {before});
}

/// Messages come in at a NIC while others go out: what meets alike is executed once, whatever was
/// recorded before it met something, or met nothing.
class MeetingsCase : public TestCase
{
  public:
    MeetingsCase()
        : TestCase("what meets alike is repeated, and every part of its key counts")
    {
    }

  private:
    static constexpr DeviceId SERVER = 8; //!< devices of a server
    static constexpr uint64_t BYTES = 8 << 20;

    /// What a message between servers 0 and 1 meets.
    struct Meeting
    {
        int64_t afterPs;        //!< when the second message is sent; 0: none is
        bool isBackward{false}; //!< from server 2 to server 1, not from 1 to 2
        uint64_t bytes{BYTES};  //!< of it
    };

    /// @param meetings one after the other, on two rails each @return the job
    static ExecutionGraph MakeGraph(const std::vector<Meeting>& meetings)
    {
        GraphBuilder builder(3 * SERVER);
        const PhaseId phase = builder.AddPhase("phase");
        int64_t startPs = 0;
        for (std::size_t i = 0; i < meetings.size(); ++i)
        {
            startPs += 2000000000;
            for (const DeviceId rail : {0, 4})
            {
                const std::string name = std::to_string(i) + '.' + std::to_string(rail);
                AddMessage(builder, phase, rail, rail + SERVER, startPs, BYTES, "first " + name);
                const DeviceId middle = rail + SERVER;
                const DeviceId last = rail + 2 * SERVER;
                if (meetings[i].afterPs > 0)
                {
                    AddMessage(builder,
                               phase,
                               meetings[i].isBackward ? last : middle,
                               meetings[i].isBackward ? middle : last,
                               startPs + meetings[i].afterPs,
                               meetings[i].bytes,
                               "second " + name);
                }
            }
        }
        return builder.Build();
    }

    void DoRun() override
    {
        constexpr int64_t SOON_PS = 100000000;
        constexpr int64_t LATER_PS = 150000000;
        const Cluster cluster = MakeCluster("dgx-a100", 3);
        const AllWays ways = RunAllWays(cluster,
                                        MakeGraph({{SOON_PS},
                                                   {SOON_PS},
                                                   {0}, // the record ends when a second one comes
                                                   {SOON_PS},
                                                   {LATER_PS},
                                                   {0},
                                                   {LATER_PS},
                                                   {SOON_PS}}));
        NS_TEST_EXPECT_MSG_EQ(ways.difference, "", "off, on and verify");
        NS_TEST_EXPECT_MSG_EQ(ways.off.error, "", "no way fails");
        const RepetitionStatistics& on = ways.on.repetition;
        if (!TestRanks::AreSeveral())
        {
            NS_TEST_EXPECT_MSG_EQ(on.repeated + on.recorded, on.communications, "all of them");
            NS_TEST_EXPECT_MSG_EQ(on.recorded, 5, "soon, none, and later");
        }
        const ExecutionGraph graph = MakeGraph(
            {{SOON_PS}, {LATER_PS}, {SOON_PS, true}, {SOON_PS, false, BYTES / 2}, {SOON_PS}});
        const Outcome off = RunGraph(cluster, graph, {"off"});
        using Field = RepetitionRecords::Field;
        for (const Field field : {Field::PROGRAM, Field::SHAPE, Field::OFFSETS})
        {
            const Outcome mutant = RunGraph(cluster, graph, {"on", 1 << 30, field});
            const Outcome verify = RunGraph(cluster, graph, {"verify", 1 << 30, field});
            NS_TEST_EXPECT_MSG_NE(FindDifference(off.results, mutant.results),
                                  "",
                                  "results without part " << static_cast<int>(field));
            NS_TEST_EXPECT_MSG_NE(verify.error.find("is not what it was before"),
                                  std::string::npos,
                                  "verify without part " << static_cast<int>(field));
        }
    }
};

/// While a long message comes in at a NIC, others go out there, one after the other. The component
/// grows with each of them, and must not be executed from its begin on, in a process of its own,
/// each time.
class ChainCase : public TestCase
{
  public:
    ChainCase()
        : TestCase("what meets one communication after another is not executed again and again")
    {
    }

  private:
    static constexpr DeviceId SERVER = 8; //!< devices of a server
    static constexpr uint64_t SHORT = 12; //!< messages that go out

    void DoRun() override
    {
        GraphBuilder builder(3 * SERVER);
        const PhaseId phase = builder.AddPhase("phase");
        AddMessage(builder, phase, 0, SERVER, 1000000000, 64 << 20, "long");
        for (uint64_t i = 0; i < SHORT; ++i)
        {
            const auto startPs = static_cast<int64_t>(1100000000 + 200000000 * i);
            AddMessage(builder, phase, SERVER, 2 * SERVER, startPs, 256 << 10, std::to_string(i));
        }
        const AllWays ways = RunAllWays(MakeCluster("dgx-a100", 3), builder.Build());
        NS_TEST_EXPECT_MSG_EQ(ways.difference, "", "repetition changes nothing");
        NS_TEST_EXPECT_MSG_EQ(ways.off.error, "", "the job runs");
        const RepetitionStatistics& processes = ways.processes.repetition;
        if (!TestRanks::AreSeveral())
        {
            NS_TEST_EXPECT_MSG_EQ(processes.repeated, 0, "everything is one component");
            NS_TEST_EXPECT_MSG_EQ(processes.recorded, SHORT + 1, "that has a record");
            NS_TEST_EXPECT_MSG_LT(processes.vainHops, ways.off.packetHops, "in vain at most once");
        }
    }
};

/// A message was executed by a process while there was nothing else to do, and had no periods. A
/// longer one of its shape is executed by no process, which another message would make useless.
class UselessProcessCase : public TestCase
{
  public:
    UselessProcessCase()
        : TestCase("a shape gets no further process where the first one was of no use")
    {
    }

  private:
    static constexpr DeviceId SERVER = 8; //!< devices of a server

    void DoRun() override
    {
        GraphBuilder builder(3 * SERVER);
        const PhaseId phase = builder.AddPhase("phase");
        AddMessage(builder, phase, SERVER, 2 * SERVER, 1000000000, 256 << 10, "alone");
        AddMessage(builder, phase, SERVER, 2 * SERVER, 2000000000, 512 << 10, "met");
        AddMessage(builder, phase, 0, SERVER, 2037000000, 256 << 10, "meets");
        const AllWays ways = RunAllWays(MakeCluster("dgx-a100", 3), builder.Build());
        NS_TEST_EXPECT_MSG_EQ(ways.difference, "", "repetition changes nothing");
        NS_TEST_EXPECT_MSG_EQ(ways.off.error, "", "the job runs");
        if (!TestRanks::AreSeveral())
        {
            NS_TEST_EXPECT_MSG_EQ(ways.processes.repetition.recorded, 3, "all that is executed");
            NS_TEST_EXPECT_MSG_EQ(ways.processes.repetition.vainHops, 0, "once");
        }
    }
};

/// The suite.
class RepetitionJobsTestSuite : public TestSuite
{
  public:
    RepetitionJobsTestSuite()
        : TestSuite("proteus-repetition-jobs")
    {
        AddTestCase(new LateEndsCase);
        AddTestCase(new LateUnitsCase);
        AddTestCase(new OverlapCase(OverlapCase::MESSAGE, 10));
        AddTestCase(new OverlapCase(OverlapCase::LATE_RANK, 16));
        AddTestCase(new RailsCase);
        AddTestCase(new MeetingsCase);
        AddTestCase(new ChainCase);
        AddTestCase(new UselessProcessCase);
        AddTestCase(new SeriesCase);
        AddTestCase(new SmallJobsCase(1, 8));
        for (uint32_t first = 1000; first < 1400; first += 25)
        {
            AddTestCase(new SmallJobsCase(first, 25), TestDuration::TAKES_FOREVER);
        }
    }
} g_repetitionJobsTestSuite; //!< registers itself

} // namespace
