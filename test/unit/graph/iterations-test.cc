/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../schedule/layer-net.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-graph-iterations.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

constexpr int64_t PS_PER_BYTE = 1000;

std::vector<int64_t>
RunSteps(const std::vector<IdealLayer>& layers, uint32_t iterations, CrossIteration cross)
{
    const LayerNet net = MakeLayerNet(layers);
    const RepeatedGraph repeated = net.Repeat(iterations, cross);
    const Cluster cluster = MakeCluster("dgx-a100", 1);
    FlowClock clock;
    LinkNetwork network(repeated.graph, clock, PS_PER_BYTE);
    FlowExecutor executor(repeated.graph, cluster, RuntimeOptions(), clock, network);
    return GetForwardSteps(executor.Run(), repeated);
}

} // namespace

TEST(GraphIterations, OneIsTheSame)
{
    const LayerNet net = MakeLayerNet({{1, 2, 3}, {4, 5, 6}});
    for (const CrossIteration cross : {CrossIteration::BARRIER, CrossIteration::TENSOR})
    {
        const RepeatedGraph repeated = net.Repeat(1, cross);
        EXPECT_EQ(repeated.graph, net.graph);
        EXPECT_EQ(repeated.carried, net.carried);
        for (TaskId id = 0; id < net.graph.GetNTasks(); ++id)
        {
            EXPECT_EQ(repeated.original[id], id);
        }
    }
    // Six at once are two times three.
    const RepeatedGraph six = net.Repeat(6, CrossIteration::TENSOR);
    const RepeatedGraph three = net.Repeat(3, CrossIteration::TENSOR);
    const RepeatedGraph product =
        RepeatGraph(three.graph, three.carried, 2, CrossIteration::TENSOR);
    ASSERT_EQ(six.graph.GetNTasks(), product.graph.GetNTasks());
    EXPECT_EQ(six.carried, product.carried);
    for (TaskId id = 0; id < six.graph.GetNTasks(); ++id)
    {
        const IdRange dependencies = six.graph.GetDependencies(id);
        const IdRange others = product.graph.GetDependencies(id);
        EXPECT_TRUE(
            std::equal(dependencies.begin(), dependencies.end(), others.begin(), others.end()));
    }
}

TEST(GraphIterations, ArrivalOrderTakesWhatTheTheorySays)
{
    // The last gradient that comes is the first that the forward pass needs, so that a barrier
    // costs nothing: both ways take the closed form, from the second step on.
    std::mt19937_64 random(3);
    for (int i = 0; i < 20; ++i)
    {
        std::vector<IdealLayer> layers(1 + random() % 6);
        for (IdealLayer& layer : layers)
        {
            layer = {static_cast<int64_t>(random() % 1000000),
                     static_cast<int64_t>(random() % 1000000),
                     1 + random() % 2000};
        }
        IdealLink link;
        link.bytesPerSecond = 1e12 / PS_PER_BYTE;
        const auto expected = static_cast<int64_t>(
            std::llround(GetArrivalOrderS(GetLayerTimes(layers, link)) * 1e12));
        for (const CrossIteration cross : {CrossIteration::BARRIER, CrossIteration::TENSOR})
        {
            const std::vector<int64_t> steps = RunSteps(layers, 4, cross);
            EXPECT_EQ(steps[1], expected) << ToString(cross);
            EXPECT_EQ(steps[2], expected) << ToString(cross);
            EXPECT_EQ(steps[3], expected) << ToString(cross);
        }
    }
}

