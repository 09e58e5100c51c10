/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-job-test-tools.h"

#include "ns3/boolean.h"
#include "ns3/proteus-helper.h"
#include "ns3/proteus-program.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>

using namespace ns3;
using namespace ns3::proteus;
using jobtest::FirstDevices;
using jobtest::MakeCollectiveGraph;

namespace
{

/// What a run left behind.
struct Outcome
{
    Timeline timeline;
    std::vector<LinkStatistics> links;
    std::vector<CommunicationStatistics> communication;
    NetworkStatistics network;
    std::shared_ptr<const CollectiveProgram> program;
};

/// A helper for wire times alone.
ProteusHelper
MakeHelper(const std::string& algorithm)
{
    ProteusHelper helper;
    helper.SetNetworkAttribute("LaunchOverhead", TimeValue(Seconds(0)));
    helper.SetNetworkAttribute("KernelCosts", BooleanValue(false));
    helper.SetNetworkAttribute("Algorithm", StringValue(algorithm));
    helper.AssignStreams(1);
    return helper;
}

/// Runs a graph on a cluster.
Outcome
RunGraph(const ProteusHelper& helper,
         const Cluster& cluster,
         const ExecutionGraph& graph,
         const std::function<void(Ptr<TrainingJob>)>& prepare = nullptr)
{
    Ptr<TrainingJob> job = helper.Install(cluster, graph);
    if (prepare)
    {
        prepare(job);
    }
    job->Run(); // throws if anything is left: see PacketNetwork::CheckAtRest()
    Outcome outcome{job->GetTimeline(),
                    job->GetFabric()->GetLinkStatistics(),
                    job->GetNetwork()->GetCommunicationStatistics(),
                    job->GetNetwork()->GetStatistics(),
                    nullptr};
    outcome.program = job->GetNetwork()->GetProgram(outcome.communication.front().task);
    job->Dispose();
    Simulator::Destroy();
    return outcome;
}

/// What a run says that does not come to its end.
std::string
GetError(const ProteusHelper& helper,
         const Cluster& cluster,
         const ExecutionGraph& graph,
         const std::function<void(Ptr<TrainingJob>)>& prepare = nullptr)
{
    std::string message;
    try
    {
        RunGraph(helper, cluster, graph, prepare);
    }
    catch (const std::exception& error)
    {
        message = error.what();
    }
    Simulator::Destroy();
    return message;
}

/// Payload that all ports of a vertex with a technology have sent or received.
uint64_t
CountPayload(const Outcome& outcome,
             const Cluster& cluster,
             VertexId vertex,
             LinkTechnology technology,
             bool sent)
{
    uint64_t bytes = 0;
    for (const LinkStatistics& link : outcome.links)
    {
        const Link& ends = cluster.GetLinks()[link.link];
        if (ends.technology == technology && (link.forward == sent ? ends.a : ends.b) == vertex)
        {
            bytes += link.payloadBytes;
        }
    }
    return bytes;
}

/// A cluster whose vertices and links are changed.
Cluster
Change(const Cluster& plain,
       const std::function<void(Vertex&)>& vertex,
       const std::function<void(Link&)>& link)
{
    Cluster changed(plain.GetName());
    for (Vertex v : plain.GetVertices())
    {
        vertex(v);
        changed.AddVertex(v);
    }
    for (Link l : plain.GetLinks())
    {
        link(l);
        changed.AddLink(l);
    }
    return changed;
}

/// Changes nothing.
constexpr auto KEEP = [](auto&) {};

/// Raw rate of the NVLinks of the first GPU, bytes per second, and their framing.
std::pair<double, LinkFraming>
GetNvlinks(const Cluster& cluster)
{
    std::pair<double, LinkFraming> result{0, {}};
    for (const Port& port : cluster.GetPorts(cluster.GetGpus().front()))
    {
        const Link& link = cluster.GetLinks()[port.link];
        if (link.technology == LinkTechnology::NVLINK)
        {
            result.first += link.bytesPerSecond;
            result.second = link.framing;
        }
    }
    return result;
}

} // namespace

