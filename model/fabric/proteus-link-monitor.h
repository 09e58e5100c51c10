/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_LINK_MONITOR_H
#define PROTEUS_LINK_MONITOR_H

#include "proteus-fabric.h"
#include "proteus-sample-clock.h"
#include "proteus-series-monitor.h"

#include "ns3/traced-callback.h"

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// What one direction of a link did between two samples.
struct LinkSample
{
    PortId port{0};            //!< which direction of which link
    int64_t timePs{0};         //!< end of the interval
    int64_t intervalPs{0};     //!< its length
    LinkStatistics did;        //!< in the interval; maxQueueBytes is that of the whole run
    uint64_t queueBytes{0};    //!< wire bytes that wait at the end of the interval
    uint32_t pausedClasses{0}; //!< bit c: traffic class c is paused at the end of the interval

    /// @return share of the interval spent transmitting
    double GetUtilization() const
    {
        return GetShare(did.busyPs);
    }

    /// @param ps part of the interval @return its share
    double GetShare(int64_t ps) const
    {
        return intervalPs > 0 ? static_cast<double>(ps) / static_cast<double>(intervalPs) : 0;
    }
};

/**
 * @ingroup proteus
 * Samples the links of a fabric at regular times: utilisation, queues, marks, losses, pauses,
 * credits. It only reads; results are the same without it. It stops by itself when nothing else is
 * left to happen.
 *
 * Packets and bytes count in the interval in which the unit starts on the link, so that the samples
 * of a port add up to its LinkStatistics. Times (transmitting, paused, without credit) are split at
 * the ends of the intervals.
 */
class LinkMonitor : public SeriesMonitor
{
  public:
    /// @return the TypeId
    static TypeId GetTypeId();

    LinkMonitor();
    ~LinkMonitor() override;

    /**
     * Begins, now, with the present state of the fabric. Lives on until it ends.
     * @param fabric to look at
     * @throw std::invalid_argument if the interval is not above 0, it has begun already, or several
     * MPI ranks run the simulation
     */
    void Start(Ptr<Fabric> fabric);

    /**
     * Writes the names of the columns: time_ns (end of the interval), interval_ns (its length),
     * from, to (names of the vertices), technology, packets, payload_bytes, wire_bytes (started in
     * the interval), utilization (share of the interval spent transmitting), queue_bytes (waiting
     * at its end), marked_packets (by ECN), lost_packets (on the wire), dropped_packets (for want
     * of room or of a way), pauses (PFC pauses received), paused_share and credit_stall_share (of
     * the interval).
     * @param out to write to
     */
    static void WriteCsvHeader(std::ostream& out);

    /// @param cluster of the sample @param sample to write as a line @param out to write to
    static void WriteCsvLine(const Cluster& cluster, const LinkSample& sample, std::ostream& out);

    /**
     * The signature of "Sample".
     * @param sample of one port
     */
    typedef void (*SampleTracedCallback)(const LinkSample& sample);

  private:
    // Inherited from Sampler
    void TakeSample() override;

    // Inherited from SeriesMonitor
    bool IsLooking() const override;
    void Release() override;
    void WriteHeader(std::ostream& out) const override;

    Ptr<Fabric> m_fabric;                            //!< while it looks
    std::vector<LinkStatistics> m_last;              //!< by port: at the last sample
    bool m_allPorts;                                 //!< attribute
    TracedCallback<const LinkSample&> m_sampleTrace; //!< a port has a sample
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_LINK_MONITOR_H
