/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_POWER_LIMIT_H
#define PROTEUS_POWER_LIMIT_H

/**
 * @file
 * @ingroup proteus
 * The clock of an H100's processor whose limit is below the 700 W of its board.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// The parts of a step's time in which a GPU works while its clock does not fall.
struct GpuDuty
{
    double products{0}; //!< it multiplies matrices, or as long as products take for its attention
    double kernels{0};  //!< any kernel runs; at least as much as products
};

/**
 * @ingroup proteus
 * How an H100 multiplies under 700 W, by number format.
 */
struct ProductClock
{
    double rest{};      //!< share of the data sheet at the highest clock, 1.98 GHz
    double sustained{}; //!< the same when there are only products
    double clock{};     //!< which then is this part of the highest clock
};

/**
 * @ingroup proteus
 * The clock at which a step draws what its limit allows. A GPU draws
 *
 *   115 W + products + 325 W x clock x (part of the time that other kernels run)
 *
 * where an operation of a product takes energy in proportion to the clock, as to the square of the
 * voltage, and products alone draw 700 W at the clock that they have then. The two numbers are
 * fitted to every second one of 32 measured points (25 steps of language models on an H100, five
 * on an H200, a product on each: workloads/profiles/h100-steps.csv, h200-steps.csv,
 * h100-products.csv, h200-products.csv, columns sm_mhz and watt); clocks of the others follow
 * within 2.9 % in the mean. Below the clock that products alone have under 700 W, nothing was
 * measured: their rate is taken to fall with the clock, of which they reach 0.95 there.
 * @param format how products run under 700 W
 * @param duty of the step
 * @param watts limit, above 115
 * @return the part of the highest clock, at most 1
 */
double FindClock(const ProductClock& format, const GpuDuty& duty, double watts);

/// @ingroup proteus
/// @param format how products run under 700 W @param clock part of the highest clock
/// @return share of the data sheet that products reach at it
double FindShareAtClock(const ProductClock& format, double clock);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_POWER_LIMIT_H