/**
 * @ingroup proteus-tests
 * NVLS inside a server: what the NVLinks of every GPU carry.
 */
class NvlsBytesCase : public TestCase
{
  public:
    NvlsBytesCase()
        : TestCase("NVLS: every link carries its closed form, for all sizes of groups and buffers")
    {
    }

  private:
    void DoRun() override
    {
        const Cluster cluster = MakeCluster("dgx-h100", 1);
        for (const uint32_t n : {2u, 3u, 5u, 8u})
        {
            for (const uint64_t bytes : {uint64_t{1}, uint64_t{1003}, uint64_t{8'000'009}})
            {
                for (const Collective collective :
                     {Collective::ALL_REDUCE, Collective::ALL_GATHER, Collective::REDUCE_SCATTER})
                {
                    Check(cluster, n, bytes, collective);
                }
            }
        }
    }

    void Check(const Cluster& cluster, uint32_t n, uint64_t bytes, Collective collective)
    {
        const std::string what = std::string(ToString(collective)) + " of " +
                                 std::to_string(bytes) + " bytes among " + std::to_string(n);
        const Outcome outcome = RunGraph(MakeHelper("nvls"),
                                         cluster,
                                         MakeCollectiveGraph(FirstDevices(n), collective, bytes));
        NS_TEST_ASSERT_MSG_EQ(outcome.program->algorithm, "nvls", what);
        // Flags have a byte each.
        uint64_t flags = 0;
        for (const ThreadBlock& block : outcome.program->ranks[0].blocks)
        {
            flags += std::count_if(block.steps.begin(), block.steps.end(), [](const Step& step) {
                return step.kind == StepKind::GROUP_ALL_REDUCE;
            });
        }
        uint64_t totalSent = 0;
        uint64_t totalReceived = 0;
        for (uint32_t rank = 0; rank < n; ++rank)
        {
            const VertexId gpu = cluster.GetGpus()[rank];
            const uint64_t sent = CountPayload(outcome, cluster, gpu, LinkTechnology::NVLINK, true);
            const uint64_t received =
                CountPayload(outcome, cluster, gpu, LinkTechnology::NVLINK, false);
            const RankProgram& program = outcome.program->ranks[rank];
            NS_TEST_ASSERT_MSG_EQ(sent, SentBytes(program) + flags, what);
            NS_TEST_ASSERT_MSG_EQ(received, ReceivedBytes(program) + flags, what);
            totalSent += sent - flags;
            totalReceived += received - flags;
        }
        // A sum takes the buffer of all up and its slices down; a multicast slices up, and the
        // buffer down to all.
        const bool sums = collective != Collective::ALL_GATHER;
        const bool multicasts = collective != Collective::REDUCE_SCATTER;
        NS_TEST_ASSERT_MSG_EQ(totalSent,
                              (sums ? n : 0) * bytes + (multicasts ? 1 : 0) * bytes,
                              what);
        NS_TEST_ASSERT_MSG_EQ(totalReceived,
                              (sums ? 1 : 0) * bytes + (multicasts ? n : 0) * bytes,
                              what);
        NS_TEST_ASSERT_MSG_EQ(outcome.communication.front().receivedBytes,
                              totalReceived + n * flags,
                              what);
    }
};

/**
 * @ingroup proteus-tests
 * NVLS inside a server: its time.
 */
