/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_LINK_SERIES_H
#define PROTEUS_LINK_SERIES_H

#include <cstddef>
#include <cstdint>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * How links were used over time, in a bounded amount of memory.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What one direction of a link did during a part of the run.
struct LinkBin
{
    float busyShare{0};    //!< of the time: transmitting
    float stalledShare{0}; //!< of the time: a unit ready, and no credit of the receiver
    float pausedShare{0};  //!< of the time: at least one traffic class paused
    float queueBytes{0};   //!< wire bytes waiting: the most of the samples in it
};

/// @ingroup proteus
/// The same in picoseconds, for any part of the run.
struct LinkDid
{
    double busyPs{0};    //!< transmitting
    double stalledPs{0}; //!< as LinkBin::stalledShare
    double pausedPs{0};  //!< as LinkBin::pausedShare
    float queueBytes{0}; //!< as LinkBin::queueBytes
};

/**
 * @ingroup proteus
 * The use of all directions of all links, in bins of equal length from time 0 on; only the last one
 * may be shorter. When there are more bins than a given number, each two become one of twice the
 * length, with the mean of their shares and the longer of their queues.
 *
 * A direction is a number: 2 * link from Link::a to Link::b, 2 * link + 1 back.
 */
class LinkSeries
{
  public:
    /// None: nobody has looked.
    LinkSeries() = default;

    /**
     * @param directions how many, twice the number of links
     * @param binPs length of a bin at first, picoseconds, above 0
     * @param mostBins kept, at least 2
     * @throw std::invalid_argument for a length or number that makes no sense
     */
    LinkSeries(std::size_t directions, int64_t binPs, std::size_t mostBins);

    /**
     * How many bins to keep so that the whole takes at most about 64 MB: 512, or fewer for many
     * links.
     * @param directions how many
     * @return number of bins, at least 16
     */
    static std::size_t GetMostBins(std::size_t directions);

    /**
     * Appends a bin.
     * @param endPs its end: GetBinPs() after the end of the one before, or earlier, and then it is
     * the last one
     * @param bins by direction
     * @return whether bins are twice as long from now on
     * @throw std::invalid_argument for an end or a number of directions that is wrong
     */
    bool Append(int64_t endPs, const std::vector<LinkBin>& bins);

    /**
     * Adds what a direction did in a part of the run, evenly over it, to bins that are there.
     * @param direction number
     * @param startPs begin of that part
     * @param endPs its end, later
     * @param did picoseconds of each kind, and the queue, which all bins of it have seen
     * @return what falls behind the last bin
     */
    LinkDid Spread(std::size_t direction, int64_t startPs, int64_t endPs, const LinkDid& did);

    /// @return number of bins
    std::size_t GetNBins() const
    {
        return m_nBins;
    }

    /// @return number of directions
    std::size_t GetNDirections() const
    {
        return m_directions;
    }

    /// @return length of a bin, picoseconds
    int64_t GetBinPs() const
    {
        return m_binPs;
    }

    /// @param bin number @return its begin, picoseconds
    int64_t GetStartPs(std::size_t bin) const
    {
        return static_cast<int64_t>(bin) * m_binPs;
    }

    /// @param bin number @return its end, picoseconds
    int64_t GetEndPs(std::size_t bin) const
    {
        return bin + 1 == m_nBins ? m_endPs : GetStartPs(bin + 1);
    }

    /// @param direction number @param bin number @return what happened
    const LinkBin& Get(std::size_t direction, std::size_t bin) const
    {
        return m_bins[bin * m_directions + direction];
    }

    /// @param direction number @return whether anything happened in any bin
    bool IsUsed(std::size_t direction) const;

  private:
    /// Makes one of two.
    void Coarsen();

    std::size_t m_directions{0};
    std::size_t m_mostBins{2};
    std::size_t m_nBins{0};
    int64_t m_binPs{1};
    int64_t m_endPs{0};          //!< of the last bin
    std::vector<LinkBin> m_bins; //!< by bin, then direction
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_LINK_SERIES_H
