/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-test-ranks.h"
#include "unit/collective/collective-clusters.h"

#include "ns3/proteus-algorithms.h"
#include "ns3/proteus-collective-run.h"
#include "ns3/proteus-program.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <numeric>
#include <set>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * Collectives over packets: what every rank puts on the wire, who waits for a late rank, and who
 * for another group.
 */

using namespace ns3;
using namespace ns3::proteus;

namespace
{

constexpr uint64_t MIB = uint64_t{1} << 20;

/// @return 0 to n - 1
std::vector<DeviceId>
FirstDevices(uint32_t n)
{
    std::vector<DeviceId> devices(n);
    std::iota(devices.begin(), devices.end(), 0);
    return devices;
}

/// One collective, and what is fixed about it.
struct Setting
{
    Collective collective{Collective::ALL_REDUCE}; //!< what is run
    std::string algorithm;                         //!< of it
    uint64_t bytes{0};                             //!< its size
    uint32_t root{0};                              //!< if it has one
    uint32_t channels{1};                          //!< of it
    std::string protocol{"Simple"};                //!< of it
    std::vector<uint64_t> splits;                  //!< of an all-to-all
};

/// RunCollective() by the processes that there are.
std::vector<CollectiveRow>
RunOnRanks(const Cluster& cluster, const CollectiveTest& test, uint64_t bytes)
{
    const TestRanks ranks(cluster);
    return RunCollective(cluster, test, bytes);
}

/// What a run left behind.
struct Outcome
{
    std::shared_ptr<const CollectiveProgram> program;
    std::vector<int64_t> ends;  //!< by device, of its last task, picoseconds
    std::vector<uint64_t> sent; //!< by device: payload on its links
    std::vector<LinkStatistics> links;
};

/// @param cluster to run on @param devices of the group @param setting of the collective
/// @param late device that joins late, or none @param delayPs by how much @return what happened
Outcome
RunLate(const Cluster& cluster,
        const std::vector<DeviceId>& devices,
        const Setting& setting,
        DeviceId late,
        int64_t delayPs)
{
    const TestRanks ranks(cluster);
    const auto nDevices = static_cast<uint32_t>(cluster.GetGpus().size());
    GraphBuilder builder(nDevices);
    const StreamId stream = builder.AddStream("communication");
    const StreamId compute = builder.AddStream("compute");
    const PhaseId phase = builder.AddPhase("iteration");
    std::vector<TaskId> before;
    if (late < nDevices)
    {
        before.push_back(builder.AddCompute(phase, late, compute, "late", delayPs));
    }
    const TaskId task = builder.AddCommunication(phase,
                                                 builder.AddGroup(devices),
                                                 stream,
                                                 "collective",
                                                 setting.collective,
                                                 setting.bytes,
                                                 Parallelism::NONE,
                                                 before,
                                                 static_cast<uint16_t>(setting.root));
    ProteusHelper helper;
    helper.AssignStreams(1);
    helper.SetNetworkAttribute("Algorithm", StringValue(setting.algorithm));
    helper.SetNetworkAttribute("Protocol", StringValue(setting.protocol));
    helper.SetNetworkAttribute("Channels", UintegerValue(setting.channels));
    helper.SetNetworkAttribute("ChunkBytes", UintegerValue(65536));
    if (!setting.splits.empty())
    {
        helper.SetProgramMaker([&](CollectiveRequest request) {
            request.splits = setting.splits;
            return MakeProgram(cluster, Paths(cluster), request);
        });
    }
    const ExecutionGraph graph = builder.Build();
    Ptr<TrainingJob> job = helper.Install(cluster, graph);
    job->Run();
    Outcome outcome;
    outcome.program = job->GetNetwork()->GetProgram(task);
    outcome.ends.resize(nDevices);
    for (const Span& span : job->GetTimeline().spans)
    {
        outcome.ends[span.device] = std::max(outcome.ends[span.device], span.endPs);
    }
    outcome.sent.resize(nDevices);
    outcome.links = job->GetFabric()->GetLinkStatistics();
    for (DeviceId device = 0; device < nDevices; ++device)
    {
        const VertexId gpu = cluster.GetGpus()[device];
        for (const LinkStatistics& link : outcome.links)
        {
            const Link& ends = cluster.GetLinks()[link.link];
            outcome.sent[device] += (link.forward ? ends.a : ends.b) == gpu ? link.payloadBytes : 0;
        }
    }
    job->Dispose();
    Simulator::Destroy();
    return outcome;
}

/// @param program of a rank @param protocol of it @return what it puts on the wire
uint64_t
CountWireBytes(const RankProgram& program, Protocol protocol)
{
    uint64_t bytes = 0;
    for (const ThreadBlock& block : program.blocks)
    {
        for (const Step& step : block.steps)
        {
            bytes += Sends(step.kind) ? GetTraits(protocol).WireBytes(step.bytes) : 0;
        }
    }
    return bytes;
}

} // namespace

