/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-test-duration.h"
#include "unit/schedule/layer-net.h"

#include "ns3/proteus-executor-packet.h"
#include "ns3/proteus-executor-settings.h"
#include "ns3/proteus-executor.h"
#include "ns3/proteus-iteration-times.h"
#include "ns3/proteus-scheduled-run.h"
#include "ns3/proteus-server-hosts.h"
#include "ns3/proteus-wire-classes.h"
#include "ns3/test.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

constexpr double LINK_BYTES_PER_SECOND = 12.5e9; // 100 Gb/s
constexpr double PCIE_BYTES_PER_SECOND = 64e9;
constexpr int64_t DELAY_PS = 250000;
constexpr uint64_t MTU = 4096;
/// A part of which each rank sends one packet in either half of the all-reduce.
constexpr uint64_t PART_BYTES = 2 * MTU;
constexpr double S_PER_PS = 1e-12;

/// @return two servers of a GPU and a NIC each, and a switch: one bottleneck, without losses
Cluster
MakeBottleneck()
{
    Cluster cluster("bottleneck");
    const VertexId tor = cluster.AddVertex({"tor", VertexKind::SWITCH, -1});
    for (int32_t server = 0; server < 2; ++server)
    {
        const std::string name = "n" + std::to_string(server);
        const VertexId gpu =
            cluster.AddVertex({name + ".gpu", VertexKind::GPU, server, 0, "V100-SXM2-32GB"});
        const VertexId nic = cluster.AddVertex({name + ".nic", VertexKind::NIC, server});
        const auto link = [&cluster](VertexId a, VertexId b, LinkTechnology technology, double s) {
            cluster.AddLink({a, b, technology, s, DELAY_PS, DefaultFraming(technology)});
        };
        link(gpu, nic, LinkTechnology::PCIE, PCIE_BYTES_PER_SECOND);
        link(nic, tor, LinkTechnology::ROCE, LINK_BYTES_PER_SECOND);
    }
    return cluster;
}

/// @return a run whose only cost is the wire
ExecutorSettings
MakeWireSettings()
{
    ExecutorSettings settings = ReadExecutorSettings();
    settings.runtime.sharesGpu = false;
    settings.collectives.kernelCosts = false;
    settings.collectives.kernelCopies = false;
    settings.collectives.launchPs = 0;
    settings.collectives.algorithm = "ring";
    settings.collectives.protocol = "Simple";
    settings.collectives.channels = 1;
    return settings;
}

/// What came out of a net.
struct NetRun
{
    double stepS{0};           //!< steady iteration
    double bytesPerPayload{0}; //!< on the bottleneck, all that is sent
    double leastPerPayload{0}; //!< of that, packets of data alone
};

/// Runs three iterations of a net. @param layers of it @param policy of the order
/// @param creditBytes under way @param wireClasses on the wire
NetRun
RunNet(const std::vector<IdealLayer>& layers,
       const std::string& policy,
       uint64_t creditBytes,
       uint32_t wireClasses = 0)
{
    const RepeatedGraph repeated = MakeLayerNet(layers).Repeat(3, CrossIteration::TENSOR);
    ScheduleSettings schedule;
    schedule.policy = policy;
    if (policy != "arrival")
    {
        schedule.partBytes = PART_BYTES;
        schedule.creditBytes = creditBytes;
    }
    const ScheduledRun run = PrepareSchedule(repeated.graph, schedule);
    ExecutorSettings settings = MakeWireSettings();
    settings.runtime.startControl = run.startControl;
    const Cluster cluster = MakeBottleneck();
    const RunRecord record =
        wireClasses > 0 ? RunPacketsByClass(run.graph,
                                            cluster,
                                            settings,
                                            MakeWirePriority(repeated, schedule, {wireClasses, {}}))
                        : FindExecutor("packet").Run(run.graph, cluster, settings);

    NetRun result;
    std::vector<int64_t> ends(repeated.iterations, 0);
    for (const Span& span : record.timeline.spans)
    {
        const Task& task = run.graph.GetTask(span.task);
        if (run.graph.GetName(task).rfind("forward", 0) == 0)
        {
            int64_t& end = ends[repeated.iterationOf[task.phase]];
            end = std::max(end, span.endPs);
        }
    }
    result.stepS = static_cast<double>(ends[2] - ends[1]) * S_PER_PS;
    const LinkFraming framing = DefaultFraming(LinkTechnology::ROCE);
    result.leastPerPayload = static_cast<double>(framing.WireBytes(MTU)) / static_cast<double>(MTU);
    for (const LinkStatistics& link : record.links)
    {
        if (cluster.GetLinks()[link.link].technology == LinkTechnology::ROCE)
        {
            result.bytesPerPayload = std::max(result.bytesPerPayload,
                                              static_cast<double>(link.wireBytes) /
                                                  static_cast<double>(link.payloadBytes));
        }
    }
    return result;
}