class NvlsTimeCase : public TestCase
{
  public:
    NvlsTimeCase()
        : TestCase("NVLS: a large collective takes what the links to a GPU carry")
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint64_t BYTES = 256 << 20;
        constexpr double UNIT = 4096;
        for (const char* preset : {"dgx-h100", "hgx-b200"})
        {
            const Cluster cluster = MakeCluster(preset, 1);
            const auto [raw, framing] = GetNvlinks(cluster);
            const LinkFraming reduce = framing.For(CopyMethod::SM_REDUCE);
            const LinkFraming multicast = framing.For(CopyMethod::SM_MULTICAST);
            const double rw = reduce.WireBytes(4096);
            const double rr = reduce.ReverseBytes(4096);
            const double mw = multicast.WireBytes(4096);
            const double mr = multicast.ReverseBytes(4096);
            for (const uint32_t n : {4u, 8u})
            {
                // By direction: up and down, for every unit of the buffer.
                const double sumUp = rw + rr / n;
                const double sumDown = rr + rw / n;
                const double allUp = mr + mw / n;
                const double allDown = mw + mr / n;
                for (const auto& [collective, units] :
                     {std::make_pair(Collective::ALL_REDUCE,
                                     std::max(sumUp + allUp, sumDown + allDown)),
                      std::make_pair(Collective::REDUCE_SCATTER, std::max(sumUp, sumDown)),
                      std::make_pair(Collective::ALL_GATHER, std::max(allUp, allDown))})
                {
                    const Outcome outcome =
                        RunGraph(MakeHelper("nvls"),
                                 cluster,
                                 MakeCollectiveGraph(FirstDevices(n), collective, BYTES));
                    const double wire = BYTES / UNIT * units / raw;
                    const double seconds = static_cast<double>(outcome.timeline.endPs) * 1e-12;
                    // The first and the last chunks have nothing to overlap with, and 24 blocks
                    // on Blackwell carry a little less than its links.
                    NS_TEST_EXPECT_MSG_GT(seconds, 0.999 * wire, preset << ToString(collective));
                    const double more = (collective == Collective::ALL_REDUCE ? 0.04 : 0.004) +
                                        (std::string(preset) == "hgx-b200" ? 0.035 : 0);
                    NS_TEST_EXPECT_MSG_LT(seconds,
                                          (1 + more) * wire,
                                          preset << " " << ToString(collective) << " " << n);
                }
            }
        }
    }
};

/**
 * @ingroup proteus-tests
 * Across servers: what the network carries.
 */
class NetworkBytesCase : public TestCase
{
  public:
    NetworkBytesCase()
        : TestCase("NVLS tree and SHARP: the network carries their closed forms")
    {
    }

  private:
    void DoRun() override
    {
        FabricOptions fabric;
        fabric.kind = "leaf-spine";
        fabric.serversPerLeaf = 2;
        for (const uint32_t servers : {2u, 3u, 5u})
        {
            const Cluster cluster = MakeCluster("dgx-h100", servers, fabric);
            for (const uint32_t perServer : {8u, 3u})
            {
                std::vector<DeviceId> devices;
                for (uint32_t i = 0; i < servers * perServer; ++i)
                {
                    devices.push_back(i / perServer * 8 + i % perServer);
                }
                for (const uint64_t bytes : {uint64_t{1003}, uint64_t{4'000'003}})
                {
                    for (const char* algorithm : {"nvls-tree", "sharp", "sharp-chain"})
                    {
                        Check(cluster, devices, servers, bytes, algorithm);
                    }
                }
            }
        }
    }

    void Check(const Cluster& cluster,
               const std::vector<DeviceId>& devices,
               uint32_t servers,
               uint64_t bytes,
               const std::string& algorithm)
    {
        const Outcome outcome =
            RunGraph(MakeHelper(algorithm),
                     cluster,
                     MakeCollectiveGraph(devices, Collective::ALL_REDUCE, bytes));
        const std::string what = algorithm + ", " + std::to_string(devices.size()) + " ranks in " +
                                 std::to_string(servers) + " servers, " + std::to_string(bytes);
        NS_TEST_ASSERT_MSG_EQ(outcome.program->algorithm, algorithm, what);
        uint64_t sent = 0;
        uint64_t received = 0;
        for (VertexId id = 0; id < cluster.GetVertices().size(); ++id)
        {
            if (cluster.GetVertices()[id].kind == VertexKind::NIC)
            {
                const uint64_t out =
                    CountPayload(outcome, cluster, id, LinkTechnology::INFINIBAND, true);
                const uint64_t in =
                    CountPayload(outcome, cluster, id, LinkTechnology::INFINIBAND, false);
                sent += out;
                received += in;
                if (algorithm != "nvls-tree")
                {
                    NS_TEST_ASSERT_MSG_EQ(out, in, what << ": as much comes back");
                }
            }
        }
        // A tree takes every slice up and down each of its edges; in switches, every server gives
        // and gets everything once.
        const uint64_t expected =
            algorithm == "nvls-tree" ? 2 * (servers - 1) * bytes : servers * bytes;
        NS_TEST_ASSERT_MSG_EQ(sent, expected, what);
        NS_TEST_ASSERT_MSG_EQ(received, expected, what);
    }
};

