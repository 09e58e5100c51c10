/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/log.h"
#include "ns3/proteus-helper.h"
#include "ns3/proteus-program.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

/// What a run left behind.
struct Outcome
{
    Timeline timeline;
    std::vector<LinkStatistics> links;
    std::vector<CommunicationStatistics> communication;
    NetworkStatistics network;
};

/// Runs a graph on a cluster.
Outcome
RunGraph(const ProteusHelper& helper, const Cluster& cluster, const ExecutionGraph& graph)
{
    Ptr<TrainingJob> job = helper.Install(cluster, graph);
    job->Run();
    Outcome outcome{job->GetTimeline(),
                    job->GetFabric()->GetLinkStatistics(),
                    job->GetNetwork()->GetCommunicationStatistics(),
                    job->GetNetwork()->GetStatistics()};
    job->Dispose();
    Simulator::Destroy();
    return outcome;
}

/// A helper without launch overhead, with a fixed random stream; nothing but payload is sent.
ProteusHelper
MakeHelper()
{
    ProteusHelper helper;
    helper.SetNetworkAttribute("Protocol", StringValue("Simple"));
    helper.SetNetworkAttribute("LaunchOverhead", TimeValue(Seconds(0)));
    helper.SetNetworkAttribute("KernelCosts", BooleanValue(false));
    helper.AssignStreams(1);
    return helper;
}

/// One collective over the first devices of a cluster.
ExecutionGraph
MakeCollectiveGraph(uint32_t devices, Collective collective, uint64_t bytes)
{
    GraphBuilder builder(devices);
    const StreamId stream = builder.AddStream("communication");
    const PhaseId phase = builder.AddPhase("iteration");
    std::vector<DeviceId> members;
    for (DeviceId device = 0; device < devices; ++device)
    {
        members.push_back(device);
    }
    builder.AddCommunication(phase,
                             builder.AddGroup(members),
                             stream,
                             ToString(collective),
                             collective,
                             bytes,
                             Parallelism::TENSOR);
    return builder.Build();
}

/// One message from one device to another.
ExecutionGraph
MakeMessageGraph(DeviceId from, DeviceId to, uint64_t bytes)
{
    GraphBuilder builder(std::max(from, to) + 1);
    const StreamId stream = builder.AddStream("communication");
    const PhaseId phase = builder.AddPhase("iteration");
    builder.AddCommunication(phase,
                             builder.AddGroup({from, to}),
                             stream,
                             "message",
                             Collective::SEND_RECV,
                             bytes,
                             Parallelism::PIPELINE);
    return builder.Build();
}

/// Two GPUs on one NVSwitch by one connection each, 1 GB/s, 1 us, no headers.
Cluster
MakePair(double bytesPerSecond = 1e9, int64_t delayPs = 1000000)
{
    Cluster cluster("pair");
    for (uint32_t i = 0; i < 2; ++i)
    {
        Vertex gpu;
        gpu.name = "gpu" + std::to_string(i);
        gpu.server = 0;
        gpu.index = i;
        gpu.model = "A100-SXM4-80GB";
        cluster.AddVertex(gpu);
    }
    Vertex hub;
    hub.name = "switch";
    hub.kind = VertexKind::NVSWITCH;
    hub.server = 0;
    const VertexId center = cluster.AddVertex(hub);
    for (VertexId gpu : cluster.GetGpus())
    {
        Link link;
        link.a = gpu;
        link.b = center;
        link.bytesPerSecond = bytesPerSecond;
        link.delayPs = delayPs;
        link.framing = LinkFraming{1000, 0, 1000, 0, 1};
        cluster.AddLink(link);
    }
    return cluster;
}

} // namespace

/**
 * @ingroup proteus-tests
 * A message over two hops: rendezvous, store and forward, acknowledgement, to the picosecond.
 */
class ProteusMessageTime : public TestCase
{
  public:
    ProteusMessageTime()
        : TestCase("a message takes what the links say")
    {
    }

