/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "max-min-programs.h"

#include "ns3/proteus-max-min.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

using namespace ns3::proteus;

namespace
{

constexpr double INFINITE = std::numeric_limits<double>::infinity();

/// Random flows over random resources, with amounts and limits of all kinds.
MaxMinProblem
MakeRandom(std::mt19937_64& random)
{
    const auto number = [&random](uint32_t least, uint32_t most) {
        return std::uniform_int_distribution<uint32_t>(least, most)(random);
    };
    const auto real = [&random](double least, double most) {
        return std::uniform_real_distribution<double>(least, most)(random);
    };
    MaxMinProblem problem;
    const uint32_t resources = number(1, 6);
    const uint32_t flows = number(1, 8);
    const bool isPlain = number(0, 1) == 0; // whole numbers: many ties
    for (uint32_t i = 0; i < resources; ++i)
    {
        problem.capacities.push_back(isPlain ? number(1, 4) : real(0.5, 20));
    }
    for (uint32_t i = 0; i < flows; ++i)
    {
        std::vector<double> amounts(resources, 0);
        for (double& amount : amounts)
        {
            if (number(0, 2) == 0)
            {
                amount = isPlain ? 1 : real(0.1, 4);
            }
        }
        const bool usesNothing = *std::max_element(amounts.begin(), amounts.end()) <= 0;
        const bool hasLimit = usesNothing || number(0, 2) == 0;
        problem.limits.push_back(!hasLimit ? INFINITE : isPlain ? number(1, 2) : real(0.1, 5));
        problem.amounts.push_back(amounts);
    }
    return problem;
}

} // namespace

