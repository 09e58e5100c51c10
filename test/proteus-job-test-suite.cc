/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-job-test-tools.h"
#include "proteus-mistake-test-tools.h"

#include "ns3/proteus-helper.h"
#include "ns3/proteus-warning.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"

#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;
using namespace ns3::proteus;
using namespace ns3::proteus::jobtest;

/**
 * @ingroup proteus-tests
 * The same run twice gives the same spans; another random stream gives others where flows have a
 * choice of paths.
 */
class ProteusDeterminism : public TestCase
{
  public:
    ProteusDeterminism()
        : TestCase("a run is decided by its inputs and the random stream")
    {
    }

  private:
    void DoRun() override
    {
        FabricOptions fabric;
        fabric.kind = "leaf-spine";
        fabric.serversPerLeaf = 1;
        const Cluster cluster = MakeCluster("dgx-a100", 2, fabric);
        GraphBuilder builder(16);
        const StreamId stream = builder.AddStream("communication");
        const PhaseId phase = builder.AddPhase("iteration");
        for (DeviceId i = 0; i < 8; ++i)
        {
            builder.AddCommunication(phase,
                                     builder.AddGroup({i, i + 8}),
                                     stream,
                                     "pair" + std::to_string(i),
                                     Collective::ALL_REDUCE,
                                     1 << 20,
                                     Parallelism::DATA);
        }
        const auto graph = builder.Build();
        std::set<int64_t> ends;
        for (int64_t stream = 1; stream <= 4; ++stream)
        {
            ProteusHelper helper = MakeHelper();
            helper.AssignStreams(stream);
            const auto first = RunGraph(helper, cluster, graph);
            const auto second = RunGraph(helper, cluster, graph);
            NS_TEST_EXPECT_MSG_EQ((first.timeline.spans == second.timeline.spans),
                                  true,
                                  "equal inputs, equal spans");
            NS_TEST_EXPECT_MSG_EQ(first.network.events, second.network.events, "equal work");
            ends.insert(first.timeline.endPs);
        }
        NS_TEST_EXPECT_MSG_GT(ends.size(), 1, "another stream, other paths");
    }
};

/**
 * @ingroup proteus-tests
 * With a packet trace connected the fabric steps with the simulator, and nothing else changes.
 */
class ProteusTraceStepping : public TestCase
{
  public:
    ProteusTraceStepping()
        : TestCase("a packet trace sees exact times and changes nothing")
    {
    }

  private:
    /// @param timePs of a packet
    void Receive(PortId /* port */, const PacketRecord& record, int64_t timePs)
    {
        ++m_packets;
        m_late += Simulator::Now().GetPicoSeconds() < timePs ||
                  Simulator::Now().GetPicoSeconds() >= timePs + TimeStep(1).GetPicoSeconds();
        m_payload += record.GetPayloadBytes();
    }

    void DoRun() override
    {
        const Cluster cluster = MakeCluster("dgx-a100", 2);
        const auto graph = MakeCollectiveGraph(FirstDevices(16), Collective::ALL_REDUCE, 1 << 20);
        const auto plain = RunGraph(MakeHelper(), cluster, graph);

        Ptr<TrainingJob> job = MakeHelper().Install(cluster, graph);
        job->GetFabric()->TraceConnectWithoutContext(
            "Receive",
            MakeCallback(&ProteusTraceStepping::Receive, this));
        job->Run();
        NS_TEST_EXPECT_MSG_EQ((job->GetTimeline().spans == plain.timeline.spans),
                              true,
                              "the same spans");
        NS_TEST_EXPECT_MSG_EQ(m_packets, plain.network.packetHops, "every hop is traced");
        NS_TEST_EXPECT_MSG_EQ(m_late, 0, "Simulator::Now() is the packet's time");
        uint64_t payload = 0;
        for (const auto& link : plain.links)
        {
            payload += link.receivedPayloadBytes;
        }
        NS_TEST_EXPECT_MSG_EQ(m_payload, payload, "the trace and the statistics agree");
        job->Dispose();
        Simulator::Destroy();

        // Without the plug-in scheduler the fabric is stepped as well.
        Ptr<TrainingJob> other = MakeHelper().Install(cluster, graph);
        ObjectFactory map;
        map.SetTypeId("ns3::MapScheduler");
        Simulator::SetScheduler(map);
        other->Run();
        NS_TEST_EXPECT_MSG_EQ_TOL(other->GetTimeline().endPs * 1.0,
                                  plain.timeline.endPs * 1.0,
                                  0.001 * plain.timeline.endPs,
                                  "ties aside, any scheduler does");
        other->Dispose();
        Simulator::Destroy();
    }

    uint64_t m_packets{0}; //!< seen
    uint64_t m_late{0};    //!< at another time than the simulator's
    uint64_t m_payload{0}; //!< seen
};

/**
 * @ingroup proteus-tests
 * A job that cannot finish stops and says who waits for whom.
 */
class ProteusStall : public TestCase
{
  public:
    ProteusStall()
        : TestCase("a deadlock is named")
    {
    }