/**
 * @ingroup proteus-tests
 * Every rank puts on its links what its program says, whose sums CollectiveBytes (GoogleTest)
 * compares with the closed forms of all algorithms. Those of switches: proteus-group-collective.
 */
class WireBytesCase : public TestCase
{
  public:
    WireBytesCase()
        : TestCase("every rank puts on the wire what its program says, by all algorithms")
    {
    }

  private:
    void Check(const Cluster& cluster, uint32_t n, const Setting& setting)
    {
        const Outcome outcome = RunLate(cluster, FirstDevices(n), setting, UINT32_MAX, 0);
        const std::string what = setting.algorithm + " " + ToString(setting.collective) + " of " +
                                 std::to_string(setting.bytes) + " bytes among " +
                                 std::to_string(n) + ", " + setting.protocol;
        NS_TEST_ASSERT_MSG_EQ(outcome.program->algorithm, setting.algorithm, what);
        uint64_t total = 0;
        for (uint32_t rank = 0; rank < n; ++rank)
        {
            const RankProgram& program = outcome.program->ranks[rank];
            NS_TEST_ASSERT_MSG_EQ(outcome.sent[rank],
                                  CountWireBytes(program, outcome.program->protocol),
                                  what << ", rank " << rank);
            total += outcome.sent[rank];
        }
        NS_TEST_ASSERT_MSG_GT(total, 0, what);
    }

    void CheckAll(const Cluster& cluster, uint32_t n, uint64_t bytes)
    {
        for (const Collective collective : GroupCollectives())
        {
            for (const std::string& algorithm : GetAlgorithms(collective))
            {
                if (algorithm == "nvls" || algorithm == "nvls-tree" || algorithm == "sharp")
                {
                    continue;
                }
                Setting setting;
                setting.collective = collective;
                setting.algorithm = algorithm;
                setting.bytes = bytes;
                setting.root = HasRoot(collective) ? n / 2 : 0;
                setting.channels = 1 + n % 3;
                Check(cluster, n, setting);
            }
        }
    }

    void DoRun() override
    {
        const Cluster domain = MakeCluster("gb200-nvl72", 1);
        for (const uint32_t n : {2u, 3u, 7u, 8u})
        {
            CheckAll(domain, n, uint64_t{n} * 4096);
            CheckAll(domain, n, 100003);
        }
        CheckAll(domain, 64, 64 * 1024 + 7);
        CheckAll(MakeCluster("dgx-h100", 2), 16, 100003);
        // Flags: LL sends two bytes for one, LL128 128 for 120.
        for (const char* protocol : {"LL", "LL128"})
        {
            Setting setting;
            setting.algorithm = "ring";
            setting.bytes = 240 * 1024;
            setting.protocol = protocol;
            const Outcome outcome = RunLate(domain, FirstDevices(4), setting, UINT32_MAX, 0);
            const uint64_t payload = 2 * 3 * setting.bytes / 4;
            const uint64_t wire = std::string(protocol) == "LL" ? 2 * payload : payload / 15 * 16;
            for (uint32_t rank = 0; rank < 4; ++rank)
            {
                NS_TEST_EXPECT_MSG_EQ(outcome.sent[rank], wire, protocol << ", rank " << rank);
            }
        }
        CheckSplits();
    }

    /// All-to-all with unequal splits: what leaves a rank is what it has for others.
    void CheckSplits()
    {
        const uint32_t n = 5;
        Setting setting;
        setting.collective = Collective::ALL_TO_ALL;
        setting.algorithm = "direct";
        setting.bytes = MIB;
        for (uint32_t i = 0; i < n * n; ++i)
        {
            setting.splits.push_back(i % 4 == 0 ? 0 : i * 7919);
        }
        const Outcome outcome =
            RunLate(MakeCluster("dgx-a100", 1), FirstDevices(n), setting, UINT32_MAX, 0);
        for (uint32_t rank = 0; rank < n; ++rank)
        {
            const auto row = setting.splits.begin() + rank * n;
            NS_TEST_EXPECT_MSG_EQ(outcome.sent[rank],
                                  std::accumulate(row, row + n, uint64_t{0}) - row[rank],
                                  "rank " << rank);
        }
    }
};

