/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-test-tools.h"

#include "ns3/proteus-msccl.h"
#include "ns3/proteus-server-preset.h"
#include "ns3/test.h"

#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

/// What is timed as nccl-tests does, by packets and by flows.
struct ExecutorCase
{
    std::string preset;     //!< of servers
    uint32_t servers;       //!< how many
    Collective collective;  //!< what is run
    std::string launchMode; //!< who launches
    double most;            //!< share by which flows may differ
};

/// @param ranks of a ring @param channels of it @return its all-gather, in place, as MSCCL has it
std::string
WriteRing(uint32_t ranks, uint32_t channels)
{
    std::ostringstream xml;
    const uint32_t chunks = ranks * channels;
    xml << "<algo name='ring' proto='Simple' coll='allgather' inplace='1' outofplace='0' "
           "nchannels='"
        << channels << "' nchunksperloop='" << chunks << "' ngpus='" << ranks << "'>";
    for (uint32_t rank = 0; rank < ranks; ++rank)
    {
        xml << "<gpu id='" << rank << "' i_chunks='0' o_chunks='" << chunks << "' s_chunks='0'>";
        for (uint32_t channel = 0; channel < channels; ++channel)
        {
            xml << "<tb id='" << channel << "' send='" << (rank + 1) % ranks << "' recv='"
                << (rank + ranks - 1) % ranks << "' chan='" << channel << "'>";
            for (uint32_t step = 0; step < ranks; ++step)
            {
                const char* const type = step == 0 ? "s" : step + 1 < ranks ? "rcs" : "r";
                const uint32_t chunk = (rank + ranks - step) % ranks * channels + channel;
                xml << "<step s='" << step << "' type='" << type << "' srcbuf='o' srcoff='" << chunk
                    << "' dstbuf='o' dstoff='" << chunk
                    << "' cnt='1' depid='-1' deps='-1' hasdep='0'/>";
            }
            xml << "</tb>";
        }
        xml << "</gpu>";
    }
    xml << "</algo>";
    return xml.str();
}

} // namespace

/**
 * @ingroup proteus-tests
 * A table of nccl-tests by flows is that by packets: launches, iterations that follow each other,
 * and the names of what was chosen.
 */
class CollectiveExecutorTest : public TestCase
{
  public:
    CollectiveExecutorTest()
        : TestCase("flows time a collective as packets do")
    {
    }

  private:
    void DoRun() override
    {
        const std::vector<ExecutorCase> cases{
            {"dgx-a100", 1, Collective::ALL_REDUCE, "process-per-gpu", 0.02},
            {"dgx-a100", 1, Collective::BROADCAST, "process-per-gpu", 0.05},
            {"dgx-h100", 1, Collective::ALL_REDUCE, "one-process", 0.03},
            {"dgx-h100", 2, Collective::ALL_REDUCE, "stream", 0.03},
            {"dgx-h100", 2, Collective::ALL_TO_ALL, "process-per-gpu", 0.02},
            // In packets the two messages of a rank are launched one while the other waits.
            {"dgx-h100", 2, Collective::SEND_RECV, "process-per-gpu", 0.06},
            {"dgx-h100", 1, Collective::SEND_RECV, "one-process", 0.06}};
        for (const ExecutorCase& it : cases)
        {
            const Cluster cluster = MakeCluster(it.preset, it.servers);
            CollectiveTest test =
                MakeTest(cluster, static_cast<uint32_t>(cluster.GetGpus().size()), it.collective);
            test.launchMode = it.launchMode;
            for (const uint64_t bytes : {uint64_t{1024}, MIB / 4, 8 * MIB})
            {
                test.executor = "packet";
                const CollectiveRow packets = RunCollective(cluster, test, bytes).front();
                test.executor = "flow";
                const CollectiveRow flows = RunCollective(cluster, test, bytes).front();
                std::ostringstream what;
                what << it.servers << " x " << it.preset << ", " << ToString(it.collective) << ", "
                     << it.launchMode << ", " << bytes << " bytes: packets " << packets.timeUs
                     << " us, flows " << flows.timeUs << " us";
                NS_TEST_EXPECT_MSG_EQ_TOL(flows.timeUs / packets.timeUs, 1, it.most, what.str());
                NS_TEST_EXPECT_MSG_EQ(flows.algorithm, packets.algorithm, what.str());
                NS_TEST_EXPECT_MSG_EQ(flows.protocol, packets.protocol, what.str());
                NS_TEST_EXPECT_MSG_EQ(flows.channels, packets.channels, what.str());
            }
        }
    }
};

