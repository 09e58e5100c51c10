/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-gaussian-process.h"

// Eigen adds up in the order of the scalars: the same bytes whatever vectors a processor has.
#define EIGEN_DONT_VECTORIZE
#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

double
GetDistance(const std::vector<double>& a, const std::vector<double>& b)
{
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
    {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return std::sqrt(sum);
}

} // namespace

double
GetMatern52(double distance, double length)
{
    const double a = std::sqrt(5.0) * distance / length;
    return (1 + a + a * a / 3) * std::exp(-a);
}

double
GetExpectedImprovement(double mean, double sd, double best, double margin)
{
    const double gain = mean - best - margin;
    if (!(sd > 0))
    {
        return std::max(gain, 0.0);
    }
    constexpr double PI = 3.14159265358979323846;
    const double z = gain / sd;
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * PI);
    const double probability = std::erfc(-z / std::sqrt(2.0)) / 2;
    return std::max(gain * probability + sd * density, 0.0);
}

struct GaussianProcess::Algebra
{
    std::vector<std::vector<double>> points;
    double length;
    double mean{0};                         //!< of the values
    double scale{1};                        //!< of the values
    Eigen::VectorXd scaled;                 //!< values
    Eigen::LLT<Eigen::MatrixXd> covariance; //!< of the points
    Eigen::VectorXd weights;                //!< inverse of the covariance times scaled values
};

GaussianProcess::GaussianProcess(std::vector<std::vector<double>> points,
                                 const std::vector<double>& values,
                                 double length,
                                 double noise)
    : m_algebra(std::make_unique<Algebra>())
{
    const auto n = static_cast<Eigen::Index>(points.size());
    const bool isRagged =
        std::any_of(points.begin(), points.end(), [&points](const std::vector<double>& point) {
            return point.size() != points[0].size();
        });
    if (n == 0 || points.size() != values.size() || isRagged || !(length > 0))
    {
        throw std::invalid_argument("a Gaussian process of " + std::to_string(points.size()) +
                                    " points, " + std::to_string(values.size()) +
                                    " values and length " + std::to_string(length) +
                                    ": every point needs a value and the same dimension, and the "
                                    "length must be positive");
    }
    Algebra& algebra = *m_algebra;
    algebra.points = std::move(points);
    algebra.length = length;
    algebra.scaled = Eigen::Map<const Eigen::VectorXd>(values.data(), n);
    algebra.mean = algebra.scaled.mean();
    algebra.scaled.array() -= algebra.mean;
    const double deviation = std::sqrt(algebra.scaled.squaredNorm() / static_cast<double>(n));
    algebra.scale = deviation > 0 ? deviation : 1;
    algebra.scaled /= algebra.scale;
    Eigen::MatrixXd covariance(n, n);
    for (Eigen::Index i = 0; i < n; ++i)
    {
        for (Eigen::Index j = 0; j < n; ++j)
        {
            covariance(i, j) =
                GetMatern52(GetDistance(algebra.points[i], algebra.points[j]), length);
        }
        covariance(i, i) += noise;
    }
    algebra.covariance.compute(covariance);
    algebra.weights = algebra.covariance.solve(algebra.scaled);
}

GaussianProcess::~GaussianProcess() = default;
GaussianProcess::GaussianProcess(GaussianProcess&&) noexcept = default;
GaussianProcess& GaussianProcess::operator=(GaussianProcess&&) noexcept = default;

Prediction
GaussianProcess::Predict(const std::vector<double>& point) const
{
    const Algebra& algebra = *m_algebra;
    const auto n = static_cast<Eigen::Index>(algebra.points.size());
    Eigen::VectorXd towards(n);
    for (Eigen::Index i = 0; i < n; ++i)
    {
        towards(i) = GetMatern52(GetDistance(algebra.points[i], point), algebra.length);
    }
    const double mean = towards.dot(algebra.weights);
    // A vector of its own: of the norm of the expression, g++ 12 warns without cause.
    const Eigen::VectorXd explained = algebra.covariance.matrixL().solve(towards);
    const double variance = 1 - explained.squaredNorm();
    return {algebra.mean + algebra.scale * mean,
            algebra.scale * std::sqrt(std::max(variance, 0.0))};
}

double
GaussianProcess::GetLogLikelihood() const
{
    constexpr double LOG_2_PI = 1.83787706640934548356;
    const Algebra& algebra = *m_algebra;
    const Eigen::MatrixXd factor = algebra.covariance.matrixL();
    return -algebra.scaled.dot(algebra.weights) / 2 - factor.diagonal().array().log().sum() -
           static_cast<double>(algebra.points.size()) * LOG_2_PI / 2;
}

double
GaussianProcess::GetScale() const
{
    return m_algebra->scale;
}

} // namespace proteus
} // namespace ns3
