/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-outcome.h"
#include "proteus-collective-test-tools.h"
#include "unit/collective/collective-clusters.h"

#include "ns3/proteus-algorithms.h"
#include "ns3/proteus-msccl.h"
#include "ns3/proteus-program.h"
#include "ns3/simulator.h"
#include "ns3/test.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus-tests
 * Collectives over packets: what every rank puts on the wire.
 */

using namespace ns3;
using namespace ns3::proteus;

namespace
{

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
                if (algorithm == "nvls" || algorithm == "nvls-tree" || algorithm == "sharp" ||
                    algorithm == "sharp-chain")
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
        AddTestCase(new RailCase);
        AddTestCase(new MscclCase);
    }
};

static CollectiveWireTestSuite g_collectiveWireTestSuite; //!< registers itself
