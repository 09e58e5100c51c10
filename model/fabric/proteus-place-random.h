/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PLACE_RANDOM_H
#define PROTEUS_PLACE_RANDOM_H

#include "ns3/proteus-flow-hash.h"
#include "ns3/random-variable-stream.h"

#include <cstdint>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Random numbers that depend on where they are drawn, and which one there it is, not on what is
 * drawn elsewhere: hashes of the two and of a seed, which is one value of a random variable.
 */
class PlaceRandom
{
  public:
    /// The seed is drawn anew, by the next Draw().
    void Reset()
    {
        m_isSeeded = false;
    }

    /// @param variable of the seed @param place where @param number of the draw there
    /// @return a number in [0, 1)
    double Draw(UniformRandomVariable& variable, uint64_t place, uint64_t number) const
    {
        if (!m_isSeeded)
        {
            m_seed = MixHash(variable.GetInteger(0, UINT32_MAX - 1), 1);
            m_isSeeded = true;
        }
        constexpr double UNIT = 1.0 / static_cast<double>(uint64_t{1} << 53);
        return static_cast<double>(MixHash(MixHash(m_seed, place), number) >> 11) * UNIT;
    }

  private:
    mutable uint64_t m_seed{0};     //!< of all places
    mutable bool m_isSeeded{false}; //!< `m_seed` is drawn
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PLACE_RANDOM_H
