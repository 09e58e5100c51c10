/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-repetition-test-tools.h"
#include "proteus-test-duration.h"

#include "ns3/proteus-compat.h"
#include "ns3/test.h"

#include <random>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::proteus;
using namespace ns3::proteus::repetitiontest;

namespace
{

/// Long communications between servers, of which whole periods are left out: the results are those
/// of all packets.
class PeriodsCase : public TestCase
{
  public:
    /// @param first seed @param count of jobs
    PeriodsCase(uint32_t first, uint32_t count)
        : TestCase("long communications from " + std::to_string(first)),
          m_first(first),
          m_count(count)
    {
    }

  private:
    static constexpr DeviceId SERVER = 8; //!< devices of a server

    void DoRun() override
    {
        uint64_t leftOut = 0;
        for (uint32_t seed = m_first; seed < m_first + m_count; ++seed)
        {
            m_random.seed(seed);
            const uint32_t servers = 2 + Draw(3);
            const Cluster cluster = MakeCluster(
                std::vector<std::string>{"dgx-a100", "dgx1-v100", "dgx-h100", "dgx-a100"}[Draw(4)],
                servers);
            const AllWays ways = RunAllWays(cluster, MakeJob(servers));
            NS_TEST_EXPECT_MSG_EQ(ways.difference, "", "seed " << seed);
            leftOut += ways.processes.repetition.periodPackets > 0 ? 1 : 0;
        }
        NS_TEST_EXPECT_MSG_GT(leftOut, m_count / 5, "periods must have been found");
    }

    /// @param n a number @return a random one from 0 to n - 1
    uint32_t Draw(uint32_t n)
    {
        return static_cast<uint32_t>(m_random() % n);
    }

    /// @param servers of the cluster @return one or two groups, and perhaps what they meet
    ExecutionGraph MakeJob(uint32_t servers)
    {
        GraphBuilder builder(SERVER * servers);
        const PhaseId phase = builder.AddPhase("iteration");
        const uint32_t groups = 1 + Draw(2);
        for (DeviceId first = 0; first < groups; ++first)
        {
            const auto collective = std::vector<Collective>{Collective::ALL_REDUCE,
                                                            Collective::ALL_GATHER,
                                                            Collective::REDUCE_SCATTER,
                                                            Collective::SEND_RECV}[Draw(4)];
            const uint32_t ranks = collective == Collective::SEND_RECV ? 2 : servers;
            std::vector<DeviceId> members;
            for (uint32_t i = 0; i < ranks; ++i)
            {
                members.push_back(first + SERVER * i);
            }
            AddLate(builder, phase, members, collective, uint64_t{24 + Draw(64)} << 20, 30);
        }
        if (Draw(3) == 0) // in the midst of it
        {
            AddLate(builder, phase, {2 * Draw(2), SERVER}, Collective::ALL_REDUCE, 1 << 20, 3000);
        }
        return builder.Build();
    }

    /// @param builder of the job @param phase of it @param members who communicate
    /// @param collective what they do @param bytes of it @param mostUs by which each is late
    void AddLate(GraphBuilder& builder,
                 PhaseId phase,
                 const std::vector<DeviceId>& members,
                 Collective collective,
                 uint64_t bytes,
                 uint32_t mostUs)
    {
        const std::string name = std::to_string(members.front()) + "." + std::to_string(mostUs);
        const StreamId compute = builder.AddStream("compute" + name);
        std::vector<TaskId> before;
        for (const DeviceId device : members)
        {
            before.push_back(builder.AddCompute(phase,
                                                device,
                                                compute,
                                                "late",
                                                int64_t{Draw(mostUs)} * 1000000,
                                                {}));
        }
        builder.AddCommunication(phase,
                                 builder.AddGroup(members),
                                 builder.AddStream("communication" + name),
                                 name,
                                 collective,
                                 bytes,
                                 Parallelism::DATA,
                                 before);
    }

    uint32_t m_first;      //!< seed
    uint32_t m_count;      //!< of jobs
    std::mt19937 m_random; //!< of all choices
};

/// The suite.
class PeriodsTestSuite : public TestSuite
{
  public:
    PeriodsTestSuite()
        : TestSuite("proteus-periods")
    {
        AddTestCase(new PeriodsCase(1, 12));
        AddTestCase(new PeriodsCase(100, 200), TestDuration::TAKES_FOREVER);
    }
} g_periodsTestSuite; //!< registers itself

} // namespace
