/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "layout-bound.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

namespace ns3
{
namespace proteus
{

namespace
{

void
CheckSizes(uint64_t m, uint64_t n, uint64_t k, uint64_t processors)
{
    if (m == 0 || n == 0 || k == 0 || processors == 0)
    {
        throw std::invalid_argument("a matrix product needs sizes and processors above 0");
    }
}

} // namespace

double
GetProductBound(uint64_t m, uint64_t n, uint64_t k, uint64_t processors)
{
    CheckSizes(m, n, k, processors);
    std::array<double, 3> d{static_cast<double>(m), static_cast<double>(n), static_cast<double>(k)};
    std::sort(d.begin(), d.end(), std::greater<>());
    const auto p = static_cast<double>(processors);
    const double owned = (d[0] * d[1] + d[0] * d[2] + d[1] * d[2]) / p;
    double accessed = 3 * std::pow(d[0] * d[1] * d[2] / p, 2.0 / 3);
    if (p <= d[0] / d[1])
    {
        accessed = (d[0] * d[1] + d[0] * d[2]) / p + d[1] * d[2];
    }
    else if (p <= d[0] * d[1] / (d[2] * d[2]))
    {
        accessed = 2 * std::sqrt(d[0] * d[1] * d[2] * d[2] / p) + d[0] * d[1] / p;
    }
    return accessed - owned;
}

ProductGrid
FindBestProductGrid(uint64_t m, uint64_t n, uint64_t k, uint64_t processors)
{
    CheckSizes(m, n, k, processors);
    ProductGrid best;
    bool isFirst = true;
    for (uint64_t pm = 1; pm <= processors; ++pm)
    {
        for (uint64_t pn = 1; processors % pm == 0 && pn <= processors / pm; ++pn)
        {
            if (processors / pm % pn != 0)
            {
                continue;
            }
            const uint64_t pk = processors / pm / pn;
            const auto size = [](uint64_t number) { return static_cast<double>(number); };
            const auto others = [&](uint64_t parts) { return 1 - 1 / size(parts); };
            const double words = others(pn) * size(m) * size(k) / size(pm * pk) +
                                 others(pm) * size(k) * size(n) / size(pk * pn) +
                                 others(pk) * size(m) * size(n) / size(pm * pn);
            if (isFirst || words < best.words)
            {
                best = {{pm, pn, pk}, words};
                isFirst = false;
            }
        }
    }
    return best;
}

} // namespace proteus
} // namespace ns3
