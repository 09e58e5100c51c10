/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-tuner.h"

namespace ns3
{
namespace proteus
{

namespace
{

/// Points at random, each as likely as any other.
class RandomSearch : public TunerMethod
{
  public:
    RandomSearch(std::size_t dimensions, uint64_t seed)
        : m_dimensions(dimensions),
          m_numbers(seed)
    {
    }

    TunerPoint Propose(const std::vector<TunerTrial>&) override
    {
        return m_numbers.DrawPoint(m_dimensions);
    }

  private:
    std::size_t m_dimensions;
    UniformNumbers m_numbers;
};

const TunerRegistration REGISTRATION("random",
                                     [](std::size_t dimensions, const TunerSettings& settings) {
                                         return std::make_unique<RandomSearch>(dimensions,
                                                                               settings.seed);
                                     });

} // namespace

} // namespace proteus
} // namespace ns3