/**
 * @ingroup proteus-tests
 * Across servers: time.
 */
class NetworkTimeCase : public TestCase
{
  public:
    NetworkTimeCase()
        : TestCase("NVLS tree and SHARP: large sums take what their bottleneck takes")
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint64_t BYTES = 128 << 20;
        const Cluster cluster = MakeCluster("dgx-h100", 2);
        const auto run = [&](const std::string& algorithm) {
            const Outcome outcome =
                RunGraph(MakeHelper(algorithm),
                         cluster,
                         MakeCollectiveGraph(FirstDevices(16), Collective::ALL_REDUCE, BYTES));
            return static_cast<double>(outcome.timeline.endPs) * 1e-12;
        };
        // Two servers: every byte goes once each way, a half up and a half down, over eight NICs of
        // 45.1 GB/s; inside, NVLS is slower.
        const auto [raw, framing] = GetNvlinks(cluster);
        const LinkFraming reduce = framing.For(CopyMethod::SM_REDUCE);
        const LinkFraming multicast = framing.For(CopyMethod::SM_MULTICAST);
        const double down = reduce.ReverseBytes(4096) + multicast.WireBytes(4096) +
                            (reduce.WireBytes(4096) + multicast.ReverseBytes(4096)) / 8.0;
        const double nvls = BYTES / 4096.0 * down / raw;
        const double tree = run("nvls-tree");
        NS_TEST_EXPECT_MSG_GT(tree, nvls, "not faster than inside a server");
        NS_TEST_EXPECT_MSG_LT(tree, 1.05 * nvls, "nvls-tree");
        // SHARP: the NICs wait for the NVLinks, which reduce and gather 7/8 of the buffer inside
        // the servers, both over the same links.
        const LinkFraming sm = framing.For(CopyMethod::SM);
        const double inside = 2 * 7 / 8.0 * BYTES / 4096 *
                              static_cast<double>(sm.WireBytes(4096) + sm.ReverseBytes(4096)) / raw;
        const double sharp = run("sharp");
        NS_TEST_EXPECT_MSG_GT(inside, BYTES / 8.0 / 45.1e9, "NICs have less to do");
        NS_TEST_EXPECT_MSG_GT(sharp, inside, "sharp");
        NS_TEST_EXPECT_MSG_LT(sharp, 1.12 * inside, "sharp");
    }
};

/**
 * @ingroup proteus-tests
 * What cannot be done is said.
 */
class GroupErrorCase : public TestCase
{
  public:
    GroupErrorCase()
        : TestCase("groups: what switches or links cannot do is said")
    {
    }

