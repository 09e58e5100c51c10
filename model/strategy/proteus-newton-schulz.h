/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_NEWTON_SCHULZ_H
#define PROTEUS_NEWTON_SCHULZ_H

#include "proteus-compiler.h"

#include "ns3/proteus-kernel-work.h"

#include <array>

/**
 * @file
 * @ingroup proteus
 * How Muon makes an update orthogonal.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Products of one of MUON_STEPS steps, in bf16: x x^T, the square of that, and its product with x,
 * where x has m rows, not more than its n columns (zeropower_via_newtonschulz5() of Jordan et
 * al. 2024).
 * @param matrices to make orthogonal
 * @return their products, with traffic
 */
std::array<MatrixProduct, 3> ListNewtonSchulzProducts(const Matrices& matrices);

/// @ingroup proteus
/// @param matrices to make orthogonal @return floating point operations of all steps
double GetNewtonSchulzFlops(const Matrices& matrices);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_NEWTON_SCHULZ_H
