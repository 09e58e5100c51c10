/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_GAUSSIAN_PROCESS_H
#define PROTEUS_GAUSSIAN_PROCESS_H

#include <memory>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Regression by a Gaussian process, and what an evaluation can be expected to improve (Rasmussen
 * and Williams, Gaussian Processes for Machine Learning, MIT Press 2006, chapters 2 and 4; Jones et
 * al., Efficient Global Optimization, 1998).
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Matern kernel with nu = 5/2: (1 + a + a^2 / 3) exp(-a), a = sqrt(5) distance / length.
 * @param distance of two points, 0 or more
 * @param length scale, more than 0
 * @return covariance, 1 at distance 0
 */
double GetMatern52(double distance, double length);

/**
 * @ingroup proteus
 * Expected improvement of a maximum: (mean - best - margin) Phi(z) + sd phi(z), with
 * z = (mean - best - margin) / sd; without deviation, what the mean is above best and margin.
 * @param mean predicted at a point
 * @param sd standard deviation predicted there, 0 or more
 * @param best largest value so far
 * @param margin by which a point should be better; a larger one explores more
 * @return 0 or more, in the unit of the values
 */
double GetExpectedImprovement(double mean, double sd, double best, double margin);

/// @ingroup proteus
/// What a Gaussian process says about a point.
struct Prediction
{
    double mean{0}; //!< in the unit of the values
    double sd{0};   //!< standard deviation of the value without noise
};

/**
 * @ingroup proteus
 * A Gaussian process with a Matern 5/2 kernel of one length for all dimensions and variance 1, on
 * values that were shifted and scaled to mean 0 and standard deviation 1.
 */
class GaussianProcess
{
  public:
    /**
     * @param points where values are known, at least one, all of the same dimension
     * @param values at these points
     * @param length scale of the kernel, more than 0
     * @param noise variance of a scaled value, for numerical safety
     * @throw std::invalid_argument if numbers of points and values differ or are 0, or dimensions
     * differ
     */
    GaussianProcess(std::vector<std::vector<double>> points,
                    const std::vector<double>& values,
                    double length,
                    double noise = 1e-6);
    ~GaussianProcess();
    GaussianProcess(GaussianProcess&&) noexcept;
    GaussianProcess& operator=(GaussianProcess&&) noexcept;

    /// @param point of the same dimension as the others
    /// @return what is known about its value
    Prediction Predict(const std::vector<double>& point) const;

    /// @return log of the likelihood of the scaled values; the larger, the better the length fits
    double GetLogLikelihood() const;

    /// @return standard deviation of the values that scaled ones are multiplied with; 1 if all are
    /// equal
    double GetScale() const;

  private:
    struct Algebra;                     // keeps the linear algebra library out of this header
    std::unique_ptr<Algebra> m_algebra; //!< factorised covariances
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_GAUSSIAN_PROCESS_H