  private:
    void DoRun() override
    {
        const auto graph = MakeCollectiveGraph(FirstDevices(8), Collective::ALL_REDUCE, 1 << 20);
        const auto two = MakeCollectiveGraph(FirstDevices(16), Collective::ALL_REDUCE, 1 << 20);
        Expect(GetError(MakeHelper("nvls"), MakeCluster("dgx-a100", 1), graph),
               {"nvls", "NVSwitches with multicast and reduction"});
        const Cluster blunt = Change(
            MakeCluster("dgx-h100", 2),
            [](Vertex& vertex) { vertex.reduction &= vertex.kind != VertexKind::SWITCH; },
            KEEP);
        Expect(GetError(MakeHelper("sharp"), blunt, two),
               {"sharp", "network switches with multicast and reduction"});
        const Cluster lossy = Change(MakeCluster("dgx-h100", 1), KEEP, [](Link& link) {
            link.lossProbability = link.technology == LinkTechnology::NVLINK ? 1e-6 : 0;
        });
        Expect(GetError(MakeHelper("nvls"), lossy, graph),
               {"lose nothing", "n0.gpu0", "n0.nvswitch0", "ring"});
        const Cluster ethernet = Change(MakeCluster("dgx-h100", 2), KEEP, [](Link& link) {
            if (link.technology == LinkTechnology::INFINIBAND)
            {
                link.technology = LinkTechnology::ROCE;
            }
        });
        Expect(GetError(MakeHelper("sharp"), ethernet, two), {"lose nothing", "ring"});
        // Links that fail during a collective, and before it.
        for (const int64_t us : {0, 30})
        {
            const auto fail = [us](Ptr<TrainingJob> job) {
                const auto& cluster = job->GetFabric()->GetCluster();
                const LinkId link = cluster.GetPorts(cluster.FindVertex("n0.gpu3")).front().link;
                Simulator::Schedule(MicroSeconds(us),
                                    &Fabric::SetLinkUp,
                                    PeekPointer(job->GetFabric()),
                                    link,
                                    false);
            };
            Expect(GetError(MakeHelper("nvls"),
                            MakeCluster("dgx-h100", 1),
                            MakeCollectiveGraph(FirstDevices(8), Collective::ALL_REDUCE, 1 << 28),
                            fail),
                   {"n0.gpu3", "n0.nvswitch0", "has failed", "ring"});
        }
    }

    void Expect(const std::string& message, const std::vector<std::string>& parts)
    {
        for (const std::string& part : parts)
        {
            NS_TEST_EXPECT_MSG_NE(message.find(part),
                                  std::string::npos,
                                  part << " is not in: " << message);
        }
    }
};

/**
 * @ingroup proteus-tests
 * Late ranks, and several communications at a time.
 */
class GroupOrderCase : public TestCase
{
  public:
    GroupOrderCase()
        : TestCase("groups: a late rank delays all, communications may cross, absence is named")
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t LATE_PS = 1'000'000'000;
        const Cluster cluster = MakeCluster("dgx-h100", 1);
        const Outcome prompt =
            RunGraph(MakeHelper("nvls"),
                     cluster,
                     MakeCollectiveGraph(FirstDevices(8), Collective::ALL_REDUCE, 3'000'001));
        {
            GraphBuilder builder(8);
            const StreamId stream = builder.AddStream("stream");
            const PhaseId phase = builder.AddPhase("iteration");
            const TaskId compute = builder.AddCompute(phase, 5, stream, "late", LATE_PS);
            builder.AddCommunication(phase,
                                     builder.AddGroup(FirstDevices(8)),
                                     stream,
                                     "all-reduce",
                                     Collective::ALL_REDUCE,
                                     3'000'001,
                                     Parallelism::TENSOR,
                                     {compute});
            const Outcome late = RunGraph(MakeHelper("nvls"), cluster, builder.Build());
            // What the others have given already need not come any more.
            NS_TEST_EXPECT_MSG_GT(late.timeline.endPs, LATE_PS, "late");
            NS_TEST_EXPECT_MSG_LT(late.timeline.endPs,
                                  LATE_PS + prompt.timeline.endPs + 1000,
                                  "but not more than that");
        }
        // Two all-reduces at a time, which half of the devices come to in the other order.
        GraphBuilder builder(8);
        const StreamId one = builder.AddStream("one");
        const StreamId two = builder.AddStream("two");
        const PhaseId phase = builder.AddPhase("iteration", 3);
        const GroupId group = builder.AddGroup(FirstDevices(8));
        for (const StreamId stream : {one, two})
        {
            std::vector<TaskId> before;
            for (DeviceId device = 0; device < 8; ++device)
            {
                before.push_back(builder.AddCompute(phase,
                                                    device,
                                                    stream,
                                                    "compute",
                                                    device % 2 == stream % 2 ? 100'000'000 : 1));
            }
            builder.AddCommunication(phase,
                                     group,
                                     stream,
                                     "all-reduce",
                                     Collective::ALL_REDUCE,
                                     1'000'003 + 7 * stream,
                                     Parallelism::TENSOR,
                                     before);
        }
        const Outcome crossed = RunGraph(MakeHelper("nvls"), cluster, builder.Build());
        NS_TEST_ASSERT_MSG_EQ(crossed.communication.size(), 2, "both are done");
        for (const CommunicationStatistics& statistics : crossed.communication)
        {
            NS_TEST_EXPECT_MSG_EQ(statistics.receivedBytes, statistics.expectedBytes, "all of it");
        }
        // One that never comes.
        GraphBuilder absent(8);
        const StreamId stream = absent.AddStream("stream");
        const PhaseId first = absent.AddPhase("first");
        const PhaseId second = absent.AddPhase("second");
        const GroupId all = absent.AddGroup(FirstDevices(8));
        for (const PhaseId p : {first, second})
        {
            absent.AddCommunication(p,
                                    all,
                                    stream,
                                    p == first ? "first" : "second",
                                    Collective::ALL_REDUCE,
                                    100'000,
                                    Parallelism::TENSOR);
        }
        for (DeviceId device = 0; device < 8; ++device)
        {
            device == 6 ? absent.SetSchedule(device, {{second, 0}, {first, 0}})
                        : absent.SetSchedule(device, {{first, 0}, {second, 0}});
        }
        const std::string message = GetError(MakeHelper("nvls"), cluster, absent.Build());
        for (const char* part :
             {"waits, for a sum in the switches, for device 6 (n0.gpu6), which has not joined",
              "device 0"})
        {
            NS_TEST_EXPECT_MSG_NE(message.find(part),
                                  std::string::npos,
                                  part << " is not in: " << message);
        }
    }
};

