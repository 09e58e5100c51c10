/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-power-limit.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace proteus
{

namespace
{

/// An H100 with nothing to do at its highest clock, W: fitted, see FindClock().
constexpr double IDLE_WATT = 115;
/// What kernels that are no products draw besides at that clock, W: fitted, see FindClock().
constexpr double KERNEL_WATT = 325;
/// The limit of an H100 SXM, W (data sheet), under which ProductClock is known.
constexpr double FULL_WATT = 700;

} // namespace

double
FindShareAtClock(const ProductClock& format, double clock)
{
    if (clock <= format.clock)
    {
        return format.sustained * clock / format.clock;
    }
    const double part = std::log(clock) / std::log(format.clock);
    return format.rest * std::pow(format.sustained / format.rest, part);
}

double
FindClock(const ProductClock& format, const GpuDuty& duty, double watts)
{
    // What products alone draw where they have their whole rate all the time: it grows with rate
    // and clock.
    const double productWatt =
        (FULL_WATT - IDLE_WATT) * format.rest / format.sustained / format.clock;
    const double others = std::max(0.0, duty.kernels - duty.products);
    const auto power = [&](double clock) {
        const double slower = format.rest / FindShareAtClock(format, clock);
        const double time = 1 + duty.products * (slower - 1);
        return IDLE_WATT + clock * (productWatt * duty.products + KERNEL_WATT * others) / time;
    };
    double low = 0;
    double high = 1;
    if (power(high) <= watts)
    {
        return high;
    }
    constexpr int HALVINGS = 40;
    for (int i = 0; i < HALVINGS; ++i)
    {
        const double middle = (low + high) / 2;
        (power(middle) > watts ? high : low) = middle;
    }
    return low;
}

} // namespace proteus
} // namespace ns3