/**
 * @ingroup proteus-tests
 * Late ranks: exactly those who depend on one are late.
 */
class LateRankCase : public TestCase
{
  public:
    LateRankCase()
        : TestCase("a late rank delays those who depend on it, and nobody else")
    {
    }

  private:
    static constexpr int64_t DELAY_PS = 1'000'000'000; //!< longer than the collectives

    /// @param cluster to run on @param n ranks @param setting of the collective @param late rank
    /// @param delayed all that are to be late
    void Check(const Cluster& cluster,
               uint32_t n,
               const Setting& setting,
               uint32_t late,
               const std::set<uint32_t>& delayed)
    {
        const Outcome prompt = RunLate(cluster, FirstDevices(n), setting, UINT32_MAX, 0);
        const Outcome outcome = RunLate(cluster, FirstDevices(n), setting, late, DELAY_PS);
        const int64_t longest = *std::max_element(prompt.ends.begin(), prompt.ends.end());
        for (uint32_t rank = 0; rank < n; ++rank)
        {
            const std::string what = setting.algorithm + " " + ToString(setting.collective) +
                                     ", late " + std::to_string(late) + ", rank " +
                                     std::to_string(rank);
            NS_TEST_ASSERT_MSG_LT(prompt.ends[rank], DELAY_PS / 2, what);
            if (delayed.count(rank) > 0)
            {
                NS_TEST_EXPECT_MSG_GT(outcome.ends[rank], DELAY_PS, what);
                // The rest takes no longer than all of it, but for what now comes to the late one
                // at the same time.
                NS_TEST_EXPECT_MSG_LT(outcome.ends[rank], DELAY_PS + longest / 100 * 105, what);
            }
            else
            {
                // Less is under way at the same time, so that it may even come sooner.
                NS_TEST_EXPECT_MSG_LT_OR_EQ(outcome.ends[rank], prompt.ends[rank], what);
            }
        }
    }

    void DoRun() override
    {
        const Cluster server = MakeCluster("dgx-a100", 1);
        const auto all = [](uint32_t n) {
            const auto devices = FirstDevices(n);
            return std::set<uint32_t>(devices.begin(), devices.end());
        };
        Setting setting;
        setting.bytes = 60'000;
        setting.algorithm = "ring";
        for (const Collective collective :
             {Collective::ALL_REDUCE, Collective::ALL_GATHER, Collective::REDUCE_SCATTER})
        {
            setting.collective = collective;
            Check(server, 8, setting, 3, all(8));
        }
        // Along the chain of a broadcast: those behind, and the one before, whose chunk it takes.
        setting.collective = Collective::BROADCAST;
        Check(server, 8, setting, 5, {4, 5, 6, 7});
        Check(server, 8, setting, 0, all(8));
        Check(server, 8, setting, 7, {6, 7});
        // A reduction to rank 0 walks the same chain to its beginning.
        setting.collective = Collective::REDUCE;
        Check(server, 8, setting, 2, {0, 1, 2, 3});
        setting.algorithm = "direct";
        setting.collective = Collective::GATHER;
        Check(server, 8, setting, 6, {0, 6});
        setting.collective = Collective::SCATTER;
        Check(server, 8, setting, 6, {0, 6});
        Check(server, 8, setting, 0, all(8));
        setting.collective = Collective::ALL_TO_ALL;
        Check(server, 8, setting, 1, all(8));
        CheckTree();
        CheckChain();
        CheckShift();
    }

    /// Broadcast along a tree of servers: the late rank, those below it, and the one above.
    void CheckTree()
    {
        const uint32_t n = 32;
        const Cluster cluster = MakeCluster("dgx-a100", 4);
        Setting setting;
        setting.collective = Collective::BROADCAST;
        setting.algorithm = "tree";
        setting.bytes = 60'000;
        CollectiveRequest request;
        request.collective = Collective::BROADCAST;
        request.channels = 1;
        request.vertices = cluster.GetGpus();
        const RankTree tree = MakeRankTrees(cluster, Paths(cluster), request).front();
        for (const uint32_t late : {8u, 20u, 31u})
        {
            std::set<uint32_t> delayed{tree.parent[late], late};
            for (const uint32_t rank : tree.order) // each behind its parent
            {
                const uint32_t parent = tree.parent[rank];
                if (parent != NO_RANK && parent != tree.parent[late] && delayed.count(parent) > 0)
                {
                    delayed.insert(rank);
                }
            }
            NS_TEST_ASSERT_MSG_LT(delayed.size(), n, "others do not depend on it");
            Check(cluster, n, setting, late, delayed);
        }
    }

