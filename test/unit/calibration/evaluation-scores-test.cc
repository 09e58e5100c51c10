/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-evaluation-scores.h"

#include <cmath>
#include <gtest/gtest.h>
#include <stdexcept>

using namespace ns3::proteus;

TEST(EvaluationScores, KendallCountsPairsInOrder)
{
    EXPECT_DOUBLE_EQ(GetKendallTau({1, 2, 3}, {10, 20, 30}), 1);
    EXPECT_DOUBLE_EQ(GetKendallTau({1, 2, 3}, {30, 20, 10}), -1);
    EXPECT_DOUBLE_EQ(GetKendallTau({1, 2, 3}, {10, 30, 20}), 1.0 / 3);
    // A tie in one of them: 5 pairs of 6 in order, tau-b = 5 / sqrt(5 * 6).
    EXPECT_DOUBLE_EQ(GetKendallTau({1, 2, 2, 3}, {1, 2, 3, 4}), 5 / std::sqrt(30.0));
    EXPECT_DOUBLE_EQ(GetKendallTau({1, 1}, {2, 2}), 1);
    EXPECT_DOUBLE_EQ(GetKendallTau({1, 1}, {1, 2}), 0);
    EXPECT_DOUBLE_EQ(GetKendallTau({}, {}), 1);
    EXPECT_THROW(GetKendallTau({1}, {1, 2}), std::invalid_argument);
}

TEST(EvaluationScores, ErrorsOrderAndSpeedAgainstPackets)
{
    const std::vector<EvaluatedStrategy> runs{
        {"a", "1", {{"packet", {1.0, 10}}, {"flow", {1.02, 0.1}}}},
        {"a", "2", {{"packet", {2.0, 40}}, {"flow", {1.9, 0.1}}}},
        {"b", "1", {{"packet", {3.0, 1}}, {"flow", {3.0, 0.1}}}},
        {"b", "2", {{"packet", {2.9, 1}}, {"flow", {3.1, 0.1}}}},
        {"c", "1", {{"packet", {1.0, 1}}}}}; // not run by the other
    const ExecutorScore score = ScoreExecutor(runs, "flow");
    EXPECT_EQ(score.strategies, 4u);
    EXPECT_EQ(score.workloads, 2u);
    EXPECT_NEAR(score.meanError, (0.02 + 0.05 + 0 + 0.2 / 2.9) / 4, 1e-12);
    EXPECT_NEAR(score.maxError, 0.2 / 2.9, 1e-12);
    EXPECT_EQ(score.worst, "b, 2");
    EXPECT_DOUBLE_EQ(score.meanTau, 0); // one workload in order, one the other way round
    EXPECT_DOUBLE_EQ(score.leastTau, -1);
    EXPECT_NEAR(score.geometricSpeedup, std::pow(100.0 * 400 * 10 * 10, 0.25), 1e-9);
    EXPECT_DOUBLE_EQ(score.leastSpeedup, 10);
    EXPECT_EQ(ScoreExecutor(runs, "distsim").strategies, 0u);
}