  private:
    void DoRun() override
    {
        // Clear-to-send: 1 byte over two links of 1 ns per byte and 1 us. Data: 10 units of 1000
        // bytes, the last of which crosses the second link after all others. Back: 1 byte.
        const auto outcome = RunGraph(MakeHelper(), MakePair(), MakeMessageGraph(0, 1, 10000));
        const int64_t control = 2 * (1000 + 1000000);
        const int64_t data = 10 * 1000000 + 1000000 + 1000000 + 1000000;
        NS_TEST_ASSERT_MSG_EQ(outcome.timeline.spans.size(), 2, "a span per rank");
        NS_TEST_ASSERT_MSG_EQ(outcome.timeline.spans[0].device, 1, "the receiver ends first");
        NS_TEST_ASSERT_MSG_EQ(outcome.timeline.spans[0].endPs,
                              control + data,
                              "clear-to-send and data");
        NS_TEST_ASSERT_MSG_EQ(outcome.timeline.spans[1].endPs,
                              2 * control + data,
                              "and the acknowledgement");
        NS_TEST_ASSERT_MSG_EQ(outcome.network.packets, 10, "units of 1000 bytes");
        NS_TEST_ASSERT_MSG_EQ(outcome.network.packetHops, 2 * (10 + 2), "two links each");
    }
};

/**
 * @ingroup proteus-tests
 * A receive buffer smaller than the bandwidth-delay product limits the rate to buffer / round
 * trip.
 */
class ProteusCreditRate : public TestCase
{
  public:
    ProteusCreditRate()
        : TestCase("credits limit the rate to the buffer per round trip")
    {
    }

  private:
    void DoRun() override
    {
        // The buffer holds 4 units of 1 us each. A unit's room comes back 1 us (transmission) +
        // 10 us (delay) + 1 us (on the second link) + 10 us (credit) after it was taken.
        const Cluster cluster = MakePair(1e9, 10000000);
        const auto graph = MakeMessageGraph(0, 1, 200 * 1000);
        ProteusHelper helper = MakeHelper();
        const int64_t fast = RunGraph(helper, cluster, graph).timeline.endPs;
        helper.SetFabricAttribute("NvlinkBuffer", UintegerValue(4000));
        const auto limited = RunGraph(helper, cluster, graph);
        const int64_t roundTrip = 22000000;
        // 200 units in rounds of 4: the last round starts after 49 round trips.
        NS_TEST_ASSERT_MSG_EQ(limited.timeline.endPs - fast,
                              49 * roundTrip - 49 * 4 * 1000000,
                              "four units per round trip");
        NS_TEST_ASSERT_MSG_GT(limited.links[0].creditStallPs, 0, "the stall is seen");
        NS_TEST_ASSERT_MSG_EQ(limited.links[0].maxQueueBytes, 0, "sources do not queue");
    }
};

/**
 * @ingroup proteus-tests
 * Ring all-reduce over the GPUs of an NVSwitch node against the closed form.
 */
class ProteusRingAllReduce : public TestCase
{
  public:
    ProteusRingAllReduce()
        : TestCase("a ring all-reduce takes its closed form")
    {
    }

  private:
    void DoRun() override
    {
        for (const char* preset : {"dgx-a100", "dgx-h100"})
        {
            const Cluster cluster = MakeCluster(preset, 1);
            const uint64_t bytes = 64 << 20;
            // One channel at full rate: no thread block of a kernel moves the bytes.
            ProteusHelper helper = MakeHelper();
            helper.SetNetworkAttribute("KernelCopies", BooleanValue(false));
            helper.SetNetworkAttribute("Algorithm", StringValue("ring"));
            helper.SetNetworkAttribute("Channels", UintegerValue(1));
            helper.SetNetworkAttribute("ChunkBytes", UintegerValue(512 * 1024));
            const auto outcome =
                RunGraph(helper, cluster, MakeCollectiveGraph(8, Collective::ALL_REDUCE, bytes));
            // Payload rate of all NVLinks of a GPU, both ways at once.
            double rate = 0;
            int64_t delayPs = 0;
            const VertexId gpu = cluster.GetGpus()[0];
            for (const Port& port : cluster.GetPorts(gpu))
            {
                const Link& link = cluster.GetLinks()[port.link];
                if (link.technology == LinkTechnology::NVLINK)
                {
                    const uint64_t unit = link.framing.unitBytes;
                    rate += link.bytesPerSecond * unit /
                            (link.framing.WireBytes(unit) + link.framing.ReverseBytes(unit));
                    delayPs = link.delayPs;
                }
            }
            const double wire = 2.0 * 7 / 8 * bytes / rate;
            // Fill: the clear-to-send, and one chunk, over two links, for every step but the
            // first, of which all but the last channel's last loop are hidden behind others.
            const double fill = 4 * delayPs * 1e-12 + 512 * 1024 / rate;
            const double seconds = outcome.timeline.endPs * 1e-12;
            NS_TEST_EXPECT_MSG_EQ_TOL(seconds, wire + fill, 0.01 * wire, preset);
            for (const auto& statistics : outcome.communication)
            {
                NS_TEST_EXPECT_MSG_EQ(statistics.sentBytes, 2 * 7 * bytes, "bytes of the formula");
                NS_TEST_EXPECT_MSG_EQ(statistics.receivedBytes, 2 * 7 * bytes, "all arrived");
            }
        }
    }
};

