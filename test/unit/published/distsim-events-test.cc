/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-distsim.h"
#include "ns3/proteus-paths.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// What is timed once (A14), which strategies there are (A15), and the measures of errors.

using namespace ns3::proteus;

namespace
{

/// 24 equal layers, 2M4P2D, 4 micro-batches; ranks stage by stage, then replica, then tensor.
ExecutionGraph
MakeLayers()
{
    constexpr int64_t FORWARD_PS = 1000000000;
    constexpr uint32_t LAYERS = 24;
    constexpr uint32_t STAGES = 4;
    GraphBuilder builder(16);
    const StreamId compute = builder.AddStream("compute");
    const StreamId communication = builder.AddStream("communication");
    const StreamId pipeline = builder.AddStream("pipeline");
    const PhaseId f = builder.AddPhase("forward", 4);
    const PhaseId b = builder.AddPhase("backward", 4);
    const PhaseId gradients = builder.AddPhase("gradients");
    for (uint32_t replica = 0; replica < 2; ++replica)
    {
        std::vector<std::vector<TaskId>> before(2);
        for (const bool isForward : {true, false})
        {
            for (uint32_t i = 0; i < LAYERS; ++i)
            {
                const uint32_t stage = (isForward ? i : LAYERS - 1 - i) / (LAYERS / STAGES);
                const PhaseId phase = isForward ? f : b;
                const DeviceId first = stage * 4 + replica * 2;
                std::vector<TaskId> both;
                for (uint32_t rank = 0; rank < 2; ++rank)
                {
                    both.push_back(builder.AddCompute(phase,
                                                      first + rank,
                                                      compute,
                                                      "layer",
                                                      isForward ? FORWARD_PS : 2 * FORWARD_PS,
                                                      before[rank]));
                }
                for (int k = 0; k < 2; ++k)
                {
                    both = {builder.AddCommunication(phase,
                                                     builder.AddGroup({first, first + 1}),
                                                     communication,
                                                     "tensor",
                                                     Collective::ALL_REDUCE,
                                                     1000,
                                                     Parallelism::TENSOR,
                                                     both)};
                }
                before.assign(2, both);
                const bool isBoundary = (i + 1) % (LAYERS / STAGES) == 0 && i + 1 < LAYERS;
                for (uint32_t rank = 0; rank < 2 && isBoundary; ++rank)
                {
                    const DeviceId next = isForward ? first + 4 : first - 4;
                    before[rank] = {
                        builder.AddCommunication(phase,
                                                 builder.AddGroup({first + rank, next + rank}),
                                                 pipeline,
                                                 "boundary",
                                                 Collective::SEND_RECV,
                                                 2000,
                                                 Parallelism::PIPELINE,
                                                 both)};
                }
            }
        }
    }
    for (uint32_t stage = 0; stage < STAGES; ++stage)
    {
        for (uint32_t rank = 0; rank < 2; ++rank)
        {
            const DeviceId first = stage * 4 + rank;
            builder.AddCommunication(gradients,
                                     builder.AddGroup({first, first + 2}),
                                     communication,
                                     "gradients",
                                     Collective::ALL_REDUCE,
                                     3000,
                                     Parallelism::DATA);
        }
    }
    return builder.Build();
}

} // namespace

