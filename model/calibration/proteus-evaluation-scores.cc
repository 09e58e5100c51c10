/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-evaluation-scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

double
GetKendallTau(const std::vector<double>& a, const std::vector<double>& b)
{
    if (a.size() != b.size())
    {
        throw std::invalid_argument("Kendall's tau: " + std::to_string(a.size()) + " and " +
                                    std::to_string(b.size()) + " values are not as many");
    }
    const auto sign = [](double x) { return (x > 0) - (x < 0); };
    int64_t score = 0;
    int64_t untiedA = 0;
    int64_t untiedB = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
    {
        for (std::size_t j = i + 1; j < a.size(); ++j)
        {
            const int inA = sign(a[i] - a[j]);
            const int inB = sign(b[i] - b[j]);
            score += inA * inB;
            untiedA += inA != 0;
            untiedB += inB != 0;
        }
    }
    if (untiedA == 0 && untiedB == 0)
    {
        return 1;
    }
    if (untiedA == 0 || untiedB == 0)
    {
        return 0;
    }
    return static_cast<double>(score) /
           std::sqrt(static_cast<double>(untiedA) * static_cast<double>(untiedB));
}

ExecutorScore
ScoreExecutor(const std::vector<EvaluatedStrategy>& strategies, const std::string& executor)
{
    ExecutorScore score;
    score.executor = executor;
    score.leastSpeedup = std::numeric_limits<double>::infinity();
    double logs = 0;
    double taus = 0;
    for (std::size_t first = 0; first < strategies.size();)
    {
        std::vector<double> packet;
        std::vector<double> other;
        std::size_t next = first;
        for (; next < strategies.size() && strategies[next].workload == strategies[first].workload;
             ++next)
        {
            const EvaluatedStrategy& run = strategies[next];
            if (run.times.count("packet") == 0 || run.times.count(executor) == 0)
            {
                continue;
            }
            const ExecutorTime& reference = run.times.at("packet");
            const ExecutorTime& time = run.times.at(executor);
            packet.push_back(reference.iterationS);
            other.push_back(time.iterationS);
            const double error = std::abs(time.iterationS / reference.iterationS - 1);
            ++score.strategies;
            score.meanError += error;
            if (error >= score.maxError)
            {
                score.maxError = error;
                score.worst = run.workload + ", " + run.strategy;
            }
            const double speedup = reference.cpuS / std::max(time.cpuS, 1e-6);
            logs += std::log(speedup);
            score.leastSpeedup = std::min(score.leastSpeedup, speedup);
        }
        first = next;
        if (packet.size() > 1)
        {
            const double tau = GetKendallTau(packet, other);
            taus += tau;
            score.leastTau = std::min(score.leastTau, tau);
            ++score.workloads;
        }
    }
    if (score.strategies > 0)
    {
        score.meanError /= score.strategies;
        score.geometricSpeedup = std::exp(logs / score.strategies);
    }
    score.meanTau = score.workloads > 0 ? taus / score.workloads : 1;
    return score;
}

} // namespace proteus
} // namespace ns3