/**
 * @ingroup proteus-tests
 * A pipeline with negligible transfers against (m + p - 1)(f + b), and its live activations.
 */
class ProteusPipeline : public TestCase
{
  public:
    ProteusPipeline()
        : TestCase("a pipeline takes (m + p - 1)(f + b)")
    {
    }

    /// What a pipeline run is made of.
    struct Pipeline
    {
        PipelineSchedule schedule;
        std::vector<double> forward;  //!< seconds by stage
        std::vector<double> backward; //!< seconds by stage
        uint32_t microBatches;
    };

    /// Stages on GPUs of a cluster, joined by messages of one byte.
    static ExecutionGraph MakeGraph(const Pipeline& pipeline)
    {
        const auto stages = static_cast<uint32_t>(pipeline.forward.size());
        GraphBuilder builder(stages);
        const StreamId compute = builder.AddStream("compute");
        const StreamId down = builder.AddStream("activations");
        const StreamId up = builder.AddStream("gradients");
        const PhaseId forward = builder.AddPhase("forward", pipeline.microBatches);
        const PhaseId backward = builder.AddPhase("backward", pipeline.microBatches);
        std::vector<TaskId> forwards;
        std::vector<TaskId> activations;
        TaskId received = NO_ID;
        for (uint32_t s = 0; s < stages; ++s)
        {
            const auto name = "stage" + std::to_string(s);
            std::vector<TaskId> after;
            if (s > 0)
            {
                received = builder.AddCommunication(forward,
                                                    builder.AddGroup({s - 1, s}),
                                                    down,
                                                    name + ".activation",
                                                    Collective::SEND_RECV,
                                                    1,
                                                    Parallelism::PIPELINE,
                                                    {forwards[s - 1]});
                after.push_back(received);
            }
            forwards.push_back(builder.AddCompute(forward,
                                                  s,
                                                  compute,
                                                  name + ".forward",
                                                  static_cast<int64_t>(pipeline.forward[s] * 1e12),
                                                  after));
            activations.push_back(
                builder.AddMemory(forward, s, name + ".saved", 1, {forwards.back()}));
        }
        TaskId gradient = NO_ID;
        for (uint32_t s = stages; s-- > 0;)
        {
            const auto name = "stage" + std::to_string(s);
            std::vector<TaskId> after{activations[s]};
            if (gradient != NO_ID)
            {
                after.push_back(gradient);
            }
            const TaskId task =
                builder.AddCompute(backward,
                                   s,
                                   compute,
                                   name + ".backward",
                                   static_cast<int64_t>(pipeline.backward[s] * 1e12),
                                   after);
            if (s > 0)
            {
                gradient = builder.AddCommunication(backward,
                                                    builder.AddGroup({s, s - 1}),
                                                    up,
                                                    name + ".gradient",
                                                    Collective::SEND_RECV,
                                                    1,
                                                    Parallelism::PIPELINE,
                                                    {task});
            }
            builder.SetSchedule(s,
                                MakePipelineSchedule(pipeline.schedule,
                                                     stages,
                                                     s,
                                                     pipeline.microBatches,
                                                     forward,
                                                     backward));
            if (pipeline.schedule == PipelineSchedule::ONE_FORWARD_ONE_BACKWARD)
            {
                builder.AddGate(
                    {s, forward, backward, std::min(pipeline.microBatches, stages - s)});
            }
        }
        return builder.Build();
    }

  private:
    /// @param pipeline to run @return its outcome
    static Outcome RunPipeline(const Pipeline& pipeline)
    {
        return RunGraph(MakeHelper(), MakeCluster("dgx-a100", 1), MakeGraph(pipeline));
    }

