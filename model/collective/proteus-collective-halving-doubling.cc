/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-algorithm-traits.h"
#include "proteus-algorithms.h"

namespace ns3
{
namespace proteus
{

namespace
{

/// What the ranks of a power of two do with segments; those beyond have a partner among them.
class HalvingDoubling
{
  public:
    HalvingDoubling(ProgramBuilder& builder, const CollectiveRequest& request, uint32_t channels)
        : m_builder(builder),
          m_request(request),
          m_n(builder.GetNRanks()),
          m_channels(channels)
    {
        while (2 * m_p <= m_n)
        {
            m_p *= 2;
        }
    }

    /// Adds what the other ranks have, and leaves each rank its unit.
    void ReduceScatter(uint32_t channel)
    {
        for (uint32_t extra = m_p; extra < m_n; ++extra)
        {
            Exchange(extra, extra - m_p, channel, 0, m_p, true);
        }
        for (uint32_t distance = m_p / 2; distance > 0; distance /= 2)
        {
            for (uint32_t rank = 0; rank < m_p; ++rank)
            {
                // The half of the common units that the partner keeps.
                const uint32_t partner = rank ^ distance;
                const uint32_t first = partner / distance * distance;
                Exchange(rank, partner, channel, first, first + distance, true);
            }
        }
    }

    /// Gives every rank the units of all.
    void AllGather(uint32_t channel)
    {
        for (uint32_t distance = 1; distance < m_p; distance *= 2)
        {
            for (uint32_t rank = 0; rank < m_p; ++rank)
            {
                const uint32_t first = rank / distance * distance;
                Exchange(rank, rank ^ distance, channel, first, first + distance, false);
            }
        }
    }

    /// @return largest power of two that is no more than the ranks
    uint32_t GetCore() const
    {
        return m_p;
    }

    /// Sends units [first, last) from one rank to another.
    void Exchange(uint32_t from,
                  uint32_t to,
                  uint32_t channel,
                  uint32_t first,
                  uint32_t last,
                  bool reduces)
    {
        const Extent whole{0, m_request.bytes};
        if (m_request.collective == Collective::ALL_REDUCE)
        {
            for (uint32_t unit = first; unit < last; ++unit)
            {
                Send(from, to, channel, CutExtent(whole, m_p, unit), reduces);
            }
            return;
        }
        // The unit of a rank is its own segment and that of the rank it is partner of.
        for (uint32_t unit = first; unit < last; ++unit)
        {
            for (uint32_t segment = unit; segment < m_n; segment += m_p)
            {
                Send(from, to, channel, CutExtent(whole, m_n, segment), reduces);
            }
        }
    }

    /// Sends the channel's share of an extent.
    void Send(uint32_t from, uint32_t to, uint32_t channel, const Extent& extent, bool reduces)
    {
        m_builder.Transfer(from, to, channel, CutExtent(extent, m_channels, channel), reduces);
    }

  private:
    ProgramBuilder& m_builder;
    const CollectiveRequest& m_request;
    uint32_t m_n;
    uint32_t m_channels;
    uint32_t m_p{1}; //!< largest power of two that is no more than m_n
};

} // namespace

CollectiveProgram
MakeHalvingDoublingProgram(const Cluster& /* cluster */,
                           const Paths& /* paths */,
                           const CollectiveRequest& request)
{
    const uint32_t channels = request.channels > 0 ? request.channels : 1;
    ProgramBuilder builder(request, "halving-doubling", channels);
    HalvingDoubling work(builder, request, channels);
    const uint32_t n = builder.GetNRanks();
    const uint32_t p = work.GetCore();
    const Extent whole{0, request.bytes};
    for (uint32_t channel = 0; channel < channels; ++channel)
    {
        switch (request.collective)
        {
        case Collective::ALL_REDUCE:
            work.ReduceScatter(channel);
            work.AllGather(channel);
            for (uint32_t extra = p; extra < n; ++extra)
            {
                work.Exchange(extra - p, extra, channel, 0, p, false);
            }
            break;
        case Collective::REDUCE_SCATTER:
            work.ReduceScatter(channel);
            for (uint32_t extra = p; extra < n; ++extra)
            {
                work.Send(extra - p, extra, channel, CutExtent(whole, n, extra), false);
            }
            break;
        default: // all-gather; the registry sends nothing else here
            for (uint32_t extra = p; extra < n; ++extra)
            {
                work.Send(extra, extra - p, channel, CutExtent(whole, n, extra), false);
            }
            work.AllGather(channel);
            for (uint32_t extra = p; extra < n; ++extra)
            {
                for (uint32_t segment = 0; segment < n; ++segment)
                {
                    if (segment != extra)
                    {
                        work.Send(extra - p, extra, channel, CutExtent(whole, n, segment), false);
                    }
                }
            }
            break;
        }
    }
    return builder.Finish();
}

namespace
{

/// Registers the algorithm.
const AlgorithmRegistration REGISTER_HALVING_DOUBLING([]() {
    AlgorithmTraits traits;
    traits.name = "halving-doubling";
    traits.place = 60;
    traits.makers[Collective::ALL_REDUCE] = &MakeHalvingDoublingProgram;
    traits.makers[Collective::ALL_GATHER] = &MakeHalvingDoublingProgram;
    traits.makers[Collective::REDUCE_SCATTER] = &MakeHalvingDoublingProgram;
    return traits;
}());

} // namespace

} // namespace proteus
} // namespace ns3
