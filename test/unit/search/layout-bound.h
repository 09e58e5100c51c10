/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_LAYOUT_BOUND_H
#define PROTEUS_LAYOUT_BOUND_H

#include <array>
#include <cstdint>

/**
 * @file
 * @ingroup proteus-tests
 * How little communication a matrix product needs at least.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus-tests
 * The least number of words that some processor has to receive or send for a product of matrices m
 * x k and k x n, however they lie, with unlimited memory (Al Daas, Ballard, Grigori, Kumar, Rouse:
 * "Tight Memory-Independent Parallel Matrix Multiplication Communication Lower Bounds", SPAA 2022,
 * theorem 3). Let d1 >= d2 >= d3 be the three sizes, sorted. The bound is D - (d1 d2 + d1 d3 + d2
 * d3) / P, where D is
 *
 * (d1 d2 + d1 d3) / P + d2 d3 for P <= d1 / d2,
 * 2 sqrt(d1 d2 d3^2 / P) + d1 d2 / P for P <= d1 d2 / d3^2, and 3 (d1 d2 d3 / P)^(2/3) beyond.
 *
 * @param m rows of the result
 * @param n columns of the result
 * @param k length of the sums
 * @param processors P
 * @return words
 * @throw std::invalid_argument if a number is 0
 */
double GetProductBound(uint64_t m, uint64_t n, uint64_t k, uint64_t processors);

/// @ingroup proteus-tests
/// A mesh for a matrix product.
struct ProductGrid
{
    std::array<uint64_t, 3> sizes{1, 1, 1}; //!< processors along m, n and k
    double words{0};                        //!< per processor
};

/**
 * @ingroup proteus-tests
 * The mesh pm x pn x pk = P on which a product needs least communication: an all-gather of each
 * factor over the axis that it does not have, and a reduce-scatter of the result over pk;
 *
 * (1 - 1/pn) m k / (pm pk) + (1 - 1/pm) k n / (pk pn) + (1 - 1/pk) m n / (pm pn) words.
 *
 * @param m rows of the result
 * @param n columns of the result
 * @param k length of the sums
 * @param processors P
 * @return the mesh
 * @throw std::invalid_argument if a number is 0
 */
ProductGrid FindBestProductGrid(uint64_t m, uint64_t n, uint64_t k, uint64_t processors);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_LAYOUT_BOUND_H