/**
 * @ingroup proteus-tests
 * Flows carry out a schedule of MSCCL as packets do, whatever its size: no shorter program stands
 * for it.
 */
class ScheduleTest : public TestCase
{
  public:
    ScheduleTest()
        : TestCase("a schedule of MSCCL by flows and by packets")
    {
    }

  private:
    void DoRun() override
    {
        std::istringstream input(WriteRing(8, 4));
        const Cluster cluster = MakeCluster("dgx-a100", 1);
        CollectiveTest test = MakeTest(cluster, 8, Collective::ALL_GATHER);
        test.schedule = std::make_shared<const MscclSchedule>(ReadMscclXml(input, "ring.xml"));
        for (const uint64_t bytes : {MIB / 4, 8 * MIB, 256 * MIB})
        {
            test.executor = "packet";
            const CollectiveRow packets = RunCollective(cluster, test, bytes).front();
            test.executor = "flow";
            const CollectiveRow flows = RunCollective(cluster, test, bytes).front();
            std::ostringstream what;
            what << bytes << " bytes: packets " << packets.timeUs << " us, flows " << flows.timeUs
                 << " us";
            NS_TEST_EXPECT_MSG_EQ_TOL(flows.timeUs / packets.timeUs, 1, 0.03, what.str());
            NS_TEST_EXPECT_MSG_EQ(flows.algorithm, "ring", what.str());
        }
    }
};

/**
 * @ingroup proteus-tests
 * A host thread launches the messages of all GPUs of its server, as it does a collective of them.
 */
class MessageLaunchTest : public TestCase
{
  public:
    MessageLaunchTest()
        : TestCase("one process launches messages for all its GPUs")
    {
    }

  private:
    void DoRun() override
    {
        const Cluster cluster = MakeCluster("dgx-h100", 1);
        std::vector<double> timesUs;
        for (const uint32_t gpus : {4, 8})
        {
            CollectiveTest test = MakeTest(cluster, gpus, Collective::SEND_RECV);
            test.launchMode = "one-process";
            timesUs.push_back(RunCollective(cluster, test, 8).front().timeUs);
        }
        NS_TEST_EXPECT_MSG_EQ_TOL(timesUs[1] / timesUs[0], 2, 0.1, "eight GPUs for four");
    }
};

/**
 * @ingroup proteus-tests
 * A chunk that goes up a chain of GPUs and down again has the whole rate of a thread block at every
 * hop, since none comes the other way meanwhile.
 */
class LoneChunkTest : public TestCase
{
  public:
    LoneChunkTest()
        : TestCase("the only chunk of a tree moves at the rate of a thread block")
    {
    }

  private:
    void DoRun() override
    {
        // GB/s of a thread block, and of its seven warps that hand on.
        for (const auto& [preset, up, down] :
             {std::tuple("dgx-h100", 23.0, 7 * 3.15), {"dgx-a100", 24.0, 7 * 2.46}})
        {
            const Cluster cluster = MakeCluster(preset, 1);
            for (const std::string executor : {"packet", "flow"})
            {
                const auto measure = [&, preset = preset](uint32_t gpus, uint64_t bytes) {
                    CollectiveTest test = MakeTest(cluster, gpus);
                    test.algorithm = "tree";
                    test.protocol = "Simple";
                    test.channels = 1;
                    test.executor = executor;
                    return RunCollective(cluster, test, bytes).front().timeUs;
                };
                // What another hop each way adds, but for latencies.
                const double hopUs = measure(4, MIB / 2) - measure(3, MIB / 2) -
                                     (measure(4, MIB / 16) - measure(3, MIB / 16));
                const double bytes = MIB / 2 - MIB / 16;
                NS_TEST_EXPECT_MSG_EQ_TOL(hopUs,
                                          bytes / 1e3 * (1 / up + 1 / down),
                                          0.02 * hopUs,
                                          preset << " by " << executor);
            }
        }
    }
};

/**
 * @ingroup proteus-tests
 * All tests of this suite.
 */
class CollectiveExecutorTestSuite : public TestSuite
{
  public:
    CollectiveExecutorTestSuite()
        : TestSuite("proteus-collective-executor", Type::SYSTEM)
    {
        AddTestCase(new CollectiveExecutorTest);
        AddTestCase(new ScheduleTest);
        AddTestCase(new MessageLaunchTest);
        AddTestCase(new LoneChunkTest);
    }
};

static CollectiveExecutorTestSuite g_collectiveExecutorTestSuite; //!< registers itself
