/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-connection.h"
#include "ns3/proteus-flow-routes.h"
#include "ns3/proteus-nic-table.h"
#include "ns3/proteus-paths.h"
#include "ns3/proteus-server-preset.h"

#include <gtest/gtest.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// What is found for many flows of one connection.
struct Found
{
    std::set<uint32_t> routes; //!< their ids
    uint32_t forAnyFlow{0};    //!< flows of which it is said that all have the same route
};

/// @return routes of a thousand flows between two GPUs
Found
PlanFlows(const Cluster& cluster, DeviceId from, DeviceId to)
{
    const Paths paths(cluster);
    const NicTable nics(cluster);
    FlowRoutes routes(cluster, paths, FlowParameters());
    const Connection connection = PlanConnection(cluster, paths, nics, 0, 0, from, to);
    Found found;
    for (uint64_t flow = 0; flow < 1000; ++flow)
    {
        const FlowRoutes::Planned planned = routes.Plan(connection, flow);
        found.routes.insert(planned.route);
        found.forAnyFlow += planned.isForAnyFlow ? 1 : 0;
    }
    return found;
}

} // namespace

// What is said to hold for any flow is not planned again: it must be so.
TEST(FlowRoutes, AFlowDecidesWhereLinksDiffer)
{
    FabricOptions fabric;
    fabric.kind = "leaf-spine";
    fabric.serversPerLeaf = 2;
    fabric.spines = 4;
    const Cluster cluster = MakeCluster("dgx-a100", 8, fabric);
    for (const auto& [to, routes] : {std::make_pair(DeviceId{5}, 1u),   // two NVLinks of a switch
                                     std::make_pair(DeviceId{8}, 1u),   // one leaf
                                     std::make_pair(DeviceId{56}, 4u)}) // four spines
    {
        SCOPED_TRACE("to GPU " + std::to_string(to));
        const Found found = PlanFlows(cluster, 0, to);
        EXPECT_EQ(found.routes.size(), routes);
        EXPECT_EQ(found.forAnyFlow, routes == 1 ? 1000u : 0u);
    }
}

// A unit has arrived as a whole at a CPU before that sends it on, at the rate at which it forwards.
TEST(FlowRoutes, AUnitWaitsWhereItIsForwarded)
{
    constexpr double RATE = 10e9; // bytes per second
    std::vector<FlowRoute> found;
    for (const double rate : {0.0, RATE})
    {
        Cluster cluster;
        const auto gpus = AddServerVertices(cluster, 0, MakeGpu("V100-SXM2-16GB"), 2);
        const auto cpus = AddServerVertices(cluster, 0, MakeCpu(rate), 2);
        for (uint32_t i = 0; i < 2; ++i)
        {
            AddPcieLink(cluster, gpus[i], cpus[i], 3);
        }
        AddDefaultLink(cluster, cpus[0], cpus[1], LinkTechnology::CPU_INTERCONNECT, 10e9);
        const Paths paths(cluster);
        const NicTable nics(cluster);
        FlowRoutes routes(cluster, paths, FlowParameters());
        const Connection connection = PlanConnection(cluster, paths, nics, 0, 0, 0, 1);
        found.push_back(routes.GetRoute(routes.Plan(connection, 0).route));
    }
    EXPECT_GT(found[0].unitBytes, 0);
    EXPECT_NEAR(static_cast<double>(found[1].latencyPs - found[0].latencyPs),
                2 * found[0].unitBytes / RATE * 1e12,
                2);
}