    /// A message handed on from GPU to GPU, each as soon as it has it and is ready: every hop
    /// takes as long, and who is late shifts what comes behind to the picosecond.
    void CheckChain()
    {
        const auto run = [](DeviceId late) {
            GraphBuilder builder(8);
            const StreamId stream = builder.AddStream("communication");
            const StreamId compute = builder.AddStream("compute");
            const PhaseId phase = builder.AddPhase("iteration");
            std::vector<TaskId> before;
            std::vector<TaskId> messages;
            for (DeviceId device = 0; device + 1 < 8; ++device)
            {
                std::vector<TaskId> needs = before;
                if (device == late)
                {
                    needs.push_back(builder.AddCompute(phase, device, compute, "late", DELAY_PS));
                }
                messages.push_back(builder.AddCommunication(phase,
                                                            builder.AddGroup({device, device + 1}),
                                                            stream,
                                                            "message",
                                                            Collective::SEND_RECV,
                                                            100'000,
                                                            Parallelism::NONE,
                                                            needs));
                before = {messages.back()};
            }
            ProteusHelper helper;
            helper.AssignStreams(1);
            Ptr<TrainingJob> job = helper.Install(MakeCluster("dgx-a100", 1), builder.Build());
            job->Run();
            std::vector<int64_t> arrivals(7);
            for (const Span& span : job->GetTimeline().spans)
            {
                const auto found = std::find(messages.begin(), messages.end(), span.task);
                const std::size_t number = found - messages.begin();
                if (found != messages.end() && span.device == number + 1)
                {
                    arrivals[number] = span.endPs;
                }
            }
            job->Dispose();
            Simulator::Destroy();
            return arrivals;
        };
        const auto prompt = run(UINT32_MAX);
        const int64_t hopPs = prompt[1] - prompt[0];
        for (uint32_t i = 1; i < 7; ++i)
        {
            NS_TEST_EXPECT_MSG_EQ(prompt[i], prompt[i - 1] + hopPs, "hop " << i);
        }
        for (const DeviceId late : {0u, 3u, 6u})
        {
            const auto arrivals = run(late);
            for (uint32_t i = 0; i < 7; ++i)
            {
                const int64_t expected = i < late ? prompt[i] : DELAY_PS + (i - late + 1) * hopPs;
                NS_TEST_EXPECT_MSG_EQ(arrivals[i], expected, "late " << late << ", hop " << i);
            }
        }
    }