TEST(DistSim, A14Deduplication)
{
    const ExecutionGraph graph = MakeLayers();
    const Cluster hosts = MakeHostCluster(16,
                                          FabricOptions(),
                                          LinkTechnology::ROCE,
                                          12.5e9,
                                          1000000,
                                          DefaultFraming(LinkTechnology::ROCE));
    const Cluster servers = MakeCluster("dgx-a100", 2);
    for (const auto& [cluster, unique] :
         std::vector<std::pair<const Cluster*, uint64_t>>{{&hosts, 5}, {&servers, 6}})
    {
        SCOPED_TRACE(cluster->GetName());
        const EventCatalogue catalogue(graph, *cluster);
        EXPECT_EQ(catalogue.GetEvents().size(), unique);
        EXPECT_EQ(catalogue.CountEvents(TaskKind::COMPUTE), 2u);
        EXPECT_EQ(catalogue.CountInstances(TaskKind::COMPUTE), 768u);
        EXPECT_EQ(catalogue.CountInstances(TaskKind::COMMUNICATION), 1536u + 96 + 16);
        std::map<uint64_t, uint64_t> instances; // by size
        for (const UniqueEvent& event : catalogue.GetEvents())
        {
            const Task& task = graph.GetTask(event.example);
            instances[task.kind == TaskKind::COMPUTE ? 0 : task.bytes] += event.instances;
        }
        EXPECT_EQ(instances,
                  (std::map<uint64_t, uint64_t>{{0, 768}, {1000, 1536}, {2000, 96}, {3000, 16}}));
    }
    // Each is timed once.
    uint64_t runs = 0;
    DistSimOptions options;
    RunDistSim(
        graph,
        MakeCluster("dgx-a100", 2),
        [&runs](const Task& task, const std::vector<DeviceId>& group) {
            ++runs;
            return std::vector<int64_t>(group.size(), static_cast<int64_t>(task.bytes));
        },
        options);
    EXPECT_EQ(runs, 4u);
}

// Where it matters, equal sizes are not enough: NVLink pairs of a DGX-1 have one link or two, or
// none.
TEST(DistSim, PlacementsDifferByLinks)
{
    const Cluster cluster = MakeCluster("dgx1-v100", 2);
    const Paths paths(cluster);
    auto text = [&](const std::vector<DeviceId>& group) {
        return DescribePlacement(cluster, paths, group);
    };
    EXPECT_EQ(text({0, 1}), text({8, 9}));
    EXPECT_EQ(text({0, 3}), text({0, 4})); // two links
    EXPECT_NE(text({0, 1}), text({0, 3})); // one and two
    EXPECT_NE(text({0, 1}), text({0, 5})); // one and none
    EXPECT_NE(text({0, 1}), text({0, 8})); // another server
    EXPECT_NE(text({0, 8}), text({0, 1, 8}));
    EXPECT_THROW(text({0, 16}), std::invalid_argument);
    FabricOptions fabric;
    fabric.kind = "rail-optimised";
    fabric.serversPerGroup = 1; // rails of one server each: all others are behind the spines
    const Cluster rails = MakeCluster("dgx-a100", 4, fabric);
    const Paths railPaths(rails);
    EXPECT_EQ(DescribePlacement(rails, railPaths, {0, 8}),
              DescribePlacement(rails, railPaths, {1, 9}));
}

TEST(DistSim, A15StrategyGrid)
{
    const std::vector<ParallelSizes> grid = ListParallelSizes(16);
    EXPECT_EQ(grid.size(), 15u);
    for (const ParallelSizes& sizes : grid)
    {
        EXPECT_EQ(sizes.tensor * sizes.pipeline * sizes.data, 16u);
    }
    EXPECT_EQ(std::count(grid.begin(), grid.end(), ParallelSizes{2, 1, 8}), 1);
    EXPECT_EQ(ListParallelSizes(1).size(), 1u);
}

TEST(DistSim, ErrorsOfBatchAndActivity)
{
    EXPECT_DOUBLE_EQ(GetBatchTimeError(97, 100), 0.03);
    Timeline actual;
    actual.endPs = 100;
    actual.spans = {{0, 0, 0, 0, 10}, {0, 1, 0, 40, 50}, {1, 2, 0, 5, 100}};
    Timeline predicted = actual;
    predicted.endPs = 90;
    predicted.spans = {{0, 0, 0, 2, 10}, {0, 1, 0, 36, 50}, {1, 2, 0, 9, 90}};
    const std::vector<double> errors = GetActivityErrors(predicted, actual, 3);
    EXPECT_DOUBLE_EQ(errors[0], 0.03); // starts 0 and 34 after the first, instead of 0 and 40
    EXPECT_DOUBLE_EQ(errors[1], 0);    // one span: the first
    EXPECT_DOUBLE_EQ(errors[2], 0);
    predicted.spans.pop_back();
    EXPECT_THROW(GetActivityErrors(predicted, actual, 3), std::invalid_argument);
}
