/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-gaussian-process.h"
#include "ns3/proteus-tuner.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <set>
#include <stdexcept>
#include <vector>

using namespace ns3::proteus;

namespace
{

/// The function of ByteScheduler's own test of its search: least at 20.
double
GetParabola(const std::vector<double>& values)
{
    return (values[0] - 20) * (values[0] - 20) + 5;
}

TunerDimension
MakeCredit()
{
    TunerDimension dimension;
    dimension.name = "credit";
    dimension.most = 100;
    return dimension;
}

} // namespace

TEST(GaussianProcess, KernelAndExpectedImprovement)
{
    // Acceptance cases C11 and C12.
    EXPECT_NEAR(GetExpectedImprovement(1, 0.5, 0.8, 0.1), 0.253447, 5e-7);
    EXPECT_NEAR(GetExpectedImprovement(0, 1, 0, 0), 0.398942, 5e-7);
    EXPECT_NEAR(GetExpectedImprovement(-1, 0.5, 0, 0.1), 0.002444, 5e-7);
    EXPECT_EQ(GetExpectedImprovement(2, 0, 1, 0.25), 0.75);
    EXPECT_EQ(GetExpectedImprovement(1, 0, 2, 0), 0);
    EXPECT_EQ(GetMatern52(0, 1), 1);
    EXPECT_NEAR(GetMatern52(0.5, 1), 0.828649, 5e-7);
    EXPECT_NEAR(GetMatern52(1, 1), 0.523994, 5e-7);
    EXPECT_NEAR(GetMatern52(2, 1), 0.138660, 5e-7);
    EXPECT_EQ(GetMatern52(3, 6), GetMatern52(0.5, 1));
}

TEST(GaussianProcess, Predictions)
{
    // Acceptance case C13: (point, mean, deviation, expected improvement); the last one lies on a
    // value that is known.
    const GaussianProcess process({{0}, {2}, {5}}, {-3, -1, -2}, 1);
    const std::vector<std::vector<double>> cases{{1, -1.999739, 0.587459, 0.006981},
                                                 {3.5, -1.693429, 0.749771, 0.055843},
                                                 {2, -1.000001, 0.000816, 0}};
    for (const auto& known : cases)
    {
        const Prediction prediction = process.Predict({known[0]});
        EXPECT_NEAR(prediction.mean, known[1], 5e-7);
        EXPECT_NEAR(prediction.sd, known[2], 5e-7);
        EXPECT_NEAR(GetExpectedImprovement(prediction.mean, prediction.sd, -1, 0.1),
                    known[3],
                    5e-7);
    }
    EXPECT_NEAR(process.GetScale(), std::sqrt(2.0 / 3), 1e-12);
}

TEST(GaussianProcess, LikelihoodOfTwoPoints)
{
    // By hand: values +1 and -1, covariance k between the points; the inverse of the matrix has
    // the vector (1, -1) as its eigenvector for 1 / (1 + noise - k).
    const double noise = 1e-6;
    const double k = GetMatern52(1, 2);
    const GaussianProcess process({{0, 0}, {0, 1}}, {5, 3}, 2, noise);
    const double determinant = (1 + noise) * (1 + noise) - k * k;
    EXPECT_NEAR(process.GetLogLikelihood(),
                -1 / (1 + noise - k) - std::log(determinant) / 2 - std::log(2 * std::acos(-1.0)),
                1e-9);
    EXPECT_NEAR(process.Predict({0, 0.5}).mean, 4, 1e-9); // by symmetry
    // Equal values have no deviation to scale with.
    EXPECT_NEAR(GaussianProcess({{0}, {1}}, {7, 7}, 1).Predict({0.3}).mean, 7, 1e-9);
    EXPECT_THROW(GaussianProcess({}, {}, 1), std::invalid_argument);
    EXPECT_THROW(GaussianProcess({{0}, {1}}, {1}, 1), std::invalid_argument);
    EXPECT_THROW(GaussianProcess({{0}, {1, 2}}, {1, 2}, 1), std::invalid_argument);
    EXPECT_THROW(GaussianProcess({{0}}, {1}, 0), std::invalid_argument);
}

TEST(Tuner, FindsTheLeastOfAParabola)
{
    // Acceptance case C14: 10 points at random and 4 of expected improvement, 20 of 20 seeds.
    std::vector<double> distances;
    for (uint64_t seed = 1; seed <= 20; ++seed)
    {
        TunerSettings settings;
        settings.evaluations = 14;
        settings.seed = seed;
        const TunerResult result = Tune({MakeCredit()}, GetParabola, "bayesian", settings);
        ASSERT_EQ(result.trials.size(), 14u);
        distances.push_back(std::abs(result.trials[result.best].values[0] - 20));
        EXPECT_LT(distances.back(), 5) << "seed " << seed;
    }
    std::sort(distances.begin(), distances.end());
    EXPECT_LE((distances[9] + distances[10]) / 2, 0.94);
}

