/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-newton-schulz.h"

#include <algorithm>

namespace ns3
{
namespace proteus
{

std::array<MatrixProduct, 3>
ListNewtonSchulzProducts(const Matrices& matrices)
{
    constexpr uint64_t HALF = 2; // bytes
    const uint64_t number = matrices.number;
    const uint64_t m = std::min(matrices.rows, matrices.columns);
    const uint64_t n = std::max(matrices.rows, matrices.columns);
    const uint64_t square = number * m * m;
    const uint64_t wide = number * m * n;
    return {{{number, m, m, n, HALF * (wide + square)},
             {number, m, m, m, HALF * 3 * square}, // and a sum
             {number, m, n, m, HALF * (square + 3 * wide)}}};
}

double
GetNewtonSchulzFlops(const Matrices& matrices)
{
    double flops = 0;
    for (const MatrixProduct& product :
         ListNewtonSchulzProducts({1, matrices.rows, matrices.columns}))
    {
        flops += product.GetFlops();
    }
    return static_cast<double>(matrices.number) * MUON_STEPS * flops;
}

} // namespace proteus
} // namespace ns3