TEST(GraphIterations, CopiesEverythingButPersistentTensors)
{
    GraphBuilder builder(2);
    const StreamId compute = builder.AddStream("compute");
    const PhaseId forward = builder.AddPhase("forward", 4);
    const PhaseId other = builder.AddPhase("other");
    const TaskId weights = builder.AddMemory(other, 0, "weights", 100, {}, true);
    const TaskId a = builder.AddCompute(forward, 0, compute, "a", int64_t{10}, {weights});
    const TaskId tensor = builder.AddMemory(forward, 0, "tensor", 50, {a});
    const TaskId b = builder.AddCompute(other, 0, compute, "b", int64_t{10}, {tensor});
    builder.AddCompute(other, 1, compute, "c", int64_t{10});
    builder.SetSchedule(0, {{forward, 0}, {forward, 2}, {forward, 1}, {forward, 3}, {other, 0}});
    builder.AddGate({0, forward, forward, 2});
    const ExecutionGraph graph = builder.Build();
    const std::vector<CarriedDependency> carried{{b, a}};
    const RepeatedGraph repeated = RepeatGraph(graph, carried, 3, CrossIteration::TENSOR);
    EXPECT_EQ(repeated.graph.GetNTasks(), 3 * graph.GetNTasks() - 2);
    EXPECT_EQ(repeated.graph.GetGates().size(), 3u);
    EXPECT_EQ(repeated.graph.GetSchedule(0).size(), 15u);
    EXPECT_EQ(repeated.graph.GetPhases()[4].name, "forward#3");
    EXPECT_EQ(repeated.iterationOf, (std::vector<uint32_t>{0, 0, 1, 1, 2, 2}));
    EXPECT_EQ(repeated.graph.GetSchedule(0)[6], (ScheduleEntry{2, 2}));
    // In the second iteration, "a" needs the weights, of which there is one, and "b" of the first.
    const TaskId second = graph.GetNTasks();
    EXPECT_EQ(repeated.original[second], a);
    const IdRange needs = repeated.graph.GetDependencies(second);
    EXPECT_EQ(std::vector<TaskId>(needs.begin(), needs.end()), (std::vector<TaskId>{weights, b}));
    // A barrier on each device, which everything of the second iteration comes behind.
    const RepeatedGraph barred = RepeatGraph(graph, carried, 2, CrossIteration::BARRIER);
    EXPECT_EQ(barred.graph.GetNTasks(), 2 * graph.GetNTasks() - 1 + 2);
    std::set<TaskId> barriers;
    for (TaskId id = 0; id < barred.graph.GetNTasks(); ++id)
    {
        if (barred.original[id] == NO_ID)
        {
            barriers.insert(id);
            EXPECT_GT(barred.graph.GetDependencies(id).size(), 0u);
        }
    }
    EXPECT_EQ(barriers.size(), 2u);
    for (TaskId id = *barriers.rbegin() + 1; id < barred.graph.GetNTasks(); ++id)
    {
        const TaskId first = *barred.graph.GetDependencies(id).begin();
        EXPECT_TRUE(first == weights || first >= *barriers.begin()) << id;
    }
}

TEST(GraphIterations, BarriersHaveANameOfTheirOwn)
{
    GraphBuilder builder(1);
    const StreamId stream = builder.AddStream("compute");
    builder.AddCompute(builder.AddPhase("iteration"), 0, stream, "a", int64_t{1});
    const RepeatedGraph repeated = RepeatGraph(builder.Build(), {}, 3, CrossIteration::BARRIER);
    EXPECT_EQ(repeated.graph.GetPhases()[1].name, "iteration-barrier#2");
    EXPECT_EQ(repeated.graph.GetPhases()[2].name, "iteration#2");
}

TEST(GraphIterations, Mistakes)
{
    const ExecutionGraph graph = MakeLayerNet({{1, 2, 3}}).graph;
    const auto repeat = [&graph](const std::vector<CarriedDependency>& carried, uint32_t times) {
        return RepeatGraph(graph, carried, times, CrossIteration::TENSOR);
    };
    EXPECT_THROW(repeat({}, 0), std::invalid_argument);
    EXPECT_THROW(repeat({}, 1000000000), std::invalid_argument);
    // As many phases as there are numbers; one iteration more is refused before any is made.
    EXPECT_EQ(graph.GetPhases().size(), 4U);
    for (const CrossIteration cross : {CrossIteration::TENSOR, CrossIteration::BARRIER})
    {
        const uint32_t most = cross == CrossIteration::TENSOR ? 16384 : 13107;
        EXPECT_EQ(RepeatGraph(graph, {}, most, cross).iterations, most);
        try
        {
            RepeatGraph(graph, {}, most + 1, cross);
            ADD_FAILURE() << "not refused";
        }
        catch (const std::invalid_argument& error)
        {
            const std::string text = error.what();
            EXPECT_NE(text.find("; give 1 to " + std::to_string(most)), std::string::npos) << text;
        }
    }
    EXPECT_THROW(repeat({{0, graph.GetNTasks()}}, 2), std::invalid_argument);
    EXPECT_NE(graph.GetTask(0).place, graph.GetTask(2).place);
    EXPECT_THROW(repeat({{0, 2}}, 2), std::invalid_argument); // on different devices
    EXPECT_THROW(CrossIterationFromString("none"), std::invalid_argument);
    EXPECT_EQ(CrossIterationFromString("tensor"), CrossIteration::TENSOR);
}