TEST(Tuner, BayesianBeatsRandomOnTwoDimensions)
{
    // A valley like that of partition and credit: least where both ratios are 1.
    TunerDimension dimension;
    dimension.least = 1;
    dimension.most = 1024;
    dimension.isLogarithmic = true;
    const auto cost = [](const std::vector<double>& values) {
        const double a = std::log2(values[0]) - 4;
        const double b = std::log2(values[1]) - 6;
        return 1 + 0.02 * (a * a + 0.5 * b * b + 0.5 * a * b);
    };
    uint32_t wins = 0;
    for (uint64_t seed = 1; seed <= 20; ++seed)
    {
        TunerSettings settings;
        settings.seed = seed;
        const TunerResult bayesian = Tune({dimension, dimension}, cost, "bayesian", settings);
        const TunerResult random = Tune({dimension, dimension}, cost, "random", settings);
        // The same points at random come first.
        for (uint32_t i = 0; i < settings.randomEvaluations; ++i)
        {
            EXPECT_EQ(bayesian.trials[i].values, random.trials[i].values);
        }
        wins += bayesian.trials[bayesian.best].cost <= random.trials[random.best].cost;
    }
    EXPECT_GE(wins, 16u);
}

TEST(Tuner, IsDeterministic)
{
    const TunerResult first = Tune({MakeCredit()}, GetParabola, "bayesian");
    const TunerResult second = Tune({MakeCredit()}, GetParabola, "bayesian");
    ASSERT_EQ(first.trials.size(), 15u);
    for (std::size_t i = 0; i < first.trials.size(); ++i)
    {
        EXPECT_EQ(first.trials[i].values, second.trials[i].values);
    }
    // The first numbers of the engine that the C++ standard describes, with its default seed.
    UniformNumbers numbers(5489);
    EXPECT_EQ(numbers.Draw(), static_cast<double>(14514284786278117030ULL >> 11) * 0x1p-53);
}

TEST(Tuner, Grid)
{
    // 15 evaluations in two dimensions: 5 by 3, ends included.
    const auto count = [](const std::vector<double>& values) { return values[0] + values[1]; };
    TunerDimension partition;
    partition.least = 1;
    partition.most = 16;
    partition.isLogarithmic = true;
    const TunerResult result = Tune({partition, MakeCredit()}, count, "grid");
    ASSERT_EQ(result.trials.size(), 15u);
    EXPECT_EQ(result.best, 0u);
    std::set<double> partitions;
    std::set<double> credits;
    for (const TunerTrial& trial : result.trials)
    {
        partitions.insert(std::round(trial.values[0]));
        credits.insert(trial.values[1]);
    }
    EXPECT_EQ(partitions, (std::set<double>{1, 2, 4, 8, 16}));
    EXPECT_EQ(credits, (std::set<double>{0, 50, 100}));
    TunerSettings settings;
    settings.evaluations = 1;
    EXPECT_EQ(Tune({MakeCredit()}, GetParabola, "grid", settings).trials[0].values[0], 50);
}

TEST(Tuner, EvaluatesValuesOnce)
{
    TunerDimension dimension = MakeCredit();
    dimension.step = 50;
    std::multiset<double> asked;
    const TunerResult result = Tune(
        {dimension},
        [&](const std::vector<double>& values) {
            asked.insert(values[0]);
            return GetParabola(values);
        },
        "random");
    EXPECT_EQ(result.trials.size(), 15u);
    EXPECT_EQ(asked, (std::multiset<double>{0, 50, 100}));
}

TEST(Tuner, Mistakes)
{
    EXPECT_EQ(GetTunerMethods(), (std::vector<std::string>{"bayesian", "grid", "random"}));
    EXPECT_THROW(Tune({MakeCredit()}, GetParabola, "annealing"), std::invalid_argument);
    EXPECT_THROW(Tune({}, GetParabola, "random"), std::invalid_argument);
    TunerSettings none;
    none.evaluations = 0;
    EXPECT_THROW(Tune({MakeCredit()}, GetParabola, "random", none), std::invalid_argument);
    TunerDimension dimension = MakeCredit();
    dimension.isLogarithmic = true; // from 0
    EXPECT_THROW(Tune({dimension}, GetParabola, "random"), std::invalid_argument);
    dimension.least = 200;
    EXPECT_THROW(Tune({dimension}, GetParabola, "random"), std::invalid_argument);
}