    /// If all are late by as much, all is late by as much.
    void CheckShift()
    {
        const auto run = [](int64_t delayPs) {
            GraphBuilder builder(8);
            const StreamId stream = builder.AddStream("communication");
            const PhaseId phase = builder.AddPhase("iteration");
            std::vector<TaskId> before;
            for (DeviceId device = 0; device < 8; ++device)
            {
                before.push_back(builder.AddCompute(phase, device, stream, "compute", delayPs));
            }
            builder.AddCommunication(phase,
                                     builder.AddGroup(FirstDevices(8)),
                                     stream,
                                     "all-reduce",
                                     Collective::ALL_REDUCE,
                                     3 * MIB + 5,
                                     Parallelism::NONE,
                                     before);
            ProteusHelper helper;
            helper.AssignStreams(1);
            Ptr<TrainingJob> job = helper.Install(MakeCluster("dgx-a100", 1), builder.Build());
            job->Run();
            const Timeline timeline = job->GetTimeline();
            job->Dispose();
            Simulator::Destroy();
            return timeline;
        };
        const Timeline early = run(1'000);
        const Timeline late = run(1'000 + DELAY_PS);
        NS_TEST_ASSERT_MSG_EQ(early.spans.size(), late.spans.size(), "the same tasks");
        for (std::size_t i = 0; i < early.spans.size(); ++i)
        {
            NS_TEST_EXPECT_MSG_EQ(late.spans[i].endPs, early.spans[i].endPs + DELAY_PS, i);
        }
    }
};

/**
 * @ingroup proteus-tests
 * Several collectives at once.
 */
class ConcurrentCase : public TestCase
{
  public:
    ConcurrentCase()
        : TestCase("groups that share a NIC halve its rate, groups on rails of their own do not")
    {
    }

  private:
    static CollectiveTest MakeTest(const std::vector<std::vector<DeviceId>>& groups)
    {
        CollectiveTest test;
        test.groups = groups;
        test.algorithm = "ring";
        test.protocol = "Simple";
        test.launchMode = "stream";
        return test;
    }

    void DoRun() override
    {
        CheckShared();
        CheckRails();
    }

    /// In a DGX-1, two GPUs each share a NIC, 12.5 GB/s. An all-reduce of two ranks sends its size
    /// each way.
    void CheckShared()
    {
        const Cluster cluster = MakeCluster("dgx1-v100", 2);
        const uint64_t bytes = 64 * MIB;
        const double alone = RunOnRanks(cluster, MakeTest({{0, 8}}), bytes)[0].timeUs;
        const auto apart = RunOnRanks(cluster, MakeTest({{0, 8}, {2, 10}}), bytes);
        NS_TEST_EXPECT_MSG_EQ(apart[0].timeUs, alone, "the other group has another NIC");
        NS_TEST_EXPECT_MSG_EQ(apart[1].timeUs, alone, "the other group has another NIC");
        const auto shared = RunOnRanks(cluster, MakeTest({{0, 8}, {1, 9}}), bytes);
        const Link* nic = nullptr;
        for (const Link& link : cluster.GetLinks())
        {
            nic = link.technology == LinkTechnology::INFINIBAND ? &link : nic;
        }
        const double unit = 4096;
        const double wireUs = 1e6 * static_cast<double>(2 * bytes) / unit *
                              static_cast<double>(nic->framing.WireBytes(4096)) /
                              nic->bytesPerSecond;
        double last = 0;
        for (const CollectiveRow& row : shared)
        {
            last = std::max(last, row.timeUs);
            NS_TEST_EXPECT_MSG_GT(row.timeUs, 1.7 * alone, "shared fairly");
        }
        NS_TEST_EXPECT_MSG_GT(last, wireUs, "the NIC carries the bytes of both");
        NS_TEST_EXPECT_MSG_LT(last, 1.06 * wireUs, "and has little else to do");
    }

    /// In a DGX A100, every GPU has a NIC: eight groups across two servers, each on its rail.
    void CheckRails()
    {
        const Cluster cluster = MakeCluster("dgx-a100", 2);
        const double alone = RunOnRanks(cluster, MakeTest({{3, 11}}), 4 * MIB)[0].timeUs;
        CollectiveTest test = MakeTest(MakeTestGroups(cluster, 16, 8, true));
        const auto rows = RunOnRanks(cluster, test, 4 * MIB);
        NS_TEST_ASSERT_MSG_EQ(rows.size(), 8, "groups");
        for (const CollectiveRow& row : rows)
        {
            NS_TEST_EXPECT_MSG_EQ_TOL(row.timeUs, alone, 1e-6, "group " << row.group);
        }
    }
};

/**
 * @ingroup proteus-tests
 * All-to-all with and without rail alignment.
 */
class RailCase : public TestCase
{
  public:
    RailCase()
        : TestCase("PXN keeps an all-to-all on its rails, without it most of it crosses the spines")
    {
    }

  private:
    void DoRun() override
    {
        FabricOptions fabric;
        fabric.kind = "rail-optimised";
        fabric.serversPerGroup = 3;
        fabric.oversubscription = 4;
        const Cluster cluster = MakeCluster("dgx-h100", 3, fabric);
        const uint64_t share = 8192;
        const uint64_t n = 24;
        std::vector<int64_t> ends;
        for (const char* algorithm : {"direct", "pxn"})
        {
            Setting setting;
            setting.collective = Collective::ALL_TO_ALL;
            setting.algorithm = algorithm;
            setting.bytes = n * share;
            const Outcome outcome = RunLate(cluster, FirstDevices(n), setting, UINT32_MAX, 0);
            uint64_t up = 0;   // from rail switches to spines, and on
            uint64_t nics = 0; // from NICs into the network
            for (const LinkStatistics& link : outcome.links)
            {
                const Link& ends = cluster.GetLinks()[link.link];
                const auto kind = [&](VertexId vertex) {
                    return cluster.GetVertices()[vertex].kind;
                };
                if (kind(ends.a) == VertexKind::SWITCH && kind(ends.b) == VertexKind::SWITCH)
                {
                    up += link.payloadBytes;
                }
                nics += kind(link.forward ? ends.a : ends.b) == VertexKind::NIC &&
                                kind(link.forward ? ends.b : ends.a) == VertexKind::SWITCH
                            ? link.payloadBytes
                            : 0;
            }
            // Every GPU has 16 in other servers, two of them on its rail; a spine is two links.
            NS_TEST_EXPECT_MSG_EQ(nics, n * 16 * share, algorithm);
            const bool isAligned = std::string(algorithm) == "pxn";
            NS_TEST_EXPECT_MSG_EQ(up, (isAligned ? 0 : 2 * n * 14 * share), algorithm);
            ends.push_back(*std::max_element(outcome.ends.begin(), outcome.ends.end()));
        }
        NS_TEST_EXPECT_MSG_LT(ends[1], ends[0], "spines with a quarter of the rate hold it up");
    }
};

/**
 * @ingroup proteus-tests
 * MSCCL's schedules over packets.
 */
class MscclCase : public TestCase
{
  public:
    MscclCase()
        : TestCase("schedules of MSCCL run over packets as they stand")
    {
    }

  private:
    void DoRun() override
    {
        const std::string folder = PROTEUS_SOURCE_DIR "/../shared/data/msccl";
        if (!std::filesystem::exists(folder))
        {
            std::cout << "skipped: there is no " << folder << "\n";
            return;
        }
        uint32_t found = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder))
        {
            if (entry.path().extension() == ".xml")
            {
                Check(entry.path().string());
                ++found;
            }
        }
        NS_TEST_EXPECT_MSG_GT(found, 0, "samples");
    }

