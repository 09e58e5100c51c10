/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-job-test-tools.h"

#include "ns3/boolean.h"
#include "ns3/proteus-helper.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::proteus;
using namespace ns3::proteus::jobtest;

namespace
{

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
                RunGraph(helper,
                         cluster,
                         MakeCollectiveGraph(FirstDevices(8), Collective::ALL_REDUCE, bytes));
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
    }
};

static ProteusTestSuite g_proteusTestSuite; //!< registers itself
