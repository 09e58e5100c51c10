/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

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

/// A problem in plain form.
struct Problem
{
    std::vector<double> capacities;           //!< by resource
    std::vector<double> limits;               //!< by flow
    std::vector<std::vector<double>> amounts; //!< by flow and resource
};

std::vector<double>
Solve(const Problem& problem)
{
    MaxMinSolver solver;
    for (const double capacity : problem.capacities)
    {
        solver.AddResource(capacity);
    }
    for (std::size_t flow = 0; flow < problem.limits.size(); ++flow)
    {
        solver.AddFlow(problem.limits[flow]);
        for (uint32_t resource = 0; resource < problem.capacities.size(); ++resource)
        {
            if (problem.amounts[flow][resource] > 0)
            {
                solver.AddUse(resource, problem.amounts[flow][resource]);
            }
        }
    }
    solver.Solve();
    std::vector<double> rates;
    for (uint32_t flow = 0; flow < problem.limits.size(); ++flow)
    {
        rates.push_back(solver.GetRate(flow));
    }
    return rates;
}

/// Random flows over random resources, with amounts and limits of all kinds.
Problem
MakeRandom(std::mt19937_64& random)
{
    const auto number = [&random](uint32_t least, uint32_t most) {
        return std::uniform_int_distribution<uint32_t>(least, most)(random);
    };
    const auto real = [&random](double least, double most) {
        return std::uniform_real_distribution<double>(least, most)(random);
    };
    Problem problem;
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

/**
 * A linear program in standard form by the simplex method with Bland's rule: maximises
 * objective x subject to rows x <= right, x >= 0, where right >= 0.
 * @return the maximum
 */
double
Maximise(std::vector<std::vector<double>> rows,
         std::vector<double> right,
         std::vector<double> objective)
{
    constexpr double ZERO = 1e-11;
    const std::size_t n = objective.size();
    const std::size_t m = rows.size();
    for (std::size_t i = 0; i < m; ++i)
    {
        rows[i].resize(n + m, 0);
        rows[i][n + i] = 1;
    }
    objective.resize(n + m, 0);
    std::vector<std::size_t> basis(m);
    for (std::size_t i = 0; i < m; ++i)
    {
        basis[i] = n + i;
    }
    double value = 0;
    for (int step = 0; step < 10000; ++step)
    {
        std::size_t enter = 0;
        while (enter < n + m && objective[enter] <= ZERO)
        {
            ++enter;
        }
        if (enter == n + m)
        {
            return value;
        }
        std::size_t leave = m;
        for (std::size_t i = 0; i < m; ++i)
        {
            if (rows[i][enter] > ZERO &&
                (leave == m ||
                 right[i] / rows[i][enter] < right[leave] / rows[leave][enter] - ZERO ||
                 (right[i] / rows[i][enter] <= right[leave] / rows[leave][enter] + ZERO &&
                  basis[i] < basis[leave])))
            {
                leave = i;
            }
        }
        if (leave == m)
        {
            return INFINITE;
        }
        const double pivot = rows[leave][enter];
        for (double& entry : rows[leave])
        {
            entry /= pivot;
        }
        right[leave] /= pivot;
        for (std::size_t i = 0; i < m; ++i)
        {
            const double factor = rows[i][enter];
            if (i != leave && factor != 0)
            {
                for (std::size_t j = 0; j < n + m; ++j)
                {
                    rows[i][j] -= factor * rows[leave][j];
                }
                right[i] = std::max(0.0, right[i] - factor * right[leave]);
            }
        }
        const double factor = objective[enter];
        for (std::size_t j = 0; j < n + m; ++j)
        {
            objective[j] -= factor * rows[leave][j];
        }
        value += factor * right[leave];
        basis[leave] = enter;
    }
    ADD_FAILURE() << "the simplex method does not come to an end";
    return value;
}

/**
 * The lexicographically largest sorted rates by linear programs: the largest common level of the
 * flows that are not fixed; then every flow that cannot exceed it while the others keep it is
 * fixed there; and again.
 */
std::vector<double>
SolveByPrograms(const Problem& problem)
{
    const std::size_t n = problem.limits.size();
    std::vector<double> fixed(n, -1);
    // Variables: what every flow that is not fixed gets above `level`, and, if nobody is `alone`,
    // the level that all of those reach; that, or the rate of `alone`, is as large as it can be.
    const auto solve = [&](double level, std::size_t alone) {
        std::vector<std::vector<double>> rows;
        std::vector<double> right;
        for (std::size_t r = 0; r < problem.capacities.size(); ++r)
        {
            std::vector<double> row(n + 1, 0);
            double left = problem.capacities[r];
            for (std::size_t f = 0; f < n; ++f)
            {
                left -= problem.amounts[f][r] * (fixed[f] >= 0 ? fixed[f] : level);
                row[f] = fixed[f] >= 0 ? 0 : problem.amounts[f][r];
            }
            rows.push_back(row);
            right.push_back(std::max(0.0, left));
        }
        for (std::size_t f = 0; f < n; ++f)
        {
            if (fixed[f] < 0 && problem.limits[f] < INFINITE)
            {
                rows.emplace_back(n + 1, 0);
                rows.back()[f] = 1;
                right.push_back(std::max(0.0, problem.limits[f] - level));
            }
            if (fixed[f] < 0 && alone == n)
            {
                rows.emplace_back(n + 1, 0);
                rows.back()[n] = 1;
                rows.back()[f] = -1;
                right.push_back(0);
            }
        }
        std::vector<double> objective(n + 1, 0);
        objective[alone] = 1;
        return Maximise(rows, right, objective);
    };
    while (std::count_if(fixed.begin(), fixed.end(), [](double rate) { return rate < 0; }) > 0)
    {
        const double level = solve(0, n);
        std::vector<std::size_t> stuck;
        for (std::size_t f = 0; f < n; ++f)
        {
            if (fixed[f] < 0 && solve(level, f) <= 1e-9 * level)
            {
                stuck.push_back(f);
            }
        }
        EXPECT_FALSE(stuck.empty());
        if (stuck.empty())
        {
            break;
        }
        for (const std::size_t f : stuck)
        {
            fixed[f] = level;
        }
    }
    return fixed;
}

} // namespace

