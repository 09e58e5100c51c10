/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_CONGESTION_MONITOR_H
#define PROTEUS_CONGESTION_MONITOR_H

#include "proteus-transport.h"

#include "ns3/proteus-series-monitor.h"
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
/// What one queue pair did between two samples, and the state of its congestion control.
struct CongestionSample
{
    uint32_t queuePair{0};   //!< which one
    int64_t timePs{0};       //!< end of the interval
    int64_t intervalPs{0};   //!< its length
    QueuePairStatistics did; //!< counts: in the interval; rate, window and round trips: at its end
};

/**
 * @ingroup proteus
 * Samples the queue pairs of a transport at regular times: rate, window and round-trip time of
 * their congestion control, and what they did in between. It only reads, and stops by itself when
 * nothing else is left to happen. To see every single change of a rate or window, connect to
 * "CongestionState" of the Transport instead.
 */
class CongestionMonitor : public SeriesMonitor
{
  public:
    /// @return the TypeId
    static TypeId GetTypeId();

    CongestionMonitor();
    ~CongestionMonitor() override;

    /**
     * Begins, now. Queue pairs that are made later are looked at as well. Lives on until it ends.
     * @param transport to look at
     * @throw std::invalid_argument if it has begun already, or several MPI ranks run the simulation
     */
    void Start(Ptr<Transport> transport);

    /**
     * Writes the names of the columns: time_ns (end of the interval), interval_ns (its length),
     * queue_pair (its id), from, to (names of the endpoints), rate_bytes_per_s (limit on the wire
     * at the end of the interval, empty for none), window_bytes (the same of bytes in flight),
     * rtt_ns (the last round trip measured, empty before the first), sent_bytes,
     * acknowledged_bytes (in the interval), retransmitted_packets, marked_packets, notifications,
     * timeouts (the same).
     * @param out to write to
     */
    static void WriteCsvHeader(std::ostream& out);

    /**
     * The signature of "Sample".
     * @param sample of one queue pair
     */
    typedef void (*SampleTracedCallback)(const CongestionSample& sample);

  private:
    // Inherited from Sampler
    void TakeSample() override;

    // Inherited from SeriesMonitor
    bool IsLooking() const override;
    void Release() override;
    void WriteHeader(std::ostream& out) const override;

    /// @param sample to write as a line @param out to write to
    void WriteCsvLine(const CongestionSample& sample, std::ostream& out) const;

    Ptr<Transport> m_transport;                            //!< while it looks
    std::vector<QueuePairStatistics> m_last;               //!< by queue pair: at the last sample
    bool m_allQueuePairs;                                  //!< attribute
    TracedCallback<const CongestionSample&> m_sampleTrace; //!< a queue pair has a sample
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_CONGESTION_MONITOR_H