    void Check(const std::string& file)
    {
        const MscclSchedule schedule = LoadMscclXml(file);
        const Cluster cluster = MakeCluster("dgx-a100", 1);
        const auto n = static_cast<uint32_t>(schedule.gpus.size());
        const uint64_t bytes = uint64_t{schedule.chunks} * 4096;
        GraphBuilder builder(8);
        const TaskId task = builder.AddCommunication(builder.AddPhase("iteration"),
                                                     builder.AddGroup(FirstDevices(n)),
                                                     builder.AddStream("communication"),
                                                     "collective",
                                                     schedule.collective,
                                                     bytes,
                                                     Parallelism::NONE);
        ProteusHelper helper;
        helper.AssignStreams(1);
        helper.SetProgramMaker([&schedule](const CollectiveRequest& request) {
            return MakeProgram(schedule, request);
        });
        Ptr<TrainingJob> job = helper.Install(cluster, builder.Build());
        job->Run(); // throws if a rank waits for ever, or a byte is left
        const auto program = job->GetNetwork()->GetProgram(task);
        NS_TEST_EXPECT_MSG_EQ(program->algorithm, schedule.name, file);
        NS_TEST_EXPECT_MSG_EQ(program->channels, schedule.channels, file);
        uint64_t planned = 0;
        uint64_t payload = 0;
        for (const RankProgram& rank : program->ranks)
        {
            planned += CountWireBytes(rank, program->protocol);
            payload += SentBytes(rank);
        }
        NS_TEST_EXPECT_MSG_EQ(job->GetNetwork()->GetSentBytes(), planned, file);
        // No schedule can do with less.
        const uint64_t times = schedule.collective == Collective::ALL_REDUCE ? 2 : 1;
        NS_TEST_EXPECT_MSG_GT_OR_EQ(payload, times * (n - 1) * bytes, file);
        job->Dispose();
        Simulator::Destroy();
    }
};

/**
 * @ingroup proteus-tests
 * All tests of this suite.
 */
class CollectiveWireTestSuite : public TestSuite
{
  public:
    CollectiveWireTestSuite()
        : TestSuite("proteus-collective-wire", Type::SYSTEM)
    {
        AddTestCase(new WireBytesCase);
        AddTestCase(new LateRankCase);
        AddTestCase(new ConcurrentCase);
        AddTestCase(new RailCase);
        AddTestCase(new MscclCase);
    }
};

static CollectiveWireTestSuite g_collectiveWireTestSuite; //!< registers itself
