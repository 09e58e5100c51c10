/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_LINK_RECORDER_H
#define PROTEUS_LINK_RECORDER_H

#include "proteus-fabric.h"
#include "proteus-sample-clock.h"

#include "ns3/proteus-link-series.h"

#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Records in memory how the links of a fabric are used over time, for reports. Its bins are 1 us
 * long at first and grow with the run, so that a run of any length has a few hundred of them. It
 * only reads; results are the same without it. For files with samples of a fixed interval there is
 * LinkMonitor.
 *
 * What a repeated communication did is spread evenly over the time that its links were not at rest,
 * and the longest queue of that time is taken for all of it. That is exact where it lies in one
 * bin.
 */
class LinkRecorder : private Sampler
{
  public:
    /**
     * Begins, at time 0.
     * @param fabric to look at, until the run is over
     * @throw std::invalid_argument on several MPI ranks, see SampleClock
     */
    explicit LinkRecorder(Ptr<Fabric> fabric);
    ~LinkRecorder() override;

    LinkRecorder(const LinkRecorder&) = delete;
    LinkRecorder& operator=(const LinkRecorder&) = delete;

    /// @return what was recorded; complete when the simulator has run out of events
    const LinkSeries& GetSeries() const
    {
        return m_series;
    }

  private:
    // Inherited from Sampler
    void TakeSample() override;
    /// Something was repeated, and not executed. @param port that it used @param did what it did
    /// there @param startPs its begin @param endPs its end
    void AddRepeated(PortId port, const LinkStatistics& did, int64_t startPs, int64_t endPs);

    Ptr<Fabric> m_fabric;               //!< to look at
    LinkSeries m_series;                //!< recorded so far
    std::vector<LinkStatistics> m_last; //!< by port: at the last sample
    std::vector<LinkBin> m_bins;        //!< by port: of the present sample
    std::vector<LinkDid> m_repeated;    //!< by port: repeated, since the last sample
    int64_t m_lastPs{0};                //!< time of the last sample
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_LINK_RECORDER_H