/**
 * @ingroup proteus-tests
 * What is taken where nothing is said.
 */
class GroupChoiceCase : public TestCase
{
  public:
    GroupChoiceCase()
        : TestCase("groups: large sums take NVLS where there is, as NCCL does")
    {
    }

  private:
    void DoRun() override
    {
        Expect("dgx-h100", 1, Collective::ALL_REDUCE, 1 << 26, "nvls");
        Expect("hgx-b200", 1, Collective::ALL_REDUCE, 1 << 26, "nvls");
        Expect("dgx-h100", 2, Collective::ALL_REDUCE, 1 << 28, "nvls-tree");
        Expect("dgx-h100", 1, Collective::BROADCAST, 1 << 20, "ring");
        Expect("dgx-a100", 1, Collective::ALL_REDUCE, 1 << 26, "ring");
    }

    void Expect(const char* preset,
                uint32_t servers,
                Collective collective,
                uint64_t bytes,
                const std::string& algorithm)
    {
        const Cluster cluster = MakeCluster(preset, servers);
        Ptr<TrainingJob> job = MakeHelper("").Install(
            cluster,
            MakeCollectiveGraph(FirstDevices(8 * servers), collective, bytes));
        NS_TEST_EXPECT_MSG_EQ(job->GetNetwork()->GetProgram(0)->algorithm, algorithm, preset);
        job->Dispose();
        Simulator::Destroy();
    }
};

/**
 * @ingroup proteus-tests
 * The suite.
 */
class GroupCollectiveTestSuite : public TestSuite
{
  public:
    GroupCollectiveTestSuite()
        : TestSuite("proteus-group-collective")
    {
        AddTestCase(new NvlsBytesCase);
        AddTestCase(new NvlsTimeCase);
        AddTestCase(new NetworkBytesCase);
        AddTestCase(new NetworkTimeCase);
        AddTestCase(new GroupErrorCase);
        AddTestCase(new GroupOrderCase);
        AddTestCase(new GroupChoiceCase);
    }
};

static GroupCollectiveTestSuite g_groupCollectiveTestSuite; //!< registers itself
