/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-search-report.h"

#include <gtest/gtest.h>
#include <optional>
#include <sstream>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// @return the table of one change, after which one GPU does in four seconds what four did in one
std::string
Print(SearchObjective objective)
{
    SearchOutcome outcome;
    outcome.objective.kind = objective;
    outcome.objective.samples = 8;
    outcome.candidates.resize(1);
    outcome.candidates[0].strategy = "dp=4";
    outcome.candidates[0].devices = 4;
    outcome.candidates[0].flow.seconds = 1;
    outcome.entries.resize(1);
    outcome.entries[0].values = {1.0, std::nullopt, 1.0};
    outcome.order = {0};
    SensitivityRow row;
    row.change = "twice the memory";
    row.best = "dp=1";
    row.bestSeconds = 4;
    row.bestValue = outcome.objective.GetValue(4, 1);
    std::ostringstream out;
    PrintSensitivity({row}, outcome, out);
    return out.str();
}

} // namespace

TEST(SearchReport, CausesOfWhatDoesNotRun)
{
    std::vector<SearchCandidate> candidates(5);
    candidates[1].flow.failure = "does not compile: --strategy: parameter \"w\" lies twice: once";
    candidates[2].flow.failure = "does not compile: tensor \"x\" is odd";
    candidates[3].flow.failure = "does not fit: needs 90 GB";
    candidates[4].flow.failure = "stopped";
    EXPECT_EQ(
        CountFailures(candidates),
        (PrunedPlans{{"compiled: does not compile, the first: parameter \"w\" lies twice: once", 2},
                     {"compiled: does not fit, the first: needs 90 GB", 1},
                     {"compiled: stopped", 1}}));
}

TEST(SearchSensitivity, ComparesWhatIsWanted)
{
    EXPECT_NE(Print(SearchObjective::TIME).find("+300.000 %"), std::string::npos)
        << Print(SearchObjective::TIME);
    const std::string perGpu = Print(SearchObjective::THROUGHPUT_PER_GPU);
    EXPECT_NE(perGpu.find("GPU time per sample"), std::string::npos) << perGpu;
    EXPECT_NE(perGpu.find("+0.000 %"), std::string::npos) << perGpu;
}
