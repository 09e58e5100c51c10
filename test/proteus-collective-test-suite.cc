/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-test-tools.h"

#include "ns3/proteus-helper.h"
#include "ns3/proteus-server-preset.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

/// What each rank of a collective puts on its links, payload bytes.
struct WireBytes
{
    std::vector<uint64_t> sent;
    std::string algorithm;
};

/// @param cluster to run on @param devices of the group @param collective what is run
/// @param algorithm of it @param bytes its size @return what every rank sends
WireBytes
RunAndCount(const Cluster& cluster,
            const std::vector<DeviceId>& devices,
            Collective collective,
            const std::string& algorithm,
            uint64_t bytes)
{
    const TestRanks ranks(cluster);
    GraphBuilder builder(static_cast<uint32_t>(cluster.GetGpus().size()));
    const StreamId stream = builder.AddStream("communication");
    const TaskId task = builder.AddCommunication(builder.AddPhase("iteration"),
                                                 builder.AddGroup(devices),
                                                 stream,
                                                 "collective",
                                                 collective,
                                                 bytes,
                                                 Parallelism::NONE);
    ProteusHelper helper;
    helper.AssignStreams(1);
    helper.SetNetworkAttribute("Algorithm", StringValue(algorithm));
    helper.SetNetworkAttribute("Protocol", StringValue("Simple"));
    helper.SetNetworkAttribute("Channels", UintegerValue(2));
    helper.SetNetworkAttribute("ChunkBytes", UintegerValue(65536));
    Ptr<TrainingJob> job = helper.Install(cluster, builder.Build());
    job->Run();
    WireBytes result;
    result.algorithm = job->GetNetwork()->GetProgram(task)->algorithm;
    const auto links = job->GetFabric()->GetLinkStatistics();
    for (const DeviceId device : devices)
    {
        const VertexId gpu = cluster.GetGpus()[device];
        uint64_t bytesOut = 0;
        for (LinkId link = 0; link < cluster.GetLinks().size(); ++link)
        {
            const Link& ends = cluster.GetLinks()[link];
            if (ends.a == gpu || ends.b == gpu)
            {
                bytesOut += links[2 * link + (ends.a == gpu ? 0 : 1)].payloadBytes;
            }
        }
        result.sent.push_back(bytesOut);
    }
    job->Dispose();
    Simulator::Destroy();
    return result;
}

} // namespace

/**
 * @ingroup proteus-tests
 * What every rank puts on the wire, packet by packet, against the closed forms of Thakur et al.
 * (2005) and Patarasuk and Yuan (2009).
 */
class ProteusCollectiveBytes : public TestCase
{
  public:
    ProteusCollectiveBytes()
        : TestCase("bytes on the wire per rank equal the closed forms")
    {
    }

  private:
    void Check(uint32_t n, Collective collective, const std::string& algorithm, uint64_t bytes)
    {
        std::vector<DeviceId> devices(n);
        for (DeviceId i = 0; i < n; ++i)
        {
            devices[i] = i;
        }
        const WireBytes wire = RunAndCount(m_cluster, devices, collective, algorithm, bytes);
        const std::string what = algorithm + " " + ToString(collective) + " of " +
                                 std::to_string(bytes) + " bytes among " + std::to_string(n);
        NS_TEST_ASSERT_MSG_EQ(wire.algorithm, algorithm, what);
        uint64_t total = 0;
        for (const uint64_t sent : wire.sent)
        {
            total += sent;
        }
        const uint64_t times = collective == Collective::ALL_REDUCE ? 2 : 1;
        NS_TEST_ASSERT_MSG_EQ(total, times * (n - 1) * bytes, what + ": all ranks together");
        const bool isEven = algorithm == "ring" || algorithm == "direct";
        const bool hasRoot = HasRoot(collective);
        for (uint32_t rank = 0; rank < n && isEven && !hasRoot; ++rank)
        {
            // Shares differ by a byte for every segment that they are cut into.
            const double share = double(times * (n - 1) * bytes) / n;
            NS_TEST_ASSERT_MSG_EQ_TOL(double(wire.sent[rank]),
                                      share,
                                      double(times * n),
                                      what + ": rank " + std::to_string(rank));
        }
    }

