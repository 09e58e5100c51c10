/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_TUNER_H
#define PROTEUS_TUNER_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Looks for the values of a few numbers with which something takes the least time, in few
 * evaluations, each of which is a simulation.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// One of the numbers that are looked for.
struct TunerDimension
{
    std::string name;          //!< what it is
    double least{0};           //!< smallest value
    double most{1};            //!< largest value
    bool isLogarithmic{false}; //!< whether equal ratios count as equally far, not differences
    double step{0};            //!< values are rounded to multiples of it; 0: to none

    /// @param share 0 for the smallest value to 1 for the largest
    /// @return the value there
    double GetValue(double share) const;
};

/// @ingroup proteus
/// A point of the search, every coordinate from 0 to 1.
using TunerPoint = std::vector<double>;

/// @ingroup proteus
/// One evaluation.
struct TunerTrial
{
    TunerPoint point;           //!< where, as the method sees it
    std::vector<double> values; //!< the numbers there, by dimension
    double cost{0};             //!< what came out; less is better
};

/// @ingroup proteus
/// How to search.
struct TunerSettings
{
    uint32_t evaluations{15};       //!< at most, as in ByteScheduler (bytescheduler tuner.py)
    uint32_t randomEvaluations{10}; //!< of these, at random before a method learns from them
    uint64_t seed{1};               //!< of everything random
    /// Margin of the expected improvement, in standard deviations of the costs so far:
    /// ByteScheduler has 0.1 seconds, which is much or little depending on the length of an
    /// iteration.
    double margin{0.01};
};

/// @ingroup proteus
/// A way to search.
class TunerMethod
{
  public:
    virtual ~TunerMethod() = default;

    /// @param trials so far
    /// @return where to evaluate next; empty when there is nothing more to try
    virtual TunerPoint Propose(const std::vector<TunerTrial>& trials) = 0;
};

/// @ingroup proteus
/// Numbers from 0 to less than 1, the same with every standard library.
class UniformNumbers
{
  public:
    /// @param seed of the sequence
    explicit UniformNumbers(uint64_t seed)
        : m_engine(seed)
    {
    }

    /// @return the next number
    double Draw()
    {
        return static_cast<double>(m_engine() >> 11) * 0x1p-53;
    }

    /// @param dimensions how many coordinates @return a point
    TunerPoint DrawPoint(std::size_t dimensions);

  private:
    std::mt19937_64 m_engine; //!< whose sequence the C++ standard fixes
};

/// @ingroup proteus
/// What makes a method.
using TunerFactory =
    std::function<std::unique_ptr<TunerMethod>(std::size_t dimensions, const TunerSettings&)>;

/// @ingroup proteus
/// A method, registered by an object of this class in its file.
class TunerRegistration
{
  public:
    /// @param name of the method @param factory that makes one
    TunerRegistration(const std::string& name, TunerFactory factory);
};

/// @ingroup proteus
/// @return names of all methods, in alphabetical order
std::vector<std::string> GetTunerMethods();

/// @ingroup proteus
/// What came out of a search.
struct TunerResult
{
    std::vector<TunerTrial> trials; //!< in the order in which they were made
    std::size_t best{0};            //!< the first of those with the least cost
};

/**
 * @ingroup proteus
 * Searches. Values that were evaluated before are not evaluated again: the trial has the same cost.
 * @param dimensions what to look for, at least one
 * @param cost of some values, by dimension; called up to as often as the settings say
 * @param method name of the way to search
 * @param settings how to search
 * @return all trials and the best
 * @throw std::invalid_argument if there is no such method, no dimension, one whose smallest value
 * is above the largest (or not positive if it is logarithmic), or nothing to evaluate
 */
TunerResult Tune(const std::vector<TunerDimension>& dimensions,
                 const std::function<double(const std::vector<double>&)>& cost,
                 const std::string& method,
                 const TunerSettings& settings = {});

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_TUNER_H