TEST(MaxMin, SharesOfKnownCases)
{
    // Bertsekas and Gallager, section 6.5.2: a flow over all links of a line, one over each.
    const MaxMinProblem line{{1, 1, 1},
                             {INFINITE, INFINITE, INFINITE, INFINITE},
                             {{1, 1, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    EXPECT_EQ(SolveByFilling(line), (std::vector<double>{0.5, 0.5, 0.5, 0.5}));
    // What a flow leaves that is held up elsewhere goes to the others.
    const MaxMinProblem chain{{1, 10}, {INFINITE, INFINITE, INFINITE}, {{1, 1}, {1, 0}, {0, 1}}};
    EXPECT_EQ(SolveByFilling(chain), (std::vector<double>{0.5, 0.5, 9.5}));
    // Two flows that stand as one take twice.
    const MaxMinProblem pair{{3}, {INFINITE, INFINITE}, {{2}, {1}}};
    EXPECT_EQ(SolveByFilling(pair), (std::vector<double>{1, 1}));
    const MaxMinProblem limited{{10}, {1, INFINITE, 4}, {{1}, {1}, {1}}};
    EXPECT_EQ(SolveByFilling(limited), (std::vector<double>{1, 5, 4}));
    EXPECT_THROW(SolveByFilling({{1}, {INFINITE}, {{0}}}), std::invalid_argument);
}

TEST(MaxMin, AgreesWithLinearProgramsOnRandomCases)
{
    std::mt19937_64 random(7);
    for (int i = 0; i < 1000; ++i)
    {
        const MaxMinProblem problem = MakeRandom(random);
        const auto rates = SolveByFilling(problem);
        const auto expected = SolveByPrograms(problem);
        for (std::size_t flow = 0; flow < rates.size(); ++flow)
        {
            ASSERT_NEAR(rates[flow], expected[flow], 1e-7 * (1 + expected[flow]))
                << "case " << i << ", flow " << flow;
        }
    }
}

// An allocation is max-min fair if and only if it is feasible and every flow is at its limit or has
// a bottleneck: a full resource on which no flow has a larger rate (Bertsekas and Gallager).
TEST(MaxMin, GivesEveryFlowABottleneck)
{
    std::mt19937_64 random(11);
    for (int i = 0; i < 1000; ++i)
    {
        const MaxMinProblem problem = MakeRandom(random);
        const auto rates = SolveByFilling(problem);
        const std::size_t n = rates.size();
        std::vector<double> used(problem.capacities.size(), 0);
        std::vector<double> largest(problem.capacities.size(), 0);
        for (std::size_t f = 0; f < n; ++f)
        {
            EXPECT_LE(rates[f], problem.limits[f]);
            for (std::size_t r = 0; r < used.size(); ++r)
            {
                used[r] += problem.amounts[f][r] * rates[f];
                largest[r] = std::max(largest[r], problem.amounts[f][r] > 0 ? rates[f] : 0);
            }
        }
        for (std::size_t r = 0; r < used.size(); ++r)
        {
            EXPECT_LE(used[r], problem.capacities[r] * (1 + 1e-9)) << "case " << i;
        }
        for (std::size_t f = 0; f < n; ++f)
        {
            bool held = rates[f] >= problem.limits[f] * (1 - 1e-9);
            for (std::size_t r = 0; r < used.size(); ++r)
            {
                held |= problem.amounts[f][r] > 0 &&
                        used[r] >= problem.capacities[r] * (1 - 1e-9) &&
                        rates[f] >= largest[r] * (1 - 1e-9);
            }
            EXPECT_TRUE(held) << "case " << i << ", flow " << f << " of rate " << rates[f];
        }
    }
}

// Three flows over a link of 10, and another one over a link of 4 that takes half of its rate from
// the first one's link, without waiting for it: 8 are left for the three of that, and 4 for this.
TEST(MaxMin, WhatComesFirstHoldsNobodyBack)
{
    MaxMinSolver solver;
    const uint32_t wide = solver.AddResource(10);
    const uint32_t narrow = solver.AddResource(4);
    for (int i = 0; i < 3; ++i)
    {
        solver.AddFlow();
        solver.AddUse(wide, 1);
    }
    solver.AddFlow();
    solver.AddUse(narrow, 1);
    solver.AddUse(wide, 0.5, true);
    solver.Solve();
    for (uint32_t flow = 0; flow < 3; ++flow)
    {
        EXPECT_NEAR(solver.GetRate(flow), 8.0 / 3, 1e-9);
    }
    EXPECT_NEAR(solver.GetRate(3), 4, 1e-9);
}

// On a circle every flow sends over one link and answers on the next: all rates are equal, and each
// link is full with both.
TEST(MaxMin, WhatComesFirstIsTakenFromAllAlikeOnACircle)
{
    MaxMinSolver solver;
    constexpr uint32_t N = 5;
    for (uint32_t i = 0; i < N; ++i)
    {
        solver.AddResource(12);
    }
    for (uint32_t i = 0; i < N; ++i)
    {
        solver.AddFlow();
        solver.AddUse(i, 1);
        solver.AddUse((i + 1) % N, 0.2, true);
    }
    solver.Solve();
    for (uint32_t i = 0; i < N; ++i)
    {
        EXPECT_NEAR(solver.GetRate(i), 10, 1e-9);
    }
}

// As multicasts of a rack: every flow sends over a link of its own, and answers on all others.
TEST(MaxMin, WhatComesFirstOnAllOtherLinksIsASystemOfEquations)
{
    constexpr uint32_t N = 40;
    constexpr double SENDS = 12;
    constexpr double ANSWERS = 0.2;
    MaxMinSolver solver;
    std::vector<double> capacities;
    double sum = 0;
    for (uint32_t i = 0; i < N; ++i)
    {
        capacities.push_back(100 + i);
        sum += capacities.back();
        solver.AddResource(capacities.back());
    }
    for (uint32_t i = 0; i < N; ++i)
    {
        solver.AddFlow();
        for (uint32_t link = 0; link < N; ++link)
        {
            solver.AddUse(link, link == i ? SENDS : ANSWERS, link != i);
        }
    }
    solver.Solve();
    const double rates = sum / (SENDS + (N - 1) * ANSWERS);
    for (uint32_t i = 0; i < N; ++i)
    {
        const double rate = (capacities[i] - ANSWERS * rates) / (SENDS - ANSWERS);
        EXPECT_NEAR(solver.GetRate(i), rate, 1e-6 * rate);
    }
}

// Random cases: what is left by what comes first is shared max-min fairly.
TEST(MaxMin, SharesWhatIsLeftFairly)
{
    std::mt19937_64 random(23);
    for (int i = 0; i < 300; ++i)
    {
        const MaxMinProblem problem = MakeRandom(random);
        const std::size_t n = problem.limits.size();
        MaxMinSolver solver;
        for (const double capacity : problem.capacities)
        {
            solver.AddResource(capacity);
        }
        std::vector<uint32_t> target;
        for (std::size_t f = 0; f < n; ++f)
        {
            solver.AddFlow(std::min(problem.limits[f], 5.0));
            target.push_back(random() % problem.capacities.size());
            for (uint32_t r = 0; r < problem.capacities.size(); ++r)
            {
                if (r == target.back())
                {
                    solver.AddUse(r, 0.01, true);
                }
                else if (problem.amounts[f][r] > 0)
                {
                    solver.AddUse(r, problem.amounts[f][r]);
                }
            }
        }
        solver.Solve();
        MaxMinProblem left = problem;
        for (std::size_t f = 0; f < n; ++f)
        {
            left.limits[f] = std::min(problem.limits[f], 5.0);
            left.amounts[f][target[f]] = 0;
            left.capacities[target[f]] -= 0.01 * solver.GetRate(f);
        }
        const auto expected = SolveByFilling(left);
        for (uint32_t f = 0; f < n; ++f)
        {
            EXPECT_NEAR(solver.GetRate(f), expected[f], 1e-5 * expected[f]) << "case " << i;
        }
    }
}