    void DoRun() override
    {
        for (const uint32_t n : {2u, 3u, 5u, 8u, 13u, 16u})
        {
            for (const uint64_t bytes : {uint64_t{n} * 4096, uint64_t{100003}})
            {
                for (const char* algorithm : {"ring", "tree", "direct"})
                {
                    Check(n, Collective::ALL_REDUCE, algorithm, bytes);
                }
                Check(n, Collective::ALL_GATHER, "ring", bytes);
                Check(n, Collective::ALL_GATHER, "pat", bytes);
                Check(n, Collective::REDUCE_SCATTER, "ring", bytes);
                Check(n, Collective::REDUCE_SCATTER, "pat", bytes);
                Check(n, Collective::BROADCAST, "ring", bytes);
                Check(n, Collective::REDUCE, "tree", bytes);
                if ((n & (n - 1)) == 0)
                {
                    Check(n, Collective::ALL_REDUCE, "halving-doubling", bytes);
                }
            }
            Check(n, Collective::ALL_TO_ALL, "direct", uint64_t{n} * 4096);
        }
        Check(64, Collective::ALL_REDUCE, "ring", 64 * 4096 + 1);
        Check(64, Collective::ALL_REDUCE, "halving-doubling", 64 * 4096 + 1);
        Check(64, Collective::ALL_GATHER, "ring", 64 * 4096 + 1);
    }

    Cluster m_cluster{MakeCluster("gb200-nvl72", 1)};
};

/**
 * @ingroup proteus-tests
 * NICs that reach no GPU, below one PCI Express switch with all GPUs: everything goes up to the
 * memory of the host and down again, in both directions at once, and nothing waits in a circle.
 */
class ProteusCollectiveWithoutRdma : public TestCase
{
  public:
    ProteusCollectiveWithoutRdma()
        : TestCase("copies by way of the host between servers do not wait for each other")
    {
    }

  private:
    /// @param reaches whether NICs reach GPUs @return two servers of two GPUs
    static Cluster MakeServers(bool reaches)
    {
        Cluster cluster("staged");
        Vertex top;
        top.name = "switch0";
        top.kind = VertexKind::SWITCH;
        const VertexId network = cluster.AddVertex(top);
        for (uint32_t server = 0; server < 2; ++server)
        {
            Vertex card;
            card.kind = VertexKind::NIC;
            card.gpuDirectRdma = reaches;
            const auto gpus = AddServerVertices(cluster, server, MakeGpu("V100-SXM2-32GB"), 2);
            const auto inside = AddServerVertices(cluster, server, VertexKind::PCIE_SWITCH, 1);
            const auto cpus = AddServerVertices(cluster, server, MakeCpu(0, false), 1);
            const auto nics = AddServerVertices(cluster, server, card, 1);
            for (const VertexId below : {gpus[0], gpus[1], nics[0]})
            {
                AddPcieLink(cluster, below, inside[0], 3);
            }
            AddPcieLink(cluster, inside[0], cpus[0], 3);
            AddDefaultLink(cluster, nics[0], network, LinkTechnology::INFINIBAND, 12.5e9);
        }
        return cluster;
    }

    void DoRun() override
    {
        for (const Collective collective : {Collective::ALL_TO_ALL, Collective::ALL_REDUCE})
        {
            double timesUs[2]{};
            for (const bool reaches : {false, true})
            {
                const Cluster cluster = MakeServers(reaches);
                CollectiveTest test = MakeTest(cluster, 4, collective);
                timesUs[reaches] = RunOnRanks(cluster, test, 16 * MIB)[0].timeUs;
            }
            NS_TEST_ASSERT_MSG_GT(timesUs[0], timesUs[1], "the way by the host is longer");
            NS_TEST_ASSERT_MSG_LT(timesUs[0],
                                  4 * timesUs[1],
                                  "it is shared by four copies at most");
        }
    }
};

/**
 * @ingroup proteus-tests
 * All tests of this suite.
 */
class ProteusCollectiveTestSuite : public TestSuite
{
  public:
    ProteusCollectiveTestSuite()
        : TestSuite("proteus-collective", Type::SYSTEM)
    {
        AddTestCase(new ProteusCollectiveBytes);
        AddTestCase(new ProteusCollectiveWithoutRdma);
    }
};

static ProteusCollectiveTestSuite g_proteusCollectiveTestSuite; //!< registers itself
