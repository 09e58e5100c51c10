/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SPREAD_H
#define PROTEUS_SPREAD_H

#include <cstddef>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Results of one run under several random streams ("throws"): the median, and how far they lie
 * apart.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Some numbers, of which there is at least one.
struct Spread
{
    std::size_t count{0}; //!< how many
    double median{0};     //!< of an even number, the mean of the two in the middle
    double least{0};      //!< smallest
    double most{0};       //!< largest
};

/// @ingroup proteus
/// @param values at least one @return of them @throw std::invalid_argument if there is none
Spread FindSpread(std::vector<double> values);

/**
 * @ingroup proteus
 * Whether two results may differ by chance alone: at least one of them has several throws, and
 * their ranges from least to most meet. This is no test of significance: ranges are narrow with few
 * throws, and wide with many.
 * @param a of one @param b of the other
 * @return whether their difference is within the spread
 */
bool IsWithinSpread(const Spread& a, const Spread& b);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SPREAD_H