    /// @param stages p @param microBatches m @param schedule which @return f = 1, b = 2
    static Pipeline Uniform(uint32_t stages, uint32_t microBatches, PipelineSchedule schedule)
    {
        return {schedule,
                std::vector<double>(stages, 1.0),
                std::vector<double>(stages, 2.0),
                microBatches};
    }

    void DoRun() override
    {
        const auto gpipe = PipelineSchedule::GPIPE;
        const auto oneFOneB = PipelineSchedule::ONE_FORWARD_ONE_BACKWARD;
        const double tolerance = 0.001;

        struct Case
        {
            uint32_t stages;
            uint32_t microBatches;
            double seconds;
        };

        // DistSim A1.
        for (const Case& c : std::vector<Case>{{4, 4, 21},
                                               {4, 8, 33},
                                               {8, 8, 45},
                                               {8, 32, 117},
                                               {4, 1, 12},
                                               {1, 4, 12}})
        {
            for (const auto schedule : {gpipe, oneFOneB})
            {
                const auto outcome = RunPipeline(Uniform(c.stages, c.microBatches, schedule));
                NS_TEST_EXPECT_MSG_EQ_TOL(outcome.timeline.endPs * 1e-12,
                                          c.seconds,
                                          tolerance,
                                          "A1 with p = " << c.stages << ", m = " << c.microBatches);
            }
        }
        // A3: live activations are the peak memory, at a byte each.
        const std::vector<uint64_t> live{4, 3, 2, 1};
        NS_TEST_EXPECT_MSG_EQ(
            (RunPipeline(Uniform(4, 8, oneFOneB)).timeline.peakMemoryBytes == live),
            true,
            "1F1B keeps p - s");
        NS_TEST_EXPECT_MSG_EQ((RunPipeline(Uniform(4, 8, gpipe)).timeline.peakMemoryBytes ==
                               std::vector<uint64_t>(4, 8)),
                              true,
                              "GPipe keeps m");
        // A4: ends of the stages.
        const auto timeline = RunPipeline(Uniform(4, 8, oneFOneB)).timeline;
        const std::vector<double> ends{33, 31, 29, 27};
        for (DeviceId s = 0; s < 4; ++s)
        {
            int64_t end = 0;
            for (const Span& span : timeline.spans)
            {
                end = span.device == s ? std::max(end, span.endPs) : end;
            }
            // The last span of a stage but the first is its send, which ends a transfer later.
            NS_TEST_EXPECT_MSG_EQ_TOL(end * 1e-12, ends[s], tolerance, "A4, stage " << s);
        }
        // A7, A8: stages of different length.
        NS_TEST_EXPECT_MSG_EQ_TOL(RunPipeline({gpipe, {1, 2, 1}, {2, 4, 2}, 4}).timeline.endPs *
                                      1e-12,
                                  30,
                                  tolerance,
                                  "A7 GPipe");
        NS_TEST_EXPECT_MSG_EQ_TOL(RunPipeline({oneFOneB, {1, 2, 1}, {2, 4, 2}, 4}).timeline.endPs *
                                      1e-12,
                                  28,
                                  tolerance,
                                  "A7 1F1B");
        NS_TEST_EXPECT_MSG_EQ_TOL(RunPipeline({oneFOneB, {1, 3}, {2, 6}, 4}).timeline.endPs * 1e-12,
                                  39,
                                  tolerance,
                                  "A8");
    }
};

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
        const auto graph = MakeCollectiveGraph(16, Collective::ALL_REDUCE, 1 << 20);
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
        for (const char* part : {"device 0", "'first'", "device 1", "'second'", "has not joined"})
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
            Ptr<TrainingJob> job =
                helper.Install(MakeCluster("dgx-h100", 1),
                               MakeCollectiveGraph(8, Collective::ALL_REDUCE, 1000001));
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
 * The suite.
 */
class ProteusTestSuite : public TestSuite
{
  public:
    ProteusTestSuite()
        : TestSuite("proteus")
    {
        AddTestCase(new ProteusMessageTime);
        AddTestCase(new ProteusCreditRate);
        AddTestCase(new ProteusRingAllReduce);
        AddTestCase(new ProteusPipeline);
        AddTestCase(new ProteusDeterminism);
        AddTestCase(new ProteusTraceStepping);
        AddTestCase(new ProteusStall);
        AddTestCase(new ProteusProgress);
    }
};

static ProteusTestSuite g_proteusTestSuite; //!< registers itself
