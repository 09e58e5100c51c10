/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "max-min-programs.h"

#include "ns3/proteus-max-min.h"

#include <algorithm>
#include <cstddef>
#include <gtest/gtest.h>
#include <limits>

namespace
{

constexpr double INFINITE = std::numeric_limits<double>::infinity();

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

} // namespace

std::vector<double>
SolveByFilling(const MaxMinProblem& problem)
{
    ns3::proteus::MaxMinSolver solver;
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

std::vector<double>
SolveByPrograms(const MaxMinProblem& problem)
{
    const std::size_t n = problem.limits.size();
    std::vector<double> fixed(n, -1);
    std::vector<bool> canFill; // by resource: whether all flows at their limits are too much
    for (std::size_t r = 0; r < problem.capacities.size(); ++r)
    {
        double most = 0;
        for (std::size_t f = 0; f < n; ++f)
        {
            const double amount = problem.amounts[f][r];
            most += amount > 0 ? amount * problem.limits[f] : 0;
        }
        canFill.push_back(most > problem.capacities[r]);
    }
    // Variables: what every flow that is not fixed gets above `level`, and, if nobody is `alone`,
    // the level that all of those reach; that, or the rate of `alone`, is as large as it can be.
    const auto solve = [&](double level, std::size_t alone) {
        std::vector<std::vector<double>> rows;
        std::vector<double> right;
        for (std::size_t r = 0; r < problem.capacities.size(); ++r)
        {
            if (!canFill[r])
            {
                continue;
            }
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
