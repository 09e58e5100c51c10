/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../schedule/schedule-theory.h"
#include "collective-clusters.h"

#include "ns3/proteus-program.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// What a program moves between hosts.
struct HostTraffic
{
    std::vector<uint64_t> sent;     //!< by host
    std::vector<uint64_t> received; //!< by host
};

HostTraffic
CountHostTraffic(const CollectiveProgram& program, uint32_t hosts, uint32_t gpus)
{
    HostTraffic traffic{std::vector<uint64_t>(hosts), std::vector<uint64_t>(hosts)};
    for (uint32_t rank = 0; rank < program.ranks.size(); ++rank)
    {
        for (const ThreadBlock& block : program.ranks[rank].blocks)
        {
            for (const Step& step : block.steps)
            {
                if (Sends(step.kind) && block.sendPeer / gpus != rank / gpus)
                {
                    traffic.sent[rank / gpus] += step.bytes;
                    traffic.received[block.sendPeer / gpus] += step.bytes;
                }
            }
        }
    }
    return traffic;
}

CollectiveRequest
MakeRequest(const Cluster& cluster, uint64_t bytes, uint32_t servers)
{
    CollectiveRequest request;
    request.algorithm = "host-parameter-server";
    request.bytes = bytes;
    request.vertices = cluster.GetGpus();
    request.parameterServers = servers;
    return request;
}

} // namespace

TEST(HostParameterServer, SumsUpAndMovesWhatTheTheorySays)
{
    for (const uint32_t hosts : {2, 3, 4})
    {
        for (const uint32_t gpus : {1, 2, 8})
        {
            const Cluster cluster = MakeReducingCluster(hosts, gpus);
            const Paths paths(cluster);
            for (uint32_t servers = 1; servers <= hosts; ++servers)
            {
                const uint64_t bytes = uint64_t{1024} * hosts * gpus * servers;
                const CollectiveRequest request = MakeRequest(cluster, bytes, servers);
                const CollectiveProgram program = MakeProgram(cluster, paths, request);
                EXPECT_EQ(CheckProgram(program, request), "")
                    << hosts << " x " << gpus << ", " << servers << " servers";
                const HostTraffic traffic = CountHostTraffic(program, hosts, gpus);
                // Acceptance case C10: the busiest direction of a host's links.
                const double busiest = GetParameterServerS(static_cast<double>(bytes),
                                                           hosts,
                                                           servers,
                                                           ServerPlace::WORKER_HOSTS,
                                                           1);
                EXPECT_DOUBLE_EQ(
                    static_cast<double>(std::max(
                        *std::max_element(traffic.sent.begin(), traffic.sent.end()),
                        *std::max_element(traffic.received.begin(), traffic.received.end()))),
                    busiest);
            }
        }
    }
}

TEST(HostParameterServer, NeedsHostsForItsServers)
{
    const Cluster cluster = MakeReducingCluster(2, 2);
    const Paths paths(cluster);
    EXPECT_THROW(MakeProgram(cluster, paths, MakeRequest(cluster, 1024, 0)), std::invalid_argument);
    EXPECT_THROW(MakeProgram(cluster, paths, MakeRequest(cluster, 1024, 3)), std::invalid_argument);
}
