/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-task-instance.h"

#include <gtest/gtest.h>
#include <set>
#include <unordered_set>

using namespace ns3::proteus;

TEST(TaskInstance, IsAKeyByTaskAndThenMicroBatch)
{
    std::set<TaskInstance> ordered;
    std::unordered_set<TaskInstance> hashed;
    for (uint32_t i = 0; i < 400; ++i)
    {
        const TaskInstance instance{i % 20, (i * 7) % 10};
        ordered.insert(instance);
        hashed.insert(instance);
    }
    // Steps through 20 tasks and 10 micro-batches meet after lcm(20, 10) of them.
    EXPECT_EQ(ordered.size(), 20u);
    EXPECT_EQ(hashed.size(), 20u);
    EXPECT_LT((TaskInstance{1, 9}), (TaskInstance{2, 0}));
    EXPECT_LT((TaskInstance{1, 8}), (TaskInstance{1, 9}));
    EXPECT_NE((TaskInstance{1, 2}), (TaskInstance{2, 1}));
    EXPECT_NE(std::hash<TaskInstance>()({1, 2}), std::hash<TaskInstance>()({2, 1}));
}
