/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "layer-net.h"
#include "schedule-theory.h"

#include "ns3/proteus-iteration-times.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace ns3::proteus;

namespace
{

std::vector<IdealLayer>
MakeRandomLayers(std::mt19937_64& random)
{
    std::vector<IdealLayer> layers(1 + random() % 10);
    for (IdealLayer& layer : layers)
    {
        layer = {static_cast<int64_t>(1 + random() % 1000000),
                 static_cast<int64_t>(1 + random() % 1000000),
                 1 + random() % 2000};
    }
    return layers;
}

} // namespace

TEST(IterationTimes, LeastPeriodOfLayersIsThatOfTheTheory)
{
    std::mt19937_64 random(5);
    for (int i = 0; i < 300; ++i)
    {
        const std::vector<IdealLayer> layers = MakeRandomLayers(random);
        IdealLink link;
        link.bytesPerSecond = 1e9; // 1000 ps per byte
        const LayerNet net = MakeLayerNet(layers);
        std::vector<int64_t> timesPs;
        for (const Task& task : net.graph.GetTasks())
        {
            timesPs.push_back(task.kind == TaskKind::COMMUNICATION
                                  ? static_cast<int64_t>(task.bytes) * 1000
                                  : task.durationPs);
        }
        const double leastS =
            FindLeastPeriodS(net.graph, net.carried, timesPs, {Parallelism::DATA});
        EXPECT_NEAR(leastS * 1e12, GetLeastIterationS(GetLayerTimes(layers, link)) * 1e12, 1);
        // Of what is not looked at, kernels alone are left.
        double computeS = 0;
        for (const IdealLayer& layer : layers)
        {
            computeS += static_cast<double>(layer.backwardPs + layer.forwardPs) * 1e-12;
        }
        EXPECT_NEAR(FindLeastPeriodS(net.graph, net.carried, timesPs, {Parallelism::EXPERT}),
                    computeS,
                    1e-15);
    }
}

TEST(IterationTimes, MeasuresKernels)
{
    // Two iterations on two devices: kernels of 10 and 20, an all-reduce of 5 between them that
    // nothing hides, and an update beside the kernels that does not count.
    const LayerNet net = MakeLayerNet({{10, 20, 1}});
    const RepeatedGraph repeated = net.Repeat(3, CrossIteration::TENSOR);
    Timeline timeline;
    int64_t nowPs = 100;
    for (TaskId id = 0; id < repeated.graph.GetNTasks(); ++id)
    {
        const Task& task = repeated.graph.GetTask(id);
        const int64_t lengthPs = task.kind == TaskKind::COMMUNICATION ? 5 : task.durationPs;
        if (task.kind == TaskKind::COMMUNICATION || task.place == 0)
        {
            timeline.spans.push_back({0, id, 0, nowPs, nowPs + lengthPs});
            nowPs += lengthPs;
        }
    }
    const IterationTimes times = MeasureIterations(repeated.graph, repeated, timeline);
    EXPECT_EQ(times.timesPs, (std::vector<int64_t>{130, 35, 35}));
    EXPECT_EQ(times.steadyPs, 35);
    EXPECT_EQ(times.computePs, 30);
    EXPECT_EQ(GetTaskTimes(repeated.graph, timeline)[0], 20);
}
