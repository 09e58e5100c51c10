/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-graph.h"
#include "ns3/proteus-stall-circle.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::proteus;

namespace
{

/// Collectives of pairs of three devices, in one stream.
class StallCircle : public testing::Test
{
  protected:
    /// @param order of the stream @param groups of the tasks, which get the numbers 0, 1, ...
    /// @param collective of all @param hasKernels whether device 0 has a kernel with a time and
    /// two without
    ExecutionGraph Build(StreamOrder order,
                         const std::vector<std::vector<DeviceId>>& groups,
                         Collective collective = Collective::ALL_REDUCE,
                         bool hasKernels = false)
    {
        GraphBuilder builder(3);
        const StreamId stream = builder.AddStream("communication", order);
        const PhaseId phase = builder.AddPhase("iteration");
        for (const auto& group : groups)
        {
            builder.AddCommunication(phase,
                                     builder.AddGroup(group),
                                     stream,
                                     "task",
                                     collective,
                                     1000,
                                     Parallelism::DATA);
        }
        for (uint64_t kernel = 0; hasKernels && kernel < 2; ++kernel)
        {
            builder.AddCompute(phase, 0, stream, "timeless", 1e6, 1000 * kernel, DataType::BF16);
        }
        if (hasKernels)
        {
            builder.AddCompute(phase, 0, stream, "timed", int64_t{1000});
        }
        for (DeviceId device = 0; device < 3; ++device)
        {
            builder.SetSchedule(device, {{phase, 0}});
        }
        return builder.Build();
    }
};

} // namespace

TEST_F(StallCircle, OfTwoIsFoundBeforeALongerOne)
{
    const auto graph = Build(StreamOrder::READY, {{0, 1}, {1, 2}, {0, 2}, {0, 1}});
    // 0 waits for 1, 1 for 2, 2 for 0; and 0 and 1 for each other.
    const auto circle = FindStallCircle(graph, {{0, 0}, {1, 1}, {2, 2}, {1, 3}});
    ASSERT_EQ(circle.size(), 2u);
    EXPECT_EQ(circle[0].joined.task, 0u);
    EXPECT_EQ(circle[0].waitsFor, 1u);
    EXPECT_EQ(circle[1].joined.task, 3u);
    EXPECT_EQ(circle[1].waitsFor, 0u);
    EXPECT_EQ(DescribeStallCircle(graph, circle),
              "devices come to communications in different orders, and each waits for the next:\n"
              "  device 0 is in 'task' (task 0, micro-batch 0) and waits there for device 1\n"
              "  device 1 is in 'task' (task 3, micro-batch 0) and waits there for device 0\n"
              "The trace does not order them, so that each device begins with what is ready first, "
              "which the times of kernels decide. Dependencies between them put them into one "
              "order.\n");
}

TEST_F(StallCircle, SaysWhichOptionTimesKernels)
{
    const auto graph = Build(StreamOrder::READY, {{0, 1}, {0, 1}}, Collective::ALL_REDUCE, true);
    const auto circle = FindStallCircle(graph, {{0, 0}, {1, 1}});
    ASSERT_EQ(circle.size(), 2u);
    EXPECT_NE(DescribeStallCircle(graph, circle)
                  .find("2 of 3 kernels have no time of their own and take --launchInterval at "
                        "least: a longer one may put them into one order (without the option it is "
                        "113 us)"),
              std::string::npos);
}

TEST_F(StallCircle, OfThreeIsFound)
{
    const auto graph = Build(StreamOrder::IN_ORDER, {{0, 1}, {1, 2}, {0, 2}});
    const auto circle = FindStallCircle(graph, {{0, 0}, {1, 1}, {2, 2}});
    ASSERT_EQ(circle.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i)
    {
        EXPECT_EQ(circle[i].waitsFor, circle[(i + 1) % 3].joined.device);
    }
    EXPECT_NE(DescribeStallCircle(graph, circle).find("in one order"), std::string::npos);
}

TEST_F(StallCircle, IsNoneWhereSomebodyIsInNothing)
{
    const auto graph = Build(StreamOrder::READY, {{0, 1}, {1, 2}, {0, 2}});
    EXPECT_TRUE(FindStallCircle(graph, {{0, 0}, {1, 1}}).empty()); // 2 computes for ever
    EXPECT_TRUE(FindStallCircle(graph, {}).empty());
    EXPECT_EQ(DescribeStallCircle(graph, {}), "");
}

TEST_F(StallCircle, CountsNobodyWhoMayHaveLeft)
{
    // The root of a broadcast goes on before the others have come.
    const auto graph = Build(StreamOrder::READY, {{0, 1}, {0, 1}}, Collective::BROADCAST);
    EXPECT_TRUE(FindStallCircle(graph, {{0, 0}, {1, 1}}).empty());
    // Receives that have been posted hold nobody; messages hold their senders.
    const auto messages = Build(StreamOrder::READY, {{0, 1}, {1, 0}}, Collective::SEND_RECV);
    EXPECT_TRUE(FindStallCircle(messages, {{1, 0}, {0, 1}}).empty());
    EXPECT_EQ(FindStallCircle(messages, {{0, 0}, {1, 1}}).size(), 2u);
}
