/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-test-duration.h"
#include "proteus-together-test-tools.h"

#include "ns3/proteus-server-preset.h"
#include "ns3/test.h"

#include <cstdint>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

constexpr uint64_t BYTES = 64000000;      // of each copy
constexpr double BYTES_PER_SECOND = 16e9; // of a memory
/// What a memory takes for one copy, which is written and read.
constexpr double COPY_S = 2 * BYTES / BYTES_PER_SECOND;

/// @param memory of each CPU, bytes per second; 0: no limit @param cpus of two GPUs each
/// @return GPUs that do not reach each other, at CPUs that forward far less than memory moves if
/// nothing goes from one to the other
Cluster
MakeHost(double memory, uint32_t cpus)
{
    Cluster cluster("host");
    Vertex cpu = MakeCpu(cpus == 1 ? memory / 8 : 0, false);
    cpu.memoryBytesPerSecond = memory;
    const auto gpus = AddServerVertices(cluster, 0, MakeGpu("L40S"), 2 * cpus);
    const auto hosts = AddServerVertices(cluster, 0, cpu, cpus);
    for (uint32_t i = 0; i < gpus.size(); ++i)
    {
        AddPcieLink(cluster, gpus[i], hosts[i / 2], 4);
    }
    for (uint32_t i = 1; i < cpus; ++i)
    {
        AddDefaultLink(cluster, hosts[0], hosts[i], LinkTechnology::CPU_INTERCONNECT, 40e9);
    }
    return cluster;
}

/// @return what a collective takes that every group of some GPUs begins at once, seconds
double
GetSeconds(const Cluster& cluster,
           const std::vector<std::vector<DeviceId>>& groups,
           Collective collective,
           const std::string& executor)
{
    return 1e-6 * GetEndUs(RunTogether(cluster, groups, collective, BYTES, executor));
}

} // namespace

/**
 * @ingroup proteus-tests
 * What devices copy through the memory of a CPU is written there and read there. No more of both
 * together than it moves, by whomever; CPUs do not forward it.
 */
class StagingTest : public TestCase
{
  public:
    StagingTest()
        : TestCase("copies through the memory of a CPU share what it moves")
    {
    }

  private:
    void DoRun() override
    {
        const Cluster one = MakeHost(BYTES_PER_SECOND, 1);
        const Cluster two = MakeHost(BYTES_PER_SECOND, 2);
        const Cluster unknown = MakeHost(0, 1);
        for (const std::string executor : {"packet", "flow"})
        {
            const auto expect = [&](const Cluster& cluster,
                                    const std::vector<std::vector<DeviceId>>& groups,
                                    Collective collective,
                                    double seconds,
                                    const char* what) {
                NS_TEST_EXPECT_MSG_EQ_TOL(GetSeconds(cluster, groups, collective, executor) /
                                              seconds,
                                          1,
                                          0.02,
                                          executor << ": " << what);
            };
            expect(one, {{0, 1}}, Collective::BROADCAST, COPY_S, "one copy");
            expect(one, {{0, 1}, {1, 0}}, Collective::SEND_RECV, 2 * COPY_S, "both ways");
            expect(two, {{0, 1}, {2, 3}}, Collective::BROADCAST, COPY_S, "a memory each");
            expect(two, {{0, 2}, {1, 3}}, Collective::BROADCAST, 2 * COPY_S, "one for both");
            NS_TEST_EXPECT_MSG_LT(GetSeconds(unknown, {{0, 1}}, Collective::SEND_RECV, executor),
                                  COPY_S,
                                  executor << ": no limit where none is known");
        }
    }
};

/**
 * @ingroup proteus-tests
 * The memory of hosts that devices copy through.
 */
class StagingTestSuite : public TestSuite
{
  public:
    StagingTestSuite()
        : TestSuite("proteus-staging")
    {
        AddTestCase(new StagingTest, TestDuration::QUICK);
    }
};

static StagingTestSuite g_stagingTestSuite;
