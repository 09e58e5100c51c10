/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-collective-test-tools.h"

#include "ns3/proteus-server-preset.h"
#include "ns3/test.h"

#include <sstream>
#include <string>
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
            {"dgx-a100", 1, Collective::BROADCAST, "process-per-gpu", 0.04},
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
 * All tests of this suite.
 */
class CollectiveExecutorTestSuite : public TestSuite
{
  public:
    CollectiveExecutorTestSuite()
        : TestSuite("proteus-collective-executor", Type::SYSTEM)
    {
        AddTestCase(new CollectiveExecutorTest);
        AddTestCase(new MessageLaunchTest);
    }
};

static CollectiveExecutorTestSuite g_collectiveExecutorTestSuite; //!< registers itself
