/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithm-traits.h"
#include "proteus-program-builder.h"

#include <vector>

namespace ns3
{
namespace proteus
{

namespace
{

/**
 * Swing: at step s rank r exchanges with r + d(s) if it is even, with r - d(s) if it is odd, where
 * d(s) = (1 - (-2)^(s + 1)) / 3: 1, -1, 3, -5, 11, ... So the ways on a ring, or along a side of a
 * torus, are about a third of what they are with recursive halving and doubling (De Sensi, Bonato,
 * Saam and Hoefler, "Swing: Short-cutting Rings for Higher Bandwidth Allreduce", NSDI 2024).
 */
class Swing
{
  public:
    /// @param ranks how many take part, a power of two
    explicit Swing(uint32_t ranks)
        : m_ranks(ranks)
    {
        while (uint32_t{1} << m_steps < ranks)
        {
            ++m_steps;
        }
    }

    /// @return number of steps of each half
    uint32_t GetNSteps() const
    {
        return m_steps;
    }

    /// @param rank who @param step when @return with whom it exchanges
    uint32_t GetPeer(uint32_t rank, uint32_t step) const
    {
        const int64_t power = int64_t{2} << step; // 2^(step + 1)
        const int64_t distance = (1 - (step % 2 == 0 ? -power : power)) / 3;
        const int64_t ranks = m_ranks;
        const int64_t peer = rank + (rank % 2 == 0 ? distance : -distance);
        return static_cast<uint32_t>((peer % ranks + ranks) % ranks);
    }

    /// @param rank who @param step when
    /// @return ranks whose segments it still adds up when that many steps are done: its own, and
    /// those of all whom it exchanges with later, and of whom these do
    std::vector<uint32_t> GetSegments(uint32_t rank, uint32_t step) const
    {
        std::vector<uint32_t> segments{rank};
        for (uint32_t later = step; later < m_steps; ++later)
        {
            const std::size_t known = segments.size();
            for (std::size_t i = 0; i < known; ++i)
            {
                segments.push_back(GetPeer(segments[i], later));
            }
        }
        return segments;
    }

  private:
    uint32_t m_ranks;    //!< a power of two
    uint32_t m_steps{0}; //!< its logarithm
};

/**
 * All-reduce by Swing: a reduce-scatter of log2(n) steps, nearest peers and most bytes first, and
 * an all-gather of the same steps backwards. If n is no power of two, each rank from the largest
 * one on adds its data to a partner before, and gets the result from there.
 */
CollectiveProgram
MakeSwingProgram(const Cluster& /* cluster */,
                 const Paths& /* paths */,
                 const CollectiveRequest& request)
{
    const uint32_t channels = request.channels > 0 ? request.channels : 1;
    ProgramBuilder builder(request, "swing", channels);
    const uint32_t n = builder.GetNRanks();
    uint32_t core = 1;
    while (2 * core <= n)
    {
        core *= 2;
    }
    const Swing swing(core);
    const Extent whole{0, request.bytes};
    for (uint32_t channel = 0; channel < channels; ++channel)
    {
        const auto send = [&](uint32_t from, uint32_t to, uint32_t segment, bool reduces) {
            const Extent extent = CutExtent(whole, core, segment);
            builder.Transfer(from, to, channel, CutExtent(extent, channels, channel), reduces);
        };
        // All that the ranks beyond the core have, or get.
        const auto fold = [&](bool reduces) {
            for (uint32_t extra = core; extra < n; ++extra)
            {
                const uint32_t partner = extra - core;
                for (uint32_t segment = 0; segment < core; ++segment)
                {
                    send(reduces ? extra : partner, reduces ? partner : extra, segment, reduces);
                }
            }
        };
        const auto exchange = [&](uint32_t step, bool reduces) {
            for (uint32_t rank = 0; rank < core; ++rank)
            {
                const uint32_t peer = swing.GetPeer(rank, step);
                // What the receiver goes on to add up, or what the sender has added up.
                for (const uint32_t segment : swing.GetSegments(reduces ? peer : rank, step + 1))
                {
                    send(rank, peer, segment, reduces);
                }
            }
        };
        fold(true);
        for (uint32_t step = 0; step < swing.GetNSteps(); ++step)
        {
            exchange(step, true);
        }
        for (uint32_t step = swing.GetNSteps(); step-- > 0;)
        {
            exchange(step, false);
        }
        fold(false);
    }
    return builder.Finish();
}

/// Registers the algorithm.
const AlgorithmRegistration REGISTER_SWING([]() {
    AlgorithmTraits traits;
    traits.name = "swing";
    traits.place = 65;
    traits.makers[Collective::ALL_REDUCE] = &MakeSwingProgram;
    return traits;
}());

} // namespace

} // namespace proteus
} // namespace ns3
