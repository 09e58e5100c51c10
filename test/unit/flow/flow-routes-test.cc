/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-connection.h"
#include "ns3/proteus-flow-routes.h"
#include "ns3/proteus-group-trees.h"
#include "ns3/proteus-group.h"
#include "ns3/proteus-nic-table.h"
#include "ns3/proteus-paths.h"
#include "ns3/proteus-server-preset.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
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

// Sums of switches go over the root and the links that packets choose, so that groups spread over
// equal switches as they do there.
TEST(FlowRoutes, GroupsHaveTheTreesOfPackets)
{
    FabricOptions fabric;
    fabric.kind = "leaf-spine";
    fabric.serversPerLeaf = 2;
    fabric.spines = 4;
    const Cluster cluster = MakeCluster("dgx-h100", 8, fabric);
    const Paths paths(cluster);
    FlowRoutes routes(cluster, paths, FlowParameters());
    const auto& links = cluster.GetLinks();
    std::vector<VertexId> members;
    for (DeviceId device = 0; device < 64; device += 8)
    {
        members.push_back(cluster.GetGpus()[device]);
    }
    std::set<VertexId> roots;
    for (uint32_t ordinal = 0; ordinal < 32; ++ordinal)
    {
        SCOPED_TRACE(ordinal);
        GroupOptions options;
        options.members = members;
        for (const VertexId member : members)
        {
            options.nics.push_back(cluster.GetNic(member));
        }
        options.flow = GetGroupFlow(cluster, members, ordinal);
        Group group;
        group.Build(cluster, paths, options, [&](LinkId link) { return links[link].framing; });
        roots.insert(group.planes.front().nodes.front().vertex);

        GroupConnection sum;
        sum.members = members;
        sum.flow = options.flow;
        std::set<LinkId> taken; // both ways
        for (const FlowUse& use : routes.GetRoute(routes.PlanGroup(sum)).uses)
        {
            if (use.resource < routes.GetResources().size() && use.payload > 0)
            {
                for (const uint32_t port : routes.GetResources()[use.resource].ports)
                {
                    taken.insert(port / 2);
                }
            }
        }
        EXPECT_EQ(std::vector<LinkId>(taken.begin(), taken.end()), group.links);
    }
    EXPECT_EQ(roots.size(), 4u) << "all spines";
}