/// @param layers of a net @param bytesPerPayload on the wire @return T* of the theory, seconds
double
GetLeastS(const std::vector<IdealLayer>& layers, double bytesPerPayload)
{
    // A ring of two ranks sends as many bytes in each direction as a rank has.
    const IdealLink link{LINK_BYTES_PER_SECOND / bytesPerPayload};
    return GetLeastIterationS(GetLayerTimes(layers, link));
}

/// @return from the start of a part alone to its end, without its time on the bottleneck: there and
/// back again, and the last acknowledgement
double
GetRoundTripS()
{
    const auto wire = [](LinkTechnology technology, uint64_t bytes) {
        return static_cast<double>(DefaultFraming(technology).WireBytes(bytes));
    };
    const auto oneWay = [&wire](uint64_t bytes) {
        return 4 * static_cast<double>(DELAY_PS) * S_PER_PS +
               2 * wire(LinkTechnology::PCIE, bytes) / PCIE_BYTES_PER_SECOND +
               2 * wire(LinkTechnology::ROCE, bytes) / LINK_BYTES_PER_SECOND;
    };
    return 2 * oneWay(MTU) + oneWay(0);
}

/// Layers of whole parts. @param random source @return a net
std::vector<IdealLayer>
DrawNet(std::mt19937& random)
{
    std::vector<IdealLayer> layers(3 + random() % 4);
    for (IdealLayer& layer : layers)
    {
        layer.backwardPs = static_cast<int64_t>(10 + random() % 90) * 1000000;
        layer.forwardPs = static_cast<int64_t>(10 + random() % 90) * 1000000;
        layer.bytes = (10 + random() % 150) * PART_BYTES;
    }
    return layers;
}

} // namespace

/**
 * @ingroup proteus-tests
 * With parts of one packet, priority comes as near to the least time of the theory as the size of a
 * part and the round trip let it.
 */
class ScheduleBoundTest : public TestCase
{
  public:
    /// @param nets how many random ones
    explicit ScheduleBoundTest(uint32_t nets)
        : TestCase("priority by packets reaches the bound of the theory, " + std::to_string(nets) +
                   " nets"),
          m_nets(nets)
    {
    }

