/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLOW_SERIES_H
#define PROTEUS_FLOW_SERIES_H

#include "proteus-flow-profile.h"

#include "ns3/proteus-cluster.h"
#include "ns3/proteus-link-series.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * What flows take of resources over time, in bins of equal length, which are doubled when there are
 * too many.
 */
class FlowSeries
{
  public:
    /// @param resources how many @param mostBins kept, at least 2
    FlowSeries(std::size_t resources, std::size_t mostBins);

    /**
     * Adds a time in which a class of flows moved at one rate.
     * @param uses what it takes of resources for every byte
     * @param rate bytes per second
     * @param fromPs begin, picoseconds
     * @param toPs end, picoseconds; at most a bin before the latest end that was added so far
     */
    void Add(const std::vector<FlowUse>& uses, double rate, int64_t fromPs, int64_t toPs);

    /**
     * @param resources with the ports of each
     * @param cluster with the links
     * @param endPs end of the run, picoseconds
     * @return use of the directions of links: flows know no queues and stalls
     */
    LinkSeries MakeLinkSeries(const std::vector<FlowResource>& resources,
                              const Cluster& cluster,
                              int64_t endPs) const;

  private:
    /// Makes one of two.
    void Coarsen();

    std::size_t m_resources;
    std::size_t m_mostBins;
    int64_t m_binPs;
    std::vector<double> m_wireBytes; //!< by bin, then resource
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLOW_SERIES_H