  private:
    void DoRun() override
    {
        // Two all-reduces, which the two devices come to in opposite order.
        GraphBuilder builder(2);
        const StreamId stream = builder.AddStream("communication");
        const PhaseId one = builder.AddPhase("one");
        const PhaseId two = builder.AddPhase("two");
        const GroupId group = builder.AddGroup({0, 1});
        for (const PhaseId phase : {one, two})
        {
            builder.AddCommunication(phase,
                                     group,
                                     stream,
                                     phase == one ? "first" : "second",
                                     Collective::ALL_REDUCE,
                                     1000,
                                     Parallelism::DATA);
        }
        builder.SetSchedule(0, {{one, 0}, {two, 0}});
        builder.SetSchedule(1, {{two, 0}, {one, 0}});
        Ptr<TrainingJob> job = MakeHelper().Install(MakePair(), builder.Build());
        std::string message;
        try
        {
            job->Run();
        }
        catch (const std::runtime_error& error)
        {
            message = error.what();
        }
        for (const char* part : {"in different orders",
                                 "device 0 is in 'first'",
                                 "device 1 is in 'second'",
                                 "has not joined"})
        {
            NS_TEST_EXPECT_MSG_NE(message.find(part),
                                  std::string::npos,
                                  part << " is not in: " << message);
        }
        job->Dispose();
        Simulator::Destroy();
    }
};

/**
 * @ingroup proteus-tests
 * Progress ends at 100 %, whatever the protocol adds to the payload.
 */
class ProteusProgress : public TestCase
{
  public:
    ProteusProgress()
        : TestCase("progress ends at 100 % with every algorithm and protocol")
    {
    }

  private:
    void DoRun() override
    {
        const std::vector<std::pair<const char*, const char*>> choices{{"ring", "Simple"},
                                                                       {"ring", "LL"},
                                                                       {"ring", "LL128"},
                                                                       {"tree", "LL"},
                                                                       {"nvls", "Simple"}};
        for (const auto& [algorithm, protocol] : choices)
        {
            ProteusHelper helper = MakeHelper();
            helper.SetNetworkAttribute("Algorithm", StringValue(algorithm));
            helper.SetNetworkAttribute("Protocol", StringValue(protocol));
            Ptr<TrainingJob> job = helper.Install(
                MakeCluster("dgx-h100", 1),
                MakeCollectiveGraph(FirstDevices(8), Collective::ALL_REDUCE, 1000001));
            const TrainingJob::Progress begin = job->GetProgress();
            job->Run();
            const TrainingJob::Progress end = job->GetProgress();
            const std::string what = std::string(algorithm) + " " + protocol;
            NS_TEST_EXPECT_MSG_EQ(begin.bytes, 0, what);
            NS_TEST_EXPECT_MSG_GT(begin.totalBytes, 1000001, what);
            NS_TEST_EXPECT_MSG_EQ(end.bytes, end.totalBytes, what);
            NS_TEST_EXPECT_MSG_EQ(end.tasks, end.totalTasks, what);
            job->Dispose();
            Simulator::Destroy();
        }
    }
};

/**
 * @ingroup proteus-tests
 * What a program in C++ does wrong is said: wrong names, runs that are cut, and jobs that are gone.
 */
class ProteusMisuse : public MistakeTestCase
{
  public:
    ProteusMisuse()
        : MistakeTestCase("misuse of the helper and of a job is refused")
    {
    }

  private:
    void DoRun() override
    {
        const ExecutionGraph graph =
            MakeCollectiveGraph(FirstDevices(8), Collective::ALL_REDUCE, 1000001);
        const Cluster cluster = MakeCluster("dgx-a100", 1);
        std::vector<std::string> warnings;
        const WarningListener listener([&](const std::string& text) {
            warnings.push_back(text);
            return false;
        });
        MakeHelper().Install(cluster, graph)->Dispose();
        NS_TEST_EXPECT_MSG_EQ(warnings.size(),
                              (Time::GetResolution() == Time::PS ? 0 : 1),
                              "of the resolution");
        Simulator::Destroy();
        ExpectFailure(
            [&] {
                ProteusHelper helper;
                helper.SetNetworkAttribute("Algorithm", StringValue("rong"));
                helper.Install(cluster, graph);
            },
            "PacketNetwork::Algorithm=rong: must be one of ");
        Simulator::Destroy();
        ExpectFailure(
            [&] {
                Ptr<TrainingJob> job = MakeHelper().Install(cluster, graph);
                Simulator::Stop(MicroSeconds(3));
                job->Run();
            },
            "Simulator::Stop() ended the run at +3us, before its end: 0 of 8 tasks have ended");
        Simulator::Destroy();
        std::string stall;
        try
        {
            Ptr<TrainingJob> job = MakeHelper().Install(cluster, graph);
            job->GetFabric()->SetLinkUp(0, false);
            job->Run();
        }
        catch (const std::runtime_error& error)
        {
            stall = error.what();
        }
        const Link& link = cluster.GetLinks()[0];
        const std::string down = "; links that are down: " + cluster.GetVertices()[link.a].name +
                                 " - " + cluster.GetVertices()[link.b].name;
        NS_TEST_EXPECT_MSG_NE(stall.find(down), std::string::npos, stall);
        Simulator::Destroy();
        Ptr<TrainingJob> whole = MakeHelper().Install(cluster, graph);
        Simulator::Stop(Seconds(1));
        whole->Run(); // is over by then
        NS_TEST_EXPECT_MSG_EQ(whole->GetTimeline().spans.size(), 8, "all tasks");
        whole->Dispose();
        Simulator::Destroy();
        ExpectFailure([&] { whole->Run(); }, "TrainingJob::Run(): nothing is installed");
        ExpectFailure([&] { CreateObject<TrainingJob>()->Run(); }, "nothing is installed");
    }
};

/**
 * @ingroup proteus-tests
 * The suite.
 */
class ProteusJobTestSuite : public TestSuite
{
  public:
    ProteusJobTestSuite()
        : TestSuite("proteus-job")
    {
        AddTestCase(new ProteusDeterminism);
        AddTestCase(new ProteusTraceStepping);
        AddTestCase(new ProteusStall);
        AddTestCase(new ProteusProgress);
        AddTestCase(new ProteusMisuse);
    }
};

static ProteusJobTestSuite g_proteusJobTestSuite; //!< registers itself