TEST(MaxMin, SharesOfKnownCases)
{
    // Bertsekas and Gallager, section 6.5.2: a flow over all links of a line, one over each.
    const Problem line{{1, 1, 1},
                       {INFINITE, INFINITE, INFINITE, INFINITE},
                       {{1, 1, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    EXPECT_EQ(Solve(line), (std::vector<double>{0.5, 0.5, 0.5, 0.5}));
    // What a flow leaves that is held up elsewhere goes to the others.
    const Problem chain{{1, 10}, {INFINITE, INFINITE, INFINITE}, {{1, 1}, {1, 0}, {0, 1}}};
    EXPECT_EQ(Solve(chain), (std::vector<double>{0.5, 0.5, 9.5}));
    // Two flows that stand as one take twice.
    const Problem pair{{3}, {INFINITE, INFINITE}, {{2}, {1}}};
    EXPECT_EQ(Solve(pair), (std::vector<double>{1, 1}));
    const Problem limited{{10}, {1, INFINITE, 4}, {{1}, {1}, {1}}};
    EXPECT_EQ(Solve(limited), (std::vector<double>{1, 5, 4}));
    EXPECT_THROW(Solve({{1}, {INFINITE}, {{0}}}), std::invalid_argument);
}

TEST(MaxMin, AgreesWithLinearProgramsOnRandomCases)
{
    std::mt19937_64 random(7);
    for (int i = 0; i < 1000; ++i)
    {
        const Problem problem = MakeRandom(random);
        const auto rates = Solve(problem);
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
        const Problem problem = MakeRandom(random);
        const auto rates = Solve(problem);
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