  private:
    void DoRun() override
    {
        const double roundTripS = GetRoundTripS();
        // What the link and an empty network hold, and four parts more: those that wait at ports
        // behind each other's packets, grants and acknowledgements.
        const auto creditBytes =
            static_cast<uint64_t>(roundTripS * LINK_BYTES_PER_SECOND) + 4 * PART_BYTES;
        std::mt19937 random(16);
        double largest = 0;
        uint32_t faster = 0;
        for (uint32_t net = 0; net < m_nets; ++net)
        {
            const std::vector<IdealLayer> layers = DrawNet(random);
            const NetRun priority = RunNet(layers, "priority", creditBytes);
            const double leastS = GetLeastS(layers, priority.leastPerPayload);
            const double sentS = GetLeastS(layers, priority.bytesPerPayload);
            const double slackS =
                static_cast<double>(layers.size()) *
                (static_cast<double>(PART_BYTES) / LINK_BYTES_PER_SECOND + roundTripS);
            const std::string name = "net " + std::to_string(net);
            NS_TEST_EXPECT_MSG_GT_OR_EQ(priority.stepS, leastS, name);
            NS_TEST_EXPECT_MSG_LT_OR_EQ(priority.stepS, sentS + slackS, name);
            largest = std::max(largest, priority.stepS / leastS - 1);
            const double arrivalS = RunNet(layers, "arrival", 0).stepS;
            NS_TEST_EXPECT_MSG_LT(arrivalS / priority.stepS, 2, name << ": bound of any speed-up");
            faster += arrivalS > priority.stepS;
        }
        // The test would say nothing if the order did not matter to these nets.
        NS_TEST_EXPECT_MSG_GT(faster, m_nets / 2, "nets that priority makes faster");
        NS_TEST_EXPECT_MSG_LT(largest, 0.08, "largest distance from the least time");
    }

    const uint32_t m_nets;
};

/**
 * @ingroup proteus-tests
 * A credit below what the round trip holds leaves the link idle: the rate is credit over the time
 * of a part and its round trip.
 */
class ScheduleCreditTest : public TestCase
{
  public:
    ScheduleCreditTest()
        : TestCase("too little credit leaves the link idle")
    {
    }

  private:
    void DoRun() override
    {
        // Communication alone counts: 400 parts behind a short backward pass.
        const std::vector<IdealLayer> layers{{1000000, 1000000, 400 * PART_BYTES}};
        const double partS = static_cast<double>(PART_BYTES) / LINK_BYTES_PER_SECOND;
        const double roundTripS = GetRoundTripS();
        const double wholeS = GetLeastS(layers, 1);
        double lastS = 1;
        for (const uint64_t inFlight : {1, 2, 4})
        {
            const double stepS = RunNet(layers, "priority", inFlight * PART_BYTES).stepS;
            const double theoryS = 400 * (partS + roundTripS) / static_cast<double>(inFlight);
            NS_TEST_EXPECT_MSG_EQ_TOL(stepS / theoryS, 1, 0.15, inFlight << " parts under way");
            NS_TEST_EXPECT_MSG_GT(stepS, wholeS, inFlight << " parts under way");
            NS_TEST_EXPECT_MSG_LT(stepS, lastS, inFlight << " parts under way");
            lastS = stepS;
        }
    }
};

/**
 * @ingroup proteus-tests
 * Without a credit that holds anything back, classes of the switch bring what is urgent past what
 * has started.
 */
class ScheduleWireTest : public TestCase
{
  public:
    ScheduleWireTest()
        : TestCase("traffic classes order what the sender does not")
    {
    }

  private:
    void DoRun() override
    {
        // The last layer sends for long; the first one is small, ready last, and needed first.
        const std::vector<IdealLayer> layers{{20000000, 60000000, 20 * PART_BYTES},
                                             {20000000, 60000000, 20 * PART_BYTES},
                                             {20000000, 60000000, 400 * PART_BYTES}};
        const uint64_t unlimited = CreditWindow::UNLIMITED;
        const NetRun wire = RunNet(layers, "priority", unlimited, 7);
        const double arrivalS = RunNet(layers, "arrival", 0).stepS;
        const double aloneS = RunNet(layers, "priority", unlimited).stepS;
        const double oneS = RunNet(layers, "priority", unlimited, 1).stepS;
        const double leastS = GetLeastS(layers, wire.leastPerPayload);
        NS_TEST_EXPECT_MSG_GT_OR_EQ(wire.stepS, leastS, "bound of the theory");
        NS_TEST_EXPECT_MSG_LT(wire.stepS, 1.12 * leastS, "close to it");
        NS_TEST_EXPECT_MSG_LT(wire.stepS, 0.9 * arrivalS, "faster than arrival order");
        NS_TEST_EXPECT_MSG_LT(wire.stepS, 0.9 * aloneS, "faster than all at once");
        NS_TEST_EXPECT_MSG_EQ(oneS, aloneS, "one class is none");
    }
};