// A message has a header and an acknowledgement, and clear-to-send, however short it is.
TEST(FlowRoutes, ShortMessagesTakeMoreOfANetwork)
{
    const Cluster cluster = MakeCluster("pcie-v100x8", 2, FabricOptions());
    const Paths paths(cluster);
    const NicTable nics(cluster);
    FlowRoutes routes(cluster, paths, FlowParameters());
    const Connection connection = PlanConnection(cluster, paths, nics, 0, 0, 0, 8);
    const auto plan = [&](uint32_t messageBytes) {
        return routes.GetRoute(routes.Plan(connection, 0, messageBytes).route);
    };
    const auto find = [&](uint32_t messageBytes, bool comesFirst) {
        double most = 0;
        for (const FlowUse& use : plan(messageBytes).uses)
        {
            most = use.comesFirst == comesFirst ? std::max(most, use.amount) : most;
        }
        return most;
    };
    // RoCE: a header of 82 bytes, a control unit of 86.
    EXPECT_NEAR(find(512, false), 1 + (82 + 86) / 512.0, 1e-9);
    EXPECT_NEAR(find(512, true), 2 * 86 / 512.0, 1e-9);
    EXPECT_LT(plan(512).latencyPs, plan(0).latencyPs);
    EXPECT_NEAR(find(32768, false), find(0, false), 0.005);
    EXPECT_EQ(plan(1 << 20), plan(0));
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

// What comes off a network waits in a CPU's input for what went to the other socket before: for as
// long as in a queue whose units come at random.
TEST(FlowRoutes, UnitsWaitInInputsOfCpus)
{
    constexpr double FORWARD = 40e9; // bytes per second
    for (const double between : {30e9, 22e9, 12e9, 5e9})
    {
        SCOPED_TRACE(between);
        Cluster cluster("two servers");
        Vertex sums{"hub", VertexKind::SWITCH, -1};
        sums.multicast = true;
        sums.reduction = true;
        const VertexId hub = cluster.AddVertex(sums);
        const auto link =
            [&cluster](VertexId a, VertexId b, LinkTechnology technology, double rate) {
                cluster.AddLink({a, b, technology, rate, 250000, LinkFraming()});
            };
        for (int32_t server = 0; server < 2; ++server)
        {
            const auto cpus = AddServerVertices(cluster, server, MakeCpu(FORWARD), 2);
            const auto gpus = AddServerVertices(cluster, server, MakeGpu("V100-SXM2-16GB"), 6);
            const VertexId nic = AddServerVertices(cluster, server, VertexKind::NIC, 1).front();
            const VertexId beside =
                AddServerVertices(cluster, server, VertexKind::PCIE_SWITCH, 1).front();
            link(cpus[0], cpus[1], LinkTechnology::CPU_INTERCONNECT, between);
            // The last one is beside the NIC, and would relay what the others send. So the NIC
            // writes to them, too.
            for (std::size_t i = 0; i < 5; ++i)
            {
                link(gpus[i], cpus[i < 3 ? 0 : 1], LinkTechnology::PCIE, 60e9);
                link(gpus[i], gpus[5], LinkTechnology::NVLINK, 60e9);
            }
            link(gpus[5], beside, LinkTechnology::PCIE, 60e9);
            link(nic, beside, LinkTechnology::PCIE, 60e9);
            link(beside, cpus[0], LinkTechnology::PCIE, 60e9);
            link(nic, hub, LinkTechnology::INFINIBAND, 50e9);
        }
        const Paths paths(cluster);
        const NicTable nics(cluster);
        FlowRoutes routes(cluster, paths, FlowParameters());
        const auto sumQueueing = [&routes](uint32_t route) {
            double seconds = 0;
            for (const FlowUse& use : routes.GetRoute(route).uses)
            {
                const bool isQueue = use.resource >= routes.GetFirstQueue() &&
                                     use.resource < routes.GetEndOfQueues();
                seconds += isQueue ? use.amount : 0;
            }
            return seconds;
        };
        TransportRules rules; // two GPUs at a CPU write to each other
        rules.p2pLevel = PathType::SYS;
        const auto findQueueing = [&](DeviceId from, DeviceId to) {
            const Connection connection =
                PlanConnection(cluster, paths, nics, 0, 0, from, to, true, rules);
            return sumQueueing(routes.Plan(connection, 0).route);
        };
        GroupConnection sum;
        sum.members = {cluster.GetGpus()[0], cluster.GetGpus()[9]};
        EXPECT_EQ(sumQueueing(routes.PlanGroup(sum)), 0) << "of a switch";
        EXPECT_NEAR(findQueueing(0, 1), 1 / FORWARD, 1e-15) << "not off the network";
        EXPECT_NEAR(findQueueing(0, 6), 1 / FORWARD, 1e-15) << "to the near socket";

        // Two of five go to the far one.
        constexpr uint32_t UNITS = 1000000;
        std::mt19937 random(1);
        double comes = 0;
        double isFree = 0;
        uint32_t slow = 0;
        for (uint32_t i = 0; i < UNITS; ++i)
        {
            comes += 1 / FORWARD;
            if (random() % 5 < 2)
            {
                ++slow;
                comes = std::max(comes, isFree);
                isFree = comes + 1 / between;
            }
        }
        const double fast = (UNITS - slow) / FORWARD;
        EXPECT_NEAR(slow * findQueueing(0, 9) + fast, comes, 0.003 * comes);

        FlowParameters outputQueues;
        outputQueues.cpuInputQueues = false;
        const FlowRoutes free(cluster, paths, outputQueues);
        EXPECT_EQ(free.GetFirstQueue(), free.GetEndOfQueues()) << "nothing is held up";
    }
}
