/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-outcome.h"
#include "proteus-collective-test-tools.h"
#include "unit/collective/collective-clusters.h"

#include "ns3/proteus-algorithms.h"
#include "ns3/proteus-helper.h"
#include "ns3/proteus-program.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * Collectives over packets: who waits for a late rank, and who for another group.
 */

using namespace ns3;
using namespace ns3::proteus;

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
 * A late rank, where another group is at work.
 */
class LateGroupCase : public TestCase
{
  public:
    LateGroupCase()
        : TestCase("a late rank does not delay another group")
    {
    }

  private:
    /// @param collective what is run @param late device that comes late, or 8 @param delayPs by how
    /// much @return when each device is done
    std::vector<int64_t> Run(Collective collective, uint32_t late, int64_t delayPs)
    {
        GraphBuilder builder(8);
        const StreamId stream = builder.AddStream("communication");
        const StreamId compute = builder.AddStream("compute");
        const PhaseId phase = builder.AddPhase("iteration");
        std::vector<TaskId> before;
        if (late < 8)
        {
            before.push_back(builder.AddCompute(phase, late, compute, "late", delayPs));
        }
        // Two groups, of which one has nothing to do with the other.
        TaskId first = 0;
        for (const std::vector<DeviceId>& group :
             {std::vector<DeviceId>{0, 1, 2, 3}, std::vector<DeviceId>{4, 5, 6, 7}})
        {
            const bool has = std::count(group.begin(), group.end(), late) > 0;
            first = builder.AddCommunication(phase,
                                             builder.AddGroup(group),
                                             stream,
                                             "collective",
                                             collective,
                                             MIB,
                                             Parallelism::NONE,
                                             has ? before : std::vector<TaskId>{});
        }
        ProteusHelper helper;
        helper.AssignStreams(1);
        helper.SetNetworkAttribute("Algorithm", StringValue("ring"));
        Ptr<TrainingJob> job = helper.Install(MakeCluster("dgx-a100", 1), builder.Build());
        job->Run();
        std::vector<int64_t> ends(8);
        for (const Span& span : job->GetTimeline().spans)
        {
            if (span.task >= first - 1)
            {
                ends[span.device] = span.endPs;
            }
        }
        job->Dispose();
        Simulator::Destroy();
        return ends;
    }

    void DoRun() override
    {
        const int64_t delayPs = 500000000; // longer than the collectives
        for (const Collective collective : {Collective::ALL_REDUCE, Collective::BROADCAST})
        {
            const auto ends = Run(collective, 8, 0);
            for (const uint32_t late : {0u, 2u, 3u})
            {
                const auto lateEnds = Run(collective, late, delayPs);
                for (DeviceId device = 4; device < 8; ++device)
                {
                    // But for units that change places with those of the late group.
                    NS_TEST_ASSERT_MSG_EQ_TOL(lateEnds[device],
                                              ends[device],
                                              int64_t{100000},
                                              "the other group");
                }
                NS_TEST_ASSERT_MSG_GT_OR_EQ(lateEnds[late], delayPs, "the late one");
                for (DeviceId device = 0; device < 4; ++device)
                {
                    const bool depends =
                        collective == Collective::ALL_REDUCE || device >= late || late == 0;
                    const bool isNext = device + 1 == late; // its room is full until then
                    if (depends)
                    {
                        NS_TEST_ASSERT_MSG_GT_OR_EQ(lateEnds[device],
                                                    delayPs,
                                                    "device " << device << " needs " << late);
                    }
                    else if (!isNext)
                    {
                        NS_TEST_ASSERT_MSG_LT(lateEnds[device],
                                              delayPs,
                                              "device " << device << " comes before " << late);
                    }
                }
            }
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
    static CollectiveTest MakeRings(const std::vector<std::vector<DeviceId>>& groups)
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
        const double alone = RunOnRanks(cluster, MakeRings({{0, 8}}), bytes)[0].timeUs;
        const auto apart = RunOnRanks(cluster, MakeRings({{0, 8}, {2, 10}}), bytes);
        NS_TEST_EXPECT_MSG_EQ(apart[0].timeUs, alone, "the other group has another NIC");
        NS_TEST_EXPECT_MSG_EQ(apart[1].timeUs, alone, "the other group has another NIC");
        const auto shared = RunOnRanks(cluster, MakeRings({{0, 8}, {1, 9}}), bytes);
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
        const double alone = RunOnRanks(cluster, MakeRings({{3, 11}}), 4 * MIB)[0].timeUs;
        CollectiveTest test = MakeRings(MakeTestGroups(cluster, 16, 8, true));
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
 * All tests of this suite.
 */
class CollectiveWaitingTestSuite : public TestSuite
{
  public:
    CollectiveWaitingTestSuite()
        : TestSuite("proteus-collective-waiting", Type::SYSTEM)
    {
        AddTestCase(new LateRankCase);
        AddTestCase(new LateGroupCase);
        AddTestCase(new ConcurrentCase);
    }
};

static CollectiveWaitingTestSuite g_collectiveWaitingTestSuite; //!< registers itself