/**
 * @ingroup proteus-tests
 * What NICs and GPUs read from the memory of a host waits for them there, and messages between two
 * memories go in order: by packets and by flows.
 */
class ScheduleServersTest : public TestCase
{
  public:
    ScheduleServersTest()
        : TestCase("parameter servers take as long by packets as by flows")
    {
    }

  private:
    /// @param executor of the run @param policy of the order @return a steady iteration, seconds
    static double GetStepS(const std::string& executor, const std::string& policy)
    {
        const std::vector<IdealLayer> layers{{1000000000, 500000000, 6000000},
                                             {1000000000, 500000000, 500000},
                                             {1000000000, 500000000, 10000000},
                                             {1000000000, 500000000, 2000000},
                                             {1000000000, 500000000, 40000000}};
        const RepeatedGraph repeated = MakeLayerNet(layers).Repeat(3, CrossIteration::TENSOR);
        ScheduleSettings schedule;
        schedule.policy = policy;
        if (policy != "arrival")
        {
            schedule.partBytes = 4000000;
            schedule.creditBytes = 16000000;
        }
        Cluster cluster = MakeHosts();
        ParameterServers servers;
        servers.servers = 2;
        servers.hostOf = {0, 1};
        servers.aggregation = HostAggregation::HOST;
        AddServerHosts(cluster, servers.servers);
        AddHostMemories(cluster, {0, 1});
        const ScheduledRun run = PrepareSchedule(repeated, schedule, servers);
        ExecutorSettings settings = ReadExecutorSettings();
        settings.runtime.startControl = run.startControl;
        const RunRecord record = FindExecutor(executor).Run(run.graph, cluster, settings);
        return static_cast<double>(
                   MeasureIterations(run.graph, repeated, record.timeline).steadyPs) *
               S_PER_PS;
    }

    /// @return two servers of a GPU, a CPU and a NIC each, and a switch
    static Cluster MakeHosts()
    {
        Cluster cluster("hosts");
        const VertexId hub = cluster.AddVertex({"hub", VertexKind::SWITCH, -1});
        for (int32_t server = 0; server < 2; ++server)
        {
            const std::string name = "n" + std::to_string(server);
            const VertexId gpu =
                cluster.AddVertex({name + ".gpu", VertexKind::GPU, server, 0, "V100-SXM2-32GB"});
            const VertexId cpu = cluster.AddVertex({name + ".cpu", VertexKind::CPU, server});
            const VertexId nic = cluster.AddVertex({name + ".nic", VertexKind::NIC, server});
            const auto link = [&cluster](VertexId a, VertexId b, LinkTechnology way, double rate) {
                cluster.AddLink({a, b, way, rate, DELAY_PS, DefaultFraming(way)});
            };
            link(gpu, cpu, LinkTechnology::PCIE, 15.754e9);
            link(nic, cpu, LinkTechnology::PCIE, 15.754e9);
            link(nic, hub, LinkTechnology::INFINIBAND, 10e9);
        }
        return cluster;
    }

    void DoRun() override
    {
        for (const char* policy : {"arrival", "priority"})
        {
            const double byFlowsS = GetStepS("flow", policy);
            NS_TEST_EXPECT_MSG_EQ_TOL(GetStepS("packet", policy),
                                      byFlowsS,
                                      0.05 * byFlowsS,
                                      policy);
        }
    }
};

/**
 * @ingroup proteus-tests
 * Order of communication by packets.
 */
class ScheduleTestSuite : public TestSuite
{
  public:
    ScheduleTestSuite()
        : TestSuite("proteus-schedule")
    {
        AddTestCase(new ScheduleBoundTest(20));
        AddTestCase(new ScheduleBoundTest(300), TestDuration::EXTENSIVE);
        AddTestCase(new ScheduleCreditTest);
        AddTestCase(new ScheduleWireTest);
        AddTestCase(new ScheduleServersTest);
    }
};

static ScheduleTestSuite g_scheduleTestSuite;
