/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-tuner.h"

#include <algorithm>
#include <numeric>

namespace ns3
{
namespace proteus
{

namespace
{

/// The points of a grid, the last dimension varying fastest. The ends of every dimension are on it,
/// or only the middle where it has one point. It has no more points than evaluations are allowed;
/// sides are as equal as that permits.
class GridSearch : public TunerMethod
{
  public:
    GridSearch(std::size_t dimensions, uint32_t evaluations)
        : m_sizes(dimensions, 1)
    {
        // Grows the shortest side that still fits, the first of these.
        for (bool isGrowing = true; isGrowing;)
        {
            std::vector<std::size_t> order(dimensions);
            std::iota(order.begin(), order.end(), 0);
            std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
                return m_sizes[a] < m_sizes[b];
            });
            const auto grown = std::find_if(order.begin(), order.end(), [&](std::size_t dimension) {
                return CountPoints() / m_sizes[dimension] * (m_sizes[dimension] + 1) <= evaluations;
            });
            isGrowing = grown != order.end();
            if (isGrowing)
            {
                ++m_sizes[*grown];
            }
        }
    }

    TunerPoint Propose(const std::vector<TunerTrial>& trials) override
    {
        if (trials.size() == CountPoints())
        {
            return {};
        }
        TunerPoint point(m_sizes.size());
        uint64_t index = trials.size();
        for (std::size_t i = m_sizes.size(); i-- > 0;)
        {
            point[i] = m_sizes[i] == 1 ? 0.5
                                       : static_cast<double>(index % m_sizes[i]) /
                                             static_cast<double>(m_sizes[i] - 1);
            index /= m_sizes[i];
        }
        return point;
    }

  private:
    uint64_t CountPoints() const
    {
        return std::accumulate(m_sizes.begin(), m_sizes.end(), uint64_t{1}, std::multiplies<>());
    }

    std::vector<uint64_t> m_sizes; //!< points along each dimension
};

const TunerRegistration REGISTRATION("grid",
                                     [](std::size_t dimensions, const TunerSettings& settings) {
                                         return std::make_unique<GridSearch>(dimensions,
                                                                             settings.evaluations);
                                     });

} // namespace

} // namespace proteus
} // namespace ns3
