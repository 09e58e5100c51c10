/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-gaussian-process.h"
#include "proteus-tuner.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

/// Lengths of the kernel that are tried, in sides of the cube of points: shorter ones would learn
/// nothing from one point about the next, longer ones make everything a parabola.
constexpr double LENGTHS[] = {0.1, 0.14, 0.2, 0.28, 0.4, 0.56, 0.8, 1.13, 1.6};
/// Points at random among which the most promising is looked for, and how many of these are
/// improved step by step.
constexpr uint32_t CANDIDATES = 10000;
constexpr uint32_t REFINED = 10;
constexpr double FIRST_STEP = 0.02;
constexpr double LAST_STEP = 1e-4;

/// Bayesian optimisation: some points at random, then the one of which the greatest improvement is
/// expected, by a Gaussian process through the costs so far (Peng et al., SOSP'19, section 5).
class BayesianSearch : public TunerMethod
{
  public:
    BayesianSearch(std::size_t dimensions, const TunerSettings& settings)
        : m_dimensions(dimensions),
          m_settings(settings),
          m_numbers(settings.seed)
    {
    }

    TunerPoint Propose(const std::vector<TunerTrial>& trials) override
    {
        if (trials.size() < m_settings.randomEvaluations || trials.empty())
        {
            return m_numbers.DrawPoint(m_dimensions);
        }
        std::vector<TunerPoint> points;
        std::vector<double> gains; // what the process maximises
        for (const TunerTrial& trial : trials)
        {
            points.push_back(trial.point);
            gains.push_back(-trial.cost);
        }
        const GaussianProcess process = Fit(points, gains);
        const double best = *std::max_element(gains.begin(), gains.end());
        const double margin = m_settings.margin * process.GetScale();
        return FindMost([&](const TunerPoint& point) {
            const Prediction prediction = process.Predict(point);
            return GetExpectedImprovement(prediction.mean, prediction.sd, best, margin);
        });
    }

  private:
    /// The process whose length makes the values most likely.
    static GaussianProcess Fit(const std::vector<TunerPoint>& points,
                               const std::vector<double>& values)
    {
        GaussianProcess best(points, values, LENGTHS[0]);
        for (const double length : LENGTHS)
        {
            GaussianProcess process(points, values, length);
            if (process.GetLogLikelihood() > best.GetLogLikelihood())
            {
                best = std::move(process);
            }
        }
        return best;
    }

    /// @param promise of a point @return the most promising point that is found
    template <typename F>
    TunerPoint FindMost(F promise)
    {
        std::vector<std::pair<double, TunerPoint>> candidates;
        for (uint32_t i = 0; i < CANDIDATES; ++i)
        {
            TunerPoint point = m_numbers.DrawPoint(m_dimensions);
            const double value = promise(point);
            candidates.emplace_back(value, std::move(point));
        }
        std::partial_sort(candidates.begin(),
                          candidates.begin() + REFINED,
                          candidates.end(),
                          std::greater<>());
        candidates.resize(REFINED);
        for (auto& [value, point] : candidates)
        {
            for (double step = FIRST_STEP; step > LAST_STEP;)
            {
                if (!Improve(value, point, step, promise))
                {
                    step /= 2;
                }
            }
        }
        return std::max_element(candidates.begin(), candidates.end())->second;
    }

    /// Takes a step along an axis if that is more promising.
    /// @return whether it was
    template <typename F>
    static bool Improve(double& value, TunerPoint& point, double step, F promise)
    {
        for (double& coordinate : point)
        {
            for (const double change : {-step, step})
            {
                const double before = coordinate;
                coordinate = std::clamp(before + change, 0.0, 1.0);
                const double changed = promise(point);
                if (changed > value)
                {
                    value = changed;
                    return true;
                }
                coordinate = before;
            }
        }
        return false;
    }

    std::size_t m_dimensions;
    TunerSettings m_settings;
    UniformNumbers m_numbers;
};

const TunerRegistration REGISTRATION("bayesian",
                                     [](std::size_t dimensions, const TunerSettings& settings) {
                                         return std::make_unique<BayesianSearch>(dimensions,
                                                                                 settings);
                                     });

} // namespace

} // namespace proteus
} // namespace ns3
