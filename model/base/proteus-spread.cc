/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-spread.h"

#include <algorithm>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

Spread
FindSpread(std::vector<double> values)
{
    if (values.empty())
    {
        throw std::invalid_argument("a spread of no number");
    }
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    const double median =
        values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
    return {values.size(), median, values.front(), values.back()};
}

bool
IsWithinSpread(const Spread& a, const Spread& b)
{
    return (a.count > 1 || b.count > 1) && a.least <= b.most && b.least <= a.most;
}

} // namespace proteus
} // namespace ns3
